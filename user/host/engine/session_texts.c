// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The numbers of texts. The programs number a text when they first see it. If numbers run short,
 * those of texts without ticks are freed here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/session_impl.h"
#include "shared/callers_abi.h"

/*
 * With callers a number takes some 200 bytes. One for each KiB of --memory is more than a host has
 * files, but too few for all programs that are compiled and run in a day. Without callers only text
 * with ticks needs a number.
 */
enum { TEXT_SHARE = 8192, TEXT_SHARE_CALLERS = 1024, TEXTS_MIN = 1024 };

/*
 * Unused numbers are freed if more than 1/SHORT_SHARE of all is in use, and no half has had ticks
 * of them for UNNAMED_SWAPS swaps.
 */
enum { SHORT_SHARE = 4, UNNAMED_SWAPS = 2 };

/* The pause before a file that had no room is read again; it doubles with each time, RETRIES_MAX times. */
enum { RETRIES_MAX = 7 };
#define RETRY_NS 500000000ULL

/* After this many swaps, neither a program nor a half has a number that its text has lost. */
enum { UNLINKED_SWAPS = 2 };

/* A process whose code moves may have 1/FORMER_SHARE of them. */
enum { FORMER_SHARE = 64 };

static uint32_t max_texts_of(const struct session *session)
{
	uint64_t nr = session->options.memory /
		      (session->options.callers ? TEXT_SHARE_CALLERS : TEXT_SHARE);

	nr = nr < TEXTS_MIN ? TEXTS_MIN : nr;
	return nr < TEXTS_MAX ? (uint32_t)nr : TEXTS_MAX;
}

static int texts_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.texts);
}

/* Subordinate uids belong to the first one of their range: see struct owner. */
static void set_subordinates(struct host_bpf *skel)
{
	cleanup_file FILE *file = fopen(SUBORDINATES_FILE, "re");
	uint32_t nr = 0, first, uids;

	while (file && nr < SUBORDINATES_MAX && subordinates_next(file, &first, &uids)) {
		skel->rodata->subordinates[nr].first = first;
		skel->rodata->subordinates[nr++].nr = uids;
	}
	skel->rodata->nr_subordinates = nr;
}

void session_size_texts(struct session *session)
{
	const uint32_t texts = max_texts_of(session);
	struct host_bpf *skel = session->skel;

	set_subordinates(skel);
	skel->rodata->max_texts = texts;
	map_set_entries(skel->maps.rules_of_texts, texts);
	map_set_entries(skel->maps.texts, texts);
	map_set_entries(skel->maps.free_texts, texts);
	/* Of files, processes with anonymous text, and cgroups. */
	map_set_entries(skel->maps.spaces, 2 * texts + session->nr_splits);
}

int session_bind_texts(struct session *session, struct error *err)
{
	struct session_texts *texts = &session->texts;
	struct host_bpf *skel = session->skel;
	const int both = PROT_READ | PROT_WRITE;
	int ret = mapped_array_open(skel->maps.rules_of_texts, both, &texts->places, err);

	if (!ret)
		ret = mapped_array_open(skel->maps.owners, both, &texts->owners, err);
	if (ret)
		return ret;
	texts->numbers = (struct text_numbers){ .places = texts->places.at,
						.owners = texts->owners.at,
						.state = &skel->bss->table_state,
						.free_fd = bpf_map__fd(skel->maps.free_texts),
						.nr = max_texts_of(session) };
	texts->numbers.state->next_text = TEXT_FIRST;
	texts->numbers.state->next_owner = OWNER_FIRST;
	return 0;
}

void session_free_texts(struct session *session)
{
	mapped_array_close(&session->texts.places);
	mapped_array_close(&session->texts.owners);
	free(session->texts.list);
	free(session->texts.states);
}

/* --- texts that are announced ----------------------------------------------------------------- */

/* A few may wait with a reserved descriptor, because their tables are made in a moment. */
enum { WAITING_MAX = 32, WAIT_MS = 50 };

static bool may_wait(struct session *session, const struct space_info *info, int fd)
{
	struct callers_rules *rules = session->callers.rules;

	if (spaces_may_keep(&session->spaces, info, fd))
		return true;
	if (callers_rules_waiting(rules) >= WAITING_MAX)
		callers_rules_wait(rules, WAIT_MS);
	return callers_rules_waiting(rules) < WAITING_MAX;
}

static void want_rules(struct session *session, const struct space_info *info, uint32_t number)
{
	struct wanted_rules wanted = { .text = number,
				       .fd = -1,
				       .is_file = info->space.kind == SPACE_FILE };

	if (info->fd >= 0)
		wanted.fd = fcntl(info->fd, F_DUPFD_CLOEXEC, 0);
	if (!may_wait(session, info, wanted.fd))
		close_fd(&wanted.fd);
	wanted.far = info->far;
	wanted.owner = info->owner;
	callers_rules_add(session->callers.rules, wanted);
}

void session_new_number(struct session *session, const struct space *space)
{
	const struct space_info *info = spaces_find(&session->spaces, space);
	uint32_t number;

	if (session->options.callers && info &&
	    !bpf_map_lookup_elem(texts_fd(session), space, &number))
		want_rules(session, info, number);
}

static int make_room(struct session_texts *texts, uint32_t nr)
{
	size_t room = texts->room;

	if (GROW(texts->list, room, nr) || GROW(texts->states, texts->room, nr))
		return -ENOMEM;
	for (; texts->nr < nr; texts->nr++) {
		texts->list[texts->nr] = (struct store_text){ 0 };
		texts->states[texts->nr] = (struct text_state){ 0 };
	}
	return 0;
}

/*
 * A number that its text has lost is no longer in the map, but perhaps in a half. Therefore it
 * stays in the list.
 */
int session_read_texts(struct session *session)
{
	struct session_texts *texts = &session->texts;
	uint32_t nr = texts->numbers.state->next_text, number;
	struct space space, *last = NULL;

	nr = nr < texts->numbers.nr ? nr : texts->numbers.nr;
	if (make_room(texts, nr))
		return -ENOMEM;
	for (; !bpf_map_get_next_key(texts_fd(session), last, &space); last = &space) {
		if (bpf_map_lookup_elem(texts_fd(session), &space, &number) || number >= nr ||
		    texts->list[number].space.kind)
			continue;
		texts->list[number].space = space;
		texts->states[number].named = session->swaps;
	}
	return 0;
}

/* --- code that was replaced ------------------------------------------------------------------- */

DEFINE_COMPARE_2(compare_codes, struct jit_code, start, line)

/* By place. If several came and went since the last reading, the first was there longest. */
static size_t sort_codes(struct jit_code *codes, size_t nr)
{
	size_t i, kept = 0;

	SORT(codes, nr, compare_codes);
	for (i = 0; i < nr; i++)
		if (!kept || codes[i].start != codes[kept - 1].start)
			codes[kept++] = codes[i];
	return kept;
}

/* Replaced code: has any of it ticks? */
struct replaced_codes {
	struct jit_text *jit;
	struct jit_code *codes;
	size_t nr;
	uint64_t late_ns;
	bool noted; /* some has */
};

/* Ticks are in doubt if other code may have been there for 1/DOUBT_SHARE of the time. */
enum { DOUBT_SHARE = 16 };

/* The name for the ticks of replaced code; NULL: out of memory. */
static char *former_name(const struct replaced_codes *replaced, const struct jit_code *code,
			 bool *ret_doubtful)
{
	const uint64_t lived_ns = monotonic_ns() - (code->time ? code->time : code->read_ns);
	cleanup_free char *name = jit_map_name(replaced->jit->map, code);

	*ret_doubtful = replaced->late_ns && replaced->late_ns > lived_ns / DOUBT_SHARE;
	return name ? format_text("%s%s", name, *ret_doubtful ? " or other code" : "") : NULL;
}

/* Notes the replaced code around an address that has ticks. */
static void note_former(void *ctx, uint64_t address)
{
	struct replaced_codes *replaced = ctx;
	const size_t nr = replaced->nr;
	size_t after = BISECT(i, nr, replaced->codes[i].start <= address);
	struct jit_code *code = after ? &replaced->codes[after - 1] : NULL;
	bool doubtful;
	char *name;

	if (!code || address - code->start >= code->size)
		return;
	name = former_name(replaced, code, &doubtful);
	if (!jit_text_add_former(replaced->jit, code, name, doubtful))
		replaced->noted = true;
	code->size = 0; /* it is noted */
}

/* Does the same for all addresses in the half that programs add to. */
static void note_counted(const struct session *session, uint32_t number,
			 struct replaced_codes *replaced)
{
	const uint32_t half = halves_in_use(&session->halves);
	const struct table_node *nodes;
	struct mapped_array map;
	uint32_t i;
	uint64_t site;

	if (halves_map(&session->halves, half, &map))
		return;
	nodes = map.at;
	for (i = 0; i < session->halves.nr_nodes[half]; i++) {
		site = __atomic_load_n(&nodes[i].site, __ATOMIC_RELAXED);
		if (site_text(site) == number)
			note_former(replaced, site & SITE_OFFSET_MASK);
	}
	mapped_array_close(&map);
}

static bool may_renumber(const struct session *session, const struct space *space)
{
	const struct session_texts *texts = &session->texts;
	uint32_t i, formers = 0;

	for (i = TEXT_FIRST; i < texts->nr; i++)
		formers += texts->states[i].unlinked &&
			   !memcmp(&texts->list[i].space, space, sizeof(*space));
	return formers < max_texts_of(session) / FORMER_SHARE;
}

/* From the next swap on, no tick has the text's old number. */
static void renumber(struct session *session, struct space_info *info, uint32_t old, uint32_t fresh)
{
	struct session_texts *texts = &session->texts;

	if (session->options.callers)
		callers_rules_add_none(session->callers.rules, fresh);
	texts->list[fresh] =
		(struct store_text){ .space = info->space, .version = ++info->jit->version };
	texts->states[fresh] = (struct text_state){ .named = session->swaps };
	texts->states[old].unlinked = session->swaps;
	bpf_map_update_elem(texts_fd(session), &info->space, &fresh, BPF_EXIST);
	__atomic_fetch_add(&texts->numbers.state->epoch, 1, __ATOMIC_RELEASE);
}

void session_replace_code(struct session *session, struct space_info *info, struct jit_code *codes,
			  size_t nr, uint64_t late_ns)
{
	struct replaced_codes replaced = { .jit = info->jit,
					   .codes = codes,
					   .nr = sort_codes(codes, nr),
					   .late_ns = late_ns };
	const struct store_text text = { .space = info->space, .version = info->jit->version };
	uint32_t old, fresh;

	if (bpf_map_lookup_elem(texts_fd(session), &info->space, &old) ||
	    !may_renumber(session, &info->space))
		return;
	fresh = text_numbers_alloc(&session->texts.numbers, old);
	if (!fresh)
		return;
	note_counted(session, old, &replaced);
	store_each_site(session->store, &text, note_former, &replaced);
	if (replaced.noted && !session_read_texts(session))
		renumber(session, info, old, fresh);
	else
		text_numbers_free(&session->texts.numbers, fresh);
}

/* --- numbers that are freed ------------------------------------------------------------------- */

bool session_texts_are_short(const struct session *session)
{
	const struct table_state *state = &session->skel->bss->table_state;

	return __atomic_load_n(&state->texts, __ATOMIC_RELAXED) >
		       max_texts_of(session) / SHORT_SHARE ||
	       (session->options.callers && callers_rules_are_short(session->callers.rules));
}

/*
 * Removes the number from its text. The next program that sees the text announces it as new. A
 * running process keeps its text.
 */
static bool unlink_text(struct session *session, uint32_t number)
{
	const struct space *space = &session->texts.list[number].space;
	struct space_info *info = spaces_find(&session->spaces, space);

	if ((info && space_runs(info)) || bpf_map_delete_elem(texts_fd(session), space))
		return false;
	session_forget_announced(session, space);
	session->texts.states[number].unlinked = session->swaps;
	if (info)
		info->dropped = true;
	return true;
}

/* Frees a number that neither a program nor a half has. Without memory the next swap tries again. */
static void free_number(struct session *session, uint32_t number)
{
	const struct wanted_rules gone = { .text = number, .fd = -1, .is_gone = true };

	if (!session->options.callers)
		text_numbers_free(&session->texts.numbers, number);
	else if (!callers_rules_add(session->callers.rules, gone))
		return;
	session->texts.list[number] = (struct store_text){ 0 };
	session->texts.states[number] = (struct text_state){ 0 };
}

static void note_named(struct session *session, const struct table_node *nodes, uint32_t nr)
{
	struct session_texts *texts = &session->texts;
	uint32_t i, text;

	for (i = 0; i < nr; i++) {
		text = site_text(nodes[i].site);
		if (text < texts->nr)
			texts->states[text].named = session->swaps;
	}
}

static bool has_no_room(const struct session *session, uint32_t number)
{
	const struct rules_of_text *places = session->texts.places.at;

	return session->options.callers &&
	       __atomic_load_n(&places[number].state, __ATOMIC_RELAXED) == RULES_FULL;
}

/*
 * Reads a file again that has ticks and had no room for its table: soon, and then ever more rarely,
 * because it may be too large for any room.
 */
static void retry(struct session *session, uint32_t number)
{
	struct session_texts *texts = &session->texts;
	struct text_state *state = &texts->states[number];
	const struct space_info *info = spaces_find(&session->spaces, &texts->list[number].space);
	const uint64_t now = monotonic_ns();

	if (!info || info->fd < 0)
		return;
	/* Nothing was freed since a file found no room: this one would not find any either. */
	if (now >= state->retry_ns && !callers_rules_refused(session->callers.rules)) {
		want_rules(session, info, number);
		state->retry_ns = now + (RETRY_NS << state->retries);
		state->retries += state->retries < RETRIES_MAX;
	}
	if (!texts->retry_ns || texts->retry_ns > state->retry_ns)
		texts->retry_ns = max_size(state->retry_ns, 1);
}

/*
 * The number of swaps without ticks after which a text loses its number; UINT32_MAX: none does,
 * because numbers and tables are not short, or the last freed ones do not count yet. Otherwise it
 * is half the age of the oldest text: texts that are used again and again keep theirs if that makes
 * enough room.
 */
static uint32_t age_limit(const struct session *session)
{
	const struct session_texts *texts = &session->texts;
	uint32_t i, longest = 0;

	if (!session_texts_are_short(session) || session->swaps - texts->aged < UNLINKED_SWAPS + 1)
		return UINT32_MAX;
	for (i = TEXT_FIRST; i < texts->nr; i++)
		if (texts->list[i].space.kind && !texts->states[i].unlinked)
			longest = max_size(longest, session->swaps - texts->states[i].named);
	return max_size(longest / 2, UNNAMED_SWAPS);
}

/* With callers a text stays, because making its table again costs more than keeping it. */
static bool is_idle(struct session *session, uint32_t number)
{
	const struct space_info *info =
		spaces_find(&session->spaces, &session->texts.list[number].space);

	return info && info->idle >= SPACE_IDLE && !session->options.callers;
}

/* True: a text's number must be freed, because it has lost its text, is idle, or found no room. */
static bool age_text(struct session *session, uint32_t number, uint32_t limit)
{
	const struct text_state *state = &session->texts.states[number];
	const uint32_t age = session->swaps - state->named;

	if (state->unlinked) {
		/* Open waits take its sites from half to half. */
		if (session->swaps - state->unlinked >= UNLINKED_SWAPS && age >= UNLINKED_SWAPS)
			free_number(session, number);
		return false;
	}
	if (age >= limit || (age >= UNNAMED_SWAPS && is_idle(session, number)))
		return unlink_text(session, number);
	if (!age && has_no_room(session, number))
		retry(session, number);
	return false;
}

void session_age_texts(struct session *session, const struct table_node *nodes, uint32_t nr)
{
	struct session_texts *texts = &session->texts;
	bool any = false;
	uint32_t i, limit;

	note_named(session, nodes, nr);
	limit = age_limit(session);
	texts->retry_ns = 0;
	spaces_sort(&session->spaces);
	for (i = TEXT_FIRST; i < texts->nr; i++)
		if (texts->list[i].space.kind)
			any |= age_text(session, i, limit);
	if (!any)
		return;
	texts->aged = session->swaps;
	__atomic_fetch_add(&texts->numbers.state->epoch, 1, __ATOMIC_RELEASE);
}
