// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From what the processes or cgroups of targets spent to a profile's splits. */
#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session_splits.h"
#include "host/engine/session_state.h"

/*
 * RCU's callbacks come some 10 to 50 ms after a thread was reaped; the wait is limited for when a
 * CPU stalls.
 */
enum { EXIT_WAIT_MS = 500, EXIT_STEP_MS = 5 };

static int walk(struct session *session, enum walk_kind kind, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;

	cpu_time->kind = kind;
	cpu_time->walk++;
	cpu_time->zombies = 0;
	if (kind == WALK_SETTLE)
		session->runtime.walk = cpu_time->walk;
	return programs_walk(session->skel->progs.profil_walk, 0, err);
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

void session_set_period(struct session *session)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	double duty = session->options.duty_percent > 0 ? session->options.duty_percent : 100;

	cpu_time->period_ns = (uint64_t)llround((double)session->options.period_ns * 100 / duty);
	cpu_time->gap = duty < 100 ? (uint32_t)lround(GAP_ONE * 100 / duty) : 0;
}

int session_begin_runtime(struct session *session, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	int ret = 0;

	session_set_period(session);
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

/* The id for ticks in bins of cgroups that were left out later; no cgroup has it. */
#define LEFT_OUT_SPLIT 0

/* A process or cgroup with its runtime and its ticks. */
struct spender {
	struct spent_key key;
	uint64_t binned;
	uint64_t unbinned;
	uint64_t cpu_ns;
	bool ended;
};

struct spenders {
	struct spender *list;
	size_t nr;
};

static int compare_spenders(const void *left, const void *right)
{
	const struct spender *a = left, *b = right;

	return compare_spent_keys(&a->key, &b->key);
}

static void add_up_spenders(struct spenders *spenders)
{
	size_t from, to = 0;

	SORT(spenders->list, spenders->nr, compare_spenders);
	for (from = 0; from < spenders->nr; from++) {
		struct spender *next = &spenders->list[from];

		if (!to || compare_spenders(&spenders->list[to - 1], next)) {
			spenders->list[to++] = *next;
			continue;
		}
		spenders->list[to - 1].binned += next->binned;
		spenders->list[to - 1].unbinned += next->unbinned;
		spenders->list[to - 1].cpu_ns += next->cpu_ns;
		spenders->list[to - 1].ended |= next->ended;
	}
	spenders->nr = to;
}

static int find_spenders(const struct session *session, const struct counted *counted,
			 const struct profile *profile, const uint64_t *split_ids,
			 struct spenders *result)
{
	size_t i;

	result->list =
		calloc(profile->nr_histograms + session->runtime.nr + session->nr_targets + 1,
		       sizeof(*result->list));
	if (!result->list)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++) {
		/* Ticks that were merged for lack of memory have no split. */
		if (!split_ids[i])
			continue;
		result->list[result->nr++] = (struct spender){
			.key = { .split = split_ids[i], .target = profile->histograms[i].target },
			.binned = profile_histogram_ticks(&profile->histograms[i]),
		};
	}
	for (i = 0; i < session->runtime.nr; i++)
		result->list[result->nr++] = (struct spender){
			.key = session->runtime.list[i].key,
			.unbinned = session->runtime.list[i].unbinned,
			.cpu_ns = session->runtime.list[i].ns,
			.ended = runtime_split_ended(&session->runtime, &session->runtime.list[i]),
		};
	for (i = 0; i < session->nr_targets; i++)
		result->list[result->nr++] = (struct spender){
			.key = { .split = LEFT_OUT_SPLIT, .target = (uint32_t)i },
			.unbinned = counted->tallies[i].left_out,
		};
	add_up_spenders(result);
	return 0;
}

static int name_spender(const struct session *session, uint64_t id, struct profile_split *result)
{
	const struct split_name *name = split_names_find(&session->splits, id);

	if (id == LEFT_OUT_SPLIT) {
		result->cgroup = strdup(PROFILE_LEFT_OUT);
		return result->cgroup ? 0 : -ENOMEM;
	}
	if (session->options.split == SPLIT_CGROUP) {
		result->cgroup = split_cgroup_name(&session->splits, id);
		return result->cgroup ? 0 : -ENOMEM;
	}
	result->pid = split_pid(id);
	result->process = name && *name->name ? strdup(name->name) : NULL;
	return name && *name->name && !result->process ? -ENOMEM : 0;
}

int session_name_splits(struct session *session, struct error *err)
{
	const struct runtime *runtime = &session->runtime;
	size_t i;
	int ret = 0;

	if (session->options.split != SPLIT_PROCESS && session->options.split != SPLIT_THREAD)
		return 0;
	split_names_clear(&session->splits);
	for (i = 0; !ret && i < runtime->nr; i++)
		ret = split_names_add(&session->splits, runtime->list[i].key.split,
				      strndup(runtime->list[i].name, sizeof(runtime->list[i].name)),
				      err);
	return ret;
}

/* Splits without any name come last. */
static int compare_spender_splits(const void *left, const void *right)
{
	const struct profile_split *a = left, *b = right;
	int order;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	order = -compare_text(a->cgroup, b->cgroup);
	return order ? order : compare_text(a->process, b->process);
}

/*
 * Merges splits that look the same: of two processes after each other with one pid and one name,
 * and of two cgroups with one path.
 */
static void fold_splits(struct profile *profile)
{
	struct profile_split *list = profile->splits;
	size_t from, to = 0;

	SORT(list, profile->nr_splits, compare_spender_splits);
	for (from = 0; from < profile->nr_splits; from++) {
		if (!to || compare_spender_splits(&list[to - 1], &list[from])) {
			list[to++] = list[from];
			continue;
		}
		list[to - 1].ticks += list[from].ticks;
		list[to - 1].cpu_ns += list[from].cpu_ns;
		profile_split_free(&list[from]);
	}
	profile->nr_splits = to;
}

/*
 * Of processes and threads that have ended without a tick there may be thousands, so they are one
 * split for each name.
 */
static int put_spender(const struct session *session, const struct spender *spender,
		       struct profile *profile)
{
	struct profile_split *split = &profile->splits[profile->nr_splits];

	*split = (struct profile_split){ .target = spender->key.target, .pid = -1 };
	split->cpu_ns = spender->cpu_ns;
	split->ticks = spender->binned + spender->unbinned;
	if (!split->ticks && !split->cpu_ns)
		return 0;
	profile->nr_splits++;
	if (name_spender(session, spender->key.split, split))
		return -ENOMEM;
	if (!split->ticks && spender->ended)
		split->pid = -1;
	return 0;
}

/*
 * Many ticks of cgroups that are left out fall between one reading and the next. What a split has must
 * be read after what its target has, so that it is not less; trim_unbinned() leaves the rest to the next
 * profile. Without memory it is as it was read before, and a few ticks are of no split.
 */
void session_reread_runtime(struct session *session)
{
	struct error ignored;

	if (session->options.judge)
		runtime_read(&session->runtime, bpf_map__fd(session->skel->maps.spent_cpus),
			     &ignored);
}

/* So that the splits of a target do not have more ticks than it has, not even for one profile. */
static void trim_unbinned(struct session *session, const struct counted *counted, uint32_t target)
{
	const struct tally *tally = &counted->tallies[target];
	uint64_t room = tally_ticks(tally) - tally->binned - tally->left_out, over;
	struct runtime_split *split = session->runtime.list, *end = split + session->runtime.nr;

	for (; split < end; split++) {
		if (split->key.target != target)
			continue;
		over = split->unbinned > room ? split->unbinned - room : 0;
		split->unbinned -= over;
		room -= split->unbinned;
	}
}

int session_fill_splits(struct session *session, const struct counted *counted,
			const uint64_t *split_ids, struct profile *profile)
{
	struct spenders spenders = {};
	size_t i;
	int ret;

	/* With chosen CPUs the time of splits is unknown too. */
	if (session->options.split == SPLIT_NONE || session->options.cpus)
		return 0;
	for (i = 0; i < session->nr_targets; i++)
		trim_unbinned(session, counted, (uint32_t)i);
	ret = find_spenders(session, counted, profile, split_ids, &spenders);
	if (!ret) {
		profile->splits = calloc(spenders.nr + 1, sizeof(*profile->splits));
		ret = profile->splits ? 0 : -ENOMEM;
	}
	for (i = 0; !ret && i < spenders.nr; i++)
		ret = put_spender(session, &spenders.list[i], profile);
	if (!ret)
		fold_splits(profile);
	free(spenders.list);
	return ret;
}

int session_fill_times(const struct session *session, struct profile *profile)
{
	const struct runtime_split *split = session->runtime.list,
				   *end = split + session->runtime.nr;
	struct profile_split *made;

	if (session->options.split != SPLIT_CGROUP)
		return 0;
	profile->splits = calloc(session->runtime.nr + 1, sizeof(*profile->splits));
	if (!profile->splits)
		return -ENOMEM;
	for (; split < end; split++) {
		if (!split->ns || !split_names_find(&session->splits, split->key.split))
			continue;
		made = &profile->splits[profile->nr_splits++];
		*made = (struct profile_split){ .target = split->key.target,
						.pid = -1,
						.cpu_ns = split->ns };
		profile->targets[made->target].cpu_ns += split->ns;
		if (name_spender(session, split->key.split, made))
			return -ENOMEM;
	}
	fold_splits(profile);
	return 0;
}

uint64_t session_split_ns(const struct session *session, uint32_t target)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < session->runtime.nr; i++)
		if (session->runtime.list[i].key.target == target)
			ns += session->runtime.list[i].ns;
	return ns;
}
