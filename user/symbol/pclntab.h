/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PCLNTAB_H
#define BPFPROFIL_PCLNTAB_H

#include "elf/elf_image.h"
#include "symbol/line_job.h"
#include "symbol/symbol_table.h"

/*
 * The names and lines of a Go program in its pclntab, the table with which Go's runtime prints
 * stacks. Every program of Go 1.16 or newer has it, stripped or not. A malformed one has nothing.
 */

/* A source of a symbol table, as those in symbol_elf.c. */
int pclntab_symbols_add(struct symbol_table *table, const struct elf_image *image);

/* Where a program has the functions of its table, which is Go's part of its text. False: it has none. */
bool pclntab_text(const struct elf_image *image, uint64_t *offset, uint64_t *size);

/*
 * Sets file and line of job's places, but no function, because what was inlined has lines of its own
 * and none here. Returns 0, -ENOMEM, or -E2BIG if it takes too long.
 */
int pclntab_lines_resolve(const struct elf_image *image, struct line_job *job);

#endif
