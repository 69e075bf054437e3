// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/region_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/*
 * Prints BIN LOW HIGH. If another region has some pcs of the bin, LOW and HIGH limit the range
 * around this pc.
 */
static void print_bin(FILE *out, const struct call_region *region, uint64_t pc)
{
	uint64_t bin = call_region_bin(region, pc);
	uint64_t low = region->offset + (uint64_t)dialect_first(&region->factor, bin), high;

	if (__builtin_add_overflow(region->offset, dialect_last(&region->factor, bin), &high) ||
	    high > region->last)
		high = region->last;
	if (low < region->start)
		low = region->start;
	fprintf(out, "%" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64 "\n", bin, low, high);
}

/* Why no counter of profil() counts the pc. For sprofil() there is one word for all reasons. */
static const char *nobody(const struct region_call *call, const struct region_table *table,
			  uint64_t pc)
{
	if (call->sprofil)
		return "outside";
	if (table->stops)
		return "off";
	return pc < call->entries[0].offset ? "below" : "beyond";
}

void bin_text_print(FILE *out, const struct region_call *call, const struct region_table *table,
		    uint64_t pc)
{
	const struct call_region *region = call_table_find(&table->table, table->lines, pc);

	fprintf(out, "0x%" PRIx64 " ", pc);
	if (region->kind == CALL_OVERFLOW) {
		fputs("overflow\n", out);
	} else if (region->kind == CALL_NOBODY) {
		fprintf(out, "%s\n", nobody(call, table, pc));
	} else {
		if (call->sprofil)
			fprintf(out, "%" PRIu32 " ", region->number);
		print_bin(out, region, pc);
	}
}

/* sprofil()'s flags from <sys/profil.h>. */
enum { FLAG_UINT = 1, FLAG_FAST = 2 };

/* An entry with a valid scale, whose offset no earlier entry has. */
struct active_region {
	uint64_t offset;
	uint64_t last; /* the last counter's pc; below offset without counters */
	uint64_t counters;
	uint64_t reach; /* how many counters a pc can reach */
	struct dialect_factor factor;
	uint32_t number;
};

/* A range of pcs, up to the start of the next one. */
struct segment {
	uint64_t start;
	const struct active_region *region; /* NULL: outside of all regions */
};

struct compiler {
	const struct region_call *call;
	const struct call_entry *overflow; /* NULL: none */
	struct active_region *regions; /* by offset */
	size_t nr_regions;
	struct segment *segments;
	size_t nr_segments;
	struct active_region **open; /* stack of regions around the pc; the last counts it */
	size_t nr_open;
};

int region_call_width(uint32_t dialect, int64_t count, uint32_t profil_flags)
{
	if (count < 0 || count > DIALECT_REGIONS_MAX || (count == 0 && dialect == DIALECT_IRIX))
		return -E2BIG;
	if (profil_flags & ~(uint32_t)(FLAG_UINT | FLAG_FAST))
		return -EINVAL;
	return profil_flags & FLAG_UINT ? 4 : 2;
}

static uint32_t class_of(const struct region_call *call, const struct call_entry *entry)
{
	return dialect_class(call->dialect, call->sprofil, entry->offset, entry->scale);
}

int region_call_check(const struct region_call *call, size_t *ret_entry)
{
	bool last_only = dialect_rule(call->dialect)->beyond == BEYOND_OVERFLOW;
	uint32_t class;
	size_t i;

	for (i = 0; i < call->nr; i++) {
		class = class_of(call, &call->entries[i]);
		if (class == CLASS_INVALID ||
		    (class == CLASS_OVERFLOW && last_only && i + 1 < call->nr)) {
			*ret_entry = i;
			return -EINVAL;
		}
	}
	return 0;
}

static void add_region(struct compiler *c, const struct call_entry *entry)
{
	struct active_region *region = &c->regions[c->nr_regions++];
	const struct region_call *call = c->call;
	uint64_t span;

	*region = (struct active_region){
		.offset = entry->offset,
		.counters = dialect_counters(entry->size, call->width),
		.factor = dialect_factor(call->dialect, call->width, entry->scale),
		.number = (uint32_t)(entry - call->entries),
	};
	if (!region->counters)
		return;
	span = dialect_last(&region->factor, region->counters - 1);
	if (__builtin_add_overflow(region->offset, span, &region->last))
		region->last = UINT64_MAX;
}

static void add_regions(struct compiler *c, struct region_table *table)
{
	const struct call_entry *entry = c->call->entries;
	size_t i;

	table->stops = true;
	for (i = 0; i < c->call->nr; i++, entry++) {
		uint32_t class = class_of(c->call, entry);

		if (class == CLASS_OFF)
			continue;
		table->stops = false;
		if (!entry->size)
			continue;
		if (class == CLASS_REGION)
			add_region(c, entry);
		else if (!c->overflow && dialect_counters(entry->size, c->call->width))
			c->overflow = entry;
	}
}

DEFINE_COMPARE_2(compare_regions, struct active_region, offset, number)

/* Of entries with equal offsets, only the first counts. */
static void sort_regions(struct compiler *c)
{
	size_t i, stay = 0;

	SORT(c->regions, c->nr_regions, compare_regions);
	for (i = 0; i < c->nr_regions; i++)
		if (!stay || c->regions[stay - 1].offset != c->regions[i].offset)
			c->regions[stay++] = c->regions[i];
	c->nr_regions = stay;
}

/* Assigns pcs from start on to region. A later cut at the same start replaces an earlier one. */
static void cut_segment(struct compiler *c, uint64_t start, const struct active_region *region)
{
	if (c->nr_segments && c->segments[c->nr_segments - 1].start == start)
		c->nr_segments--;
	if (c->nr_segments && c->segments[c->nr_segments - 1].region == region)
		return;
	c->segments[c->nr_segments++] = (struct segment){ start, region };
}

static const struct active_region *innermost(const struct compiler *c)
{
	return c->nr_open ? c->open[c->nr_open - 1] : NULL;
}

/* Removes regions that end before start. */
static void close_regions(struct compiler *c, uint64_t start)
{
	uint64_t end;

	while (c->nr_open && c->open[c->nr_open - 1]->last < start) {
		end = c->open[--c->nr_open]->last + 1;
		while (c->nr_open && c->open[c->nr_open - 1]->last < end)
			c->nr_open--;
		cut_segment(c, end, innermost(c));
	}
}

/*
 * Visits offsets in ascending order. A region covers earlier ones around it. After its end, glibc
 * returns to the innermost region that continues. irix only checks the largest offset. Therefore it
 * finds none.
 */
static void sweep(struct compiler *c)
{
	bool looks_on = dialect_rule(c->call->dialect)->beyond == BEYOND_OUTER_REGION;
	struct active_region *region;
	size_t i;

	cut_segment(c, 0, NULL);
	for (i = 0; i < c->nr_regions; i++) {
		region = &c->regions[i];
		close_regions(c, region->offset);
		if (!looks_on)
			c->nr_open = 0;
		if (region->counters)
			c->open[c->nr_open++] = region;
		cut_segment(c, region->offset, innermost(c));
	}
	close_regions(c, UINT64_MAX);
}

static uint64_t segment_last(const struct compiler *c, size_t i)
{
	return i + 1 < c->nr_segments ? c->segments[i + 1].start - 1 : UINT64_MAX;
}

/* Numbers the counters: one for an overflow bin, and for a region as many as its segments reach. */
static int number_counters(const struct compiler *c, struct region_table *table)
{
	const struct active_region *region;
	uint64_t *firsts, *count;
	size_t i;

	firsts = calloc(c->call->nr + 1, sizeof(*firsts));
	if (!firsts)
		return -ENOMEM;
	for (i = 0; i < c->nr_segments; i++) {
		region = c->segments[i].region;
		if (!region)
			continue;
		count = &firsts[region->number + 1];
		*count = dialect_bin(&region->factor, segment_last(c, i) - region->offset) + 1;
	}
	if (c->overflow)
		firsts[c->overflow - c->call->entries + 1] = 1;
	for (i = 0; i < c->call->nr; i++)
		if (__builtin_add_overflow(firsts[i], firsts[i + 1], &firsts[i + 1]))
			firsts[i + 1] = UINT64_MAX;
	table->firsts = firsts;
	table->counters = firsts[c->call->nr];
	table->nr = c->call->nr;
	table->overflow = c->overflow ? (size_t)(c->overflow - c->call->entries) : table->nr;
	return 0;
}

static void fill_segment(const struct compiler *c, const uint64_t *firsts, size_t i,
			 struct call_region *line)
{
	const struct active_region *region = c->segments[i].region;

	line->start = c->segments[i].start;
	line->last = segment_last(c, i);
	line->factor.after = 16;
	if (region) {
		line->kind = CALL_REGION;
		line->number = region->number;
		line->offset = region->offset;
		line->counters = region->counters;
		line->factor = region->factor;
	} else if (c->overflow) {
		line->kind = CALL_OVERFLOW;
		line->number = (uint32_t)(c->overflow - c->call->entries);
		line->counters = 1;
	}
	line->first = firsts[line->number];
}

/* The number of nodes in the level above one with nr lines. */
static uint32_t nodes_above(uint32_t nr)
{
	return (nr + CALL_NODE_KEYS - 1) / CALL_NODE_KEYS;
}

/*
 * Computes the start of each level: the root first, the segments last. Returns the number of lines.
 */
static uint32_t plan_levels(struct call_table *table, uint32_t nr_segments)
{
	uint32_t nodes[CALL_LEVELS + 1], line = 0, i;

	nodes[0] = nr_segments;
	for (i = 0; nodes[i] > 1; i++)
		nodes[i + 1] = nodes_above(nodes[i]);
	table->depth = i;
	for (i = 0; i <= table->depth; i++) {
		table->level[i] = line;
		line += nodes[table->depth - i];
	}
	return line;
}

/* The last pc below a line of a level; for a node, that of its last child. */
static uint64_t last_below(const struct region_table *table, uint32_t level, uint32_t line)
{
	return level == table->table.depth ? table->lines[line].region.last :
					     table->lines[line].last[CALL_NODE_KEYS - 1];
}

/* Fills in the keys of a level from the level below. */
static void fill_level(struct region_table *table, uint32_t level)
{
	uint32_t from = table->table.level[level + 1], to = table->table.level[level], i;
	uint32_t below = level + 1 == table->table.depth ? table->nr_lines :
							   table->table.level[level + 2];

	memset(&table->lines[to], 0xff, (from - to) * sizeof(*table->lines));
	for (i = 0; i < below - from; i++)
		table->lines[to + i / CALL_NODE_KEYS].last[i % CALL_NODE_KEYS] =
			last_below(table, level + 1, from + i);
}

static int fill_lines(const struct compiler *c, struct region_table *table)
{
	struct call_line *lines;
	uint32_t level;
	size_t i;

	table->nr_lines = plan_levels(&table->table, (uint32_t)c->nr_segments);
	lines = aligned_alloc(sizeof(*lines), table->nr_lines * sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	memset(lines, 0, table->nr_lines * sizeof(*lines));
	table->lines = lines;
	lines += table->table.level[table->table.depth];
	for (i = 0; i < c->nr_segments; i++)
		fill_segment(c, table->firsts, i, &lines[i].region);
	for (level = table->table.depth; level-- > 0;)
		fill_level(table, level);
	return 0;
}

static int compile_regions(struct compiler *c, struct region_table *table)
{
	int ret;

	add_regions(c, table);
	sort_regions(c);
	sweep(c);
	ret = number_counters(c, table);
	return ret ?: fill_lines(c, table);
}

int region_table_compile(const struct region_call *call, struct region_table *result)
{
	struct compiler c = { .call = call };
	struct region_table table = { 0 };
	size_t nr = call->nr, refused;
	int ret;

	if (nr > DIALECT_REGIONS_MAX)
		return -E2BIG;
	ret = region_call_check(call, &refused);
	if (ret)
		return ret;
	c.regions = calloc(nr + 1, sizeof(*c.regions));
	c.segments = calloc(2 * nr + 2, sizeof(*c.segments));
	c.open = calloc(nr + 1, sizeof(*c.open));
	ret = c.regions && c.segments && c.open ? compile_regions(&c, &table) : -ENOMEM;
	if (ret)
		region_table_free(&table);
	else
		*result = table;
	free(c.regions);
	free(c.segments);
	free(c.open);
	return ret;
}

void region_table_free(struct region_table *table)
{
	free(table->lines);
	free(table->firsts);
	*table = (struct region_table){ 0 };
}

size_t region_table_locate(const struct region_table *table, uint64_t number, uint64_t *ret_bin)
{
	size_t behind = BISECT(i, table->nr, table->firsts[i] <= number);
	size_t entry = behind ? behind - 1 : 0;

	*ret_bin = number - table->firsts[entry];
	return entry;
}
