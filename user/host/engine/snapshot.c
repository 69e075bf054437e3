// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/snapshot.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/spaces.h"

int snapshot_windows(const struct counted *counted, struct seen *result, struct error *err)
{
	int fd = counted->windows_fd;
	struct window_key key, *last = NULL;
	struct seen_window *slot;
	struct window window;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (bpf_map_lookup_elem(fd, &key, &window))
			return error_errno(err, -errno, "reading the table of windows");
		if (GROW(result->list, result->capacity, result->nr + 1))
			return error_no_memory(err, "profile");
		slot = &result->list[result->nr++];
		*slot = (struct seen_window){ .key = key, .dir = window.dir };
		last = &slot->key;
	}
	return errno == ENOENT ? 0 : error_errno(err, -errno, "reading the table of windows");
}

int snapshot_spilled(const struct spill *spill, struct seen *result, struct error *err)
{
	size_t i;

	if (GROW(result->list, result->capacity, result->nr + spill->nr))
		return error_no_memory(err, "profile");
	for (i = 0; i < spill->nr; i++)
		result->list[result->nr++] = (struct seen_window){ .key = spill->list[i].key,
								   .dir = NO_DIR,
								   .spilled = &spill->list[i] };
	return 0;
}

/* A file that could not be pinned may have had two inodes in memory, one after the other. */
static int compare_seen_spaces(const struct space *a, const struct space *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind != SPACE_FILE && a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	return (a->generation > b->generation) - (a->generation < b->generation);
}

static int by_space(const void *a, const void *b)
{
	const struct seen_window *x = a, *y = b;

	return compare_seen_spaces(&x->key.space, &y->key.space);
}

/* By histogram: target, process or cgroup, text, width of bins. */
static int compare_seen_histograms(const struct seen_window *a, const struct seen_window *b)
{
	if (a->key.target != b->key.target)
		return compare_u64(a->key.target, b->key.target);
	if (a->key.split != b->key.split)
		return compare_u64(a->key.split, b->key.split);
	if (a->space != b->space)
		return compare_u64(a->space, b->space);
	return compare_u64(a->key.shift, b->key.shift);
}

/* By histogram, then by place. */
static int by_place(const void *a, const void *b)
{
	const struct seen_window *x = a, *y = b;
	int order = compare_seen_histograms(x, y);

	return order ? order : compare_u64(x->key.window, y->key.window);
}

/* Sorts windows by place as a side effect. Returns the number of spaces. */
static size_t number_spaces(struct seen *seen)
{
	size_t i, nr = 0;

	if (!seen->nr)
		return 0;
	SORT(seen->list, seen->nr, by_space);
	for (i = 0; i < seen->nr; i++) {
		nr += !i || by_space(&seen->list[i], &seen->list[i - 1]);
		seen->list[i].space = nr - 1;
	}
	SORT(seen->list, seen->nr, by_place);
	return nr;
}

/* Adds the bins of a page that were moved out of the kernel; called for one page after another. */
static bool add_spilled(const struct counted *counted, struct seen_window *window, uint32_t page,
			uint64_t sums[PAGE_COUNTERS])
{
	const struct spilled_window *spilled = window->spilled;
	size_t first = window->next;

	for (; window->next < spilled->nr; window->next++) {
		const struct spilled_bin *bin = &spilled->bins[window->next];

		if (bin->index >> PAGE_SHIFT_COUNTERS != page)
			break;
		sums[bin->index % PAGE_COUNTERS] += bin->count;
		window->ticks += bin->count;
		counted->tallies[window->key.target].binned += bin->count;
	}
	return window->next > first;
}

/* Adds the counters of a page that the kernel has. */
static bool add_counters(const struct counted *counted, struct seen_window *window, uint32_t page,
			 uint64_t sums[PAGE_COUNTERS])
{
	struct counter_page *counters;
	uint32_t number;
	uint64_t ticks;

	counters = counted_page(counted, window->dir, page, &number);
	if (!counters)
		return false;
	ticks = counted_add(counted, window->key.target, counters, number, sums);
	window->ticks += ticks;
	if (!ticks)
		window->idle[page / 64] |= 1ULL << page % 64;
	return ticks > 0;
}

/* Most windows have a few of their pages, and to clear the sums of a page takes half a microsecond. */
static bool have_page(const struct counted *counted, const struct seen_window *windows, size_t nr,
		      uint32_t page)
{
	const struct seen_window *window = windows, *end = windows + nr;
	const struct spilled_window *spilled;
	uint32_t number;

	for (; window < end; window++) {
		spilled = window->spilled;
		if (!spilled && counted_page(counted, window->dir, page, &number))
			return true;
		if (spilled && window->next < spilled->nr &&
		    spilled->bins[window->next].index >> PAGE_SHIFT_COUNTERS == page)
			return true;
	}
	return false;
}

/* Adds one page's bins; a bin's index counts from the start of the space. */
static int add_page(const struct counted *counted, struct seen_window *windows, size_t nr,
		    uint32_t page, struct profile_bins *bins)
{
	uint64_t first = bin_offset(windows->key.window, page, 0, windows->key.shift) >>
			 windows->key.shift;
	uint64_t sums[PAGE_COUNTERS] = { 0 };
	bool used = false;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (windows[i].spilled)
			used |= add_spilled(counted, &windows[i], page, sums);
		else
			used |= add_counters(counted, &windows[i], page, sums);
	}
	for (i = 0; used && i < PAGE_COUNTERS; i++)
		if (sums[i] && profile_bins_add(bins, first + i, sums[i]))
			return -ENOMEM;
	return 0;
}

/*
 * Windows with the same number are of one file with two inodes, or of one that was retired and came
 * back, so their counters are added up.
 */
static int add_windows(const struct counted *counted, struct seen_window *windows, size_t nr,
		       struct profile_bins *bins)
{
	size_t i, same;
	uint32_t page;

	for (i = 0; i < nr; i += same) {
		for (same = 1; i + same < nr; same++)
			if (windows[i + same].key.window != windows[i].key.window)
				break;
		for (page = 0; page < WINDOW_PAGES; page++)
			if (have_page(counted, windows + i, same, page) &&
			    add_page(counted, windows + i, same, page, bins))
				return -ENOMEM;
	}
	return 0;
}

/* Removes ticks that were counted before it was known that nobody wants them. */
static void leave_out(const struct counted *counted, struct profile_histogram *histogram)
{
	struct tally *tally = &counted->tallies[histogram->target];
	uint64_t ticks = profile_histogram_ticks(histogram);

	tally->binned -= ticks;
	tally->filtered += ticks;
	tally->left_out += ticks;
	free(histogram->bins);
	*histogram = (struct profile_histogram){ 0 };
}

/* Notes the ticks that are not told apart, by place or by whose they are, as they should be. */
static void note_coarse(const struct counted *counted, const struct seen_names *names,
			const struct window_key *key, uint64_t ticks)
{
	struct tally *tally = &counted->tallies[key->target];
	bool unknown = names->split != SPLIT_NONE && !key->split;
	bool merged = key->space.kind == SPACE_ANON && !key->space.b;

	if (key->shift > names->bin_shift)
		tally->coarse += ticks;
	if (key->shift > names->bin_shift && key->shift == BIN_SHIFT_MAX)
		tally->widest += ticks;
	if (unknown || merged)
		tally->unknown += ticks;
}

/*
 * Adds the ticks of windows[0..nr), all of one histogram, whose bins count from the start of the
 * space.
 */
static int draw_histogram(const struct counted *counted, const struct seen_names *names,
			  struct seen_window *windows, size_t nr, struct profile *profile)
{
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms];
	struct profile_bins bins = {};
	size_t i;

	if (add_windows(counted, windows, nr, &bins)) {
		free(bins.list);
		return -ENOMEM;
	}
	if (!bins.nr)
		return 0;
	for (i = 0; i < nr; i++)
		note_coarse(counted, names, &windows->key, windows[i].ticks);
	histogram->target = windows->key.target;
	histogram->bins = bins.list;
	histogram->nr_bins = bins.nr;
	if (split_is_left_out(names->splits, windows->key.split))
		leave_out(counted, histogram);
	else
		profile->nr_histograms++;
	return 0;
}

/* Sets firsts[i] to a window of histogram i. */
static int draw_histograms(const struct counted *counted, const struct seen *seen,
			   const struct seen_names *names, const struct seen_window **firsts,
			   struct profile *profile)
{
	size_t i, nr;
	int ret = 0;

	for (i = 0; i < seen->nr && !ret; i += nr) {
		for (nr = 1; i + nr < seen->nr; nr++)
			if (compare_seen_histograms(&seen->list[i], &seen->list[i + nr]))
				break;
		firsts[profile->nr_histograms] = &seen->list[i];
		ret = draw_histogram(counted, names, seen->list + i, nr, profile);
	}
	return ret;
}

/* Converts bins that count from the start of the space to a histogram's text and bins. */
static void place_histogram(const struct profile_object *object, uint32_t shift,
			    struct profile_histogram *histogram)
{
	struct profile_bin *bins = histogram->bins;
	uint64_t first = bins[0].index << shift;
	uint64_t end = (bins[histogram->nr_bins - 1].index + 1) << shift;
	size_t i;

	for (i = 0; i < object->nr_text; i++) {
		const struct profile_text *text = &object->text[i];

		first = text->offset < first ? text->offset : first;
		end = text->offset + text->size > end ? text->offset + text->size : end;
	}
	first = first >> shift << shift;
	for (i = 0; i < histogram->nr_bins; i++)
		bins[i].index -= first >> shift;
	histogram->offset = first;
	histogram->size = end - first;
	histogram->width = sizeof(uint32_t);
	histogram->bytes_per_bin = 1ULL << shift;
	histogram->scale = 131072 >> shift;
}

/* Makes the object of a space that has a histogram. */
static int make_object(const struct space *space, struct seen_names *names, struct profile *profile,
		       struct error *err)
{
	const struct space_info *info = spaces_find(names->spaces, space);
	bool told = space->kind == SPACE_FILE || (space->kind == SPACE_ANON && space->b);
	uint32_t id = profile->nr_objects++;

	names->sources[id] = info ? info - names->spaces->list : NO_SOURCE;
	names->nr_nameless += told && !info;
	return object_describe(space, info, &profile->objects[id], err);
}

/* Sets the process, thread or cgroup that a histogram's ticks belong to. */
static int name_window_split(const struct window_key *key, struct seen_names *names,
			     struct profile_histogram *histogram)
{
	const struct split_name *told = key->split ? split_names_find(names->splits, key->split) :
						     NULL;
	const char *name = told ? told->name : NULL;
	uint32_t source = names->sources[histogram->object];

	histogram->pid = -1;
	if (key->split && names->split == SPLIT_CGROUP) {
		names->nr_nameless += !name;
		histogram->cgroup = split_cgroup_name(names->splits, key->split);
		if (!histogram->cgroup)
			return -ENOMEM;
		name = NULL;
	} else if (key->split) {
		histogram->pid = split_pid(key->split);
	}
	/* Anonymous text is of one process, even where nothing or only cgroups are told apart. */
	if (key->space.kind == SPACE_ANON && key->space.b) {
		if (histogram->pid < 0)
			histogram->pid = (int64_t)key->space.b;
		if (!name && source != NO_SOURCE && histogram->pid == (int64_t)key->space.b)
			name = names->spaces->list[source].comm;
	}
	histogram->process = name ? strdup(name) : NULL;
	return name && !histogram->process ? -ENOMEM : 0;
}

/* Sets the histograms' objects, places and names; ids is by space. */
static int finish_histograms(const struct seen_window **firsts, uint32_t *ids,
			     struct seen_names *names, struct profile *profile, struct error *err)
{
	size_t i;
	int ret;

	for (i = 0; i < profile->nr_histograms; i++) {
		struct profile_histogram *histogram = &profile->histograms[i];
		const struct window_key *key = &firsts[i]->key;
		uint32_t *id = &ids[firsts[i]->space];

		if (*id == NO_SOURCE) {
			*id = profile->nr_objects;
			ret = make_object(&key->space, names, profile, err);
			if (ret)
				return ret;
		}
		histogram->object = *id;
		names->split_ids[i] = key->split;
		place_histogram(&profile->objects[*id], key->shift, histogram);
		if (name_window_split(key, names, histogram))
			return error_no_memory(err, "profile");
	}
	return 0;
}

int snapshot_histograms(const struct counted *counted, struct seen *seen, struct seen_names *names,
			struct profile *profile, struct error *err)
{
	size_t nr_spaces = number_spaces(seen);
	cleanup_free const struct seen_window **firsts = calloc(seen->nr + 1, sizeof(*firsts));
	cleanup_free uint32_t *ids = malloc((nr_spaces + 1) * sizeof(*ids));

	profile->histograms = calloc(seen->nr + 1, sizeof(*profile->histograms));
	profile->objects = calloc(nr_spaces + 1, sizeof(*profile->objects));
	names->sources = calloc(nr_spaces + 1, sizeof(*names->sources));
	names->split_ids = calloc(seen->nr + 1, sizeof(*names->split_ids));
	if (!firsts || !ids || !profile->histograms || !profile->objects || !names->sources ||
	    !names->split_ids)
		return error_no_memory(err, "profile");
	memset(ids, 0xff, (nr_spaces + 1) * sizeof(*ids));
	if (draw_histograms(counted, seen, names, firsts, profile))
		return error_no_memory(err, "profile");
	return finish_histograms(firsts, ids, names, profile, err);
}

/* The JSON key of a cause. */
static const char *lost_cause_name(enum lost_cause cause)
{
	static const char *const names[] = {
#define CAUSE_NAME(id, key, text) key,
		LOST_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
	};

	return names[cause];
}

int snapshot_account(const struct tally *tally, uint64_t total, struct profile_account *result,
		     struct error *err)
{
	size_t i;

	result->lost = calloc(LOST_CAUSE_COUNT, sizeof(*result->lost));
	if (!result->lost)
		return error_no_memory(err, "profile");
	result->nr_lost = LOST_CAUSE_COUNT;
	for (i = 0; i < LOST_CAUSE_COUNT; i++) {
		result->lost[i].ticks = tally->lost[i];
		result->lost[i].cause = strdup(lost_cause_name(i));
		if (!result->lost[i].cause)
			return error_no_memory(err, "profile");
	}
	result->lost[LOST_THROTTLED].ticks += tally->withheld;
	result->total = total;
	result->binned = tally->binned;
	result->outside = tally->outside;
	result->filtered = tally->filtered;
	return 0;
}
