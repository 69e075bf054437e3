/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_GRACE_PERIOD_H
#define BPFPROFIL_GRACE_PERIOD_H

/*
 * A wait until every BPF program that runs now has ended. The kernel waits for the programs that run
 * before it lets go of an inner map, and so before an update of its outer map returns (commit
 * 1ae80cf31938, "bpf: wait for running BPF programs when updating map-in-map", 4.20). membarrier()
 * would do as well, but not beside nohz_full CPUs.
 */
struct grace_period {
	int fd; /* a map whose updates wait; -1: not yet made */
	int inner_fd;
};

void grace_period_init(struct grace_period *grace);

/* 0, or a negative errno when the map cannot be made. */
int grace_period_wait(struct grace_period *grace);

void grace_period_free(struct grace_period *grace);

#endif
