/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLS_H
#define BPFPROFIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shared/call_protocol.h"

/*
 * profil(), sprofil() and pcsample() for other processes: programs in the kernel count, and what
 * they counted is added to the callers' buffers some 50 ms later, or at once when a call ends or a
 * caller asks. Nothing runs and nobody wakes up while nobody profiles.
 */
struct calls_options {
	uint64_t memory; /* bytes of kernel memory, a hard limit */
	uint32_t max_calls; /* at the same time, of all users */
	/* Of one user; root's are those of all. */
	uint32_t user_calls;
	uint32_t user_regions;
	uint64_t user_memory;
	bool restrict_fast; /* PROF_FAST is for root alone */
	bool record; /* keep what was counted, for calls_finish */
	void (*stuck)(uid_t uid); /* told of a user that is dropped; NULL: nobody is */
};

struct calls;
struct job;
struct worker;

/* Defaults for a host. */
void calls_options_init(struct calls_options *options);

int calls_open(const struct calls_options *options, struct calls **ret, struct error *err);

/* Readable when calls_poll has something to do. */
int calls_fd(const struct calls *calls);
int calls_poll(struct calls *calls, struct error *err);

/*
 * Has a job done in the thread of the user that a process is, for what is theirs may keep it waiting. For the main
 * thread. -EAGAIN: too many wait there already; -EDQUOT: too many users.
 */
int calls_give(struct calls *calls, pid_t pid, uid_t uid, struct job *job);

/*
 * In a job: whether this is the worker that answers the process, until the job is done; else the one
 * that is. NULL: too many users.
 */
struct worker *calls_worker(struct worker *worker, pid_t pid, uid_t uid);

/*
 * There: carries out a request that pid, of user uid by what the kernel says, sent: size bytes of
 * anything. Fills in the reply, whatever happens. Returns the call that it put in force; 0: none.
 */
uint64_t calls_request(struct worker *worker, pid_t pid, uid_t uid,
		       const struct call_request *request, size_t size, struct call_reply *reply);

/* Ends a call whose process has not waited for the answer. 0, or one that is no more, is fine. */
void calls_withdraw(struct worker *worker, uint64_t made);

/* How many processes have a call in force. */
size_t calls_active(const struct calls *calls);

/* Ends all calls: a profile with a target for each so far. Needs the option record. */
int calls_finish(struct calls *calls, struct profile **ret, struct error *err);

/*
 * NULL is fine. False: a user keeps a thread waiting, which no signal may end, and this process with
 * it; nothing counts any more, but memory stays.
 */
bool calls_close(struct calls *calls);

#endif
