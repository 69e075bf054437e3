/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLE_TREE_H
#define BPFPROFIL_SAMPLE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbol/symbol.h"

/*
 * How often the lines of functions run, and the lines of what was inlined into them, as clang wants
 * it: by a line's distance from the start of its function and by discriminator.
 */
struct sample_tree;

struct sample_tree *sample_tree_new(void); /* NULL: out of memory */
void sample_tree_free(struct sample_tree *tree); /* NULL is fine */

/*
 * An instruction of that line ran so often. Of several in a line the one that ran most counts: they
 * run one after the other, and so the line as often as they, not as all of them together. entry:
 * the function that the code is in begins with it. False: DWARF does not say enough of it, or it
 * has a name that the format cannot hold. Lines must live until sample_tree_forget. *err: -ENOMEM.
 */
bool sample_tree_add(struct sample_tree *tree, const struct source_line *line, uint64_t count,
		     bool entry, int *err);
void sample_tree_forget(struct sample_tree *tree);

/* As text, hottest function first. False: there is none. */
bool sample_tree_write(struct sample_tree *tree, FILE *stream);

#endif
