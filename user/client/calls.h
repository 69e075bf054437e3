/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_CALLS_H
#define BPFPROFIL_CLIENT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "bpfprofil/profil.h"
#include "shared/call_protocol.h"

/*
 * Everything else is built with -fvisibility=hidden. The linker's map must list exported names too.
 */
#define EXPORT __attribute__((visibility("default")))

/* The calls themselves. They neither set errno nor do what the drop-in library does in addition. */
struct outcome {
	long value; /* what the call returns; valid only without an error */
	int error; /* 0 or an errno */
	int served; /* 0: no server answered, and error says why */
	int known; /* the server knows this process, or its parent before the fork */
	struct call_state state; /* the server's reply, if it answered */
};

/* Dialect arguments are an enum dialect, or this for the process's. */
enum { DIALECT_CURRENT = -1 };

/*
 * Whether libc may count instead of a server. Without descriptors or in time, a server does not get
 * a call, but may be counting for an earlier one.
 */
int client_may_fall_back(const struct outcome *outcome);

struct outcome client_profil(int dialect, void *buf, size_t bufsiz, size_t offset,
			     unsigned long scale);
struct outcome client_sprofil(int dialect, struct prof *profp, int profcnt, struct timeval *tvp,
			      unsigned int flags);
struct outcome client_pcsample(void *samples, long nsamples);

/* op is CALL_SYNC or CALL_STATUS. */
struct outcome client_ask(uint16_t op);

/*
 * Returns as a C library function does: value, or -1 and errno. ENOSYS means that no server is
 * listening.
 */
long client_return(const struct outcome *outcome);

/*
 * Sends a request to the server that listens on path, and receives its reply. path is a file, or,
 * with a leading '@', an abstract name. If an abstract name begins with "bpfprofil-", the listener
 * must be root or this user. entries are the request's nr_entries; only the kernel reads them.
 *
 * Returns 0 if there is a reply, whatever it says, else -errno: -EFAULT for the entries, -ETIMEDOUT
 * for a server that does not answer, -EPROTO for a malformed reply, and errors of connect().
 */
int client_exchange(const char *path, const struct call_request *request,
		    const struct call_entry *entries, struct call_reply *reply);

/*
 * A program that may load BPF itself needs no server on the host. It starts one of its own:
 *
 * bpfprofil serve --private --socket @NAME --ready-fd N --for PID
 *
 * The server writes a byte to N when it is listening. It ends by itself when PID and all processes
 * that profile through it are gone. It is no child of the program: the program gets no SIGCHLD and
 * need not wait for it.
 *
 * The socket's name contains a random number that identifies the server. The child of a fork uses
 * its parent's server.
 */
enum { PRIVATE_NAME = 40 };

void private_server_name(uint64_t id, char name[PRIVATE_NAME]);

/* Returns 0 if there is none. */
uint64_t private_server(void);

/* Call this when the server does not answer any more. */
void private_server_forget(uint64_t id);

/* Whether this process may start one. */
int private_server_allowed(void);

/*
 * Starts a server, unless another thread is doing so. Returns its number, or 0. Signals must be
 * blocked.
 */
uint64_t private_server_start(const char *program);

#endif
