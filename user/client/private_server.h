/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_PRIVATE_SERVER_H
#define BPFPROFIL_CLIENT_PRIVATE_SERVER_H

#include <stdint.h>

/*
 * A program that may load BPF itself needs no server on the host: it starts one of its own,
 *
 *	bpfprofil serve --private --socket @NAME --ready-fd N --for PID
 *
 * which writes a byte to N when it is listening, and ends by itself when PID and all processes that
 * profile through it are gone. It is nobody's child: the program gets no SIGCHLD and has nobody to
 * wait for.
 *
 * Its socket's name contains a random number that identifies it. A fork's child uses its parent's
 * server.
 */
enum { PRIVATE_NAME = 40 };

void private_server_name(uint64_t id, char name[PRIVATE_NAME]);

/* Returns 0 if there is none. */
uint64_t private_server(void);

/* Call when it does not answer any more. */
void private_server_forget(uint64_t id);

/* Whether this process may start one. */
int private_server_allowed(void);

/*
 * Starts one, unless another thread is doing so; returns its number, or 0. Signals must be blocked.
 */
uint64_t private_server_start(const char *program);

#endif
