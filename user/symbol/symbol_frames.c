// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_check.h"
#include "symbol/elf_symbols.h"

/*
 * The functions of a stripped file: unwinding needs their starts, so .eh_frame_hdr has them, sorted
 * for a binary search. They have no names but their places, which still makes one row of what would
 * be a row for each pc.
 *
 * The header (Linux Standard Base, "Exception Frame Header"): version, encodings of the pointer to
 * .eh_frame, of the count and of the table; then these. Every linker writes the encodings below.
 */
#define HEADER_VERSION 1
#define POINTER_PCREL_SDATA4 0x1b
#define COUNT_UDATA4 0x03
#define TABLE_DATAREL_SDATA4 0x3b
#define HEADER_BYTES 12
#define ENTRY_BYTES 8

struct frames {
	const unsigned char *entries; /* int32 start and int32 description, from address */
	size_t nr;
	uint64_t address;
};

static int32_t read_int32(const unsigned char *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool find_frames(const struct elf_image *image, struct frames *ret)
{
	static const unsigned char known[] = { HEADER_VERSION, POINTER_PCREL_SDATA4, COUNT_UDATA4,
					       TABLE_DATAREL_SDATA4 };
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, ".eh_frame_hdr", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf || data->d_size < HEADER_BYTES ||
	    memcmp(data->d_buf, known, sizeof(known)))
		return false;
	ret->address = header.sh_addr;
	ret->entries = (const unsigned char *)data->d_buf + HEADER_BYTES;
	ret->nr = (uint32_t)read_int32(ret->entries - sizeof(uint32_t));
	return ret->nr <= ELF_SYMBOLS_MAX && ret->nr <= (data->d_size - HEADER_BYTES) / ENTRY_BYTES;
}

/* The end of the segment that holds an offset. */
static uint64_t text_end(const struct elf_image *image, uint64_t offset)
{
	size_t i;

	for (i = 0; i < image->nr_text; i++)
		if (offset - image->text[i].offset < image->text[i].size)
			return image->text[i].offset + image->text[i].size;
	return offset;
}

static int add_frame(struct symbol_table *table, const struct elf_image *image,
		     const struct frames *frames, size_t i, const char *base)
{
	struct symbol_spec spec = { .rank = SYMBOL_RANK_LOCAL };
	char name[256];
	int length;

	if (!elf_image_offset(
		    image, frames->address + (int64_t)read_int32(frames->entries + i * ENTRY_BYTES),
		    &spec.offset))
		return 0;
	spec.limit = text_end(image, spec.offset);
	length = snprintf(name, sizeof(name), "%s+0x%" PRIx64, base, spec.offset);
	if (length < 0 || (size_t)length >= sizeof(name))
		return 0;
	spec.name = name;
	spec.name_length = (size_t)length;
	return symbol_table_add(table, &spec);
}

int frame_symbols_add(struct symbol_table *table, const struct elf_image *image, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct frames frames;
	size_t i;
	int code = 0;

	if (!find_frames(image, &frames))
		return 0;
	for (i = 0; !code && i < frames.nr; i++)
		code = add_frame(table, image, &frames, i, slash ? slash + 1 : path);
	return code;
}
