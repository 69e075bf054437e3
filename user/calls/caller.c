// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Copies counters from the kernel into the callers' buffers.
 *
 * profil() promises that counts appear in the caller's own buffer. The kernel cannot add to that
 * memory at a tick. Therefore calls.bpf.c counts in pages of its own maps. Some 20 times a second,
 * the thread of the caller's user adds the new counts to the buffer through /proc/PID/mem:
 *
 *   move_counters()  replaces the counters of a page by 0
 *   put_batch()      for each run of consecutive counters: reads the buffer, adds by the dialect's
 *                    rule for a full counter, and writes it back
 *
 * The program may change or unmap its buffer at any time. If a counter cannot be written, its ticks
 * count as unwritten, and the rest continues.
 *
 * Some dialects stop a counter at a limit. Then the kernel's counters are not reset, because the
 * programs compare them with the limit; the new counts are the difference from the last copy
 * (read_limited).
 *
 * pcsample() stores samples rather than counters; caller_copy_samples() appends them to the buffer.
 *
 * A fork may happen during a copy. The child's buffer then lacks counts that were in neither the
 * parent's buffer nor its counters at that moment; fork_repair() adds them.
 */
#include "calls/caller.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "shared/dialect.h"

/* Counts to add to consecutive counters of one region, or samples of pcs. */
struct batch {
	uint32_t entry;
	uint64_t bin; /* of the first one */
	const uint32_t *more;
	size_t nr;
	uint64_t flat; /* the number of the first counter in the call */
	uint64_t from_ns; /* the counts left the kernel's counters after this */
	uint64_t until_ns; /* and before this */
};

/* Space for the values of the largest batch. */
typedef uint8_t batch_values[PAGE_COUNTERS * sizeof(uint64_t)];

static void fork_repair_remember(struct caller *caller, uint64_t address, const uint8_t *before,
				 const uint8_t *after, const struct batch *batch);

static inline uint64_t get_counter(const uint8_t *at, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, at, width);
	return value;
}

static inline void put_counter(uint8_t *at, uint32_t width, uint64_t value)
{
	memcpy(at, &value, width);
}

/*
 * Shortens a batch to the counters that are complete within `bytes`. If the first one is not, only
 * that one fails.
 */
static int shorten_batch(struct batch *batch, uint32_t width, int64_t bytes)
{
	if (bytes == -ESRCH)
		return -ESRCH;
	if (bytes < (int64_t)width) {
		batch->nr = 1;
		return -EFAULT;
	}
	if (batch->nr > (uint64_t)bytes / width)
		batch->nr = (uint64_t)bytes / width;
	return 0;
}

/*
 * Read values at an address in the caller's memory, or write new ones. The batch is shortened to
 * the counters that all succeeded or all failed, because the rest may have another result. Return
 * 0, -EFAULT or -ESRCH.
 */
static int batch_read(struct caller *caller, uint64_t address, uint8_t *values, struct batch *batch)
{
	uint32_t width = caller->spec->width;
	int ret;

	ret = shorten_batch(batch, width,
			    process_writable(&caller->process, address, batch->nr * width));
	if (!ret)
		ret = shorten_batch(batch, width,
				    process_read_some(&caller->process, address, values,
						      batch->nr * width));
	return ret;
}

static int batch_write(struct caller *caller, uint64_t address, const uint8_t *values,
		       struct batch *batch)
{
	uint32_t width = caller->spec->width;

	return shorten_batch(batch, width,
			     process_write_some(&caller->process, address, values,
						batch->nr * width));
}

static void batch_note_failure(struct caller *caller, const struct batch *batch, int failure)
{
	if (failure == -EFAULT)
		caller->faulted = batch->entry;
	else if (failure == -ESRCH)
		caller->gone = true;
}

/* --- pcsample(): samples from the kernel to the caller's buffer --- */

/* Only checks whether the parent's sample exists. Its value does not matter. */
static uint32_t caller_inherited_sample(const struct caller *caller,
					const struct call_engine *engine, uint64_t index)
{
	uint32_t page = call_engine_held_page(engine, &caller->ref, index / CALL_PAGE_PCS);
	const uint64_t *samples = page ? (const uint64_t *)call_engine_page(engine, page) : NULL;

	return samples && samples[index % CALL_PAGE_PCS] & CALL_PC_NOT_INHERITED ?
		       CALL_NOT_INHERITED :
		       0;
}

/* A child's samples come after its parent's, even if the child has no copy of those. */
static void pass_over_samples(struct caller *caller, const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);

	while (caller->copied < call->inherited &&
	       caller_inherited_sample(caller, engine, caller->copied) == CALL_NOT_INHERITED)
		caller->copied++;
}

/* Reads the samples from `copied` on, at most a page, in the caller's pointer size. */
static size_t read_samples(const struct caller *caller, const struct call_engine *engine,
			   uint64_t next, uint8_t *buffer)
{
	uint32_t page = call_engine_held_page(engine, &caller->ref, caller->copied / CALL_PAGE_PCS);
	const uint64_t *samples = page ? (const uint64_t *)call_engine_page(engine, page) : NULL;
	uint64_t inherited = call_of(caller, engine)->inherited;
	size_t nr = 0;

	while (samples && caller->copied + nr < next) {
		size_t at = (caller->copied + nr) % CALL_PAGE_PCS;
		uint64_t sample = __atomic_load_n(&samples[at], __ATOMIC_RELAXED);

		/* A handler has reserved this place and is about to write it. */
		if (!(sample & CALL_PC_WRITTEN) || (nr && !at))
			break;
		if (sample & CALL_PC_NOT_INHERITED && caller->copied + nr < inherited)
			break;
		put_counter(buffer + nr * caller->spec->width, caller->spec->width,
			    sample & ~CALL_PC_WRITTEN);
		nr++;
	}
	return nr;
}

/* Counts samples, except those before `inherited`, which are the parent's. */
static void account_samples(struct caller *caller, uint64_t inherited, const uint8_t *buffer,
			    size_t nr, int failure)
{
	uint32_t width = caller->spec->width;
	size_t i;

	if (failure == -EFAULT)
		caller->not_stored += nr;
	for (i = 0; i < nr; i++) {
		if (caller->copied + i < inherited)
			continue;
		if (failure == -EFAULT) {
			caller->unwritten++;
			continue;
		}
		caller->binned++;
		if (caller->record && pcs_add(&caller->pcs, get_counter(buffer + i * width, width)))
			caller->unrecorded = true;
	}
}

/*
 * Drops pages before `end`, whose samples are all in the buffer. Keep the newest page, because
 * handlers link new ones to it; the next call drops it.
 */
static void drop_copied_pages(struct caller *caller, struct call_engine *engine, uint64_t end)
{
	uint32_t before = call_of(caller, engine)->first_page, page;
	uint64_t index;

	while (before && (page = call_engine_info(engine, before)->next)) {
		index = call_engine_info(engine, page)->index;
		if (index >= end) {
			before = page;
			continue;
		}
		call_engine_info(engine, before)->next = call_engine_info(engine, page)->next;
		if (index < CALL_INLINE_PAGES)
			call_of(caller, engine)->pages[index] = 0;
		/* A fork's handler may be walking the list. */
		call_engine_quiesce(engine);
		call_engine_drop_page(engine, call_of(caller, engine), page);
	}
}

/*
 * Stores the first samples that either all can be stored or all cannot, and sets *nr to their
 * number.
 */
static int store_samples(struct caller *caller, batch_values *buffer, size_t *nr)
{
	uint64_t address = caller->spec->entries[0].base + caller->copied * caller->spec->width;
	/* A child may get a sample twice without harm, because samples are stored and not added. */
	uint64_t now = monotonic_ns();
	struct batch batch = { .nr = *nr, .flat = caller->copied, .from_ns = now, .until_ns = now };
	int ret;

	if (caller->gone)
		return -ESRCH;
	ret = batch_read(caller, address, buffer[0], &batch);
	if (!ret)
		ret = batch_write(caller, address, buffer[1], &batch);
	if (!ret)
		fork_repair_remember(caller, address, buffer[0], buffer[1], &batch);
	batch_note_failure(caller, &batch, ret);
	*nr = batch.nr;
	return ret;
}

/* Does the same as caller_copy() for pcsample(). */
static void caller_copy_samples(struct caller *caller, struct call_engine *engine)
{
	struct call *call = call_of(caller, engine);
	uint64_t next = __atomic_load_n(&call->next, __ATOMIC_ACQUIRE), index;
	batch_values buffer[2];
	size_t nr;
	int ret;

	while (caller->copied < next) {
		pass_over_samples(caller, engine);
		nr = read_samples(caller, engine, next, buffer[1]);
		if (!nr)
			return;
		ret = store_samples(caller, buffer, &nr);
		account_samples(caller, call->inherited, buffer[1], nr, ret);
		index = caller->copied / CALL_PAGE_PCS;
		caller->copied += nr;
		call->copied = caller->copied;
		if (caller->copied / CALL_PAGE_PCS != index)
			drop_copied_pages(caller, engine, caller->copied / CALL_PAGE_PCS);
	}
}

struct recent_write {
	uint64_t address;
	uint64_t flat; /* the counter's number in the call */
	uint64_t before; /* value before the write */
	uint64_t after;
	uint64_t from_ns; /* the kernel's counter had the count until then, */
	uint64_t until_ns; /* and no more from then on */
	uint32_t width;
};

/*
 * Records the values before and after a batch was written. Without memory it drops the record,
 * which affects only few forks.
 */
static void fork_repair_remember(struct caller *caller, uint64_t address, const uint8_t *before,
				 const uint8_t *after, const struct batch *batch)
{
	struct recent_write write = { .from_ns = batch->from_ns,
				      .until_ns = batch->until_ns,
				      .width = caller->spec->width };
	struct recent_writes *writes = &caller->writes;
	size_t i;

	for (i = 0; i < batch->nr; i++) {
		write.address = address + i * write.width;
		write.flat = batch->flat + i;
		write.before = get_counter(before + i * write.width, write.width);
		write.after = get_counter(after + i * write.width, write.width);
		PUSH(writes->list, writes->capacity, writes->nr, write);
	}
}

/* Drops writes that are too old to matter for any fork. */
static void fork_repair_forget(struct recent_writes *writes, uint64_t before_ns)
{
	size_t old = 0;

	while (old < writes->nr && writes->list[old].until_ns < before_ns)
		old++;
	if (!old)
		return;
	writes->nr -= old;
	memmove(writes->list, writes->list + old, writes->nr * sizeof(*writes->list));
}

/* The value after the last of the writes. */
static uint64_t last_after(const struct recent_writes *writes, size_t i)
{
	uint64_t address = writes->list[i].address, after = writes->list[i].after;

	for (i++; i < writes->nr; i++)
		if (writes->list[i].address == address)
			after = writes->list[i].after;
	return after;
}

/* If the program changed its buffer before the fork, do not restore old contents. */
static bool is_changed(const struct caller *parent, size_t i)
{
	const struct recent_write *write = &parent->writes.list[i];
	uint64_t now = 0;

	return !process_read(&parent->process, write->address, &now, write->width) &&
	       now != last_after(&parent->writes, i);
}

/*
 * The count of the parent that the kernel copied to the child's counter, before that was copied
 * out. CALL_NOT_INHERITED: the child's buffer has no copy of the parent's.
 */
static uint32_t inherited(const struct caller *child, const struct call_engine *engine,
			  uint64_t flat)
{
	uint64_t index = flat >> PAGE_SHIFT_COUNTERS | CALL_PAGE_INHERITED;
	uint32_t page = call_of(child, engine)->first_page, sum = 0, counter;

	if (child->spec->flags & CALL_STORES_PCS)
		return caller_inherited_sample(child, engine, flat);
	/*
	 * There may be two such pages: for the parent's own counts, and for those that it
	 * inherited.
	 */
	for (; page; page = call_engine_info(engine, page)->next) {
		if (call_engine_info(engine, page)->index != index)
			continue;
		counter = call_engine_page(engine, page)->counters[flat % PAGE_COUNTERS];
		if (counter == CALL_NOT_INHERITED)
			return CALL_NOT_INHERITED;
		sum += counter;
	}
	return sum;
}

static bool has_most(const struct recent_write *write, uint32_t inherited)
{
	uint64_t added = (write->after - write->before) & dialect_counter_max(write->width);

	return 2 * (uint64_t)inherited >= added;
}

/* Whether the child's counters were made too late to include this write's counts. */
static bool is_lacking(const struct recent_write *write, const struct caller *child,
		       const struct call_engine *engine)
{
	uint32_t got = inherited(child, engine, write->flat);

	if (got == CALL_NOT_INHERITED)
		return false;
	return write->until_ns <= call_of(child, engine)->born_ns || !has_most(write, got);
}

void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine)
{
	size_t i;

	for (i = 0; i < parent->writes.nr; i++) {
		const struct recent_write *write = &parent->writes.list[i];
		uint64_t found = 0;
		int ret;

		if (write->from_ns > call_of(child, engine)->born_until_ns)
			break;
		if (!is_lacking(write, child, engine))
			continue;
		ret = process_read(&child->process, write->address, &found, write->width);
		if (ret == -ESRCH)
			break;
		if (!ret && found == write->before && found != write->after &&
		    !is_changed(parent, i))
			process_write_some(&child->process, write->address, &write->after,
					   write->width);
	}
}

static void fork_repair_free(struct recent_writes *writes)
{
	free(writes->list);
	memset(writes, 0, sizeof(*writes));
}

void caller_drop_pages(struct caller *caller, struct call_engine *engine)
{
	struct call *call = call_of(caller, engine);
	uint32_t page = call->first_page, next;

	call->first_page = 0;
	memset(call->pages, 0, sizeof(call->pages));
	for (; page; page = next) {
		next = call_engine_info(engine, page)->next;
		call_engine_drop_page(engine, call, page);
	}
	sparse_free(&caller->held);
}

void caller_free(struct caller *caller)
{
	if (!caller)
		return;
	process_close(&caller->process);
	sparse_free(&caller->held);
	sparse_free(&caller->recorded);
	fork_repair_free(&caller->writes);
	pcs_free(&caller->pcs);
	free(caller);
}

/* --- counters: from the kernel to the callers' buffers --- */

/* Counters. Reading their 8 MiB takes some ms, in which nobody else is served. */
#define PRELOAD_MAX (4ULL << 20)

/* the smallest page of any architecture */
enum { OS_PAGE = 4096 };

/*
 * Adds to the buffer's current values, by the dialect's rule for a full counter. Shortens the batch
 * to the counters that all succeeded or all failed, because the rest may have another result.
 */
static int add_batch(struct caller *caller, struct batch *batch)
{
	const struct spec *spec = caller->spec;
	uint64_t address = spec->entries[batch->entry].base + batch->bin * spec->width;
	uint32_t full = dialect_full(spec->dialect, spec_is_sprofil(spec));
	batch_values buffer[2];
	size_t i;
	int ret = batch_read(caller, address, buffer[0], batch);

	if (ret)
		return ret;
	for (i = 0; i < batch->nr; i++) {
		uint64_t before = get_counter(buffer[0] + i * spec->width, spec->width);

		put_counter(buffer[1] + i * spec->width, spec->width,
			    dialect_count(full, spec->width, before, batch->more[i]));
	}
	ret = batch_write(caller, address, buffer[1], batch);
	/* With a limit, the kernel keeps its counters, from which a child's can be computed. */
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
		at = caller_recorded_index(batch->entry, batch->bin + i);
		if (!page || page->index != at / PAGE_COUNTERS)
			page = sparse_page(&caller->recorded, at / PAGE_COUNTERS);
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
	/*
	 * If the address space is gone, nobody can read the buffer. Therefore only -EFAULT is a
	 * loss.
	 */
	if (failure == -EFAULT)
		caller->unwritten += ticks;
	else if (batch->entry == caller->spec->table.overflow)
		caller->overflow += ticks;
	else
		caller->binned += ticks;
}

/* Only counters in unmapped memory are lost, not the rest of the batch. */
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

/* Writes the new counts of a page, one run of consecutive counters at a time. */
static void copy_page_out(struct caller *caller, uint64_t index, const uint32_t *more,
			  uint64_t from_ns, bool inherited)
{
	uint64_t flat = index << PAGE_SHIFT_COUNTERS, left, until_ns = monotonic_ns();
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
		batch.until_ns = until_ns;
		while (end < PAGE_COUNTERS && more[end] && end - i < left)
			end++;
		batch.nr = end - i;
		put_batch(caller, &batch, inherited);
	}
}

/* Moves a page's counts to `more`; false: there are none. */
static bool move_counters(struct counter_page *page, uint32_t *more)
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

/* Returns the first counter that is completely after the page of a missing byte. */
static uint32_t behind_hole(uint64_t address, uint32_t width, uint64_t missing)
{
	uint64_t end = (missing | (OS_PAGE - 1)) + 1;

	return (uint32_t)((end - address + width - 1) / width);
}

/*
 * Reads nr counters of one region from the caller's buffer, one read for each contiguous part.
 * Counters that cannot be read keep their values in `values`.
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

/* The counters to read at once: up to the end of the region or the page. */
static uint32_t run_length(const struct caller *caller, uint64_t flat)
{
	uint64_t bin, left, room = PAGE_COUNTERS - (flat & (PAGE_COUNTERS - 1));

	spec_locate(caller->spec, flat, &bin, &left);
	return left < room ? (uint32_t)left : (uint32_t)room;
}

static bool read_limited_run(const struct caller *caller, struct counter_page *page,
			     struct sparse_page *known, uint32_t first, uint32_t end,
			     uint32_t *more)
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
 * With a limit, the kernel's counters are not reset, because the programs compare them with the
 * limit. The new counts are the difference from the last copy. If the program wrote to its buffer
 * meanwhile, the kernel's counter follows.
 */
static bool read_limited(const struct caller *caller, struct counter_page *page,
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
		any |= read_limited_run(caller, page, known, i, end, more);
	}
	return any;
}

/* Copies the parent's counts into the buffer, but not into an account. */
static void copy_inherited(struct caller *caller, uint64_t index, struct counter_page *page)
{
	uint32_t more[PAGE_COUNTERS], i;
	uint64_t from_ns = monotonic_ns();

	if (!move_counters(page, more))
		return;
	for (i = 0; i < PAGE_COUNTERS; i++)
		if (more[i] == CALL_NOT_INHERITED)
			more[i] = 0;
	copy_page_out(caller, index & ~CALL_PAGE_INHERITED, more, from_ns, true);
}

/*
 * With a limit, a forked child's counters start at the parent's values at the fork, but its buffer
 * has those of the last copy. The difference is the parent's, and is added here.
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
		/* The child's own counter was 0 then, and follows the buffer. */
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

/* Copies the parent's counts first: in the list, their page is as new as the child's own. */
static void copy_all_inherited(struct caller *caller, struct call_engine *engine)
{
	uint32_t page = call_of(caller, engine)->first_page;

	for (; page; page = call_engine_info(engine, page)->next) {
		uint64_t index = call_engine_info(engine, page)->index;

		if (!(index & CALL_PAGE_INHERITED))
			continue;
		if (caller->spec->flags & CALL_HAS_LIMIT)
			hold_inherited(caller, index & ~CALL_PAGE_INHERITED,
				       call_engine_page(engine, page));
		else
			copy_inherited(caller, index, call_engine_page(engine, page));
	}
}

static void copy_page(struct caller *caller, uint64_t index, struct counter_page *page)
{
	bool limited = caller->spec->flags & CALL_HAS_LIMIT, any;
	uint64_t from_ns = monotonic_ns();
	struct sparse_page *known = limited ? sparse_page(&caller->held, index) : NULL;
	uint32_t more[PAGE_COUNTERS];

	/* Out of memory: the counts stay in the kernel until the next copy. */
	if (limited && !known)
		return;
	any = limited ? read_limited(caller, page, known, more) : move_counters(page, more);
	if (!any)
		return;
	copy_page_out(caller, index, more, from_ns, false);
}

static void copy_counters(struct caller *caller, struct call_engine *engine)
{
	uint32_t page = __atomic_load_n(&call_of(caller, engine)->first_page, __ATOMIC_ACQUIRE);

	if (caller->forked)
		copy_all_inherited(caller, engine);
	for (; page; page = call_engine_info(engine, page)->next) {
		uint64_t index = call_engine_info(engine, page)->index;

		if (!(index & CALL_PAGE_INHERITED))
			copy_page(caller, index, call_engine_page(engine, page));
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
	/* From here on, the next tick reports that the call is dirty. */
	__atomic_store_n(&call->dirty, 0, __ATOMIC_SEQ_CST);
	caller->faulted = UINT32_MAX;
	process_look_anew(&caller->process);
	if (caller->spec->flags & CALL_STORES_PCS)
		caller_copy_samples(caller, engine);
	else
		copy_counters(caller, engine);
	if (caller->writes.nr != nr_writes)
		__atomic_store_n(&call->copied_ns, monotonic_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&call->copying, 0, __ATOMIC_SEQ_CST);
}

/* Sets the counters of one page of a region to the buffer's values. */
static int preload_page(struct caller *caller, struct call_engine *engine,
			const struct batch *batch, uint64_t flat)
{
	uint32_t width = caller->spec->width, page, i;
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
	page = call_engine_held_page(engine, &caller->ref, index);
	page = page ? page : call_engine_add_page(engine, &caller->ref, index);
	known = sparse_page(&caller->held, index);
	if (!page || !known)
		return page ? -ENOMEM : -ENOSPC;
	for (i = 0; i < batch->nr; i++) {
		uint32_t at = (flat + i) & (PAGE_COUNTERS - 1);

		known->values[at] = get_counter(buffer + i * width, width);
		call_engine_page(engine, page)->counters[at] = known->values[at];
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
		/* Unmapped memory has no initial values. */
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
