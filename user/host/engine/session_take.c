// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "host/engine/session_state.h"

/*
 * From counters to a profile. The steps of the pipeline are here in their order. Steps that may
 * fail come first as far as possible, because what was taken is in this profile or in none.
 */
struct take {
	struct session *session;
	struct counted counted;
	struct recycled recycled;
	struct seen seen;
	uint64_t until_ns;
	struct wall_clock clock;
	struct profile *profile;
};

static void forget_spaces(struct session *session, const struct recycled *recycled,
			  const struct uses *uses)
{
	struct spaces *spaces = &session->spaces;
	size_t from, to = 0;

	for (from = 0; from < spaces->nr; from++) {
		struct space_info *info = &spaces->list[from];

		/* A walk may still meet a file that has no tick. */
		if (!info->numbered && recycler_forgets(&session->recycler, recycled, uses,
							&info->space, SPACE_TOLD, &info->struck)) {
			session_free_text(session, info);
			session_forget_callers_text(session, info);
			space_info_free(info);
		} else {
			spaces->list[to++] = *info;
		}
	}
	spaces->nr = to;
	spaces->sorted = 0;
}

static int runtime_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.spent_cpus);
}

/* A cgroup without a window has threads: its time has a name, and a decision on it still holds. */
static bool is_running(const struct session *session, const struct split_name *name)
{
	return !name->struck && runtime_has_split(&session->runtime, session->nr_targets, name->id);
}

static void forget_splits(struct session *session, const struct recycled *recycled,
			  const struct uses *uses)
{
	struct split_names *names = &session->splits;
	size_t from, to = 0;

	if (session->options.split != SPLIT_CGROUP)
		return;
	for (from = 0; from < names->nr; from++) {
		struct split_name *name = &names->list[from];
		struct space space = cgroup_space(name->id);

		session_judge(session, name);
		if (!is_running(session, name) &&
		    recycler_forgets(&session->recycler, recycled, uses, &space, name->told,
				     &name->struck))
			free(name->name);
		else
			names->list[to++] = *name;
	}
	names->nr = to;
	names->sorted = 0;
}

/* Wait: programs that found a retired page on their way end, and then the page can be freed. */
static int wait_for_programs(struct take *take, struct error *err)
{
	struct recycler *recycler = &take->session->recycler;
	int ret = recycler_wait(recycler, err);

	if (!ret)
		recycler_settle(recycler, &take->recycled);
	return ret;
}

/*
 * Read: the perf maps as far as they are written, so that they describe all code that is counted.
 */
static int read_jit(struct take *take, struct error *err)
{
	(void)err;
	session_read_jit(take->session);
	return 0;
}

/* Read: the windows, and then the records of their spaces, which were sent before their ticks. */
static int read_windows(struct take *take, struct error *err)
{
	struct session *session = take->session;
	int ret = snapshot_windows(&take->counted, &take->seen, err);

	if (!ret)
		ret = recycler_add(&session->recycler, &take->seen, err);
	if (!ret)
		ret = snapshot_spilled(&session->spill, &take->seen, err);
	return ret || session->times.stop_ns ? ret : session_read_records(session, err);
}

/* Forget: files, processes and cgroups that have no window. */
static int forget_unused(struct take *take, struct error *err)
{
	struct session *session = take->session;
	struct uses uses;
	int ret;

	if (!take->counted.take)
		return 0;
	ret = uses_find(&take->seen, session->options.split, &uses, err);
	if (ret)
		return ret;
	session->recycler.struck = false;
	forget_spaces(session, &take->recycled, &uses);
	forget_splits(session, &take->recycled, &uses);
	uses_free(&uses);
	return 0;
}

/* Read: the CPU time that the scheduler gave, and which counters have wrapped. */
static int read_runtime(struct take *take, struct error *err)
{
	struct session *session = take->session;
	int ret = session_settle_runtime(session, err);

	if (!ret)
		ret = runtime_read(&session->runtime, runtime_fd(session), err);
	if (!ret)
		ret = session_name_splits(session, err);
	return ret ? ret : counted_read_carries(&take->counted, err);
}

/* Fill: the counters are taken here. */
static int fill_profile(struct take *take, struct error *err)
{
	return session_fill(take->session, &take->counted, &take->seen, take->profile, err);
}

/*
 * A file whose ticks were all of processes or cgroups that have ended need not wait for two takes. Who
 * lives but had no tick in this one has no window any more, so their next tick tells it again.
 */
static void note_idle(struct session *session, const struct seen *seen)
{
	struct space_info *list = session->spaces.list;
	const struct space_info *found;
	size_t i;

	for (i = 0; i < session->spaces.nr; i++) {
		list[i].idle = list[i].called ? 0 : list[i].idle + (list[i].idle < SPACE_IDLE);
		list[i].called = false;
	}
	for (i = 0; i < seen->nr; i++) {
		const struct window_key *key = &seen->list[i].key;

		found = seen->list[i].ticks ? spaces_find(&session->spaces, &key->space) : NULL;
		/* One who lives is enough. */
		if (!found || !found->idle)
			continue;
		list[found - list].idle =
			runtime_has_ended(&session->runtime, session->nr_targets, key->split) ?
				SPACE_IDLE :
				0;
	}
}

void session_let_go(struct session *session)
{
	size_t i;

	for (i = 0; i < session->spaces.nr; i++) {
		struct space_info *info = &session->spaces.list[i];

		if (info->idle < SPACE_IDLE || !space_let_go(info))
			continue;
		if (info->space.kind == SPACE_FILE)
			session_tell_again(session, &info->space);
		else
			session_free_text(session, info);
	}
}

/* Retire: removes what was idle, and marks the CPU time that was read as taken. */
static int retire_spaces(struct take *take, struct error *err)
{
	struct session *session = take->session;

	(void)err;
	if (!take->counted.take)
		return 0;
	note_idle(session, &take->seen);
	session_turn_callers(session);
	recycler_turn(&session->recycler, &take->recycled, &take->seen, false);
	runtime_take(&session->runtime, runtime_fd(session), session->skel->bss->cpu_time.walk,
		     &session->skel->bss->pool);
	return 0;
}

/* The objects of the previous profile can no longer be opened. */
static int begin_take(struct take *take, struct error *err)
{
	struct session *session = take->session;

	free(session->sources);
	session->sources = NULL;
	session->nr_sources = 0;
	take->profile = profile_new();
	take->counted.tallies = calloc(session->nr_targets + 1, sizeof(*take->counted.tallies));
	if (!take->profile || !take->counted.tallies)
		return error_no_memory(err, "profile");
	return session_fill_head(session, take->until_ns, &take->clock, take->profile, err);
}

static int (*const pipeline[])(struct take *take, struct error *err) = {
	begin_take,    wait_for_programs, read_jit,	read_windows,
	forget_unused, read_runtime,	  fill_profile, retire_spaces,
};

static int run_take(struct take *take, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(pipeline) / sizeof(*pipeline); i++)
		ret = pipeline[i](take, err);
	return ret;
}

/* This runs after a failure too, because what was taken is in no later profile. */
static void keep_tallies(struct session *session, const struct counted *counted)
{
	uint32_t i;

	for (i = 0; counted->tallies && i < session->nr_targets; i++)
		tally_add(&session->targets[i].taken, &counted->tallies[i]);
}

static int profile_since(struct session *session, bool taken, struct profile **result,
			 struct error *err)
{
	struct take take = { .session = session,
			     .counted = session_counted(session),
			     .recycled = session_recycled(session),
			     .until_ns = session_until_ns(session) };
	int ret;

	take.counted.take = taken;
	ret = run_take(&take, err);
	if (taken) {
		session_turn_jit(session);
		keep_tallies(session, &take.counted);
	}
	free(take.counted.tallies);
	free(take.seen.list);
	if (taken) {
		spill_clear(&session->spill);
		session->added_up = 0;
	}
	if (ret) {
		profile_free(take.profile);
		return ret;
	}
	if (taken) {
		session->times.clock = take.clock;
		session->times.since_ns = take.until_ns;
		session->times.since_idle_ns = 0;
	}
	take.profile->complete = taken;
	*result = take.profile;
	return 0;
}

int session_take(struct session *session, struct profile **result, struct error *err)
{
	return profile_since(session, true, result, err);
}

void session_unmap(struct session *session)
{
	pool_unmap(&session->pool);
}

int session_peek(struct session *session, struct profile **result, struct error *err)
{
	return profile_since(session, false, result, err);
}

/* Adds a target with its CPU time. Returns 0 or -ENOMEM. */
static int add_timed_target(const struct session *session, const struct counted *counted,
			    uint32_t number, struct profile *profile)
{
	struct profile_target *target = &profile->targets[profile->nr_targets++];

	counted_account(counted, number);
	target->kind = strdup(session_kind_words[session->targets[number].kind]);
	target->name = strdup(session->targets[number].name);
	target->cpu_known = true;
	target->cpu_ns = counted->tallies[number].cpu_ns;
	return target->kind && target->name ? 0 : -ENOMEM;
}

static int fill_times(struct session *session, const struct counted *counted,
		      struct profile *profile, struct error *err)
{
	struct wall_clock ignored;
	uint32_t i;
	int ret = session_fill_head(session, session_until_ns(session), &ignored, profile, err);

	profile->targets = calloc(session->nr_targets + 1, sizeof(*profile->targets));
	if (!ret && !profile->targets)
		ret = error_no_memory(err, "profile");
	for (i = 0; !ret && i < session->nr_targets; i++)
		if (add_timed_target(session, counted, i, profile))
			ret = error_no_memory(err, "profile");
	split_names_sort(&session->splits);
	if (!ret && session_fill_times(session, profile))
		ret = error_no_memory(err, "profile");
	return ret;
}

int session_times(struct session *session, struct profile **result, uint64_t *ticks,
		  struct error *err)
{
	struct counted counted = session_counted(session);
	uint32_t i;
	int ret = session_settle_runtime(session, err);

	/* The walk has announced the cgroups that it found. */
	if (!ret)
		ret = session_read_records(session, err);
	if (!ret)
		ret = runtime_read(&session->runtime, runtime_fd(session), err);
	*result = profile_new();
	counted.tallies = calloc(session->nr_targets + 1, sizeof(*counted.tallies));
	if (!ret && (!*result || !counted.tallies))
		ret = error_no_memory(err, "profile");
	if (!ret)
		ret = fill_times(session, &counted, *result, err);
	for (i = 0, *ticks = 0; !ret && i < session->nr_targets; i++)
		*ticks += counted_ticks(&counted, i) - tally_ticks(&session->targets[i].taken);
	free(counted.tallies);
	if (!ret)
		return 0;
	profile_free(*result);
	*result = NULL;
	return ret;
}
