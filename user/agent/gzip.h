/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_GZIP_H
#define BPFPROFIL_GZIP_H

#include <stddef.h>

/* Bytes in allocated memory. */
struct bytes {
	char *data;
	size_t size;
};

void bytes_free(struct bytes *bytes);

/* Compresses by gzip. The caller frees *result in any case. Returns 0 or -ENOMEM. */
int gzip_bytes(const struct bytes *from, struct bytes *result);

#endif
