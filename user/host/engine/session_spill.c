// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/util.h"
#include "host/engine/session_state.h"

/*
 * Processes that are told apart each have pages of their own: of a build of this project 64 MiB had room
 * for a third of the ticks. So what windows counted is moved to user space when a third of the pages is
 * left, and then the pages are free. It takes two grace periods of RCU, for which the rest is enough:
 * with 64 MiB, 4,400 ticks that all hit other text.
 */

/* Making room takes at most a fifth of the time, also where memory is short at once again. */
enum { REST_SHARE = 4 };

/*
 * Moves what all windows counted. Each is retired, so that this reads what it still counts the next
 * time, and frees it.
 */
static int move_counters(struct session *session, struct counted *counted, bool all,
			 struct error *err)
{
	struct recycled recycled = session_recycled(session);
	struct seen seen = {};
	size_t i;
	int ret = recycler_wait(&session->recycler, err);

	if (ret)
		return ret;
	recycler_settle(&session->recycler, &recycled);
	ret = snapshot_windows(counted, &seen, err);
	ret = ret ?: recycler_add(&session->recycler, &seen, err);
	ret = ret ?: counted_read_carries(counted, err);
	for (i = 0; !ret && i < seen.nr; i++)
		if (spill_window(&session->spill, counted, &seen.list[i].key, seen.list[i].dir))
			ret = error_no_memory(err, "counters");
	if (!ret)
		recycler_turn(&session->recycler, &recycled, &seen, all);
	free(seen.list);
	return ret;
}

/* What processes that have ended spent is kept in user space alone. */
static int retire_runtime(struct session *session, struct error *err)
{
	int fd = bpf_map__fd(session->skel->maps.spent_cpus);
	int ret = session_settle_runtime(session, err);

	ret = ret ?: runtime_read(&session->runtime, fd, err);
	if (!ret)
		runtime_retire(&session->runtime, fd, &session->skel->bss->pool);
	return ret;
}

/* The heap that what was moved takes; what a process spent takes some even if it has no counter. */
static size_t moved_bytes(const struct session *session)
{
	return session->spill.bytes + session->runtime.nr * sizeof(*session->runtime.list);
}

/*
 * Where user space has as much as the kernel may have, processes that have ended are told apart by
 * name alone: then memory follows the text that was hot, however many processes there were.
 */
static void add_up_by_name(struct session *session)
{
	struct spill *spill = &session->spill;
	size_t i;

	runtime_find_sums(&session->runtime);
	for (i = 0; i < spill->nr; i++) {
		struct window_key *key = &spill->list[i].key;
		uint64_t sum = runtime_sum_of(&session->runtime, key->target, key->split);

		key->split = sum ?: key->split;
	}
	session_sum_callers(session);
	session->added_up += runtime_add_up(&session->runtime);
	spill_compact(spill);
}

static void limit_moved(struct session *session)
{
	if (moved_bytes(session) > session->options.memory / 2)
		spill_compact(&session->spill);
	if (moved_bytes(session) > session->options.memory / 2 &&
	    session->options.split != SPLIT_CGROUP)
		add_up_by_name(session);
}

static int make_room(struct session *session, struct error *err)
{
	struct counted counted = session_counted(session);
	int ret = 0;

	counted.take = true;
	counted.tallies = calloc(session->nr_targets, sizeof(*counted.tallies));
	if (!counted.tallies)
		return error_no_memory(err, "counters");
	if (session->options.split != SPLIT_NONE)
		ret = retire_runtime(session, err);
	ret = ret ?: move_counters(session, &counted, true, err);
	ret = ret ?: move_counters(session, &counted, false, err);
	free(counted.tallies);
	return ret;
}

void session_spill(struct session *session)
{
	uint64_t began = monotonic_ns(), took;
	struct error ignored;

	if (session->times.stop_ns || began < session->spill_after_ns ||
	    !pool_is_short(&session->pool) || moved_bytes(session) > session->options.memory)
		return;
	if (!make_room(session, &ignored))
		limit_moved(session);
	took = monotonic_ns() - began;
	session->spill_after_ns = began + took + REST_SHARE * took;
}
