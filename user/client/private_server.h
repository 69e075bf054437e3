/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_PRIVATE_SERVER_H
#define BPFPROFIL_CLIENT_PRIVATE_SERVER_H

#include <stdint.h>

/*
 * A program that may load BPF itself needs no server of the host: it starts one of its own,
 *
 *	bpfprofil serve --private --socket @NAME --ready-fd N --for PID
 *
 * which writes a byte to N when it listens, and ends by itself when PID and all that profile
 * through it are gone. It is nobody's child: the program gets no SIGCHLD and waits for nobody.
 *
 * One is known by a random number that is its socket's name. A fork's child uses its parent's.
 */
enum { PRIVATE_NAME = 40 };

void private_server_name(uint64_t id, char name[PRIVATE_NAME]);

/* 0: none. */
uint64_t private_server(void);

/* It does not answer any more. */
void private_server_forget(uint64_t id);

/* Whether this process could have one. */
int private_server_allowed(void);

/* Starts one, unless another thread is at it: its number, or 0. Signals must be blocked. */
uint64_t private_server_start(const char *program);

#endif
