/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HELPER_PROCESS_H
#define BPFPROFIL_HELPER_PROCESS_H

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Children that run this program again by a hidden command, for work that must not happen in this
 * process. Nobody waits for them: a child that blocks in the kernel on a user's file system cannot
 * end until that answers, even if it is killed.
 */
enum { ABANDONED_MAX = 64 };

/*
 * Starts a helper. Its standard input is one end of a socket of this type, and it has no other
 * descriptors. Its environment only has what libraries need, and no tokens. argument may be NULL.
 * Returns the other end, or -errno with *pid 0.
 */
int helper_start(const char *command, const char *argument, int type, pid_t *pid);

/*
 * The helper itself calls this first. It keeps only these capabilities, see keep_rights(), for
 * example those that reading another user's process needs. Returns 0 or -errno.
 */
int helper_prepare(const char *name, uint64_t few);
#define HELPER_RIGHTS                                                                              \
	(RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_CHECKPOINT_RESTORE))

/*
 * Like sendmsg() and recvmsg(), with descriptors; -1: none. The receiver owns them. fds NULL: the
 * kernel drops them.
 */
enum { HELPER_FDS = 2 };
ssize_t helper_send(int socket, struct iovec *parts, size_t nr, const int fds[HELPER_FDS],
		    int flags);
ssize_t helper_receive(int socket, void *bytes, size_t size, int fds[HELPER_FDS]);

/* Kills a helper. */
void helper_abandon(pid_t pid);

/*
 * Reaps helpers that have ended, and returns how many killed ones have not. At ABANDONED_MAX, do
 * not start more.
 */
size_t helpers_abandoned(void);

#endif
