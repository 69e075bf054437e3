// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The events that wake the agent's loop: timers, scrapes, and changes of the file of options. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/run.h"
#include "base/notify.h"
#include "base/output.h"
#include "base/regular_file.h"
#include "base/util.h"

/* Opens a timer with the watchdog's period. */
static int open_timer(struct run *run, struct error *err)
{
	struct itimerspec every = { 0 };

	watchdog_init(&run->watchdog);
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->timer_fd < 0)
		return error_errno(err, -errno, "agent: timer");
	if (run->watchdog.period_ms > 0) {
		every.it_interval.tv_sec = run->watchdog.period_ms / 2 / 1000;
		every.it_interval.tv_nsec = run->watchdog.period_ms / 2 % 1000 * 1000000L + 1;
		every.it_value = every.it_interval;
	}
	timerfd_settime(run->timer_fd, 0, &every, NULL);
	return 0;
}

/*
 * Watch the folder: editors replace a file by another one of its name, and Kubernetes replaces a
 * ConfigMap by another target of a symbolic link. Without a watch, SIGHUP still works.
 */
static void open_watch(struct run *run)
{
	char *folder = run->options->config ? strdup(run->options->config) : NULL;

	run->watch_fd = folder ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
	if (run->watch_fd >= 0 && inotify_add_watch(run->watch_fd, dirname(folder),
						    IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO) < 0)
		close_fd(&run->watch_fd);
	free(folder);
}

static int add_wake(const struct run *run, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 ? 0 : epoll_ctl(run->wake_fd, EPOLL_CTL_ADD, fd, &event);
}

static void open_save_timer(struct run *run)
{
	if (run->agent->state.fd < 0)
		return;
	run->save_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	run_plan_save(run, 0);
}

int run_open_wake(struct run *run, struct error *err)
{
	int ret = open_timer(run, err);

	if (ret)
		return ret;
	open_watch(run);
	open_save_timer(run);
	if (run->options->listen.address) {
		ret = scrapes_open(&run->scrapes, err);
		run->has_scrapes = true;
	}
	if (ret)
		return ret;
	run->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (run->wake_fd < 0 || add_wake(run, run->timer_fd) || add_wake(run, run->watch_fd) ||
	    add_wake(run, run->save_fd) || add_wake(run, identities_fd(run->agent->identities)) ||
	    (run->has_scrapes &&
	     (add_wake(run, run->scrapes.event_fd) || add_wake(run, run->scrapes.timer_fd))))
		return error_errno(err, -errno, "agent: epoll");
	run->loop.ended_fd = run->wake_fd;
	return 0;
}

static void feed_watchdog(struct run *run)
{
	uint64_t expired;
	bool due = false;

	if (read(run->timer_fd, &expired, sizeof(expired)) != sizeof(expired))
		return;
	watchdog_feed(&run->watchdog, &due);
	if (due)
		notify(NOTIFY_WATCHDOG);
}

/*
 * Warn as soon as the first pod was seen: otherwise only the backend would show that pods have no
 * names.
 */
static void say_nameless(struct run *run)
{
	struct agent *agent = run->agent;

	if (agent->said_nameless || run->options->sampling.verbosity < 0 ||
	    !identities_lack_logs(agent->identities))
		return;
	print_message("-v /var/log:/var/log:ro, or the hostPath /var/log",
		      "agent: pods run here, but have no names: there is no " LOGS_OF_PODS);
	agent->said_nameless = true;
}

void run_wake(struct run *run)
{
	uint64_t expired;

	feed_watchdog(run);
	if (run->save_fd >= 0 && read(run->save_fd, &expired, sizeof(expired)) > 0)
		run_save_shown(run);
	identities_look_again(run->agent->identities);
	say_nameless(run);
	if (!run->has_scrapes)
		return;
	/* A failure is reported, and its ticks go into the next part. */
	if (scrapes_due(&run->scrapes))
		result_put_aside(&run->result, run->loop.session);
	scrapes_update(&run->scrapes);
	if (scrapes_want_times(&run->scrapes)) {
		run_save_shown(run);
		scrapes_have_times(&run->scrapes);
	}
}

/*
 * Ignore other changes in the folder. While a file is being replaced, it is missing, or empty until
 * it is written: with --listen, an empty file would mean options without any sink.
 */
bool run_is_reconfigured(const struct run *run)
{
	char changes[4096];
	struct stat now;

	if (run->watch_fd < 0)
		return false;
	while (read(run->watch_fd, changes, sizeof(changes)) > 0)
		;
	return !stat(run->options->config, &now) && now.st_size &&
	       !regular_file_is_same(&now, &run->options->config_read);
}
