/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SERVE_H
#define TEST_SERVE_H

#include "child.h"

/* A `bpfprofil serve` of the test's own, on a socket in a folder of its own. */
struct serve {
	char dir[64]; /* everybody may look into it */
	char path[96]; /* of the socket */
	struct child child;
	pid_t pid; /* of its process that serves; that of child waits for it */
};

/* options: ARGS(...) beside --socket. Returns when programs can connect. */
void serve_begin(struct serve *serve, const char *const options[]);

/* The process of one that was started otherwise. */
void serve_find(struct serve *serve);

/* By SIGTERM. Asserts that it had nothing to say. */
void serve_stop(struct serve *serve);

/* By SIGKILL: its socket stays. */
void serve_kill(struct serve *serve);

/* Another one at the same path, which the one before has left or had to leave. */
void serve_again(struct serve *serve, const char *const options[]);

/* Removes the folder; the server is stopped already. */
void serve_clean(struct serve *serve);

/* Both. */
void serve_end(struct serve *serve);

/* How many of the server's descriptors there are, or of those that a name is in; -1: no such server. */
int serve_descriptors(const struct serve *serve, const char *name);

/* How many of its threads wait in a function of the kernel's; -1: no such server. */
int serve_waiting(const struct serve *serve, const char *function);

/* A number from a file of the server's in /proc, behind a name; -1: there is none. */
long serve_number(const struct serve *serve, const char *file, const char *name);

/* A file in the folder; the text lives until the next but three calls. */
const char *serve_file(const struct serve *serve, const char *name);

#endif
