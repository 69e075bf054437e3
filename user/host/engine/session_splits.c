// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The CPU time of targets, and of the processes or cgroups that they are split into. */
#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session_impl.h"
#include "profile/profile_splits.h"

/*
 * RCU's callbacks run some 10 to 50 ms after a thread was reaped. The wait is limited, because a
 * CPU may stall. It ends early if no callback has run for some time: what is still to come is then
 * a zombie that the iterator does not show, as it is outside of our pid namespace, or an event that
 * the kernel did not report.
 */
enum { EXIT_WAIT_MS = 500, EXIT_CALM_MS = 150, EXIT_STEP_MS = 5 };

static int run_pass(struct session *session, enum pass_kind kind, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;

	cpu_time->kind = kind;
	cpu_time->pass++;
	cpu_time->zombies = 0;
	if (kind == PASS_SETTLE)
		session->runtime.pass = cpu_time->pass;
	return programs_walk(session->skel->progs.profil_pass, 0, err);
}

/*
 * Whether any thread may have earlier CPU time. A command has none, because it counts from its exec
 * on.
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
		ret = run_pass(session, PASS_BEGIN, err);
	cpu_time->kind = PASS_SETTLE;
	return ret ?: session_begin_waits(session, has_threads(session), err);
}

int session_settle_runtime(struct session *session, struct error *err)
{
	/* After the end, or during a pause, the CPU time was read already. */
	return session->times.stop_ns || session->times.paused_ns ?
		       0 :
		       run_pass(session, PASS_SETTLE, err);
}

void session_stay_paused(struct session *session)
{
	struct error ignored;

	session_end_waits(session, &ignored);
	session->skel->bss->cpu_time.kind = PASS_BEGIN;
}

int session_pause_runtime(struct session *session, struct error *err)
{
	const int waits = session_end_waits(session, err);
	struct error ignored;
	const int ret = run_pass(session, PASS_SETTLE, waits ? &ignored : err);

	session->skel->bss->cpu_time.kind = PASS_BEGIN;
	return waits ? waits : ret;
}

int session_switch_ticks(struct session *session, enum pass_kind kind, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	int ret;

	__atomic_store_n(&cpu_time->ticks_off, true, __ATOMIC_RELEASE);
	ret = run_pass(session, kind, err);
	cpu_time->kind = PASS_SETTLE;
	__atomic_store_n(&cpu_time->ticks_off, kind == PASS_TICKS_OFF, __ATOMIC_RELEASE);
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
 * Ends the accounts of all threads, and waits for those that are exiting. Later CPU time of the
 * others, and of threads that begin to exit now, is in no profile.
 */
int session_finish_runtime(struct session *session, struct error *err)
{
	int ret = session_end_waits(session, err) ?: run_pass(session, PASS_SETTLE, err);
	const uint64_t until = monotonic_ns() + EXIT_WAIT_MS * 1000000ULL;
	uint64_t calm = 0, left, before = 0;

	session->skel->bss->cpu_time.kind = PASS_AWAIT;
	while (!ret && (left = still_to_come(session)) && monotonic_ns() < until) {
		if (left != before)
			calm = monotonic_ns() + EXIT_CALM_MS * 1000000ULL;
		else if (monotonic_ns() > calm)
			break;
		before = left;
		usleep(EXIT_STEP_MS * 1000);
		ret = run_pass(session, PASS_AWAIT, err);
	}
	return ret;
}

/* The id of binned ticks whose cgroups were left out later; no cgroup has it. */
#define LEFT_OUT_SPLIT 0

static int name_split(const struct session *session, uint64_t id, struct profile_split *result)
{
	if (id == LEFT_OUT_SPLIT) {
		result->cgroup = strdup(PROFILE_LEFT_OUT);
		return result->cgroup ? 0 : -ENOMEM;
	}
	return split_names_of(&session->splits, session->options.split, id, &result->pid,
			      &result->process, &result->cgroup);
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

/*
 * Between two readings, many ticks of left-out cgroups fall. Splits are read after their targets,
 * so that they do not have less; trim_unbinned() leaves the rest to the next profile. Without
 * memory the earlier reading counts, and a few ticks have no split.
 */
void session_reread_runtime(struct session *session)
{
	struct error ignored;

	if (session->options.choose)
		runtime_read(&session->runtime, session_runtime_map(session).fd, &ignored);
}

/* Reduces the ticks of the splits of a target to those of the target, even in one profile. */
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

/* Adds a split with its name; NULL: out of memory. */
static struct profile_split *put_split(const struct session *session, const struct spent_key *key,
				       struct profile *profile)
{
	struct profile_split *split = &profile->splits[profile->nr_splits++];

	*split = (struct profile_split){ .target = key->target, .pid = -1 };
	return name_split(session, key->split, split) ? NULL : split;
}

/* Adds the ticks in bins to the CPU time of the same split. */
static int put_binned(struct session *session, const uint64_t *split_ids, struct profile *profile)
{
	struct runtime_split *found;
	struct profile_split *split;
	uint64_t ticks;
	size_t i;

	for (i = 0; i < session->runtime.nr; i++)
		session->runtime.list[i].binned = 0;
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct spent_key key = { .split = split_ids[i],
					       .target = profile->histograms[i].target };

		/* Ticks that were merged for lack of memory have no split. */
		if (!key.split)
			continue;
		ticks = profile_histogram_ticks(&profile->histograms[i]);
		found = runtime_find(&session->runtime, &key);
		split = found ? NULL : put_split(session, &key, profile);
		if (found)
			found->binned += ticks;
		else if (split)
			split->ticks = ticks;
		else
			return -ENOMEM;
	}
	return 0;
}

/*
 * Thousands of processes and threads may have ended without a tick. Therefore they are one split
 * for each name.
 */
static int put_runtime(const struct session *session, struct profile *profile)
{
	const struct runtime *runtime = &session->runtime;
	const struct runtime_split *from = runtime->list, *end = from + runtime->nr;
	struct profile_split *split;

	for (; from < end; from++) {
		if (!from->ns && !from->binned && !from->unbinned)
			continue;
		split = put_split(session, &from->key, profile);
		if (!split)
			return -ENOMEM;
		split->cpu_ns = from->ns;
		split->ticks = from->binned + from->unbinned;
		if (!split->ticks && runtime_split_ended(runtime, from))
			split->pid = -1;
	}
	return 0;
}

static int put_left_out(const struct session *session, const struct counted *counted,
			struct profile *profile)
{
	struct spent_key key = { .split = LEFT_OUT_SPLIT };
	struct profile_split *split;

	for (; key.target < session->nr_targets; key.target++) {
		if (!counted->tallies[key.target].left_out)
			continue;
		split = put_split(session, &key, profile);
		if (!split)
			return -ENOMEM;
		split->ticks = counted->tallies[key.target].left_out;
	}
	return 0;
}

int session_fill_splits(struct session *session, const struct counted *counted,
			const uint64_t *split_ids, struct profile *profile)
{
	const size_t most = profile->nr_histograms + session->runtime.nr + session->nr_targets;
	size_t i;

	/* With chosen CPUs the time of splits is unknown too. */
	if (session->options.split == SPLIT_NONE || session->options.cpus)
		return 0;
	for (i = 0; i < session->nr_targets; i++)
		trim_unbinned(session, counted, (uint32_t)i);
	profile->splits = calloc(most + 1, sizeof(*profile->splits));
	if (!profile->splits || put_binned(session, split_ids, profile) ||
	    put_runtime(session, profile) || put_left_out(session, counted, profile))
		return -ENOMEM;
	return profile_splits_fold(profile);
}

int session_fill_times(const struct session *session, struct profile *profile)
{
	const struct runtime_split *from = session->runtime.list, *end = from + session->runtime.nr;
	struct profile_split *split;

	if (session->options.split != SPLIT_CGROUP)
		return 0;
	profile->splits = calloc(session->runtime.nr + 1, sizeof(*profile->splits));
	if (!profile->splits)
		return -ENOMEM;
	for (; from < end; from++) {
		if (!from->ns || !split_names_find(&session->splits, from->key.split))
			continue;
		split = put_split(session, &from->key, profile);
		if (!split)
			return -ENOMEM;
		split->cpu_ns = from->ns;
		profile->targets[split->target].cpu_ns += from->ns;
	}
	return profile_splits_fold(profile);
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
