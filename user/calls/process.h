/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROCESS_H
#define BPFPROFIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A caller's address space, held by descriptors that are bound to it and not to the pid. After an
 * exec they reach nothing, so a request for the old image cannot touch the new one, which may be a
 * set-user-ID program.
 */
struct process {
	pid_t pid;
	int mem_fd; /* -1: not open */
	int maps_fd;
	uint64_t random_at; /* address of the image's random bytes */
	/* The mapping or hole that was looked at last; forgotten by process_look_anew(). */
	uint64_t start;
	uint64_t end;
	bool writable;
	bool no_query; /* the kernel has no ioctl for mappings: before 6.11 */
};

enum { PROCESS_PROOF = 16 };

/*
 * Opens the address space of pid if it holds the proof where the kernel put it. -ESRCH: the process
 * is gone; -EPERM: it is another image. pointer is the size of its pointers.
 */
int process_open(struct process *process, pid_t pid, uint32_t pointer,
		 const uint8_t proof[PROCESS_PROOF]);

/* The same for the child of a fork, whose random bytes are its parent's, at the same address. */
int process_open_forked(struct process *process, pid_t pid, uint64_t random_at,
			const uint8_t proof[PROCESS_PROOF]);

/* Whether its descriptors may be kept; see fd_may_stay(). */
bool process_may_stay(const struct process *process);

void process_close(struct process *process);

/*
 * Its mappings from the first one on, as in /proc/PID/maps; one such stream at a time. NULL: out of
 * memory.
 */
FILE *process_maps(const struct process *process);

/* Call when mappings may have changed since they were looked at. */
void process_look_anew(struct process *process);

/*
 * How many bytes from address on, at most size, are mapped for writing; -EFAULT: none, -ESRCH: the
 * address space is gone. This must be checked first, because a write through mem succeeds even in
 * read-only pages.
 */
int64_t process_writable(struct process *process, uint64_t address, uint64_t size);

/* Returns 0 if all of it is mapped for writing, -EFAULT if not, or -ESRCH. */
int process_check(struct process *process, uint64_t address, uint64_t size);

/* Reads all of it. Returns 0, -EFAULT or -ESRCH. */
int process_read(const struct process *process, uint64_t address, void *to, size_t size);

/* Read or write as much as possible. Return the number of bytes, at least 1, or -EFAULT, -ESRCH. */
int64_t process_read_some(const struct process *process, uint64_t address, void *to, size_t size);
int64_t process_write_some(struct process *process, uint64_t address, const void *from,
			   size_t size);

#endif
