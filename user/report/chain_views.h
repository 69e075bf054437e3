/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHAIN_VIEWS_H
#define BPFPROFIL_CHAIN_VIEWS_H

#include "report/context_tree.h"
#include "report/rows.h"

/* Replaces rows by those of the tree that the options ask for. */
int rows_chains_view(const struct profile *profile, const struct report_options *options,
		     const struct context_tree *tree, struct report_rows *rows, struct error *err);

#endif
