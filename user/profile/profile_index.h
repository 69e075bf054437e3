/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_INDEX_H
#define BPFPROFIL_PROFILE_INDEX_H

#include <stdint.h>

#include "profile/profile.h"

/* A profile's functions by place. The profile must outlive the index. */
struct profile_index;

struct profile_index *profile_index_new(const struct profile *profile); /* NULL: out of memory */
void profile_index_free(struct profile_index *index); /* NULL is fine */

/*
 * The function that a bin of size bytes at offset belongs to: the one that contains its first byte,
 * else the first one that begins in the bin; NULL: there is none.
 */
const struct profile_function *profile_index_find(const struct profile_index *index,
						  uint32_t object, uint64_t offset, uint64_t size);

#endif
