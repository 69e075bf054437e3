/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPPED_FILE_H
#define BPFPROFIL_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A regular file in memory that its owner may change or truncate during reading. A missing page
 * reads as zeros, and does not end the process by SIGBUS. Parts that must not change between two
 * reads are copied first. Nothing else is copied. Therefore files may be larger than memory. One
 * byte after the end may be read; it is zero.
 */
struct mapped_file {
	unsigned char *bytes; /* write only after mapped_file_own() */
	size_t size;
};

/* The caller keeps fd, and may close it before the mapping. Returns 0 or -errno. */
int mapped_file_open(int fd, struct mapped_file *result);

/*
 * Copies the pages with these bytes, so that only we can change them. libelf, for example, records
 * in a section's header that it unpacked the section. Returns 0 or -errno.
 */
int mapped_file_own(const struct mapped_file *file, uint64_t offset, uint64_t size);

void mapped_file_close(struct mapped_file *file); /* all zero is fine */

#endif
