// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* The largest window, and 16 for gzip's header. */
#define WINDOW (MAX_WBITS + 16)

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

int gzip_bytes(const struct bytes *from, struct bytes *result)
{
	z_stream gz = { .next_in = (unsigned char *)from->data,
			.avail_in = (unsigned int)from->size };
	size_t room;
	int ret;

	*result = (struct bytes){ 0 };
	if (from->size > UINT_MAX / 2 ||
	    deflateInit2(&gz, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, 8, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	room = deflateBound(&gz, from->size);
	result->data = malloc(room);
	gz.next_out = (unsigned char *)result->data;
	gz.avail_out = (unsigned int)room;
	ret = result->data ? deflate(&gz, Z_FINISH) : Z_MEM_ERROR;
	result->size = gz.total_out;
	deflateEnd(&gz);
	return ret == Z_STREAM_END ? 0 : -ENOMEM;
}
