// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_splits.h"

struct check {
	const struct profile *profile;
	const char *name;
	struct error *err;
	uint64_t *binned; /* by target: ticks in its histograms */
	uint64_t *overflow; /* by target: ticks in its overflow bins */
	uint64_t *split; /* by target: ticks in its splits */
	uint64_t *called; /* by target: ticks in its callers, including roots */
};

static const char *const target_kinds[] = { "command", "pid", "cgroup", "system", "call", NULL };
static const char *const sources[] = { "clock", "tick", NULL };
static const char *const modes[] = { "charged", "user", "split", NULL };
static const char *const splits[] = { "process", "cgroup", "thread", NULL };

static bool is_one_of(const char *const *words, const char *word)
{
	if (!word)
		return false;
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

static bool matches_pattern(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++) {
		if (*pattern == '0' ? *text < '0' || *text > '9' : *text != *pattern)
			return false;
	}
	return true;
}

/* RFC 3339 with capital T and Z, as in our own output. */
static bool is_time(const char *text)
{
	size_t digits;

	if (!matches_pattern(text, "0000-00-00T00:00:00"))
		return false;
	text += 19;
	if (*text == '.') {
		digits = strspn(text + 1, "0123456789");
		if (!digits)
			return false;
		text += digits + 1;
	}
	if (!strcmp(text, "Z"))
		return true;
	return (matches_pattern(text, "+00:00") || matches_pattern(text, "-00:00")) && !text[6];
}

/* CPU numbers and ranges, like 0,2-3. */
static bool is_cpu_list(const char *text)
{
	size_t digits;
	bool range = false;

	for (;; text++) {
		digits = strspn(text, "0123456789");
		text += digits;
		if (!digits || !*text)
			return digits;
		if (*text != ',' && (*text != '-' || range))
			return false;
		range = *text == '-';
	}
}

static bool is_hierarchy(const char *text)
{
	return !strcmp(text, "v2") || (!strncmp(text, "v1:", 3) && text[3]);
}

static const char *sampling_fault(const struct profile_sampling *sampling)
{
	if (!is_one_of(sources, sampling->source))
		return "unknown sampling source";
	if (!is_one_of(modes, sampling->mode))
		return "unknown sampling mode";
	if (sampling->split && !is_one_of(splits, sampling->split))
		return "unknown split";
	if (sampling->cpus && !is_cpu_list(sampling->cpus))
		return "\"cpus\" is not a list like 0,2-3";
	if (sampling->hierarchy && !is_hierarchy(sampling->hierarchy))
		return "unknown hierarchy of control groups";
	return sampling->duty_percent > 100 ? "more than 100 % of the ticks count" : NULL;
}

static int broken(const struct check *c, const char *what, size_t i, const char *why)
{
	return error_set(c->err, -EBADMSG, "%s: %s %zu: %s", c->name, what, i, why);
}

static int compare_pointers(const void *left, const void *right, void *of)
{
	int (*const *compare)(const void *left, const void *right) = of;
	const void *const *a = left, *const *b = right;

	return (*compare)(*a, *b) ?: (*a > *b) - (*a < *b);
}

/* Refuses a list with equal elements. */
static int check_twins(const struct check *c, const char *what, const void *list, size_t nr,
		       size_t size, int (*compare)(const void *left, const void *right))
{
	cleanup_free const char **sorted = calloc(nr + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	for (i = 0; i < nr; i++)
		sorted[i] = (const char *)list + i * size;
	qsort_r(sorted, nr, sizeof(*sorted), compare_pointers, &compare);
	for (i = 1; i < nr; i++)
		if (!compare(sorted[i - 1], sorted[i]))
			return broken(c, what, (size_t)(sorted[i] - (const char *)list) / size,
				      "it stands there twice");
	return 0;
}

static int check_head(const struct check *c)
{
	const struct profile *profile = c->profile;
	const char *why = NULL;

	if (!profile->started || !is_time(profile->started))
		why = "\"started\" is not a time as in RFC 3339";
	else if (!profile_account_exact(&profile->ticks))
		why = "the ticks do not add up to their total";
	else
		why = sampling_fault(&profile->sampling);
	return why ? error_set(c->err, -EBADMSG, "%s: %s", c->name, why) : 0;
}

static int check_target(const struct check *c, size_t i)
{
	const struct profile_target *target = &c->profile->targets[i];

	if (!is_one_of(target_kinds, target->kind))
		return broken(c, "target", i, "unknown kind");
	if (!profile_account_exact(&target->ticks))
		return broken(c, "target", i, "its ticks do not add up to their total");
	if (target->kernel_ticks > target->ticks.total)
		return broken(c, "target", i, "more ticks in the kernel than it has");
	return 0;
}

static int check_object(const struct check *c, size_t i)
{
	const struct profile_object *object = &c->profile->objects[i];

	if (object->build_id && !profile_is_build_id(object->build_id))
		return broken(c, "object", i, "its build id is not lower-case hexadecimal");
	if (object->nr_text > PROFILE_SEGMENTS_MAX)
		return broken(c, "object", i, "more segments of text than a file may have");
	if (!profile_text_fits(object->text, object->nr_text))
		return broken(c, "object", i, "its text ends above 2^64");
	return 0;
}

static const char *histogram_fault(const struct check *c, const struct profile_histogram *h)
{
	uint64_t end;

	if (h->target >= c->profile->nr_targets)
		return "its target does not exist";
	if (h->object >= c->profile->nr_objects)
		return "its object does not exist";
	if (!h->bytes_per_bin)
		return "bins of no bytes";
	if (h->width != 2 && h->width != 4 && h->width != 8)
		return "counters are 2, 4 or 8 bytes wide";
	if (__builtin_add_overflow(h->offset, h->size, &end))
		return "it ends above 2^64";
	return NULL;
}

/* The last bin may exceed the text, if the size is not a multiple of bytes_per_bin. */
static const char *bins_fault(const struct profile_histogram *h, uint64_t *sum)
{
	uint64_t nr = h->size / h->bytes_per_bin + !!(h->size % h->bytes_per_bin);
	size_t i;

	for (i = 0; i < h->nr_bins; i++) {
		if (h->bins[i].index >= nr)
			return "a bin lies beyond its size";
		if (i && h->bins[i].index <= h->bins[i - 1].index)
			return "bins do not ascend";
		if (!h->bins[i].count)
			return "a bin without a tick";
		if (__builtin_add_overflow(*sum, h->bins[i].count, sum))
			return "its ticks do not fit 64 bits";
	}
	return NULL;
}

static int check_histogram(const struct check *c, size_t i)
{
	const struct profile_histogram *histogram = &c->profile->histograms[i];
	const char *why = histogram_fault(c, histogram);

	if (!why)
		why = bins_fault(histogram, histogram->overflow ? &c->overflow[histogram->target] :
								  &c->binned[histogram->target]);
	return why ? broken(c, "histogram", i, why) : 0;
}

static int check_function(const struct check *c, size_t i)
{
	const struct profile_function *function = &c->profile->functions[i];
	uint64_t end;

	if (function->object >= c->profile->nr_objects)
		return broken(c, "function", i, "its object does not exist");
	if (!function->ticks && !c->profile->callers && !c->profile->waits)
		return broken(c, "function", i, "it has no tick");
	if (__builtin_add_overflow(function->offset, function->size, &end))
		return broken(c, "function", i, "it ends above 2^64");
	return 0;
}

static int check_tree(const struct check *c)
{
	const char *what, *why;
	size_t i;

	why = profile_callers_fault(c->profile, c->profile->callers, &what, &i);
	return why ? broken(c, what, i, why) : 0;
}

static int check_root(const struct check *c, size_t i)
{
	const struct profile_root *root = &c->profile->callers->roots[i];

	if (profile_target_is_call(&c->profile->targets[root->target]))
		return broken(c, "root", i, "a program's own call has no callers");
	return 0;
}

/* A key that differs between siblings. In a sum, nodes ascend by it. */
static uint64_t sibling_key(const struct profile_callers *callers, size_t i)
{
	const struct profile_node *node = &callers->nodes[i];
	uint64_t parent = node->parent < 0 ? (uint64_t)(-1 - (int64_t)node->parent) :
					     callers->nr_roots + (uint64_t)node->parent;

	return parent << 32 | node->site;
}

DEFINE_COMPARE_AS(compare_keys, uint64_t, compare_u64(*a, *b))

static int check_siblings(const struct check *c)
{
	const struct profile_callers *callers = c->profile->callers;
	cleanup_free uint64_t *keys = calloc(callers->nr_nodes + 1, sizeof(*keys));
	bool ascending = true;
	size_t i;

	if (!keys)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	for (i = 0; i < callers->nr_nodes; i++) {
		keys[i] = sibling_key(callers, i);
		ascending = ascending && (!i || keys[i - 1] < keys[i]);
	}
	if (ascending)
		return 0;
	SORT(keys, callers->nr_nodes, compare_keys);
	for (i = 1; i < callers->nr_nodes; i++)
		if (keys[i - 1] == keys[i])
			return error_set(c->err, -EBADMSG,
					 "%s: two nodes of one parent have one site", c->name);
	return 0;
}

static int add_called(const struct check *c)
{
	const struct profile_callers *callers = c->profile->callers;
	cleanup_free uint32_t *roots = profile_callers_roots(callers);
	uint64_t *sum;
	size_t i;

	if (!roots)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	for (i = 0; i < callers->nr_roots; i++) {
		sum = &c->called[callers->roots[i].target];
		if (__builtin_add_overflow(*sum, callers->roots[i].ticks, sum))
			return broken(c, "root", i, "its target's ticks do not fit 64 bits");
	}
	for (i = 0; i < callers->nr_nodes; i++) {
		sum = &c->called[callers->roots[roots[i]].target];
		if (__builtin_add_overflow(*sum, callers->nodes[i].ticks, sum))
			return broken(c, "node", i, "its target's ticks do not fit 64 bits");
	}
	return 0;
}

/* Ticks with callers must equal total - filtered - lost. A program's own call has no callers. */
static int check_called(const struct check *c, size_t i)
{
	const struct profile_target *target = &c->profile->targets[i];
	uint64_t ticks = target->ticks.binned + target->ticks.overflow + target->ticks.outside;

	if (c->called[i] != (profile_target_is_call(target) ? 0 : ticks))
		return broken(c, "target", i,
			      "the ticks with callers are not its total without filtered and lost");
	return 0;
}

/* Call it after the histograms: the sums of their bins must agree with the account. */
static int check_sum(const struct check *c, size_t i)
{
	const struct profile_account *ticks = &c->profile->targets[i].ticks;

	if (c->binned[i] != ticks->binned)
		return broken(c, "target", i, "its bins do not add up to its binned ticks");
	if (c->overflow[i] > ticks->overflow)
		return broken(c, "target", i, "more ticks in overflow bins than it has");
	return 0;
}

/*
 * A split's histograms may have more ticks than the split: a sum may include a part that was not
 * split, but whose JIT text belongs to processes.
 */
static const char *split_fault(const struct check *c, const struct profile_split *split)
{
	uint64_t *sum;

	if (split->target >= c->profile->nr_targets)
		return "its target does not exist";
	if (split->cgroup && (split->pid >= 0 || split->process))
		return "both a process and a cgroup";
	if (profile_split_is_rest(split) && split->ticks)
		return "ticks, and neither process nor cgroup";
	sum = &c->split[split->target];
	if (__builtin_add_overflow(*sum, split->ticks, sum) ||
	    *sum > c->profile->targets[split->target].ticks.total)
		return "more ticks than its target has";
	return NULL;
}

static int check_split(const struct check *c, size_t i)
{
	const char *why = split_fault(c, &c->profile->splits[i]);

	return why ? broken(c, "split", i, why) : 0;
}

static int check_all(const struct check *c, size_t nr,
		     int (*check)(const struct check *c, size_t i))
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		ret = check(c, i);
	return ret;
}

static int check_callers(const struct check *c)
{
	const struct profile_callers *callers = c->profile->callers;
	int ret;

	if (!callers)
		return 0;
	ret = check_tree(c);
	if (!ret)
		ret = check_all(c, callers->nr_roots, check_root);
	if (!ret)
		ret = check_twins(c, "root", callers->roots, callers->nr_roots,
				  sizeof(*callers->roots), profile_root_compare);
	if (!ret)
		ret = check_siblings(c);
	if (!ret)
		ret = add_called(c);
	return ret ? ret : check_all(c, c->profile->nr_targets, check_called);
}

static int check_parts(const struct check *c)
{
	const struct profile *profile = c->profile;
	int ret = check_head(c);

	if (!ret)
		ret = check_all(c, profile->nr_targets, check_target);
	if (!ret)
		ret = check_all(c, profile->nr_splits, check_split);
	if (!ret)
		ret = check_twins(c, "split", profile->splits, profile->nr_splits,
				  sizeof(*profile->splits), profile_split_compare);
	if (!ret)
		ret = check_all(c, profile->nr_objects, check_object);
	if (!ret)
		ret = check_all(c, profile->nr_histograms, check_histogram);
	if (!ret)
		ret = check_all(c, profile->nr_functions, check_function);
	if (!ret)
		ret = check_all(c, profile->nr_targets, check_sum);
	if (!ret)
		ret = check_callers(c);
	return ret || !profile->waits ? ret : profile_waits_check(profile, c->name, c->err);
}

int profile_check(const struct profile *profile, const char *name, struct error *err)
{
	struct check check = { .profile = profile, .name = name, .err = err };
	cleanup_free uint64_t *sums = calloc(profile->nr_targets + 1, 4 * sizeof(*sums));

	if (!sums)
		return error_errno(err, -ENOMEM, "%s", name);
	check.binned = sums;
	check.overflow = sums + profile->nr_targets;
	check.split = sums + 2 * profile->nr_targets;
	check.called = sums + 3 * profile->nr_targets;
	return check_parts(&check);
}
