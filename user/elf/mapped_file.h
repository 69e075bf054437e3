/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPPED_FILE_H
#define BPFPROFIL_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A regular file in memory that its owner may write to or truncate while it is read: a page that is
 * gone reads as zeros instead of ending the process by SIGBUS. Parts that must not change between
 * two reads are copied first. Nothing else is copied, so a file may be larger than memory. One byte
 * behind the end may be read; it is zero.
 */
struct mapped_file {
	unsigned char *bytes; /* written to only where mapped_file_own() was called */
	size_t size;
};

/* fd stays the caller's and may be closed before the mapping. Returns 0 or -errno. */
int mapped_file_open(int fd, struct mapped_file *result);

/*
 * Copies the pages that hold these bytes, so that from now on only we change them: libelf notes in
 * a section's header that it unpacked the section. Returns 0 or -errno.
 */
int mapped_file_own(const struct mapped_file *file, uint64_t offset, uint64_t size);

void mapped_file_close(struct mapped_file *file); /* all zero is fine */

#endif
