// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Compares the rows of two profiles, and decides which changes are noise. */
#include "report/diff_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "report/noise.h"

/* --- rows ------------------------------------------------------------------------------------- */

/*
 * Ticks of one weight vary by their number. Ticks of several weights vary like a smaller number of
 * ticks with this common weight.
 */
static double unit_of(const struct tick_sum *sum)
{
	return sum->ns > 0 ? sum->squares / sum->ns : 0;
}

static double mean_unit(const struct report_rows *rows)
{
	struct tick_sum sum = { 0 };
	size_t i;

	for (i = 0; i < rows->nr; i++)
		tick_sum_add(&sum, &rows->rows[i].own);
	return unit_of(&sum);
}

static int load(struct diff_profile *side, enum report_by by, struct error *err)
{
	const struct report_options options = { .by = by,
						.target = REPORT_ALL_TARGETS,
						.callers = side->waits,
						.waits = side->waits };
	int ret = rows_build(side->profile, &options, &side->rows, err);

	if (ret)
		return ret;
	side->ns = rows_ns(side->profile, &options);
	side->unit = mean_unit(&side->rows);
	if (!(side->unit > 0) && side->profile->ticks.total)
		side->unit = side->ns / (double)side->profile->ticks.total;
	return 0;
}

/* OBJECT+0xOFFSET means other text in another build. Combine all such text into one row. */
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

/*
 * Rename before chains are counted, because a tick counts only once for rows that are compared as
 * one. Another build may have other copies of a function, or split off other parts.
 */
static int rename_row(void *of, struct report_row *row)
{
	struct diff_profile *side = of;
	cleanup_free char *name = NULL;

	row->name = comparable_name(side, row);
	if (!row->name || side->one_build[row->object])
		return 0;
	name = strndup(row->name, name_stem(row->name));
	row->name = name ? string_set_add(&side->names, name) : NULL;
	return row->name ? 0 : -ENOMEM;
}

/* Objects were paired by rows without callees. Replace these by inclusive rows. */
static int load_inclusive(struct diff_profile *side, const struct diff_options *of,
			  struct error *err)
{
	const struct report_options options = { .by = of->by,
						.target = REPORT_ALL_TARGETS,
						.callers = true,
						.tree = TREE_CALLS,
						.rename = of->by == REPORT_FUNCTIONS ? rename_row :
										       NULL,
						.rename_of = side };

	rows_free(&side->rows);
	return rows_build(side->profile, &options, &side->rows, err);
}

static struct diff_row make_row(const struct diff_profile *side, const struct report_row *row,
				enum report_by by)
{
	struct diff_row made = { .object = side->as[row->object]->path };

	if (by != REPORT_OBJECTS)
		made.name = comparable_name(side, row);
	/* Another build may have other copies of a function, or split off other parts. */
	if (made.name)
		made.stem = side->one_build[row->object] ? strlen(made.name) : name_stem(made.name);
	made.file = row->file;
	made.line = row->line;
	made.wait_class = row->wait_class;
	return made;
}

static void set_caller(const struct diff_profile *side, const struct report_row *caller,
		       struct diff_row *row)
{
	row->caller = caller->name;
	row->caller_object = caller->abstract ? NULL : side->as[caller->object]->path;
}

/* For calls, the rows are those of callers, below the functions that they called. */
static void add_rows(struct diff *diff, const struct diff_profile *side, bool is_new)
{
	const bool inclusive = diff->options->inclusive;
	size_t i;

	for (i = 0; i < side->rows.nr; i++) {
		const struct report_row *row = &side->rows.rows[i], *of = row;
		struct diff_row made;
		struct diff_side *figures = is_new ? &made.new : &made.old;

		if (inclusive && row->depth != diff->options->calls)
			continue;
		if (diff->options->calls)
			of = &side->rows.rows[row->parent];
		made = make_row(side, of, diff->options->by);
		if (diff->options->calls)
			set_caller(side, row, &made);
		figures->sum = inclusive ? row->inclusive : row->own;
		figures->waits = row->waits;
		figures->percent = share_of(side->ns, figures->sum.ns);
		made.own_change = row_percent(side->ns, of) * (is_new ? 1 : -1);
		diff->rows[diff->nr++] = made;
	}
}

static int compare_names(const struct diff_row *a, const struct diff_row *b)
{
	int order;

	if (!a->name || !b->name)
		return compare_text(a->name, b->name);
	order = memcmp(a->name, b->name, a->stem < b->stem ? a->stem : b->stem);
	return order ?: compare_u64(a->stem, b->stem);
}

DEFINE_COMPARE_AS(diff_compare_place, struct diff_row,
		  compare_text(a->object, b->object)			   ?:
			  compare_text(a->file, b->file)		   ?:
			  compare_u64(a->line, b->line)			   ?:
			  compare_text(a->wait_class, b->wait_class)	   ?:
			  compare_text(a->caller_object, b->caller_object) ?:
			  compare_text(a->caller, b->caller)		   ?:
									     compare_names(a, b))

struct diff_row diff_row_of_text(const struct diff_profile *side, const struct report_row *row)
{
	return make_row(side, row, REPORT_FUNCTIONS);
}

static void add_side(struct diff_side *sum, const struct diff_side *side)
{
	tick_sum_add(&sum->sum, &side->sum);
	sum->percent += side->percent;
	sum->waits += side->waits;
}

static void add_row(void *first, const void *equal)
{
	struct diff_row *sum = first;
	const struct diff_row *row = equal;

	if (row->name && strlen(row->name) < strlen(sum->name))
		sum->name = row->name;
	add_side(&sum->old, &row->old);
	add_side(&sum->new, &row->new);
	sum->own_change += row->own_change;
}

static void add_up(struct diff *diff)
{
	size_t i;

	diff->nr = COMBINE(diff->rows, diff->nr, diff_compare_place, add_row);
	for (i = 0; i < diff->nr; i++) {
		struct diff_row *row = &diff->rows[i];

		row->change = row->new.percent - row->old.percent;
		row->rank = fabs(row->change);
	}
}

static int diff_fill_rows(struct diff *diff)
{
	const struct diff_text *text = diff->text;

	diff->nr = 0;
	diff->rows = calloc(text->old.rows.nr + text->new.rows.nr + 1, sizeof(*diff->rows));
	if (!diff->rows)
		return -ENOMEM;
	add_rows(diff, &text->old, false);
	add_rows(diff, &text->new, true);
	add_up(diff);
	return 0;
}

/* --- noise ------------------------------------------------------------------------------------ */

/*
 * A row's number of ticks is its time divided by a common weight with the same variance. If a side
 * has no ticks in the row, use the other side's weight, scaled by the weights of all other rows.
 */
static double row_unit(const struct diff_profile *side, const struct diff_side *row,
		       const struct diff_profile *other, const struct diff_side *there)
{
	double unit = unit_of(&row->sum), coarse;

	if (unit > 0)
		return unit;
	coarse = other->unit > 0 ? unit_of(&there->sum) / other->unit : 1;
	return side->unit * fmax(1, coarse);
}

static double count(double ns, double unit)
{
	return unit > 0 ? ns / unit : 0;
}

static struct noise_counts diff_count_row(const struct diff_text *text, const struct diff_row *row)
{
	double old = row_unit(&text->old, &row->old, &text->new, &row->new);
	double new = row_unit(&text->new, &row->new, &text->old, &row->old);

	return (struct noise_counts){ .old = count(row->old.sum.ns, old),
				      .old_total = count(text->old.ns, old),
				      .new = count(row->new.sum.ns, new),
				      .new_total = count(text->new.ns, new) };
}

DEFINE_COMPARE_AS(compare_probability, struct diff_row,
		  compare_double(a->probability, b->probability))

static int find_significant(struct diff *diff)
{
	cleanup_free double *probabilities = calloc(diff->nr + 1, sizeof(*probabilities));
	size_t i;

	if (!probabilities)
		return -ENOMEM;
	for (i = 0; i < diff->nr; i++) {
		struct diff_row *row = &diff->rows[i];
		const struct noise_counts counts = diff_count_row(diff->text, row);

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

/* The cause of a change comes before rows that only pass it on. */
DEFINE_COMPARE_AS(compare_change, struct diff_row,
		  b->significant - a->significant				   ?:
			  compare_double(b->rank, a->rank)			   ?:
			  compare_double(fabs(a->change), fabs(b->change))	   ?:
			  compare_double(fabs(b->own_change), fabs(a->own_change)) ?:
			  diff_compare_place(a, b))

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

static bool diff_is_of_runs(const struct diff *diff)
{
	return !diff->total.is_sampled && !strcmp(rows_command(diff->old), "run") &&
	       !strcmp(rows_command(diff->new), "run");
}

/* Equal runs differ by less than this. */
#define RUN_CHANGE 0.05

/* The row with most of the total's change, or NULL. */
static const struct diff_row *main_row(const struct diff *diff)
{
	const double change = diff->total.new_ns - diff->total.old_ns;
	const struct diff_row *found = NULL;
	double part, most = 0.5;
	size_t i;

	if (diff->options->inclusive || diff->options->by != REPORT_FUNCTIONS)
		return NULL;
	for (i = 0; i < diff->nr; i++) {
		part = (diff->rows[i].new.sum.ns - diff->rows[i].old.sum.ns) / change;
		if (part > most && diff->rows[i].name) {
			most = part;
			found = &diff->rows[i];
		}
	}
	return found;
}

static int note_total(struct diff *diff)
{
	double change = diff->total.new_ns / diff->total.old_ns - 1;
	const struct diff_row *row;
	char of_row[256] = "";

	if (!diff_is_of_runs(diff) || !(diff->total.old_ns > 0) || !(diff->total.new_ns > 0) ||
	    !(fabs(change) > RUN_CHANGE))
		return 0;
	row = main_row(diff);
	if (row)
		snprintf(of_row, sizeof(of_row), ", most of it in %.150s (%.3f s, then %.3f s)",
			 row->name, row->old.sum.ns / 1e9, row->new.sum.ns / 1e9);
	return notes_add(
		&diff->notes, &diff->nr_notes,
		"the new one took %.1f %% %s CPU time%s: shares are relative to each one's own "
		"time, and also change where only others' seconds did",
		100 * fabs(change), change < 0 ? "less" : "more", of_row);
}

DEFINE_COMPARE_AS(
	compare_time, struct diff_row,
	compare_double(fabs(b->new.sum.ns - b->old.sum.ns), fabs(a->new.sum.ns - a->old.sum.ns)) ?:
		diff_compare_place(a, b))

/* Waits are measured, not sampled. Therefore no change is noise. */
static int finish_waits(struct diff *diff)
{
	int ret = diff_fill_rows(diff);
	size_t i, kept = 0;

	/* Callers alone have no time of their own. */
	for (i = 0; i < diff->nr; i++)
		if (diff->rows[i].old.sum.ticks || diff->rows[i].new.sum.ticks)
			diff->rows[kept++] = diff->rows[i];
	diff->nr = kept;
	diff->total.old_ns = diff->text->old.ns;
	diff->total.new_ns = diff->text->new.ns;
	SORT(diff->rows, diff->nr, compare_time);
	return ret;
}

/* --- causes ----------------------------------------------------------------------------------- */

/*
 * If a function changed, all its callers changed too. Ranks the function that caused the change
 * before functions that only pass it on.
 */

/* A probability below this is beyond chance. */
#define CHANCE 0.05

/*
 * A caller passes a callee's change on if that is most of its own change; it must be nearly all if
 * the caller changed otherwise too.
 */
#define MOST 0.75
#define NEARLY_ALL 0.95

/* Limits rounds, because a profile may be crafted to have any depth. */
#define ROUNDS_MAX 64

/* A call with both functions, and how these changed without the call: see changed_without(). */
struct link {
	struct diff_row *call, *caller, *callee;
	int caller_rest, callee_rest;
};

static void subtract_side(struct diff_side *from, const struct diff_side *part)
{
	from->sum.ticks -= part->sum.ticks < from->sum.ticks ? part->sum.ticks : from->sum.ticks;
	from->sum.ns = fmax(0, from->sum.ns - part->sum.ns);
	from->sum.squares = fmax(0, from->sum.squares - part->sum.squares);
}

/*
 * How a function changed without a call: like the call (1), in the other direction (-1), or not
 * beyond chance (0).
 */
static int changed_without(const struct diff *diff, const struct diff_row *function,
			   const struct diff_row *call)
{
	struct diff_row rest = *function;
	struct noise_counts counts;
	double change;

	subtract_side(&rest.old, &call->old);
	subtract_side(&rest.new, &call->new);
	counts = diff_count_row(diff->text, &rest);
	if (noise_probability(&counts) >= CHANCE)
		return 0;
	change = share_of(diff->text->new.ns, rest.new.sum.ns) -
		 share_of(diff->text->old.ns, rest.old.sum.ns);
	return change * call->change > 0 ? 1 : -1;
}

static struct diff_row *find_row(const struct diff *functions, const struct diff_row *key)
{
	return bsearch(key, functions->rows, functions->nr, sizeof(*key), diff_compare_place);
}

/* False: one of them has no row, as the marker of a cut chain. */
static bool find_functions(const struct diff *functions, struct link *link)
{
	struct diff_row callee = *link->call;
	const struct diff_row caller = { .object = callee.caller_object,
					 .name = callee.caller,
					 .stem = callee.caller ? strlen(callee.caller) : 0 };

	callee.caller = callee.caller_object = NULL;
	link->caller = find_row(functions, &caller);
	link->callee = find_row(functions, &callee);
	return link->caller && link->callee && link->caller != link->callee;
}

static bool is_only_call(const struct link *link)
{
	return link->callee->old.sum.ticks + link->callee->new.sum.ticks ==
	       link->call->old.sum.ticks + link->call->new.sum.ticks;
}

/* Ranks a row after the first one. False: it is so already. */
static bool rank_after(struct diff_row *row, const struct diff_row *first)
{
	if (first->rank >= row->rank)
		return false;
	row->rank = first->rank;
	return true;
}

/* Whether a change is at least this part of another. */
static bool has_part(const struct diff_row *row, const struct diff_row *of, double part)
{
	return row->change * of->change > 0 && fabs(row->change) >= part * fabs(of->change);
}

/*
 * A caller passes a callee's change on if the callee changed for other callers too. Otherwise the
 * caller may just call more often. If a library's function changed for a single caller only, it
 * comes after that caller, as in the table of functions without callees.
 */
static bool rank_functions(struct link *link)
{
	const bool only = is_only_call(link);

	if (only && fabs(link->callee->own_change - link->callee->change) < 1e-9 &&
	    strcmp(link->caller->object, link->callee->object) != 0)
		return has_part(link->caller, link->callee, 0) &&
		       rank_after(link->callee, link->caller);
	if (!only && link->callee_rest <= 0)
		return false;
	return has_part(link->call, link->caller, link->caller_rest ? NEARLY_ALL : MOST) &&
	       rank_after(link->caller, link->callee);
}

/*
 * Finds the call by which each function changed: the largest one without which the function did not
 * change.
 */
static void find_largest(const struct diff *functions, struct link *links, size_t nr,
			 struct link **largest)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct link **found = &largest[links[i].caller - functions->rows];

		if (!links[i].caller_rest &&
		    (!*found || fabs((*found)->call->change) < fabs(links[i].call->change)))
			*found = &links[i];
	}
}

static int rank_links(const struct diff *diff, const struct diff *functions, struct link *links,
		      size_t nr)
{
	cleanup_free struct link **largest = calloc(functions->nr + 1, sizeof(*largest));
	bool again = true;
	size_t i, rounds;

	if (!largest)
		return -ENOMEM;
	find_largest(functions, links, nr, largest);
	for (rounds = 0; again && rounds < ROUNDS_MAX; rounds++) {
		again = false;
		for (i = 0; i < nr; i++) {
			const struct link *next = largest[links[i].callee - functions->rows];

			if (!diff->options->calls)
				again |= rank_functions(&links[i]);
			else if (next && !links[i].callee_rest &&
				 has_part(next->call, links[i].call, NEARLY_ALL))
				again |= rank_after(links[i].call, next->call);
		}
	}
	return 0;
}

/*
 * If the newer run took longer, shares also fall because others grew; if it was shorter, they rise.
 * Rank such rows by seconds, which are not affected.
 */
static void rank_by_seconds(struct diff *diff)
{
	const double longer = diff->total.new_ns - diff->total.old_ns;
	size_t i;

	for (i = 0; diff_is_of_runs(diff) && i < diff->nr; i++) {
		struct diff_row *row = &diff->rows[i];
		const double sign = row->change < 0 ? -1 : 1;
		const double seconds =
			share_of(diff->total.old_ns, row->new.sum.ns - row->old.sum.ns);

		if (sign * longer < 0)
			row->rank = fmax(0, fmin(row->rank, sign * seconds));
	}
}

/*
 * Ranks functions or calls, sorted by place, so that rows that only pass a change on come after its
 * cause. 0 or -ENOMEM.
 */
static int diff_rank(struct diff *diff)
{
	struct diff_options options = *diff->options;
	struct diff other = *diff;
	const struct diff *functions = options.calls ? &other : diff;
	const struct diff *calls = options.calls ? diff : &other;
	cleanup_free struct link *links = NULL;
	size_t i, nr = 0;
	int ret;

	rank_by_seconds(diff);
	options.calls = !options.calls;
	other.options = &options;
	ret = diff_fill_rows(&other);
	links = ret ? NULL : calloc(calls->nr + 1, sizeof(*links));
	for (i = 0; links && i < calls->nr; i++) {
		struct link *link = &links[nr];

		*link = (struct link){ .call = &calls->rows[i] };
		if (!find_functions(functions, link))
			continue;
		link->caller_rest = changed_without(diff, link->caller, link->call);
		link->callee_rest = changed_without(diff, link->callee, link->call);
		nr++;
	}
	ret = links ? rank_links(diff, functions, links, nr) : -ENOMEM;
	free(other.rows);
	return ret;
}

/* --- the whole -------------------------------------------------------------------------------- */

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
	text->old.waits = options->old_waits;
	text->new.waits = options->new_waits;
	ret = load(&text->old, options->by, err) ?: load(&text->new, options->by, err);
	if (!ret)
		ret = diff_pair_objects(result, err);
	if (!ret && options->old_waits) {
		ret = finish_waits(result);
		return ret ? error_errno(err, ret, "diff") : 0;
	}
	if (!ret && options->by == REPORT_LINES)
		ret = diff_match_lines(result, err);
	if (!ret && options->inclusive)
		ret = load_inclusive(&text->old, options, err) ?:
			      load_inclusive(&text->new, options, err);
	if (ret)
		return ret;
	result->total = total_of(&text->old, &text->new);
	ret = diff_fill_rows(result);
	if (!ret)
		ret = note_total(result);
	if (!ret && options->inclusive)
		ret = diff_rank(result);
	if (!ret)
		ret = find_significant(result);
	if (ret)
		return error_errno(err, ret, "diff");
	SORT(result->rows, result->nr, compare_change);
	return 0;
}

static void free_side(struct diff_profile *side)
{
	rows_free(&side->rows);
	string_set_free(&side->names);
	free(side->as);
	free(side->one_build);
	free(side->has_ticks);
	free(side->has_lines);
}

void diff_free(struct diff *diff)
{
	if (diff->text) {
		free_side(&diff->text->old);
		free_side(&diff->text->new);
	}
	free_all(diff->notes, diff->nr_notes);
	free(diff->text);
	free(diff->rows);
}

size_t diff_above(const struct diff *diff, double percent, size_t *ret_spared)
{
	const bool less = diff_is_of_runs(diff) && diff->total.new_ns < diff->total.old_ns;
	const struct diff_row *row = diff->rows;
	size_t i, nr = 0;

	*ret_spared = 0;
	for (i = 0; i < diff->nr; i++, row++) {
		if (!row->significant || !(row->change > percent))
			continue;
		if (less && row->new.sum.ns < row->old.sum.ns *(1 + RUN_CHANGE))
			++*ret_spared;
		else
			nr++;
	}
	return nr;
}
