/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_PLAIN_H
#define BPFPROFIL_TOP_PLAIN_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "host/top/list.h"
#include "host/top/model.h"

/* The same without a screen: tables one after the other. */
struct top_plain {
	struct top_choice choice;
	size_t limit; /* rows of a table; 0: all */
	struct top_list list;
};

/* Prints the last interval, which ended at that time. -ENOMEM; other errors show in out. */
int top_plain_interval(struct top_plain *plain, const struct top_model *model, time_t at,
		       FILE *out);

/* Prints all intervals together, and the account; -ENOMEM. */
int top_plain_overall(struct top_plain *plain, const struct top_model *model, FILE *out);

void top_plain_free(struct top_plain *plain);

#endif
