/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAITS_TABLE_H
#define BPFPROFIL_WAITS_TABLE_H

#include <stdio.h>

#include "base/error.h"
#include "profile/waits.h"
#include "profile/waits_view.h"
#include "report/report_options.h"

/* The wall time of one or several accounts. */
struct wait_totals {
	uint64_t wall_ns, cpu_ns, runnable_ns, stolen_ns, unaccounted_ns;
	uint64_t blocked_ns; /* the sum of its classes */
	struct profile_wait_sum *classes; /* that occur; the owner frees it */
	size_t nr_classes;
	size_t room;
};

/*
 * Adds an account, or adds up those of the chosen targets; false: out of memory. After the last account,
 * wait_totals_fold() combines and sorts the classes.
 */
bool wait_totals_add(struct wait_totals *totals, const struct profile_wait_account *account);
void wait_totals_fold(struct wait_totals *totals);
bool wait_totals_of(struct wait_totals *totals, const struct profile *profile, uint64_t target);

/* For qsort(): the class with the most time first. */
int wait_sum_compare(const void *left, const void *right);

/* Writes a member of a JSON object: "wall": { "wall_ns": N, ..., "classes": [...] }. */
void render_json_wall(const struct profile *profile, uint64_t target, FILE *out);

/*
 * Writes a table with the wall time of each process, thread, cgroup or name, by class. choice: the
 * classes that rows have. -EINVAL: the profile was not split by them.
 */
int report_wait_accounts(const struct profile *profile, const struct report_options *options,
			 const struct waits_choice *choice, FILE *out, struct error *err);

#endif
