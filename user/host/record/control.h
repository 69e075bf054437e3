/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTROL_H
#define BPFPROFIL_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A FIFO with commands that start and pause sampling, one per line, and another FIFO with an answer
 * after each command.
 */
struct control {
	int fd; /* -1: none */
	int answer_fd; /* -1: no answers */
	char line[64]; /* the next command so far */
	size_t length;
	uint64_t refused; /* unknown commands */
};

#define CONTROL_CLOSED ((struct control){ .fd = -1, .answer_fd = -1 })

enum control_command { CONTROL_NONE, CONTROL_START, CONTROL_STOP };

/* FIFO[,ANSWERS]; NULL: none. Call control_close() even after a failure. */
int control_open(struct control *control, const char *names, struct error *err);

/*
 * Returns the next command. CONTROL_NONE: there is none now, or *reads, which starts at
 * CONTROL_READS, is used up, so that a program that writes constantly cannot keep us here. An
 * unknown command was reported, except after CONTROL_REFUSALS of them.
 */
enum { CONTROL_READS = 16, CONTROL_REFUSALS = 10 };
enum control_command control_read(struct control *control, unsigned int *reads);

/* Answers the last command: it succeeded, or failed. */
void control_answer(const struct control *control, int failed);

void control_close(struct control *control);

#endif
