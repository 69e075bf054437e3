/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KERNEL_MODULES_H
#define BPFPROFIL_KERNEL_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* The kernel's modules. Ticks in a module are listed under its name. */
struct kernel_module {
	char *name;
	uint64_t start;
	uint64_t size; /* size of all parts; the text is at the start, others' may lie between */
};

struct kernel_modules {
	struct kernel_module *list; /* sorted by start */
	size_t nr;
	size_t capacity;
};

/* Parses lines as in /proc/modules; skips lines that are malformed or hide the address. -ENOMEM. */
int kernel_modules_parse(FILE *file, struct kernel_modules *result, struct error *err);

/* The number of the module that an address is in; nr: none. */
size_t kernel_modules_find(const struct kernel_modules *modules, uint64_t address);

void kernel_modules_free(struct kernel_modules *modules);

#endif
