// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/calls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/calls_impl.h"
#include "profile/profile_head.h"

enum {
	PERIOD_NORMAL = 10000000,
	PERIOD_FAST = 1000000,
	COPY_MS = 50, /* counts are to be seen 100 ms after their tick */
	LOOK_MS = 1000, /* while a clock runs: whether anybody still wants it */
};

#define MS 1000000L

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

static void take_event(void *ctx, const struct call_record *record)
{
	struct calls *calls = ctx;
	struct member *member = calls_member(calls, &record->call);

	if (!member)
		return;
	if (record->type == CALL_GONE) {
		calls_release(calls, member);
	} else {
		member->dirty = true;
		calls->any_dirty = true;
	}
}

static int watch(const struct calls *calls, int fd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0)
		return 0;
	if (epoll_ctl(calls->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(err, -errno, "calls: epoll");
	return 0;
}

static int open_watches(struct calls *calls, struct error *err)
{
	int ret, i;

	calls->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	calls->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (calls->epoll_fd < 0 || calls->timer_fd < 0)
		return error_errno(err, -errno, "calls: timer");
	ret = watch(calls, kernel_records_fd(&calls->kernel), err);
	if (!ret)
		ret = watch(calls, calls->timer_fd, err);
	for (i = 0; !ret && i < CALL_CLOCKS; i++)
		ret = watch(calls, calls->kernel.clocks[i].uevent_fd, err);
	return ret;
}

/* Each caller is two descriptors. Who may not have so many has what is allowed. */
static void raise_file_limit(uint32_t max_calls)
{
	rlim_t wanted = 2 * (rlim_t)max_calls + 1024;
	struct rlimit limit, more;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	more.rlim_cur = more.rlim_max = wanted > limit.rlim_max ? wanted : limit.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int calls_open(const struct calls_options *options, struct calls **ret, struct error *err)
{
	const struct kernel_options kernel_options = {
		.period_ns = { PERIOD_NORMAL, PERIOD_FAST },
		.memory = options->memory,
		.calls = options->max_calls,
	};
	struct calls *calls = calloc(1, sizeof(*calls));
	int failed;

	if (!calls)
		return error_set(err, -ENOMEM, "calls: out of memory");
	raise_file_limit(options->max_calls);
	calls->options = *options;
	calls->started = time(NULL);
	calls->start_ns = monotonic_ns();
	calls->epoll_fd = calls->timer_fd = -1;
	failed = kernel_open(&kernel_options, take_event, calls, &calls->kernel, err);
	if (failed) {
		free(calls);
		return failed;
	}
	calls->members = calloc(options->max_calls, sizeof(*calls->members));
	calls->shapes = calloc(options->max_calls, sizeof(*calls->shapes));
	calls->users = calloc(calls->kernel.nr_owners, sizeof(*calls->users));
	if (!calls->members || !calls->shapes || !calls->users)
		failed = error_set(err, -ENOMEM, "calls: out of memory");
	if (!failed)
		failed = open_watches(calls, err);
	if (failed) {
		calls_close(calls);
		return failed;
	}
	*ret = calls;
	return 0;
}

int calls_fd(const struct calls *calls)
{
	return calls->epoll_fd;
}

void calls_set_timer(struct calls *calls)
{
	struct pollfd due = { .fd = calls->timer_fd, .events = POLLIN };
	struct itimerspec in = { 0 }, now;

	/* It has run out and calls_poll is about to see it: who asks without pause must not undo that. */
	if (poll(&due, 1, 0) > 0)
		return;
	if (calls->any_dirty)
		in.it_value.tv_nsec = COPY_MS * MS;
	else if (!kernel_clocks_idle(&calls->kernel))
		in.it_value.tv_sec = LOOK_MS / 1000;
	/* What is due sooner stays. */
	if (!timerfd_gettime(calls->timer_fd, &now) &&
	    (now.it_value.tv_sec || now.it_value.tv_nsec) &&
	    (in.it_value.tv_sec || in.it_value.tv_nsec) && !now.it_value.tv_sec &&
	    now.it_value.tv_nsec <= COPY_MS * MS)
		return;
	timerfd_settime(calls->timer_fd, 0, &in, NULL);
}

/* All calls, after records that did not fit: some may be dirty or gone and nobody has said so. */
static void look_at_all(struct calls *calls)
{
	uint32_t slot;

	for (slot = 0; slot < calls->kernel.nr_calls; slot++) {
		const struct call *call = &calls->kernel.calls[slot];
		const struct call_ref ref = { slot, call->serial };
		struct member *member;

		if (call->phase == CALL_FREE || !call->serial)
			continue;
		member = calls_member(calls, &ref);
		if (!member)
			continue;
		if (!call->users)
			calls_release(calls, member);
		else
			member->dirty = true;
	}
}

static void copy_dirty(struct calls *calls)
{
	uint32_t slot;

	calls->any_dirty = false;
	for (slot = 0; slot < calls->kernel.nr_calls; slot++)
		if (calls->members[slot] && calls->members[slot]->dirty)
			calls_copy(calls, calls->members[slot]);
}

int calls_poll(struct calls *calls, struct error *err)
{
	uint32_t missed = __atomic_load_n(&calls->kernel.globals->missed, __ATOMIC_RELAXED);
	uint64_t times;
	int ret = 0, i;

	kernel_poll(&calls->kernel);
	if (missed != calls->missed) {
		calls->missed = missed;
		look_at_all(calls);
		calls->any_dirty = true;
	}
	if (read(calls->timer_fd, &times, sizeof(times)) == sizeof(times)) {
		if (calls->look_again) {
			calls->look_again = false;
			look_at_all(calls);
		}
		copy_dirty(calls);
		calls_sweep_shapes(calls);
		ret = kernel_run_clocks(&calls->kernel, err);
	}
	for (i = 0; !ret && i < CALL_CLOCKS; i++)
		if (calls->kernel.clocks[i].uevent_fd >= 0)
			ret = sampler_follow_cpus(&calls->kernel.clocks[i], err);
	calls_set_timer(calls);
	return ret;
}

size_t calls_active(const struct calls *calls)
{
	size_t active = 0, i;

	for (i = 0; i < CALL_CLOCKS; i++)
		active += __atomic_load_n(&calls->kernel.globals->running[i], __ATOMIC_RELAXED);
	return active;
}

static void end_all(struct calls *calls)
{
	uint32_t i;

	kernel_poll(&calls->kernel);
	look_at_all(calls);
	for (i = 0; calls->members && i < calls->kernel.nr_calls; i++)
		if (calls->members[i])
			calls_release(calls, calls->members[i]);
}

int calls_finish(struct calls *calls, struct profile **ret, struct error *err)
{
	struct profile *profile;
	int failed;

	end_all(calls);
	profile = calls->journal.profile ? calls->journal.profile : profile_new();
	calls->journal.profile = NULL;
	failed = profile ? profile_fill_head(profile, calls->started) : -ENOMEM;
	if (!failed)
		failed = profile_fill_sampling(profile, "clock", "charged", PERIOD_NORMAL,
					       1e9 / PERIOD_NORMAL);
	if (!failed)
		failed = profile_sum_targets(profile);
	if (!failed && calls->journal.incomplete)
		failed = -ENOMEM;
	if (failed) {
		profile_free(profile);
		return error_set(err, failed, "calls: out of memory");
	}
	profile->duration_ns = monotonic_ns() - calls->start_ns;
	profile->complete = true;
	*ret = profile;
	return 0;
}

void calls_close(struct calls *calls)
{
	uint32_t i;

	if (!calls)
		return;
	if (calls->members)
		end_all(calls);
	for (i = 0; calls->shapes && i < calls->kernel.nr_calls; i++)
		shape_free(&calls->kernel, calls->shapes[i]);
	kernel_close(&calls->kernel);
	journal_free(&calls->journal);
	free(calls->members);
	free(calls->shapes);
	free(calls->users);
	if (calls->epoll_fd >= 0)
		close(calls->epoll_fd);
	if (calls->timer_fd >= 0)
		close(calls->timer_fd);
	free(calls);
}
