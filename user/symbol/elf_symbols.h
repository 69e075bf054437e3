/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_SYMBOLS_H
#define BPFPROFIL_ELF_SYMBOLS_H

#include "elf/elf_image.h"
#include "symbol/symbol_table.h"

/*
 * Sources of a symbol table. Each adds what it finds, at the file offsets of image, which is the
 * file that is mapped. A malformed source adds nothing. They return 0, or -ENOMEM and the like.
 */

/* From .symtab and .dynsym of elf, which is image's own file or its debug file. */
int elf_symbols_add(struct symbol_table *table, const struct elf_image *image, Elf *elf,
		    bool *has_symtab);

/* NAME@plt for the jumps of .plt and .plt.sec. */
int plt_symbols_add(struct symbol_table *table, const struct elf_image *image);

/* From the compressed symbol table in .gnu_debugdata. */
int mini_symbols_add(struct symbol_table *table, const struct elf_image *image, bool *has_symtab);

/* What .eh_frame_hdr and .eh_frame of an image say of its functions. nr 0: nothing. */
struct elf_frames {
	const unsigned char *entries; /* pairs of int32, start and description, from address */
	size_t nr;
	uint64_t address;
	const unsigned char *descriptions; /* NULL: not readable */
	size_t descriptions_size;
	uint64_t descriptions_address;
};

void elf_frames_find(const struct elf_image *image, struct elf_frames *result);

/*
 * How far a function at this address may reach: if *known, to the end of the function that is
 * described there, else to the start of the next one.
 */
uint64_t elf_frames_room(const struct elf_frames *frames, uint64_t address, bool *known);

/* Adds OBJECT+0xOFFSET for each function that unwinding knows, for files with no better names. */
int frame_symbols_add(struct symbol_table *table, const struct elf_image *image, const char *path);

#endif
