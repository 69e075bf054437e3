/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROCESS_H
#define BPFPROFIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A caller's address space, through descriptors that are bound to it and not to the pid. After an
 * exec they do not work any more. A request of the old program therefore cannot touch the new one,
 * which may be a set-user-ID program.
 */
struct process {
	pid_t pid;
	int mem_fd; /* -1: not open */
	int maps_fd;
	uint64_t random_at; /* address of the image's random bytes */
	/* The last mapping or hole that was found; process_look_anew() clears it. */
	uint64_t start;
	uint64_t end;
	bool writable;
	bool no_query; /* the kernel has no ioctl for mappings: before 6.11 */
};

enum { PROCESS_PROOF = 16 };

/*
 * Opens the address space of pid, if it has the proof where the kernel put it. -ESRCH: the process
 * is gone; -EPERM: it is another program. pointer is the size of its pointers.
 */
int process_open(struct process *process, pid_t pid, uint32_t pointer,
		 const uint8_t proof[PROCESS_PROOF]);

/* Does the same for a forked child, which has its parent's random bytes at the same address. */
int process_open_forked(struct process *process, pid_t pid, uint64_t random_at,
			const uint8_t proof[PROCESS_PROOF]);

/* Whether its descriptors may stay open; see fd_may_stay(). */
bool process_may_stay(const struct process *process);

void process_close(struct process *process);

/* Streams its mappings as in /proc/PID/maps; one stream at a time. NULL: out of memory. */
FILE *process_maps(const struct process *process);

/* Call it when mappings may have changed. */
void process_look_anew(struct process *process);

/*
 * Returns how many bytes from address on, at most size, are writable. -EFAULT: none; -ESRCH: the
 * address space is gone. Check this before writing, because a write through mem succeeds even in
 * read-only pages.
 */
int64_t process_writable(struct process *process, uint64_t address, uint64_t size);

/* Returns 0 if all bytes are writable, -EFAULT if not, or -ESRCH. */
int process_check(struct process *process, uint64_t address, uint64_t size);

/* Reads all bytes. Returns 0, -EFAULT or -ESRCH. */
int process_read(const struct process *process, uint64_t address, void *to, size_t size);

/* Read or write as much as possible. Return the number of bytes, at least 1, or -EFAULT, -ESRCH. */
int64_t process_read_some(const struct process *process, uint64_t address, void *to, size_t size);
int64_t process_write_some(struct process *process, uint64_t address, const void *from,
			   size_t size);

#endif
