// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/kernel_btf.h"
#include "host/engine/maps.h"
#include "host/engine/programs.h"
#include "host/engine/session_impl.h"

#define ATTACH_PASSES 100

static size_t count_kind(const struct session_options *options, enum target_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < options->nr_targets; i++)
		n += options->targets[i].kind == kind;
	return n;
}

int session_add_targets(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	const char *controller = options->cgroup_controller;
	uint32_t i;

	if (options->nr_targets > TARGETS_MAX)
		return error_set(err, -E2BIG, "%zu targets: no more than %d at once",
				 options->nr_targets, TARGETS_MAX);
	session->by_cgroup = options->split == SPLIT_CGROUP || count_kind(options, TARGET_CGROUP);
	session->controller = controller ? strdup(controller) : NULL;
	session->targets = calloc(options->nr_targets, sizeof(*session->targets));
	if (!session->targets || (controller && !session->controller))
		return error_no_memory(err, "targets");
	for (i = 0; i < options->nr_targets; i++) {
		const struct target *from = &options->targets[i];
		struct session_target *to = &session->targets[i];

		session->nr_targets++;
		to->kind = from->kind;
		to->name = strdup(from->name);
		to->cgroup = from->path ? strdup(from->path) : NULL;
		if (!to->name || (from->path && !to->cgroup))
			return error_no_memory(err, "targets");
	}
	return 0;
}

/*
 * A controller's index in the kernel's sets of cgroups. It is read from this kernel, because
 * kernels are built with different controllers.
 */
static int controller_number(const char *controller, struct error *err)
{
	const struct kernel_btf *btf;
	char name[64];
	size_t i;
	int ret = kernel_btf_read(&btf, err);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%s_cgrp_id", strcmp(controller, "blkio") ? controller : "io");
	for (i = 0; i < btf->nr_controllers; i++)
		if (!strcmp(btf->controllers[i].name, name))
			return btf->controllers[i].index;
	return error_set(err, -EOPNOTSUPP, "cgroup controller %s: not in this kernel", controller);
}

static size_t count_target_processes(const struct session_options *options)
{
	size_t i, n = count_kind(options, TARGET_PID);

	for (i = 0; i < options->nr_targets; i++)
		n += options->targets[i].nr_others;
	return n;
}

static void size_maps(struct session *session)
{
	const struct session_options *options = &session->options;
	const size_t cgroups = count_kind(options, TARGET_CGROUP);
	struct host_bpf *skel = session->skel;

	map_set_entries(skel->maps.target_accounts, session->nr_targets);
	map_set_entries(skel->maps.attached, count_target_processes(options));
	map_set_entries(skel->maps.cgroup_targets, cgroups);
	if (!cgroups)
		map_set_entries(skel->maps.cgroup_known, 1);
}

int session_configure_targets(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	struct host_bpf *skel = session->skel;
	uint32_t i;
	int number;

	skel->rodata->cgroup_wanted = count_kind(options, TARGET_CGROUP) > 0;
	for (i = 0; i < options->nr_targets; i++)
		if (options->targets[i].kind == TARGET_SYSTEM)
			skel->rodata->system_target = i;
	if (session->controller) {
		number = controller_number(session->controller, err);
		if (number < 0)
			return number;
		skel->rodata->cgroup_controller = number;
	}
	bpf_program__set_autoload(skel->progs.profil_attach, count_kind(options, TARGET_PID) > 0);
	bpf_program__set_autoload(skel->progs.profil_move, session->by_cgroup);
	/* If only places are targets, a child is found by its place, like any other thread. */
	bpf_program__set_autoload(skel->progs.profil_fork, count_kind(options, TARGET_COMMAND) ||
								   count_kind(options, TARGET_PID));
	bpf_program__set_autoload(skel->progs.profil_rename,
				  options->split == SPLIT_PROCESS ||
					  options->split == SPLIT_THREAD);
	size_maps(session);
	return 0;
}

static int pid_open(pid_t pid, struct error *err)
{
	int fd = process_fd(pid);

	return fd < 0 ? error_errno(err, -errno, "process %d", pid) : fd;
}

static int follow_command(struct session *session, uint32_t number, pid_t pid, struct error *err)
{
	struct follow follow = { .target = number, .flags = FOLLOW_FROM_EXEC };
	cleanup_fd int fd = pid_open(pid, err);
	int ret;

	if (fd < 0)
		return fd;
	ret = task_storage_set(bpf_map__fd(session->skel->maps.follows), fd, &follow);
	return ret ? error_errno(err, ret, "following process %d", pid) : 0;
}

static int enter_pid(struct session *session, const struct attached *as, pid_t pid,
		     struct error *err)
{
	uint32_t key = pid;
	int ret = bpf_map_update_elem(bpf_map__fd(session->skel->maps.attached), &key, as,
				      BPF_NOEXIST);

	/* A process that several targets name belongs to the first of them. */
	return ret && ret != -EEXIST ? error_errno(err, ret, "following process %d", pid) : 0;
}

static int enter_pids(struct session *session, uint32_t number, const struct target *target,
		      struct error *err)
{
	struct attached as = { .target = number };
	size_t i;
	int ret;

	if (target->no_children)
		as.flags = FOLLOW_NO_CHILDREN;
	ret = enter_pid(session, &as, target->pid, err);
	for (i = 0; i < target->nr_others && !ret; i++)
		ret = enter_pid(session, &as, target->others[i], err);
	return ret;
}

int session_enter_cgroups(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	int fd = bpf_map__fd(session->skel->maps.cgroup_targets), ret = 0;
	uint32_t i;

	for (i = 0; i < options->nr_targets && !ret; i++) {
		const struct target *target = &options->targets[i];

		if (target->kind != TARGET_CGROUP)
			continue;
		ret = bpf_map_update_elem(fd, &target->cgroup, &i, BPF_NOEXIST);
		if (ret)
			error_errno(err, ret, "cgroup %s", target->name);
	}
	return ret;
}

/*
 * Finds the threads of all pids and of their children by a pass over all threads of the host,
 * because lists in /proc may change while they are read. A child of a followed process inherits its
 * record. The next pass finds children of processes that were not followed yet, and threads whose
 * record the kernel refused. Without memory that would repeat forever, hence a limit.
 */
static int attach_pids(struct session *session, struct error *err)
{
	struct cpu_time *cpu_time = &session->skel->bss->cpu_time;
	int ret, pass = 0;

	do {
		cpu_time->attached = 0;
		ret = programs_walk(session->skel->progs.profil_attach, 0, err);
	} while (!ret && cpu_time->attached && ++pass < ATTACH_PASSES);
	return ret;
}

/* After the walk each process must have a record, unless it has ended or there was no memory. */
static int check_pid(struct session *session, pid_t pid, struct error *err)
{
	cleanup_fd int fd = pid_open(pid, err);
	struct follow follow;

	if (fd < 0)
		return fd;
	if (!bpf_map_lookup_elem(bpf_map__fd(session->skel->maps.follows), &fd, &follow))
		return 0;
	if (errno != ENOENT)
		return error_errno(err, -errno, "following process %d", pid);
	/* It may have been reaped since it was opened. */
	if (kill(pid, 0) && errno == ESRCH)
		return error_errno(err, -ESRCH, "process %d", pid);
	return error_set(err, -ENOMEM,
			 "following process %d: no memory for its record, or hidden from BPF", pid);
}

/* If some of several processes have ended by now, one record is enough. */
static int check_pids(struct session *session, const struct target *target, struct error *err)
{
	int ret = check_pid(session, target->pid, err);
	struct error ignored;
	size_t i;

	for (i = 0; ret && i < target->nr_others; i++)
		ret = check_pid(session, target->others[i], &ignored);
	return ret;
}

int session_follow_targets(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	bool pids = false;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < options->nr_targets && !ret; i++) {
		const struct target *target = &options->targets[i];

		if (target->kind == TARGET_COMMAND)
			ret = follow_command(session, i, target->pid, err);
		else if (target->kind == TARGET_PID)
			ret = enter_pids(session, i, target, err);
		pids = pids || target->kind == TARGET_PID;
	}
	if (!ret && pids)
		ret = attach_pids(session, err);
	for (i = 0; i < options->nr_targets && !ret; i++)
		if (options->targets[i].kind == TARGET_PID)
			ret = check_pids(session, &options->targets[i], err);
	return ret;
}
