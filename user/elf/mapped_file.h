/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPPED_FILE_H
#define BPFPROFIL_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A regular file in memory, to be read while whoever it belongs to may write to it, or cut it
 * short: a page that is gone reads as zeros instead of ending the process by SIGBUS. What must not
 * change between two looks at it is made our own first. Nothing is copied else, so that a file may
 * be larger than memory. A byte behind the end may be read: it is zero.
 */
struct mapped_file {
	unsigned char *bytes; /* not to be written to, but what is our own */
	size_t size;
};

/* fd stays the caller's and may be closed before the mapping is. 0 or -errno. */
int mapped_file_open(int fd, struct mapped_file *ret);

/*
 * These bytes, and what else is on their pages, change only by our own hand from now on: libelf notes
 * in a section's header that it unpacked it. 0 or -errno.
 */
int mapped_file_own(const struct mapped_file *file, uint64_t offset, uint64_t size);

void mapped_file_close(struct mapped_file *file); /* all zero is fine */

#endif
