/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLE_TREE_H
#define BPFPROFIL_SAMPLE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbol/symbol.h"

/*
 * How often lines run, of functions and of functions inlined into them, in clang's terms: by
 * discriminator, and by the distance from the first line of the function.
 */
struct sample_tree;

struct sample_tree *sample_tree_new(void); /* NULL: out of memory */
void sample_tree_free(struct sample_tree *tree); /* NULL is fine */

/*
 * Adds an instruction that ran `count` times to its line. A line gets the maximum of its
 * instructions: they run one after the other. Therefore it runs as often as each of them. entry:
 * the function of the code begins with this instruction. False: DWARF lacks details, or the format
 * cannot contain the name. *err: -ENOMEM.
 */
bool sample_tree_add(struct sample_tree *tree, const struct source_line *line, uint64_t count,
		     bool entry, int *err);

/* Writes the text, hottest function first. Returns 0 or -ENOMEM; -ENODATA: nothing was counted. */
int sample_tree_write(struct sample_tree *tree, FILE *stream);

#endif
