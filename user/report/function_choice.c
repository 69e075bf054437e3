// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Finds the rows that --function, --callers and --callees name, and suggests names. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/alike.h"
#include "report/name_fit.h"
#include "report/rows.h"

struct function_choice {
	const struct profile *profile;
	const struct report_options *options;
	bool is_name; /* a function has this very name, so that it is no pattern */
};

static bool may_fit(const struct function_choice *choice, const struct report_row *row)
{
	return row->name && !row->abstract &&
	       object_named(choice->profile, choice->options, row->object);
}

/* As a pattern, the name "[futex]" or "main.(*T).f" would match other functions. */
static bool has_name(const struct function_choice *choice, const struct report_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (may_fit(choice, &rows->rows[i]) &&
		    !strcmp(rows->rows[i].name, choice->options->function))
			return true;
	return false;
}

static enum name_fit fit_of_row(const struct function_choice *choice, const struct report_row *row)
{
	const char *function = choice->options->function;

	if (!may_fit(choice, row))
		return NAME_OTHER;
	if (!choice->is_name && !fnmatch(function, row->name, 0))
		return NAME_EXACT;
	return name_fit(row->name, function);
}

/* Variants of a function for some processors match only if no function has the name itself. */
static enum name_fit least_fit(const struct function_choice *choice, const struct report_rows *rows)
{
	enum name_fit best = NAME_OTHER, fit;
	size_t i;

	for (i = 0; i < rows->nr && best <= NAME_VARIANT; i++) {
		fit = fit_of_row(choice, &rows->rows[i]);
		best = fit > best ? fit : best;
	}
	return best > NAME_VARIANT ? NAME_UNQUALIFIED : NAME_VARIANT;
}

/* Add a note only once: many rows of lines or bins belong to a few functions. */
static int note_variant(const struct profile *profile, const struct report_options *options,
			const struct report_row *row, struct report_rows *rows)
{
	const char *object = text_basename(profile->objects[row->object].path);
	char text[512];
	size_t i;

	snprintf(text, sizeof(text), "%.128s: matched %.160s of %.160s", options->function,
		 row->name, object);
	for (i = 0; i < rows->nr_notes; i++)
		if (!strcmp(rows->notes[i], text))
			return 0;
	return notes_add(&rows->notes, &rows->nr_notes, "%s", text);
}

int rows_choose_functions(const struct profile *profile, const struct report_options *options,
			  struct report_rows *rows, bool *chosen)
{
	struct function_choice choice = { .profile = profile, .options = options };
	enum name_fit least;
	int ret = 0;
	size_t i;

	choice.is_name = has_name(&choice, rows);
	least = least_fit(&choice, rows);
	for (i = 0; !ret && i < rows->nr; i++) {
		chosen[i] = fit_of_row(&choice, &rows->rows[i]) >= least;
		if (chosen[i] && least == NAME_VARIANT)
			ret = note_variant(profile, options, &rows->rows[i], rows);
	}
	return ret;
}

/* The hottest object with nameless text, as libc.so.6+0x1234; NULL: none. */
static const char *find_nameless(const struct profile *profile, const struct report_rows *rows)
{
	const struct report_row *row;
	const char *base;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		row = &rows->rows[i];
		if (row->abstract || profile->objects[row->object].kind != PROFILE_FILE)
			continue;
		base = text_basename(profile->objects[row->object].path);
		if (!row->name || (!strncmp(row->name, base, strlen(base)) &&
				   !strncmp(row->name + strlen(base), "+0x", 3)))
			return base;
	}
	return NULL;
}

/* In a libc with dynamic symbols only, memcpy is such text. */
static void hint_nameless(const struct profile *profile, const struct report_rows *rows,
			  const char *hint, struct error *err)
{
	const char *object = find_nameless(profile, rows);

	if (object)
		error_hint(
			err,
			"%s; or install the debug symbols of %.64s, which has functions without a name",
			hint, object);
}

int rows_refuse_function(const struct profile *profile, const struct report_options *options,
			 const struct function_refusal *refusal, struct report_rows *rows,
			 struct error *err)
{
	struct alike_names names = { 0 };
	char alike[ALIKE_BYTES];
	int ret = 0;
	size_t i;

	rows_sort(rows, false, 0);
	for (i = 0; !ret && i < rows->nr; i++)
		ret = rows->rows[i].abstract ? 0 : alike_add(&names, rows->rows[i].name);
	if (!ret)
		ret = alike_write(&names, options->function, alike);
	alike_free(&names);
	if (ret)
		return ret;
	ret = error_with_hint(err, -EINVAL, refusal->hint,
			      "%s '%.200s': no function of that name %s%s", refusal->option,
			      options->function, refusal->where, alike);
	if (!*alike)
		hint_nameless(profile, rows, refusal->hint, err);
	return ret;
}
