/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHUNKS_BPF_H
#define BPFPROFIL_CHUNKS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

/* An element of an array in chunks, before which the first elements are in a map of their own. */
static __always_inline void *in_chunk(void *chunks, u32 number, const volatile u32 *first, u32 many)
{
	u32 chunk = (number - *first) / many, slot = (number - *first) % many;
	void *inner = bpf_map_lookup_elem(chunks, &chunk);

	return inner ? bpf_map_lookup_elem(inner, &slot) : NULL;
}

#endif
