/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/*
 * libfault.so, by LD_PRELOAD: makes one call of the program fail. A call is known by its class and
 * its stack, as a hash over addresses in the modules, so a plan holds in the next run too.
 *
 *	FAULT=CLASS:HASH:N	the N-th call of this class and stack fails
 *	FAULT=CLASS:HASH:N+	and all calls of this class after it
 *	FAULT_ERRNO=N		with another errno than the class has
 *	FAULT_REPORT=FILE	what was seen, at exit:
 *
 *	fired N			how many calls were made to fail
 *	site CLASS HASH N	once for each stack: N calls came that way
 *	at MODULE+OFFSET NAME	the stack of the first that failed; this is there at once
 *	program ID		each BPF program that was loaded
 *	fd N NAME		a descriptor that is open at the end and was not at the start
 *
 * Nothing of it reaches a child: fork ends it, and the variables are gone from the environment.
 */
enum fault_class {
	FAULT_MEMORY, /* malloc and what calls it: strdup, asprintf, fopen, opendir ... */
	FAULT_OPEN,
	FAULT_PERF,
	FAULT_BPF,
	FAULT_FILE, /* what writes and publishes a file */
	FAULT_CALL, /* other system calls: mmap, pipe2, fork ... */
	FAULT_CLASSES,
};

/* True when this call is to fail; errno is set then. error: the errno unless the plan has one. */
bool fault_due(enum fault_class class, int error);

/* What the library calls in between, in this thread, is not the program's. */
void fault_pause(void);
void fault_resume(void);

/* From here on nothing fails and nothing is recorded. */
void fault_end(void);

void fault_program(int fd);

#endif
