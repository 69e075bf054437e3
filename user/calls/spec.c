// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * No buffer is larger, and with this limit the counters of 4,096 regions can be numbered. A single
 * region needs no limit.
 */
#define SIZE_MAX_EACH (1ULL << 50)

#define DIALECT_NAME(id, name) name,
const char *const dialect_names[] = { DIALECT_NAMES(DIALECT_NAME) NULL };
#undef DIALECT_NAME

static int copy_entries(struct spec *spec, const struct call_entry *entries, uint32_t nr)
{
	uint32_t i;

	spec->entries = malloc((nr + 1) * sizeof(*entries));
	if (!spec->entries)
		return -ENOMEM;
	memcpy(spec->entries, entries, nr * sizeof(*entries));
	spec->nr_entries = nr;
	for (i = 0; nr > 1 && i < nr; i++)
		if (spec->entries[i].size > SIZE_MAX_EACH)
			spec->entries[i].size = SIZE_MAX_EACH;
	return 0;
}

/*
 * Writes the addresses of the counters after the segments, because a fork checks the child's memory
 * there.
 */
static void put_buffer_lines(struct call_line *lines, struct spec *spec)
{
	uint32_t i;

	spec->table.table.buffers = spec->table.nr_lines;
	spec->table.table.nr_buffers = (uint16_t)spec->nr_entries;
	spec->table.table.width = (uint16_t)spec->width;
	for (i = 0; i < spec->nr_entries; i++)
		lines[spec->table.nr_lines + i / CALL_LINE_BUFFERS].buffers[i % CALL_LINE_BUFFERS] =
			(struct call_buffer){
				.first = spec->table.firsts ? spec->table.firsts[i] : 0,
				.base = spec->entries[i].base,
			};
}

static int compile_entries(struct spec *spec)
{
	const struct region_call call = {
		.dialect = spec->dialect,
		.width = spec->width,
		.sprofil = spec_is_sprofil(spec),
		.entries = spec->entries,
		.nr = spec->nr_entries,
	};

	/* pcsample() has one buffer and no regions. */
	return spec->op == CALL_PCSAMPLE ? 0 : region_table_compile(&call, &spec->table);
}

static int make_table(struct call_engine *engine, struct spec *spec)
{
	int64_t base;
	int ret = compile_entries(spec);

	if (ret)
		return ret;
	spec->nr_lines = spec->table.nr_lines +
			 (spec->nr_entries + CALL_LINE_BUFFERS - 1) / CALL_LINE_BUFFERS;
	base = extents_alloc(&engine->free_lines, spec->nr_lines);
	if (base < 0) {
		spec->nr_lines = 0;
		return (int)base;
	}
	spec->table.table.base = (uint32_t)base;
	if (spec->table.nr_lines)
		memcpy(engine->lines + base, spec->table.lines,
		       spec->table.nr_lines * sizeof(*spec->table.lines));
	put_buffer_lines(engine->lines + base, spec);
	free(spec->table.lines);
	spec->table.lines = NULL;
	return 0;
}

/* A spec without calls has a number that can be reused. */
static int reserve_number(struct call_engine *engine, struct spec *spec)
{
	uint32_t i;

	for (i = 0; i < engine->nr_calls; i++)
		if (!__atomic_load_n(&engine->specs[i].calls, __ATOMIC_RELAXED) &&
		    !engine->specs[i].held) {
			engine->specs[i].held = 1;
			spec->number = i;
			return 0;
		}
	return -ENOSPC;
}

int spec_make(struct call_engine *engine, const struct spec *like, const struct call_entry *entries,
	      uint32_t nr_entries, struct spec **result)
{
	struct spec *spec = malloc(sizeof(*spec));
	int ret;

	if (!spec)
		return -ENOMEM;
	*spec = *like;
	spec->entries = NULL;
	spec->table = (struct region_table){ 0 };
	spec->nr_lines = 0;
	spec->number = UINT32_MAX;
	spec->mapped = mapped_text_share(like->mapped);
	ret = copy_entries(spec, entries, nr_entries);
	if (!ret)
		ret = make_table(engine, spec);
	if (!ret)
		ret = reserve_number(engine, spec);
	if (ret)
		spec_free(engine, spec);
	else
		*result = spec;
	return ret;
}

void spec_free(struct call_engine *engine, struct spec *spec)
{
	if (!spec)
		return;
	if (spec->nr_lines)
		extents_release(&engine->free_lines, spec->table.table.base, spec->nr_lines);
	if (spec->number != UINT32_MAX)
		engine->specs[spec->number].held = 0;
	region_table_free(&spec->table);
	mapped_text_free(spec->mapped);
	free(spec->entries);
	free(spec);
}

uint32_t spec_locate(const struct spec *spec, uint64_t flat, uint64_t *ret_bin, uint64_t *ret_left)
{
	size_t entry = region_table_locate(&spec->table, flat, ret_bin);

	*ret_left = spec->table.firsts[entry + 1] - flat;
	return (uint32_t)entry;
}
