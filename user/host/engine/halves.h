/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HALVES_H
#define BPFPROFIL_HALVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "shared/callers_abi.h"
#include "shared/waits_abi.h"

/* The two halves of the kernel's table of ticks: see halves.c. */
struct halves {
	uint32_t base; /* nodes of each half in the map that is made at load */
	uint32_t most; /* nodes that a half may have */
	uint32_t nr_nodes[2];
	int fds[2]; /* of halves that are larger than the base, else -1 */
	int waits_fds[2]; /* the same of their waits */
	uint64_t opened_ns; /* when programs began to add to the one in use */
	int base_fd; /* these belong to the session, as the state does */
	int outer_fd;
	int waits_base_fd; /* -1: waits are not counted */
	int waits_outer_fd;
	struct table_state *state;
};

void halves_init(struct halves *halves);

/* Before load: the most bytes of a half, and how many nodes may be needed in a second. */
void halves_plan(struct halves *halves, uint64_t bytes, double per_second);

/* The most kernel memory of both, in bytes. */
uint64_t halves_most(const struct halves *halves);

/* After load, when base_fd, outer_fd and state are set. */
void halves_open(struct halves *halves);

/* The half that programs add to: 0 or 1. */
uint32_t halves_in_use(const struct halves *halves);

/* Whether more than 1/SWAP_PART of that half is in use. */
bool halves_need_room(const struct halves *halves);

/* Makes programs add to the other half. A program that runs now may still add to this one. */
void halves_flip(struct halves *halves);

/* Maps a half; -errno. */
int halves_map(const struct halves *halves, uint32_t half, struct mapped_array *result);

/* Maps the waits of all nodes of a half; *waits gets those of the first node. -errno. */
int halves_map_waits(const struct halves *halves, uint32_t half, struct mapped_array *result,
		     struct node_waits **waits);

/*
 * Makes the unused half larger if the other one filled up quickly: in filled_ns. It must be empty,
 * and unused by programs. Without memory it keeps its size.
 */
void halves_grow(struct halves *halves, uint64_t filled_ns);

/* Bytes of kernel memory. */
uint64_t halves_bytes(const struct halves *halves);

void halves_free(struct halves *halves);

#endif
