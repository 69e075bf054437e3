// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Questions on source lines. Lines share texts, functions and places of inlining. In an answer each
 * of these has a number, and comes before anything that refers to it.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "reader/ask.h"
#include "symbol/line_job.h"

enum { LINE_NUMBERS = 6, SCOPE_NUMBERS = 2 };

/*
 * --- in the reader ------------------------------------------------------------------------------
 */

struct numbered {
	const void *what;
	uint64_t number; /* from 1 */
};

/* The answer so far. Each kind is collected separately, in the order of its numbers. */
struct lines_answer {
	void *numbers; /* of texts, scopes and sites, by address */
	struct wire texts, scopes, sites, lines;
	uint64_t nr_texts, nr_scopes, nr_sites;
	bool failed;
};

static int compare_numbered(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	return compare_u64((uintptr_t)a->what, (uintptr_t)b->what);
}

/* Returns the number of an element; 0: it has none yet. */
static uint64_t number_of(const struct lines_answer *answer, const void *what)
{
	const struct numbered key = { .what = what };
	struct numbered **found = tfind(&key, &answer->numbers, compare_numbered);

	return found ? (*found)->number : 0;
}

static uint64_t give_number(struct lines_answer *answer, const void *what, uint64_t *nr)
{
	struct numbered *fresh = malloc(sizeof(*fresh));

	if (fresh)
		*fresh = (struct numbered){ what, ++*nr };
	if (fresh && tsearch(fresh, &answer->numbers, compare_numbered))
		return fresh->number;
	free(fresh);
	answer->failed = true;
	return 0;
}

static uint64_t put_text(struct lines_answer *answer, const char *text)
{
	uint64_t number = text ? number_of(answer, text) : 0;

	if (!text || number)
		return number;
	wire_put_text(&answer->texts, text);
	return give_number(answer, text, &answer->nr_texts);
}

static uint64_t put_scope(struct lines_answer *answer, const struct source_scope *scope)
{
	uint64_t number = scope ? number_of(answer, scope) : 0;

	if (!scope || number)
		return number;
	wire_put_u64(&answer->scopes, put_text(answer, scope->name));
	wire_put_u64(&answer->scopes, scope->line);
	return give_number(answer, scope, &answer->nr_scopes);
}

static void put_line(struct lines_answer *answer, struct wire *wire, const struct source_line *line,
		     uint64_t caller)
{
	const uint64_t numbers[LINE_NUMBERS] = {
		put_text(answer, line->file),
		line->line,
		line->discriminator,
		put_text(answer, line->function),
		put_scope(answer, line->scope),
		caller,
	};

	wire_put(wire, numbers, sizeof(numbers));
}

/* Writes outer callers first. The reader of DWARF limits the depth. */
static uint64_t put_site(struct lines_answer *answer, const struct source_line *site)
{
	uint64_t number = site ? number_of(answer, site) : 0, caller;

	if (!site || number || answer->failed)
		return number;
	caller = put_site(answer, site->caller);
	put_line(answer, &answer->sites, site, caller);
	return give_number(answer, site, &answer->nr_sites);
}

static void put_part(struct wire *wire, uint64_t nr, const struct wire *part)
{
	wire_put_u64(wire, nr);
	wire_put(wire, part->bytes, part->nr);
	wire->bad = wire->bad || part->bad;
}

static int put_lines(struct wire *wire, const struct source_lines *lines, size_t nr)
{
	struct lines_answer answer = { 0 };
	const struct source_line *line;
	size_t i;

	for (i = 0; i < nr && !answer.failed; i++) {
		line = source_lines_at(lines, i);
		put_line(&answer, &answer.lines, line, put_site(&answer, line->caller));
	}
	put_part(wire, answer.nr_texts, &answer.texts);
	put_part(wire, answer.nr_scopes, &answer.scopes);
	put_part(wire, answer.nr_sites, &answer.sites);
	put_part(wire, nr, &answer.lines);
	wire_free(&answer.texts);
	wire_free(&answer.scopes);
	wire_free(&answer.sites);
	wire_free(&answer.lines);
	tdestroy(answer.numbers, free);
	return answer.failed || wire->bad ? -ENOMEM : 0;
}

int answer_lines(struct reader_call *call, struct error *err)
{
	struct wire *wire = &call->question;
	const char *path = wire_get_text(wire);
	size_t nr = wire_get_count(wire, sizeof(uint64_t));
	cleanup_free uint64_t *offsets = wire_get_array(wire, nr, sizeof(*offsets));
	struct source_lines *lines;
	int ret;

	if (!offsets)
		return error_errno(err, -ENOMEM, "source lines of %.256s", path);
	ret = source_lines_load(call->fds[0], path, call->root, offsets, nr, &lines, err);
	if (ret)
		return ret;
	ret = put_lines(&call->answer, lines, nr);
	source_lines_free(lines);
	return ret ? error_errno(err, ret, "source lines of %.256s", path) : 0;
}

/*
 * --- in the program that asks -------------------------------------------------------------------
 */

struct lines_reading {
	struct wire *wire;
	struct source_lines *lines;
	const char **texts;
	struct source_scope **scopes;
	struct call_site **sites;
	size_t nr_texts, nr_scopes, nr_sites;
};

/* Returns an element by its number; NULL for 0. Other numbers are bad. */
#define BY_NUMBER(reading, list, nr, number)                                                       \
	({                                                                                         \
		uint64_t by_number = (number);                                                     \
		(reading)->wire->bad |= by_number > (nr);                                          \
		(reading)->wire->bad || !by_number ? NULL : (list)[by_number - 1];                 \
	})

static void get_line(struct lines_reading *reading, struct source_line *line)
{
	uint64_t numbers[LINE_NUMBERS];
	const struct call_site *caller;
	size_t i;

	for (i = 0; i < LINE_NUMBERS; i++)
		numbers[i] = wire_get_u64(reading->wire);
	line->file = BY_NUMBER(reading, reading->texts, reading->nr_texts, numbers[0]);
	line->line = (uint32_t)numbers[1];
	line->discriminator = (uint32_t)numbers[2];
	line->function = BY_NUMBER(reading, reading->texts, reading->nr_texts, numbers[3]);
	line->scope = BY_NUMBER(reading, reading->scopes, reading->nr_scopes, numbers[4]);
	caller = BY_NUMBER(reading, reading->sites, reading->nr_sites, numbers[5]);
	line->caller = caller ? &caller->line : NULL;
}

static bool get_texts(struct lines_reading *reading)
{
	const size_t nr = wire_get_count(reading->wire, 1);
	const char *text;

	reading->texts = calloc(nr + 1, sizeof(*reading->texts));
	while (reading->texts && !reading->wire->bad && reading->nr_texts < nr) {
		text = string_set_add(&reading->lines->strings, wire_get_text(reading->wire));
		reading->wire->bad = reading->wire->bad || !text;
		reading->texts[reading->nr_texts++] = text;
	}
	return reading->texts && !reading->wire->bad;
}

static bool get_scopes(struct lines_reading *reading)
{
	const size_t nr = wire_get_count(reading->wire, SCOPE_NUMBERS * sizeof(uint64_t));
	struct scope *scope;

	reading->scopes = calloc(nr + 1, sizeof(*reading->scopes));
	while (reading->scopes && !reading->wire->bad && reading->nr_scopes < nr) {
		scope = calloc(1, sizeof(*scope));
		if (!scope)
			return false;
		scope->next = reading->lines->scopes;
		reading->lines->scopes = scope;
		scope->scope.name = BY_NUMBER(reading, reading->texts, reading->nr_texts,
					      wire_get_u64(reading->wire));
		scope->scope.line = (uint32_t)wire_get_u64(reading->wire);
		reading->scopes[reading->nr_scopes++] = &scope->scope;
	}
	return reading->scopes && !reading->wire->bad;
}

/* Callers come before their callees. Therefore there can be no loop. */
static bool get_sites(struct lines_reading *reading)
{
	const size_t nr = wire_get_count(reading->wire, LINE_NUMBERS * sizeof(uint64_t));
	struct call_site *site;

	reading->sites = calloc(nr + 1, sizeof(struct call_site *));
	while (reading->sites && !reading->wire->bad && reading->nr_sites < nr) {
		site = calloc(1, sizeof(*site));
		if (!site)
			return false;
		site->next = reading->lines->sites;
		reading->lines->sites = site;
		get_line(reading, &site->line);
		reading->sites[reading->nr_sites++] = site;
	}
	return reading->sites && !reading->wire->bad;
}

static bool get_lines(struct lines_reading *reading, size_t nr)
{
	struct source_lines *lines = reading->lines;

	if (!get_texts(reading) || !get_scopes(reading) || !get_sites(reading) ||
	    wire_get_count(reading->wire, LINE_NUMBERS * sizeof(uint64_t)) != nr)
		return false;
	lines->lines = calloc(nr + 1, sizeof(*lines->lines));
	while (lines->lines && lines->nr < nr && !reading->wire->bad)
		get_line(reading, &lines->lines[lines->nr++]);
	return lines->lines && !reading->wire->bad;
}

/* NULL: the answer is invalid, or there is no memory. */
static struct source_lines *lines_of_answer(struct wire *wire, size_t nr)
{
	struct lines_reading reading = { .wire = wire, .lines = calloc(1, sizeof(*reading.lines)) };
	bool good = reading.lines && get_lines(&reading, nr);

	free(reading.texts);
	free(reading.scopes);
	free(reading.sites);
	if (good)
		return reading.lines;
	source_lines_free(reading.lines);
	return NULL;
}

int reader_lines(const struct reader_file *file, const uint64_t *offsets, size_t nr,
		 struct source_lines **result, struct error *err)
{
	struct reader_call call = { .kind = READ_LINES,
				    .fds = { file->fd, -1 },
				    .path = file->path,
				    .root = file->root };
	int ret;

	/* libdw opens split units itself. */
	call.trusted = true;
	wire_put_text(&call.question, file->path);
	wire_put_u64(&call.question, nr);
	wire_put(&call.question, offsets, nr * sizeof(*offsets));
	ret = reader_call(&call, err);
	if (!ret) {
		*result = lines_of_answer(&call.answer, nr);
		ret = *result ? 0 : reader_bad_answer(&call, err);
	}
	reader_call_end(&call);
	return ret;
}
