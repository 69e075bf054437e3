// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/batch.h"

#include <errno.h>

/*
 * Shortens a batch to the counters that are complete within so many bytes. If not even the first
 * one is, the failure is that one's alone.
 */
static int shorten_batch(struct batch *batch, uint32_t width, int64_t bytes)
{
	if (bytes == -ESRCH)
		return -ESRCH;
	if (bytes < (int64_t)width) {
		batch->nr = 1;
		return -EFAULT;
	}
	if (batch->nr > (uint64_t)bytes / width)
		batch->nr = (uint64_t)bytes / width;
	return 0;
}

int batch_read(struct caller *caller, uint64_t address, uint8_t *values, struct batch *batch)
{
	uint32_t width = caller->spec->width;
	int ret;

	ret = shorten_batch(batch, width,
			    process_writable(&caller->process, address, batch->nr * width));
	if (!ret)
		ret = shorten_batch(batch, width,
				    process_read_some(&caller->process, address, values,
						      batch->nr * width));
	return ret;
}

int batch_write(struct caller *caller, uint64_t address, const uint8_t *values, struct batch *batch)
{
	uint32_t width = caller->spec->width;

	return shorten_batch(batch, width,
			     process_write_some(&caller->process, address, values,
						batch->nr * width));
}

void batch_note_failure(struct caller *caller, const struct batch *batch, int failure)
{
	if (failure == -EFAULT)
		caller->faulted = batch->entry;
	else if (failure == -ESRCH)
		caller->gone = true;
}
