// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "host/engine/session_impl.h"

/* From counters to a profile. */
struct take {
	struct session *session;
	struct counted counted;
	uint64_t until_ns;
	struct wall_clock clock;
	struct profile *profile;
};

/* The objects of the previous profile can no longer be opened. */
static int begin_take(struct take *take, struct error *err)
{
	struct session *session = take->session;

	free(session->sources);
	session->sources = NULL;
	session->nr_sources = 0;
	if (take->counted.take)
		session_forget_texts(session);
	take->profile = profile_new();
	take->counted.tallies = calloc(session->nr_targets + 1, sizeof(*take->counted.tallies));
	if (!take->profile || !take->counted.tallies)
		return error_no_memory(err, "profile");
	return session_fill_head(session, take->until_ns, &take->clock, take->profile, err);
}

/*
 * Perf maps come first, to describe all code that is counted; then the scheduler's CPU time and the
 * ticks in the kernel; then the ticks.
 */
static int read_ticks(struct session *session, struct error *err)
{
	int ret;

	session_read_jit(session);
	ret = session_settle_runtime(session, err);
	if (!ret)
		ret = session_swap(session, err);
	/* At the end the other half has ticks if they could not be moved before. */
	if (!ret && session->times.stop_ns &&
	    session->halves.state->nodes_used[halves_in_use(&session->halves)])
		ret = session_swap(session, err);
	return ret;
}

static int read_runtime(struct session *session, struct error *err)
{
	int ret = runtime_read(&session->runtime, session_runtime_map(session).fd, err);

	return ret ? ret : session_name_splits(session, err);
}

/* The steps in their order. Steps that may fail come first as far as possible. */
static int run_take(struct take *take, struct error *err)
{
	struct session *session = take->session;
	struct runtime_map map;
	size_t i;
	int ret = begin_take(take, err);

	if (!ret)
		ret = read_ticks(session, err);
	for (i = 0; !ret && take->counted.take && i < session->splits.nr; i++)
		session_classify(session, &session->splits.list[i]);
	if (!ret)
		ret = read_runtime(session, err);
	if (!ret)
		ret = session_fill(session, &take->counted, take->profile, err);
	if (ret || !take->counted.take)
		return ret;
	session_forget_taken(session);
	map = session_runtime_map(session);
	runtime_mark_taken(&session->runtime, &map, session->skel->bss->cpu_time.pass);
	session_mark_splits(session);
	return 0;
}

/*
 * This is done after a failure too, because the accounts were read. The next profile has the ticks
 * of the table.
 */
static void keep_tallies(struct session *session, const struct counted *counted, bool failed)
{
	uint32_t i;

	for (i = 0; counted->tallies && i < session->nr_targets; i++) {
		if (failed)
			tally_drop_table(&counted->tallies[i], session->options.callers);
		tally_add(&session->targets[i].taken, &counted->tallies[i]);
	}
}

static void end_take(struct session *session, const struct take *take)
{
	session->added_up = 0;
	session->times.clock = take->clock;
	session->times.since_ns = take->until_ns;
	session->times.since_idle_ns = 0;
}

static int profile_since(struct session *session, bool taken, struct profile **result,
			 struct error *err)
{
	struct take take = { .session = session,
			     .counted = session_counted(session),
			     .until_ns = session_until_ns(session) };
	int ret;

	take.counted.take = taken;
	ret = run_take(&take, err);
	if (taken)
		keep_tallies(session, &take.counted, ret != 0);
	free(take.counted.tallies);
	if (ret) {
		profile_free(take.profile);
		return ret;
	}
	if (taken)
		end_take(session, &take);
	take.profile->complete = taken;
	*result = take.profile;
	return 0;
}

int session_take(struct session *session, struct profile **result, struct error *err)
{
	return profile_since(session, true, result, err);
}

int session_peek(struct session *session, struct profile **result, struct error *err)
{
	return profile_since(session, false, result, err);
}

/* The CPU time of targets, and of cgroups that have names. */
static int fill_times(struct session *session, const struct counted *counted,
		      struct profile *profile, struct error *err)
{
	struct wall_clock ignored;
	uint32_t i;
	int ret = session_fill_head(session, session_until_ns(session), &ignored, profile, err);

	if (ret)
		return ret;
	if (session_name_targets(session, profile))
		return error_no_memory(err, "profile");
	for (i = 0; i < session->nr_targets; i++) {
		counted_account(counted, i);
		profile->targets[i].cpu_known = true;
		profile->targets[i].cpu_ns = counted->tallies[i].cpu_ns;
	}
	split_names_sort(&session->splits);
	return session_fill_times(session, profile) ? error_no_memory(err, "profile") : 0;
}

int session_times(struct session *session, struct profile **result, uint64_t *ticks,
		  struct error *err)
{
	struct counted counted = session_counted(session);
	uint32_t i;
	int ret = session_settle_runtime(session, err);

	/* The pass has announced the cgroups that it found. */
	if (!ret)
		ret = session_read_records(session, err);
	if (!ret)
		ret = runtime_read(&session->runtime, session_runtime_map(session).fd, err);
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
