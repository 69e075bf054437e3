// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Closes files, and frees cgroups and texts, that no tick or process needs any more. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/session_impl.h"

/*
 * How often a swap may free numbers or accounts between profiles, or try files again that found no
 * room.
 */
enum { RECLAIM_REST = 20 };
#define RECLAIM_NS 500000000ULL

/* --- files and cgroups that are idle ---------------------------------------------------------- */

/*
 * If all ticks of a file are of processes or cgroups that have ended, it need not wait for two
 * takes. One live process or cgroup is enough to keep it.
 */
static void note_use(void *ctx, const struct space *space, uint32_t target, uint64_t split)
{
	struct session *session = ctx;
	struct space_info *info = spaces_find(&session->spaces, space);
	struct split_name *name = split_names_find(&session->splits, split);

	(void)target;
	if (name)
		name->used = true;
	if (info && info->idle)
		info->idle = runtime_has_ended(&session->runtime, session->nr_targets, split) ?
				     SPACE_IDLE :
				     0;
}

static void note_uses(struct session *session)
{
	size_t i;

	for (i = 0; i < session->spaces.nr; i++)
		session->spaces.list[i].idle += session->spaces.list[i].idle < SPACE_IDLE;
	for (i = 0; i < session->splits.nr; i++)
		session->splits.list[i].used = false;
	if (!store_each_use(session->store, note_use, session))
		return;
	/* Without memory, assume that all were used. */
	for (i = 0; i < session->spaces.nr; i++)
		session->spaces.list[i].idle = 0;
	for (i = 0; i < session->splits.nr; i++)
		session->splits.list[i].used = true;
}

/*
 * A cgroup without a tick may have threads. Then its name and the decision on it are still needed.
 */
static bool is_running(const struct session *session, const struct split_name *name)
{
	return !name->dropped &&
	       runtime_has_split(&session->runtime, session->nr_targets, name->id);
}

/* Adds to the numbers of announced cgroups: see announce_cgroup(). */
static void count_cgroups(struct session *session, uint32_t number, uint32_t more)
{
	struct owner *owners = session->texts.owners.at;

	__atomic_fetch_add(&owners[number].cgroups, more, __ATOMIC_RELAXED);
	__atomic_fetch_add(&session->halves.state->cgroups, more, __ATOMIC_RELAXED);
}

/*
 * Drops a cgroup without threads from the kernel's map. If it has a tick by the next profile, it is
 * entered again. Otherwise its name is freed, and the programs announce it again if it comes back.
 */
static bool may_forget(struct session *session, struct split_name *name)
{
	const int fd = bpf_map__fd(session->skel->maps.spaces);
	const struct space space = cgroup_space(name->id);
	const uint32_t state = name->state;

	if (is_running(session, name))
		return false;
	if (name->dropped && !name->used)
		return true;
	if (name->dropped && !bpf_map_update_elem(fd, &space, &state, BPF_NOEXIST))
		count_cgroups(session, name->owner, 1);
	else if (name->dropped)
		bpf_map_update_elem(fd, &space, &state, BPF_EXIST);
	else if (!name->used && session_forget_announced(session, &space))
		count_cgroups(session, name->owner, -1U);
	name->dropped = !name->used;
	return false;
}

static void forget_splits(struct session *session)
{
	struct split_names *names = &session->splits;
	size_t from, to = 0;

	if (session->options.split != SPLIT_CGROUP)
		return;
	for (from = 0; from < names->nr; from++) {
		if (may_forget(session, &names->list[from]))
			free(names->list[from].name);
		else
			names->list[to++] = names->list[from];
	}
	names->nr = names->sorted = to;
}

void session_forget_taken(struct session *session)
{
	note_uses(session);
	store_clear(session->store);
	session_clear_waits(session);
	forget_splits(session);
}

void session_let_go(struct session *session)
{
	size_t i;

	for (i = 0; i < session->spaces.nr; i++) {
		struct space_info *info = &session->spaces.list[i];

		if (info->idle < SPACE_IDLE || !space_let_go(info))
			continue;
		if (info->space.kind == SPACE_FILE)
			session_announce_again(session, &info->space);
		else
			session_free_text(session, info);
	}
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Marks the texts that have a number, or whose number a program may still have. */
static void mark_numbered(struct session *session)
{
	const struct session_texts *texts = &session->texts;
	struct space_info *info;
	size_t i;

	spaces_sort(&session->spaces);
	for (i = 0; i < session->spaces.nr; i++)
		session->spaces.list[i].numbered = false;
	for (i = TEXT_FIRST; i < texts->nr; i++) {
		info = texts->list[i].space.kind ?
			       spaces_find(&session->spaces, &texts->list[i].space) :
			       NULL;
		if (info)
			info->numbered = true;
	}
}

/* Forgets replaced code of versions that have neither a number nor a tick. */
static void drop_formers(struct session *session, struct space_info *info)
{
	const struct session_texts *texts = &session->texts;
	uint32_t i, first;

	if (!info->jit->formers.nr)
		return;
	first = store_first_version(session->store, &info->space);
	for (i = TEXT_FIRST; i < texts->nr; i++)
		if (texts->list[i].version < first &&
		    !memcmp(&texts->list[i].space, &info->space, sizeof(info->space)))
			first = texts->list[i].version;
	jit_text_drop_formers(info->jit, first);
}

void session_forget_texts(struct session *session)
{
	struct spaces *spaces = &session->spaces;
	struct space_info *info;
	size_t from, to = 0;

	mark_numbered(session);
	for (from = 0; from < spaces->nr; from++) {
		info = &spaces->list[from];
		if (info->jit)
			drop_formers(session, info);
		if (info->dropped && !info->numbered &&
		    !store_names_text(session->store, &info->space)) {
			session_free_text(session, info);
			space_info_free(info);
		} else {
			spaces->list[to++] = *info;
		}
	}
	spaces->nr = spaces->sorted = to;
}

static bool is_short(const struct session *session)
{
	return session_texts_are_short(session) || session_refuses_splits(session);
}

/* Whether a swap could give callers to more ticks, numbers to more texts, or names to processes. */
static bool needs_reclaim(const struct session *session)
{
	return is_short(session) || session->texts.retry_ns;
}

static uint64_t reclaim_at(const struct session *session)
{
	return is_short(session) ? session->texts.reclaim_after :
				   max_size(session->texts.reclaim_after, session->texts.retry_ns);
}

static void reclaim_texts(struct session *session)
{
	const uint64_t began = monotonic_ns();
	uint64_t ended;

	session_swap_between_takes(session);
	session_forget_texts(session);
	ended = monotonic_ns();
	session->texts.reclaim_after = ended + RECLAIM_REST * (ended - began) + RECLAIM_NS;
}

/* Wakes the session itself, because no other event may come for a long time. */
void session_reclaim_texts(struct session *session)
{
	const uint64_t now = monotonic_ns();

	if (!session->times.start_ns || session->times.stop_ns)
		return;
	if (needs_reclaim(session) && now >= reclaim_at(session))
		reclaim_texts(session);
	if (needs_reclaim(session))
		session_wake_at(session, reclaim_at(session));
	else if (session->options.callers && callers_rules_waiting(session->callers.rules))
		session_wake_at(session, now + RECLAIM_NS);
}
