// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Questions on source lines. Lines share texts, functions and places of inlining. In an answer each
 * of these has a number, and comes before anything that refers to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "reader/call.h"
#include "symbol/line_job.h"

enum { LINE_NUMBERS = 6, SCOPE_NUMBERS = 2 };

/*
 * --- in the reader ------------------------------------------------------------------------------
 */

/* The number of a text, from 1; 0: NULL. */
static uint64_t text_number(struct wire *wire, struct source_lines *lines, const char *text)
{
	const uint32_t number = text ? string_set_number(&lines->strings, text) : 0;

	wire->bad = wire->bad || (text && !number);
	return number;
}

static void put_line(struct wire *wire, struct source_lines *lines, const struct source_line *line)
{
	const struct scope *scope = (const struct scope *)line->scope;
	const struct call_site *caller = (const struct call_site *)line->caller;
	const uint64_t numbers[LINE_NUMBERS] = {
		text_number(wire, lines, line->file),
		line->line,
		line->discriminator,
		text_number(wire, lines, line->function),
		scope ? scope->number : 0,
		caller ? caller->number : 0,
	};

	wire_put(wire, numbers, sizeof(numbers));
}

static void put_lines(struct wire *wire, struct source_lines *lines)
{
	size_t i;

	wire_put_u64(wire, lines->strings.nr);
	for (i = 0; i < lines->strings.nr; i++)
		wire_put_text(wire, lines->strings.all[i]);
	wire_put_u64(wire, lines->nr_scopes);
	for (i = 0; i < lines->nr_scopes; i++) {
		wire_put_u64(wire, text_number(wire, lines, lines->scopes[i]->scope.name));
		wire_put_u64(wire, lines->scopes[i]->scope.line);
	}
	wire_put_u64(wire, lines->nr_sites);
	for (i = 0; i < lines->nr_sites; i++)
		put_line(wire, lines, &lines->sites[i]->line);
	wire_put_u64(wire, lines->nr);
	for (i = 0; i < lines->nr; i++)
		put_line(wire, lines, &lines->lines[i]);
}

int answer_lines(struct reader_call *call, struct error *err)
{
	struct wire *wire = &call->question;
	const char *path = wire_get_text(wire);
	size_t nr;
	cleanup_free uint64_t *offsets = wire_get_array(wire, &nr, sizeof(*offsets));
	struct source_lines *lines;
	int ret;

	if (!offsets)
		return error_errno(err, -ENOMEM, "source lines of %.256s", path);
	ret = source_lines_load(call->fds[0], path, call->root, offsets, nr, &lines, err);
	if (ret)
		return ret;
	put_lines(&call->answer, lines);
	source_lines_free(lines);
	return 0;
}

/*
 * --- in the program that asks -------------------------------------------------------------------
 */

/* Returns an element by its number; NULL for 0. Other numbers are bad. */
#define BY_NUMBER(wire, list, nr, number)                                                          \
	({                                                                                         \
		const uint64_t by_number = (number);                                               \
		(wire)->bad |= by_number > (nr);                                                   \
		(wire)->bad || !by_number ? NULL : (list)[by_number - 1];                          \
	})

static const char *text_by_number(struct wire *wire, const struct source_lines *lines,
				  uint64_t number)
{
	return BY_NUMBER(wire, lines->strings.all, lines->strings.nr, number);
}

static struct source_line get_line(struct wire *wire, const struct source_lines *lines)
{
	const struct call_site *caller;
	const struct scope *scope;
	struct source_line line;

	line.file = text_by_number(wire, lines, wire_get_u64(wire));
	line.line = (uint32_t)wire_get_u64(wire);
	line.discriminator = (uint32_t)wire_get_u64(wire);
	line.function = text_by_number(wire, lines, wire_get_u64(wire));
	scope = BY_NUMBER(wire, lines->scopes, lines->nr_scopes, wire_get_u64(wire));
	line.scope = scope ? &scope->scope : NULL;
	caller = BY_NUMBER(wire, lines->sites, lines->nr_sites, wire_get_u64(wire));
	line.caller = caller ? &caller->line : NULL;
	return line;
}

static void get_texts(struct wire *wire, struct source_lines *lines)
{
	size_t nr = wire_get_count(wire, 1);

	for (; nr && !wire->bad; nr--)
		if (!string_set_add(&lines->strings, wire_get_text(wire)))
			wire->bad = true;
}

static void get_scopes(struct wire *wire, struct source_lines *lines)
{
	size_t nr = wire_get_count(wire, SCOPE_NUMBERS * sizeof(uint64_t));
	struct scope *scope;

	for (; nr && !wire->bad; nr--) {
		scope = source_lines_add_scope(lines);
		wire->bad = !scope;
		if (!scope)
			return;
		scope->scope.name = text_by_number(wire, lines, wire_get_u64(wire));
		scope->scope.line = (uint32_t)wire_get_u64(wire);
	}
}

/* Callers come before their callees. Therefore there can be no loop. */
static void get_sites(struct wire *wire, struct source_lines *lines)
{
	size_t nr = wire_get_count(wire, LINE_NUMBERS * sizeof(uint64_t));
	struct source_line line;
	struct call_site *site;

	for (; nr && !wire->bad; nr--) {
		line = get_line(wire, lines);
		site = source_lines_add_site(lines);
		if (site)
			site->line = line;
		else
			wire->bad = true;
	}
}

/* NULL: the answer is invalid, or there is no memory. */
static struct source_lines *lines_of_answer(struct wire *wire, size_t nr)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	get_texts(wire, lines);
	get_scopes(wire, lines);
	get_sites(wire, lines);
	lines->lines = calloc(nr + 1, sizeof(*lines->lines));
	if (wire_get_count(wire, LINE_NUMBERS * sizeof(uint64_t)) != nr || !lines->lines)
		wire->bad = true;
	while (lines->nr < nr && !wire->bad)
		lines->lines[lines->nr++] = get_line(wire, lines);
	if (!wire->bad)
		return lines;
	source_lines_free(lines);
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
	wire_put_array(&call.question, offsets, nr, sizeof(*offsets));
	ret = reader_call(&call, err);
	if (!ret) {
		*result = lines_of_answer(&call.answer, nr);
		ret = *result ? 0 : reader_bad_answer(&call, err);
	}
	reader_call_end(&call);
	return ret;
}
