// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/privileges.h"

#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/sched_tick.h"

static bool is_others(const char *folder)
{
	struct stat st;

	return folder && !stat(folder, &st) && st.st_uid != geteuid();
}

/* Above 2, kernels of some distributions deny perf events to CAP_PERFMON. */
static bool is_paranoid(void)
{
	char line[16];

	return !read_first_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)) &&
	       atoi(line) > 2;
}

/* Run time of BPF programs, and perf events if they are restricted. */
static bool needs_admin(const struct agent_options *options)
{
	struct sched_tick found;
	struct error ignored;

	return options->listen.address || options->sampling.source == SOURCE_CLOCK ||
	       sched_tick_find(&found, &ignored) || is_paranoid();
}

/* Folders and files of other users. Files of a user of sudo are given to that user. */
static bool writes_anywhere(const struct agent_options *options)
{
	const struct sink_options *sink = options->sinks, *end = sink + options->nr_sinks;

	for (; sink < end; sink++)
		if (is_others(sink->spool) || (sink->kind == SINK_DIR && is_others(sink->where)))
			return true;
	return getenv("SUDO_UID");
}

/*
 * BPF and PERFMON load the programs, again after each SIGHUP. SYS_PTRACE and DAC_READ_SEARCH open
 * files that other users' processes run, and CHECKPOINT_RESTORE those that were deleted or
 * replaced. SYSLOG reveals the kernel's addresses. If BPF or PERFMON is not permitted, as in a
 * container of a docker that does not know them, SYS_ADMIN replaces both.
 */
int privileges_drop(const struct agent_options *options, struct error *err)
{
	const uint64_t bpf = RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON);
	uint64_t set = bpf | RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH) |
		       RIGHT(CAP_CHECKPOINT_RESTORE) | RIGHT(CAP_SYSLOG);
	int ret;

	if (needs_admin(options) || ~permitted_rights() & bpf)
		set |= RIGHT(CAP_SYS_ADMIN);
	if (writes_anywhere(options))
		set |= RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_CHOWN);
	ret = keep_rights(set);
	return ret ? error_errno(err, ret, "agent: capabilities") : 0;
}
