/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXTS_H
#define BPFPROFIL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/string_set.h"

/*
 * Numbered texts for a backend, without duplicates: UTF-8 without control characters, whatever the
 * names contained. Number 0 is "". The first lack of memory stays in error.
 */
struct texts {
	const char **all;
	size_t nr;
	size_t room;
	struct string_set set;
	bool labels; /* limit texts to TEXT_LABEL - 1 bytes, for a backend */
	int error; /* -ENOMEM */
};

/* Call texts_end() in any case. Returns 0 or -ENOMEM. */
int texts_begin(struct texts *texts);
void texts_end(struct texts *texts);

/* Returns the number of a text; NULL is "". */
uint32_t texts_add(struct texts *texts, const char *text);

#endif
