// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * If a function changed, all its callers changed too. Ranks the function that caused the change
 * before functions that only pass it on.
 */
#include "report/diff_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

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
	from->ticks -= part->ticks < from->ticks ? part->ticks : from->ticks;
	from->ns = fmax(0, from->ns - part->ns);
	from->squares = fmax(0, from->squares - part->squares);
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
	change = share_of(diff->text->new.ns, rest.new.ns) -
		 share_of(diff->text->old.ns, rest.old.ns);
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
	return link->callee->old.ticks + link->callee->new.ticks ==
	       link->call->old.ticks + link->call->new.ticks;
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
		const double seconds = share_of(diff->total.old_ns, row->new.ns - row->old.ns);

		if (sign * longer < 0)
			row->rank = fmax(0, fmin(row->rank, sign * seconds));
	}
}

int diff_rank(struct diff *diff)
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
