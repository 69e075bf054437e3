// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/recycle.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/*
 * Pages are short when more than 1/SHORT_SHARE of the limit is in use. When short-lived processes
 * are told apart they fill pages that nobody hits again. To wait one take until these are idle
 * would hold three takes' worth of them, not two.
 */
#define SHORT_SHARE 3

void recycler_init(struct recycler *recycler)
{
	*recycler = (struct recycler){ 0 };
	grace_period_init(&recycler->grace);
}

int recycler_wait(struct recycler *recycler, struct error *err)
{
	int ret;

	if (!recycler->nr && !recycler->nr_pages && !recycler->struck)
		return 0;
	ret = grace_period_wait(&recycler->grace);
	return ret ? error_errno(err, ret, "waiting for the programs") : 0;
}

/*
 * The state of a directory or page: not retired, retired, or retired with a cache entry that still
 * led to it when last checked.
 */
enum { MARK_NONE, MARK_RETIRED, MARK_REACHED };

/* Marks by directory number; NULL without memory. */
static uint8_t *mark_retired(const struct recycler *recycler, const struct recycled *recycled)
{
	uint8_t *marks = calloc(recycled->pool->dirs.limit, 1);
	size_t i;

	for (i = 0; marks && i < recycler->nr; i++)
		marks[recycler->retired[i].dir] = MARK_RETIRED;
	return marks;
}

/* Marks by page number; NULL without memory. */
static uint8_t *mark_retired_pages(const struct recycler *recycler, const struct recycled *recycled)
{
	uint8_t *marks = calloc(recycled->pool->pages.limit, 1);
	size_t i;

	for (i = 0; marks && i < recycler->nr_pages; i++)
		marks[recycler->pages[i].number] = MARK_RETIRED;
	return marks;
}

/* The same as empty_caches() for the pages that entries remember beside their directory. */
static void cool_caches(const struct recycled *recycled, uint8_t *marks)
{
	uint32_t limit = recycled->pool->pages.limit, number;
	size_t set, way;

	for (set = recycled->nr_sets; set-- > 0;)
		for (way = 0; way < XLAT_WAYS; way++) {
			uint32_t *hot = &recycled->xlat[set].way[way].hot;

			number = __atomic_load_n(hot, __ATOMIC_RELAXED) & XLAT_HOT_MASK;
			if (!number || number > limit || !marks[number - 1])
				continue;
			__atomic_store_n(hot, 0, __ATOMIC_RELAXED);
			marks[number - 1] = MARK_REACHED;
		}
}

/*
 * Empties the cache entries that lead to retired windows, and marks windows that had any. A program
 * may be replacing an entry meanwhile: emptying the new one only causes a miss, and its hits are
 * still in it. An entry that is copied before it is emptied is found the next time. The entries of spaces
 * come first, from the end: programs copy these to the front, where the copy is still found.
 */
static void empty_caches(const struct recycled *recycled, uint8_t *marks)
{
	uint32_t limit = recycled->pool->dirs.limit, dir;
	size_t set, way;

	for (set = recycled->nr_sets; set-- > 0;)
		for (way = 0; way < XLAT_WAYS; way++) {
			struct xlat_entry *entry = &recycled->xlat[set].way[way];

			dir = __atomic_load_n(&entry->dir, __ATOMIC_RELAXED);
			if (!entry->span || dir >= limit || !marks[dir])
				continue;
			__atomic_store_n(&entry->span, 0, __ATOMIC_RELAXED);
			marks[dir] = MARK_REACHED;
		}
}

static void free_page(const struct recycled *recycled, uint32_t number)
{
	__atomic_fetch_sub(&recycled->pool->state->pages_used, 1, __ATOMIC_RELAXED);
	*recycled->any_free = true;
	bpf_map_update_elem(recycled->free_pages_fd, NULL, &number, BPF_ANY);
}

/*
 * Returns whether `from` is empty now. What cannot be added without a wrap waits for the next take.
 */
static bool move_ticks(struct counter_page *from, struct counter_page *to)
{
	bool all = true;
	uint32_t ticks;
	size_t i;

	for (i = 0; i < PAGE_COUNTERS; i++) {
		if (!__atomic_load_n(&from->counters[i], __ATOMIC_RELAXED))
			continue;
		if (__atomic_load_n(&to->counters[i], __ATOMIC_RELAXED) > UINT32_MAX / 2) {
			all = false;
			continue;
		}
		/*
		 * A program that a cache entry led here a moment ago may still be counting, so each
		 * step is atomic.
		 */
		ticks = __atomic_exchange_n(&from->counters[i], 0, __ATOMIC_RELAXED);
		__atomic_fetch_add(&to->counters[i], ticks, __ATOMIC_RELAXED);
	}
	return all;
}

static bool is_empty(const struct counter_page *page)
{
	size_t i;

	for (i = 0; i < PAGE_COUNTERS; i++)
		if (page->counters[i])
			return false;
	return true;
}

/*
 * Returns whether a page that left its directory one take ago can be freed. A page that a cache
 * entry still led to just now goes back to its place, or, if another page is there, waits for the
 * next take.
 */
static bool settle_page(const struct recycled *recycled, const struct retired_page *retired,
			bool reached)
{
	uint32_t *entry = &pool_dir(recycled->pool, retired->dir)->pages[retired->entry];
	struct counter_page *page = pool_page(recycled->pool, retired->number), *now;
	uint32_t number = 0;

	if (reached || !is_empty(page)) {
		/*
		 * Puts the page back into its place, or its ticks into the page that is there now.
		 */
		if (__atomic_compare_exchange_n(entry, &number, retired->number + 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		now = pool_page(recycled->pool, number - 1);
		if (!now || !move_ticks(page, now) || reached)
			return false;
	}
	free_page(recycled, retired->number);
	return true;
}

/*
 * Call before a take reads retired windows: a window that no cache entry leads to now has its last
 * ticks, because entries are made only from the table or from one another. Pages that wait go back
 * into its directory.
 */
static void check_caches(struct recycler *recycler, const struct recycled *recycled)
{
	cleanup_free uint8_t *marks = mark_retired(recycler, recycled);
	size_t i;

	if (marks)
		empty_caches(recycled, marks);
	for (i = 0; marks && i < recycler->nr_pages; i++)
		marks[recycler->pages[i].dir] = MARK_REACHED;
	for (i = 0; i < recycler->nr; i++)
		recycler->retired[i].unreachable = marks &&
						   marks[recycler->retired[i].dir] == MARK_RETIRED;
}

/*
 * The directories of retired pages still belong to the same windows, which had ticks when the pages
 * were retired, or have so many now that a page had to wait.
 */
void recycler_settle(struct recycler *recycler, const struct recycled *recycled)
{
	cleanup_free uint8_t *marks = mark_retired_pages(recycler, recycled);
	size_t i, left = 0;

	if (marks)
		cool_caches(recycled, marks);
	for (i = 0; i < recycler->nr_pages; i++) {
		struct retired_page *page = &recycler->pages[i];
		bool reached = !marks || marks[page->number] == MARK_REACHED;

		if (!settle_page(recycled, page, reached))
			recycler->pages[left++] = *page;
	}
	recycler->nr_pages = left;
	check_caches(recycler, recycled);
}

int recycler_add(const struct recycler *recycler, struct seen *seen, struct error *err)
{
	if (GROW(seen->list, seen->capacity, seen->nr + recycler->nr))
		return error_no_memory(err, "profile");
	if (recycler->nr)
		memcpy(seen->list + seen->nr, recycler->retired,
		       recycler->nr * sizeof(*seen->list));
	seen->nr += recycler->nr;
	return 0;
}

static int compare_used_spaces(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct space));
}

int uses_find(const struct seen *seen, enum split split, struct uses *result, struct error *err)
{
	size_t i;

	result->nr = 0;
	result->list = calloc(2 * seen->nr + 1, sizeof(*result->list));
	if (!result->list)
		return error_no_memory(err, "profile");
	for (i = 0; i < seen->nr; i++) {
		const struct window_key *key = &seen->list[i].key;

		result->list[result->nr++] = key->space;
		if (key->split && split == SPLIT_CGROUP)
			result->list[result->nr++] = cgroup_space(key->split);
	}
	SORT(result->list, result->nr, compare_used_spaces);
	return 0;
}

void uses_free(struct uses *uses)
{
	free(uses->list);
}

bool recycler_forgets(struct recycler *recycler, const struct recycled *recycled,
		      const struct uses *uses, const struct space *space, enum told told,
		      bool *struck)
{
	uint32_t value = told;
	bool used = bsearch(space, uses->list, uses->nr, sizeof(*space), compare_used_spaces);

	if (!*struck) {
		if (!used) {
			bpf_map_delete_elem(recycled->told_fd, space);
			__atomic_fetch_add(recycled->untold, 1, __ATOMIC_RELEASE);
		}
		*struck = !used;
		recycler->struck = recycler->struck || !used;
		return false;
	}
	if (!used)
		return true;
	bpf_map_update_elem(recycled->told_fd, space, &value, BPF_ANY);
	*struck = false;
	return false;
}

/* The window's counters are 0: what they held was taken, and no program can reach them. */
static void free_window(const struct recycled *recycled, uint32_t number)
{
	struct window_dir *dir = pool_dir(recycled->pool, number);
	uint32_t i, page;

	for (i = 0; i < WINDOW_PAGES; i++) {
		if (!dir->pages[i])
			continue;
		page = dir->pages[i] - 1;
		dir->pages[i] = 0;
		free_page(recycled, page);
	}
	__atomic_fetch_sub(&recycled->pool->state->windows_used, 1, __ATOMIC_RELAXED);
	*recycled->any_free = true;
	bpf_map_update_elem(recycled->free_dirs_fd, NULL, &number, BPF_ANY);
}

/* A window that a cache entry still led to is kept until the next take. */
static void free_retired(struct recycler *recycler, const struct recycled *recycled)
{
	size_t i, left = 0;

	for (i = 0; i < recycler->nr; i++) {
		if (recycler->retired[i].unreachable)
			free_window(recycled, recycler->retired[i].dir);
		else
			recycler->retired[left++] = recycler->retired[i];
	}
	recycler->nr = left;
}

/* Retires the idle pages of a window that stays. */
static void retire_pages(struct recycler *recycler, const struct recycled *recycled,
			 const struct seen_window *window)
{
	struct window_dir *dir = pool_dir(recycled->pool, window->dir);
	uint32_t entry, number;

	for (entry = 0; entry < WINDOW_PAGES; entry++) {
		if (!(window->idle[entry / 64] >> entry % 64 & 1))
			continue;
		if (GROW(recycler->pages, recycler->page_capacity, recycler->nr_pages + 1))
			return;
		number = __atomic_exchange_n(&dir->pages[entry], 0, __ATOMIC_RELAXED);
		recycler->pages[recycler->nr_pages++] =
			(struct retired_page){ window->dir, entry, number - 1 };
	}
}

/*
 * Whether so many pages are in use that windows must be retired before they have been idle for a
 * take.
 */
static bool are_pages_short(const struct pool *pool)
{
	return __atomic_load_n(&pool->state->pages_used, __ATOMIC_RELAXED) >
	       pool->pages.limit / SHORT_SHARE;
}

/*
 * Windows of the widest bins are all that is left where memory is short, and each serves whole files. Until
 * a retired one is free, the next tick would need a second one.
 */
static bool may_retire(const struct seen_window *window, bool all)
{
	return !window->ticks || (all && window->key.shift != BIN_SHIFT_MAX);
}

static void retire_windows(struct recycler *recycler, const struct recycled *recycled,
			   const struct seen *seen, bool all)
{
	size_t i;

	for (i = 0; i < seen->nr; i++) {
		const struct seen_window *window = &seen->list[i];

		if (window->retired || window->spilled)
			continue;
		if (!may_retire(window, all)) {
			retire_pages(recycler, recycled, window);
			continue;
		}
		if (GROW(recycler->retired, recycler->capacity, recycler->nr + 1))
			return;
		if (bpf_map_delete_elem(recycled->windows_fd, &window->key))
			continue;
		recycler->retired[recycler->nr] = *window;
		recycler->retired[recycler->nr].unreachable = false;
		recycler->retired[recycler->nr++].retired = true;
	}
}

void recycler_turn(struct recycler *recycler, const struct recycled *recycled,
		   const struct seen *seen, bool all)
{
	cleanup_free uint8_t *marks = NULL, *page_marks = NULL;

	all = all || are_pages_short(recycled->pool);
	free_retired(recycler, recycled);
	retire_windows(recycler, recycled, seen, all);
	marks = mark_retired(recycler, recycled);
	if (marks)
		empty_caches(recycled, marks);
	page_marks = mark_retired_pages(recycler, recycled);
	if (page_marks)
		cool_caches(recycled, page_marks);
}

void recycler_free(struct recycler *recycler)
{
	grace_period_free(&recycler->grace);
	free(recycler->retired);
	free(recycler->pages);
	recycler_init(recycler);
}
