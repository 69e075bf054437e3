/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAMES_H
#define BPFPROFIL_NAMES_H

#include <stddef.h>

/* Names that a user may have meant. */
struct names {
	char **list;
	size_t nr;
	size_t capacity;
};

/* Adds a copy of the first length bytes of name. */
int names_add(struct names *names, const char *name, size_t length);
const char *names_nearest(struct names *names, const char *typed); /* or NULL */
void names_free(struct names *names);

#endif
