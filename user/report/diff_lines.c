// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Compares source lines if one of the profiles may lack them. */
#include "report/diff_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/*
 * Source lines are read from files as they are now. The older profile's program was often replaced
 * by a newer build at the same path. With lines on one side only, all of such an object would look
 * changed. Therefore both sides show its functions.
 */

struct has {
	bool ticks;
	bool lines;
};

/* Whether a side's objects with this counterpart have ticks and lines. */
static struct has has_of(const struct diff_profile *side, const struct profile_object *as)
{
	struct has has = { 0 };
	size_t i;

	for (i = 0; i < side->profile->nr_objects; i++) {
		has.ticks |= side->as[i] == as && side->has_ticks[i];
		has.lines |= side->as[i] == as && side->has_lines[i];
	}
	return has;
}

static int look(struct diff_profile *side)
{
	size_t nr = side->profile->nr_objects + 1, i;

	side->has_ticks = calloc(nr, sizeof(*side->has_ticks));
	side->has_lines = calloc(nr, sizeof(*side->has_lines));
	if (!side->has_ticks || !side->has_lines)
		return -ENOMEM;
	for (i = 0; i < side->rows.nr; i++) {
		const struct report_row *row = &side->rows.rows[i];

		side->has_ticks[row->object] = true;
		side->has_lines[row->object] |= row->file != NULL;
	}
	return 0;
}

/* Whether lines exist on only one side. */
static bool is_uneven(const struct diff_text *text, const struct profile_object *as)
{
	struct has old = has_of(&text->old, as), new = has_of(&text->new, as);

	return old.ticks && new.ticks &&old.lines != new.lines;
}

static int use_functions(const struct diff_text *text, struct diff_profile *side, struct error *err)
{
	const struct report_options options = { .by = REPORT_FUNCTIONS,
						.target = REPORT_ALL_TARGETS };
	struct report_rows functions;
	size_t i, nr = 0;
	int ret = rows_build(side->profile, &options, &functions, err);

	for (i = 0; !ret && i < side->rows.nr; i++)
		if (!is_uneven(text, side->as[side->rows.rows[i].object]))
			side->rows.rows[nr++] = side->rows.rows[i];
	if (!ret)
		side->rows.nr = nr;
	for (i = 0; !ret && i < functions.nr; i++)
		if (is_uneven(text, side->as[functions.rows[i].object]) &&
		    rows_add(&side->rows, &functions.rows[i]))
			ret = error_errno(err, -ENOMEM, "diff");
	rows_free(&functions);
	return ret;
}

static bool has_note(const struct report_rows *rows, const char *note)
{
	size_t i;

	for (i = 0; i < rows->nr_notes; i++)
		if (!strcmp(rows->notes[i], note))
			return true;
	return false;
}

/* Notes on both sides appear once. */
static int copy_notes(struct diff *diff)
{
	const struct report_rows *old = &diff->text->old.rows, *new = &diff->text->new.rows;
	int ret = 0;
	size_t i;

	for (i = 0; i < old->nr_notes && !ret; i++)
		ret = notes_add(&diff->notes, &diff->nr_notes, "%s%s",
				has_note(new, old->notes[i]) ? "" : "old: ", old->notes[i]);
	for (i = 0; i < new->nr_notes && !ret; i++)
		if (!has_note(old, new->notes[i]))
			ret = notes_add(&diff->notes, &diff->nr_notes, "new: %s", new->notes[i]);
	return ret;
}

/* Returns how many objects have lines on one side only, and the path of one. */
static size_t find_uneven(const struct diff_text *text, const char **path)
{
	const struct profile *profile = text->new.profile;
	size_t i, nr = 0;

	for (i = 0; i < profile->nr_objects; i++) {
		if (text->new.as[i] != &profile->objects[i] || !is_uneven(text, text->new.as[i]))
			continue;
		if (!nr++)
			*path = profile->objects[i].path;
	}
	return nr;
}

static int note_uneven(struct diff *diff, const char *path, size_t nr)
{
	char others[64] = "";

	if (nr > 1)
		snprintf(others, sizeof(others), " and %zu more", nr - 1);
	return notes_add(&diff->notes, &diff->nr_notes,
			 "%s%s: compared by function, because only one of the profiles has lines",
			 text_basename(path), others);
}

int diff_match_lines(struct diff *diff, struct error *err)
{
	struct diff_text *text = diff->text;
	const char *path = NULL;
	size_t nr;

	if (look(&text->old) || look(&text->new) || copy_notes(diff))
		return error_errno(err, -ENOMEM, "diff");
	nr = find_uneven(text, &path);
	if (!nr)
		return 0;
	if (note_uneven(diff, path, nr))
		return error_errno(err, -ENOMEM, "diff");
	return use_functions(text, &text->old, err) ?: use_functions(text, &text->new, err);
}
