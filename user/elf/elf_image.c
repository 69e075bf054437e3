// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "elf/elf_image.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/util.h"
#include "elf/elf_check.h"

/* Linkers write 20 bytes or fewer. A longer note is hostile, not a build id. */
#define BUILD_ID_MAX 64

_Static_assert((int)ELF_SEGMENTS_MAX <= (int)PROFILE_SEGMENTS_MAX,
	       "a profile has all segments of a file");

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

static int read_image_facts(struct elf_image *image, struct elf_facts *result, struct error *err)
{
	char *build_id;

	/* Readers reject the whole profile if a segment overflows. */
	if (!profile_text_fits(image->text, image->nr_text)) {
		elf_image_close(image);
		return error_set(err, -EIO, "ELF file: its text ends above 2^64");
	}
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
	int ret = elf_image_open(fd, &image, err);

	return ret ? ret : read_image_facts(&image, result, err);
}

int elf_facts_read_memory(const void *image_start, size_t size, struct elf_facts *result,
			  struct error *err)
{
	struct elf_image image;
	int ret = elf_image_open_memory(image_start, size, &image, err);

	return ret ? ret : read_image_facts(&image, result, err);
}

void elf_facts_free(struct elf_facts *facts)
{
	if (!facts)
		return;
	free(facts->build_id);
	free(facts->text);
	memset(facts, 0, sizeof(*facts));
}

/* libelf does not report a cause, but malloc() leaves one in errno. */
static int elf_failure(struct error *err)
{
	if (errno == ENOMEM)
		return error_errno(err, -ENOMEM, "ELF file");
	return error_set(err, -EIO, "ELF file: %s", elf_errmsg(-1));
}

static bool is_text_segment(const GElf_Phdr *segment)
{
	return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && segment->p_filesz;
}

static int read_text_ranges(struct elf_image *image, struct error *err)
{
	GElf_Phdr segment;
	size_t nr, i;

	if (elf_getphdrnum(image->elf, &nr) || !nr)
		return 0;
	image->text = calloc(nr, sizeof(*image->text));
	if (!image->text)
		return error_errno(err, -ENOMEM, "ELF file");
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &segment) || !is_text_segment(&segment))
			continue;
		image->text[image->nr_text].offset = segment.p_offset;
		image->text[image->nr_text].address = segment.p_vaddr;
		image->text[image->nr_text].size = segment.p_filesz;
		image->nr_text++;
	}
	return 0;
}

static int finish_open(struct elf_image *image, struct elf_image *result, struct error *err)
{
	int ret;

	if (!image->elf)
		ret = elf_failure(err);
	else if (elf_kind(image->elf) != ELF_K_ELF)
		ret = error_set(err, -ENOEXEC, "ELF file: not an ELF file");
	else
		ret = read_text_ranges(image, err);
	if (ret) {
		elf_image_close(image);
		return ret;
	}
	*result = *image;
	return 0;
}

/* The cast is safe: libelf's prototype lacks const, but libelf only reads. */
static int open_bytes(const void *bytes, size_t size, struct elf_image *image,
		      struct elf_image *result, struct error *err)
{
	elf_version(EV_CURRENT);
	errno = 0;
	image->elf = elf_memory((char *)(uintptr_t)bytes, size);
	return finish_open(image, result, err);
}

int elf_image_open(int fd, struct elf_image *result, struct error *err)
{
	struct elf_image image = { 0 };
	int ret = mapped_file_open(fd, &image.file);

	if (ret == -ENOEXEC)
		return error_set(err, ret, "ELF file: not an ELF file");
	if (ret)
		return error_errno(err, ret, "ELF file");
	ret = elf_check_file(&image.file, err);
	if (ret) {
		mapped_file_close(&image.file);
		return ret;
	}
	return open_bytes(image.file.bytes, image.file.size, &image, result, err);
}

int elf_image_open_memory(const void *memory, size_t size, struct elf_image *result,
			  struct error *err)
{
	struct elf_image image = { 0 };
	int ret = elf_check_memory(memory, size, err);

	return ret ? ret : open_bytes(memory, size, &image, result, err);
}

int elf_image_open_trusted(int fd, struct elf_image *result, struct error *err)
{
	struct elf_image image = { 0 };

	elf_version(EV_CURRENT);
	errno = 0;
	image.elf = elf_begin(fd, ELF_C_READ, NULL);
	return finish_open(&image, result, err);
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	mapped_file_close(&image->file);
	free(image->text);
	memset(image, 0, sizeof(*image));
}

bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t *offset)
{
	const struct profile_text *text = profile_text_with(image->text, image->nr_text, address);

	if (text)
		*offset = address - text->address + text->offset;
	return text;
}

bool elf_image_address(const struct elf_image *image, uint64_t offset, uint64_t *address)
{
	const struct profile_text *text = profile_text_at(image->text, image->nr_text, offset);

	if (text)
		*address = offset - text->offset + text->address;
	return text;
}

static Elf_Data *section_data(Elf_Scn *section, Elf_Data *(*read)(Elf_Scn *, Elf_Data *))
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_flags & SHF_COMPRESSED)
		return NULL;
	data = read(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Data *elf_section_bytes(Elf_Scn *section)
{
	return section_data(section, elf_rawdata);
}

Elf_Data *elf_section_entries(Elf_Scn *section)
{
	return section_data(section, elf_getdata);
}

const char *elf_image_string(Elf *elf, size_t section, uint64_t at, size_t *length)
{
	Elf_Data *data = elf_section_bytes(elf_getscn(elf, section));
	const char *string;

	if (!data || at >= data->d_size)
		return NULL;
	string = (const char *)data->d_buf + at;
	*length = strnlen(string, min_size(data->d_size - at, ELF_NAME_MAX));
	return string;
}

Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header)
{
	size_t names, length, wanted = strlen(name);
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(image->elf, &names))
		return NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_image_string(image->elf, names, header->sh_name, &length);
		if (found && length == wanted && !memcmp(found, name, wanted))
			return section;
	}
	return NULL;
}

const void *vdso_image(size_t *ret_size)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);

	/*
	 * The section headers are the end of the image. Therefore they give its size without the
	 * mapping's padding.
	 */
	if (image)
		*ret_size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	return image;
}
