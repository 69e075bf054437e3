// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lzma.h>

#include "symbol/elf_symbols.h"

/*
 * xz packs up to 7,000 to 1 and the file may be hostile, so what it may unpack to is limited.
 * Fedora's largest tables unpack to a few megabytes.
 */
#define UNPACKED_MAX (64UL << 20)
#define DECODER_MEMORY (64UL << 20)

/*
 * liblzma usually comes with libdw. It is used directly, because libdw's own unpacking has no
 * limit. If libdw was built without it, such tables are not read.
 */
typedef lzma_ret (*lzma_open)(lzma_stream *stream, uint64_t memory, uint32_t flags);
typedef lzma_ret (*lzma_run)(lzma_stream *stream, lzma_action action);
typedef void (*lzma_close)(lzma_stream *stream);

struct decoder {
	lzma_open open;
	lzma_run run;
	lzma_close close;
};

static bool find_decoder(struct decoder *result)
{
	result->open = (lzma_open)dlsym(RTLD_DEFAULT, "lzma_stream_decoder");
	result->run = (lzma_run)dlsym(RTLD_DEFAULT, "lzma_code");
	result->close = (lzma_close)dlsym(RTLD_DEFAULT, "lzma_end");
	return result->open && result->run && result->close;
}

/* Returns 0 with *result NULL if the data is malformed or too large. */
static int unpack(const struct decoder *lzma, const Elf_Data *packed, void **result, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = 256 << 10;
	char *out = NULL, *grown;
	lzma_ret status;

	*result = NULL;
	status = lzma->open(&stream, DECODER_MEMORY, 0);
	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (status == LZMA_OK && room < UNPACKED_MAX) {
		room *= 2;
		grown = realloc(out, room);
		if (!grown) {
			status = LZMA_MEM_ERROR;
			break;
		}
		out = grown;
		stream.next_out = (uint8_t *)out + stream.total_out;
		stream.avail_out = room - stream.total_out;
		status = lzma->run(&stream, LZMA_FINISH);
	}
	*size = stream.total_out;
	lzma->close(&stream);
	if (status == LZMA_STREAM_END) {
		*result = out;
		return 0;
	}
	free(out);
	return status == LZMA_MEM_ERROR ? -ENOMEM : 0;
}

int mini_symbols_add(struct symbol_table *table, const struct elf_image *image, bool *has_symtab)
{
	struct decoder lzma;
	struct elf_image mini;
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *packed;
	void *memory;
	size_t size;
	int ret;

	section = elf_image_section(image, ".gnu_debugdata", &header);
	packed = section ? elf_rawdata(section, NULL) : NULL;
	if (!packed || !packed->d_size || !find_decoder(&lzma))
		return 0;
	ret = unpack(&lzma, packed, &memory, &size);
	if (ret || !memory)
		return ret;
	if (!elf_image_open_memory(memory, size, &mini, NULL)) {
		ret = elf_symbols_add(table, image, mini.elf, has_symtab);
		elf_image_close(&mini);
	}
	free(memory);
	return ret;
}
