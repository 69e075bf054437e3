// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Callers: the numbers of texts, which are given out as walks meet them, and given back. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/session_state.h"
#include "shared/callers_abi.h"

/*
 * A number takes some 200 bytes with what is known of its text, and one for each KiB of --memory is more
 * than a host has files, but few beside all that are compiled and run in a day.
 */
enum { TEXT_SHARE = 1024, TEXTS_MIN = 1024 };

/* They are given back when so many are in use. */
enum { SHORT_SHARE = 4 };

/*
 * Files that no chain names may be given back before they were idle for two profiles, of which some are long and
 * most runs have only one, if an owner has so much of its share.
 */
enum { SURPLUS_SHARE = 8 };

/* How often that is tried between profiles: it takes the time to read the tree. */
enum { RECLAIM_REST = 20 };
#define RECLAIM_NS 500000000ULL

/* A process whose code moves may have one of so many of them. */
enum { FORMER_SHARE = 64 };

uint32_t session_max_texts(const struct session *session)
{
	uint64_t nr = session->options.memory / TEXT_SHARE;

	nr = nr < TEXTS_MIN ? TEXTS_MIN : nr;
	return nr < TEXTS_MAX ? (uint32_t)nr : TEXTS_MAX;
}

static int texts_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.texts);
}

static int free_texts_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.free_texts);
}

/* A number that no text has. 0: there is none left. */
static uint32_t unused_text(struct session *session)
{
	struct callers_state *state = &session->skel->bss->callers_state;
	const uint32_t nr = session_max_texts(session);
	uint32_t number;

	if (!bpf_map_lookup_and_delete_elem(free_texts_fd(session), NULL, &number))
		return number;
	if (__atomic_load_n(&state->next_text, __ATOMIC_RELAXED) >= nr)
		return 0;
	number = __atomic_fetch_add(&state->next_text, 1, __ATOMIC_RELAXED);
	return number < nr ? number : 0;
}

/*
 * What the programs know of a text takes an element of a map whether it has a number or not. Numbers are shared
 * fairly, so that those without one must leave room for them, and for what is announced until they are stopped.
 */
enum { NAMELESS_LATE = 256 /* records that the ring buffer holds */ };

static void limit_nameless(struct session *session, int more)
{
	const uint64_t room = 2 * (uint64_t)session->pool.dirs.limit;
	const uint64_t late = room / 2 < NAMELESS_LATE ? room / 2 : NAMELESS_LATE;

	session->callers.nr_nameless += (uint32_t)more;
	session->skel->bss->callers_state.nameless = session->callers.nr_nameless > room - late;
}

void session_forget_callers_text(struct session *session, const struct space_info *info)
{
	if (info->awaits_number)
		limit_nameless(session, -1);
}

/* A few of what is reserved may wait, because their tables are made in a moment. */
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

void session_new_callers_text(struct session *session, const struct space *space)
{
	struct wanted_rules wanted = { .fd = -1, .is_file = space->kind == SPACE_FILE };
	struct space_info *info;

	if (!session->options.callers)
		return;
	info = spaces_last(&session->spaces, space);
	if (!info)
		return;
	info->numbered = true;
	session_forget_callers_text(session, info);
	info->awaits_number = bpf_map_lookup_elem(texts_fd(session), space, &wanted.text);
	if (info->awaits_number) {
		limit_nameless(session, 1);
		return;
	}
	if (info->fd >= 0)
		wanted.fd = fcntl(info->fd, F_DUPFD_CLOEXEC, 0);
	if (!may_wait(session, info, wanted.fd))
		close_fd(&wanted.fd);
	wanted.far = info->far;
	wanted.owner = info->owner;
	callers_rules_add(session->callers.rules, wanted);
}

/* What is being given back is in the map no more, but in the tree perhaps, so it stays in the list. */
int session_read_texts(struct session *session)
{
	struct session_callers *callers = &session->callers;
	uint32_t nr = session->skel->bss->callers_state.next_text, number;
	struct space space, *last = NULL;

	nr = nr < session_max_texts(session) ? nr : session_max_texts(session);
	if (GROW(callers->texts, callers->texts_room, nr))
		return -ENOMEM;
	for (; callers->nr_texts < nr; callers->nr_texts++)
		callers->texts[callers->nr_texts] = (struct text_state){ 0 };
	callers->texts[TEXT_VDSO].space.kind = SPACE_VDSO;
	while (!bpf_map_get_next_key(texts_fd(session), last, &space)) {
		if (!bpf_map_lookup_elem(texts_fd(session), &space, &number) && number < nr)
			callers->texts[number].space = space;
		last = &space;
	}
	return 0;
}

static int compare_codes(const void *left, const void *right)
{
	const struct jit_code *a = left, *b = right;

	return compare_u64(a->start, b->start) ?: compare_u64(a->line, b->line);
}

/* By place. Where several came and went since the last reading, the first lay there longest. */
static size_t sort_codes(struct jit_code *codes, size_t nr)
{
	size_t i, kept = 0;

	SORT(codes, nr, compare_codes);
	for (i = 0; i < nr; i++)
		if (!kept || codes[i].start != codes[kept - 1].start)
			codes[kept++] = codes[i];
	return kept;
}

/* The code around an address; NULL: none of these. */
static struct jit_code *code_at(struct jit_code *codes, size_t nr, uint64_t address)
{
	size_t after = BISECT(i, nr, codes[i].start <= address);

	if (!after || address - codes[after - 1].start >= codes[after - 1].size)
		return NULL;
	return &codes[after - 1];
}

/* Notes the codes that the tree has frames of. False: it has none, or there is no memory. */
static bool note_formers(const struct session *session, struct jit_text *jit, uint32_t number,
			 struct jit_code *codes, size_t nr)
{
	const struct caller_node *nodes = session->callers.nodes.at;
	uint32_t i, nr_nodes = session_caller_elements(session);
	struct jit_code *code;
	bool noted = false;
	uint64_t site;

	for (i = 0; i < nr_nodes; i++) {
		site = __atomic_load_n(&nodes[i].site, __ATOMIC_RELAXED);
		if (site_text(site) != number)
			continue;
		code = code_at(codes, nr, site_offset(site));
		if (!code)
			continue;
		if (!jit_text_add_former(jit, code, jit_map_name(jit->map, code)))
			noted = true;
		code->size = 0; /* it is noted */
	}
	return noted;
}

static bool may_turn(const struct session *session, const struct space *space)
{
	const struct session_callers *callers = &session->callers;
	uint32_t i, formers = 0;

	for (i = TEXT_FIRST; i < callers->nr_texts; i++)
		formers += callers->texts[i].former &&
			   !memcmp(&callers->texts[i].space, space, sizeof(*space));
	return formers < session_max_texts(session) / FORMER_SHARE;
}

void session_replace_code(struct session *session, struct space_info *info, struct jit_code *codes,
			  size_t nr)
{
	struct callers_state *state = &session->skel->bss->callers_state;
	struct session_callers *callers = &session->callers;
	uint32_t old, fresh;

	if (bpf_map_lookup_elem(texts_fd(session), &info->space, &old) ||
	    !may_turn(session, &info->space))
		return;
	fresh = unused_text(session);
	if (!fresh)
		return;
	callers_rules_charge_text(callers->rules, fresh, old);
	if (!note_formers(session, info->jit, old, codes, sort_codes(codes, nr)) ||
	    session_read_texts(session)) {
		callers_rules_free_text(callers->rules, fresh);
		return;
	}
	callers_rules_add_none(callers->rules, fresh);
	callers->texts[fresh] =
		(struct text_state){ .space = info->space, .turn = ++info->jit->turn };
	callers->texts[old].former = true;
	bpf_map_update_elem(texts_fd(session), &info->space, &fresh, BPF_EXIST);
	__atomic_fetch_add(&state->epoch, 1, __ATOMIC_RELEASE);
}

/* Marks the texts that are named in the tree. */
static void find_named(const struct session *session, bool *named)
{
	const struct caller_node *nodes = session->callers.nodes.at;
	uint32_t i, nr = session_caller_elements(session);
	uint64_t text;

	for (i = 0; i < nr; i++) {
		text = site_text(__atomic_load_n(&nodes[i].site, __ATOMIC_RELAXED));
		if (text < session->callers.nr_texts)
			named[text] = true;
	}
}

static struct space_info *find_info(struct session *session, const struct space *space)
{
	const struct space_info *found = spaces_find(&session->spaces, space);

	return found ? session->spaces.list + (found - session->spaces.list) : NULL;
}

/* Not told of yet, or without a tick for some takes and, if it is a process's, with its process gone. */
static bool is_idle_text(struct session *session, const struct space *space)
{
	const struct space_info *info = find_info(session, space);

	return !info || (info->idle >= SPACE_IDLE && !space_runs(info));
}

/* How many numbers each owner would have if those who are there, and one more, had equally many. */
static uint32_t share_of_texts(const struct session *session)
{
	const struct owner *owners = session->callers.owners.at;
	uint32_t i, nr = 1;

	for (i = 0; i < OWNERS_MAX; i++)
		nr += owners[i].texts > 0;
	return session_max_texts(session) / nr;
}

/* Whether a file's owner has nearly as many numbers as its share, or more. */
static bool is_surplus(const struct session *session, uint32_t number)
{
	const struct owner *owners = session->callers.owners.at;
	const uint32_t share = session->callers.share_of_texts;

	return session->callers.texts[number].space.kind == SPACE_FILE &&
	       owners[callers_rules_owner(session->callers.rules, number)].texts >
		       share - share / SURPLUS_SHARE;
}

/*
 * Whoever meets the file again gives it another number, and has its table made anew. Text that is in no
 * file is given back with its process, because it is announced only once.
 */
static bool retire(struct session *session, uint32_t number)
{
	const struct space *space = &session->callers.texts[number].space;
	struct space_info *info = find_info(session, space);

	if ((!is_idle_text(session, space) && !is_surplus(session, number)) ||
	    bpf_map_delete_elem(texts_fd(session), space))
		return false;
	if (!info)
		return true; /* its record is still to be read */
	space_let_go(info);
	if (space->kind != SPACE_FILE)
		return true;
	if (session->callers.nr_trees > 1) {
		session_tell_again(session, space);
	} else {
		session_forget_told(session, space);
		info->forgotten = true;
	}
	return true;
}

static uint32_t texts_in_use(const struct session_callers *callers)
{
	uint32_t i, nr = 0;

	for (i = TEXT_FIRST; i < callers->nr_texts; i++)
		nr += callers->texts[i].space.kind != 0;
	return nr;
}

static bool texts_are_short(const struct session *session)
{
	return texts_in_use(&session->callers) > session_max_texts(session) / SHORT_SHARE ||
	       callers_rules_are_short(session->callers.rules);
}

/* Marks what is not to be forgotten, because a walk may meet it, or has just met it. */
static void mark_numbered(struct session *session)
{
	const struct session_callers *callers = &session->callers;
	struct space_info *info;
	uint32_t i;

	for (i = 0; i < session->spaces.nr; i++)
		session->spaces.list[i].numbered = session->spaces.list[i].idle < SPACE_IDLE;
	for (i = TEXT_FIRST; i < callers->nr_texts; i++) {
		info = callers->texts[i].space.kind ? find_info(session, &callers->texts[i].space) :
						      NULL;
		if (info)
			info->numbered = true;
	}
}

/* Forgets the code of turns that no number is left of. */
static void give_back_turn(struct session *session, const struct text_state *text)
{
	const struct session_callers *callers = &session->callers;
	struct space_info *info = text->former ? find_info(session, &text->space) : NULL;
	uint32_t i, first = UINT32_MAX;

	if (!info || !info->jit)
		return;
	for (i = TEXT_FIRST; i < callers->nr_texts; i++)
		if (&callers->texts[i] != text && callers->texts[i].turn < first &&
		    !memcmp(&callers->texts[i].space, &text->space, sizeof(text->space)))
			first = callers->texts[i].turn;
	jit_text_drop_formers(info->jit, first);
}

/* This take waited until no program had the number of what was retired in the last one. */
static bool turn_text(struct session *session, uint32_t number, bool are_short)
{
	struct text_state *text = &session->callers.texts[number];

	if (text->retired) {
		if (!callers_rules_give_back(session->callers.rules, number))
			return false;
		give_back_turn(session, text);
		*text = (struct text_state){ 0 };
	} else if (text->former) {
		text->retired = true;
	} else if (are_short) {
		text->retired = retire(session, number);
	}
	return text->retired;
}

static bool has_retired(const struct session_callers *callers)
{
	uint32_t i;

	for (i = TEXT_FIRST; i < callers->nr_texts; i++)
		if (callers->texts[i].retired || callers->texts[i].former)
			return true;
	return false;
}

/* Whether another one was retired. The trees are read only for this, because most takes retire none. */
static bool turn_texts(struct session *session, bool are_short)
{
	struct session_callers *callers = &session->callers;
	cleanup_free bool *named = calloc(callers->nr_texts, sizeof(*named));
	bool retired = false;
	uint32_t i;

	if (!named)
		return false;
	find_named(session, named);
	for (i = TEXT_FIRST; i < callers->nr_texts; i++) {
		if (!callers->texts[i].space.kind)
			continue;
		if (!named[i])
			retired |= turn_text(session, i, are_short);
		else if (are_short && !callers->holds_idle)
			callers->holds_idle = is_idle_text(session, &callers->texts[i].space);
	}
	return retired;
}

void session_turn_texts(struct session *session)
{
	struct callers_state *state = &session->skel->bss->callers_state;
	const bool are_short = texts_are_short(session);
	bool retired;

	session->callers.share_of_texts = are_short ? share_of_texts(session) : 0;
	session->callers.holds_idle = false;
	retired = (are_short || has_retired(&session->callers)) && turn_texts(session, are_short);
	mark_numbered(session);
	if (!retired)
		return;
	__atomic_fetch_add(&state->epoch, 1, __ATOMIC_RELEASE);
	session->recycler.struck = true; /* the next take is to wait for the programs */
}

/* Frees what is known of forgotten files that have no ticks, and so have no window. */
static void free_forgotten(struct session *session)
{
	const int fd = bpf_map__fd(session->skel->maps.windows);
	struct spaces *spaces = &session->spaces;
	struct window_key key, *last = NULL;
	struct space_info *info;
	size_t from, to = 0;

	for (; !bpf_map_get_next_key(fd, last, &key); last = &key) {
		info = find_info(session, &key.space);
		if (info)
			info->forgotten = false;
	}
	for (from = 0; from < spaces->nr; from++) {
		info = &spaces->list[from];
		if (info->forgotten && info->fd < 0 && !session->spill.nr) {
			session_forget_callers_text(session, info);
			space_info_free(info);
		} else {
			spaces->list[to++] = *info;
		}
	}
	spaces->nr = spaces->sorted = to;
}

static bool may_reclaim(struct session *session, uint64_t now)
{
	struct session_callers *callers = &session->callers;

	if (!session->options.callers || !session->times.start_ns || session->times.stop_ns)
		return false;
	if (session->skel->bss->callers_state.texts <= session_max_texts(session) / SHORT_SHARE &&
	    !callers_rules_are_short(callers->rules))
		return false;
	if (now >= callers->reclaim_after)
		return true;
	/* What comes meanwhile may be the last for long. */
	session_wake_at(session, callers->reclaim_after);
	return false;
}

void session_reclaim_texts(struct session *session)
{
	struct session_callers *callers = &session->callers;
	const uint64_t began = monotonic_ns();
	uint64_t ended;

	if (!may_reclaim(session, began))
		return;
	spaces_sort(&session->spaces);
	/* Each time no program has the number of what was retired before any more. */
	if (!session_read_texts(session) && !grace_period_wait(&session->recycler.grace)) {
		session_turn_texts(session);
		if (!grace_period_wait(&session->recycler.grace))
			session_turn_texts(session);
		free_forgotten(session);
	}
	ended = monotonic_ns();
	callers->reclaim_after = ended + RECLAIM_NS + RECLAIM_REST * (ended - began);
}
