// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/calls_impl.h"

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

/* Makes room for one more of each; the arrays are never longer than their capacities say. */
static int make_journal_room(struct journal *journal, size_t histograms)
{
	struct profile *profile = journal->profile;

	if (!profile)
		profile = journal->profile = profile_new();
	if (!profile)
		return -ENOMEM;
	if (grow((void **)&profile->targets, &journal->targets_capacity, profile->nr_targets + 1,
		 sizeof(*profile->targets)) ||
	    grow((void **)&profile->objects, &journal->objects_capacity, profile->nr_objects + 1,
		 sizeof(*profile->objects)) ||
	    grow((void **)&profile->histograms, &journal->histograms_capacity,
		 profile->nr_histograms + histograms, sizeof(*profile->histograms)))
		return -ENOMEM;
	return 0;
}

static int add_lost_cause(struct profile_account *account, const char *cause, uint64_t ticks)
{
	struct profile_lost *lost = &account->lost[account->nr_lost];

	lost->cause = strdup(cause);
	if (!lost->cause)
		return -ENOMEM;
	lost->ticks = ticks;
	account->nr_lost++;
	return 0;
}

/* caller NULL: what was copied is unknown. */
static int fill_account(struct profile_account *account, const struct caller *caller,
			const struct call *call)
{
	uint64_t unwritten;
	int ret;

	account->total = call->ticks;
	account->binned = caller ? caller->binned : 0;
	account->overflow = caller ? caller->overflow : 0;
	account->outside = call->outside;
	account->filtered = call->filtered;
	unwritten = caller ? caller->unwritten :
			     call->ticks - call->outside - call->filtered - call->no_memory -
				     call->over_limit - call->in_exec;
	account->lost = calloc(4, sizeof(*account->lost));
	if (!account->lost)
		return -ENOMEM;
	ret = add_lost_cause(account, "no_memory", call->no_memory);
	if (!ret)
		ret = add_lost_cause(account, "over_limit", call->over_limit);
	if (!ret)
		ret = add_lost_cause(account, "exec", call->in_exec);
	return ret ? ret : add_lost_cause(account, "unwritten", unwritten);
}

static const char *dialect_name(uint32_t dialect)
{
	static const char *const names[] = {
#define DIALECT_NAME(id, name) name,
		DIALECT_NAMES(DIALECT_NAME)
#undef DIALECT_NAME
	};

	return names[dialect];
}

static int add_call_target(struct profile *profile, const struct caller *caller,
			   const struct call *call, const struct call_engine *engine, bool is_read)
{
	struct profile_target *target = &profile->targets[profile->nr_targets];

	memset(target, 0, sizeof(*target));
	profile->nr_targets++;
	target->kind = strdup("call");
	target->period_ns = engine->clocks[call->flags & CALL_IS_FAST].period_ns;
	if (asprintf(&target->name, "%s of %s[%u]", call_names[caller->spec->op], caller->comm,
		     call->tgid) < 0)
		target->name = NULL;
	if (!target->kind || !target->name)
		return -ENOMEM;
	return fill_account(&target->ticks, is_read ? caller : NULL, call);
}

static int add_memory_object(struct profile *profile, const struct caller *caller,
			     const struct call *call)
{
	struct profile_object *object = &profile->objects[profile->nr_objects];

	memset(object, 0, sizeof(*object));
	profile->nr_objects++;
	object->kind = PROFILE_MEMORY;
	if (asprintf(&object->path, "[%s:%u]", caller->comm, call->tgid) < 0)
		object->path = NULL;
	return object->path ? 0 : -ENOMEM;
}

/*
 * How counters become bins. If all counters cover the same number of bytes, a bin is a counter;
 * otherwise it is the first byte that a counter covers, with bins of one byte. Either way the
 * call's formula leads back to the counter.
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

/* Collects the bins of one entry, whose counters are consecutive. */
static int collect_counters(const struct caller *caller, uint32_t entry,
			    const struct journal_layout *layout, struct profile_bins *bins)
{
	uint64_t first = caller_taken_index(entry, 0), end = caller_taken_index(entry + 1, 0), at;
	size_t page;
	uint32_t i;

	for (page = 0; page < caller->taken.nr; page++) {
		const struct sparse_page *taken = caller->taken.pages[page];

		at = taken->index * PAGE_COUNTERS;
		if (at < first || at >= end)
			continue;
		for (i = 0; i < PAGE_COUNTERS; i++)
			if (taken->values[i] &&
			    profile_bins_add(bins, index_of(layout, at - first + i),
					     taken->values[i]))
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

static void place_histogram(const struct spec *spec, uint32_t entry,
			    const struct journal_layout *layout, const struct profile_bins *bins,
			    struct profile_histogram *histogram)
{
	const struct call_entry *asked = &spec->entries[entry];
	uint64_t end = (bins->list[bins->nr - 1].index + 1) * layout->bytes;

	histogram->overflow = spec->op != CALL_PCSAMPLE && entry == spec->table.overflow;
	histogram->offset = spec->op == CALL_PCSAMPLE ? 0 : asked->offset;
	histogram->size = end;
	histogram->width = spec->width;
	histogram->scale = asked->scale;
	histogram->buffer = asked->base;
	histogram->region = entry;
	histogram->bytes_per_bin = histogram->overflow ? 1 : layout->bytes;
	histogram->bins = bins->list;
	histogram->nr_bins = bins->nr;
}

static int add_entry(struct profile *profile, struct caller *caller, uint32_t entry,
		     const struct call *call)
{
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms];
	struct journal_layout layout = layout_of(caller->spec, caller->spec->entries[entry].scale);
	uint32_t stop = call->stop ? call->stop : caller->stop;
	struct profile_bins bins = { 0 };
	int ret;

	ret = caller->spec->op == CALL_PCSAMPLE ? collect_pcs(caller, &bins) :
						  collect_counters(caller, entry, &layout, &bins);
	if (ret || !bins.nr) {
		free(bins.list);
		return ret;
	}
	memset(histogram, 0, sizeof(*histogram));
	histogram->target = (uint32_t)profile->nr_targets - 1;
	histogram->object = (uint32_t)profile->nr_objects - 1;
	histogram->pid = call->tgid;
	place_histogram(caller->spec, entry, &layout, &bins, histogram);
	histogram->stopped = stop ? strdup(stop_names[stop]) : NULL;
	histogram->dialect = strdup(dialect_name(caller->spec->dialect));
	histogram->process = strdup(caller->comm);
	profile->nr_histograms++;
	return (stop && !histogram->stopped) || !histogram->dialect || !histogram->process ?
		       -ENOMEM :
		       0;
}

void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);
	const struct spec *spec = caller->spec;
	uint32_t i;
	int ret;

	if (!call->ticks)
		return;
	ret = make_journal_room(journal, spec->nr_entries);
	if (!ret)
		ret = add_call_target(journal->profile, caller, call, engine, true);
	if (!ret)
		ret = add_memory_object(journal->profile, caller, call);
	for (i = 0; !ret && i < spec->nr_entries; i++)
		ret = add_entry(journal->profile, caller, i, call);
	if (ret || caller->unrecorded)
		journal->incomplete = true;
}

void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine)
{
	const struct call *call = call_of(caller, engine);

	if (call->ticks && (make_journal_room(journal, 0) ||
			    add_call_target(journal->profile, caller, call, engine, false)))
		journal->incomplete = true;
}

void journal_free(struct journal *journal)
{
	profile_free(journal->profile);
	memset(journal, 0, sizeof(*journal));
}
