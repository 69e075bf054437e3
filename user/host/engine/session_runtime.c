// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/session_state.h"

/*
 * RCU's callbacks come some 10 to 50 ms after a thread was reaped; the wait is limited for when a
 * CPU stalls.
 */
enum { EXIT_WAIT_MS = 500, EXIT_STEP_MS = 5 };

/* At 16 bytes each, and looked through once for each name that ends. */
enum { SUM_NAMES_MAX = 4096 };

int spent_key_compare(const struct spent_key *a, const struct spent_key *b)
{
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->split > b->split) - (a->split < b->split);
}

static int compare_runtime_splits(const void *left, const void *right)
{
	const struct runtime_split *a = left, *b = right;

	return spent_key_compare(&a->key, &b->key);
}

static struct runtime_split *find_runtime_split(const struct runtime *runtime, size_t sorted,
						const struct spent_key *key)
{
	const struct runtime_split wanted = { .key = *key };

	if (!sorted)
		return NULL;
	return bsearch(&wanted, runtime->list, sorted, sizeof(wanted), compare_runtime_splits);
}

static int read_entry(struct runtime *runtime, size_t sorted, const struct spent_key *key,
		      const struct spent_cpu *spent, struct error *err)
{
	struct runtime_split *split = find_runtime_split(runtime, sorted, key);

	if (!split) {
		if (grow((void **)&runtime->list, &runtime->capacity, runtime->nr + 1,
			 sizeof(*split)))
			return error_no_memory(err, "profile");
		split = &runtime->list[runtime->nr++];
		*split = (struct runtime_split){ .key = *key };
	}
	split->ns = split->gone_ns + spent->ns - split->taken_ns;
	split->unbinned = split->gone_unbinned + spent->unbinned - split->taken_unbinned;
	split->walk = spent->walk;
	split->gone = false;
	memcpy(split->name, spent->comm, sizeof(split->name));
	return 0;
}

int runtime_read(struct runtime *runtime, int map_fd, struct error *err)
{
	struct spent_key key, last, *from = NULL;
	size_t sorted = runtime->nr;
	struct spent_cpu spent;
	int ret = 0;

	while (!ret && !bpf_map_get_next_key(map_fd, from, &key)) {
		last = key;
		from = &last;
		if (!bpf_map_lookup_elem(map_fd, &key, &spent))
			ret = read_entry(runtime, sorted, &key, &spent, err);
	}
	if (runtime->nr > sorted)
		qsort(runtime->list, runtime->nr, sizeof(*runtime->list), compare_runtime_splits);
	return ret;
}

/*
 * A thread that was reaped before the walk may have been freed since, and have added its last
 * runtime.
 */
static bool is_idle_split(const struct runtime_split *split, int map_fd, uint32_t walk)
{
	struct spent_cpu spent;

	return !split->ns && !split->unbinned && split->walk != walk &&
	       !bpf_map_lookup_elem(map_fd, &split->key, &spent) && spent.ns == split->taken_ns &&
	       spent.unbinned == split->taken_unbinned;
}

static int delete_entry(int map_fd, const struct spent_key *key, struct pool_state *pool)
{
	int ret = bpf_map_delete_elem(map_fd, key);

	if (!ret)
		__atomic_fetch_sub(&pool->splits_used, 1, __ATOMIC_RELAXED);
	return ret;
}

/* What was in the map is taken last: the rest of what is gone would be in no later reading. */
static void take_split(struct runtime_split *split)
{
	uint64_t unbinned = split->unbinned < split->gone_unbinned ? split->unbinned :
								     split->gone_unbinned;

	split->taken_ns += split->ns - split->gone_ns;
	split->taken_unbinned += split->unbinned - unbinned;
	split->gone_ns = 0;
	split->gone_unbinned -= unbinned;
	split->ns = 0;
	split->unbinned = split->gone ? split->gone_unbinned : 0;
}

void runtime_take(struct runtime *runtime, int map_fd, uint32_t walk, struct pool_state *pool)
{
	size_t from, to = 0;

	for (from = 0; from < runtime->nr; from++) {
		struct runtime_split *split = &runtime->list[from];

		if (is_idle_split(split, map_fd, walk) && !delete_entry(map_fd, &split->key, pool))
			continue;
		take_split(split);
		if (!split->gone || split->unbinned)
			runtime->list[to++] = *split;
	}
	runtime->nr = to;
}

bool runtime_split_ended(const struct runtime *runtime, const struct runtime_split *split)
{
	return split->gone || (int32_t)(split->walk - runtime->walk) < 0;
}

/* One step reads an element and deletes it, so that nothing is added between the two. */
static void retire_entry(struct runtime_split *split, int map_fd, struct pool_state *pool)
{
	struct spent_cpu spent;

	if (bpf_map_lookup_and_delete_elem(map_fd, &split->key, &spent))
		return;
	__atomic_fetch_sub(&pool->splits_used, 1, __ATOMIC_RELAXED);
	split->gone = true;
	split->ns = split->gone_ns += spent.ns - split->taken_ns;
	split->unbinned = split->gone_unbinned += spent.unbinned - split->taken_unbinned;
	split->taken_ns = split->taken_unbinned = 0;
	memcpy(split->name, spent.comm, sizeof(split->name));
}

void runtime_retire(struct runtime *runtime, int map_fd, struct pool_state *pool)
{
	size_t i;

	for (i = 0; i < runtime->nr; i++)
		if (!runtime->list[i].gone && runtime_split_ended(runtime, &runtime->list[i]))
			retire_entry(&runtime->list[i], map_fd, pool);
}

/*
 * The number of a name. Programs may call themselves anything, so after some thousands of names, or
 * without memory, it is that of the empty one.
 */
static size_t number_name(struct runtime *runtime, const char name[SPLIT_NAME_BYTES])
{
	size_t i;

	for (i = 1; i < runtime->nr_sums; i++)
		if (!memcmp(runtime->sums[i], name, SPLIT_NAME_BYTES))
			return i;
	if (!*name || runtime->nr_sums >= SUM_NAMES_MAX ||
	    grow((void **)&runtime->sums, &runtime->sum_capacity, runtime->nr_sums + 2,
		 sizeof(*runtime->sums)))
		return 0;
	if (!runtime->nr_sums)
		memset(runtime->sums[runtime->nr_sums++], 0, SPLIT_NAME_BYTES);
	memcpy(runtime->sums[runtime->nr_sums], name, SPLIT_NAME_BYTES);
	return runtime->nr_sums++;
}

static int compare_split_name(const void *left, const void *right)
{
	const struct runtime_split *const *a = left, *const *b = right;

	return memcmp((*a)->name, (*b)->name, sizeof((*a)->name));
}

void runtime_find_sums(struct runtime *runtime)
{
	cleanup_free struct runtime_split **sorted = calloc(runtime->nr + 1, sizeof(*sorted));
	size_t i, number = 0, nr = 0;

	for (i = 0; sorted && i < runtime->nr; i++)
		if (runtime->list[i].gone && split_pid(runtime->list[i].key.split) >= 0)
			sorted[nr++] = &runtime->list[i];
	if (nr)
		qsort(sorted, nr, sizeof(*sorted), compare_split_name);
	for (i = 0; i < nr; i++) {
		if (!i || compare_split_name(&sorted[i - 1], &sorted[i]))
			number = number_name(runtime, sorted[i]->name);
		sorted[i]->sum = split_sum_id(number);
	}
}

uint64_t runtime_sum_of(const struct runtime *runtime, uint32_t target, uint64_t split)
{
	const struct spent_key key = { .split = split, .target = target };
	const struct runtime_split *found = find_runtime_split(runtime, runtime->nr, &key);

	return found ? found->sum : 0;
}

size_t runtime_add_up(struct runtime *runtime)
{
	struct runtime_split *list = runtime->list;
	size_t i, to = 0, nr = 0;

	for (i = 0; i < runtime->nr; i++) {
		if (!list[i].sum)
			continue;
		nr++;
		list[i].key.split = list[i].sum;
		list[i].sum = 0;
		if (list[i].key.split == split_sum_id(0))
			memset(list[i].name, 0, sizeof(list[i].name));
	}
	qsort(list, runtime->nr, sizeof(*list), compare_runtime_splits);
	for (i = 0; i < runtime->nr; i++) {
		if (!to || compare_runtime_splits(&list[to - 1], &list[i])) {
			list[to++] = list[i];
			continue;
		}
		list[to - 1].ns = list[to - 1].gone_ns += list[i].gone_ns;
		list[to - 1].unbinned = list[to - 1].gone_unbinned += list[i].gone_unbinned;
	}
	runtime->nr = to;
	return nr;
}

bool runtime_has_split(const struct runtime *runtime, uint32_t nr_targets, uint64_t id)
{
	struct spent_key key = { .split = id };

	for (; key.target < nr_targets; key.target++)
		if (find_runtime_split(runtime, runtime->nr, &key))
			return true;
	return false;
}

void runtime_free(struct runtime *runtime)
{
	free(runtime->list);
	free(runtime->sums);
	memset(runtime, 0, sizeof(*runtime));
}

int session_walk(struct bpf_program *program, struct error *err)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	cleanup_fd int fd = -1;
	char nothing[64];
	ssize_t got;
	int ret;

	if (!link)
		return error_errno(err, -errno, "walking over all threads");
	fd = bpf_iter_create(bpf_link__fd(link));
	ret = fd < 0 ? -errno : 0;
	/* The iterator prints nothing, and returns EAGAIN after a million threads. */
	while (!ret && (got = read(fd, nothing, sizeof(nothing)))) {
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			ret = -errno;
	}
	bpf_link__destroy(link);
	return ret ? error_errno(err, ret, "walking over all threads") : 0;
}

static int walk(struct session *session, enum walk_kind kind, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;

	cpu_time->kind = kind;
	cpu_time->walk++;
	cpu_time->zombies = 0;
	if (kind == WALK_SETTLE)
		session->runtime.walk = cpu_time->walk;
	return session_walk(session->skel->progs.profil_walk, err);
}

/*
 * A command has no thread yet that could have earlier runtime, because it counts from its exec on.
 */
static bool has_threads(const struct session *session)
{
	uint32_t i;

	for (i = 0; i < session->nr_targets; i++)
		if (session->targets[i].kind != TARGET_COMMAND)
			return true;
	return session->times.idle_ns > 0;
}

int session_begin_runtime(struct session *session, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	int ret = 0;

	cpu_time->period_ns = session->options.period_ns;
	cpu_time->since_ns = monotonic_ns();
	if (has_threads(session))
		ret = walk(session, WALK_BEGIN, err);
	cpu_time->kind = WALK_SETTLE;
	return ret;
}

int session_settle_runtime(struct session *session, struct error *err)
{
	/* After the end or during a pause the runtime has been read already. */
	return session->times.stop_ns || session->times.paused_ns ? 0 :
								    walk(session, WALK_SETTLE, err);
}

int session_pause_runtime(struct session *session, struct error *err)
{
	int ret = walk(session, WALK_SETTLE, err);

	session->skel->bss->cpu_time.kind = WALK_BEGIN;
	return ret;
}

int session_weigh_around(struct session *session, enum walk_kind kind, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	int ret;

	__atomic_store_n(&cpu_time->muted, true, __ATOMIC_RELEASE);
	ret = walk(session, kind, err);
	cpu_time->kind = WALK_SETTLE;
	__atomic_store_n(&cpu_time->muted, kind == WALK_MUTE, __ATOMIC_RELEASE);
	return ret;
}

static uint64_t still_to_come(const struct session *session)
{
	const struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	uint64_t freed = __atomic_load_n(&cpu_time->freed, __ATOMIC_ACQUIRE);
	uint64_t exits = __atomic_load_n(&cpu_time->exits, __ATOMIC_ACQUIRE);

	return exits - freed > cpu_time->zombies ? exits - freed - cpu_time->zombies : 0;
}

/*
 * Ends the account of all threads except those that are exiting, which are waited for. What the
 * others run from now on, and threads that begin to exit now, are in no profile.
 */
int session_finish_runtime(struct session *session, struct error *err)
{
	int ret = walk(session, WALK_SETTLE, err);
	uint64_t until = monotonic_ns() + EXIT_WAIT_MS * 1000000ULL;

	session->skel->bss->cpu_time.kind = WALK_AWAIT;
	while (!ret && still_to_come(session) && monotonic_ns() < until) {
		usleep(EXIT_STEP_MS * 1000);
		ret = walk(session, WALK_AWAIT, err);
	}
	return ret;
}
