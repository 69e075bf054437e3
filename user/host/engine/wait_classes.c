// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/wait_classes.h"

#include <stdio.h>

#include "profile/waits.h"
#include "shared/waits_abi.h"

static const char *const reasons[] = {
	[WAIT_RUNNABLE] = PROFILE_WAITS_RUNNABLE,
	[WAIT_FAULT] = "page fault",
	[WAIT_STOPPED] = "stopped",
	[WAIT_TRACED] = "traced",
	[WAIT_FROZEN] = "frozen",
	[WAIT_VFORK] = "vfork",
	[WAIT_CORE_DUMP] = "core dump",
	[WAIT_IO_WORKER] = "io worker",
	[WAIT_KTHREAD] = "kernel thread",
	[WAIT_OTHER] = "other",
};

/* The build writes these: by number, for this processor's programs and for 32-bit ones. */
static const char *const syscalls[] = {
#include "syscalls.h"
};

static const char *const compat_syscalls[] = {
#include "syscalls_compat.h"
	NULL, /* on arm64 there are none, because no header has their numbers */
};

#define NR(list) (sizeof(list) / sizeof(*(list)))

const char *wait_class_name(uint32_t state, char text[WAIT_CLASS_BYTES])
{
	const uint32_t number = (state & ~(uint32_t)WAIT_COMPAT) - WAIT_SYSCALL;
	const char *name = NULL;

	if (state < NR(reasons))
		name = reasons[state];
	else if (state & WAIT_COMPAT)
		name = number < NR(compat_syscalls) ? compat_syscalls[number] : NULL;
	else
		name = number < NR(syscalls) ? syscalls[number] : NULL;
	if (name)
		snprintf(text, WAIT_CLASS_BYTES, "%.31s", name);
	else
		snprintf(text, WAIT_CLASS_BYTES, "syscall %u%s", number,
			 state & WAIT_COMPAT ? " (32-bit)" : "");
	return text;
}
