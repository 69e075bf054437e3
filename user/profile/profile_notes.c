// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define SOME_CPUS                                                                                    \
	"parts of the sum are of some CPUs only; their CPU time is ticks times the period, for the " \
	"scheduler's accounts are of all CPUs"

/* A note: a beginning, a value that differs between parts, and the rest. */
struct note {
	const char *text;
	size_t begins; /* bytes */
	const char *rest;
	size_t same; /* bytes of the rest that all parts share; more is specific to the object */
	bool counts; /* the value is a number; else an object */
	uint64_t number; /* the value, or the number of other objects */
	size_t name; /* length of the object's name */
};

static const struct {
	const char *begin, *rest;
} of_objects[] = {
	{ NOTE_NAMELESS_FUNCTIONS, NOTE_AFTER_FUNCTIONS },
	{ NOTE_NAMELESS_CODE, NOTE_AFTER_CODE },
};

static const char *const of_counts[] = { "", "the kernel withheld ", NOTE_CLOCK_BACK,
					 NOTE_CLOCK_FORWARD, NOTE_SUSPENDED };

/* Parses "NAME", "NAME and 1 other" or "NAME and N others", with or without a share. */
static void read_objects(struct note *note)
{
	const char *at = note->text + note->begins, *other;
	size_t length = (size_t)(note->rest - at);
	char *end;

	note->name = length;
	for (other = at; (other = strstr(other, " and ")) && other < note->rest; other++) {
		note->number = strtoull(other + strlen(" and "), &end, 10);
		if (note->number && !strncmp(end, " other", strlen(" other"))) {
			note->name = (size_t)(other - at);
			return;
		}
	}
	note->number = 0;
	other = strstr(at, NOTE_SHARE);
	if (other && other < note->rest)
		note->name = (size_t)(other - at);
}

static bool is_of_objects(struct note *note)
{
	size_t i;

	for (i = 0; i < sizeof(of_objects) / sizeof(of_objects[0]); i++) {
		note->begins = strlen(of_objects[i].begin);
		if (strncmp(note->text, of_objects[i].begin, note->begins) != 0)
			continue;
		note->rest = strstr(note->text + note->begins, of_objects[i].rest);
		note->same = strlen(of_objects[i].rest);
		if (note->rest)
			read_objects(note);
		return note->rest;
	}
	return false;
}

static bool is_of_counts(struct note *note)
{
	const char *at;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(of_counts) / sizeof(of_counts[0]); i++) {
		note->begins = strlen(of_counts[i]);
		if (strncmp(note->text, of_counts[i], note->begins) != 0)
			continue;
		at = note->text + note->begins;
		if (*at < '0' || *at > '9')
			continue;
		note->number = strtoull(at, &end, 10);
		note->rest = end;
		note->same = strlen(end);
		note->counts = *end == ' ';
		if (note->counts)
			return true;
	}
	return false;
}

static struct note read_note(const char *text)
{
	struct note note = { .text = text };

	if (is_of_objects(&note) || is_of_counts(&note))
		return note;
	return (struct note){ .text = text, .begins = strlen(text), .rest = "" };
}

int profile_notes_compare(const void *left, const void *right)
{
	const struct note a = read_note(*(char *const *)left), b = read_note(*(char *const *)right);
	int order = strncmp(a.text, b.text, min_size(a.begins, b.begins));

	order = order ?: compare_u64(a.begins, b.begins);
	order = order ?: strncmp(a.rest, b.rest, min_size(a.same, b.same));
	return order ?: compare_u64(a.same, b.same);
}

static char *count_up(const struct note *a, const struct note *b)
{
	return format_text("%.*s%" PRIu64 "%s", (int)a->begins, a->text,
			   add_saturating(a->number, b->number), a->rest);
}

static int compare_objects(const struct note *a, const struct note *b)
{
	const char *x = a->text + a->begins, *y = b->text + b->begins;
	int order = strncmp(x, y, min_size(a->name, b->name)) ?: compare_u64(a->name, b->name);

	return order ?: strcmp(a->rest, b->rest);
}

/*
 * The total of objects is unknown, because parts may share them. Use the highest number of a part,
 * or two if parts name different ones.
 */
static char *name_one(const struct note *a, const struct note *b)
{
	int order = compare_objects(a, b);
	const struct note *first = order <= 0 ? a : b;
	uint64_t others = a->number > b->number ? a->number : b->number;
	char more[48] = "";

	if (!others && order)
		others = 1;
	if (others)
		snprintf(more, sizeof(more), " and %" PRIu64 " other%s", others,
			 others > 1 ? "s" : "");
	return format_text("%.*s%s%s", (int)(first->begins + first->name), first->text, more,
			   first->rest);
}

int profile_notes_add(void *sum, void *part)
{
	char **note = sum, **other = part, *text;
	const struct note a = read_note(*note), b = read_note(*other);

	text = !*a.rest ? strdup(*note) : a.counts ? count_up(&a, &b) : name_one(&a, &b);
	if (!text)
		return -ENOMEM;
	free(*note);
	free(*other);
	*note = text;
	return 0;
}

int profile_notes_forget_cpus(struct profile *profile)
{
	char *text;
	size_t i;

	for (i = 0; i < profile->nr_notes && !profile->sampling.cpus; i++) {
		if (strncmp(profile->notes[i], NOTE_CPUS, strlen(NOTE_CPUS)) != 0)
			continue;
		text = strdup(SOME_CPUS);
		if (!text)
			return -ENOMEM;
		free(profile->notes[i]);
		profile->notes[i] = text;
	}
	return 0;
}
