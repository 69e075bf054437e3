// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/elf_symbols.h"

/*
 * What unwinding information says of a file's functions: .eh_frame_hdr has their starts, sorted for
 * a binary search, and .eh_frame their lengths. In a stripped file they take the place of symbols:
 * their only name is their place, but this makes one row of what would be a row for each pc. They
 * also tell where a symbol without a size ends.
 *
 * The header (Linux Standard Base, "Exception Frame Header") has a version, the encodings of the
 * pointer to .eh_frame, of the count and of the table, and then these values. Every linker writes
 * the encodings below.
 */
#define HEADER_VERSION 1
#define POINTER_PCREL_SDATA4 0x1b
#define COUNT_UDATA4 0x03
#define TABLE_DATAREL_SDATA4 0x3b
#define HEADER_BYTES 12
#define ENTRY_BYTES 8

/*
 * A description (FDE): its length, the distance to its CIE, the start of its function relative to
 * this very field, and the function's length.
 */
#define DESCRIPTION_START 8
#define DESCRIPTION_SIZE 12
#define DESCRIPTION_BYTES 16

static uint32_t read_uint32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const unsigned char *section_bytes(const struct elf_image *image, const char *name,
					  uint64_t *address, size_t *size)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, name, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return NULL;
	*address = header.sh_addr;
	*size = data->d_size;
	return data->d_buf;
}

void elf_frames_find(const struct elf_image *image, struct elf_frames *result)
{
	static const unsigned char known[] = { HEADER_VERSION, POINTER_PCREL_SDATA4, COUNT_UDATA4,
					       TABLE_DATAREL_SDATA4 };
	const unsigned char *header;
	size_t size, nr;

	*result = (struct elf_frames){ 0 };
	header = section_bytes(image, ".eh_frame_hdr", &result->address, &size);
	if (!header || size < HEADER_BYTES || memcmp(header, known, sizeof(known)))
		return;
	result->entries = header + HEADER_BYTES;
	nr = read_uint32(result->entries - sizeof(uint32_t));
	if (nr <= ELF_SYMBOLS_MAX && nr <= (size - HEADER_BYTES) / ENTRY_BYTES)
		result->nr = nr;
	result->descriptions = section_bytes(image, ".eh_frame", &result->descriptions_address,
					     &result->descriptions_size);
}

/* An int32 relative to the header's own address. */
static uint64_t datarel(const struct elf_frames *frames, const unsigned char *at)
{
	return frames->address + (uint64_t)(int64_t)(int32_t)read_uint32(at);
}

static uint64_t frame_start(const struct elf_frames *frames, size_t i)
{
	return datarel(frames, frames->entries + i * ENTRY_BYTES);
}

/*
 * The length of a function, or 0. The encoding of a description is written in its CIE, which is not
 * read. If the start, read in the encoding that compilers use, is the one in the header, this is
 * the encoding.
 */
static uint64_t frame_size(const struct elf_frames *frames, size_t i)
{
	uint64_t address = datarel(frames, frames->entries + i * ENTRY_BYTES + sizeof(uint32_t));
	uint64_t at = address - frames->descriptions_address, start;
	const unsigned char *description;

	if (!frames->descriptions || at >= frames->descriptions_size ||
	    frames->descriptions_size - at < DESCRIPTION_BYTES)
		return 0;
	description = frames->descriptions + at;
	start = address + DESCRIPTION_START +
		(uint64_t)(int64_t)(int32_t)read_uint32(description + DESCRIPTION_START);
	return start == frame_start(frames, i) ? read_uint32(description + DESCRIPTION_SIZE) : 0;
}

/* How many functions begin at or before an address. */
static size_t frames_before(const struct elf_frames *frames, uint64_t address)
{
	return BISECT(i, frames->nr, frame_start(frames, i) <= address);
}

uint64_t elf_frames_room(const struct elf_frames *frames, uint64_t address, bool *known)
{
	size_t next = frames_before(frames, address);
	uint64_t into, size;

	*known = false;
	if (next) {
		into = address - frame_start(frames, next - 1);
		size = frame_size(frames, next - 1);
		*known = into < size;
		if (*known)
			return size - into;
	}
	return next < frames->nr ? frame_start(frames, next) - address : UINT64_MAX;
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
		     const struct elf_frames *frames, size_t i, const char *base)
{
	struct symbol_spec spec = { .place = true, .rank = SYMBOL_RANK_LOCAL };
	uint64_t size = frame_size(frames, i);
	char name[256];
	int length;

	if (!elf_image_offset(image, frame_start(frames, i), &spec.offset))
		return 0;
	/*
	 * The length becomes the limit and not the size, because a symbol without a size at this
	 * place is the better name.
	 */
	spec.limit = text_end(image, spec.offset);
	if (size && size < spec.limit - spec.offset)
		spec.limit = spec.offset + size;
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
	struct elf_frames frames;
	size_t i;
	int ret = 0;

	elf_frames_find(image, &frames);
	for (i = 0; !ret && i < frames.nr; i++)
		ret = add_frame(table, image, &frames, i, slash ? slash + 1 : path);
	return ret;
}
