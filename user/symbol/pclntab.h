/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PCLNTAB_H
#define BPFPROFIL_PCLNTAB_H

#include "elf/elf_image.h"
#include "symbol/line_job.h"
#include "symbol/symbol_table.h"

/*
 * The names and lines of a Go program in its pclntab, the table with which Go's runtime prints
 * stacks. Every program of Go 1.16 or newer has it, even if stripped. Malformed tables are ignored.
 */

/* A source of a symbol table, like those in symbol_elf.c. */
int pclntab_symbols_add(struct symbol_table *table, const struct elf_image *image);

/* The text with the functions of the table: Go's part of the program. False: there is no table. */
bool pclntab_text(const struct elf_image *image, uint64_t *offset, uint64_t *size);

/*
 * Sets file and line of job's places. Functions are not set, because inlined ones have their own
 * lines, but are not in this table. Returns 0, -ENOMEM, or -E2BIG if it takes too long.
 */
int pclntab_lines_resolve(const struct elf_image *image, struct line_job *job);

#endif
