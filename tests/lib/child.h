/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Runs a program as a shell would and keeps what it says. Everything here fails the test itself
 * when the machine refuses (no pipe, no fork), so callers only look at the program's own doing.
 */

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct child {
	pid_t pid;
	int out; /* read ends */
	int err;
};

struct child_end {
	int status; /* as in the shell: 128 + n after signal n, 127 when there is no such program */
	char *out; /* NUL-terminated, as is err */
	size_t out_len;
	char *err;
	size_t err_len;
};

/* input: what the program reads as its standard input; NULL: nothing. */
void child_start(struct child *child, const char *input, const char *const argv[]);

/* Reads to the end, waits, and fills end, which child_end_free() releases. */
void child_finish(struct child *child, struct child_end *end);

void child_run(struct child_end *end, const char *input, const char *const argv[]);
void child_end_free(struct child_end *end);

/* The exit status of a wait status, as the shell says it. */
int child_shell_status(int wait_status);

/* The state letter of /proc/PID/stat, or 0 when there is no such process. */
char process_state(pid_t pid);

/* True as soon as condition(argument) is; false when it still is not after a generous while. */
bool eventually(bool (*condition)(void *argument), void *argument);

/* Reads a number that another process writes into a file; waits for it to be there. */
long number_in_file(const char *path);

#endif
