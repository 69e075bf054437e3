// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <sys/timerfd.h>

#include "base/util.h"
#include "calls/call_state.h"

enum {
	COPY_MS = 50, /* counts should be visible 100 ms after their tick */
	LOOK_MS = 1000, /* while a clock runs: how often to check whether a call still needs it */
};

#define MS 1000000UL

/* Time until the next work; 0: there is none. */
static uint64_t wanted_ns(const struct calls *calls)
{
	const struct worker *worker = calls->workers, *end = worker + calls->nr_workers;
	bool dirty = calls->look_again, busy = !call_engine_clocks_idle(&calls->engine);

	for (; worker < end; worker++) {
		dirty = dirty || !TAILQ_EMPTY(&worker->dirty);
		busy = busy || worker->busy || !worker_is_idle(worker);
	}
	if (dirty)
		return COPY_MS * MS;
	return busy ? LOOK_MS * MS : 0;
}

void calls_set_timer(struct calls *calls)
{
	uint64_t now = monotonic_ns(), wanted = wanted_ns(calls);
	struct itimerspec in = { .it_value = timespec_of(wanted) };

	/*
	 * Keep an earlier due time, also one that has passed and that calls_poll() is about to
	 * handle. Otherwise a user could postpone it for ever by constant requests.
	 */
	if (calls->due_ns && (calls->due_ns <= now || (wanted && calls->due_ns <= now + wanted)))
		return;
	if (!calls->due_ns && !wanted)
		return;
	calls->due_ns = wanted ? now + wanted : 0;
	timerfd_settime(calls->timer_fd, 0, &in, NULL);
}
