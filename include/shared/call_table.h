/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_TABLE_H
#define BPFPROFIL_CALL_TABLE_H

#include "shared/dialect.h"
#include "shared/types.h"

/*
 * The region of a pc in a call. Overlaps, equal offsets and pcs beyond a region's last counter are
 * resolved when the call is made, and not at each tick. The pcs from 0 to 2^64 - 1 are cut into
 * segments, and each segment belongs to one region, to the overflow bin or to no region.
 *
 * The last pcs of the segments are searched as a tree whose nodes are cache lines of eight keys,
 * because most lines that a tick reads are in no cache. Below the tree each segment has a line of
 * its own, with all that counting needs.
 *
 *     regions   segments at most   lines that a tick reads
 *           1                  3   2
 *          64                129   4
 *       4,096              8,193   6
 *
 * A plain binary search over the segments is some 50 lines shorter and as fast with 64 regions, but
 * slower with 4,096.
 *
 * The lines of all tables are in one array, and each table's lines are contiguous from its base.
 */
enum {
	CALL_NODE_SHIFT = 3,
	CALL_NODE_KEYS = 1 << CALL_NODE_SHIFT,
	CALL_LEVELS = 5, /* 8^5 segments; 2 * DIALECT_REGIONS_MAX + 1 are needed */
	CALL_SEGMENTS_MAX = 2 * DIALECT_REGIONS_MAX + 1,
};

#define CALL_NO_LINE 0xffffffffU

/* For CALL_NOBODY `counters` is 0, so that no pc has a bin there. */
enum call_region_kind { CALL_NOBODY, CALL_REGION, CALL_OVERFLOW };

/* A segment's line: its region, and which pcs are in it. */
struct call_region {
	__u64 offset;
	__u64 counters; /* of the region; a larger bin is outside of it */
	__u64 first; /* number of the region's first counter among all of the call */
	struct dialect_factor factor;
	__u32 number; /* of the region, as the caller listed it */
	__u32 kind; /* enum call_region_kind */
	__u64 start; /* the segment's first and last pc */
	__u64 last;
};

/*
 * Where the counters of a region are in the caller's memory. It is found by the number of the first
 * one.
 */
struct call_buffer {
	__u64 first;
	__u64 base;
};

enum { CALL_LINE_BUFFERS = 4 };

struct call_line {
	union {
		__u64 last[CALL_NODE_KEYS]; /* last pcs of the children; unused ones are 2^64 - 1 */
		struct call_region region;
		struct call_buffer buffers[CALL_LINE_BUFFERS];
	};
};

struct call_table {
	__u32 base; /* its first line */
	__u32 depth; /* levels of nodes above the segments; 0: there is a single segment */
	__u32 level[CALL_LEVELS + 1]; /* first line of each from base; [depth]: the segments */
	__u32 buffers; /* first line of the regions' buffers, from base */
	__u16 nr_buffers;
	__u16 width; /* bytes of a counter */
};

#define CALL_TABLE_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
CALL_TABLE_SIZE(struct dialect_factor, 16);
CALL_TABLE_SIZE(struct call_line, 64);
CALL_TABLE_SIZE(struct call_buffer, 16);
CALL_TABLE_SIZE(struct call_table, 40);

/*
 * CALL_LINE(lines, number) returns a pointer to a line, or NULL. `lines` is the container as it was
 * given to call_table_find(), `number` a variable. A file whose lines are in a map defines this
 * before it includes this header.
 */
#ifndef CALL_LINE
#define CALL_LINE(lines, number) (&(lines)[number])
#define CALL_LINES const struct call_line *
#else
#define CALL_LINES void *
#endif

/*
 * 1 if a < b, without a branch, because the verifier would follow both sides. The asm hides from
 * clang that the result is 0 or 1: otherwise clang makes a branch of it again, or drops masks that
 * 6.1's verifier needs.
 */
static inline __u64 call_less(__u64 a, __u64 b)
{
	__u64 less = ((a >> 1) - (b >> 1) - (~a & b & 1)) >> 63;

	__asm__("" : "+r"(less));
	return less;
}

/*
 * The first key that is not below pc. There always is one, because the node above chose this node
 * by it.
 */
static inline __attribute__((always_inline)) __u32 call_node_find(const __u64 *last, __u64 pc)
{
	__u64 at = call_less(last[3], pc) << 2;

	at = (at & 4) + (call_less(last[(at & 4) + 1], pc) << 1);
	return at + call_less(last[at & 6], pc);
}

/* The line of the segment that holds pc; CALL_NO_LINE: a line of the table is missing. */
static inline __attribute__((always_inline)) __u32 call_table_search(const struct call_table *table,
								     CALL_LINES lines, __u64 pc)
{
	const struct call_line *line;
	__u32 level, number, index = 0;

	for (level = 0; level < CALL_LEVELS; level++) {
		if (level >= table->depth)
			break;
		number = table->base + table->level[level] + index;
		line = CALL_LINE(lines, number);
		if (!line)
			return CALL_NO_LINE;
		index = (index << CALL_NODE_SHIFT) + call_node_find(line->last, pc);
	}
	return table->base + table->level[level] + index;
}

/* The region that a pc belongs to, which may be of kind CALL_NOBODY; NULL: a line is missing. */
static inline __attribute__((always_inline)) const struct call_region *
call_table_find(const struct call_table *table, CALL_LINES lines, __u64 pc)
{
	__u32 number = call_table_search(table, lines, pc);
	const struct call_line *line = (const struct call_line *)0;

	if (number != CALL_NO_LINE)
		line = CALL_LINE(lines, number);
	return line ? &line->region : (const struct call_region *)0;
}

/* Whether a pc is in a segment that was found for another pc. */
static inline __u32 call_region_covers(const struct call_region *region, __u64 pc)
{
	return pc - region->start <= region->last - region->start;
}

/*
 * The bin of a pc in the region that call_table_find() returned for it. If it is not below
 * `counters`, the pc has none.
 */
static inline __u64 call_region_bin(const struct call_region *region, __u64 pc)
{
	return dialect_bin(&region->factor, pc - region->offset);
}

#endif
