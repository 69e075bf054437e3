/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLS_KERNEL_H
#define BPFPROFIL_CALLS_KERNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "calls/runs.h"
#include "engine/chunked_array.h"
#include "engine/sampler.h"
#include "shared/call_abi.h"

/*
 * The calls' side in the kernel: programs, maps in place, clocks. It hands out slots, pages and
 * lines; which call gets them is not known here.
 */
struct kernel_options {
	uint64_t period_ns[CALL_CLOCKS]; /* normal, fast */
	uint64_t memory; /* bytes for counters and tables, a hard limit */
	uint32_t calls; /* at the same time, of all users */
};

struct kernel_map {
	void *at;
	size_t size;
};

enum kernel_map_name {
	MAP_CALLS,
	MAP_LINES,
	MAP_SHAPES,
	MAP_OWNERS,
	MAP_INFOS,
	MAP_CPUS,
	MAP_COUNT
};

struct calls_bpf;
struct listener;
struct ring_buffer;

struct kernel {
	struct calls_bpf *skel;
	struct ring_buffer *records;
	struct listener *listener; /* of its records */
	struct kernel_map maps[MAP_COUNT];
	struct call *calls;
	struct call_line *lines;
	struct call_shape *shapes;
	struct call_owner *owners;
	struct call_page_info *infos;
	volatile struct call_cpu *cpus;
	struct call_globals *globals;
	struct chunked_array pages;
	pthread_mutex_t growing; /* the pages are */
	struct runs free_lines;
	struct sampler clocks[CALL_CLOCKS];
	uint32_t nr_cpus; /* possible */
	uint32_t nr_calls;
	uint32_t nr_owners;
	uint32_t nr_lines;
};

/* event is told of each record of the programs. */
int kernel_open(const struct kernel_options *options,
		void (*event)(void *ctx, const struct call_record *record), void *ctx,
		struct kernel *kernel, struct error *err);
void kernel_close(struct kernel *kernel);

/* Nothing counts any more, but all that was counted stays in its place. */
void kernel_stop(struct kernel *kernel);

/* Readable when there are records; then kernel_poll. */
int kernel_records_fd(const struct kernel *kernel);
void kernel_poll(struct kernel *kernel);

/* Starts or stops each clock by whether a call wants it. */
int kernel_run_clocks(struct kernel *kernel, struct error *err);
bool kernel_clocks_idle(const struct kernel *kernel); /* nobody profiles */

/* Returns when no handler of a tick or a fork is inside that was when it was called: microseconds. */
void kernel_quiesce(const struct kernel *kernel);

/*
 * A slot with a call that is all zero but for its serial and owner, by the owner's limit and share;
 * -EDQUOT. replaces: another of the owner's will go for it.
 */
int kernel_take_call(struct kernel *kernel, uint32_t owner, bool replaces, struct call_ref *ret);
/* Gives it back, with its places in its shape and at its owner. */
void kernel_release_call(struct kernel *kernel, uint32_t slot);

/* The call that a process has; -ENOENT: none. */
int kernel_ref_of(const struct kernel *kernel, int pid_fd, struct call_ref *ret);
int kernel_set_ref(struct kernel *kernel, int pid_fd, const struct call_ref *ref);
int kernel_drop_ref(struct kernel *kernel, int pid_fd);

/* Takes a call out of force; true when it was in force. */
bool kernel_switch_off(struct kernel *kernel, struct call *call);
void kernel_switch_on(struct kernel *kernel, struct call *call);

/* Number + 1 of the page that a call has at index; 0: none. */
uint32_t kernel_held_page(const struct kernel *kernel, const struct call_ref *ref, uint64_t index);

/* Gives the call a page of the pool at index: its number + 1, or 0 without memory. */
uint32_t kernel_add_page(struct kernel *kernel, const struct call_ref *ref, uint64_t index);

/* Takes a page from the call, which has not or no longer got it in its list. */
void kernel_drop_page(struct kernel *kernel, const struct call *call, uint32_t number);

static inline struct counter_page *kernel_page(const struct kernel *kernel, uint32_t number)
{
	return (struct counter_page *)chunked_array_at(&kernel->pages, number - 1);
}

#endif
