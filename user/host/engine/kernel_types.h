/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KERNEL_TYPES_H
#define BPFPROFIL_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/*
 * The types of the kernel's BTF that have certain names, as a BTF of their own. It has some 8 KiB,
 * while libbpf would need two copies of 5 MiB. A structure has only the members with these names,
 * and a pointer points to nothing, or to a function's prototype.
 */
struct kernel_types {
	struct btf *btf;
	uint32_t *numbers; /* what the kernel calls each type of btf; NULL: the same */
};

/*
 * Reads a file of BTF without ELF. If its form is not known here, libbpf reads all of it. `names`
 * has `size` bytes, each name with its NUL. Returns 0 or a negative errno. Free the types in any
 * case.
 */
int kernel_types_read(const char *path, const char *names, size_t size, struct kernel_types *result,
		      struct error *err);
void kernel_types_free(struct kernel_types *types);

/* The kernel's number of a type; -ENOENT: there is none of that name. */
int kernel_types_number(const struct kernel_types *types, const char *name, uint32_t kind);

#endif
