// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* pcsample(): from the kernel's samples into the caller's buffer. */
#include <errno.h>

#include "base/util.h"
#include "calls/batch.h"

/* A sample of the parent's is there or not; what it is does not matter. */
uint32_t member_inherited_sample(const struct member *member, const struct call_engine *engine,
				 uint64_t index)
{
	uint32_t number = call_engine_held_page(engine, &member->ref, index / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)call_engine_page(engine, number) :
					   NULL;

	return samples && samples[index % CALL_PAGE_PCS] & CALL_PC_NOT_INHERITED ?
		       CALL_NOT_INHERITED :
		       0;
}

/* A child's place in the buffer is behind its parent's samples, also where it has none of them. */
static void pass_over_samples(struct member *member, const struct call_engine *engine)
{
	const struct call *call = member_call(member, engine);

	while (member->copied < call->inherited &&
	       member_inherited_sample(member, engine, member->copied) == CALL_NOT_INHERITED)
		member->copied++;
}

/* Samples from `copied` on that are there, narrowed to the caller's pointers; at most a page's. */
static size_t take_samples(const struct member *member, const struct call_engine *engine,
			   uint64_t next, uint8_t *buffer)
{
	uint32_t number =
		call_engine_held_page(engine, &member->ref, member->copied / CALL_PAGE_PCS);
	const uint64_t *samples = number ? (const uint64_t *)call_engine_page(engine, number) :
					   NULL;
	uint64_t inherited = member_call(member, engine)->inherited;
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
static void drop_copied_page(struct member *member, struct call_engine *engine, uint64_t index)
{
	uint32_t before = member_call(member, engine)->first_page, number;

	for (; before; before = number) {
		number = engine->infos[before - 1].next;
		if (!number || engine->infos[number - 1].index != index)
			continue;
		engine->infos[before - 1].next = engine->infos[number - 1].next;
		if (index < CALL_INLINE_PAGES)
			member_call(member, engine)->pages[index] = 0;
		/* A fork may be on its way through the list. */
		call_engine_quiesce(engine);
		call_engine_drop_page(engine, member_call(member, engine), number);
		return;
	}
}

/* The first of nr samples that can, or cannot, be stored together: how many, in *nr. */
static int store_samples(struct member *member, batch_values *buffer, size_t *nr)
{
	uint64_t address = member->shape->entries[0].base + member->copied * member->shape->width;
	/* Samples are stored and not added: one that a child has already may be made up as well. */
	uint64_t now = monotonic_ns();
	struct batch batch = { .nr = *nr, .flat = member->copied, .from_ns = now, .taken_ns = now };
	int ret;

	if (member->gone)
		return -ESRCH;
	ret = batch_read(member, address, buffer[0], &batch);
	if (!ret)
		ret = batch_write(member, address, buffer[1], &batch);
	if (!ret)
		batch_remember(member, address, buffer, &batch);
	batch_note_failure(member, &batch, ret);
	*nr = batch.nr;
	return ret;
}

void member_copy_samples(struct member *member, struct call_engine *engine)
{
	struct call *call = member_call(member, engine);
	uint64_t next = __atomic_load_n(&call->next, __ATOMIC_ACQUIRE), index;
	batch_values buffer[2];
	size_t nr;
	int ret;

	while (member->copied < next) {
		pass_over_samples(member, engine);
		nr = take_samples(member, engine, next, buffer[1]);
		if (!nr)
			return;
		ret = store_samples(member, buffer, &nr);
		account_samples(member, call->inherited, buffer[1], nr, ret);
		index = member->copied / CALL_PAGE_PCS;
		member->copied += nr;
		call->copied = member->copied;
		if (member->copied / CALL_PAGE_PCS != index)
			drop_copied_page(member, engine, index);
	}
}
