/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_ACCOUNT_H
#define BENCH_ACCOUNT_H

#include <stdint.h>
#include <sys/types.h>

/* What the kernel says a BPF program has cost so far; its run-time statistics must be on. */
struct prog_cost {
	uint64_t runs;
	uint64_t ns;
};

/* The id of the newest BPF program, 0 for none; a program that is loaded later has a higher one. */
uint32_t newest_prog(void);

/* The first perf-event program of that name with an id above AFTER; 0 for none. */
uint32_t find_prog(uint32_t after, const char *name);

/* Zeros if the program is gone. */
struct prog_cost prog_cost(uint32_t id);

/* The same by descriptor, which outlives the profiler; the caller closes it. */
int prog_open(uint32_t id);
struct prog_cost prog_fd_cost(int fd);

/* How often bpfprofil's cache of mappings missed, or was still valid after a check; by program. */
struct prog_misses {
	uint64_t misses;
	uint64_t renewed;
};

/* Zeros for a program without such an account. */
struct prog_misses prog_misses(uint32_t id);

/* CPU time of a process and all its threads, including ended ones, but not of its children. */
uint64_t process_cpu_ns(pid_t pid);

/* Kernel memory of the BPF maps that a process has open. */
uint64_t process_maps_kib(pid_t pid);

/* Its peak resident size so far; 0 if it is gone. */
uint64_t process_peak_kib(pid_t pid);

#endif
