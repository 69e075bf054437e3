/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLE_TREE_H
#define BPFPROFIL_SAMPLE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbol/symbol.h"

/*
 * How often the lines of functions run, and the lines of what was inlined into them, as clang wants
 * it: by discriminator and by the distance from the start of the line's function.
 */
struct sample_tree;

struct sample_tree *sample_tree_new(void); /* NULL: out of memory */
void sample_tree_free(struct sample_tree *tree); /* NULL is fine */

/*
 * Adds that an instruction of that line ran so often. The maximum of a line's instructions counts:
 * they run one after the other, so the line runs as often as each of them, not as all together.
 * entry: the code's own function begins with this instruction. False: DWARF does not say enough, or
 * the format cannot hold the name. Lines must stay valid until sample_tree_forget. *err: -ENOMEM.
 */
bool sample_tree_add(struct sample_tree *tree, const struct source_line *line, uint64_t count,
		     bool entry, int *err);
void sample_tree_forget(struct sample_tree *tree);

/* Writes text, hottest function first. False: there is no function. */
bool sample_tree_write(struct sample_tree *tree, FILE *stream);

#endif
