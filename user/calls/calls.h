/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLS_H
#define BPFPROFIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "calls/call_state.h"
#include "profile/profile.h"
#include "shared/call_protocol.h"

/*
 * profil(), sprofil() and pcsample() for other processes. Programs in the kernel count. The counts
 * are added to the callers' buffers some 50 ms later, or at once when a call ends or asks. Without
 * calls, nothing runs and nothing wakes up.
 */
/* Sets the defaults for a host. */
void calls_options_init(struct calls_options *options);

int calls_open(const struct calls_options *options, struct calls **result, struct error *err);

/* Readable if calls_poll() has work. */
int calls_fd(const struct calls *calls);
int calls_poll(struct calls *calls, struct error *err);

/*
 * Runs a job in the thread of the process's user, because a user's memory may block. Call it from
 * the main thread. -EAGAIN: too many jobs are waiting there; -EDQUOT: too many users.
 */
int calls_enqueue(struct calls *calls, pid_t pid, uid_t uid, struct job *job);

/*
 * For jobs: the worker that serves the process until the job is done, maybe the current one. NULL:
 * too many users.
 */
struct worker *calls_worker(struct worker *worker, pid_t pid, uid_t uid);

/*
 * For jobs: handles a request of size bytes, which may be anything, from pid of user uid, as the
 * kernel says. Always fills in the reply. Returns the new call; 0: none.
 */
uint64_t calls_request(struct worker *worker, pid_t pid, uid_t uid,
		       const struct call_request *request, size_t size, struct call_reply *reply);

/* Ends a call whose process did not wait for the reply. made may be 0, or a call that has ended. */
void calls_withdraw(struct worker *worker, uint64_t made);

/* The number of processes with a call. */
size_t calls_active(const struct calls *calls);

/*
 * Ends all calls, and makes a profile with a target for each call so far. Requires the option
 * record.
 */
int calls_finish(struct calls *calls, struct profile **result, struct error *err);

/*
 * NULL is fine. False: a user blocks a thread that no signal can end, and thus this process too.
 * Counting has stopped, but memory is not freed.
 */
bool calls_close(struct calls *calls);

#endif
