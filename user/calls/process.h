/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROCESS_H
#define BPFPROFIL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A caller's address space, held by descriptors that are bound to it and not to the pid: after an
 * exec they reach nothing, and a new image, perhaps a set-uid one, is out of reach of what its
 * predecessor asked for.
 */
struct process {
	pid_t pid;
	int mem_fd; /* -1: not open */
	int maps_fd;
	uint64_t random_at; /* address of the image's random bytes */
	/* The mapping, or hole, looked at last; forgotten by process_look_anew. */
	uint64_t start;
	uint64_t end;
	bool writable;
	bool no_query; /* the kernel has no ioctl for it: before 6.11 */
};

enum { PROCESS_PROOF = 16 };

/*
 * Opens the address space of pid if it holds the proof where the kernel put it. -ESRCH: no such
 * process any more; -EPERM: another image. pointer is the size of its pointers.
 */
int process_open(struct process *process, pid_t pid, uint32_t pointer,
		 const uint8_t proof[PROCESS_PROOF]);

/* The same for the child of a fork: its random bytes are the parent's, at the same address. */
int process_open_forked(struct process *process, pid_t pid, uint64_t random_at,
			const uint8_t proof[PROCESS_PROOF]);

void process_close(struct process *process);

/* Mappings may have changed since they were looked at. */
void process_look_anew(struct process *process);

/*
 * How many bytes from address on are mapped for writing, size at most; -EFAULT when none is, -ESRCH
 * when the address space is gone. Writing through mem forces its way into read-only pages, so this
 * comes first.
 */
int64_t process_writable(struct process *process, uint64_t address, uint64_t size);

/* 0 when all of it is, -EFAULT when not, -ESRCH. */
int process_check(struct process *process, uint64_t address, uint64_t size);

/* Whole: 0, -EFAULT, -ESRCH. */
int process_read(const struct process *process, uint64_t address, void *to, size_t size);

/* As far as it goes: how many bytes, at least 1, or -EFAULT, -ESRCH. */
int64_t process_read_some(const struct process *process, uint64_t address, void *to, size_t size);
int64_t process_write_some(struct process *process, uint64_t address, const void *from,
			   size_t size);

#endif
