/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_SYMBOLS_H
#define BPFPROFIL_ELF_SYMBOLS_H

#include "elf/elf_image.h"
#include "symbol/symbol_table.h"

/*
 * Sources of a table. Each adds what it finds, at the file offsets of image, the file that is
 * mapped; a malformed source adds nothing. 0, or -ENOMEM and the like.
 */

/* .symtab and .dynsym of elf, which is image's own or its debug file's. */
int elf_symbols_add(struct symbol_table *table, const struct elf_image *image, Elf *elf,
		    bool *has_symtab);

/* NAME@plt for the jumps of .plt and .plt.sec. */
int plt_symbols_add(struct symbol_table *table, const struct elf_image *image);

/* The compressed symbol table in .gnu_debugdata. */
int mini_symbols_add(struct symbol_table *table, const struct elf_image *image, bool *has_symtab);

/* What .eh_frame_hdr and .eh_frame of an image say of its functions; nr 0: nothing. */
struct elf_frames {
	const unsigned char *entries; /* int32 start and int32 description, from address */
	size_t nr;
	uint64_t address;
	const unsigned char *descriptions; /* or NULL */
	size_t descriptions_size;
	uint64_t descriptions_address;
};

void elf_frames_find(const struct elf_image *image, struct elf_frames *ret);

/*
 * How far a function that has this address may reach: known, to the end of the one that is described
 * there; else to the next that is.
 */
uint64_t elf_frames_room(const struct elf_frames *frames, uint64_t address, bool *known);

/* OBJECT+0xOFFSET for each function that unwinding knows: for files with nothing better. */
int frame_symbols_add(struct symbol_table *table, const struct elf_image *image, const char *path);

#endif
