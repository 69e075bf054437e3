/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BENCH_REPORT_H
#define BPFPROFIL_BENCH_REPORT_H

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "host/cost/cost.h"

enum bench_machine { MACHINE_UNKNOWN, MACHINE_METAL, MACHINE_VIRTUAL };

/* What a reader must know of a host to understand what was measured on it. */
struct bench_host {
	struct utsname system;
	time_t started;
	char model[128]; /* of its CPUs; "": unknown */
	enum bench_machine machine;
	long cpus; /* online */
	double tick_hz; /* rate of the scheduler's tick; 0: unknown */
};

void bench_host_read(struct bench_host *result);

/* Prints what `bench` measured: as text to paste into an issue, and as JSON for programs. */
void bench_report_text(FILE *out, const struct bench_host *host, const struct cost_report *report);
void bench_report_json(FILE *out, const struct bench_host *host, const struct cost_report *report);

/* "2026-11-22T06:10:00Z" */
#define BENCH_TIME_SIZE 32
void bench_time(time_t when, char *text);

#endif
