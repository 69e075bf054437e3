/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BENCH_REPORT_H
#define BPFPROFIL_BENCH_REPORT_H

#include <stdio.h>

#include "cost/bench_host.h"
#include "cost/cost.h"

/* What `bench` measured, to paste into an issue, and for programs. */
void bench_report_text(FILE *out, const struct bench_host *host, const struct cost_report *report);
void bench_report_json(FILE *out, const struct bench_host *host, const struct cost_report *report);

/* "2026-11-22T06:10:00Z" */
#define BENCH_TIME_SIZE 32
void bench_time(time_t when, char *text);

#endif
