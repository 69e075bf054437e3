/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/*
 * libfault.so, for LD_PRELOAD: makes one call of the program fail. A call is identified by its
 * class and its stack, as a hash over addresses in the modules, so a plan is valid in the next run
 * too.
 *
 *	FAULT=CLASS:HASH:N	the N-th call of this class and stack fails
 *	FAULT=CLASS:HASH:N+	and all calls of this class after it
 *	FAULT_ERRNO=N		with another errno than the class has
 *	FAULT_REPORT=FILE	what was seen, at exit:
 *
 *	fired N			how many calls were made to fail
 *	site CLASS HASH N ENTRY	once for each stack: N calls came that way; only without a plan. ENTRY
 *				is the stack from the program's innermost frame on: HASH if the
 *				program itself made the call, else the same for all calls that a
 *				library makes in one of the program's
 *	at MODULE+OFFSET NAME	the stack of the first that failed; written at once
 *	program ID		each BPF program that was loaded
 *	fd N NAME		a descriptor that is open at the end and was not at the start
 *
 * Children are not affected: fork ends it, and the variables are removed from the environment.
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

/* Whether this call must fail; then errno is set. error is the errno unless the plan has one. */
bool fault_due(enum fault_class class, int error);

/* Calls that the shim makes in between, in this thread, are not the program's. */
void fault_pause(void);
void fault_resume(void);

/* From here on nothing fails and nothing is recorded. */
void fault_end(void);

void fault_program(int fd);

#endif
