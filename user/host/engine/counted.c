// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The account: total = binned + outside + filtered + lost, for each target.
 *
 * The programs count a tick twice, on different paths: in the total of its target
 * (target_account.ticks, or first in its range), and in one of the parts: a node of the table of
 * ticks, or a counter here. At the end of sampling the total must be the sum of the parts. While
 * sampling runs the two cannot be read at the same moment, and the total of a profile is the sum.
 *
 * To read a counter is to exchange it with 0 in one step. Therefore a tick that falls meanwhile is
 * in this profile or in the next one, never in both or in neither.
 */
#include "host/engine/counted.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static struct carry *find_carry(const struct carries *carries, uint64_t key)
{
	size_t i;

	for (i = 0; i < carries->nr; i++)
		if (carries->list[i].key == key)
			return &carries->list[i];
	return NULL;
}

/*
 * Entries are never deleted from the map, because a program that is about to add to an entry would
 * lose its wrap. There are few entries, because a wrap takes 2^32 ticks.
 */
int carries_read(struct carries *carries, int map_fd, struct error *err)
{
	uint64_t key, *last = NULL, times;
	struct carry *carry;

	for (; !bpf_map_get_next_key(map_fd, last, &key); last = &key) {
		if (bpf_map_lookup_elem(map_fd, &key, &times))
			continue;
		carry = find_carry(carries, key);
		if (!carry) {
			if (GROW(carries->list, carries->capacity, carries->nr + 1))
				return error_no_memory(err, "counters");
			carry = &carries->list[carries->nr++];
			*carry = (struct carry){ .key = key };
		}
		carry->times = times;
	}
	return 0;
}

void carries_mark_added(struct carries *carries, uint32_t half)
{
	size_t i;

	for (i = 0; i < carries->nr; i++)
		if (!(carries->list[i].key & NODE_IN_SECOND) == !half)
			carries->list[i].added = carries->list[i].times;
}

static uint64_t read64(const struct counted *counted, __u64 *counter)
{
	uint64_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);

	if (value && counted->take)
		value = __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED);
	return value;
}

void counted_account(const struct counted *counted, uint32_t target)
{
	struct target_account *account = &counted->targets[target];
	struct tally *tally = &counted->tallies[target];
	size_t cause;

	if (!counted->callers)
		tally->outside += read64(counted, &account->outside);
	tally->filtered += read64(counted, &account->filtered);
	tally->forks_missed += read64(counted, &account->forks_missed);
	tally->cpu_ns += read64(counted, &account->cpu_ns);
	tally->excess += read64(counted, &account->excess);
	tally->kernel += read64(counted, &account->kernel);
	for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
		tally->lost[cause] += read64(counted, &account->lost[cause]);
}

void counted_pending(const struct counted *counted, uint32_t target)
{
	struct target_account *account = &counted->targets[target];

	counted->tallies[target].lost[LOST_MAPPING_BUSY] += account->deferred - account->settled;
	if (counted->take)
		account->settled = account->deferred;
}

uint64_t counted_ticks(const struct counted *counted, uint32_t target)
{
	uint64_t ticks = counted->targets[target].ticks;
	size_t i;

	for (i = 0; i < counted->nr_cpus * RANGES; i++)
		if (counted->ranges[i].target == target)
			ticks += counted->ranges[i].ticks;
	return ticks;
}

uint64_t counted_delivered(const struct counted *counted, uint32_t cpu)
{
	const struct text_range *range = counted->ranges + (size_t)cpu * RANGES;
	/*
	 * This is read first, so that an entry that is flushed meanwhile is missed rather than
	 * counted twice.
	 */
	uint64_t ticks = __atomic_load_n(&counted->cpus[cpu].hits, __ATOMIC_ACQUIRE);
	size_t i;

	for (i = 0; i < RANGES; i++)
		ticks += range[i].ticks;
	return ticks + counted->cpus[cpu].miss_ticks;
}

uint64_t tally_ticks(const struct tally *tally)
{
	uint64_t ticks = tally->binned + tally->outside + tally->filtered + tally->withheld;
	size_t cause;

	for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
		ticks += tally->lost[cause];
	return ticks;
}

void tally_add(struct tally *sum, const struct tally *part)
{
	size_t cause;

	sum->binned += part->binned;
	sum->outside += part->outside;
	sum->filtered += part->filtered;
	sum->withheld += part->withheld;
	sum->due += part->due;
	sum->coarse += part->coarse;
	sum->widest += part->widest;
	sum->unknown += part->unknown;
	sum->no_text += part->no_text;
	sum->forks_missed += part->forks_missed;
	sum->cpu_ns += part->cpu_ns;
	sum->excess += part->excess;
	sum->kernel += part->kernel;
	for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
		sum->lost[cause] += part->lost[cause];
}

void tally_drop_table(struct tally *tally, bool callers)
{
	tally->filtered -= tally->left_out;
	tally->binned = tally->left_out = 0;
	tally->coarse = tally->widest = tally->unknown = tally->no_text = 0;
	if (callers)
		tally->outside = 0;
}

/* The JSON key of a cause. */
static const char *lost_cause_name(enum lost_cause cause)
{
	static const char *const names[] = {
#define CAUSE_NAME(id, key, text) key,
		LOST_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
	};

	return names[cause];
}

int tally_account(const struct tally *tally, uint64_t total, struct profile_account *result)
{
	size_t i;

	result->lost = calloc(LOST_CAUSE_COUNT, sizeof(*result->lost));
	if (!result->lost)
		return -ENOMEM;
	result->nr_lost = LOST_CAUSE_COUNT;
	for (i = 0; i < LOST_CAUSE_COUNT; i++) {
		result->lost[i].ticks = tally->lost[i];
		result->lost[i].cause = strdup(lost_cause_name(i));
		if (!result->lost[i].cause)
			return -ENOMEM;
	}
	result->lost[LOST_THROTTLED].ticks += tally->withheld;
	result->total = total;
	result->binned = tally->binned;
	result->outside = tally->outside;
	result->filtered = tally->filtered;
	return 0;
}
