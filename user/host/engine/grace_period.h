/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_GRACE_PERIOD_H
#define BPFPROFIL_GRACE_PERIOD_H

/*
 * Waits until every BPF program that is running now has ended. The kernel waits for running
 * programs before it releases an inner map, and so before an update of the outer map returns
 * (commit 1ae80cf31938, "bpf: wait for running BPF programs when updating map-in-map", 4.20).
 * membarrier() would also do, but not with nohz_full CPUs.
 */
struct grace_period {
	int fd; /* a map whose updates wait; -1: not made yet */
	int inner_fd;
};

void grace_period_init(struct grace_period *grace);

/* Returns 0, or a negative errno if the map cannot be made. */
int grace_period_wait(struct grace_period *grace);

void grace_period_free(struct grace_period *grace);

#endif
