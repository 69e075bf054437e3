/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_OPTIONS_H
#define BPFPROFIL_CALL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "calls/region_table.h"
#include "option/opts.h"

/* A number as the manuals write it: decimal, hexadecimal after 0x, octal after 0. */
struct call_number {
	uint64_t value;
	bool given;
};

/* The options for a call of profil(), or with regions of sprofil(). */
struct call_options {
	unsigned int dialect; /* enum dialect; DIALECT_COUNT: not given */
	unsigned int width_word; /* index in call_widths */
	struct call_number offset, scale, size;
	struct call_entry *regions;
	size_t nr_regions;
	size_t regions_capacity;
};

/* An option group for a command, with struct call_options at its base. */
extern const struct opt call_opts[];

/* For --width, which depends on the command. */
extern const char *const call_widths[];

void call_options_init(struct call_options *options);
void call_options_free(struct call_options *options);

/* Whether any of them was given, except --width. */
bool call_options_given(const struct call_options *options);

/*
 * Makes the call from the parsed options. For profil(), its entry is stored in *entry. Both must
 * outlive *result. -EINVAL: the options describe no call, or one that the dialect refuses.
 */
int call_options_call(const struct call_options *options, struct call_entry *entry,
		      struct region_call *result, struct error *err);

/* Returns 0, -EINVAL or -ERANGE; the whole text must be the number. */
int call_number_parse(const char *text, uint64_t *result);

#endif
