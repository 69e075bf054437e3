/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXIT_HOOK_H
#define BPFPROFIL_EXIT_HOOK_H

#include "base/error.h"

/*
 * Where an exiting thread can be seen while it still has its address space. The tracepoint
 * sched_process_exit comes before exit_mm since "exit: move and extend sched_process_exit()
 * tracepoint" (6.16), which also added the argument that we recognise it by. On older kernels it is
 * the entry of exit_mm_release; where the kernel cannot trace functions, there is no such place.
 */
enum exit_hook {
	EXIT_HOOK_TRACEPOINT,
	EXIT_HOOK_FUNCTION,
	EXIT_HOOK_LATE, /* the tracepoint, but ticks during exit are lost */
};

/* Returns an enum exit_hook, or a negative errno if the kernel's BTF cannot be read. */
int exit_hook_find(struct error *err);

#endif
