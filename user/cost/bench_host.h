/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BENCH_HOST_H
#define BPFPROFIL_BENCH_HOST_H

#include <sys/utsname.h>
#include <time.h>

enum bench_machine { MACHINE_UNKNOWN, MACHINE_METAL, MACHINE_VIRTUAL };

/* What a reader must know of a host to make sense of what was measured on it. */
struct bench_host {
	struct utsname system;
	time_t started;
	char model[128]; /* of its CPUs; "": not told */
	enum bench_machine machine;
	long cpus; /* online */
	double tick_hz; /* the scheduler's tick; 0: not known */
};

void bench_host_read(struct bench_host *ret);

#endif
