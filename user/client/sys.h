/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_SYS_H
#define BPFPROFIL_CLIENT_SYS_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * System calls that return -errno on failure. libc's functions are not used: they are cancellation
 * points, run hooks (fork), or keep some signals from being blocked.
 */
static inline long sys_result(long ret)
{
	return ret == -1 ? -errno : ret;
}

#define SYS(name, ...) sys_result(syscall(SYS_##name, __VA_ARGS__))

/*
 * While signals are blocked they do not interrupt a call. But if a socket has a timeout, stopping
 * and continuing the process interrupts it.
 */
#define SYS_RETRY(name, ...)                                                                       \
	({                                                                                         \
		long sys_ret_;                                                                     \
		do {                                                                               \
			sys_ret_ = SYS(name, __VA_ARGS__);                                         \
		} while (sys_ret_ == -EINTR);                                                      \
		sys_ret_;                                                                          \
	})

/* The kernel's signal set. libc's is larger and leaves out libc's own signals. */
typedef unsigned long sys_signals;

static inline sys_signals sys_block_signals(void)
{
	sys_signals all = ~0UL, before = 0;

	SYS(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, sizeof(all));
	return before;
}

static inline void sys_restore_signals(sys_signals before)
{
	SYS(rt_sigprocmask, 2, &before, NULL, sizeof(before));
}

/*
 * Returns 0 if [at, at + size), at most a page, can be written to, else -EFAULT. The kernel tries
 * it with an atomic "or 0" through a futex call, which does not change the contents.
 */
int sys_writable(const void *at, unsigned long size);

#endif
