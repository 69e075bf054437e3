/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_DOC_H
#define TEST_DOC_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/*
 * A profile as anybody sees it: the JSON document, read with json-c and not with our own reader,
 * so that a mistake common to writer and reader shows. What is missing fails the test.
 */
struct json_object *doc_parse(const char *text);
struct json_object *doc_load(const char *path);

/* A member by a dotted path ("sampling.period_ns"), which must be there. */
struct json_object *doc_get(struct json_object *doc, const char *path);
uint64_t doc_number(struct json_object *doc, const char *path);

/* Ticks lost for a cause, 0 when it is not named; NULL: for all causes. */
uint64_t doc_lost(struct json_object *doc, const char *cause);

/* Ticks of all functions of a name; object: only those in objects whose path contains it. */
uint64_t doc_function(struct json_object *doc, const char *name, const char *object);

/* Ticks of all functions in objects of a kind, or whose path contains a text; NULL: any. */
uint64_t doc_object(struct json_object *doc, const char *kind, const char *path);

/* Ticks of all histograms of cgroups whose path ends so; each must be of one. */
uint64_t doc_cgroup(struct json_object *doc, const char *ending);

/*
 * What holds for every profile: the identity, for the whole and each target; targets add up to
 * the whole; bins ascend inside of their histogram; bins and functions add up to "binned".
 */
void doc_assert_sound(struct json_object *doc);

/*
 * What holds for the one profile of a session: what its CPUs delivered is the whole, but for what the
 * throttle withheld.
 */
void doc_assert_delivered(struct json_object *doc);

/*
 * What an emulated CPU may add to either side: it translates what it meets first, which takes time
 * that is nobody's. 0 on a real one.
 */
double doc_emulated_part(void);

struct share {
	const char *name;
	double weight;
};

/*
 * The functions' ticks stand in the given ratio, each within CHANCE_ERRORS of a binomial
 * draw (and doc_emulated_part() of all), and together are at least a part (0..1) of all ticks. n is
 * the number of shares.
 */
void doc_assert_shares(struct json_object *doc, size_t n, const struct share *shares, double part);

/* The same for counts that come from elsewhere than "functions". */
void assert_ratio(size_t n, const struct share *shares, const uint64_t *ticks);

#define SHARES(...)                                                                                \
	sizeof((struct share[]){ __VA_ARGS__ }) / sizeof(struct share), (const struct share[])     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

#endif
