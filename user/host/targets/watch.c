// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/util.h"
#include "host/targets/targets_impl.h"

struct target_watch {
	int epoll_fd; /* contains the other descriptors, and those of watched processes */
	int inotify_fd;
	int again_fd; /* an eventfd that makes the caller check again at once */
};

void target_watch_free(struct target_watch *watch)
{
	if (!watch)
		return;
	close_fd(&watch->epoll_fd);
	close_fd(&watch->inotify_fd);
	close_fd(&watch->again_fd);
	free(watch);
}

static int add_fd(const struct target_watch *watch, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Removes fd from epoll, too: closing is not enough if a forked child holds it open. */
static void remove_fd(const struct target_watch *watch, int *fd)
{
	if (*fd < 0)
		return;
	epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, *fd, NULL);
	close(*fd);
	*fd = -1;
}

static void look_again(const struct target_watch *watch)
{
	eventfd_write(watch->again_fd, 1);
}

static int add_inotify(const struct target_watch *watch, const char *path, uint32_t mask,
		       struct error *err)
{
	int ret;

	/* Siblings share the watch on their parent. */
	if (inotify_add_watch(watch->inotify_fd, path, mask | IN_MASK_ADD) >= 0)
		return 0;
	ret = -errno;
	/* The cgroup is gone already, as targets_left() will find. */
	if (ret == -ENOENT)
		return 0;
	error_errno(err, ret, "inotify: %s", path);
	if (ret == -ENOSPC)
		error_hint(err, "sysctl fs.inotify.max_user_watches=65536");
	return ret;
}

/*
 * By experiment: kernfs reports a removal to a watch on the parent directory, but not
 * (IN_DELETE_SELF) to one on the directory itself. It also reports changes of cgroup.events, which
 * only version 2 has.
 */
static int watch_cgroup(const struct target_watch *watch, const struct target_origin *origin,
			struct error *err)
{
	cleanup_free char *directory = cgroup_directory(origin->place->mount, origin->place->path);
	char path[PATH_MAX];
	int ret = 0;

	if (!directory)
		return error_errno(err, -ENOMEM, "%s", origin->typed);
	/* A root has no parent that could report its removal. */
	if (strcmp(directory, origin->place->mount->where) != 0) {
		snprintf(path, sizeof(path), "%s/..", directory);
		ret = add_inotify(watch, path, IN_DELETE | IN_ONLYDIR, err);
	}
	if (!ret && origin->ends_empty && cgroup_mount_is_v2(origin->place->mount)) {
		snprintf(path, sizeof(path), "%s/cgroup.events", directory);
		ret = add_inotify(watch, path, IN_MODIFY, err);
	}
	return ret;
}

/* Returns 0 if the process ended before it could be watched; 1 if it is watched, or cannot be. */
static int open_member(pid_t pid, void *argument)
{
	struct target_origin *origin = argument;

	/*
	 * The process is in another pid namespace. Therefore only the removal of the cgroup will be
	 * reported.
	 */
	if (!pid)
		return 1;
	origin->member_fd = process_fd(pid);
	return origin->member_fd >= 0 || errno != ESRCH;
}

/*
 * Version 1 does not report that a cgroup is empty. Watch one process in it, usually the oldest,
 * and when that ends, look for another.
 */
static void watch_member(const struct target_watch *watch, struct target_origin *origin)
{
	int found;

	remove_fd(watch, &origin->member_fd);
	found = cgroup_place_each_process(origin->place, open_member, origin);
	if (!found)
		look_again(watch);
	else if (origin->member_fd >= 0)
		add_fd(watch, origin->member_fd);
}

/* Counts processes that have not ended, and closes the others, which would keep epoll readable. */
static size_t count_watched(const struct target_watch *watch, struct target_origin *origin)
{
	size_t i, nr = 0;

	for (i = 0; i < origin->nr_pid_fds; i++) {
		if (origin->pid_fds[i] >= 0 && process_has_ended(origin->pid_fds[i]) > 0)
			remove_fd(watch, &origin->pid_fds[i]);
		nr += origin->pid_fds[i] >= 0;
	}
	return nr;
}

static bool has_ended(const struct target_watch *watch, struct target_origin *origin)
{
	if (origin->nr_pid_fds)
		return !count_watched(watch, origin);
	if (!origin->place)
		return false;
	if (!cgroup_place_is_there(origin->place))
		return true;
	if (!origin->ends_empty)
		return false;
	if (cgroup_mount_is_v2(origin->place->mount))
		return !cgroup_place_is_populated(origin->place);
	if (origin->member_fd >= 0 && process_has_ended(origin->member_fd) <= 0)
		return false;
	if (!cgroup_place_is_populated(origin->place))
		return true;
	watch_member(watch, origin);
	return false;
}

static int watch_processes(const struct target_watch *watch, const struct target_origin *origin,
			   struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < origin->nr_pid_fds; i++)
		ret = add_fd(watch, origin->pid_fds[i]);
	return ret ? error_errno(err, ret, "%s", origin->typed) : 0;
}

static int watch_all(struct targets *targets, struct error *err)
{
	struct target_watch *watch = targets->watch;
	size_t i;
	int ret = add_fd(watch, watch->inotify_fd) ?: add_fd(watch, watch->again_fd);

	if (ret)
		return error_errno(err, ret, "epoll");
	for (i = 0; !ret && i < targets->nr; i++) {
		struct target_origin *origin = &targets->origins[i];

		if (origin->place)
			ret = watch_cgroup(watch, origin, err);
		else
			ret = watch_processes(watch, origin, err);
	}
	/* Check for targets that ended before they were watched. */
	look_again(watch);
	return ret;
}

static bool ever_ends(const struct target_origin *origin)
{
	return origin->nr_pid_fds || origin->place;
}

int targets_watch(struct targets *targets, int *ret_fd, struct error *err)
{
	struct target_watch *watch;
	size_t i;

	*ret_fd = -1;
	for (i = 0; i < targets->nr && !ever_ends(&targets->origins[i]);)
		i++;
	if (i == targets->nr)
		return 0;
	watch = malloc(sizeof(*watch));
	if (!watch)
		return error_errno(err, -ENOMEM, "targets");
	targets->watch = watch;
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch->again_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->epoll_fd < 0 || watch->inotify_fd < 0 || watch->again_fd < 0)
		return error_errno(err, -errno, "inotify");
	*ret_fd = watch->epoll_fd;
	return watch_all(targets, err);
}

static void drain_events(const struct target_watch *watch)
{
	char events[4096] __attribute__((aligned(8)));
	eventfd_t ignored;

	while (read(watch->inotify_fd, events, sizeof(events)) > 0)
		;
	eventfd_read(watch->again_fd, &ignored);
}

size_t targets_left(struct targets *targets)
{
	size_t i, left = 0;

	/* Drain the descriptor first, so that events during the check make it readable again. */
	if (targets->watch)
		drain_events(targets->watch);
	for (i = 0; i < targets->nr; i++) {
		struct target_origin *origin = &targets->origins[i];

		if (targets->watch && !origin->ended && has_ended(targets->watch, origin)) {
			remove_fd(targets->watch, &origin->member_fd);
			origin->ended = true;
		}
		left += !origin->ended;
	}
	return left;
}

const char *targets_next_ended(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr; i++) {
		struct target_origin *origin = &targets->origins[i];

		if (!origin->ended || origin->announced)
			continue;
		origin->announced = true;
		return origin->typed;
	}
	return NULL;
}
