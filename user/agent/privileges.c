// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/sched_tick.h"

static uint64_t bit(unsigned int capability)
{
	return UINT64_C(1) << capability;
}

/*
 * BPF and PERFMON load the programs, again after each SIGHUP. SYS_PTRACE and DAC_READ_SEARCH open
 * files that other users' processes run, and CHECKPOINT_RESTORE those that were deleted or
 * replaced. SYSLOG reveals the kernel's addresses. If BPF or PERFMON is not permitted, as in a
 * container of a docker that does not know them, SYS_ADMIN replaces both.
 */
static uint64_t needed(const struct privileges *keep, uint64_t permitted)
{
	uint64_t set = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE) |
		       bit(CAP_DAC_READ_SEARCH) | bit(CAP_CHECKPOINT_RESTORE) | bit(CAP_SYSLOG);

	if (keep->admin || ~permitted & (bit(CAP_BPF) | bit(CAP_PERFMON)))
		set |= bit(CAP_SYS_ADMIN);
	if (keep->write_anywhere)
		set |= bit(CAP_DAC_OVERRIDE) | bit(CAP_CHOWN);
	return set;
}

/*
 * Dropping from the bounding set needs CAP_SETPCAP. An agent without it is not root, and could
 * regain nothing.
 */
static void bound(uint64_t keep)
{
	unsigned int capability;

	for (capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (!(keep & bit(capability)))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

int privileges_drop(const struct privileges *keep, struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint64_t set;
	unsigned int i;

	if (syscall(SYS_capget, &header, data))
		return error_errno(err, -errno, "agent: capabilities");
	set = needed(keep, data[0].permitted | (uint64_t)data[1].permitted << 32);
	bound(set);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_errno(err, -errno, "agent: capabilities");
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(set >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data))
		return error_errno(err, -errno, "agent: capabilities");
	return 0;
}

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

struct privileges privileges_for(const struct agent_options *options)
{
	struct privileges keep = { .admin = options->listen.address };
	const struct sink_options *sink = options->sinks, *end = sink + options->nr_sinks;
	struct sched_tick found;
	struct error ignored;

	if (options->sampling.source == SOURCE_CLOCK || sched_tick_find(&found, &ignored) ||
	    is_paranoid())
		keep.admin = true;
	for (; sink < end; sink++)
		if (is_others(sink->spool) || (sink->kind == SINK_DIR && is_others(sink->where)))
			keep.write_anywhere = true;
	/* Files of a user of sudo are given to that user. */
	if (getenv("SUDO_UID"))
		keep.write_anywhere = true;
	return keep;
}
