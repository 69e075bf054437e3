// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/snapshot.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "engine/objects.h"

struct seen {
	struct seen_window *list;
	size_t nr;
	size_t capacity;
};

static int out_of_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "profile: out of memory");
}

static int read_windows(int fd, struct seen *seen, struct error *err)
{
	struct window_key key, *last = NULL;
	struct seen_window *slot;
	struct window window;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (bpf_map_lookup_elem(fd, &key, &window))
			return error_errno(err, -errno, "reading the table of windows");
		if (grow((void **)&seen->list, &seen->capacity, seen->nr + 1, sizeof(*seen->list)))
			return out_of_memory(err);
		slot = &seen->list[seen->nr++];
		slot->key = key;
		slot->dir = window.dir;
		last = &slot->key;
	}
	return errno == ENOENT ? 0 : error_errno(err, -errno, "reading the table of windows");
}

/* One file may have had two inodes in memory, one after the other, when it could not be pinned. */
static int compare_spaces(const struct space *a, const struct space *b)
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

	return compare_spaces(&x->key.space, &y->key.space);
}

/* By histogram, then by place. */
static int by_place(const void *a, const void *b)
{
	const struct seen_window *x = a, *y = b;

	if (x->key.target != y->key.target)
		return x->key.target < y->key.target ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->key.shift != y->key.shift)
		return x->key.shift < y->key.shift ? -1 : 1;
	return (x->key.window > y->key.window) - (x->key.window < y->key.window);
}

static bool same_histogram(const struct seen_window *a, const struct seen_window *b)
{
	return a->key.target == b->key.target && a->object == b->object &&
	       a->key.shift == b->key.shift;
}

/* Gives each window its object; windows are sorted by space. */
static int make_objects(struct seen *seen, const struct spaces *spaces, struct profile *profile,
			const struct space_info **sources, struct error *err)
{
	size_t i;
	int ret;

	profile->objects = calloc(seen->nr + 1, sizeof(*profile->objects));
	if (!profile->objects)
		return out_of_memory(err);
	for (i = 0; i < seen->nr; i++) {
		struct seen_window *window = &seen->list[i];

		if (!i || by_space(window, window - 1)) {
			sources[profile->nr_objects] = spaces_find(spaces, &window->key.space);
			ret = object_describe(&window->key.space, sources[profile->nr_objects],
					      &profile->objects[profile->nr_objects], err);
			profile->nr_objects++;
			if (ret)
				return ret;
		}
		window->object = profile->nr_objects - 1;
	}
	return 0;
}

/* What a counter lost by wrapping. Asked only for counters that may have: most pages never did. */
static uint64_t carried(const struct counted *counted, uint32_t page, uint32_t counter)
{
	uint64_t key = (uint64_t)page << PAGE_SHIFT_COUNTERS | counter, times;

	if (!counted->any_carry || bpf_map_lookup_elem(counted->carries_fd, &key, &times))
		return 0;
	return times << 32;
}

static uint64_t counter_at(const struct counted *counted, uint32_t dir, uint32_t page,
			   uint32_t counter)
{
	const struct window_dir *entries = pool_dir(counted->pool, dir);
	uint32_t number = entries ? entries->pages[page] : 0;
	const struct counter_page *counters = number ? pool_page(counted->pool, number - 1) : NULL;

	if (!counters)
		return 0;
	return __atomic_load_n(&counters->counters[counter], __ATOMIC_RELAXED) +
	       carried(counted, number - 1, counter);
}

static bool page_used(const struct counted *counted, const struct seen_window *windows, size_t nr,
		      uint32_t page)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct window_dir *entries = pool_dir(counted->pool, windows[i].dir);

		if (entries && entries->pages[page])
			return true;
	}
	return false;
}

struct bins {
	struct profile_bin *list;
	size_t nr;
	size_t capacity;
};

/* Adds one page's bins; index is the bin's number from the start of the space. */
static int add_page(const struct counted *counted, const struct seen_window *windows, size_t nr,
		    uint32_t page, struct bins *bins)
{
	uint32_t shift = windows->key.shift, counter;
	uint64_t sum, first;
	size_t i;

	first = bin_offset(windows->key.window, page, 0, shift) >> shift;
	for (counter = 0; counter < PAGE_COUNTERS; counter++) {
		for (sum = 0, i = 0; i < nr; i++)
			sum += counter_at(counted, windows[i].dir, page, counter);
		if (!sum)
			continue;
		if (grow((void **)&bins->list, &bins->capacity, bins->nr + 1, sizeof(*bins->list)))
			return -ENOMEM;
		bins->list[bins->nr++] = (struct profile_bin){ first + counter, sum };
	}
	return 0;
}

/* Windows of the same number are of one file with two inodes: their counters add up. */
static int add_windows(const struct counted *counted, const struct seen_window *windows, size_t nr,
		       struct bins *bins)
{
	size_t i, same;
	uint32_t page;

	for (i = 0; i < nr; i += same) {
		for (same = 1; i + same < nr; same++)
			if (windows[i + same].key.window != windows[i].key.window)
				break;
		for (page = 0; page < WINDOW_PAGES; page++)
			if (page_used(counted, windows + i, same, page) &&
			    add_page(counted, windows + i, same, page, bins))
				return -ENOMEM;
	}
	return 0;
}

/* From bins numbered from the start of the space to a histogram that covers text and bins. */
static void place_histogram(const struct profile_object *object, uint32_t shift, struct bins *bins,
			    struct profile_histogram *histogram)
{
	uint64_t first = bins->list[0].index << shift;
	uint64_t end = (bins->list[bins->nr - 1].index + 1) << shift;
	size_t i;

	for (i = 0; i < object->nr_text; i++) {
		const struct profile_text *text = &object->text[i];

		first = text->offset < first ? text->offset : first;
		end = text->offset + text->size > end ? text->offset + text->size : end;
	}
	first = first >> shift << shift;
	for (i = 0; i < bins->nr; i++)
		bins->list[i].index -= first >> shift;
	histogram->offset = first;
	histogram->size = end - first;
	histogram->width = sizeof(uint32_t);
	histogram->bytes_per_bin = 1ULL << shift;
	histogram->scale = 131072 >> shift;
	histogram->bins = bins->list;
	histogram->nr_bins = bins->nr;
}

static int add_histogram(const struct counted *counted, const struct seen_window *windows,
			 size_t nr, struct profile *profile, struct error *err)
{
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms];
	struct bins bins = {};

	if (add_windows(counted, windows, nr, &bins)) {
		free(bins.list);
		return out_of_memory(err);
	}
	if (!bins.nr)
		return 0;
	histogram->target = windows->key.target;
	histogram->object = windows->object;
	histogram->pid = windows->key.space.kind == SPACE_ANON ? (int64_t)windows->key.space.b : -1;
	place_histogram(&profile->objects[windows->object], windows->key.shift, &bins, histogram);
	profile->nr_histograms++;
	return 0;
}

static int make_histograms(const struct counted *counted, const struct seen *seen,
			   struct profile *profile, struct error *err)
{
	size_t i, nr;
	int ret;

	profile->histograms = calloc(seen->nr + 1, sizeof(*profile->histograms));
	if (!profile->histograms)
		return out_of_memory(err);
	for (i = 0; i < seen->nr; i += nr) {
		for (nr = 1; i + nr < seen->nr; nr++)
			if (!same_histogram(&seen->list[i], &seen->list[i + nr]))
				break;
		ret = add_histogram(counted, seen->list + i, nr, profile, err);
		if (ret)
			return ret;
	}
	return 0;
}

static bool any_carry(int carries_fd)
{
	uint64_t key;

	return !bpf_map_get_next_key(carries_fd, NULL, &key);
}

int snapshot_histograms(struct counted *counted, const struct spaces *spaces,
			struct profile *profile, const struct space_info ***ret_sources,
			struct error *err)
{
	const struct space_info **sources;
	struct seen seen = {};
	int ret;

	counted->any_carry = any_carry(counted->carries_fd);
	ret = read_windows(counted->windows_fd, &seen, err);
	if (ret)
		goto out;
	sources = calloc(seen.nr + 1, sizeof(*sources));
	if (!sources) {
		ret = out_of_memory(err);
		goto out;
	}
	if (seen.nr)
		qsort(seen.list, seen.nr, sizeof(*seen.list), by_space);
	ret = make_objects(&seen, spaces, profile, sources, err);
	if (!ret && seen.nr)
		qsort(seen.list, seen.nr, sizeof(*seen.list), by_place);
	if (!ret)
		ret = make_histograms(counted, &seen, profile, err);
	if (ret)
		free(sources);
	else
		*ret_sources = sources;
out:
	free(seen.list);
	return ret;
}

uint64_t snapshot_ticks(const struct counted *counted, uint32_t target)
{
	uint64_t ticks = counted->targets[target].ticks;
	size_t set, way;

	for (set = 0; set < counted->nr_sets; set++)
		for (way = 0; way < XLAT_WAYS; way++) {
			const struct xlat_entry *entry = &counted->xlat[set].way[way];

			if ((entry->where & XLAT_TARGET_MASK) == target)
				ticks += entry->ticks;
		}
	return ticks;
}

const char *lost_cause_name(enum lost_cause cause)
{
	static const char *const names[] = {
#define CAUSE_NAME(id, key, text) key,
		LOST_CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
	};

	return names[cause];
}

int snapshot_account(const struct counted *counted, uint32_t target, uint64_t withheld,
		     struct profile_account *ret, struct error *err)
{
	const struct target_account *account = &counted->targets[target];
	size_t i;

	ret->lost = calloc(LOST_CAUSE_COUNT, sizeof(*ret->lost));
	if (!ret->lost)
		return out_of_memory(err);
	ret->nr_lost = LOST_CAUSE_COUNT;
	for (i = 0; i < LOST_CAUSE_COUNT; i++) {
		ret->lost[i].ticks = account->lost[i];
		ret->lost[i].cause = strdup(lost_cause_name(i));
		if (!ret->lost[i].cause)
			return out_of_memory(err);
	}
	ret->lost[LOST_MAPPING_BUSY].ticks += account->deferred - account->settled;
	ret->lost[LOST_THROTTLED].ticks += withheld;
	ret->total = snapshot_ticks(counted, target) + withheld;
	ret->outside = account->outside;
	ret->filtered = account->filtered;
	return 0;
}
