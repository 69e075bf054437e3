// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that has just begun maps its libraries one after the other, and each is announced at its first
 * tick, whose callers cannot be followed, nor those of the next ones until the table is made. So a process in
 * which a file was met for the first time is looked through some milliseconds later, and again twice, for what
 * it maps meanwhile.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session_starting.h"
#include "host/engine/session_state.h"

#define MS 1000000ULL

/* The loader is done after 1 to 3 ms as a rule; an interpreter loads modules for longer. */
#define FIRST_LOOK (3 * MS)
enum { LATER = 4, LOOKS = 3 };

/* At most 1/REST_SHARE of a processor's time, as a process may have any number of mappings. */
enum { REST_SHARE = 20 };

/* To be set is to be unread again, so nobody has to read what expired. */
static void arm(struct session_starting *starting)
{
	uint64_t due = UINT64_MAX, now = monotonic_ns();
	struct itimerspec until = { 0 };
	size_t i;

	for (i = 0; i < starting->nr; i++)
		if (starting->list[i].due_ns < due)
			due = starting->list[i].due_ns;
	if (due != UINT64_MAX && due < starting->rest_until)
		due = starting->rest_until;
	if (starting->wake_ns && starting->wake_ns < due)
		due = starting->wake_ns;
	if (due != UINT64_MAX)
		until.it_value = timespec_of(due > now ? due - now : 1);
	timerfd_settime(starting->timer_fd, 0, &until, NULL);
}

int session_open_starting(struct session *session, struct error *err)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	session->callers.starting.timer_fd = fd;
	return fd < 0 ? error_errno(err, -errno, "timerfd") : 0;
}

void session_close_starting(struct session *session)
{
	if (session->callers.starting.timer_fd > 0)
		close(session->callers.starting.timer_fd);
}

void session_note_starting(struct session *session, uint32_t tgid)
{
	struct session_starting *starting = &session->callers.starting;
	size_t i;

	/* All that is mapped before the start is announced before it. */
	if (!session->options.callers || !session->times.start_ns)
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
	arm(starting);
}

static void look_through(struct session *session, struct starting_process *process)
{
	struct error ignored;

	programs_walk(session->skel->progs.profil_texts, process->tgid, &ignored);
	process->looks++;
	process->due_ns += process->next_ns;
	process->next_ns *= LATER;
}

void session_wake_at(struct session *session, uint64_t when)
{
	session->callers.starting.wake_ns = when;
	arm(&session->callers.starting);
}

void session_poll_starting(struct session *session)
{
	struct session_starting *starting = &session->callers.starting;
	uint64_t began = monotonic_ns();
	size_t i, kept = 0;

	if (starting->wake_ns && began >= starting->wake_ns) {
		starting->wake_ns = 0;
		arm(starting);
	}
	if (!starting->nr || began < starting->rest_until)
		return;
	for (i = 0; i < starting->nr; i++) {
		if (starting->list[i].due_ns <= began)
			look_through(session, &starting->list[i]);
		if (starting->list[i].looks < LOOKS)
			starting->list[kept++] = starting->list[i];
	}
	starting->nr = kept;
	starting->rest_until = monotonic_ns() + (monotonic_ns() - began) * REST_SHARE;
	arm(starting);
}
