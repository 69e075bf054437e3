// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "record/sample_loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "feature/features.h"
#include "record/output.h"

/* Those that end the sampling. */
static sigset_t ending_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	return signals;
}

int sample_open_signals(struct error *err)
{
	sigset_t signals = ending_signals(), ignored;
	int fd;

	sigemptyset(&ignored);
	sigaddset(&ignored, SIGPIPE);
	sigprocmask(SIG_BLOCK, &ignored, NULL);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_errno(err, -errno, "signalfd") : fd;
}

void sample_let_signals_through(void)
{
	sigset_t signals = ending_signals();

	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

int sample_explain(int failure, struct error *err)
{
	struct error lack;

	if (failure != -EINVAL && features_require(&lack))
		*err = lack;
	return failure;
}

int sample_start(struct sample_loop *loop, const struct target *targets, size_t nr_targets,
		 const char *controller, struct error *err)
{
	struct session_options options = sampling_session_options(loop->options);
	int ret;

	options.targets = targets;
	options.nr_targets = nr_targets;
	options.cgroup_controller = controller;
	ret = sampling_check_cost(loop->options, err);
	if (!ret)
		ret = session_open(&options, &loop->session, err);
	if (!ret)
		ret = session_start(loop->session, err);
	if (!ret)
		ret = result_started(loop->result, loop->session, err);
	return ret ? sample_explain(ret, err) : 0;
}

/* Sleeps until something happens. Ticks wake nobody. */
static enum sample_event wait_event(struct sample_loop *loop, int timeout)
{
	struct pollfd fds[3 + PRELOAD_FDS] = {
		{ .fd = loop->ended_fd, .events = POLLIN },
		{ .fd = loop->signal_fd, .events = POLLIN },
		{ .fd = session_fd(loop->session), .events = POLLIN },
	};
	nfds_t nr = loop->preload ? 3 + PRELOAD_FDS : 3;
	struct error err;

	if (loop->preload)
		preload_watch(loop->preload, fds + 3);
	if (poll(fds, nr, timeout) <= 0)
		return SAMPLE_NONE;
	if (loop->preload && preload_poll(loop->preload, fds + 3, &err))
		print_error(&err);
	/* First, while the process that a new file belongs to may still be there. */
	if (fds[2].revents && session_poll(loop->session, &err))
		print_error(&err);
	if (fds[0].revents)
		return SAMPLE_ENDED;
	if (fds[1].revents &&
	    read(loop->signal_fd, &loop->signal, sizeof(loop->signal)) == sizeof(loop->signal))
		return SAMPLE_SIGNAL;
	return SAMPLE_NONE;
}

enum sample_event sample_wait(struct sample_loop *loop)
{
	enum sample_event event;

	do
		event = wait_event(loop, -1);
	while (event == SAMPLE_NONE);
	return event;
}

static int sooner(int timeout, uint64_t due_ns, uint64_t now)
{
	uint64_t ms;

	if (!due_ns)
		return timeout;
	ms = due_ns > now ? (due_ns - now) / 1000000 + 1 : 0;
	if (timeout >= 0 && (uint64_t)timeout <= ms)
		return timeout;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* poll's timeout until the next file, the next line of progress or the end. */
static int timeout_of(const struct sample_loop *loop)
{
	uint64_t now = monotonic_ns();
	int timeout = progress_timeout(&loop->progress);

	timeout = sooner(timeout, loop->spending.due_ns, now);
	return sooner(sooner(timeout, loop->cut_ns, now), loop->end_ns, now);
}

/* Files are due at multiples of the interval; one that took longer leaves some out. */
static void cut_when_due(struct sample_loop *loop)
{
	uint64_t interval = loop->options->interval_ns, now = monotonic_ns();

	if (!loop->cut_ns || now < loop->cut_ns)
		return;
	result_cut(loop->result, loop->session);
	now = monotonic_ns();
	if (now >= loop->cut_ns)
		loop->cut_ns += ((now - loop->cut_ns) / interval + 1) * interval;
}

/* As far as it is known. */
static void tell_cost(struct sample_loop *loop)
{
	if (loop->spending.cost.handler_ns > 0)
		loop->result->cost = loop->spending.cost;
}

/* Another period, if the budget is for it: what was counted with this one is put aside first. */
static enum sample_event spend(struct sample_loop *loop)
{
	uint64_t before = loop->spending.period_ns;
	uint64_t period = spending_look(&loop->spending, loop->session);
	struct error err;

	tell_cost(loop);
	if (period == before)
		return SAMPLE_NONE;
	if (loop->options->verbosity > 0)
		fprintf(stderr,
			"%sbudget: %.4g Hz from here on: the programs take %.2f us a tick\n",
			loop->progress.shown ? "\r\033[K" : "", 1e9 / (double)period,
			loop->spending.cost.handler_ns / 1000);
	session_pause(loop->session);
	/* What could not be put aside is still there, with the period that it had. */
	if (result_put_aside(loop->result, loop->session))
		period = before;
	spending_change(&loop->spending, period);
	tell_cost(loop);
	if (!session_resume(loop->session, period, &err))
		return SAMPLE_NONE;
	print_error(&err);
	loop->result->failed = true;
	return SAMPLE_OVER;
}

static void set_dues(struct sample_loop *loop)
{
	uint64_t now = monotonic_ns();

	if (loop->options->interval_ns && !loop->cut_ns)
		loop->cut_ns = now + loop->options->interval_ns;
	if (loop->duration_ns && !loop->end_ns)
		loop->end_ns = now + loop->duration_ns;
}

enum sample_event sample_run(struct sample_loop *loop)
{
	enum sample_event event;

	set_dues(loop);
	if (!loop->spending.options)
		spending_begin(&loop->spending, loop->options, loop->session);
	progress_begin(&loop->progress, loop->session, loop->options->verbosity >= 0);
	do {
		event = wait_event(loop, timeout_of(loop));
		if (event == SAMPLE_NONE && loop->end_ns && monotonic_ns() >= loop->end_ns)
			event = SAMPLE_OVER;
		if (event == SAMPLE_NONE)
			event = spend(loop);
		if (event == SAMPLE_NONE)
			cut_when_due(loop);
		progress_update(&loop->progress);
	} while (event == SAMPLE_NONE);
	progress_end(&loop->progress);
	spending_finish(&loop->spending, loop->session);
	tell_cost(loop);
	return event;
}
