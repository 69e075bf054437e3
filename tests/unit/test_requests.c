// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A profile in as many requests as a backend wants: each tick is in one of them. */
#include "agent/requests.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "otlp.pb-c.h"
#include "pprof.pb-c.h"
#include "sample.h"

#define IDS_MAX 100000

/* What a backend has accepted. */
struct accepted {
	int64_t ticks;
	uint64_t lost;
	unsigned int requests;
	uint8_t ids[IDS_MAX][16];
	size_t nr_ids;
};

static void take_profile(struct accepted *accepted, const Otlp__Profile *profile)
{
	size_t i;

	for (i = 0; i < accepted->nr_ids; i++)
		cr_assert_neq(memcmp(accepted->ids[i], profile->profile_id.data, 16), 0);
	cr_assert_lt(accepted->nr_ids, IDS_MAX);
	memcpy(accepted->ids[accepted->nr_ids++], profile->profile_id.data, 16);
	for (i = 0; i < profile->n_samples; i++)
		accepted->ticks += profile->samples[i]->values[0];
}

/* The size of what was compressed, which is in plain. */
static size_t unpack(const void *data, size_t size, unsigned char *plain, size_t room)
{
	z_stream gz = { .next_in = (unsigned char *)data,
			.avail_in = (unsigned int)size,
			.next_out = plain,
			.avail_out = (unsigned int)room };

	cr_assert_eq(inflateInit2(&gz, MAX_WBITS + 16), Z_OK);
	cr_assert_eq(inflate(&gz, Z_FINISH), Z_STREAM_END);
	inflateEnd(&gz);
	return gz.total_out;
}

static void take_otlp(struct accepted *accepted, const struct bytes *body)
{
	static unsigned char plain[32 << 20];
	size_t size = unpack(body->data, body->size, plain, sizeof(plain));
	Otlp__Request *request = otlp__request__unpack(NULL, size, plain);
	size_t i;

	cr_assert_not_null(request);
	/* The first profile is of counts. */
	for (i = 0; i < request->n_resource_profiles; i++)
		take_profile(accepted,
			     request->resource_profiles[i]->scope_profiles[0]->profiles[0]);
	otlp__request__free_unpacked(request, NULL);
}

/* Up to the quote; the size of what it stands for. */
static size_t decode_base64(const char *text, unsigned char *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group = 0;
	size_t i, size = 0;

	for (i = 0; text[i] != '"' && text[i] != '='; i++) {
		group = group << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
		if (i % 4)
			bytes[size++] = (unsigned char)(group >> (6 - i % 4 * 2));
	}
	return size;
}

static void take_pprof(struct accepted *accepted, const char *text)
{
	static unsigned char packed[8 << 20], plain[32 << 20];
	size_t size = decode_base64(text, packed), i;
	Pprof__Profile *profile;

	size = unpack(packed, size, plain, sizeof(plain));
	profile = pprof__profile__unpack(NULL, size, plain);
	cr_assert_not_null(profile);
	for (i = 0; i < profile->n_sample; i++)
		accepted->ticks += profile->sample[i]->value[0];
	pprof__profile__free_unpacked(profile, NULL);
}

/* The profiles of all series. */
static void take_push(struct accepted *accepted, enum sink_kind kind, const struct bytes *body)
{
	static unsigned char plain[32 << 20];
	const char *key = kind == SINK_PARCA ? "\"raw_profile\":\"" : "\"rawProfile\":\"", *at;
	size_t size = body->size;

	if (kind == SINK_PARCA)
		memcpy(plain, body->data, size);
	else
		size = unpack(body->data, body->size, plain, sizeof(plain) - 1);
	plain[size] = '\0';
	for (at = (char *)plain; (at = strstr(at, key));) {
		at += strlen(key);
		take_pprof(accepted, at);
	}
}

/* The second try of a request, by whoever goes on from the same progress, has the same bytes. */
static void assert_again(const struct requests *requests, const struct bytes *body)
{
	struct requests again;
	struct bytes other;

	cr_assert_eq(requests_begin(&again, requests->kind, requests->profile, requests->detail,
				    &requests->done),
		     0);
	again.at_once = requests->at_once;
	cr_assert_eq(requests_next(&again, &other), 0);
	cr_assert_eq(other.size, body->size);
	cr_assert_eq(memcmp(other.data, body->data, body->size), 0);
	bytes_free(&other);
	requests_end(&again);
}

/* To a backend that takes up to `limit` bytes. */
static void send_to(struct accepted *accepted, enum sink_kind kind, const struct profile *profile,
		    enum export_detail detail, size_t limit)
{
	static const struct delivered none;
	struct requests requests;
	struct bytes body;

	*accepted = (struct accepted){ 0 };
	cr_assert_eq(requests_begin(&requests, kind, profile, detail, &none), 0);
	while (requests_left(&requests)) {
		cr_assert_eq(requests_next(&requests, &body), 0);
		accepted->requests++;
		if (accepted->requests % 16 == 1)
			assert_again(&requests, &body);
		if (body.size <= limit) {
			if (kind == SINK_OTLP)
				take_otlp(accepted, &body);
			else
				take_push(accepted, kind, &body);
			requests_advance(&requests);
		} else if (!requests_divide(&requests)) {
			accepted->lost += requests.ticks;
			requests_advance(&requests);
		}
		bytes_free(&body);
	}
	cr_assert_eq(requests.done.ticks, profile->ticks.total);
	cr_assert_eq((uint64_t)accepted->ticks + accepted->lost, profile->ticks.total);
	requests_end(&requests);
}

static struct accepted accepted;

Test(requests, one_when_it_is_taken)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(20, 300);

	send_to(&accepted, SINK_OTLP, profile, EXPORT_ADDRESS, SIZE_MAX);
	cr_assert_eq(accepted.requests, 1);
	cr_assert_eq(accepted.nr_ids, 21);
}

Test(requests, services_are_halved)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(20, 300);
	enum sink_kind kind;

	for (kind = SINK_OTLP; kind <= SINK_PARCA; kind++) {
		send_to(&accepted, kind, profile, EXPORT_ADDRESS, 16 << 10);
		cr_assert_gt(accepted.requests, 4);
		cr_assert_eq(accepted.lost, 0);
		if (kind == SINK_OTLP)
			cr_assert_eq(accepted.nr_ids, 21, "services are whole");
	}
}

Test(requests, one_service_is_halved)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(2, 8000);
	enum sink_kind kind;

	for (kind = SINK_OTLP; kind <= SINK_PARCA; kind++) {
		send_to(&accepted, kind, profile, EXPORT_ADDRESS, 4500);
		cr_assert_gt(accepted.requests, 10);
		cr_assert_eq(accepted.lost, 0);
		send_to(&accepted, kind, profile, EXPORT_FUNCTION, 4500);
		cr_assert_eq(accepted.lost, 0);
	}
}

/* Stacks too are whole, or folded, or in pieces: each tick is sent once. */
Test(requests, stacks)
{
	cleanup_profile struct profile *profile = sample_profile_of_chains(3, 30000);
	enum sink_kind kind;

	for (kind = SINK_OTLP; kind <= SINK_PARCA; kind++) {
		send_to(&accepted, kind, profile, EXPORT_FUNCTION, SIZE_MAX);
		cr_assert_eq(accepted.lost, 0);
		send_to(&accepted, kind, profile, EXPORT_ADDRESS, 64 << 10);
		cr_assert_gt(accepted.requests, 4);
		cr_assert_eq(accepted.lost, 0);
	}
}

/* A backend that takes nothing is not asked for ever. */
Test(requests, floor)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(5, 5000);

	send_to(&accepted, SINK_OTLP, profile, EXPORT_ADDRESS, 0);
	cr_assert_eq(accepted.lost, profile->ticks.total);
	cr_assert_lt(accepted.requests, 200);
}

/* What one service loses, the others do not. */
Test(requests, one_service_at_the_floor)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(5, 200);

	send_to(&accepted, SINK_OTLP, profile, EXPORT_ADDRESS, 700);
	cr_assert_gt(accepted.ticks, 0);
	cr_assert_gt(accepted.lost, 0);
}

Test(requests, sample)
{
	cleanup_profile struct profile *profile = sample_profile();
	size_t limit;

	for (limit = 0; limit < 1000; limit += 100)
		send_to(&accepted, SINK_OTLP, profile, EXPORT_LINE, limit);
}

/* What is said to be done comes from a file's name: if it is not true of the profile, all is sent. */
Test(requests, done_that_is_not_true)
{
	static const struct delivered wrong[] = {
		{ .services = 900, .ticks = 5 },
		{ .services = UINT32_MAX, .ticks = 5 },
		{ .services = 3, .ticks = 5 },
		{ .services = 900, .pieces = 2, .piece = 1, .ticks = 5 },
		{ .services = UINT32_MAX, .pieces = PIECES_MAX, .piece = PIECES_MAX - 1 },
		{ .services = 5, .pieces = 2, .piece = 1, .ticks = 5 },
		{ .services = 1, .pieces = PIECES_MAX, .piece = PIECES_MAX - 1, .ticks = 5 },
	};
	cleanup_profile struct profile *profile = sample_profile_of_services(5, 200);
	struct requests requests;
	struct bytes body;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_eq(requests_begin(&requests, SINK_OTLP, profile, EXPORT_ADDRESS,
					    &wrong[i]),
			     0);
		cr_assert(requests_left(&requests), "%zu", i);
		cr_assert_eq(requests_next(&requests, &body), 0);
		cr_assert_eq(requests.ticks, profile->ticks.total, "%zu", i);
		requests_advance(&requests);
		cr_assert_not(requests_left(&requests));
		bytes_free(&body);
		requests_end(&requests);
	}
}
