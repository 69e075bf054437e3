/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KERNEL_BTF_H
#define BPFPROFIL_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/kernel_types.h"

/* Facts from the kernel's BTF. They are all read at once and kept, because reading takes 10 ms. */
struct kernel_btf {
	int fork_tracepoint; /* type id of the tracepoint's prototype; or a negative errno */
	int exit_arguments; /* of sched_process_exit with its context; 0: no such tracepoint */
	int exit_mm_release; /* type id of the function; or a negative errno */
	bool can_walk; /* the tree of mappings, and an iterator over them, exist */

	/* Offsets in a CPU's data, and of a member of struct tick_sched; -1: there is none. */
	int64_t tick_cpu_sched, hrtimer_bases, irq_regs;
	int64_t sched_timer;

	/* The indices of cgroup controllers, by the names of their enumerators (cpu_cgrp_id). */
	struct kernel_controller {
		char name[32];
		int index;
	} controllers[32];
	size_t nr_controllers;
};

/*
 * Returns 0 or a negative errno. Only the main thread may call this: the first call that succeeds
 * reads for all others.
 */
int kernel_btf_read(const struct kernel_btf **result, struct error *err);

/* The names that these facts are read from, so that programs.c can read them along with its own. */
struct kernel_btf_names {
	const char *text;
	size_t size;
};
extern const struct kernel_btf_names kernel_btf_names;
void kernel_btf_know(const struct kernel_types *types);

/*
 * Whether --callers works here: it needs the tree of mappings as bpf/mapletree.bpf.h reads it, and
 * an iterator over mappings. Returns 0 or 1, or a negative errno.
 */
int kernel_can_walk(struct error *err);

/*
 * How a thread is seen that exits and still has its address space. The tracepoint
 * sched_process_exit comes before exit_mm since "exit: move and extend sched_process_exit()
 * tracepoint" (6.16), which also added the argument that we recognise it by. On older kernels it is
 * the entry of exit_mm_release. If the kernel cannot trace functions, there is no way.
 */
enum exit_hook {
	EXIT_HOOK_TRACEPOINT,
	EXIT_HOOK_FUNCTION,
	EXIT_HOOK_LATE, /* the tracepoint, but ticks during exit are lost */
};

/* Returns an enum exit_hook, or a negative errno if the kernel's BTF cannot be read. */
int exit_hook_find(struct error *err);

#endif
