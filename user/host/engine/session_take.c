// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "host/engine/session_announced.h"
#include "host/engine/session_forget.h"
#include "host/engine/session_jit.h"
#include "host/engine/session_profile.h"
#include "host/engine/session_records.h"
#include "host/engine/session_splits.h"
#include "host/engine/session_state.h"
#include "host/engine/session_turn.h"

/*
 * From counters to a profile. The steps of the pipeline are here in their order. Steps that may
 * fail come first as far as possible.
 */
struct take {
	struct session *session;
	struct counted counted;
	uint64_t until_ns;
	struct wall_clock clock;
	struct profile *profile;
};

static int runtime_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.spent_cpus);
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

/* Settle: the CPU time that the scheduler gave, and the ticks in the kernel, before the others are read. */
static int settle_runtime(struct take *take, struct error *err)
{
	return session_settle_runtime(take->session, err);
}

/* Read: all that was counted, and then the records of its texts, which were sent before their ticks. */
static int read_ticks(struct take *take, struct error *err)
{
	struct session *session = take->session;
	int ret = session_turn(session, err);

	/* At the end the other half has something if it could not be moved before. */
	if (!ret && session->times.stop_ns &&
	    session->halves.state->elements[halves_in_use(&session->halves)])
		ret = session_turn(session, err);
	return ret;
}

/* Decide: whose ticks are wanted, where that was not known yet. */
static int judge_splits(struct take *take, struct error *err)
{
	struct split_names *names = &take->session->splits;
	size_t i;

	(void)err;
	for (i = 0; take->counted.take && i < names->nr; i++)
		session_classify(take->session, &names->list[i]);
	return 0;
}

/* Read: the CPU time that was settled. */
static int read_runtime(struct take *take, struct error *err)
{
	struct session *session = take->session;
	int ret = runtime_read(&session->runtime, runtime_fd(session), err);

	return ret ?: session_name_splits(session, err);
}

/* Fill: the accounts are taken here. */
static int fill_profile(struct take *take, struct error *err)
{
	return session_fill(take->session, &take->counted, take->profile, err);
}

/* Forget: what is in the profile, and what nobody needs any more. */
static int forget_taken(struct take *take, struct error *err)
{
	struct session *session = take->session;

	(void)err;
	if (!take->counted.take)
		return 0;
	session_forget_taken(session);
	runtime_take(&session->runtime, runtime_fd(session), session->skel->bss->cpu_time.walk,
		     session->halves.state);
	return 0;
}

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

static int (*const pipeline[])(struct take *take, struct error *err) = {
	begin_take,   read_jit,	    settle_runtime, read_ticks,
	judge_splits, read_runtime, fill_profile,   forget_taken,
};

static int run_take(struct take *take, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(pipeline) / sizeof(*pipeline); i++)
		ret = pipeline[i](take, err);
	return ret;
}

/* After a failure too, for the accounts were taken then. The ticks of the table are in the next profile. */
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
