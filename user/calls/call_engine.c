// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/call_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "calls.skel.h"
#include "host/engine/maps.h"
#include "host/engine/programs.h"

enum {
	BASE_PAGES = 2 * CHUNK_PAGES, /* each later addition takes some 30 ms */
	LINES_SHARE = 8, /* of the memory: region tables are small compared to counters */
};

static int configure_maps(struct call_engine *engine, const struct call_engine_options *options)
{
	struct calls_bpf *skel = engine->skel;
	uint32_t chunks = (engine->pages.limit - engine->pages.base) / CHUNK_PAGES;
	const struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{ skel->maps.pages, engine->pages.base },
		{ skel->maps.page_chunks, chunks ? chunks : 1 },
		{ skel->maps.calls, options->calls },
		{ skel->maps.free_calls, options->calls },
		{ skel->maps.call_lines, engine->nr_lines },
		{ skel->maps.call_specs, options->calls },
		{ skel->maps.call_owners, CALL_OWNERS },
		{ skel->maps.call_pages, engine->pages.limit },
		{ skel->maps.call_page_infos, engine->pages.limit },
		{ skel->maps.free_pages, engine->pages.limit },
		{ skel->maps.call_cpus, engine->nr_cpus },
	};
	size_t i;
	int ret = 0;

	skel->rodata->base_pages = engine->pages.base;
	skel->rodata->max_calls = options->calls;
	for (i = 0; i < CALL_CLOCKS; i++)
		skel->rodata->clock_periods[i] = options->period_ns[i];
	skel->rodata->pid_namespace = own_namespace("pid", HOST_PIDS);
	for (i = 0; !ret && i < sizeof(sizes) / sizeof(*sizes); i++)
		ret = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return ret;
}

static int map_arrays(struct call_engine *engine, struct error *err)
{
	struct calls_bpf *skel = engine->skel;
	struct bpf_map *const maps[MAP_COUNT] = {
		[MAP_CALLS] = skel->maps.calls,		  [MAP_LINES] = skel->maps.call_lines,
		[MAP_SPECS] = skel->maps.call_specs,	  [MAP_OWNERS] = skel->maps.call_owners,
		[MAP_INFOS] = skel->maps.call_page_infos, [MAP_CPUS] = skel->maps.call_cpus,
	};
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < MAP_COUNT; i++)
		ret = mapped_array_open(maps[i], PROT_READ | PROT_WRITE, &engine->maps[i], err);
	engine->calls = engine->maps[MAP_CALLS].at;
	engine->lines = engine->maps[MAP_LINES].at;
	engine->specs = engine->maps[MAP_SPECS].at;
	engine->owners = engine->maps[MAP_OWNERS].at;
	engine->infos = engine->maps[MAP_INFOS].at;
	engine->cpus = engine->maps[MAP_CPUS].at;
	return ret;
}

static int fill_free_calls(struct call_engine *engine, struct error *err)
{
	int fd = bpf_map__fd(engine->skel->maps.free_calls), ret;
	uint32_t slot;

	for (slot = 0; slot < engine->nr_calls; slot++) {
		ret = bpf_map_update_elem(fd, NULL, &slot, BPF_ANY);
		if (ret)
			return error_errno(err, ret, "filling the list of calls");
	}
	return 0;
}

static int grow_pages(struct call_engine *engine, struct error *err)
{
	struct call_globals *globals = engine->globals;
	int ret;

	LOCK_SCOPE(&engine->growing);
	ret = chunked_array_grow(&engine->pages,
				 __atomic_load_n(&globals->next_page, __ATOMIC_RELAXED), err);
	if (ret)
		engine->pages.limit = engine->pages.present;
	globals->page_limit = engine->pages.limit;
	globals->page_low = chunked_array_low(&engine->pages);
	__atomic_store_n(&globals->room_requested, 0, __ATOMIC_RELEASE);
	return ret;
}

static int open_programs(struct call_engine *engine, const struct call_engine_options *options,
			 struct programs_file *file, struct error *err)
{
	int ret;

	engine->skel = calls_bpf__open_opts(&file->opts);
	if (!engine->skel)
		return error_errno(err, -errno, "opening the BPF programs");
	ret = programs_find_types(file, engine->skel->obj, err);
	if (ret)
		return ret;
	ret = configure_maps(engine, options);
	return ret ? error_errno(err, ret, "sizing the maps") : 0;
}

static int load_programs(struct call_engine *engine, const struct call_engine_options *options,
			 struct error *err)
{
	struct programs_file file;
	int ret = programs_open(&file, err);

	if (!ret)
		ret = open_programs(engine, options, &file, err);
	if (!ret)
		ret = programs_load(&file, engine->skel->skeleton, err);
	programs_close(&file);
	if (ret)
		return ret;
	/* If libbpf could not map this one, it continues without it. */
	if (!engine->skel->bss)
		return error_errno(err, -ENOMEM, "the map of variables shared with the programs");
	engine->globals = &engine->skel->bss->globals;
	ret = map_arrays(engine, err);
	engine->pages.outer_fd = bpf_map__fd(engine->skel->maps.page_chunks);
	if (!ret)
		ret = chunked_array_map(&engine->pages, bpf_map__fd(engine->skel->maps.pages),
					engine->pages.base, err);
	if (!ret)
		ret = grow_pages(engine, err);
	if (!ret)
		ret = fill_free_calls(engine, err);
	if (ret)
		return ret;
	ret = programs_attach(engine->skel->skeleton);
	return ret ? error_errno(err, ret, "attaching to fork, exec and exit") : 0;
}

static int start_call_clock(struct sampler *clock, const struct bpf_program *program,
			    struct error *err)
{
	struct sampler_programs programs = { .clock_fd = bpf_program__fd(program), .tick_fd = -1 };

	return sampler_start(clock, &programs, err);
}

/*
 * Find out before the first call whether sampling is possible: perf_event_paranoid may forbid it.
 */
static int try_clock(struct call_engine *engine, struct error *err)
{
	int ret = start_call_clock(&engine->clocks[0], engine->skel->progs.call_tick_normal, err);

	sampler_stop(&engine->clocks[0]);
	return ret;
}

static int read_call_record(void *ctx, void *data, size_t size)
{
	const struct call_record *record = data;
	struct call_engine *engine = ctx;
	struct error err;

	if (size < sizeof(*record))
		return 0;
	if (record->type == CALL_GROW)
		grow_pages(engine, &err);
	else
		engine->event(engine->ctx, record);
	return 0;
}

int call_engine_open(const struct call_engine_options *options,
		     void (*event)(void *ctx, const struct call_record *record), void *ctx,
		     struct call_engine *engine, struct error *err)
{
	uint64_t pages = options->memory - options->memory / LINES_SHARE;
	int ret = 0, cpus, i;

	memset(engine, 0, sizeof(*engine));
	engine->event = event;
	engine->ctx = ctx;
	pthread_mutex_init(&engine->growing, NULL);
	libbpf_set_print(NULL);
	cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return error_errno(err, cpus, "/sys/devices/system/cpu/possible");
	engine->nr_cpus = cpus;
	engine->nr_calls = options->calls;
	engine->nr_lines = options->memory / LINES_SHARE / sizeof(struct call_line);
	chunked_array_plan(&engine->pages, pages, sizeof(struct counter_page), BASE_PAGES,
			   CHUNK_PAGES);
	for (i = 0; !ret && i < CALL_CLOCKS; i++)
		ret = sampler_init(&engine->clocks[i], options->period_ns[i], cpus, err);
	if (!ret && extents_init(&engine->free_lines, engine->nr_lines))
		ret = error_set(err, -ENOMEM, "calls: out of memory");
	if (!ret)
		ret = load_programs(engine, options, err);
	if (!ret)
		engine->records = ring_buffer__new(bpf_map__fd(engine->skel->maps.call_records),
						   read_call_record, engine, NULL);
	if (!ret && !engine->records)
		ret = error_errno(err, -ENOMEM, "ring buffer");
	if (!ret)
		ret = try_clock(engine, err);
	if (ret)
		call_engine_close(engine);
	return ret;
}

void call_engine_stop(struct call_engine *engine)
{
	size_t i;

	for (i = 0; i < CALL_CLOCKS; i++)
		sampler_stop(&engine->clocks[i]);
	calls_bpf__detach(engine->skel);
}

void call_engine_close(struct call_engine *engine)
{
	size_t i;

	for (i = 0; i < CALL_CLOCKS; i++)
		sampler_free(&engine->clocks[i]);
	ring_buffer__free(engine->records);
	for (i = 0; i < MAP_COUNT; i++)
		mapped_array_close(&engine->maps[i]);
	chunked_array_free(&engine->pages);
	calls_bpf__destroy(engine->skel);
	extents_free(&engine->free_lines);
	pthread_mutex_destroy(&engine->growing);
	memset(engine, 0, sizeof(*engine));
}

int call_engine_records_fd(const struct call_engine *engine)
{
	return ring_buffer__epoll_fd(engine->records);
}

void call_engine_poll(struct call_engine *engine)
{
	ring_buffer__consume(engine->records);
}

static bool wanted(const struct call_engine *engine, uint32_t clock)
{
	return __atomic_load_n(&engine->globals->running[clock], __ATOMIC_RELAXED) != 0;
}

int call_engine_run_clocks(struct call_engine *engine, struct error *err)
{
	const struct bpf_program *programs[CALL_CLOCKS] = {
		engine->skel->progs.call_tick_normal,
		engine->skel->progs.call_tick_fast,
	};
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < CALL_CLOCKS; i++) {
		struct sampler *clock = &engine->clocks[i];

		if (clock->running && !wanted(engine, i))
			sampler_stop(clock);
		else if (!clock->running && wanted(engine, i))
			ret = start_call_clock(clock, programs[i], err);
	}
	return ret;
}

bool call_engine_clocks_idle(const struct call_engine *engine)
{
	return !engine->clocks[0].running && !engine->clocks[1].running;
}

static void await_handler(const volatile __u64 *entered, const volatile __u64 *exited)
{
	uint64_t exited_before = *exited, entered_before = *entered;

	while (entered_before != exited_before && *exited == exited_before)
		sched_yield();
}

void call_engine_quiesce(const struct call_engine *engine)
{
	uint32_t i;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < engine->nr_cpus; i++) {
		const volatile struct call_cpu *cpu = &engine->cpus[i];

		await_handler(&cpu->entered, &cpu->exited);
		await_handler(&cpu->fork_entered, &cpu->fork_exited);
	}
}

int call_engine_reserve_call(struct call_engine *engine, uint32_t owner, bool replaces,
			     struct call_ref *result)
{
	struct call_owner *user = &engine->owners[owner];
	uint32_t limit = replaces ? CALL_NO_LIMIT : user->call_limit;
	struct call *call;

	if (!call_share_acquire(&user->calls, limit, &engine->globals->calls, engine->nr_calls))
		return -EDQUOT;
	if (bpf_map_lookup_and_delete_elem(bpf_map__fd(engine->skel->maps.free_calls), NULL,
					   &result->slot)) {
		call_share_release(&user->calls, &engine->globals->calls);
		return -EDQUOT;
	}
	call = &engine->calls[result->slot];
	result->serial = __atomic_add_fetch(&engine->globals->serial, 1, __ATOMIC_RELAXED);
	memset(call, 0, sizeof(*call));
	call->serial = result->serial;
	call->owner = owner;
	return 0;
}

void call_engine_release_call(struct call_engine *engine, uint32_t slot)
{
	struct call *call = &engine->calls[slot];

	__atomic_sub_fetch(&engine->specs[call->spec].calls, 1, __ATOMIC_SEQ_CST);
	call_share_release(&engine->owners[call->owner].calls, &engine->globals->calls);
	call->phase = CALL_FREE;
	call->serial = 0;
	bpf_map_update_elem(bpf_map__fd(engine->skel->maps.free_calls), NULL, &slot, BPF_ANY);
}

int call_engine_ref_of(const struct call_engine *engine, int pid_fd, struct call_ref *result)
{
	return bpf_map_lookup_elem(bpf_map__fd(engine->skel->maps.call_refs), &pid_fd, result);
}

int call_engine_set_ref(struct call_engine *engine, int pid_fd, const struct call_ref *ref)
{
	return task_storage_set(bpf_map__fd(engine->skel->maps.call_refs), pid_fd, ref);
}

int call_engine_drop_ref(struct call_engine *engine, int pid_fd)
{
	return bpf_map_delete_elem(bpf_map__fd(engine->skel->maps.call_refs), &pid_fd);
}

bool call_engine_switch_off(struct call_engine *engine, struct call *call)
{
	uint32_t on = CALL_ON;

	if (!__atomic_compare_exchange_n(&call->phase, &on, CALL_OFF, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return false;
	__atomic_sub_fetch(&engine->globals->running[call->flags & CALL_IS_FAST], 1,
			   __ATOMIC_SEQ_CST);
	return true;
}

void call_engine_switch_on(struct call_engine *engine, struct call *call)
{
	__atomic_add_fetch(&engine->globals->running[call->flags & CALL_IS_FAST], 1,
			   __ATOMIC_SEQ_CST);
	__atomic_store_n(&call->phase, CALL_ON, __ATOMIC_SEQ_CST);
}

static struct call_page_key page_key(const struct call_ref *ref, uint64_t index)
{
	return (struct call_page_key){ .call = *ref, .index = index };
}

uint32_t call_engine_held_page(const struct call_engine *engine, const struct call_ref *ref,
			       uint64_t index)
{
	struct call_page_key key = page_key(ref, index);
	uint32_t page;

	if (index < CALL_INLINE_PAGES)
		return engine->calls[ref->slot].pages[index];
	if (bpf_map_lookup_elem(bpf_map__fd(engine->skel->maps.call_pages), &key, &page))
		return NO_PAGE;
	return page;
}

/* NO_PAGE: out of memory. Like the programs, it checks before it increments. */
static uint32_t fresh_page(struct call_engine *engine)
{
	int fd = bpf_map__fd(engine->skel->maps.free_pages);
	struct call_globals *globals = engine->globals;
	struct error err;
	uint32_t number;

	if (!bpf_map_lookup_and_delete_elem(fd, NULL, &number))
		return page_ref(number);
	number = __atomic_load_n(&globals->next_page, __ATOMIC_RELAXED);
	if (number >= globals->page_low)
		grow_pages(engine, &err);
	if (number >= globals->page_limit || !chunked_array_at(&engine->pages, number))
		return NO_PAGE;
	number = __atomic_fetch_add(&globals->next_page, 1, __ATOMIC_RELAXED);
	return chunked_array_at(&engine->pages, number) ? page_ref(number) : NO_PAGE;
}

uint32_t call_engine_add_page(struct call_engine *engine, const struct call_ref *ref,
			      uint64_t index)
{
	struct call *call = &engine->calls[ref->slot];
	struct call_owner *owner = &engine->owners[call->owner];
	struct call_page_key key = page_key(ref, index);
	struct call_page_info *info;
	uint32_t page;

	if (!call_share_acquire(&owner->pages, owner->page_limit, &engine->globals->pages,
				engine->globals->page_limit))
		return NO_PAGE;
	page = fresh_page(engine);
	if (page && index >= CALL_INLINE_PAGES &&
	    bpf_map_update_elem(bpf_map__fd(engine->skel->maps.call_pages), &key, &page,
				BPF_NOEXIST)) {
		call_engine_drop_page(engine, call, page);
		return NO_PAGE;
	}
	if (!page) {
		call_share_release(&owner->pages, &engine->globals->pages);
		return NO_PAGE;
	}
	if (index < CALL_INLINE_PAGES)
		call->pages[index] = page;
	info = call_engine_info(engine, page);
	*info = (struct call_page_info){ .call = *ref, .index = index };
	info->next = __atomic_exchange_n(&call->first_page, page, __ATOMIC_SEQ_CST);
	return page;
}

void call_engine_drop_page(struct call_engine *engine, const struct call *call, uint32_t page)
{
	struct call_page_info *info = call_engine_info(engine, page);
	struct call_page_key key = page_key(&info->call, info->index);
	uint32_t number = page_number(page);

	if (info->index >= CALL_INLINE_PAGES)
		bpf_map_delete_elem(bpf_map__fd(engine->skel->maps.call_pages), &key);
	memset(call_engine_page(engine, page), 0, sizeof(struct counter_page));
	memset(info, 0, sizeof(*info));
	call_share_release(&engine->owners[call->owner].pages, &engine->globals->pages);
	bpf_map_update_elem(bpf_map__fd(engine->skel->maps.free_pages), NULL, &number, BPF_ANY);
}
