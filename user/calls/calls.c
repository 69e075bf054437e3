// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/registry.h"
#include "calls/worker.h"
#include "profile/profile_head.h"

enum {
	PERIOD_NORMAL = 10000000,
	PERIOD_FAST = 1000000,
};

void calls_options_init(struct calls_options *options)
{
	*options = (struct calls_options){
		.memory = 64 << 20,
		.max_calls = 16384,
		.user_calls = 1024,
		.user_regions = 4 * CALL_ENTRIES_MAX,
		.user_memory = 16 << 20,
	};
}

static void handle_event(void *ctx, const struct call_record *record)
{
	struct calls *calls = ctx;

	LOCK_SCOPE(&calls->lock);
	worker_mark(calls, &record->call, record->type == CALL_GONE);
}

static int watch_calls(const struct calls *calls, int fd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0)
		return 0;
	if (epoll_ctl(calls->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(err, -errno, "calls: epoll");
	return 0;
}

static int open_call_watches(struct calls *calls, struct error *err)
{
	int ret, i;

	calls->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	calls->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (calls->epoll_fd < 0 || calls->timer_fd < 0)
		return error_errno(err, -errno, "calls: timer");
	ret = watch_calls(calls, call_engine_records_fd(&calls->engine), err);
	if (!ret)
		ret = watch_calls(calls, calls->timer_fd, err);
	for (i = 0; !ret && i < CALL_CLOCKS; i++)
		ret = watch_calls(calls, calls->engine.clocks[i].changes_fd, err);
	return ret;
}

static void init_lock(struct calls *calls)
{
	pthread_mutex_init(&calls->lock, NULL);
	cond_init_monotonic(&calls->ended);
}

int calls_open(const struct calls_options *options, struct calls **result, struct error *err)
{
	const struct call_engine_options call_engine_options = {
		.period_ns = { PERIOD_NORMAL, PERIOD_FAST },
		.memory = options->memory,
		.calls = (uint32_t)options->max_calls,
	};
	struct calls *calls = calloc(1, sizeof(*calls));
	int ret;

	if (!calls)
		return error_set(err, -ENOMEM, "calls: out of memory");
	/* Each caller has two descriptors. */
	raise_file_limit(2 * options->max_calls + 1024);
	calls->options = *options;
	calls->clock = wall_clock_read();
	calls->start_ns = monotonic_ns();
	calls->epoll_fd = calls->timer_fd = -1;
	init_lock(calls);
	ret = call_engine_open(&call_engine_options, handle_event, calls, &calls->engine, err);
	if (ret) {
		free(calls);
		return ret;
	}
	calls->callers = calloc(options->max_calls, sizeof(*calls->callers));
	calls->specs = calloc(options->max_calls, sizeof(*calls->specs));
	calls->users = calloc(CALL_OWNERS, sizeof(*calls->users));
	calls->workers = calloc(WORKERS_MAX, sizeof(*calls->workers));
	if (calls->callers && calls->specs && calls->users && calls->workers)
		calls->work = calloc(options->max_calls, sizeof(*calls->work));
	if (!calls->work)
		ret = error_set(err, -ENOMEM, "calls: out of memory");
	if (!ret)
		ret = open_call_watches(calls, err);
	if (ret) {
		calls_close(calls);
		return ret;
	}
	*result = calls;
	return 0;
}

int calls_fd(const struct calls *calls)
{
	return calls->epoll_fd;
}

/* Checks all calls after records were lost: some calls may be dirty or gone without one. */
static void look_at_all_calls(struct calls *calls)
{
	uint32_t slot;

	for (slot = 0; slot < calls->engine.nr_calls; slot++) {
		const struct call *call = &calls->engine.calls[slot];
		const struct call_ref ref = { slot, call->serial };

		if (call->phase != CALL_FREE && call->serial)
			worker_mark(calls, &ref, !call->users);
	}
}

static int run_copy_timer(struct calls *calls, struct error *err)
{
	calls->due_ns = 0;
	if (calls->look_again) {
		calls->look_again = false;
		look_at_all_calls(calls);
	}
	workers_copy(calls);
	workers_check(calls);
	calls_sweep_specs(calls);
	return call_engine_run_clocks(&calls->engine, err);
}

int calls_poll(struct calls *calls, struct error *err)
{
	uint32_t missed = __atomic_load_n(&calls->engine.globals->missed, __ATOMIC_RELAXED);
	uint64_t times;
	int ret = 0, i;

	call_engine_poll(&calls->engine);
	LOCK_SCOPE(&calls->lock);
	if (missed != calls->missed) {
		calls->missed = missed;
		look_at_all_calls(calls);
	}
	if (read(calls->timer_fd, &times, sizeof(times)) == sizeof(times))
		ret = run_copy_timer(calls, err);
	for (i = 0; !ret && i < CALL_CLOCKS; i++)
		if (calls->engine.clocks[i].changes_fd >= 0)
			ret = sampler_follow_cpus(&calls->engine.clocks[i], err);
	calls_set_timer(calls);
	return ret;
}

int calls_enqueue(struct calls *calls, pid_t pid, uid_t uid, struct job *job)
{
	uint64_t key = worker_key(pid, uid);
	struct worker *worker;
	int ret;

	/* First handle earlier records about this process. */
	call_engine_poll(&calls->engine);
	LOCK_SCOPE(&calls->lock);
	worker = worker_of(calls, key, uid);
	ret = worker ? worker_enqueue(worker, job) : -EDQUOT;
	calls_set_timer(calls);
	return ret;
}

struct worker *calls_worker(struct worker *worker, pid_t pid, uid_t uid)
{
	uint64_t key = worker_key(pid, uid);
	struct worker *answers;

	LOCK_SCOPE(&worker->calls->lock);
	answers = worker_for(worker->calls, pid, key, uid);
	if (answers == worker)
		worker->pid = pid;
	return answers;
}

size_t calls_active(const struct calls *calls)
{
	size_t active = 0, i;

	for (i = 0; i < CALL_CLOCKS; i++)
		active += __atomic_load_n(&calls->engine.globals->running[i], __ATOMIC_RELAXED);
	return active;
}

/* Only the stuck worker knows what it copied. Therefore record its calls as unread. */
static void record_stuck(struct calls *calls)
{
	uint32_t slot;

	for (slot = 0; slot < calls->engine.nr_calls; slot++)
		if (calls->callers[slot])
			journal_add_unread(&calls->journal, calls->callers[slot], &calls->engine);
}

static void end_all(struct calls *calls)
{
	if (calls->ending)
		return;
	call_engine_poll(&calls->engine);
	LOCK_SCOPE(&calls->lock);
	calls->ended_all = workers_end(calls);
	if (!calls->ended_all && calls->options.record)
		record_stuck(calls);
}

/* Sets the start by the clock as it is at the end, because users compare with that. */
static int fill_times(struct calls *calls, struct profile *profile)
{
	const struct wall_clock now = wall_clock_read();
	const struct wall_clock change = wall_clock_follow(&calls->clock, &now);
	const struct timespec started = wall_clock_at(&calls->clock, calls->start_ns);

	profile->duration_ns = monotonic_ns() - calls->start_ns;
	return profile_fill_head(profile, &started) || profile_note_clock(profile, &change) ?
		       -ENOMEM :
		       0;
}

int calls_finish(struct calls *calls, struct profile **result, struct error *err)
{
	struct profile *profile;
	int ret;

	end_all(calls);
	profile = calls->journal.profile ? calls->journal.profile : profile_new();
	calls->journal.profile = NULL;
	ret = profile ? fill_times(calls, profile) : -ENOMEM;
	if (!ret)
		ret = profile_fill_sampling(profile, "clock", "charged", PERIOD_NORMAL,
					    1e9 / PERIOD_NORMAL);
	if (!ret)
		ret = profile_sum_targets(profile);
	if (!ret && calls->journal.incomplete)
		ret = -ENOMEM;
	if (ret) {
		profile_free(profile);
		return error_set(err, ret, "calls: out of memory");
	}
	profile->complete = true;
	*result = profile;
	return 0;
}

bool calls_close(struct calls *calls)
{
	uint32_t i;

	if (!calls)
		return true;
	if (calls->work)
		end_all(calls);
	/* A stuck worker may still wake up. Therefore free nothing, but stop counting. */
	if (calls->work && !calls->ended_all) {
		call_engine_stop(&calls->engine);
		return false;
	}
	for (i = 0; calls->specs && i < calls->engine.nr_calls; i++)
		spec_free(&calls->engine, calls->specs[i]);
	call_engine_close(&calls->engine);
	journal_free(&calls->journal);
	free(calls->callers);
	free(calls->specs);
	free(calls->users);
	free(calls->workers);
	free(calls->work);
	pthread_mutex_destroy(&calls->lock);
	pthread_cond_destroy(&calls->ended);
	close_fd(&calls->epoll_fd);
	close_fd(&calls->timer_fd);
	free(calls);
	return true;
}
