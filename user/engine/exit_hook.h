/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXIT_HOOK_H
#define BPFPROFIL_EXIT_HOOK_H

/*
 * Where an exiting thread can be seen while it still has its address space. The tracepoint
 * sched_process_exit comes before exit_mm since "exit: move and extend sched_process_exit()
 * tracepoint" (6.16), which also gave it the argument that tells. Before that, the entry of
 * exit_mm_release; where the kernel cannot trace functions, nowhere in time.
 */
enum exit_hook {
	EXIT_HOOK_TRACEPOINT,
	EXIT_HOOK_FUNCTION,
	EXIT_HOOK_LATE, /* the tracepoint, but ticks of exit are lost */
};

/* An enum exit_hook, or a negative errno. Reads the kernel's BTF, some milliseconds. */
int exit_hook_find(void);

#endif
