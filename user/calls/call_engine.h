/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_ENGINE_H
#define BPFPROFIL_CALL_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "host/engine/extents.h"
#include "host/engine/sampler.h"
#include "shared/call_abi.h"

/*
 * The kernel side of serve: programs, mapped maps, clocks. It hands out slots, pages and lines, but
 * does not decide which call gets them.
 */
struct call_engine_options {
	uint64_t period_ns[CALL_CLOCKS]; /* normal, fast */
	uint64_t memory; /* hard limit for counters and tables, in bytes */
	uint32_t calls; /* at the same time, of all users */
};

enum { CALL_OWNERS = 1024 }; /* limit for users with a call at the same time */

enum { MAP_CALLS, MAP_LINES, MAP_SPECS, MAP_OWNERS, MAP_INFOS, MAP_CPUS, MAP_COUNT };

struct calls_bpf;
struct ring_buffer;

struct call_engine {
	struct calls_bpf *skel;
	struct ring_buffer *records;
	void (*event)(void *ctx, const struct call_record *record); /* for these */
	void *ctx;
	struct mapped_array maps[MAP_COUNT];
	struct call *calls;
	struct call_line *lines;
	struct call_spec *specs;
	struct call_owner *owners;
	struct call_page_info *infos;
	volatile struct call_cpu *cpus;
	struct call_globals *globals;
	struct chunked_array pages;
	pthread_mutex_t growing; /* held while pages are added */
	struct extents free_lines;
	struct sampler clocks[CALL_CLOCKS];
	uint32_t nr_cpus; /* possible CPUs */
	uint32_t nr_calls;
	uint32_t nr_lines;
};

/* event is called for each record of the programs. */
int call_engine_open(const struct call_engine_options *options,
		     void (*event)(void *ctx, const struct call_record *record), void *ctx,
		     struct call_engine *engine, struct error *err);
void call_engine_close(struct call_engine *engine);

/* Stops counting; counters stay as they are. */
void call_engine_stop(struct call_engine *engine);

/* Readable if there are records; then call call_engine_poll(). */
int call_engine_records_fd(const struct call_engine *engine);
void call_engine_poll(struct call_engine *engine);

/* Starts or stops each clock, depending on whether a call needs it. */
int call_engine_run_clocks(struct call_engine *engine, struct error *err);
bool call_engine_clocks_idle(const struct call_engine *engine); /* no call needs a clock */

/*
 * Waits until all handlers of ticks and forks that are running now have ended, which takes
 * microseconds.
 */
void call_engine_quiesce(const struct call_engine *engine);

/*
 * Reserves a slot, all zero but for its serial and owner, within the owner's limit and share;
 * -EDQUOT. replaces: another call of the owner will be released for it.
 */
int call_engine_reserve_call(struct call_engine *engine, uint32_t owner, bool replaces,
			     struct call_ref *result);
/* Frees the slot, and its places in its spec and its owner's account. */
void call_engine_release_call(struct call_engine *engine, uint32_t slot);

/* Finds the call of a process; -ENOENT: it has none. */
int call_engine_ref_of(const struct call_engine *engine, int pid_fd, struct call_ref *result);
int call_engine_set_ref(struct call_engine *engine, int pid_fd, const struct call_ref *ref);
int call_engine_drop_ref(struct call_engine *engine, int pid_fd);

/* Turns a call off; true if it was on. */
bool call_engine_switch_off(struct call_engine *engine, struct call *call);
void call_engine_switch_on(struct call_engine *engine, struct call *call);

/* The call's page at index, or NO_PAGE. */
uint32_t call_engine_held_page(const struct call_engine *engine, const struct call_ref *ref,
			       uint64_t index);

/* Adds a page from the pool at index. NO_PAGE: out of memory. */
uint32_t call_engine_add_page(struct call_engine *engine, const struct call_ref *ref,
			      uint64_t index);

/* Frees a page of the call that is not, or no longer, in its list. */
void call_engine_drop_page(struct call_engine *engine, const struct call *call, uint32_t page);

static inline struct counter_page *call_engine_page(const struct call_engine *engine, uint32_t page)
{
	return (struct counter_page *)chunked_array_at(&engine->pages, page_number(page));
}

static inline struct call_page_info *call_engine_info(const struct call_engine *engine,
						      uint32_t page)
{
	return &engine->infos[page_number(page)];
}

#endif
