// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/sample_loop.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#ifndef __SANITIZE_ADDRESS__ /* whose malloc() is not the C library's */

enum { THREADS = 4, BLOCKS = 4096, BLOCK = 1024, LARGE = 8 << 20 };

static pthread_barrier_t together;

/* As a sink: many small blocks at once, of which only the last is kept. */
static void *take_and_free(void *ignored)
{
	static _Thread_local void *blocks[BLOCKS];
	size_t i;

	(void)ignored;
	pthread_barrier_wait(&together);
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK);
		cr_assert(blocks[i]);
		memset(blocks[i], 1, BLOCK);
	}
	pthread_barrier_wait(&together);
	for (i = 0; i + 1 < BLOCKS; i++)
		free(blocks[i]);
	return blocks[i];
}

static size_t count_arenas(void)
{
	cleanup_free char *text = NULL;
	const char *at;
	size_t size, nr = 0;
	FILE *stream = open_memstream(&text, &size);

	cr_assert(stream);
	cr_assert_eq(malloc_info(0, stream), 0);
	fclose(stream);
	for (at = text; (at = strstr(at, "<heap nr=")); at++)
		nr++;
	return nr;
}

static void run_threads(void *kept[THREADS])
{
	pthread_t threads[THREADS];
	size_t i;

	cr_assert_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, take_and_free, NULL), 0);
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], &kept[i]), 0);
	pthread_barrier_destroy(&together);
}

/* What a thread frees is there for others, and not kept in an arena of its own. */
Test(memory, threads_share_one_arena)
{
	void *kept[THREADS];
	size_t arenas, i;

	memory_keep_little();
	arenas = count_arenas(); /* the test's own threads have some */
	run_threads(kept);
	cr_assert_eq(count_arenas(), arenas);
	for (i = 0; i < THREADS; i++)
		free(kept[i]);
}

/* The largest block that was ever freed does not become a size that is kept. */
Test(memory, large_blocks_are_mapped)
{
	size_t i;

	memory_keep_little();
	for (i = 0; i < 2; i++) {
		void *block = malloc(LARGE);

		cr_assert(block);
		cr_assert_geq(mallinfo2().hblkhd, LARGE);
		free(block);
	}
	cr_assert_lt(mallinfo2().hblkhd, LARGE);
}

#endif
