// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copies pcsample()'s samples from the kernel into the caller's buffer. */
#include <errno.h>

#include "base/util.h"
#include "calls/batch.h"

/* Only looks at whether the parent's sample is there, because its value does not matter. */
uint32_t caller_inherited_sample(const struct caller *caller, const struct call_engine *engine,
				 uint64_t index)
{
	uint32_t number = call_engine_held_page(engine, &caller->ref, index / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)call_engine_page(engine, number) :
					   NULL;

	return samples && samples[index % CALL_PAGE_PCS] & CALL_PC_NOT_INHERITED ?
		       CALL_NOT_INHERITED :
		       0;
}

/* A child's samples go behind its parent's, even where it has no copy of those. */
static void pass_over_samples(struct caller *caller, const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);

	while (caller->copied < call->inherited &&
	       caller_inherited_sample(caller, engine, caller->copied) == CALL_NOT_INHERITED)
		caller->copied++;
}

/*
 * Takes the samples from `copied` on that are there, at most a page, converted to the caller's
 * pointer size.
 */
static size_t take_samples(const struct caller *caller, const struct call_engine *engine,
			   uint64_t next, uint8_t *buffer)
{
	uint32_t number =
		call_engine_held_page(engine, &caller->ref, caller->copied / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)call_engine_page(engine, number) :
					   NULL;
	uint64_t inherited = call_of(caller, engine)->inherited;
	size_t nr = 0;

	while (samples && caller->copied + nr < next) {
		size_t at = (caller->copied + nr) % CALL_PAGE_PCS;
		uint64_t sample = __atomic_load_n(&samples[at], __ATOMIC_RELAXED);

		/* A handler has taken its place and is about to write it. */
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

/* Samples before `inherited` are the parent's. */
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
 * Drops a page whose samples are all in the buffer, but not the newest, because handlers link pages
 * behind it.
 */
static void drop_copied_page(struct caller *caller, struct call_engine *engine, uint64_t index)
{
	uint32_t before = call_of(caller, engine)->first_page, number;

	for (; before; before = number) {
		number = engine->infos[before - 1].next;
		if (!number || engine->infos[number - 1].index != index)
			continue;
		engine->infos[before - 1].next = engine->infos[number - 1].next;
		if (index < CALL_INLINE_PAGES)
			call_of(caller, engine)->pages[index] = 0;
		/* A fork's handler may be walking the list. */
		call_engine_quiesce(engine);
		call_engine_drop_page(engine, call_of(caller, engine), number);
		return;
	}
}

/*
 * Stores the first of nr samples that either can or cannot be stored together, and sets *nr to how
 * many.
 */
static int store_samples(struct caller *caller, batch_values *buffer, size_t *nr)
{
	uint64_t address = caller->spec->entries[0].base + caller->copied * caller->spec->width;
	/*
	 * Samples are stored and not added up, so it does no harm to give a child one that it has.
	 */
	uint64_t now = monotonic_ns();
	struct batch batch = { .nr = *nr, .flat = caller->copied, .from_ns = now, .taken_ns = now };
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

void caller_copy_samples(struct caller *caller, struct call_engine *engine)
{
	struct call *call = call_of(caller, engine);
	uint64_t next = __atomic_load_n(&call->next, __ATOMIC_ACQUIRE), index;
	batch_values buffer[2];
	size_t nr;
	int ret;

	while (caller->copied < next) {
		pass_over_samples(caller, engine);
		nr = take_samples(caller, engine, next, buffer[1]);
		if (!nr)
			return;
		ret = store_samples(caller, buffer, &nr);
		account_samples(caller, call->inherited, buffer[1], nr, ret);
		index = caller->copied / CALL_PAGE_PCS;
		caller->copied += nr;
		call->copied = caller->copied;
		if (caller->copied / CALL_PAGE_PCS != index)
			drop_copied_page(caller, engine, index);
	}
}
