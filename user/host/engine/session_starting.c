// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A file is announced at its first tick, and until its table is made, ticks in it lack callers. A program that has just
 * begun maps its libraries one after the other. Therefore, if a file is first seen in a process, that process is
 * searched for other files some milliseconds later, and twice more.
 */

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session_starting.h"
#include "host/engine/session_state.h"

#define MS 1000000ULL

/* The loader is done after 1 to 3 ms as a rule; an interpreter loads modules for longer. */
#define FIRST_LOOK (3 * MS)
enum { LATER = 4, LOOKS = 3 };

/* At most 1/REST_SHARE of a processor's time, because a process may have any number of mappings. */
enum { REST_SHARE = 20 };

void session_note_starting(struct session *session, uint32_t tgid)
{
	struct session_starting *starting = &session->callers.starting;
	size_t i;

	/* Before the start, session_begin_callers() announces all mappings. */
	if (!(session->options.callers || session->options.waits) || !session->times.start_ns)
		return;
	for (i = 0; i < starting->nr; i++)
		if (starting->list[i].tgid == tgid)
			return;
	if (starting->nr == STARTING_MAX)
		return;
	starting->list[starting->nr++] =
		(struct starting_process){ .tgid = tgid,
					   .due_ns = monotonic_ns() + FIRST_LOOK,
					   .next_ns = FIRST_LOOK * LATER };
	session_wake_at(session, monotonic_ns() + FIRST_LOOK);
}

static void look_through(struct session *session, struct starting_process *process)
{
	struct error ignored;

	programs_walk(session->skel->progs.profil_texts, process->tgid, &ignored);
	process->looks++;
	process->due_ns += process->next_ns;
	process->next_ns *= LATER;
}

static void look_through_due(struct session *session, uint64_t began)
{
	struct session_starting *starting = &session->callers.starting;
	size_t i, kept = 0;

	for (i = 0; i < starting->nr; i++) {
		if (starting->list[i].due_ns <= began)
			look_through(session, &starting->list[i]);
		if (starting->list[i].looks < LOOKS)
			starting->list[kept++] = starting->list[i];
	}
	starting->nr = kept;
	starting->rest_until = monotonic_ns() + (monotonic_ns() - began) * REST_SHARE;
}

void session_poll_starting(struct session *session)
{
	struct session_starting *starting = &session->callers.starting;
	const uint64_t now = monotonic_ns();
	size_t i;

	if (starting->nr && now >= starting->rest_until)
		look_through_due(session, now);
	for (i = 0; i < starting->nr; i++)
		session_wake_at(session, max_size(starting->list[i].due_ns, starting->rest_until));
}
