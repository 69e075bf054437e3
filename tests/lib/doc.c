// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "chance.h"

struct json_object *doc_parse(const char *text)
{
	enum json_tokener_error error;
	struct json_object *doc = json_tokener_parse_verbose(text, &error);

	cr_assert_not_null(doc, "not JSON: %s", json_tokener_error_desc(error));
	return doc;
}

struct json_object *doc_load(const char *path)
{
	struct json_object *doc = json_object_from_file(path);

	cr_assert_not_null(doc, "%s", json_util_get_last_err());
	cr_assert_str_eq(json_object_get_string(doc_get(doc, "format")), "bpfprofil");
	cr_assert_eq(doc_number(doc, "version"), 1);
	return doc;
}

struct json_object *doc_get(struct json_object *doc, const char *path)
{
	char name[64];
	const char *p = path;

	while (*p) {
		int len = (int)strcspn(p, ".");

		snprintf(name, sizeof(name), "%.*s", len, p);
		cr_assert(json_object_object_get_ex(doc, name, &doc), "no \"%s\" in the profile",
			  path);
		p += len + (p[len] == '.');
	}
	return doc;
}

uint64_t doc_number(struct json_object *doc, const char *path)
{
	struct json_object *number = doc_get(doc, path);

	cr_assert(json_object_is_type(number, json_type_int), "\"%s\" is no integer", path);
	cr_assert_geq(json_object_get_int64(number), 0, "\"%s\" is negative", path);
	return json_object_get_uint64(number);
}

static struct json_object *doc_item(struct json_object *doc, const char *array, size_t i)
{
	return json_object_array_get_idx(doc_get(doc, array), i);
}

static size_t doc_length(struct json_object *doc, const char *array)
{
	struct json_object *list = doc_get(doc, array);

	cr_assert(json_object_is_type(list, json_type_array), "\"%s\" is no array", array);
	return json_object_array_length(list);
}

static uint64_t lost_in(struct json_object *account, const char *cause)
{
	uint64_t sum = 0;

	json_object_object_foreach(doc_get(account, "lost"), name, ticks) {
		if (!cause || !strcmp(cause, name))
			sum += json_object_get_uint64(ticks);
	}
	return sum;
}

uint64_t doc_lost(struct json_object *doc, const char *cause)
{
	return lost_in(doc_get(doc, "ticks"), cause);
}

static struct json_object *object_of(struct json_object *doc, struct json_object *item)
{
	uint64_t id = doc_number(item, "object");

	cr_assert_lt(id, doc_length(doc, "objects"), "object %" PRIu64 " does not exist", id);
	return doc_item(doc, "objects", id);
}

static const char *text_of(struct json_object *item, const char *name)
{
	const char *text = json_object_get_string(doc_get(item, name));

	return text ? text : "";
}

/* Sums the ticks of the functions that match all filters that are not NULL. */
static uint64_t sum_functions(struct json_object *doc, const char *name, const char *kind,
			      const char *path)
{
	size_t i, n = doc_length(doc, "functions");
	uint64_t sum = 0;

	for (i = 0; i < n; i++) {
		struct json_object *function = doc_item(doc, "functions", i);
		struct json_object *object = object_of(doc, function);

		if (name && strcmp(text_of(function, "name"), name))
			continue;
		if (kind && strcmp(text_of(object, "kind"), kind))
			continue;
		if (path && !strstr(text_of(object, "path"), path))
			continue;
		sum += doc_number(function, "ticks");
	}
	return sum;
}

uint64_t doc_function(struct json_object *doc, const char *name, const char *object)
{
	return sum_functions(doc, name, NULL, object);
}

uint64_t doc_object(struct json_object *doc, const char *kind, const char *path)
{
	return sum_functions(doc, NULL, kind, path);
}

static void assert_identity(struct json_object *account, const char *whose)
{
	uint64_t total = doc_number(account, "total");
	uint64_t sum = doc_number(account, "binned") + doc_number(account, "overflow") +
		       doc_number(account, "outside") + doc_number(account, "filtered") +
		       lost_in(account, NULL);

	cr_assert_eq(total, sum,
		     "%s: total is %" PRIu64 ", but its parts add up to %" PRIu64 ": %s", whose,
		     total, sum, json_object_to_json_string(account));
}

/* Calls' ticks are of another clock, so they count only if there are no others. */
static bool counts(struct json_object *doc, size_t target, bool sampled)
{
	const char *kind =
		json_object_get_string(doc_get(doc_item(doc, "targets", target), "kind"));

	return !sampled || strcmp(kind, "call") != 0;
}

static bool is_sampled(struct json_object *doc)
{
	size_t i, n = doc_length(doc, "targets");

	for (i = 0; i < n; i++)
		if (counts(doc, i, true))
			return true;
	return false;
}

static void assert_targets(struct json_object *doc)
{
	bool sampled = is_sampled(doc);
	static const char *const parts[] = { "total", "binned", "overflow", "outside", "filtered" };
	size_t i, p, n = doc_length(doc, "targets");
	struct json_object *whole = doc_get(doc, "ticks");

	for (i = 0; i < n; i++)
		assert_identity(doc_get(doc_item(doc, "targets", i), "ticks"), "a target");
	for (p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
		uint64_t sum = 0;

		for (i = 0; i < n; i++)
			if (counts(doc, i, sampled))
				sum += doc_number(doc_get(doc_item(doc, "targets", i), "ticks"),
						  parts[p]);
		cr_assert_eq(sum, doc_number(whole, parts[p]),
			     "the targets' \"%s\" add up to %" PRIu64 ", not %" PRIu64, parts[p],
			     sum, doc_number(whole, parts[p]));
	}
}

/* Checks a histogram and returns its ticks. */
static uint64_t assert_histogram(struct json_object *doc, struct json_object *histogram)
{
	uint64_t bytes = doc_number(histogram, "bytes_per_bin"), sum = 0, next = 0;
	uint64_t size = doc_number(histogram, "size");
	size_t i, n = doc_length(histogram, "bins");

	object_of(doc, histogram);
	cr_assert(bytes > 0 && !(bytes & (bytes - 1)), "%" PRIu64 " bytes per bin", bytes);
	for (i = 0; i < n; i++) {
		struct json_object *bin = doc_item(histogram, "bins", i);
		uint64_t index = json_object_get_uint64(json_object_array_get_idx(bin, 0));
		uint64_t count = json_object_get_uint64(json_object_array_get_idx(bin, 1));

		cr_assert_geq(index, next, "bins do not ascend");
		cr_assert_lt(index * bytes, size, "bin %" PRIu64 " is beyond the text", index);
		cr_assert_gt(count, 0, "an empty bin");
		next = index + 1;
		sum += count;
	}
	return sum;
}

/* Asserts that the histograms of a target have its ticks. */
static void assert_held(struct json_object *doc, size_t target)
{
	struct json_object *ticks = doc_get(doc_item(doc, "targets", target), "ticks");
	uint64_t overflow = 0, sum = 0;
	size_t i;

	for (i = 0; i < doc_length(doc, "histograms"); i++) {
		struct json_object *histogram = doc_item(doc, "histograms", i);

		if (doc_number(histogram, "target") != target)
			continue;
		if (json_object_get_boolean(doc_get(histogram, "overflow")))
			overflow += assert_histogram(doc, histogram);
		else
			sum += assert_histogram(doc, histogram);
	}
	cr_assert_eq(sum, doc_number(ticks, "binned"),
		     "the bins of target %zu hold %" PRIu64 " ticks, \"binned\" says %" PRIu64,
		     target, sum, doc_number(ticks, "binned"));
	cr_assert_eq(overflow, doc_number(ticks, "overflow"));
}

void doc_assert_sound(struct json_object *doc)
{
	uint64_t binned = doc_number(doc, "ticks.binned"), sum;
	size_t i;

	assert_identity(doc_get(doc, "ticks"), "the whole");
	assert_targets(doc);
	for (i = 0; i < doc_length(doc, "targets"); i++)
		assert_held(doc, i);
	for (i = 0; i < doc_length(doc, "histograms"); i++)
		cr_assert_lt(doc_number(doc_item(doc, "histograms", i), "target"),
			     doc_length(doc, "targets"));
	/* Of a call's text only addresses are known. */
	if (!is_sampled(doc))
		return;
	sum = sum_functions(doc, NULL, NULL, NULL);
	cr_assert_eq(sum, binned, "the functions hold %" PRIu64 " ticks, \"binned\" says %" PRIu64,
		     sum, binned);
}

void doc_assert_delivered(struct json_object *doc)
{
	uint64_t sum = doc_lost(doc, "throttled"), total = doc_number(doc, "ticks.total");
	size_t i, n = doc_length(doc, "sampling.delivered");

	for (i = 0; i < n; i++)
		sum += json_object_get_uint64(doc_item(doc, "sampling.delivered", i));
	cr_assert_eq(sum, total, "CPUs delivered %" PRIu64 " of %" PRIu64 " ticks", sum, total);
}

uint64_t doc_in_bins(struct json_object *doc, const char *path, uint64_t bytes)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < doc_length(doc, "histograms"); i++) {
		struct json_object *histogram = doc_item(doc, "histograms", i);

		if (doc_number(histogram, "bytes_per_bin") == bytes &&
		    (!path ||
		     strstr(json_object_get_string(doc_get(object_of(doc, histogram), "path")),
			    path)))
			sum += assert_histogram(doc, histogram);
	}
	return sum;
}

struct doc_splits doc_splits_named(struct json_object *doc, const char *key, const char *name)
{
	struct doc_splits sum = { 0 };
	size_t i;

	for (i = 0; i < doc_length(doc, "splits"); i++) {
		struct json_object *split = doc_item(doc, "splits", i);
		const char *text = json_object_get_string(json_object_object_get(split, key));

		if (!text || strcmp(text, name) != 0)
			continue;
		sum.nr++;
		sum.nr_sums += !json_object_object_get(split, "pid");
		sum.ticks += doc_number(split, "ticks");
		sum.ns += (double)doc_number(split, "cpu_ns");
	}
	return sum;
}

uint64_t doc_cgroup(struct json_object *doc, const char *ending)
{
	size_t i, length = strlen(ending);
	uint64_t sum = 0;

	for (i = 0; i < doc_length(doc, "histograms"); i++) {
		struct json_object *histogram = doc_item(doc, "histograms", i);
		const char *path = json_object_get_string(doc_get(histogram, "cgroup"));

		cr_assert(path && path[0] == '/', "no cgroup: %s",
			  json_object_to_json_string(histogram));
		if (strlen(path) >= length && !strcmp(path + strlen(path) - length, ending))
			sum += assert_histogram(doc, histogram);
	}
	return sum;
}

double doc_emulated_part(void)
{
	return getenv("SPIN_SLOWNESS") ? 0.01 : 0;
}

const char *doc_walk_hz(void)
{
	return doc_emulated_part() > 0 ? "250" : "4595";
}

void assert_ratio(size_t n, const struct share *shares, const uint64_t *ticks)
{
	double weights = 0, total = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		weights += shares[i].weight;
		total += (double)ticks[i];
	}
	cr_assert_gt(total, 100, "too few ticks in the functions that burn");
	for (i = 0; i < n; i++) {
		double p = shares[i].weight / weights;
		double error = sqrt(total * p * (1 - p));

		cr_expect_leq(fabs((double)ticks[i] - total * p),
			      CHANCE_ERRORS * error + doc_emulated_part() * total,
			      "%s: %" PRIu64
			      " of %.0f ticks, expected %.0f +- %.0f (standard error)",
			      shares[i].name, ticks[i], total, total * p, error);
	}
}

void doc_assert_shares(struct json_object *doc, size_t n, const struct share *shares, double part)
{
	uint64_t ticks[16], sum = 0, total = doc_number(doc, "ticks.total");
	size_t i;

	cr_assert_leq(n, sizeof(ticks) / sizeof(*ticks));
	for (i = 0; i < n; i++) {
		ticks[i] = doc_function(doc, shares[i].name, NULL);
		sum += ticks[i];
	}
	cr_expect_geq((double)sum, part * (double)total,
		      "%" PRIu64 " of %" PRIu64 " ticks are in the functions that burn", sum,
		      total);
	assert_ratio(n, shares, ticks);
}
