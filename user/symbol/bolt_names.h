/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BOLT_NAMES_H
#define BPFPROFIL_BOLT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A function of a program as llvm-bolt calls it: [offset, offset + size) in the file. */
struct bolt_name {
	uint64_t offset;
	uint64_t size;
	char *name;
};

struct bolt_names {
	struct bolt_name *all; /* ascending, none overlaps */
	size_t nr;
	size_t room;
	bool relocations; /* the linker kept relocations, so BOLT can move functions */
};

/* fd stays the caller's. -ENODATA: the file has no symbol table, so BOLT has no names for it. */
int bolt_names_load(int fd, const char *path, struct bolt_names *result, struct error *err);

/* NULL: there is no function. */
const struct bolt_name *bolt_names_find(const struct bolt_names *names, uint64_t offset);

void bolt_names_free(struct bolt_names *names);

#endif
