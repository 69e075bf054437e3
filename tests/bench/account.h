/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_ACCOUNT_H
#define BENCH_ACCOUNT_H

#include <stdint.h>
#include <sys/types.h>

/* What the kernel says a BPF program cost so far; needs its run-time statistics switched on. */
struct prog_cost {
	uint64_t runs;
	uint64_t ns;
};

/* The id of the newest BPF program, 0 for none: what is loaded later has a higher one. */
uint32_t newest_prog(void);

/* The first perf-event program of that name that is younger than id AFTER; 0 for none. */
uint32_t find_prog(uint32_t after, const char *name);

/* Zeros when the program is gone. */
struct prog_cost prog_cost(uint32_t id);

/* The same by descriptor, which outlives the profiler; the caller closes it. */
int prog_open(uint32_t id);
struct prog_cost prog_fd_cost(int fd);

/* How often bpfprofil's cache of translations missed, or held after a second look; by program. */
struct prog_misses {
	uint64_t misses;
	uint64_t renewed;
};

/* Zeros for a program that has no such account. */
struct prog_misses prog_misses(uint32_t id);

/* CPU time of a process and all its threads, also the ended ones, not of its children. */
uint64_t process_cpu_ns(pid_t pid);

/* Kernel memory of the BPF maps a process holds open. */
uint64_t process_maps_kib(pid_t pid);

/* Its highest resident size until now; 0 when it is gone. */
uint64_t process_peak_kib(pid_t pid);

#endif
