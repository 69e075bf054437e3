/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTROL_H
#define BPFPROFIL_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A FIFO with commands that begin and pause sampling, one a line, and another FIFO into which each
 * command is answered after it is done.
 */
struct control {
	int fd; /* -1: there is none */
	int answer_fd; /* -1: no answers are wanted */
	char line[64]; /* what has been read of the next command */
	size_t length;
	uint64_t refused; /* lines that were no command */
};

#define CONTROL_CLOSED ((struct control){ .fd = -1, .answer_fd = -1 })

enum control_command { CONTROL_NONE, CONTROL_START, CONTROL_STOP };

/* FIFO[,ANSWERS]; NULL: none. Call control_close() even after a failure. */
int control_open(struct control *control, const char *names, struct error *err);

/*
 * Returns the next command. CONTROL_NONE: there is none now, or *reads, which starts at
 * CONTROL_READS, is used up, so that a program which writes without pause cannot keep us here. An
 * unknown command has been reported to the user, unless there were CONTROL_REFUSALS of them.
 */
enum { CONTROL_READS = 16, CONTROL_REFUSALS = 10 };
enum control_command control_read(struct control *control, unsigned int *reads);

/* Answers the last command: it is done, or it failed. */
void control_answer(const struct control *control, int failed);

void control_close(struct control *control);

#endif
