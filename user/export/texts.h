/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXTS_H
#define BPFPROFIL_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "export/pointer_map.h"
#include "symbol/string_set.h"

/*
 * Texts for a backend, each once and numbered: UTF-8 without control characters, whatever the names
 * were made of. Number 0 is "". The first lack of memory stays in error.
 */
struct texts {
	struct escaped
		*escaped; /* of one text at a time; it stays in its place when this is copied */
	const char **all;
	size_t nr;
	size_t room;
	struct string_set set;
	struct pointer_map numbers;
	int error; /* -ENOMEM */
};

/* Call texts_end() in any case. Returns 0 or -ENOMEM. */
int texts_begin(struct texts *texts);
void texts_end(struct texts *texts);

/* The number of a text; NULL is "". */
uint32_t texts_add(struct texts *texts, const char *text);

#endif
