// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t bit(unsigned int capability)
{
	return UINT64_C(1) << capability;
}

/*
 * BPF and PERFMON load the programs, and load them again after SIGHUP. SYS_PTRACE and DAC_READ_SEARCH
 * open the files that processes of all users run, and CHECKPOINT_RESTORE those of them that were
 * deleted or replaced. SYSLOG shows the kernel's addresses.
 */
static uint64_t needed(const struct privileges *keep)
{
	uint64_t set = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE) |
		       bit(CAP_DAC_READ_SEARCH) | bit(CAP_CHECKPOINT_RESTORE) | bit(CAP_SYSLOG);

	if (keep->admin)
		set |= bit(CAP_SYS_ADMIN);
	if (keep->write_anywhere)
		set |= bit(CAP_DAC_OVERRIDE) | bit(CAP_CHOWN);
	return set;
}

/* This needs CAP_SETPCAP. An agent that lacks it is not root, and has nothing to get back. */
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
	uint64_t set = needed(keep);
	unsigned int i;

	bound(set);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capget, &header, data))
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
