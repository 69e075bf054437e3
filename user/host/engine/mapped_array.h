/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPPED_ARRAY_H
#define BPFPROFIL_MAPPED_ARRAY_H

#include <stddef.h>

#include "base/error.h"

struct bpf_map;

/* An array of BPF's that is made with BPF_F_MMAPABLE, in this address space. */
struct mapped_array {
	void *at; /* NULL: it is not mapped */
	size_t size;
};

/* protection is as for mmap(). */
int mapped_array_open(struct bpf_map *map, int protection, struct mapped_array *result,
		      struct error *err);
void mapped_array_close(struct mapped_array *array);

#endif
