/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_OBJECT_H
#define BENCH_OBJECT_H

#include <stdint.h>

#define OBJECT_PAGES 4

/* Does some microseconds of work in one page of text; takes and returns a random state. */
typedef uint64_t object_work(uint64_t state);

extern object_work *const object_pages[OBJECT_PAGES];

#endif
