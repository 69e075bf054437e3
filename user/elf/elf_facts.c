// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "elf/elf_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwelf.h>

#include "elf/elf_image.h"

/* Linkers write 20 bytes or fewer; a longer note is not a build id but hostile. */
#define BUILD_ID_MAX 64

int build_id_text(const void *note, size_t size, char **result)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = note;
	char *hex;
	size_t i;

	if (!size || size > BUILD_ID_MAX)
		return -EINVAL;
	hex = malloc(size * 2 + 1);
	if (!hex)
		return -ENOMEM;
	for (i = 0; i < size; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * size] = '\0';
	*result = hex;
	return 0;
}

int build_id_read(Elf *elf, char **result)
{
	const void *note;
	ssize_t size;

	*result = NULL;
	size = dwelf_elf_gnu_build_id(elf, &note);
	if (size <= 0 || size > BUILD_ID_MAX)
		return 0;
	return build_id_text(note, (size_t)size, result);
}

static int take_image_facts(struct elf_image *image, struct elf_facts *result, struct error *err)
{
	char *build_id;

	if (build_id_read(image->elf, &build_id)) {
		elf_image_close(image);
		return error_errno(err, -ENOMEM, "ELF file");
	}
	result->build_id = build_id;
	result->text = image->text;
	result->nr_text = image->nr_text;
	image->text = NULL;
	elf_image_close(image);
	return 0;
}

int elf_facts_read(int fd, struct elf_facts *result, struct error *err)
{
	struct elf_image image;
	int ret;

	ret = elf_image_open(fd, &image, err);
	return ret ? ret : take_image_facts(&image, result, err);
}

int elf_facts_read_memory(const void *image_start, size_t size, struct elf_facts *result,
			  struct error *err)
{
	struct elf_image image;
	int ret;

	ret = elf_image_open_memory(image_start, size, &image, err);
	return ret ? ret : take_image_facts(&image, result, err);
}

void elf_facts_free(struct elf_facts *facts)
{
	if (!facts)
		return;
	free(facts->build_id);
	free(facts->text);
	memset(facts, 0, sizeof(*facts));
}
