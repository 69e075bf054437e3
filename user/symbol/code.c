// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "elf/elf_image.h"

struct block_instruction *blocks_find(const struct instruction *instructions, size_t nr,
				      size_t size, uint64_t address)
{
	struct block_instruction *all = calloc(nr + 1, sizeof(*all));
	/* By byte: a block begins there, if an instruction does. There is one more for the end. */
	cleanup_free bool *leaders = calloc(size + 1, sizeof(*leaders));
	size_t i, at = 0;

	if (!all || !leaders) {
		free(all);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		const struct instruction *instruction = &instructions[i];

		all[i].at = (uint32_t)at;
		at += instruction->size;
		if (!instruction->is_jump && !instruction->is_return)
			continue;
		leaders[at] = true;
		if (instruction->has_target && instruction->target - address < size)
			leaders[instruction->target - address] = true;
	}
	for (i = 0; i < nr; i++)
		all[i].first = !i || leaders[all[i].at];
	return all;
}

static uint16_t machine_of(const struct elf_image *image)
{
	GElf_Ehdr header;

	return gelf_getehdr(image->elf, &header) ? header.e_machine : EM_NONE;
}

/* The bytes from offset to the end of its segment; 0: the offset is not in text. */
static uint64_t segment_rest(const struct elf_image *image, uint64_t offset)
{
	const struct profile_text *text = profile_text_at(image->text, image->nr_text, offset);

	return text ? text->size - (offset - text->offset) : 0;
}

/* Without fd (-1) the image is in memory. */
static int copy_bytes(const struct elf_image *image, int fd, uint64_t offset, uint8_t *bytes,
		      size_t size)
{
	size_t all;
	const char *memory = fd < 0 ? elf_rawfile(image->elf, &all) : NULL;
	ssize_t got;

	if (memory) {
		if (offset > all || size > all - offset)
			return -EIO;
		memcpy(bytes, memory + offset, size);
		return 0;
	}
	got = read_range(fd, bytes, size, offset);
	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EIO;
}

static int read_code(const struct elf_image *image, int fd, uint64_t offset, size_t size,
		     struct code *result, struct error *err)
{
	uint64_t rest = segment_rest(image, offset);
	struct code code = { .machine = machine_of(image) };
	int ret;

	if (!rest)
		return error_set(err, -ENOENT, "no text at offset %#llx",
				 (unsigned long long)offset);
	code.size = rest < size ? (size_t)rest : size;
	code.bytes = malloc(code.size + 1);
	if (!code.bytes)
		return error_errno(err, -ENOMEM, "code");
	ret = copy_bytes(image, fd, offset, code.bytes, code.size);
	if (ret) {
		free(code.bytes);
		return error_errno(err, ret, "code");
	}
	*result = code;
	return 0;
}

int code_read_file(int fd, uint64_t offset, size_t size, struct code *result, struct error *err)
{
	struct elf_image image;
	int ret = elf_image_open(fd, &image, err);

	if (ret)
		return ret;
	ret = read_code(&image, -1, offset, size, result, err);
	elf_image_close(&image);
	return ret;
}

int code_read_memory(const void *memory, size_t memory_size, uint64_t offset, size_t size,
		     struct code *result, struct error *err)
{
	struct elf_image image;
	int ret = elf_image_open_memory(memory, memory_size, &image, err);

	if (ret)
		return ret;
	ret = read_code(&image, -1, offset, size, result, err);
	elf_image_close(&image);
	return ret;
}

/* The segments of /proc/kcore are the kernel's memory, at its addresses. */
int code_read_kcore(const char *path, uint64_t address, size_t size, struct code *result,
		    struct error *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image image;
	uint64_t offset;
	int ret;

	if (fd < 0)
		return error_errno(err, -errno, "%s", path);
	ret = elf_image_open_trusted(fd, &image, err);
	if (ret)
		return ret;
	if (elf_image_offset(&image, address, &offset))
		ret = read_code(&image, fd, offset, size, result, err);
	else
		ret = error_set(err, -ENOENT, "%s: nothing at %#llx", path,
				(unsigned long long)address);
	elf_image_close(&image);
	return ret;
}
