/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Runs a program as a shell would and keeps its output. All functions fail the test themselves if
 * the machine refuses something (a pipe, a fork), so callers only check what the program did.
 */

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct child {
	pid_t pid;
	int out; /* read ends of pipes */
	int err;
};

struct child_end {
	int status; /* as in the shell: 128 + n after signal n, 127 if there is no such program */
	char *out; /* NUL-terminated, like err */
	size_t out_len;
	char *err;
	size_t err_len;
};

/* input is the program's standard input; NULL: empty. */
void child_start(struct child *child, const char *input, const char *const argv[]);

/* Reads to the end, waits, and fills in end; free it with child_end_free(). */
void child_finish(struct child *child, struct child_end *end);

void child_run(struct child_end *end, const char *input, const char *const argv[]);
void child_end_free(struct child_end *end);

/* The same for a command that must succeed, and of which nothing else is of interest. */
void child_do(const char *const argv[]);

/* The exit status that a shell reports for a wait status. */
int child_shell_status(int wait_status);

/* The state letter of /proc/PID/stat, or 0 if there is no such process. */
char process_state(pid_t pid);

/* Whether its main thread has this name. */
bool process_is_called(pid_t pid, const char *name);

/* CPU time of all threads, including those that have ended. */
double process_cpu_ns(pid_t pid);

/* Returns when the process has had so much more CPU time, however long that takes. */
void process_wait_cpu(pid_t pid, double seconds);

/* Returns true as soon as condition(argument) is, or false if it still is not after a long time. */
bool eventually(bool (*condition)(void *argument), void *argument);

/* Reads a number that another process writes into a file, and waits until it is there. */
long number_in_file(const char *path);

#endif
