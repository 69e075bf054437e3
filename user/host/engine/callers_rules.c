// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes the tables by which BPF programs find the caller of a frame.
 *
 * A process announces a file at its first tick in it. Until the file has a table, callers end
 * there. A thread of its own reads one file after the other (reader/, in a confined process,
 * because anybody may own the file) and writes into maps that the programs read:
 *
 *     places  by number of a text: where its table is, and its state
 *     lines   the tables: for each granule of text the index of its first row, then the rows
 *     rules   each distinct rule once, for all files (callers_interned.h)
 *
 * Lines and rules have a fixed size. An owner, that is a user or a container, may use what is free.
 * If nothing is free, an owner with less than an equal share takes it from the largest one: tables
 * of that owner are marked as full, and are freed once no program can be in them.
 */
#include "host/engine/callers_rules.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"
#include "host/engine/callers_interned.h"
#include "host/engine/extents.h"
#include "shared/callers_abi.h"
#include "reader/reader.h"
#include "unwind/unwind_table.h"

/*
 * The largest part of rules and lines for one file, which may be hostile. No file of a whole
 * distribution has more than 900 rules. libLLVM has 4 MiB of lines.
 */
enum { RULES_OF_FILE_MAX = RULES_MAX / 8, LINES_SHARE = 2 };

/* Texts without ticks lose their tables if more than SHORT_QUARTERS / 4 of the lines are in use. */
enum { SHORT_QUARTERS = 3 };

/*
 * A program without a table loses its callers. Therefore root's files are read at a high priority:
 * a compiler's take some 25 ms, all others less. This is limited to some seconds and a part of the
 * time, because the root of a container owns files too.
 */
enum { NICE = -15, HURRY_SHARE = 20 };
#define HURRY_NS 5000000000ULL

struct callers_rules {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct rules_queue queue;
	bool busy;
	bool ending;
	_Atomic uint64_t until_ns; /* when reading a file must end; 0: never */
	/* Only the thread uses these. */
	int nice; /* at its start */
	uint64_t since_ns;
	struct callers_rules_maps maps;
	struct chunked_array lines;
	struct extents free_words;
	uint64_t words; /* in use */
	uint64_t words_of[OWNERS_MAX];
	bool refused; /* a table found no room since one was freed */
	uint64_t rest_until; /* when tables may be moved again */
	struct interned interned;
	struct grace_period grace;
};

void callers_rules_plan(struct chunked_array *lines, uint64_t bytes)
{
	chunked_array_plan(lines, bytes, sizeof(struct unwind_line), CHUNK_LINES, CHUNK_LINES);
}

static void put_word(struct callers_rules *rules, uint64_t at, uint32_t word)
{
	struct unwind_line *line = chunked_array_at(&rules->lines, unwind_line_of((uint32_t)at));

	if (line)
		line->word[unwind_word_of((uint32_t)at)] = word;
}

static uint32_t get_word(const struct callers_rules *rules, uint32_t at)
{
	const struct unwind_line *line = chunked_array_at(&rules->lines, unwind_line_of(at));

	return line ? line->word[unwind_word_of(at)] : at;
}

/* Allocates memory up to and including a word; false: there is none. */
static bool make_room(struct callers_rules *rules, uint64_t last)
{
	struct error ignored;

	last >>= UNWIND_LINE_SHIFT;
	if (last >= rules->lines.limit)
		return false;
	while (last >= rules->lines.present)
		if (chunked_array_grow(&rules->lines, rules->lines.present, &ignored))
			return false;
	return true;
}

/* The number of words, which are counted in 32 bits. */
static uint32_t max_words(const struct callers_rules *rules)
{
	const uint64_t words = (uint64_t)rules->lines.limit << UNWIND_LINE_SHIFT;

	return words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
}

/* --- shares ----------------------------------------------------------------------------------- */

static struct rules_of_text *place_of(const struct callers_rules *rules, uint32_t text)
{
	return &rules->maps.texts.places[text];
}

static void set_state(struct rules_of_text *place, uint32_t state)
{
	__atomic_store_n(&place->state, (uint16_t)state, __ATOMIC_RELEASE);
}

/*
 * An owner's part of all, in 1/WHOLE: the larger of its part of the words and its part of the
 * rules. The share is the part of each owner if all present owners, and one more, had equal parts.
 */
enum { WHOLE = 1 << 20 };

static uint64_t part_of(const struct callers_rules *rules, uint32_t owner)
{
	uint64_t words = rules->words_of[owner] * WHOLE / max_words(rules);
	uint64_t numbers = (uint64_t)rules->interned.owners[owner].nr * WHOLE / RULES_MAX;

	return words > numbers ? words : numbers;
}

static uint64_t share(const struct callers_rules *rules)
{
	uint32_t i, nr = 1;

	for (i = 0; i < OWNERS_MAX; i++)
		nr += rules->words_of[i] > 0;
	return WHOLE / nr;
}

static uint32_t largest_owner(const struct callers_rules *rules)
{
	uint32_t i, largest = 0;

	for (i = 1; i < OWNERS_MAX; i++)
		if (part_of(rules, i) > part_of(rules, largest))
			largest = i;
	return largest;
}

static uint32_t words_of_table(const struct callers_rules *rules, const struct rules_of_text *place)
{
	if (!place->granules)
		return 0;
	return get_word(rules, place->index + place->granules) - place->index;
}

static void release_words(struct callers_rules *rules, uint32_t owner, uint32_t at, uint32_t nr)
{
	extents_release(&rules->free_words, at, nr);
	rules->words_of[owner] -= nr;
	__atomic_store_n(&rules->words, rules->words - nr, __ATOMIC_RELAXED);
}

/* Frees a text's words and rules. No walk may use any of them. */
static void free_table(struct callers_rules *rules, struct rules_of_text *place)
{
	uint32_t nr = words_of_table(rules, place), i;
	cleanup_free bool *seen = nr ? calloc(RULES_MAX, sizeof(*seen)) : NULL;

	for (i = place->granules + 1; seen && i < nr; i++) {
		uint32_t number = unwind_row_rule(get_word(rules, place->index + i));

		if (number && !seen[number])
			interned_release(&rules->interned, place->owner, number);
		seen[number] = true;
	}
	if (nr)
		release_words(rules, place->owner, place->index, nr);
	place->granules = 0;
	__atomic_store_n(&rules->refused, false, __ATOMIC_RELAXED);
}

/* Makes later walks ignore rules that they remember. */
static void begin_epoch(const struct callers_rules *rules)
{
	__atomic_fetch_add(&rules->maps.texts.state->epoch, 1, __ATOMIC_RELEASE);
}

/*
 * Frees tables of an owner, until the owner has no more than the share, or enough words are free.
 * It marks them as full first, and waits for walks that may use them. Such a walk remembers rules
 * of the epoch in between.
 */
static bool evict(struct callers_rules *rules, uint32_t owner, uint64_t words)
{
	const uint64_t share_of_all = share(rules), had = part_of(rules, owner);
	const uint64_t all = rules->words_of[owner];
	uint32_t i, first = 0, last = 0;
	uint64_t marked = 0;
	bool evicted;

	for (i = TEXT_FIRST; i < rules->maps.texts.nr; i++) {
		struct rules_of_text *place = place_of(rules, i);

		if (place->owner != owner || !place->granules)
			continue;
		if (marked && (marked >= words || had * (all - marked) / all <= share_of_all))
			break;
		set_state(place, RULES_FULL);
		marked += words_of_table(rules, place);
		first = first ? first : i;
		last = i;
	}
	if (!marked)
		return false;
	begin_epoch(rules);
	evicted = !grace_period_wait(&rules->grace);
	begin_epoch(rules);
	for (i = first; i <= last; i++) {
		struct rules_of_text *place = place_of(rules, i);

		if (place->owner != owner || !place->granules)
			continue;
		if (evicted)
			free_table(rules, place);
		else
			set_state(place, RULES_READY);
	}
	return evicted;
}

/* Frees tables of the largest owner, if the other one would stay below its share. */
static bool evict_for(struct callers_rules *rules, uint32_t owner, const struct unwind_table *table)
{
	const uint64_t words = table->granule_count + 1 + table->row_count;
	const uint64_t most = share(rules);
	const uint32_t largest = largest_owner(rules);

	if (largest == owner || part_of(rules, largest) <= most ||
	    (rules->words_of[owner] + words) * WHOLE / max_words(rules) > most ||
	    (rules->interned.owners[owner].nr + table->rule_count) * WHOLE / RULES_MAX > most)
		return false;
	return evict(rules, largest, words);
}

/* --- moving tables together ------------------------------------------------------------------- */

/* Moving tables makes ticks lack callers for at most 1/REST_SHARE of the time. */
enum { REST_SHARE = 100 };

struct table_place {
	uint32_t at; /* the first of its words */
	uint32_t nr;
	uint32_t text;
	uint16_t state;
};

DEFINE_COMPARE(compare_places, struct table_place, at)

/* All tables, by place. */
static uint32_t list_tables(const struct callers_rules *rules, struct table_place *list)
{
	uint32_t i, nr = 0;

	for (i = TEXT_FIRST; i < rules->maps.texts.nr; i++) {
		const struct rules_of_text *place = place_of(rules, i);

		if (place->granules)
			list[nr++] = (struct table_place){ .at = place->index,
							   .nr = words_of_table(rules, place),
							   .text = i,
							   .state = place->state };
	}
	SORT(list, nr, compare_places);
	return nr;
}

/* Words of the index are places of rows, and move too. */
static void move_table(struct callers_rules *rules, const struct table_place *table, uint32_t to)
{
	struct rules_of_text *place = place_of(rules, table->text);
	uint32_t i;

	for (i = 0; i < table->nr; i++) {
		uint32_t word = get_word(rules, table->at + i);

		put_word(rules, to + i, i <= place->granules ? word - table->at + to : word);
	}
	place->index = to;
}

/* Moves tables to close the holes between them. No walk may use them. */
static void move_together(struct callers_rules *rules, const struct table_place *list, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		extents_release(&rules->free_words, list[i].at, list[i].nr);
	for (i = 0; i < nr; i++)
		move_table(rules, &list[i],
			   (uint32_t)extents_alloc(&rules->free_words, list[i].nr));
}

/*
 * Many files that come and go leave holes, each too small for a large table. This makes one hole of
 * them all. False: there was none, or the last time was too recent.
 */
static bool join_holes(struct callers_rules *rules)
{
	cleanup_free struct table_place *list = calloc(rules->maps.texts.nr, sizeof(*list));
	const uint64_t began = monotonic_ns();
	uint32_t nr, i, first, end = 0;
	bool moved;

	if (!list || began < rules->rest_until)
		return false;
	nr = list_tables(rules, list);
	for (first = 0; first < nr && list[first].at == end; first++)
		end += list[first].nr;
	for (i = first; i < nr; i++)
		set_state(place_of(rules, list[i].text), RULES_AWAITED);
	moved = first < nr && !grace_period_wait(&rules->grace);
	if (moved)
		move_together(rules, list + first, nr - first);
	for (i = first; i < nr; i++)
		set_state(place_of(rules, list[i].text), list[i].state);
	rules->rest_until = monotonic_ns() + (monotonic_ns() - began) * REST_SHARE;
	return moved;
}

/* --- a file's table --------------------------------------------------------------------------- */

/* Allocates words. Returns their index, or a negative errno without room or memory. */
static int64_t alloc_words(struct callers_rules *rules, uint32_t owner, uint64_t nr)
{
	const bool in_holes = rules->words + nr <= max_words(rules);
	int64_t at;

	if (nr > max_words(rules) / LINES_SHARE)
		return -EFBIG;
	at = extents_alloc(&rules->free_words, (uint32_t)nr);
	if (at == -ENOSPC && in_holes && join_holes(rules))
		at = extents_alloc(&rules->free_words, (uint32_t)nr);
	if (at < 0) {
		/* Holes can be joined later, even if nothing is freed. */
		if (!in_holes)
			__atomic_store_n(&rules->refused, true, __ATOMIC_RELAXED);
		return at;
	}
	rules->words_of[owner] += nr;
	__atomic_store_n(&rules->words, rules->words + nr, __ATOMIC_RELAXED);
	if (make_room(rules, (uint64_t)at + nr - 1))
		return at;
	release_words(rules, owner, (uint32_t)at, (uint32_t)nr);
	return -ENOMEM;
}

static void release_all(struct callers_rules *rules, uint32_t owner, const uint16_t *numbers,
			size_t nr)
{
	while (nr--)
		if (numbers[nr])
			interned_release(&rules->interned, owner, numbers[nr]);
}

/*
 * Gives the rules of a table their numbers for all files; false: there is no room for one of them.
 */
static bool intern_all(struct callers_rules *rules, uint32_t owner,
		       const struct unwind_table *table, uint16_t *numbers)
{
	size_t i;

	for (i = 0; i < table->rule_count; i++) {
		numbers[i] = 0;
		if (table->rules[i].cfa == UNWIND_NONE)
			continue;
		numbers[i] = (uint16_t)interned_hold(&rules->interned, owner, &table->rules[i]);
		if (numbers[i])
			continue;
		release_all(rules, owner, numbers, i);
		__atomic_store_n(&rules->refused, true, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

/* Allocates rules and words for a table. Returns the index of its words, or a negative errno. */
static int64_t alloc_table(struct callers_rules *rules, uint32_t owner,
			   const struct unwind_table *table, uint16_t *numbers)
{
	const uint64_t nr = table->granule_count + 1 + table->row_count;
	int64_t at;

	if (!intern_all(rules, owner, table, numbers))
		return -ENOSPC;
	at = alloc_words(rules, owner, nr);
	if (at < 0)
		release_all(rules, owner, numbers, table->rule_count);
	return at;
}

/*
 * Copies a file's table. The index comes first, with one word more than granules, which ends the
 * rows of the last one.
 */
static uint32_t write_table(struct callers_rules *rules, const struct unwind_table *table,
			    struct rules_of_text *place)
{
	cleanup_free uint16_t *numbers = calloc(table->rule_count + 1, sizeof(*numbers));
	uint64_t rows;
	int64_t at;
	size_t i;

	if (!table->row_count)
		return place->go_size ? RULES_READY : RULES_NONE;
	if (!numbers || table->rule_count > RULES_OF_FILE_MAX)
		return RULES_FULL;
	do
		at = alloc_table(rules, place->owner, table, numbers);
	while (at == -ENOSPC && evict_for(rules, place->owner, table));
	if (at < 0)
		return RULES_FULL;
	rows = (uint64_t)at + table->granule_count + 1;
	for (i = 0; i <= table->granule_count; i++)
		put_word(rules, (uint64_t)at + i, (uint32_t)rows + table->index[i]);
	for (i = 0; i < table->row_count; i++) {
		uint32_t row = table->rows[i], number = numbers[unwind_row_rule(row)];

		put_word(rules, rows + i, row - unwind_row_rule(row) + number);
	}
	place->index = (uint32_t)at;
	place->first = table->first_granule;
	place->granules = (uint32_t)table->granule_count;
	return RULES_READY;
}

/* A file that could not be read may have rules. Then callers must not be guessed. */
static uint32_t state_without_table(int code)
{
	if (code == -ENOMEM)
		return RULES_FULL;
	return code == -ETIME || code == -EACCES ? RULES_AWAITED : RULES_NONE;
}

/* Frees the table. code: what reading it returned. */
static uint32_t write_read(struct callers_rules *rules, int code, struct unwind_table *table,
			   const struct unwind_go *go, struct rules_of_text *place)
{
	uint32_t state;

	if (code)
		return state_without_table(code);
	if (go->size && go->offset + go->size <= UINT32_MAX) {
		place->go_start = (uint32_t)go->offset;
		place->go_size = (uint32_t)go->size;
	}
	state = write_table(rules, table, place);
	unwind_table_free(table);
	return state;
}

/* The kernel's vDSO is the same in all 64-bit processes. Therefore our own is read. */
static uint32_t write_vdso(struct callers_rules *rules, struct rules_of_text *place)
{
	const struct unwind_go none = { 0 };
	struct unwind_table table = { 0 };
	struct elf_image image;
	struct error ignored;
	size_t size;
	const void *memory = vdso_image(&size);
	int ret;

	if (!memory || elf_image_open_memory(memory, size, &image, &ignored))
		return RULES_NONE;
	ret = unwind_table_read(&image, UNWIND_BYTES_MAX, &none, &table, &ignored);
	elf_image_close(&image);
	return write_read(rules, ret, &table, &none, place);
}

/* Sets the priority of this thread, if that is allowed. */
static void set_nice(int nice)
{
	setpriority(PRIO_PROCESS, (id_t)gettid(), nice);
}

static bool may_hurry(const struct callers_rules *rules)
{
	return reader_cpu_ns() < HURRY_NS + (monotonic_ns() - rules->since_ns) / HURRY_SHARE;
}

/* Anybody may own the file. A malformed one has no rules. */
static uint32_t write_file(struct callers_rules *rules, int fd, struct rules_of_text *place)
{
	struct unwind_table table = { 0 };
	struct unwind_go go = { 0 };
	struct error ignored;

	if (fd < 0)
		return RULES_AWAITED;
	return write_read(rules, reader_rules(fd, &table, &go, &ignored), &table, &go, place);
}

/* For a far file, the time that its owner makes us wait counts. */
static uint32_t write_wanted(struct callers_rules *rules, const struct wanted_rules *wanted,
			     struct rules_of_text *place)
{
	const uint64_t since_ns = reader_cpu_ns(), began_ns = monotonic_ns();
	const bool far = wanted->far && wanted->fd >= 0;
	cleanup_fd int copy = far ? opener_open(wanted->owner, wanted->fd, "", NULL) : -1;
	uint64_t waited_ns = monotonic_ns() - began_ns;
	uint32_t state;

	set_nice(wanted->counts || !may_hurry(rules) ? rules->nice : NICE);
	state = write_file(rules, far ? copy : wanted->fd, place);
	set_nice(NICE);
	if (!wanted->counts)
		return state;
	LOCK_SCOPE(&rules->lock);
	rules_queue_spend(&rules->queue, wanted->number, reader_cpu_ns() - since_ns + waited_ns,
			  monotonic_ns());
	return state;
}

/* No walk can use the number any more. */
static void free_text(struct callers_rules *rules, uint32_t text)
{
	free_table(rules, place_of(rules, text));
	text_numbers_free(&rules->maps.texts, text);
}

static void make_table(struct callers_rules *rules, const struct wanted_rules *wanted)
{
	struct rules_of_text *place = place_of(rules, wanted->text);
	uint32_t state;

	/*
	 * A text that is announced again may still have its table. If it found no room, it is tried
	 * again.
	 */
	if (place->state != RULES_AWAITED && place->state != RULES_FULL)
		return;
	if (place->state == RULES_FULL && wanted->is_file && wanted->fd < 0)
		return;
	if (wanted->text == TEXT_VDSO)
		state = write_vdso(rules, place);
	else
		state = wanted->is_file ? write_wanted(rules, wanted, place) : RULES_NONE;
	set_state(place, state);
}

/* Waits for the next text, with the lock held. Texts of owners without time stay in the queue. */
static bool await_wanted(struct callers_rules *rules, struct wanted_rules *result)
{
	struct timespec until;

	while (!rules->ending && !rules_queue_next(&rules->queue, monotonic_ns(), result)) {
		rules->busy = false;
		pthread_cond_broadcast(&rules->changed);
		until = timespec_of(monotonic_ns() + SECOND_NS);
		if (rules->queue.nr)
			pthread_cond_timedwait(&rules->changed, &rules->lock, &until);
		else
			pthread_cond_wait(&rules->changed, &rules->lock);
	}
	rules->busy = !rules->ending;
	return rules->busy;
}

static void *make_tables(void *context)
{
	struct callers_rules *rules = context;
	struct wanted_rules wanted;

	rules->nice = getpriority(PRIO_PROCESS, 0);
	rules->since_ns = monotonic_ns();
	reader_deadline(&rules->until_ns);
	set_nice(NICE);
	pthread_mutex_lock(&rules->lock);
	while (await_wanted(rules, &wanted)) {
		pthread_mutex_unlock(&rules->lock);
		if (wanted.is_gone)
			free_text(rules, wanted.text);
		else
			make_table(rules, &wanted);
		close_fd(&wanted.fd);
		pthread_mutex_lock(&rules->lock);
	}
	pthread_mutex_unlock(&rules->lock);
	return NULL;
}

static void free_rules(struct callers_rules *rules)
{
	rules_queue_free(&rules->queue);
	mapped_array_close(&rules->maps.rules);
	chunked_array_free(&rules->lines);
	extents_free(&rules->free_words);
	interned_free(&rules->interned);
	grace_period_free(&rules->grace);
	pthread_mutex_destroy(&rules->lock);
	pthread_cond_destroy(&rules->changed);
	free(rules);
}

struct callers_rules *callers_rules_start(const struct callers_rules_maps *maps,
					  const struct chunked_array *lines, struct error *err)
{
	struct callers_rules *rules = calloc(1, sizeof(*rules));
	int ret;

	if (!rules) {
		struct mapped_array lost = maps->rules;

		mapped_array_close(&lost);
		error_no_memory(err, "callers");
		return NULL;
	}
	rules->maps = *maps;
	rules->lines = *lines;
	rules->lines.outer_fd = maps->line_chunks_fd;
	interned_init(&rules->interned, rules->maps.rules.at);
	grace_period_init(&rules->grace);
	pthread_mutex_init(&rules->lock, NULL);
	cond_init_monotonic(&rules->changed);
	ret = extents_init(&rules->free_words, max_words(rules));
	if (ret)
		error_no_memory(err, "callers");
	else
		ret = chunked_array_map(&rules->lines, maps->lines_fd, rules->lines.base, err);
	if (!ret) {
		ret = -pthread_create(&rules->thread, NULL, make_tables, rules);
		if (ret)
			error_errno(err, ret, "a thread for callers");
	}
	if (!ret)
		return rules;
	free_rules(rules);
	return NULL;
}

/* Root's files, and those of the user who runs us, are read without a limit. */
static bool time_counts(uint64_t owner)
{
	return !(owner & OWNER_OF_CGROUP) && !(owner < NO_UID && is_our_user((uid_t)owner));
}

bool callers_rules_add(struct callers_rules *rules, struct wanted_rules wanted)
{
	wanted.number = place_of(rules, wanted.text)->owner;
	/* A user who can delay the opening of a far file is charged for that. */
	wanted.counts = wanted.is_file && (wanted.far || time_counts(wanted.owner));
	LOCK_SCOPE(&rules->lock);
	/* The number's next text must not get the table of this one. One request is enough. */
	if (wanted.is_gone || wanted.fd >= 0)
		rules_queue_drop(&rules->queue, wanted.text);
	if (rules_queue_add(&rules->queue, &wanted)) {
		close_fd(&wanted.fd);
		return false;
	}
	rules->busy = true;
	pthread_cond_broadcast(&rules->changed);
	return true;
}

void callers_rules_add_none(struct callers_rules *rules, uint32_t text)
{
	set_state(place_of(rules, text), RULES_NONE);
}

size_t callers_rules_waiting(struct callers_rules *rules)
{
	LOCK_SCOPE(&rules->lock);

	return rules->queue.nr + rules->busy;
}

bool callers_rules_refused(const struct callers_rules *rules)
{
	return __atomic_load_n(&rules->refused, __ATOMIC_RELAXED);
}

bool callers_rules_are_short(const struct callers_rules *rules)
{
	return callers_rules_refused(rules) || __atomic_load_n(&rules->words, __ATOMIC_RELAXED) >
						       max_words(rules) / 4 * SHORT_QUARTERS;
}

void callers_rules_wait(struct callers_rules *rules, unsigned int milliseconds)
{
	struct timespec until = timespec_of(monotonic_ns() + milliseconds * 1000000ULL);

	LOCK_SCOPE(&rules->lock);
	while (rules->busy && !pthread_cond_timedwait(&rules->changed, &rules->lock, &until))
		;
}

uint64_t callers_rules_bytes(const struct callers_rules *rules)
{
	return (uint64_t)__atomic_load_n(&rules->lines.present, __ATOMIC_RELAXED) *
	       rules->lines.element_size;
}

void callers_rules_end(struct callers_rules *rules)
{
	if (!rules)
		return;
	pthread_mutex_lock(&rules->lock);
	rules->ending = true;
	pthread_cond_broadcast(&rules->changed);
	pthread_mutex_unlock(&rules->lock);
	/* The current table is not needed any more. */
	rules->until_ns = monotonic_ns();
	pthread_join(rules->thread, NULL);
	free_rules(rules);
}
