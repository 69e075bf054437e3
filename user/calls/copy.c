// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copies the kernel's counters into the callers' buffers. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "calls/batch.h"

/* Counters; reading their 8 MiB takes some ms, in which nobody else is served. */
#define PRELOAD_MAX (4ULL << 20)

/* No architecture has smaller pages. */
enum { OS_PAGE = 4096 };

/*
 * Adds to what the buffer holds now, by the dialect's rule for a full counter. Shortens the batch
 * to the counters for which this either worked or failed, because the rest may have another result.
 */
static int add_batch(struct caller *caller, struct batch *batch)
{
	const struct spec *spec = caller->spec;
	uint64_t address = spec->entries[batch->entry].base + batch->bin * spec->width;
	uint32_t full = dialect_full(spec->dialect, spec_is_sprofil(spec));
	batch_values buffer[2];
	size_t i;
	int ret;

	ret = batch_read(caller, address, buffer[0], batch);
	if (ret)
		return ret;
	for (i = 0; i < batch->nr; i++) {
		uint64_t before = get_counter(buffer[0] + i * spec->width, spec->width);

		put_counter(buffer[1] + i * spec->width, spec->width,
			    dialect_count(full, spec->width, before, batch->more[i]));
	}
	ret = batch_write(caller, address, buffer[1], batch);
	/*
	 * With a limit the kernel's counters keep their values, from which a child's can be
	 * computed.
	 */
	if (!ret && !(spec->flags & CALL_HAS_LIMIT))
		fork_repair_remember(caller, address, buffer[0], buffer[1], batch);
	return ret;
}

static void record_batch(struct caller *caller, const struct batch *batch)
{
	struct sparse_page *page = NULL;
	uint64_t at;
	size_t i;

	for (i = 0; i < batch->nr; i++) {
		at = caller_taken_index(batch->entry, batch->bin + i);
		if (!page || page->index != at / PAGE_COUNTERS)
			page = sparse_page(&caller->taken, at / PAGE_COUNTERS);
		if (!page) {
			caller->unrecorded = true;
			return;
		}
		page->values[at % PAGE_COUNTERS] += batch->more[i];
	}
}

static void account_batch(struct caller *caller, const struct batch *batch, int failure)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < batch->nr; i++)
		ticks += batch->more[i];
	/* If the address space is gone nobody can look at the buffer, so only -EFAULT is a loss. */
	if (failure == -EFAULT)
		caller->unwritten += ticks;
	else if (batch->entry == caller->spec->table.overflow)
		caller->overflow += ticks;
	else
		caller->binned += ticks;
}

/* A hole in the middle of a batch loses only what belongs there. */
static void put_batch(struct caller *caller, struct batch *batch, bool inherited)
{
	size_t left;
	int ret;

	for (left = batch->nr; left; left -= batch->nr) {
		batch->nr = left;
		ret = caller->gone ? -ESRCH : add_batch(caller, batch);
		batch_note_failure(caller, batch, ret);
		if (!inherited)
			account_batch(caller, batch, ret);
		if (!inherited && caller->record && ret != -EFAULT)
			record_batch(caller, batch);
		batch->bin += batch->nr;
		batch->flat += batch->nr;
		batch->more += batch->nr;
	}
}

/* Writes what was added to a page's counters, one run of consecutive counters at a time. */
static void copy_page_out(struct caller *caller, uint64_t index, const uint32_t *more,
			  uint64_t from_ns, bool inherited)
{
	uint64_t flat = index << PAGE_SHIFT_COUNTERS, left, taken_ns = monotonic_ns();
	uint32_t i, end;

	for (i = 0; i < PAGE_COUNTERS; i = end) {
		struct batch batch;

		end = i + 1;
		if (!more[i])
			continue;
		batch.entry = spec_locate(caller->spec, flat + i, &batch.bin, &left);
		batch.more = more + i;
		batch.flat = flat + i;
		batch.from_ns = from_ns;
		batch.taken_ns = taken_ns;
		while (end < PAGE_COUNTERS && more[end] && end - i < left)
			end++;
		batch.nr = end - i;
		put_batch(caller, &batch, inherited);
	}
}

/* Takes a page's counts; false if there are none. */
static bool take_counters(struct counter_page *page, uint32_t *more)
{
	uint32_t any = 0, i;

	for (i = 0; i < PAGE_COUNTERS; i++) {
		more[i] = __atomic_load_n(&page->counters[i], __ATOMIC_RELAXED);
		if (more[i])
			more[i] = __atomic_exchange_n(&page->counters[i], 0, __ATOMIC_RELAXED);
		any |= more[i];
	}
	return any;
}

/* The first counter behind a missing byte that is entirely outside of that byte's page. */
static uint32_t behind_hole(uint64_t address, uint32_t width, uint64_t missing)
{
	uint64_t end = (missing | (OS_PAGE - 1)) + 1;

	return (uint32_t)((end - address + width - 1) / width);
}

/*
 * Reads nr counters of one region from the caller's buffer, with one read for those that are
 * contiguous. Counters that cannot be read keep their values in `values`.
 */
static void read_run(const struct caller *caller, uint64_t flat, uint32_t nr, uint32_t *values)
{
	const struct spec *spec = caller->spec;
	uint32_t width = spec->width, i = 0, j;
	batch_values buffer;
	uint64_t bin, left, address;
	int64_t got;

	address = spec->entries[spec_locate(spec, flat, &bin, &left)].base;
	address += bin * width;
	while (i < nr) {
		uint64_t at = address + i * (uint64_t)width;

		got = process_read_some(&caller->process, at, buffer, (nr - i) * (size_t)width);
		got = got < 0 ? 0 : got;
		for (j = 0; j < got / width; j++)
			values[i + j] = (uint32_t)get_counter(buffer + j * width, width);
		i = behind_hole(address, width, at + (uint64_t)got);
	}
}

/* How many counters to read at once: the rest of the region or of the page. */
static uint32_t run_length(const struct caller *caller, uint64_t flat)
{
	uint64_t bin, left, room = PAGE_COUNTERS - (flat & (PAGE_COUNTERS - 1));

	spec_locate(caller->spec, flat, &bin, &left);
	return left < room ? (uint32_t)left : (uint32_t)room;
}

static bool take_run_above(const struct caller *caller, struct counter_page *page,
			   struct sparse_page *known, uint32_t first, uint32_t end, uint32_t *more)
{
	uint32_t values[PAGE_COUNTERS], any = 0, i, now, change;

	for (i = first; i < end; i++)
		values[i] = (uint32_t)known->values[i];
	read_run(caller, (known->index << PAGE_SHIFT_COUNTERS) + first, end - first,
		 values + first);
	for (i = first; i < end; i++) {
		now = __atomic_load_n(&page->counters[i], __ATOMIC_RELAXED);
		if (!now && !known->values[i])
			continue;
		change = values[i] - (uint32_t)known->values[i];
		now = __atomic_add_fetch(&page->counters[i], change, __ATOMIC_RELAXED);
		more[i] = now - change - (uint32_t)known->values[i];
		known->values[i] = now;
		any |= more[i];
	}
	return any;
}

/*
 * With a limit the kernel's counters are not reset, because they are compared with it; what is new
 * is the difference from the last time. If the program has written to its buffer meanwhile, the
 * kernel's counter is set accordingly.
 */
static bool take_above(const struct caller *caller, struct counter_page *page,
		       struct sparse_page *known, uint32_t *more)
{
	uint64_t flat = known->index << PAGE_SHIFT_COUNTERS;
	bool any = false;
	uint32_t i, end;

	memset(more, 0, PAGE_COUNTERS * sizeof(*more));
	for (i = 0; i < PAGE_COUNTERS; i = end) {
		end = i + 1;
		if (!__atomic_load_n(&page->counters[i], __ATOMIC_RELAXED) && !known->values[i])
			continue;
		end = i + run_length(caller, flat + i);
		any |= take_run_above(caller, page, known, i, end, more);
	}
	return any;
}

/* Copies what the parent had counted into the buffer, but into no account. */
static void copy_inherited(struct caller *caller, uint64_t index, struct counter_page *page)
{
	uint32_t more[PAGE_COUNTERS], i;
	uint64_t from_ns = monotonic_ns();

	if (!take_counters(page, more))
		return;
	for (i = 0; i < PAGE_COUNTERS; i++)
		if (more[i] == CALL_NOT_INHERITED)
			more[i] = 0;
	copy_page_out(caller, index & ~CALL_PAGE_INHERITED, more, from_ns, true);
}

/*
 * With a limit, a forked child's counters began with the parent's values at the fork, and its
 * buffer with their values at the last copy. The difference is the parent's, and is copied here.
 */
static void hold_inherited(struct caller *caller, uint64_t index, struct counter_page *at_fork)
{
	size_t nr_known = caller->held.nr;
	struct sparse_page *known = sparse_page(&caller->held, index);
	uint64_t flat = index << PAGE_SHIFT_COUNTERS;
	uint32_t more[PAGE_COUNTERS] = { 0 }, values[PAGE_COUNTERS], i, end;

	if (!known || caller->held.nr == nr_known)
		return;
	for (i = 0; i < PAGE_COUNTERS; i++) {
		/* The child's own counter was 0 then, and follows what the buffer holds. */
		if (at_fork->counters[i] != CALL_NOT_INHERITED)
			known->values[i] = at_fork->counters[i];
		values[i] = (uint32_t)known->values[i];
	}
	for (i = 0; i < PAGE_COUNTERS; i = end) {
		end = i + 1;
		if (!known->values[i])
			continue;
		end = i + run_length(caller, flat + i);
		read_run(caller, flat + i, end - i, values + i);
	}
	for (i = 0; i < PAGE_COUNTERS; i++)
		if (known->values[i] > values[i])
			more[i] = (uint32_t)known->values[i] - values[i];
	copy_page_out(caller, index, more, monotonic_ns(), true);
}

/*
 * What the parent had counted comes first, because in the list its page is as new as the child's
 * own.
 */
static void copy_all_inherited(struct caller *caller, struct call_engine *engine)
{
	uint32_t number = call_of(caller, engine)->first_page;

	for (; number; number = engine->infos[number - 1].next) {
		uint64_t index = engine->infos[number - 1].index;

		if (!(index & CALL_PAGE_INHERITED))
			continue;
		if (caller->spec->flags & CALL_HAS_LIMIT)
			hold_inherited(caller, index & ~CALL_PAGE_INHERITED,
				       call_engine_page(engine, number));
		else
			copy_inherited(caller, index, call_engine_page(engine, number));
	}
}

static void copy_page(struct caller *caller, uint64_t index, struct counter_page *page)
{
	bool limited = caller->spec->flags & CALL_HAS_LIMIT, any;
	uint64_t from_ns = monotonic_ns();
	struct sparse_page *known = limited ? sparse_page(&caller->held, index) : NULL;
	uint32_t more[PAGE_COUNTERS];

	/* Out of memory: the counts stay in the kernel until the next time. */
	if (limited && !known)
		return;
	any = limited ? take_above(caller, page, known, more) : take_counters(page, more);
	if (!any)
		return;
	copy_page_out(caller, index, more, from_ns, false);
}

static void copy_counters(struct caller *caller, struct call_engine *engine)
{
	uint32_t number = __atomic_load_n(&call_of(caller, engine)->first_page, __ATOMIC_ACQUIRE);

	if (caller->forked)
		copy_all_inherited(caller, engine);
	for (; number; number = engine->infos[number - 1].next) {
		uint64_t index = engine->infos[number - 1].index;

		if (!(index & CALL_PAGE_INHERITED))
			copy_page(caller, index, call_engine_page(engine, number));
	}
}

void caller_copy(struct caller *caller, struct call_engine *engine)
{
	struct call *call = call_of(caller, engine);

	uint64_t start = monotonic_ns();
	size_t nr_writes;

	fork_repair_forget(&caller->writes, start - CALL_FORK_NS);
	nr_writes = caller->writes.nr;
	__atomic_store_n(&call->copying, 1, __ATOMIC_SEQ_CST);
	/* From here on the next tick reports that the call is dirty. */
	__atomic_store_n(&call->dirty, 0, __ATOMIC_SEQ_CST);
	caller->faulted = UINT32_MAX;
	process_look_anew(&caller->process);
	if (caller->spec->flags & CALL_TAKES_PCS)
		caller_copy_samples(caller, engine);
	else
		copy_counters(caller, engine);
	if (caller->writes.nr != nr_writes)
		__atomic_store_n(&call->copied_ns, monotonic_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&call->copying, 0, __ATOMIC_SEQ_CST);
}

/* Sets the counters of one page of a region to what the buffer has. */
static int preload_page(struct caller *caller, struct call_engine *engine,
			const struct batch *batch, uint64_t flat)
{
	uint32_t width = caller->spec->width, number, i;
	uint64_t address = caller->spec->entries[batch->entry].base + batch->bin * width, any = 0;
	uint64_t index = flat >> PAGE_SHIFT_COUNTERS;
	batch_values buffer;
	struct sparse_page *known;

	if (process_read(&caller->process, address, buffer, batch->nr * width))
		return -EFAULT;
	for (i = 0; i < batch->nr; i++)
		any |= get_counter(buffer + i * width, width);
	if (!any)
		return 0;
	number = call_engine_held_page(engine, &caller->ref, index);
	number = number ? number : call_engine_add_page(engine, &caller->ref, index);
	known = sparse_page(&caller->held, index);
	if (!number || !known)
		return number ? -ENOMEM : -ENOSPC;
	for (i = 0; i < batch->nr; i++) {
		uint32_t at = (flat + i) & (PAGE_COUNTERS - 1);

		known->values[at] = get_counter(buffer + i * width, width);
		call_engine_page(engine, number)->counters[at] = known->values[at];
	}
	return 0;
}

static int preload_entry(struct caller *caller, struct call_engine *engine, uint32_t entry)
{
	const uint64_t *firsts = caller->spec->table.firsts;
	struct batch batch = { .entry = entry };
	uint64_t flat, room;
	int ret;

	for (flat = firsts[entry]; flat < firsts[entry + 1] && flat < PRELOAD_MAX;
	     flat += batch.nr) {
		room = PAGE_COUNTERS - (flat & (PAGE_COUNTERS - 1));
		batch.bin = flat - firsts[entry];
		batch.nr = firsts[entry + 1] - flat < room ? firsts[entry + 1] - flat : room;
		ret = preload_page(caller, engine, &batch, flat);
		/* Unmapped memory has no values to start from. */
		if (ret && ret != -EFAULT)
			return ret;
	}
	return 0;
}

int caller_preload(struct caller *caller, struct call_engine *engine)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < caller->spec->nr_entries; i++)
		ret = preload_entry(caller, engine, i);
	return ret;
}
