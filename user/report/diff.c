// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which objects and functions of two profiles are one, and which changes of them are noise. */
#include "report/diff.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "report/rows.h"
#include "symbol/regions.h"

/*
 * If this many are expected on either side, the normal distribution's tail is exact enough for any
 * level we use.
 */
#define MANY 1000
#define NEGLIGIBLE 1e-17

/* If n ticks each belong to the old run with probability p: the log of P(k of them do). */
static double log_binomial(double n, double k, double p)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* P(k or fewer) of n; k is below the mean, so the terms decrease from k downwards. */
static double lower_tail(double n, double k, double p)
{
	double term = exp(log_binomial(n, k, p)), sum = 0;

	while (k >= 0 && term > sum * NEGLIGIBLE) {
		sum += term;
		term *= k / (n - k + 1) * (1 - p) / p;
		k--;
	}
	return sum;
}

static double exact_probability(double old, double new, double p)
{
	double n = old + new;
	double tail = old < n * p ? lower_tail(n, old, p) : lower_tail(n, new, 1 - p);

	return fmin(1, 2 * tail);
}

double noise_probability(const struct noise_counts *counts)
{
	double old = floor(counts->old), new = floor(counts->new), n = old + new;
	double old_total = counts->old_total, new_total = counts->new_total;
	double p = old_total / (old_total + new_total), pooled, error;

	if (n < 1 || old_total < 1 || new_total < 1)
		return 1;
	if (n * p < MANY || n * (1 - p) < MANY)
		return exact_probability(old, new, p);
	pooled = n / (old_total + new_total);
	if (pooled >= 1)
		return 1;
	error = sqrt(pooled * (1 - pooled) * (1 / old_total + 1 / new_total));
	return erfc(fabs(new / new_total - old / old_total) / error / sqrt(2));
}

/* The same of two times, each the sum of ticks with this variance. */
static double noise_of_times(double old, double old_variance, double new, double new_variance)
{
	double variance = old_variance + new_variance;

	return variance > 0 ? erfc(fabs(new - old) / sqrt(2 * variance)) : 1;
}

void noise_correct(double *ascending, size_t nr)
{
	double least = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		least = fmax(least, fmin(1, ascending[i] * (double)(nr - i)));
		ascending[i] = least;
	}
}

/* One profile, and what its objects are compared with. */
struct diff_profile {
	const struct profile *profile;
	struct report_rows rows;
	const struct profile_object **as; /* for each object: the one that it is compared with */
	bool *one_build; /* for each object: what it is compared with is the same file */
	bool *has_ticks, *has_lines; /* for each object, by lines */
	double ns; /* all of its time */
	double unit; /* nanoseconds of a tick, averaged over the time in rows */
};

struct diff_text {
	struct diff_profile old, new;
};

/* Which object of one profile corresponds to which one of the other. */

/* An object without a counterpart is mentioned from this share on, in per cent. */
#define WORTH_A_WORD 5

typedef bool (*same_object)(const struct profile_object *a, const struct profile_object *b);

static bool same_build(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && a->build_id && b->build_id &&
	       !strcmp(a->build_id, b->build_id);
}

/* Objects without a path are the same if their kind is, whatever their process or boot. */
static bool same_path(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && (a->kind == PROFILE_JIT || !strcmp(a->path, b->path));
}

static bool same_name(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && !strcmp(text_basename(a->path), text_basename(b->path));
}

/* A name without its version: libx.so of libx-1.2.so.3, app of app-1.2, python of python3.11. */
struct stem {
	const char *name;
	size_t length;
	bool library;
};

static struct stem stem_of(const struct profile_object *object)
{
	const char *base = text_basename(object->path), *so = strstr(base, ".so");
	struct stem stem = { base, strlen(base), so && (!so[3] || so[3] == '.') };
	size_t length;

	if (stem.library)
		stem.length = (size_t)(so - base);
	length = stem.length;
	while (length && (isdigit((unsigned char)base[length - 1]) || base[length - 1] == '.'))
		length--;
	if (length && length < stem.length && strchr("-_", base[length - 1]))
		length--;
	stem.length = length ? length : stem.length;
	return stem;
}

static bool same_stem(const struct profile_object *a, const struct profile_object *b)
{
	struct stem x = stem_of(a), y = stem_of(b);

	return a->kind == PROFILE_FILE && b->kind == PROFILE_FILE && x.library == y.library &&
	       x.length == y.length && !strncmp(x.name, y.name, x.length);
}

static const struct profile_object *find(const struct profile *profile,
					 const struct profile_object *object, same_object same)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++)
		if (same(&profile->objects[i], object))
			return &profile->objects[i];
	return NULL;
}

/* The object that is certainly the same. */
static const struct profile_object *counterpart(const struct profile *profile,
						const struct profile_object *object)
{
	static const same_object ways[] = { same_build, same_path, same_name };
	const struct profile_object *found = NULL;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]) && !found; i++)
		found = find(profile, object, ways[i]);
	return found;
}

/* --- what is said ---------------------------------------------------------------------------------- */

static double percent_of(const struct diff_profile *side, size_t object)
{
	double percent = 0;
	size_t i;

	for (i = 0; i < side->rows.nr; i++)
		if (side->rows.rows[i].object == object)
			percent += row_percent(side->ns, &side->rows.rows[i]);
	return percent;
}

/* The hottest program or library that the other profile does not have; NULL: none is hot. */
static const struct profile_object *alone(const struct diff_profile *side,
					  const struct diff_profile *other)
{
	const struct profile_object *hottest = NULL;
	double most = WORTH_A_WORD, percent;
	size_t i, j;

	for (i = 0; i < side->profile->nr_objects; i++) {
		const struct profile_object *object = &side->profile->objects[i];

		for (j = 0; j < other->profile->nr_objects; j++)
			if (other->as[j] == side->as[i])
				break;
		if (object->kind != PROFILE_FILE || j < other->profile->nr_objects)
			continue;
		percent = percent_of(side, i);
		if (percent < most)
			continue;
		most = percent;
		hottest = object;
	}
	return hottest;
}

/* Notes it, because a program that was renamed would make up all of the change. */
static int note_alone(struct diff *diff)
{
	const struct profile_object *old = alone(&diff->text->old, &diff->text->new);
	const struct profile_object *new = alone(&diff->text->new, &diff->text->old);
	const char *a, *b;

	if (!old || !new)
		return 0;
	a = text_basename(old->path);
	b = text_basename(new->path);
	return notes_add(
		&diff->notes, &diff->nr_notes,
		"%s is only in the old, %s only in the new; if they are one under two names, "
		"--map %s=%s compares them",
		a, b, a, b);
}

/* --- pairs ------------------------------------------------------------------------------------------ */

static const struct profile_object *named(const struct profile *profile, const char *name)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++)
		if (object_has_name(&profile->objects[i], name))
			return &profile->objects[i];
	return NULL;
}

static int check_maps(const struct diff *diff, struct error *err)
{
	size_t i;

	for (i = 0; i < diff->options->nr_maps; i++) {
		const struct diff_map *map = &diff->options->maps[i];
		bool has_old = named(diff->old, map->old);

		if (has_old && named(diff->new, map->new))
			continue;
		return error_with_hint(err, -EINVAL, "bpfprofil report --by objects",
				       "--map: '%.256s': not in the %s profile",
				       has_old ? map->new : map->old, has_old ? "new" : "old");
	}
	return 0;
}

static const struct profile_object *mapped(const struct diff *diff,
					   const struct profile_object *object)
{
	size_t i;

	for (i = 0; i < diff->options->nr_maps; i++)
		if (object_has_name(object, diff->options->maps[i].old))
			return named(diff->new, diff->options->maps[i].new);
	return NULL;
}

/* An object with another version in its name, which the old profile does not have. */
static const struct profile_object *of_other_version(const struct diff *diff,
						     const struct profile_object *object)
{
	size_t i;

	for (i = 0; i < diff->new->nr_objects; i++) {
		const struct profile_object *other = &diff->new->objects[i];

		if (same_stem(object, other) && !counterpart(diff->old, other))
			return other;
	}
	return NULL;
}

static int pair_old(struct diff *diff, size_t i)
{
	const struct profile_object *object = &diff->old->objects[i];
	const struct profile_object **as = &diff->text->old.as[i];

	*as = mapped(diff, object);
	if (!*as)
		*as = counterpart(diff->new, object);
	if (*as)
		return 0;
	*as = of_other_version(diff, object);
	if (*as)
		return notes_add(&diff->notes, &diff->nr_notes, "%s of the old is compared as %s",
				 text_basename(object->path), text_basename((*as)->path));
	*as = counterpart(diff->old, object);
	return 0;
}

/* Whether all of the side that are compared with this one have its build id. */
static bool is_build_of(const struct diff_profile *side, const struct profile_object *as)
{
	size_t i;

	for (i = 0; i < side->profile->nr_objects; i++)
		if (side->as[i] == as &&
		    compare_text(side->profile->objects[i].build_id, as->build_id) != 0)
			return false;
	return as->build_id;
}

static void find_builds(const struct diff_text *text, const struct diff_profile *side)
{
	size_t i;

	for (i = 0; i < side->profile->nr_objects; i++)
		side->one_build[i] = is_build_of(&text->old, side->as[i]) &&
				     is_build_of(&text->new, side->as[i]);
}

static int make_room(struct diff_profile *side)
{
	size_t nr = side->profile->nr_objects + 1;

	side->as = calloc(nr, sizeof(*side->as));
	side->one_build = calloc(nr, sizeof(*side->one_build));
	return side->as && side->one_build ? 0 : -ENOMEM;
}

/*
 * Finds what each object is compared with, and adds a note if that is a guess or if there is none.
 * Returns 0, -ENOMEM, or -EINVAL for a map with an unknown object.
 */
static int pair_objects(struct diff *diff, struct error *err)
{
	struct diff_text *text = diff->text;
	int ret = check_maps(diff, err);
	size_t i;

	if (ret)
		return ret;
	if (make_room(&text->old) || make_room(&text->new))
		return error_errno(err, -ENOMEM, "diff");
	for (i = 0; !ret && i < diff->old->nr_objects; i++)
		ret = pair_old(diff, i);
	for (i = 0; i < diff->new->nr_objects; i++)
		text->new.as[i] = counterpart(diff->new, &diff->new->objects[i]);
	if (!ret) {
		find_builds(text, &text->old);
		find_builds(text, &text->new);
		ret = note_alone(diff);
	}
	return ret ? error_errno(err, ret, "diff") : 0;
}

/*
 * Source lines are read from files as they are now, and the older profile's is often gone: it was
 * built anew at the same path. Lines on one side and none on the other would show all of such an
 * object as changed, so both sides show its functions.
 */

struct has {
	bool ticks;
	bool lines;
};

/* What a side's objects that are compared as this one have. */
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

/* Whether only one of two objects that are compared has lines. */
static bool is_uneven(const struct diff_text *text, const struct profile_object *as)
{
	struct has old = has_of(&text->old, as), new = has_of(&text->new, as);

	return old.ticks && new.ticks &&old.lines != new.lines;
}

/* Replaces the rows of such objects by those of their functions. */
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

/* What is true of both sides is said once. */
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

/* Names one such object, and how many there are; 0: there is none. */
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

/*
 * By lines: makes rows of functions, on both sides, of objects that have lines on one side only,
 * and adds notes on lines that are missing. Returns 0 or a negative errno.
 */
static int match_lines(struct diff *diff, struct error *err)
{
	struct diff_text *text = diff->text;
	const char *path = NULL;
	size_t nr;
	int ret;

	if (look(&text->old) || look(&text->new) || copy_notes(diff))
		return error_errno(err, -ENOMEM, "diff");
	nr = find_uneven(text, &path);
	if (!nr)
		return 0;
	if (note_uneven(diff, path, nr))
		return error_errno(err, -ENOMEM, "diff");
	ret = use_functions(text, &text->old, err);
	return ret ? ret : use_functions(text, &text->new, err);
}

/* --- rows --------------------------------------------------------------------------------------- */

/*
 * The variance of ticks of one weight is their number; ticks of several weights vary like fewer
 * ticks of this common weight.
 */
static double unit_of(double ns, double squares)
{
	return ns > 0 ? squares / ns : 0;
}

static double mean_unit(const struct report_rows *rows)
{
	double ns = 0, squares = 0;
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		ns += rows->rows[i].ns;
		squares += rows->rows[i].squares;
	}
	return unit_of(ns, squares);
}

static int load(struct diff_profile *side, enum report_by by, struct error *err)
{
	const struct report_options options = { .by = by, .target = REPORT_ALL_TARGETS };
	int ret = rows_build(side->profile, &options, &side->rows, err);

	if (ret)
		return ret;
	side->ns = rows_ns(side->profile, &options);
	side->unit = mean_unit(&side->rows);
	return 0;
}

/*
 * OBJECT+0xOFFSET is a name in one build only, because another has other text there. Then all such
 * text is one row.
 */
static const char *comparable_name(const struct diff_profile *side, const struct report_row *row)
{
	const struct profile_object *object = &side->profile->objects[row->object];
	const char *base = text_basename(object->path);
	size_t length = strlen(base);

	if (!row->name || side->one_build[row->object] || strncmp(row->name, base, length) != 0 ||
	    strncmp(row->name + length, "+0x", 3) != 0)
		return row->name;
	return NULL;
}

static struct diff_row make_row(const struct diff_profile *side, const struct report_row *row,
				enum report_by by)
{
	struct diff_row made = { .object = side->as[row->object]->path };

	if (by != REPORT_OBJECTS)
		made.name = comparable_name(side, row);
	/* Another build may have another copy of a function, or other parts of it apart. */
	if (made.name)
		made.stem = side->one_build[row->object] ? strlen(made.name) : name_stem(made.name);
	made.file = row->file;
	made.line = row->line;
	return made;
}

static void add_rows(struct diff *diff, const struct diff_profile *side, bool is_new)
{
	size_t i;

	for (i = 0; i < side->rows.nr; i++) {
		const struct report_row *row = &side->rows.rows[i];
		struct diff_row made = make_row(side, row, diff->options->by);
		struct diff_side *figures = is_new ? &made.new : &made.old;

		figures->ticks = row->ticks;
		figures->percent = row_percent(side->ns, row);
		figures->ns = row->ns;
		figures->squares = row->squares;
		diff->rows[diff->nr++] = made;
	}
}

static int compare_names(const struct diff_row *a, const struct diff_row *b)
{
	int order;

	if (!a->name || !b->name)
		return compare_text(a->name, b->name);
	order = memcmp(a->name, b->name, a->stem < b->stem ? a->stem : b->stem);
	return order ? order : (a->stem > b->stem) - (a->stem < b->stem);
}

static int compare_place(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	int order = compare_text(a->object, b->object);

	if (!order)
		order = compare_text(a->file, b->file);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	return order ? order : compare_names(a, b);
}

static void add_side(struct diff_side *sum, const struct diff_side *side)
{
	sum->ticks += side->ticks;
	sum->percent += side->percent;
	sum->ns += side->ns;
	sum->squares += side->squares;
}

static void add_up(struct diff *diff)
{
	size_t from, to = 0;

	SORT(diff->rows, diff->nr, compare_place);
	for (from = 0; from < diff->nr; from++) {
		struct diff_row *row = &diff->rows[from], *sum = to ? &diff->rows[to - 1] : NULL;

		if (!sum || compare_place(sum, row)) {
			diff->rows[to++] = *row;
			continue;
		}
		if (row->name && strlen(row->name) < strlen(sum->name))
			sum->name = row->name;
		add_side(&sum->old, &row->old);
		add_side(&sum->new, &row->new);
	}
	diff->nr = to;
}

/* --- noise -------------------------------------------------------------------------------------- */

/*
 * The number of ticks of a row is its time divided by a common weight that gives the same variance.
 * On a side where the row has no ticks, their weight is taken from the other side, scaled by the
 * weights of all other rows.
 */
static double row_unit(const struct diff_profile *side, const struct diff_side *row,
		       const struct diff_profile *other, const struct diff_side *there)
{
	double unit = unit_of(row->ns, row->squares), coarse;

	if (unit > 0)
		return unit;
	coarse = other->unit > 0 ? unit_of(there->ns, there->squares) / other->unit : 1;
	return side->unit * fmax(1, coarse);
}

static double count(double ns, double unit)
{
	return unit > 0 ? ns / unit : 0;
}

static struct noise_counts count_row(const struct diff_text *text, const struct diff_row *row)
{
	double old = row_unit(&text->old, &row->old, &text->new, &row->new);
	double new = row_unit(&text->new, &row->new, &text->old, &row->old);

	return (struct noise_counts){ .old = round(count(row->old.ns, old)),
				      .old_total = count(text->old.ns, old),
				      .new = round(count(row->new.ns, new)),
				      .new_total = count(text->new.ns, new) };
}

static int compare_probability(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;

	return (a->probability > b->probability) - (a->probability < b->probability);
}

static int judge(struct diff *diff)
{
	cleanup_free double *probabilities = calloc(diff->nr + 1, sizeof(*probabilities));
	size_t i;

	if (!probabilities)
		return -ENOMEM;
	for (i = 0; i < diff->nr; i++) {
		struct diff_row *row = &diff->rows[i];
		const struct noise_counts counts = count_row(diff->text, row);

		row->change = row->new.percent - row->old.percent;
		row->probability = noise_probability(&counts);
	}
	SORT(diff->rows, diff->nr, compare_probability);
	for (i = 0; i < diff->nr; i++)
		probabilities[i] = diff->rows[i].probability;
	noise_correct(probabilities, diff->nr);
	for (i = 0; i < diff->nr; i++) {
		diff->rows[i].probability = probabilities[i];
		diff->rows[i].significant = probabilities[i] < DIFF_LEVEL;
		diff->significant += diff->rows[i].significant;
	}
	return 0;
}

static int compare_change(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double x = fabs(a->change), y = fabs(b->change);

	if (a->significant != b->significant)
		return a->significant ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return compare_place(left, right);
}

static struct diff_total total_of(const struct diff_profile *old, const struct diff_profile *new)
{
	const struct report_options all = { .target = REPORT_ALL_TARGETS };
	struct diff_total total = { .old_ns = old->ns, .new_ns = new->ns };

	total.is_sampled = !is_cpu_known(old->profile, &all) || !is_cpu_known(new->profile, &all);
	if (total.is_sampled)
		total.probability =
			noise_of_times(old->ns, old->ns * old->unit, new->ns, new->ns *new->unit);
	return total;
}

/*
 * Whether seconds can be compared. What was attached to may have been watched for unlike times, and sampled
 * seconds have noise.
 */
static bool are_runs(const struct diff *diff)
{
	return !diff->total.is_sampled && !strcmp(rows_command(diff->old), "run") &&
	       !strcmp(rows_command(diff->new), "run");
}

/* More than a run differs from the next. */
#define RUN_CHANGE 0.05

static int note_total(struct diff *diff)
{
	double change = diff->total.new_ns / diff->total.old_ns - 1;

	if (!are_runs(diff) || !(diff->total.old_ns > 0) || !(diff->total.new_ns > 0) ||
	    !(fabs(change) > RUN_CHANGE))
		return 0;
	return notes_add(
		&diff->notes, &diff->nr_notes,
		"the new one took %.1f %% %s CPU time: shares are of each one's own, so they "
		"move too where only the seconds of others did",
		100 * fabs(change), change < 0 ? "less" : "more");
}

int diff_build(const struct profile *old, const struct profile *new,
	       const struct diff_options *options, struct diff *result, struct error *err)
{
	struct diff_text *text = calloc(1, sizeof(*text));
	int ret;

	*result = (struct diff){ .old = old, .new = new, .options = options, .text = text };
	if (!text)
		return error_errno(err, -ENOMEM, "diff");
	text->old.profile = old;
	text->new.profile = new;
	ret = load(&text->old, options->by, err);
	if (!ret)
		ret = load(&text->new, options->by, err);
	if (!ret)
		ret = pair_objects(result, err);
	if (!ret && options->by == REPORT_LINES)
		ret = match_lines(result, err);
	if (ret)
		return ret;
	result->rows = calloc(text->old.rows.nr + text->new.rows.nr + 1, sizeof(*result->rows));
	if (!result->rows)
		return error_errno(err, -ENOMEM, "diff");
	result->total = total_of(&text->old, &text->new);
	if (note_total(result))
		return error_errno(err, -ENOMEM, "diff");
	add_rows(result, &text->old, false);
	add_rows(result, &text->new, true);
	add_up(result);
	if (judge(result))
		return error_errno(err, -ENOMEM, "diff");
	SORT(result->rows, result->nr, compare_change);
	return 0;
}

static void free_side(struct diff_profile *side)
{
	rows_free(&side->rows);
	free(side->as);
	free(side->one_build);
	free(side->has_ticks);
	free(side->has_lines);
}

void diff_free(struct diff *diff)
{
	size_t i;

	if (diff->text) {
		free_side(&diff->text->old);
		free_side(&diff->text->new);
	}
	for (i = 0; i < diff->nr_notes; i++)
		free(diff->notes[i]);
	free(diff->notes);
	free(diff->text);
	free(diff->rows);
}

size_t diff_above(const struct diff *diff, double percent, size_t *ret_spared)
{
	const bool less = are_runs(diff) && diff->total.new_ns < diff->total.old_ns;
	const struct diff_row *row = diff->rows;
	size_t i, nr = 0;

	*ret_spared = 0;
	for (i = 0; i < diff->nr; i++, row++) {
		if (!row->significant || !(row->change > percent))
			continue;
		if (less && row->new.ns < row->old.ns *(1 + RUN_CHANGE))
			++*ret_spared;
		else
			nr++;
	}
	return nr;
}
