// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the kernel's counters into the callers' buffers. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "calls/member.h"

/* Counters; reading the 8 MiB takes some ms, in which nobody else is served. */
#define PRELOAD_MAX (4ULL << 20)

/* What has come to counters that stand one after the other in one region. */
struct batch {
	uint32_t entry;
	uint64_t bin; /* of the first */
	const uint32_t *more;
	size_t nr;
	uint64_t flat; /* the number of the first in the call */
	uint64_t from_ns; /* they were taken from the kernel after this, */
	uint64_t taken_ns; /* and before this */
};

static uint64_t get_counter(const uint8_t *at, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, at, width);
	return value;
}

static void put_counter(uint8_t *at, uint32_t width, uint64_t value)
{
	memcpy(at, &value, width);
}

static uint32_t full_rule(const struct shape *shape)
{
	return dialect_full(shape->dialect, shape_is_sprofil(shape));
}

/* before and after: what the counters, or pcs, of a batch at an address were and are. */
static void remember(struct member *member, uint64_t address,
		     uint8_t (*values)[PAGE_COUNTERS * sizeof(uint64_t)], const struct batch *batch)
{
	struct written written = { .from_ns = batch->from_ns,
				   .taken_ns = batch->taken_ns,
				   .width = member->shape->width };
	size_t i;

	for (i = 0; i < batch->nr; i++) {
		written.address = address + i * written.width;
		written.flat = batch->flat + i;
		written.before = get_counter(values[0] + i * written.width, written.width);
		written.after = get_counter(values[1] + i * written.width, written.width);
		written_add(&member->written, &written);
	}
}

/*
 * Only as many of a batch as whole ones are in so many bytes; where not even the first is, it is the
 * fault of that one.
 */
static int shorten(struct batch *batch, uint32_t width, int64_t bytes)
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

/* What stands there now into values[0], shortened to what can be read and written. */
static int read_batch(struct member *member, uint64_t address, uint8_t *values, struct batch *batch)
{
	uint32_t width = member->shape->width;
	int ret;

	ret = shorten(batch, width, process_writable(&member->process, address, batch->nr * width));
	if (!ret)
		ret = shorten(batch, width,
			      process_read_some(&member->process, address, values,
						batch->nr * width));
	return ret;
}

static int write_batch(struct member *member, uint64_t address, const uint8_t *values,
		       struct batch *batch)
{
	uint32_t width = member->shape->width;

	return shorten(batch, width,
		       process_write_some(&member->process, address, values, batch->nr * width));
}

/*
 * Adds to what the buffer holds now, by the dialect's rule for a full counter. Shortens the batch to
 * those that it could do, or could not, together: what follows may fare otherwise.
 */
static int add_batch(struct member *member, struct batch *batch)
{
	const struct shape *shape = member->shape;
	uint64_t address = shape->entries[batch->entry].base + batch->bin * shape->width;
	uint8_t buffer[2][PAGE_COUNTERS * sizeof(uint64_t)];
	size_t i;
	int ret;

	ret = read_batch(member, address, buffer[0], batch);
	if (ret)
		return ret;
	for (i = 0; i < batch->nr; i++) {
		uint64_t before = get_counter(buffer[0] + i * shape->width, shape->width);

		put_counter(buffer[1] + i * shape->width, shape->width,
			    dialect_count(full_rule(shape), shape->width, before, batch->more[i]));
	}
	ret = write_batch(member, address, buffer[1], batch);
	/* With a limit the kernel's counters stay, and a child's are told from them. */
	if (!ret && !(shape->flags & CALL_HAS_LIMIT))
		remember(member, address, buffer, batch);
	return ret;
}

static void record_batch(struct member *member, const struct batch *batch)
{
	struct sparse_page *page = NULL;
	uint64_t at;
	size_t i;

	for (i = 0; i < batch->nr; i++) {
		at = member_taken_index(batch->entry, batch->bin + i);
		if (!page || page->index != at / PAGE_COUNTERS)
			page = sparse_page(&member->taken, at / PAGE_COUNTERS);
		if (!page) {
			member->unrecorded = true;
			return;
		}
		page->values[at % PAGE_COUNTERS] += batch->more[i];
	}
}

static void account_batch(struct member *member, const struct batch *batch, int failure)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < batch->nr; i++)
		ticks += batch->more[i];
	/* Nobody can look at the buffer of an address space that is gone, but it was counted. */
	if (failure == -EFAULT)
		member->unwritten += ticks;
	else if (batch->entry == member->shape->table.overflow)
		member->overflow += ticks;
	else
		member->binned += ticks;
}

static void note_failure(struct member *member, const struct batch *batch, int failure)
{
	if (failure == -EFAULT)
		member->faulted = batch->entry;
	else if (failure == -ESRCH)
		member->gone = true;
}

/* A hole amid a batch takes no more than what belongs into it. */
static void put_batch(struct member *member, struct batch *batch, bool inherited)
{
	size_t left;
	int ret;

	for (left = batch->nr; left; left -= batch->nr) {
		batch->nr = left;
		ret = member->gone ? -ESRCH : add_batch(member, batch);
		note_failure(member, batch, ret);
		if (!inherited)
			account_batch(member, batch, ret);
		if (!inherited && member->record && ret != -EFAULT)
			record_batch(member, batch);
		batch->bin += batch->nr;
		batch->flat += batch->nr;
		batch->more += batch->nr;
	}
}

/* Writes what has come to a page's counters, a run of neighbours at a time. */
static void write_page(struct member *member, uint64_t index, const uint32_t *more,
		       uint64_t from_ns, bool inherited)
{
	uint64_t flat = index << PAGE_SHIFT_COUNTERS, left, taken_ns = monotonic_ns();
	uint32_t i, end;

	for (i = 0; i < PAGE_COUNTERS; i = end) {
		struct batch batch;

		end = i + 1;
		if (!more[i])
			continue;
		batch.entry = shape_locate(member->shape, flat + i, &batch.bin, &left);
		batch.more = more + i;
		batch.flat = flat + i;
		batch.from_ns = from_ns;
		batch.taken_ns = taken_ns;
		while (end < PAGE_COUNTERS && more[end] && end - i < left)
			end++;
		batch.nr = end - i;
		put_batch(member, &batch, inherited);
	}
}

/* Takes what a page has; false when it has nothing. */
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

/* The caller's counter as its buffer has it; what it was last time when it cannot be read. */
static uint32_t read_counter(const struct member *member, uint64_t flat, uint32_t held)
{
	const struct shape *shape = member->shape;
	uint64_t bin, left, value = 0;
	uint32_t entry = shape_locate(shape, flat, &bin, &left);

	if (process_read(&member->process, shape->entries[entry].base + bin * shape->width, &value,
			 shape->width))
		return held;
	return (uint32_t)value;
}

/*
 * With a limit the kernel's counters stay, for they are compared with it: what is new is what they
 * are above the last time. Where the program has written its buffer meanwhile, the kernel's counter
 * follows it.
 */
static bool take_above(const struct member *member, struct counter_page *page,
		       struct sparse_page *known, uint32_t *more)
{
	uint64_t flat = known->index << PAGE_SHIFT_COUNTERS;
	uint32_t any = 0, i, now, change;

	for (i = 0; i < PAGE_COUNTERS; i++) {
		more[i] = 0;
		now = __atomic_load_n(&page->counters[i], __ATOMIC_RELAXED);
		if (!now && !known->values[i])
			continue;
		change = read_counter(member, flat + i, known->values[i]) - known->values[i];
		now = __atomic_add_fetch(&page->counters[i], change, __ATOMIC_RELAXED);
		more[i] = now - change - known->values[i];
		known->values[i] = now;
		any |= more[i];
	}
	return any;
}

/* What the parent had counted: into the buffer, but into no account. */
static void copy_inherited(struct member *member, uint64_t index, struct counter_page *page)
{
	uint32_t more[PAGE_COUNTERS], i;
	uint64_t from_ns = monotonic_ns();

	if (!take_counters(page, more))
		return;
	for (i = 0; i < PAGE_COUNTERS; i++)
		if (more[i] == CALL_NOT_INHERITED)
			more[i] = 0;
	write_page(member, index & ~CALL_PAGE_INHERITED, more, from_ns, true);
}

/*
 * With a limit a forked child's counters began with what its parent's were then, and its buffer with
 * what they were when they were last copied: the rest is its parent's, and copied here.
 */
static void hold_inherited(struct member *member, uint64_t index, struct counter_page *at_fork)
{
	size_t nr_known = member->held.nr;
	struct sparse_page *known = sparse_page(&member->held, index);
	uint64_t flat = index << PAGE_SHIFT_COUNTERS;
	uint32_t more[PAGE_COUNTERS] = { 0 }, i, held;

	if (!known || member->held.nr == nr_known)
		return;
	for (i = 0; i < PAGE_COUNTERS; i++) {
		/* Its own began at 0 then, and follows what the buffer holds. */
		if (at_fork->counters[i] == CALL_NOT_INHERITED)
			continue;
		known->values[i] = at_fork->counters[i];
		held = known->values[i] ? read_counter(member, flat + i, known->values[i]) : 0;
		if (known->values[i] > held)
			more[i] = known->values[i] - held;
	}
	write_page(member, index, more, monotonic_ns(), true);
}

/* What the parent had counted goes first: in the list a page of it is as new as the child's own. */
static void copy_all_inherited(struct member *member, struct kernel *kernel)
{
	uint32_t number = member_call(member, kernel)->first_page;

	for (; number; number = kernel->infos[number - 1].next) {
		uint64_t index = kernel->infos[number - 1].index;

		if (!(index & CALL_PAGE_INHERITED))
			continue;
		if (member->shape->flags & CALL_HAS_LIMIT)
			hold_inherited(member, index & ~CALL_PAGE_INHERITED,
				       kernel_page(kernel, number));
		else
			copy_inherited(member, index, kernel_page(kernel, number));
	}
}

/* A sample of the parent's is there or not; what it is does not matter. */
static uint32_t inherited_sample(const struct member *member, const struct kernel *kernel,
				 uint64_t index)
{
	uint32_t number = kernel_held_page(kernel, &member->ref, index / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)kernel_page(kernel, number) : NULL;

	return samples && samples[index % CALL_PAGE_PCS] & CALL_PC_NOT_INHERITED ?
		       CALL_NOT_INHERITED :
		       0;
}

uint32_t member_inherited(const struct member *member, const struct kernel *kernel, uint64_t flat)
{
	uint64_t index = flat >> PAGE_SHIFT_COUNTERS | CALL_PAGE_INHERITED;
	uint32_t number = member_call(member, kernel)->first_page, sum = 0, counter;

	if (member->shape->flags & CALL_TAKES_PCS)
		return inherited_sample(member, kernel, flat);
	/* One page of its parent's own, and one of what that had inherited itself. */
	for (; number; number = kernel->infos[number - 1].next) {
		if (kernel->infos[number - 1].index != index)
			continue;
		counter = kernel_page(kernel, number)->counters[flat % PAGE_COUNTERS];
		if (counter == CALL_NOT_INHERITED)
			return CALL_NOT_INHERITED;
		sum += counter;
	}
	return sum;
}

static void copy_page(struct member *member, uint64_t index, struct counter_page *page)
{
	bool limited = member->shape->flags & CALL_HAS_LIMIT, any;
	uint64_t from_ns = monotonic_ns();
	struct sparse_page *known = limited ? sparse_page(&member->held, index) : NULL;
	uint32_t more[PAGE_COUNTERS];

	/* Out of memory: what is in the kernel stays there until the next time. */
	if (limited && !known)
		return;
	any = limited ? take_above(member, page, known, more) : take_counters(page, more);
	if (!any)
		return;
	write_page(member, index, more, from_ns, false);
}

static void copy_counters(struct member *member, struct kernel *kernel)
{
	uint32_t number =
		__atomic_load_n(&member_call(member, kernel)->first_page, __ATOMIC_ACQUIRE);

	if (member->forked)
		copy_all_inherited(member, kernel);
	for (; number; number = kernel->infos[number - 1].next) {
		uint64_t index = kernel->infos[number - 1].index;

		if (!(index & CALL_PAGE_INHERITED))
			copy_page(member, index, kernel_page(kernel, number));
	}
}

/* A child's place in the buffer is behind its parent's samples, also where it has none of them. */
static void pass_over_samples(struct member *member, const struct kernel *kernel)
{
	const struct call *call = member_call(member, kernel);

	while (member->copied < call->inherited &&
	       inherited_sample(member, kernel, member->copied) == CALL_NOT_INHERITED)
		member->copied++;
}

/* Samples from `copied` on that are there, narrowed to the caller's pointers; at most a page's. */
static size_t take_samples(const struct member *member, const struct kernel *kernel, uint64_t next,
			   uint8_t *buffer)
{
	uint32_t number = kernel_held_page(kernel, &member->ref, member->copied / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)kernel_page(kernel, number) : NULL;
	uint64_t inherited = member_call(member, kernel)->inherited;
	size_t nr = 0;

	while (samples && member->copied + nr < next) {
		size_t at = (member->copied + nr) % CALL_PAGE_PCS;
		uint64_t sample = __atomic_load_n(&samples[at], __ATOMIC_RELAXED);

		/* Its place was taken by a handler that is about to write it. */
		if (!(sample & CALL_PC_WRITTEN) || (nr && !at))
			break;
		if (sample & CALL_PC_NOT_INHERITED && member->copied + nr < inherited)
			break;
		put_counter(buffer + nr * member->shape->width, member->shape->width,
			    sample & ~CALL_PC_WRITTEN);
		nr++;
	}
	return nr;
}

/* Those before `inherited` are the parent's. */
static void account_samples(struct member *member, uint64_t inherited, const uint8_t *buffer,
			    size_t nr, int failure)
{
	uint32_t width = member->shape->width;
	size_t i;

	if (failure == -EFAULT)
		member->not_stored += nr;
	for (i = 0; i < nr; i++) {
		if (member->copied + i < inherited)
			continue;
		if (failure == -EFAULT) {
			member->unwritten++;
			continue;
		}
		member->binned++;
		if (member->record && pcs_add(&member->pcs, get_counter(buffer + i * width, width)))
			member->unrecorded = true;
	}
}

/* A page whose samples are all in the buffer; the newest stays, for handlers link behind it. */
static void drop_copied_page(struct member *member, struct kernel *kernel, uint64_t index)
{
	uint32_t before = member_call(member, kernel)->first_page, number;

	for (; before; before = number) {
		number = kernel->infos[before - 1].next;
		if (!number || kernel->infos[number - 1].index != index)
			continue;
		kernel->infos[before - 1].next = kernel->infos[number - 1].next;
		if (index < CALL_INLINE_PAGES)
			member_call(member, kernel)->pages[index] = 0;
		/* A fork may be on its way through the list. */
		kernel_quiesce(kernel);
		kernel_drop_page(kernel, member_call(member, kernel), number);
		return;
	}
}

/* The first of nr samples that can, or cannot, be stored together: how many, in *nr. */
static int store_samples(struct member *member, uint8_t (*buffer)[PAGE_COUNTERS * sizeof(uint64_t)],
			 size_t *nr)
{
	uint64_t address = member->shape->entries[0].base + member->copied * member->shape->width;
	/* Samples are stored and not added: one that a child has already may be made up as well. */
	uint64_t now = monotonic_ns();
	struct batch batch = { .nr = *nr, .flat = member->copied, .from_ns = now, .taken_ns = now };
	int ret;

	if (member->gone)
		return -ESRCH;
	ret = read_batch(member, address, buffer[0], &batch);
	if (!ret)
		ret = write_batch(member, address, buffer[1], &batch);
	if (!ret)
		remember(member, address, buffer, &batch);
	note_failure(member, &batch, ret);
	*nr = batch.nr;
	return ret;
}

static void copy_samples(struct member *member, struct kernel *kernel)
{
	struct call *call = member_call(member, kernel);
	uint64_t next = __atomic_load_n(&call->next, __ATOMIC_ACQUIRE), index;
	uint8_t buffer[2][PAGE_COUNTERS * sizeof(uint64_t)];
	size_t nr;
	int ret;

	while (member->copied < next) {
		pass_over_samples(member, kernel);
		nr = take_samples(member, kernel, next, buffer[1]);
		if (!nr)
			return;
		ret = store_samples(member, buffer, &nr);
		account_samples(member, call->inherited, buffer[1], nr, ret);
		index = member->copied / CALL_PAGE_PCS;
		member->copied += nr;
		call->copied = member->copied;
		if (member->copied / CALL_PAGE_PCS != index)
			drop_copied_page(member, kernel, index);
	}
}

void member_copy(struct member *member, struct kernel *kernel)
{
	struct call *call = member_call(member, kernel);

	uint64_t start = monotonic_ns();
	size_t nr_written;

	written_forget(&member->written, start - CALL_FORK_NS);
	nr_written = member->written.nr;
	__atomic_store_n(&call->copying, 1, __ATOMIC_SEQ_CST);
	/* From here on a tick says so again. */
	__atomic_store_n(&call->dirty, 0, __ATOMIC_SEQ_CST);
	member->faulted = UINT32_MAX;
	process_look_anew(&member->process);
	if (member->shape->flags & CALL_TAKES_PCS)
		copy_samples(member, kernel);
	else
		copy_counters(member, kernel);
	if (member->written.nr != nr_written)
		__atomic_store_n(&call->copied_ns, monotonic_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&call->copying, 0, __ATOMIC_SEQ_CST);
}

/* The counters of one page of a region, as the buffer has them. */
static int preload_page(struct member *member, struct kernel *kernel, const struct batch *batch,
			uint64_t flat)
{
	uint32_t width = member->shape->width, number, i;
	uint64_t address = member->shape->entries[batch->entry].base + batch->bin * width, any = 0;
	uint64_t index = flat >> PAGE_SHIFT_COUNTERS;
	uint8_t buffer[PAGE_COUNTERS * sizeof(uint64_t)];
	struct sparse_page *known;

	if (process_read(&member->process, address, buffer, batch->nr * width))
		return -EFAULT;
	for (i = 0; i < batch->nr; i++)
		any |= get_counter(buffer + i * width, width);
	if (!any)
		return 0;
	number = kernel_held_page(kernel, &member->ref, index);
	number = number ? number : kernel_add_page(kernel, &member->ref, index);
	known = sparse_page(&member->held, index);
	if (!number || !known)
		return number ? -ENOMEM : -ENOSPC;
	for (i = 0; i < batch->nr; i++) {
		uint32_t at = (flat + i) & (PAGE_COUNTERS - 1);

		known->values[at] = get_counter(buffer + i * width, width);
		kernel_page(kernel, number)->counters[at] = known->values[at];
	}
	return 0;
}

static int preload_entry(struct member *member, struct kernel *kernel, uint32_t entry)
{
	const uint64_t *firsts = member->shape->table.firsts;
	struct batch batch = { .entry = entry };
	uint64_t flat, room;
	int ret;

	for (flat = firsts[entry]; flat < firsts[entry + 1] && flat < PRELOAD_MAX;
	     flat += batch.nr) {
		room = PAGE_COUNTERS - (flat & (PAGE_COUNTERS - 1));
		batch.bin = flat - firsts[entry];
		batch.nr = firsts[entry + 1] - flat < room ? firsts[entry + 1] - flat : room;
		ret = preload_page(member, kernel, &batch, flat);
		/* Where nothing is mapped there is nothing to start from. */
		if (ret && ret != -EFAULT)
			return ret;
	}
	return 0;
}

int member_preload(struct member *member, struct kernel *kernel)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < member->shape->nr_entries; i++)
		ret = preload_entry(member, kernel, i);
	return ret;
}
