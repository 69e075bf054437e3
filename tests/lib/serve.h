/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SERVE_H
#define TEST_SERVE_H

#include "child.h"

/* A `bpfprofil serve` of the test's own, on a socket in its own folder. */
struct serve {
	char dir[64]; /* everybody may read it */
	char path[96]; /* of the socket */
	struct child child;
	pid_t pid; /* of the process that serves; that of child only waits for it */
};

/* options: ARGS(...) in addition to --socket. Returns when programs can connect. */
void serve_begin(struct serve *serve, const char *const options[]);

/* Finds the serving process of a server that was started in another way. */
void serve_find(struct serve *serve);

/* What it printed after the line that says that it is ready. */
const char *serve_said(const struct child_end *end);

/* Stops it by SIGTERM. Asserts that it printed nothing more. */
void serve_stop(struct serve *serve);

/* Kills it by SIGKILL, so its socket stays. */
void serve_kill(struct serve *serve);

/* Starts another one on the same path, after the first has ended. */
void serve_again(struct serve *serve, const char *const options[]);

/* Removes the folder; the server must be stopped already. */
void serve_clean(struct serve *serve);

/* Stops the server and removes the folder. */
void serve_end(struct serve *serve);

/*
 * How many descriptors the server has, or how many whose target contains name; -1: there is no such
 * server.
 */
int serve_descriptors(const struct serve *serve, const char *name);

/* How many of its threads wait in a function of the kernel; -1: there is no such server. */
int serve_waiting(const struct serve *serve, const char *function);

/* The number after a name in one of the server's files in /proc; -1: there is none. */
long serve_number(const struct serve *serve, const char *file, const char *name);

/* A file in the folder; the text stays valid for three more calls. */
const char *serve_file(const struct serve *serve, const char *name);

#endif
