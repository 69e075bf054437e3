// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/call_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static const char *const call_names[] = {
	[CALL_PROFIL] = "profil",
	[CALL_SPROFIL] = "sprofil",
	[CALL_PCSAMPLE] = "pcsample",
};

static const char *const stop_names[] = {
	[CALL_STOP_ASKED] = "call",
	[CALL_STOP_LIMIT] = "limit",
	[CALL_STOP_FULL] = "full",
	[CALL_STOP_FAULT] = "fault",
};

/* Makes room for one more of each. */
static int make_journal_room(struct journal *journal)
{
	struct profile *profile = journal->profile;

	if (!profile)
		profile = journal->profile = profile_new();
	if (!profile)
		return -ENOMEM;
	if (GROW(profile->targets, journal->targets_capacity, profile->nr_targets + 1) ||
	    GROW(profile->objects, journal->objects_capacity, profile->nr_objects + 1) ||
	    GROW(profile->histograms, journal->histograms_capacity, profile->nr_histograms + 1))
		return -ENOMEM;
	return 0;
}

/* caller NULL: it is unknown what was copied. */
static int fill_account(struct profile_account *account, const struct caller *caller,
			const struct call *call)
{
	const uint64_t lost_before = call->no_memory + call->over_limit + call->in_exec;
	const uint64_t copied = call->ticks - call->outside - call->filtered - lost_before;
	struct profile_lost lost[] = {
		{ .cause = (char *)"no_memory", .ticks = call->no_memory },
		{ .cause = (char *)"over_limit", .ticks = call->over_limit },
		{ .cause = (char *)"exec", .ticks = call->in_exec },
		{ .cause = (char *)"unwritten", .ticks = caller ? caller->unwritten : copied },
	};
	const struct profile_account all = { .total = call->ticks,
					     .binned = caller ? caller->binned : 0,
					     .overflow = caller ? caller->overflow : 0,
					     .outside = call->outside,
					     .filtered = call->filtered,
					     .lost = lost,
					     .nr_lost = sizeof(lost) / sizeof(lost[0]) };

	return profile_account_add(account, &all);
}

static int add_call_target(struct profile *profile, const struct caller *caller,
			   const struct call *call, const struct call_engine *engine, bool is_read)
{
	struct profile_target *target = &profile->targets[profile->nr_targets];

	memset(target, 0, sizeof(*target));
	profile->nr_targets++;
	target->kind = strdup("call");
	target->period_ns = engine->clocks[call->flags & CALL_IS_FAST].period_ns;
	target->name =
		format_text("%s of %s[%u]", call_names[caller->spec->op], caller->comm, call->tgid);
	if (!target->kind || !target->name)
		return -ENOMEM;
	return fill_account(&target->ticks, is_read ? caller : NULL, call);
}

/* A call that is being written. */
struct entry_writing {
	struct journal *journal;
	struct caller *caller;
	const struct call *call;
	uint32_t memory; /* object for text outside of files; NO_OBJECT: not made yet */
};

enum { NO_OBJECT = UINT32_MAX };

static int memory_object(struct entry_writing *writing, uint32_t *result)
{
	struct profile *profile = writing->journal->profile;
	struct profile_object object = { .kind = PROFILE_MEMORY };

	if (writing->memory == NO_OBJECT) {
		object.path = format_text("[%s:%u]", writing->caller->comm, writing->call->tgid);
		if (!object.path)
			return -ENOMEM;
		writing->memory = (uint32_t)profile->nr_objects;
		profile->objects[profile->nr_objects++] = object;
	}
	*result = writing->memory;
	return 0;
}

static bool is_same_file(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && !compare_text(a->build_id, b->build_id) &&
	       !strcmp(a->path, b->path);
}

static int copy_file(const struct profile_object *file, struct profile_object *result)
{
	*result = (struct profile_object){ .kind = PROFILE_FILE };
	result->path = strdup(file->path);
	if (file->build_id)
		result->build_id = strdup(file->build_id);
	result->text = calloc(file->nr_text + 1, sizeof(*result->text));
	if (result->path && result->text && (!file->build_id || result->build_id)) {
		memcpy(result->text, file->text, file->nr_text * sizeof(*file->text));
		result->nr_text = file->nr_text;
		return 0;
	}
	profile_object_free(result);
	return -ENOMEM;
}

/* Finds or adds the object of a file. Calls share it. */
static int file_object(struct profile *profile, const struct profile_object *file, uint32_t *result)
{
	struct profile_object object;
	size_t i;

	for (i = profile->nr_objects; i > 0; i--)
		if (is_same_file(&profile->objects[i - 1], file)) {
			*result = (uint32_t)i - 1;
			return 0;
		}
	if (copy_file(file, &object))
		return -ENOMEM;
	*result = (uint32_t)profile->nr_objects;
	profile->objects[profile->nr_objects++] = object;
	return 0;
}

/*
 * How counters become bins. If all counters cover the same number of bytes, each bin is a counter.
 * Otherwise a bin is the first byte of a counter, and bins have one byte. In both cases the call's
 * formula leads back to the counter.
 */
struct journal_layout {
	struct dialect_factor factor;
	uint64_t bytes; /* bytes of a bin; 1 if counters differ */
};

static struct journal_layout layout_of(const struct spec *spec, uint64_t scale)
{
	struct journal_layout layout = {
		.factor = dialect_factor(spec->dialect, spec->width, scale),
		.bytes = 1,
	};
	uint64_t whole = 65536ULL * spec->width;

	scale = dialect_scale(spec->dialect, scale);
	if (scale && whole % scale == 0 && dialect_first(&layout.factor, 1) == whole / scale)
		layout.bytes = whole / scale;
	return layout;
}

static uint64_t index_of(const struct journal_layout *layout, uint64_t bin)
{
	return layout->bytes > 1 ? bin : (uint64_t)dialect_first(&layout->factor, bin);
}

/* Collects the bins of one entry, which has consecutive counters. */
static int collect_counters(const struct caller *caller, uint32_t entry,
			    const struct journal_layout *layout, struct profile_bins *bins)
{
	uint64_t first = caller_recorded_index(entry, 0), end = caller_recorded_index(entry + 1, 0),
		 at;
	size_t page;
	uint32_t i;

	for (page = 0; page < caller->recorded.nr; page++) {
		const struct sparse_page *recorded = caller->recorded.pages[page];

		at = recorded->index * PAGE_COUNTERS;
		if (at < first || at >= end)
			continue;
		for (i = 0; i < PAGE_COUNTERS; i++)
			if (recorded->values[i] &&
			    profile_bins_add(bins, index_of(layout, at - first + i),
					     recorded->values[i]))
				return -ENOMEM;
	}
	return 0;
}

static int collect_pcs(struct caller *caller, struct profile_bins *bins)
{
	size_t i;

	pcs_sort(&caller->pcs);
	for (i = 0; i < caller->pcs.nr; i++)
		if (profile_bins_add(bins, caller->pcs.list[i].pc, caller->pcs.list[i].count))
			return -ENOMEM;
	return 0;
}

/* Neighbouring bins in the same file, or in none. */
struct journal_run {
	const struct profile_bin *bins;
	size_t nr;
	const struct text_mapping *mapping; /* NULL: in no file */
	uint64_t offset; /* of bin 0, in the file or in memory */
	uint64_t first; /* the index of the region's bin that is bin 0 */
};

/*
 * Finds the offset of bin 0. A region may begin before its file does; then bin 0 is the first bin
 * with a tick.
 */
static int place_run(const struct journal_layout *layout, uint64_t start, struct journal_run *run)
{
	uint64_t bytes = layout->bytes;

	run->offset = start;
	run->first = 0;
	if (!run->mapping || !text_mapping_offset(run->mapping, start, &run->offset))
		return 0;
	run->first = run->bins->index;
	return text_mapping_offset(run->mapping, start + run->first * bytes, &run->offset);
}

static const struct text_mapping *mapping_of(const struct spec *spec, uint32_t entry,
					     const struct journal_layout *layout, uint64_t index)
{
	uint64_t start = spec->op == CALL_PCSAMPLE ? 0 : spec->entries[entry].offset;

	if (spec->op != CALL_PCSAMPLE && entry == spec->table.overflow)
		return NULL;
	return mapped_text_find(spec->mapped, start + index * layout->bytes, layout->bytes);
}

static struct journal_run first_run(const struct spec *spec, uint32_t entry,
				    const struct journal_layout *layout,
				    const struct profile_bin *bins, size_t nr)
{
	uint64_t start = spec->op == CALL_PCSAMPLE ? 0 : spec->entries[entry].offset;
	struct journal_run run = { .bins = bins, .nr = 1 };

	run.mapping = mapping_of(spec, entry, layout, bins->index);
	while (run.nr < nr && mapping_of(spec, entry, layout, bins[run.nr].index) == run.mapping)
		run.nr++;
	if (place_run(layout, start, &run)) {
		run.mapping = NULL;
		place_run(layout, start, &run);
	}
	return run;
}

static void place_histogram(const struct spec *spec, uint32_t entry,
			    const struct journal_layout *layout, const struct journal_run *run,
			    struct profile_histogram *histogram)
{
	const struct call_entry *asked = &spec->entries[entry];
	uint64_t last = run->bins[run->nr - 1].index - run->first;

	histogram->overflow = spec->op != CALL_PCSAMPLE && entry == spec->table.overflow;
	histogram->offset = run->offset;
	histogram->size = (last + 1) * layout->bytes;
	histogram->width = spec->width;
	histogram->scale = asked->scale;
	histogram->buffer = asked->base;
	histogram->region = entry;
	histogram->bytes_per_bin = histogram->overflow ? 1 : layout->bytes;
}

static int copy_bins(const struct journal_run *run, struct profile_histogram *histogram)
{
	size_t i;

	histogram->bins = malloc(run->nr * sizeof(*histogram->bins));
	if (!histogram->bins)
		return -ENOMEM;
	for (i = 0; i < run->nr; i++)
		histogram->bins[i] =
			(struct profile_bin){ run->bins[i].index - run->first, run->bins[i].count };
	histogram->nr_bins = run->nr;
	return 0;
}

static int add_run(struct entry_writing *writing, uint32_t entry,
		   const struct journal_layout *layout, const struct journal_run *run)
{
	const struct caller *caller = writing->caller;
	uint32_t stop = writing->call->stop ? writing->call->stop : caller->stop, object;
	struct profile_histogram *histogram;
	struct profile *profile = writing->journal->profile;
	int ret = make_journal_room(writing->journal);

	if (!ret)
		ret = run->mapping ? file_object(profile, &run->mapping->file, &object) :
				     memory_object(writing, &object);
	if (ret)
		return ret;
	histogram = &profile->histograms[profile->nr_histograms];
	*histogram = (struct profile_histogram){ .object = object };
	if (copy_bins(run, histogram))
		return -ENOMEM;
	histogram->target = (uint32_t)profile->nr_targets - 1;
	histogram->pid = writing->call->tgid;
	place_histogram(caller->spec, entry, layout, run, histogram);
	histogram->stopped = stop ? strdup(stop_names[stop]) : NULL;
	histogram->dialect = strdup(dialect_names[caller->spec->dialect]);
	histogram->process = strdup(caller->comm);
	profile->nr_histograms++;
	return (stop && !histogram->stopped) || !histogram->dialect || !histogram->process ?
		       -ENOMEM :
		       0;
}

static int add_entry(struct entry_writing *writing, uint32_t entry)
{
	struct caller *caller = writing->caller;
	struct journal_layout layout = layout_of(caller->spec, caller->spec->entries[entry].scale);
	struct profile_bins bins = { 0 };
	struct journal_run run;
	size_t i;
	int ret;

	ret = caller->spec->op == CALL_PCSAMPLE ? collect_pcs(caller, &bins) :
						  collect_counters(caller, entry, &layout, &bins);
	for (i = 0; !ret && i < bins.nr; i += run.nr) {
		run = first_run(caller->spec, entry, &layout, bins.list + i, bins.nr - i);
		ret = add_run(writing, entry, &layout, &run);
	}
	free(bins.list);
	return ret;
}

void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);
	struct entry_writing writing = { journal, caller, call, NO_OBJECT };
	uint32_t i;
	int ret;

	if (!call->ticks)
		return;
	ret = make_journal_room(journal);
	if (!ret)
		ret = add_call_target(journal->profile, caller, call, engine, true);
	for (i = 0; !ret && i < caller->spec->nr_entries; i++)
		ret = add_entry(&writing, i);
	if (ret || caller->unrecorded)
		journal->incomplete = true;
}

void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);

	if (call->ticks && (make_journal_room(journal) ||
			    add_call_target(journal->profile, caller, call, engine, false)))
		journal->incomplete = true;
}

void journal_free(struct journal *journal)
{
	profile_free(journal->profile);
	memset(journal, 0, sizeof(*journal));
}
