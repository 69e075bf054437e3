// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The trees of a report: of all chains, of a function's callers, and of its callees. */
#include "report/context_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* Limit of rows of callers. Nobody reads more, and they would need gigabytes. */
#define CALLERS_MAX (1 << 20)

/* Makes the tree that the options select from the tree of all chains. */
struct chain_view {
	const struct profile *profile;
	const struct report_options *options;
	const struct context_tree *source;
	const struct report_rows *frames;
	struct context_tree folded, made;
	bool *wanted; /* by frame: it matches --callers or --callees */
	double least; /* nanoseconds that a row needs to be shown */
};

static bool frame_is_wanted(const struct chain_view *view, uint32_t frame)
{
	return frame < view->frames->nr && view->wanted[frame];
}

static bool context_is_wanted(const struct chain_view *view, uint32_t context)
{
	return context && frame_is_wanted(view, view->source->contexts.all[context].frame);
}

/* The time that counts as 100 %: the profile's for a tree of all, else that of the functions. */
static double whole_ns(const struct chain_view *view, const struct context_tree *tree)
{
	double whole = 0;
	size_t i;

	if (view->options->tree >= TREE_ALL)
		return rows_ns(view->profile, view->options);
	for (i = 1; i < tree->contexts.nr; i++)
		if (!tree->contexts.all[i].parent)
			whole += tree->sums[i].inclusive.ns;
	return whole;
}

/* The least time of a row that is shown. */
static double least_ns(const struct chain_view *view, const struct context_tree *tree)
{
	return view->options->min / 100 * whole_ns(view, tree);
}

/* Whether own ticks of a context fell in a wanted function, or in the kernel on its behalf. */
static bool is_own(const struct chain_view *view, uint32_t context)
{
	const struct chain_context *at = &view->source->contexts.all[context];

	if (at->frame == view->frames->nr + FRAME_KERNEL)
		context = at->parent;
	return context_is_wanted(view, context);
}

/* --- recursion: a round of functions that call each other counts once ------------------------- */

/* Limit of functions in a round, as on the page. */
#define FOLD_PERIOD 8

struct chain_fold {
	const struct chain_view *view;
	struct context_tree *folded;
	uint32_t *images; /* by context: its counterpart in the folded tree, */
	uint32_t *times; /* and the depth of recursion there, if it was folded */
	struct tick_sum *hidden; /* by context: inclusive ticks in text without rows */
	bool *counts; /* by context: recursion up to there belongs to a row */
};

/*
 * Returns the period if the chain would repeat itself, as in f, g, f and now g: 2; 0: it does not.
 */
static uint32_t repeats(const struct chain_tree *tree, uint32_t node, uint32_t frame)
{
	uint32_t last[2 * FOLD_PERIOD] = { frame }, nr = 1, period, same;

	for (; node && nr < 2 * FOLD_PERIOD; node = tree->all[node].parent)
		last[nr++] = tree->all[node].frame;
	for (period = 1; 2 * period <= nr; period++) {
		for (same = 0; same < period && last[same] == last[same + period];)
			same++;
		if (same == period)
			return period;
	}
	return 0;
}

static uint32_t climb(const struct chain_tree *tree, uint32_t node, uint32_t levels)
{
	while (levels--)
		node = tree->all[node].parent;
	return node;
}

/* For callees, the innermost call of the function is on top. Rounds must not go through it. */
static bool goes_through_wanted(const struct chain_fold *fold, uint32_t node, uint32_t period)
{
	const struct chain_tree *tree = &fold->folded->contexts;

	if (fold->view->options->tree != TREE_CALLEES)
		return false;
	for (; period--; node = tree->all[node].parent)
		if (frame_is_wanted(fold->view, tree->all[node].frame))
			return true;
	return false;
}

/* Sets the image of a context whose parent has one. */
static int enter(struct chain_fold *fold, uint32_t context)
{
	const struct chain_tree *tree = &fold->folded->contexts;
	const struct chain_context *contexts = fold->view->source->contexts.all;
	const uint32_t above = fold->images[contexts[context].parent];
	const uint32_t frame = contexts[context].frame;
	const uint32_t period = repeats(tree, above, frame);
	uint32_t last = contexts[context].parent;

	fold->times[context] = 1;
	if (!period || (period > 1 && goes_through_wanted(fold, above, period))) {
		fold->images[context] = context_tree_child(fold->folded, above, frame);
		return fold->images[context] ? 0 : -ENOMEM;
	}
	fold->images[context] = climb(tree, above, period - 1);
	while (fold->images[last] != fold->images[context])
		last = contexts[last].parent;
	fold->times[context] = fold->times[last] + 1;
	return 0;
}

/* Adds the sum of a context to its image. */
static void count(struct chain_fold *fold, uint32_t context)
{
	const struct context_sum *from = &fold->view->source->sums[context];
	struct context_sum *to = &fold->folded->sums[fold->images[context]];

	tick_sum_add(&to->own, &from->own);
	if (fold->hidden[context].ticks)
		tick_sum_add(&to->inclusive, &fold->hidden[context]);
	if (fold->counts[context] && fold->times[context] > 1 &&
	    fold->times[context] > to->recursion)
		to->recursion = fold->times[context];
}

static void subtract(struct tick_sum *from, const struct tick_sum *part)
{
	from->ticks -= part->ticks;
	from->ns -= part->ns;
	from->squares -= part->squares;
}

/* Finds inclusive ticks that neither the context itself nor those below it have. */
static void find_hidden(struct chain_fold *fold)
{
	const struct context_tree *source = fold->view->source;
	struct tick_sum below;
	size_t i;

	for (i = source->contexts.nr; i-- > 1;) {
		below = source->sums[i].inclusive;
		subtract(&fold->hidden[source->contexts.all[i].parent], &below);
		subtract(&below, &source->sums[i].own);
		tick_sum_add(&fold->hidden[i], &below);
	}
}

/* For callers, only recursion that led to a wanted function belongs to a row. */
static void find_counting(struct chain_fold *fold)
{
	const struct chain_view *view = fold->view;
	size_t i;

	for (i = view->source->contexts.nr; i-- > 1;) {
		fold->counts[i] |= view->options->tree != TREE_CALLERS ||
				   context_is_wanted(view, (uint32_t)i);
		fold->counts[view->source->contexts.all[i].parent] |= fold->counts[i];
	}
}

/*
 * Makes the tree of all chains with recursion folded. Where a round of functions repeats, the chain
 * continues in its first round. Direct callers and callees stay the same below it. 0 or -ENOMEM.
 */
static int chain_fold(const struct chain_view *view, struct context_tree *folded)
{
	const size_t nr = view->source->contexts.nr;
	cleanup_free uint32_t *images = calloc(nr + 1, sizeof(*images));
	cleanup_free uint32_t *times = calloc(nr + 1, sizeof(*times));
	cleanup_free struct tick_sum *hidden = calloc(nr + 1, sizeof(*hidden));
	cleanup_free bool *counts = calloc(nr + 1, sizeof(*counts));
	struct chain_fold fold = { view, folded, images, times, hidden, counts };
	uint32_t i;

	if (!images || !times || !hidden || !counts)
		return -ENOMEM;
	find_hidden(&fold);
	find_counting(&fold);
	for (i = 1; i < nr; i++) {
		/* Deeper than PROFILE_CHAIN_DEPTH there is none, and enter() may climb to the top. */
		if (!view->source->sums[i].inclusive.ticks)
			continue;
		if (enter(&fold, i))
			return -ENOMEM;
		count(&fold, i);
	}
	context_tree_include(folded);
	return 0;
}

/* --- callers ---------------------------------------------------------------------------------- */

/*
 * One row of the result, one context of the source that it includes, and the time that came up
 * through this context from outermost calls of wanted functions.
 */
struct caller_entry {
	uint32_t row; /* a context in the result */
	uint32_t context;
	struct context_sum sum;
};

DEFINE_COMPARE_2(compare_entries, struct caller_entry, row, context)

static void context_sum_add(struct context_sum *sum, const struct context_sum *part)
{
	tick_sum_add(&sum->own, &part->own);
	tick_sum_add(&sum->inclusive, &part->inclusive);
}

/* Adds the entries of a level to their rows. Returns how many entries are left after combining. */
static size_t add_level(struct chain_view *view, struct caller_entry *entries, size_t nr)
{
	size_t i, kept = 0;

	SORT(entries, nr, compare_entries);
	for (i = 0; i < nr; i++) {
		context_sum_add(&view->made.sums[entries[i].row], &entries[i].sum);
		if (kept && !compare_entries(&entries[kept - 1], &entries[i]))
			context_sum_add(&entries[kept - 1].sum, &entries[i].sum);
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* If a row combines several contexts, it shows the deepest recursion. */
static void note_recursion(struct context_tree *made, uint32_t context, uint32_t recursion)
{
	if (context && recursion > made->sums[context].recursion)
		made->sums[context].recursion = recursion;
}

/*
 * Replaces the entries of a level by those of their callers. Rows below --min end here, because
 * their callers have no more time than they have.
 */
static int next_level(struct chain_view *view, struct caller_entry *entries, size_t *nr)
{
	const struct chain_context *contexts = view->source->contexts.all;
	struct caller_entry entry;
	size_t i, kept = 0;

	for (i = 0; i < *nr; i++) {
		entry = entries[i];
		entry.context = contexts[entry.context].parent;
		if (!entry.context || view->made.sums[entry.row].inclusive.ns < view->least)
			continue;
		entry.row =
			context_tree_child(&view->made, entry.row, contexts[entry.context].frame);
		if (!entry.row)
			return -ENOMEM;
		if (view->made.contexts.nr > CALLERS_MAX)
			return -E2BIG;
		note_recursion(&view->made, entry.row, view->source->sums[entry.context].recursion);
		entries[kept++] = entry;
	}
	*nr = kept;
	return 0;
}

/* Sums, for each context, the own ticks of wanted functions in it and below. */
static void sum_own(const struct chain_view *view, struct tick_sum *own)
{
	const struct context_tree *source = view->source;
	size_t i;

	for (i = source->contexts.nr; i-- > 1;) {
		if (is_own(view, i))
			tick_sum_add(&own[i], &source->sums[i].own);
		tick_sum_add(&own[source->contexts.all[i].parent], &own[i]);
	}
}

/* Makes an entry of each outermost call of a wanted function. within[i]: i is one, or below one. */
static int begin_callers(struct chain_view *view, const struct tick_sum *own, uint8_t *within,
			 struct caller_entry *entries, size_t *nr)
{
	const struct context_tree *source = view->source;
	struct caller_entry entry;
	size_t i;

	for (i = 1; i < source->contexts.nr; i++) {
		const struct chain_context *context = &source->contexts.all[i];
		bool below = within[context->parent], wanted = context_is_wanted(view, i);

		within[i] = below || wanted;
		if (!wanted || below)
			continue;
		entry = (struct caller_entry){ .context = (uint32_t)i,
					       .sum = { own[i], source->sums[i].inclusive } };
		entry.row = context_tree_child(&view->made, 0, context->frame);
		if (!entry.row)
			return -ENOMEM;
		note_recursion(&view->made, entry.row, source->sums[i].recursion);
		entries[(*nr)++] = entry;
	}
	return 0;
}

/* Work level by level, so that rows below --min cost neither time nor memory. */
static int make_callers(struct chain_view *view)
{
	const size_t room = view->source->contexts.nr + 1;
	cleanup_free struct tick_sum *own = calloc(room, sizeof(*own));
	cleanup_free uint8_t *within = calloc(room, sizeof(*within));
	cleanup_free struct caller_entry *entries = calloc(room, sizeof(*entries));
	size_t nr = 0;
	int ret;

	if (!own || !within || !entries)
		return -ENOMEM;
	sum_own(view, own);
	ret = begin_callers(view, own, within, entries, &nr);
	if (ret)
		return ret;
	nr = add_level(view, entries, nr);
	view->least = least_ns(view, &view->made);
	while (!ret && nr) {
		ret = next_level(view, entries, &nr);
		nr = ret ? 0 : add_level(view, entries, nr);
	}
	return ret;
}

/* --- callees ---------------------------------------------------------------------------------- */

/* Shows the function's own ticks as a row beside its callees. */
static int add_self(struct chain_view *view)
{
	const uint32_t frame = (uint32_t)view->frames->nr + FRAME_SELF;
	const size_t nr = view->made.contexts.nr;
	struct tick_sum self;
	uint32_t i, made;

	for (i = 1; i < nr; i++) {
		self = view->made.sums[i].own;
		if (view->made.contexts.all[i].parent || !self.ticks)
			continue;
		made = context_tree_child(&view->made, i, frame);
		if (!made)
			return -ENOMEM;
		view->made.sums[made] = (struct context_sum){ .own = self, .inclusive = self };
	}
	return 0;
}

/* Makes the contexts below wanted functions. In recursion, callees belong to the innermost call. */
static int make_callees(struct chain_view *view)
{
	const struct context_tree *source = view->source;
	cleanup_free uint32_t *copies = calloc(source->contexts.nr + 1, sizeof(*copies));
	uint32_t i;

	if (!copies)
		return -ENOMEM;
	for (i = 1; i < source->contexts.nr; i++) {
		const struct chain_context *context = &source->contexts.all[i];
		const bool begins = context_is_wanted(view, i);

		if (!begins && !copies[context->parent])
			continue;
		copies[i] = context_tree_child(&view->made, begins ? 0 : copies[context->parent],
					       context->frame);
		if (!copies[i])
			return -ENOMEM;
		tick_sum_add(&view->made.sums[copies[i]].own, &source->sums[i].own);
		note_recursion(&view->made, copies[i], source->sums[i].recursion);
	}
	context_tree_include(&view->made);
	return add_self(view);
}

/* --- the direct callers and callees of a function --------------------------------------------- */

/* Frames above FRAME_CUT stand for the causes of a cut. */
static const char *frame_name(uint32_t frame)
{
	if (frame == FRAME_KERNEL)
		return PROFILE_KERNEL_FRAME;
	if (frame == FRAME_FIRST)
		return "[nothing: it is the first frame]";
	return frame == FRAME_SELF ? "[self]" : profile_cut_names[frame - FRAME_CUT];
}

/* Makes the row of a frame with these ticks. */
static struct report_row chain_row(const struct report_rows *frames, uint32_t frame,
				   const struct context_sum *sum)
{
	struct report_row row = { .abstract = true };

	if (frame < frames->nr)
		row = frames->rows[frame];
	else
		row.name = frame_name(frame - (uint32_t)frames->nr);
	row.own = sum->own;
	row.inclusive = sum->inclusive;
	row.recursion = sum->recursion;
	row.inlined = 0;
	return row;
}

/* By frame: the wanted functions' sums by caller, and by callee. */
struct frame_sums {
	struct tick_sum *callers, *callees;
};

/* below: by context, its ticks and those below, down to the next wanted function. */
static void sum_neighbours(const struct chain_view *view, struct tick_sum *below, uint8_t *within,
			   struct frame_sums *sums)
{
	const struct chain_context *contexts = view->source->contexts.all;
	const struct context_sum *sum = view->source->sums;
	const size_t nr = view->source->contexts.nr, first = view->frames->nr;
	size_t i;

	for (i = nr; i-- > 1;) {
		tick_sum_add(&below[i], &sum[i].own);
		if (!context_is_wanted(view, i))
			tick_sum_add(&below[contexts[i].parent], &below[i]);
	}
	for (i = 1; i < nr; i++) {
		const uint32_t parent = contexts[i].parent;
		const bool wanted = context_is_wanted(view, i);

		within[i] = within[parent] || wanted;
		if (wanted && !within[parent])
			tick_sum_add(&sums->callers[parent ? contexts[parent].frame :
							     first + FRAME_FIRST],
				     &sum[i].inclusive);
		if (wanted)
			tick_sum_add(&sums->callees[first + FRAME_SELF], &sum[i].own);
		else if (context_is_wanted(view, parent))
			tick_sum_add(&sums->callees[contexts[i].frame], &below[i]);
	}
}

/* Appends a row for each frame with ticks, hottest first. */
static int put_neighbours(const struct report_rows *frames, const struct tick_sum *sums, size_t nr,
			  struct report_rows *made)
{
	struct report_rows part = { 0 };
	struct report_row row;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < nr; i++) {
		row = chain_row(frames, i, &(struct context_sum){ .inclusive = sums[i] });
		ret = row.inclusive.ticks ? rows_add(&part, &row) : 0;
	}
	rows_sort(&part, true, 0);
	for (i = 0; !ret && i < part.nr; i++)
		ret = rows_add(made, &part.rows[i]);
	free(part.rows);
	return ret;
}

/* Adds the row of the function. If several match, they share a row with the given name. */
static int put_chosen(const struct chain_view *view, struct report_rows *made)
{
	const struct context_tree *tree = &view->made;
	struct report_row row = { 0 };
	size_t i, nr = 0;

	for (i = 1; i < tree->contexts.nr; i++) {
		struct context_sum sum = tree->sums[i];

		if (tree->contexts.all[i].parent)
			continue;
		tick_sum_add(&sum.inclusive, &row.inclusive);
		row = chain_row(view->frames, tree->contexts.all[i].frame, &sum);
		nr++;
	}
	if (nr > 1) {
		row.name = view->options->function;
		row.abstract = true;
		row.recursion = 0;
	}
	return rows_add(made, &row);
}

/* Sets the neighbours of the wanted functions, once their callers were made. 0 or -ENOMEM. */
static int chain_neighbours(const struct chain_view *view, struct report_rows *rows)
{
	const size_t room = view->source->contexts.nr + 1;
	const size_t nr = view->frames->nr + FRAME_CUT + WALK_END_COUNT + 1;
	cleanup_free struct tick_sum *below = calloc(room, sizeof(*below));
	cleanup_free uint8_t *within = calloc(room, sizeof(*within));
	cleanup_free struct tick_sum *callers = calloc(nr, sizeof(*callers));
	cleanup_free struct tick_sum *callees = calloc(nr, sizeof(*callees));
	struct frame_sums sums = { callers, callees };
	struct report_rows made = { 0 };
	int ret;

	if (!below || !within || !callers || !callees)
		return -ENOMEM;
	sum_neighbours(view, below, within, &sums);
	ret = put_neighbours(rows, callers, nr, &made);
	rows->nr_callers = made.nr;
	if (!ret)
		ret = put_chosen(view, &made);
	if (!ret)
		ret = put_neighbours(rows, callees, nr, &made);
	rows->neighbours = made.rows;
	rows->nr_neighbours = made.nr;
	return ret;
}

/* Puts each function on top with its own sums; ids gets the context of each call below it. */
static int find_calls(struct chain_view *view, uint32_t *ids)
{
	const struct chain_tree *contexts = &view->source->contexts;
	const size_t nr = view->frames->nr;
	uint32_t i, at;

	for (i = 0; i < nr; i++) {
		at = context_tree_child(&view->made, 0, i);
		if (!at)
			return -ENOMEM;
		view->made.sums[at].own = view->frames->rows[i].own;
		view->made.sums[at].inclusive = view->frames->rows[i].inclusive;
	}
	for (i = 0; i < contexts->nr; i++) {
		ids[i] = NO_ROW;
		if (!i || !contexts->all[i].parent || contexts->all[i].frame >= nr)
			continue;
		at = context_tree_child(&view->made, 0, contexts->all[i].frame);
		ids[i] = context_tree_child(&view->made, at,
					    contexts->all[contexts->all[i].parent].frame);
		if (!ids[i])
			return -ENOMEM;
	}
	return 0;
}

/* Makes the tree of all functions and their direct callers. 0 or -ENOMEM. */
static int chain_calls(struct chain_view *view)
{
	cleanup_free uint32_t *ids = calloc(view->source->contexts.nr + 1, sizeof(*ids));
	int ret = ids ? find_calls(view, ids) : -ENOMEM;

	return ret ? ret :
		     context_tree_sum(view->source, ids, view->made.contexts.nr, view->made.sums);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct shown_context {
	uint32_t parent;
	uint32_t context;
	double ns;
	uint64_t ticks;
};

/* Groups children of a context, hottest first. */
DEFINE_COMPARE_AS(compare_shown_contexts, struct shown_context,
		  compare_u64(a->parent, b->parent)	  ?:
			  compare_double(b->ns, a->ns)	  ?:
			  compare_u64(b->ticks, a->ticks) ?:
							    compare_u64(a->context, b->context))

struct tree_writer {
	const struct chain_view *view;
	const struct context_tree *tree;
	struct report_rows *rows; /* the result */
	uint32_t *depths; /* by context */
	bool *shown; /* by context: it has a row */
	struct shown_context *sorted; /* by parent */
	size_t *first; /* the children of c: sorted[first[c]] ... sorted[first[c + 1] - 1] */
};

static int sort_contexts(struct tree_writer *writer)
{
	const struct context_tree *tree = writer->tree;
	const size_t nr = tree->contexts.nr;
	size_t i, at = 0;

	writer->sorted = calloc(nr + 1, sizeof(*writer->sorted));
	writer->first = calloc(nr + 2, sizeof(*writer->first));
	if (!writer->sorted || !writer->first)
		return -ENOMEM;
	for (i = 1; i < nr; i++)
		writer->sorted[i - 1] = (struct shown_context){ tree->contexts.all[i].parent,
								(uint32_t)i,
								tree->sums[i].inclusive.ns,
								tree->sums[i].inclusive.ticks };
	if (nr > 1)
		SORT(writer->sorted, nr - 1, compare_shown_contexts);
	for (i = 0; i <= nr; i++) {
		while (nr && at < nr - 1 && writer->sorted[at].parent < i)
			at++;
		writer->first[i] = at;
	}
	return 0;
}

/* If there are too many rows, keep the hottest. Parents have at least as much as their children. */
static int keep_hottest(struct tree_writer *writer, size_t nr)
{
	cleanup_free struct shown_context *hot = calloc(nr + 1, sizeof(*hot));
	size_t i, at = 0;

	if (!hot)
		return -ENOMEM;
	for (i = 0; i + 1 < writer->tree->contexts.nr; i++) {
		hot[at] = writer->sorted[i];
		hot[at].parent = 0;
		if (writer->shown[hot[at].context])
			at++;
	}
	SORT(hot, nr, compare_shown_contexts);
	for (i = writer->view->options->limit; i < nr; i++)
		writer->shown[hot[i].context] = false;
	return 0;
}

/* Chooses rows by --min, --depth and --limit. Parents come before children. */
static int choose_shown(struct tree_writer *writer)
{
	const struct report_options *options = writer->view->options;
	const struct context_tree *tree = writer->tree;
	const uint64_t depth = options->depth ?: UINT64_MAX;
	size_t i, nr = 0;
	int ret = 0;

	for (i = 1; i < tree->contexts.nr; i++) {
		const uint32_t parent = tree->contexts.all[i].parent;
		const struct context_sum *sum = &tree->sums[i];

		writer->depths[i] = writer->depths[parent] + 1;
		writer->shown[i] = (!parent || writer->shown[parent]) && sum->inclusive.ticks &&
				   sum->inclusive.ns >= writer->view->least &&
				   writer->depths[i] <= depth;
		if (writer->shown[i])
			nr++;
	}
	if (options->limit && nr > options->limit)
		ret = keep_hottest(writer, nr);
	/*
	 * Sums are rounded in different orders. Therefore a child may exceed its parent slightly.
	 */
	for (i = 1; i < tree->contexts.nr; i++)
		writer->shown[i] &= !tree->contexts.all[i].parent ||
				    writer->shown[tree->contexts.all[i].parent];
	return ret;
}

/* A level on the path to the current context, with its remaining children. */
struct tree_level {
	size_t next;
	size_t nr_remaining;
	bool branch; /* there are several */
	uint32_t parent; /* the row above these children; at the top, 0, where there is none */
};

/* Begins the children of a context. Adds those that are not shown to the rows' sums. */
static struct tree_level begin_children(struct tree_writer *writer, uint32_t context)
{
	struct tree_level level = { .next = writer->first[context] };
	const struct shown_context *child = &writer->sorted[writer->first[context]];
	const struct shown_context *end = &writer->sorted[writer->first[context + 1]];

	for (; child < end; child++) {
		if (!child->ticks)
			continue;
		if (writer->shown[child->context]) {
			level.nr_remaining++;
			continue;
		}
		writer->rows->nr_cut++;
		writer->rows->cut_ticks += child->ticks;
	}
	level.branch = level.nr_remaining > 1;
	return level;
}

static int put_context(struct tree_writer *writer, uint32_t context, const struct tree_level *level,
		       size_t depth)
{
	struct report_row row = chain_row(writer->view->frames,
					  writer->tree->contexts.all[context].frame,
					  &writer->tree->sums[context]);

	row.depth = (uint32_t)depth;
	row.parent = level->parent;
	row.branch = level->branch;
	row.last = !level->nr_remaining;
	return rows_add(writer->rows, &row);
}

static int put_contexts(struct tree_writer *writer, struct tree_level *levels)
{
	size_t depth = 0;
	uint32_t context;
	int ret = 0;

	levels[0] = begin_children(writer, 0);
	while (!ret) {
		struct tree_level *level = &levels[depth];

		if (!level->nr_remaining) {
			if (!depth--)
				break;
			continue;
		}
		context = writer->sorted[level->next++].context;
		level->nr_remaining--;
		ret = put_context(writer, context, level, depth);
		depth++;
		levels[depth] = begin_children(writer, context);
		levels[depth].parent = (uint32_t)writer->rows->nr - 1;
	}
	return ret;
}

/* Allocates a level for each depth, and one below; NULL: out of memory. */
static struct tree_level *new_levels(const struct tree_writer *writer)
{
	size_t most = 0, i;

	for (i = 1; i < writer->tree->contexts.nr; i++)
		most = max_size(most, writer->depths[i]);
	return calloc(most + 2, sizeof(struct tree_level));
}

static int put_rows(struct tree_writer *writer)
{
	const size_t room = writer->tree->contexts.nr + 1;
	cleanup_free uint32_t *depths = calloc(room, sizeof(*depths));
	cleanup_free bool *shown = calloc(room, sizeof(*shown));
	cleanup_free struct tree_level *levels = NULL;
	int ret = depths && shown ? sort_contexts(writer) : -ENOMEM;

	writer->depths = depths;
	writer->shown = shown;
	if (!ret)
		ret = choose_shown(writer);
	levels = ret ? NULL : new_levels(writer);
	if (!ret && !levels)
		ret = -ENOMEM;
	if (!ret && writer->tree->contexts.nr)
		ret = put_contexts(writer, levels);
	free(writer->sorted);
	free(writer->first);
	return ret;
}

static int replace_rows(struct chain_view *view, struct report_rows *rows)
{
	const struct context_tree *tree = &view->made;
	struct report_rows made = { 0 };
	struct tree_writer writer = { .view = view, .tree = tree, .rows = &made };
	int ret;

	view->least = least_ns(view, tree);
	ret = put_rows(&writer);
	free(rows->rows);
	rows->rows = made.rows;
	rows->nr = made.nr;
	rows->capacity = made.capacity;
	rows->nr_cut = made.nr_cut;
	rows->cut_ticks = made.cut_ticks;
	rows->whole_ns = whole_ns(view, tree);
	return ret;
}

static int make_view(struct chain_view *view, struct report_rows *rows)
{
	int ret;

	if (view->options->tree == TREE_CALLS)
		return chain_calls(view);
	if (view->options->tree == TREE_ALL)
		return chain_fold(view, &view->made);
	view->wanted = calloc(rows->nr + 1, sizeof(*view->wanted));
	if (!view->wanted)
		return -ENOMEM;
	ret = rows_choose_functions(view->profile, view->options, rows, view->wanted);
	if (!ret)
		ret = chain_fold(view, &view->folded);
	if (ret)
		return ret;
	view->source = &view->folded;
	if (view->options->tree == TREE_CALLEES)
		return make_callees(view);
	ret = make_callers(view);
	return ret ? ret : chain_neighbours(view, rows);
}

static int refuse(const struct chain_view *view, struct report_rows *rows, struct error *err)
{
	const struct report_options *options = view->options;
	const struct function_refusal refusal = {
		options->tree == TREE_CALLERS ? "--callers" : "--callees", "is in a chain",
		options->inlined ?
			"bpfprofil report --inclusive --limit 0 --inline" :
			"bpfprofil report --inclusive --limit 0; --inline for inlined functions"
	};

	return rows_refuse_function(view->profile, options, &refusal, rows, err);
}

int rows_chains_view(const struct profile *profile, const struct report_options *options,
		     const struct context_tree *tree, struct report_rows *rows, struct error *err)
{
	struct chain_view view = { .profile = profile,
				   .options = options,
				   .source = tree,
				   .frames = rows };
	int ret = make_view(&view, rows);

	if (!ret && options->tree < TREE_ALL && !view.made.contexts.nr) {
		ret = refuse(&view, rows, err);
	} else if (!ret) {
		ret = replace_rows(&view, rows);
	}
	if (ret == -E2BIG)
		ret = error_with_hint(err, -EINVAL, "a larger --min",
				      "--callers '%.200s': more than %d rows above --min %g",
				      options->function, CALLERS_MAX, options->min);
	if (ret && ret != -EINVAL)
		error_errno(err, ret, "report");
	context_tree_free(&view.made);
	context_tree_free(&view.folded);
	free(view.wanted);
	return ret;
}
