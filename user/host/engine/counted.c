// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/counted.h"

#include <bpf/bpf.h>
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
 * Reads how often counters wrapped. Entries are never deleted from the map, because a program that
 * is about to add to an entry would lose its wrap. There are few entries, because a wrap takes 2^32
 * ticks.
 */
int counted_read_carries(const struct counted *counted, struct error *err)
{
	struct carries *carries = counted->carries;
	uint64_t key, *last = NULL, times;
	struct carry *carry;

	while (!bpf_map_get_next_key(counted->carries_fd, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(counted->carries_fd, &key, &times))
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

/* The ticks that a counter lost by wrapping. */
static uint64_t carried(const struct counted *counted, uint32_t page, uint32_t counter)
{
	uint64_t key = (uint64_t)page << PAGE_SHIFT_COUNTERS | counter, times;
	struct carry *carry = find_carry(counted->carries, key);

	if (!carry)
		return 0;
	times = carry->times - carry->taken;
	if (counted->take)
		carry->taken = carry->times;
	return times << 32;
}

/* A counter that is 0 is only read and not written, which is cheaper. */
static uint32_t read32(const struct counted *counted, uint32_t *counter)
{
	uint32_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);

	if (value && counted->take)
		value = __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED);
	return value;
}

static uint64_t read64(const struct counted *counted, __u64 *counter)
{
	uint64_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);

	if (value && counted->take)
		value = __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED);
	return value;
}

struct counter_page *counted_page(const struct counted *counted, uint32_t dir, uint32_t entry,
				  uint32_t *ret_number)
{
	const struct window_dir *entries = pool_dir(counted->pool, dir);
	uint32_t number = entries ? entries->pages[entry] : 0;

	*ret_number = number - 1;
	return number ? pool_page(counted->pool, number - 1) : NULL;
}

/* How many counters are looked at together: most of a page's are 0. */
#define RUN 8

static bool is_clear(const uint32_t counters[RUN])
{
	uint64_t run[RUN * sizeof(*counters) / sizeof(uint64_t)];

	/* A copy that is torn shows a tick that falls meanwhile, or leaves it to the next reading. */
	memcpy(run, counters, sizeof(run));
	return !(run[0] | run[1] | run[2] | run[3]);
}

uint64_t counted_add(const struct counted *counted, uint32_t target, struct counter_page *page,
		     uint32_t number, uint64_t sums[PAGE_COUNTERS])
{
	uint64_t ticks, all = 0;
	uint32_t i;

	for (i = 0; i < PAGE_COUNTERS; i++) {
		if (!(i % RUN) && !counted->carries->nr && is_clear(&page->counters[i])) {
			i += RUN - 1;
			continue;
		}
		ticks = read32(counted, &page->counters[i]);
		if (counted->carries->nr)
			ticks += carried(counted, number, i);
		sums[i] += ticks;
		all += ticks;
	}
	counted->tallies[target].binned += all;
	return all;
}

void counted_account(const struct counted *counted, uint32_t target)
{
	struct target_account *account = &counted->targets[target];
	struct tally *tally = &counted->tallies[target];
	size_t cause;

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
	size_t set, way;

	for (set = 0; set < counted->nr_sets; set++)
		for (way = 0; way < XLAT_WAYS; way++) {
			const struct xlat_entry *entry = &counted->xlat[set].way[way];

			if ((entry->where & XLAT_TARGET_MASK) == target)
				ticks += entry->ticks;
		}
	return ticks;
}

uint64_t counted_delivered(const struct counted *counted, uint32_t cpu)
{
	/*
	 * This is read first, so that an entry that is flushed meanwhile is missed rather than
	 * counted twice.
	 */
	uint64_t ticks = __atomic_load_n(&counted->cpus[cpu].hits, __ATOMIC_ACQUIRE);
	size_t set, way;

	for (set = (size_t)cpu * XLAT_SETS; set < (size_t)(cpu + 1) * XLAT_SETS; set++)
		for (way = 0; way < XLAT_WAYS; way++)
			ticks += counted->xlat[set].way[way].ticks;
	return ticks + counted->cpus[cpu].missed;
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
	sum->forks_missed += part->forks_missed;
	sum->cpu_ns += part->cpu_ns;
	sum->excess += part->excess;
	sum->kernel += part->kernel;
	for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
		sum->lost[cause] += part->lost[cause];
}
