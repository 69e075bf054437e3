/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_DOC_H
#define TEST_DOC_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/*
 * A profile as others see it: the JSON document, read with json-c and not with our own reader, so
 * that an error common to our writer and reader shows. The test fails if something is missing.
 */
struct json_object *doc_parse(const char *text);
struct json_object *doc_load(const char *path);

/* A member by a dotted path ("sampling.period_ns"), which must exist. */
struct json_object *doc_get(struct json_object *doc, const char *path);
uint64_t doc_number(struct json_object *doc, const char *path);

/* Ticks lost for a cause, 0 if the document does not have it; NULL: for all causes. */
uint64_t doc_lost(struct json_object *doc, const char *cause);

/* Ticks of all functions with a name; object: only those in objects whose path contains it. */
uint64_t doc_function(struct json_object *doc, const char *name, const char *object);

/* Ticks of all functions in objects of a kind, or whose path contains a text; NULL: any. */
uint64_t doc_object(struct json_object *doc, const char *kind, const char *path);

/* Ticks in bins of so many bytes; path: only those in objects whose path contains it; NULL: any. */
uint64_t doc_in_bins(struct json_object *doc, const char *path, uint64_t bytes);

/* Splits whose `key` ("process", "cgroup") is this name; in all. */
struct doc_splits {
	size_t nr;
	size_t nr_sums; /* of these, sums by name */
	uint64_t ticks;
	double ns;
};

struct doc_splits doc_splits_named(struct json_object *doc, const char *key, const char *name);

/*
 * Ticks of all histograms of cgroups whose path has this ending; each histogram must have a cgroup.
 */
uint64_t doc_cgroup(struct json_object *doc, const char *ending);

/*
 * Asserts what holds for every profile: the identity, for the total and each target; targets add up
 * to the total; bins ascend and are inside their histogram; bins and functions add up to "binned".
 */
void doc_assert_sound(struct json_object *doc);

/*
 * Asserts what holds for the only profile of a session: the ticks that its CPUs delivered are the
 * total, except for those that the throttle withheld.
 */
void doc_assert_delivered(struct json_object *doc);

/*
 * How much an emulated CPU may add to either side, because it translates code when it first runs
 * it, and that time is nobody's. 0 on a real CPU.
 */
double doc_emulated_part(void);

/*
 * The rate for shares by caller. An emulated CPU walks so slowly that at 4,595 Hz the walks, which are longer in
 * one function than in the other, take two thirds of the time.
 */
const char *doc_walk_hz(void);

struct share {
	const char *name;
	double weight;
};

/*
 * Asserts that the functions' ticks have the given ratio, each within CHANCE_ERRORS of a binomial
 * distribution (and doc_emulated_part() of all), and together are at least `part` (0..1) of all
 * ticks. n is the number of shares.
 */
void doc_assert_shares(struct json_object *doc, size_t n, const struct share *shares, double part);

/* The same for counts that do not come from "functions". */
void assert_ratio(size_t n, const struct share *shares, const uint64_t *ticks);

#define SHARES(...)                                                                                \
	sizeof((struct share[]){ __VA_ARGS__ }) / sizeof(struct share), (const struct share[])     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

#endif
