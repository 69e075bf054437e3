// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/requests.h"

#include <errno.h>

#include "agent/body.h"
#include "base/util.h"

/*
 * No backend's limit is so low. A backend that refuses a request of this size refuses everything.
 */
#define FLOOR_BYTES 1024

/* Pieces divide a service by function, whatever --detail is now. */
static int load(struct requests *requests, enum export_detail detail)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS,
						.detail = detail,
						.waits = true };
	struct error ignored;
	int ret;

	if (requests->has_samples && requests->built == detail)
		return 0;
	if (requests->has_samples)
		samples_free(&requests->samples);
	requests->built = detail;
	requests->has_samples = true;
	ret = samples_build(&requests->samples, requests->profile, &options, &ignored);
	return ret ? ret : samples_fold(&requests->samples, SAMPLES_MOST, SAMPLES_BYTES);
}

static size_t begin_of_piece(const struct requests *requests, const struct sample_service *service,
			     uint32_t piece)
{
	return service->first + (size_t)((uint64_t)service->nr * piece / requests->done.pieces);
}

static bool is_wait(const struct samples *samples, const struct sample *sample)
{
	return samples_first_value(samples, &samples->services[sample->service]) != SAMPLE_TICKS;
}

/* Of samples of one service. Waits have none. */
static uint64_t ticks_of(const struct requests *requests, size_t first, size_t end)
{
	const struct samples *samples = &requests->samples;
	uint64_t ticks = 0;

	for (; first < end; first++) {
		if (!is_wait(samples, &samples->all[first]))
			ticks += samples->all[first].ticks;
	}
	return ticks;
}

static bool has_waits(const struct requests *requests, size_t first, size_t end)
{
	const struct samples *samples = &requests->samples;

	while (first < end && !is_wait(samples, &samples->all[first]))
		first++;
	return first < end;
}

/*
 * Whether the profile contains what `done` says, with so many ticks. `done` may come from a damaged
 * file name, or refer to samples that had more names than now.
 */
static bool fits_profile(const struct requests *requests)
{
	const struct delivered *done = &requests->done;
	const struct sample_service *service = requests->samples.services;
	size_t nr = requests->samples.nr_services, i;
	uint64_t ticks = 0;

	if (!delivered_any(done))
		return true;
	if (done->services + (done->pieces ? UINT64_C(1) : 0) >= nr)
		return false;
	for (i = 1; i <= done->services; i++)
		ticks += ticks_of(requests, service[i].first, service[i].first + service[i].nr);
	if (done->pieces)
		ticks += ticks_of(requests, service[i].first,
				  begin_of_piece(requests, &service[i], done->piece));
	return ticks == done->ticks;
}

int requests_begin(struct requests *requests, enum sink_kind kind, const struct profile *profile,
		   enum export_detail detail, const struct delivered *done)
{
	int ret;

	/*
	 * Pyroscope stores each series separately, but answers with the error of any of them. If a
	 * request had several, those that were accepted would be sent twice.
	 */
	*requests = (struct requests){ .kind = kind,
				       .detail = detail,
				       .profile = profile,
				       .done = *done,
				       .at_once = kind == SINK_PYROSCOPE ? 1 : UINT32_MAX };
	ret = load(requests, done->pieces ? EXPORT_FUNCTION : detail);
	/* Sending twice is better than losing ticks that no account has. */
	if (!ret && !fits_profile(requests))
		requests->done = (struct delivered){ 0 };
	return ret;
}

void requests_end(struct requests *requests)
{
	if (requests->has_samples)
		samples_free(&requests->samples);
}

bool requests_left(const struct requests *requests)
{
	uint32_t next = requests->done.services + 1;

	while (next < requests->samples.nr_services && !requests->samples.services[next].nr)
		next++;
	return next < requests->samples.nr_services;
}

/* Chooses the samples of the current piece, which may be empty. */
static void choose_piece(struct requests *requests)
{
	const struct sample_service *service =
		&requests->samples.services[requests->done.services + 1];

	requests->services = 0;
	requests->first = begin_of_piece(requests, service, requests->done.piece);
	requests->nr =
		begin_of_piece(requests, service, requests->done.piece + 1) - requests->first;
}

static void choose_services(struct requests *requests)
{
	const struct sample_service *services = requests->samples.services;
	uint32_t next = requests->done.services + 1, end = next;

	requests->first = services[next].first;
	requests->nr = 0;
	while (end < requests->samples.nr_services && end - next < requests->at_once)
		requests->nr += services[end++].nr;
	requests->services = end - next;
}

/* A service with few samples has empty pieces, but its last piece is never empty. */
static void choose(struct requests *requests)
{
	while (!requests->samples.services[requests->done.services + 1].nr)
		requests->done.services++;
	if (!requests->done.pieces) {
		choose_services(requests);
		return;
	}
	choose_piece(requests);
	for (; !requests->nr; choose_piece(requests))
		requests->done.piece++;
}

static int make_body(struct requests *requests, struct bytes *body)
{
	struct samples *all = &requests->samples, part;
	int ret;

	if (requests->nr == all->nr)
		return body_make(requests->kind, all, body);
	ret = samples_cut(&part, all, requests->first, requests->nr);
	part.piece = requests->done.piece;
	part.pieces = requests->done.pieces;
	if (!ret)
		ret = body_make(requests->kind, &part, body);
	samples_free(&part);
	return ret;
}

int requests_next(struct requests *requests, struct bytes *body)
{
	int ret;

	*body = (struct bytes){ 0 };
	requests->ticks = 0;
	/* After a service in pieces, return to the detail of the options. */
	ret = load(requests, requests->done.pieces ? EXPORT_FUNCTION : requests->detail);
	if (ret)
		return ret;
	choose(requests);
	requests->ticks = ticks_of(requests, requests->first, requests->first + requests->nr);
	requests->waits = has_waits(requests, requests->first, requests->first + requests->nr);
	ret = make_body(requests, body);
	requests->size = body->size;
	return ret;
}

void requests_advance(struct requests *requests)
{
	struct delivered *done = &requests->done;

	done->ticks += requests->ticks;
	if (!done->pieces) {
		done->services += requests->services;
	} else if (++done->piece == done->pieces) {
		done->services++;
		done->pieces = done->piece = 0;
	}
}

bool requests_divide(struct requests *requests)
{
	struct delivered *done = &requests->done;

	if (requests->services > 1) {
		requests->at_once = (requests->services + 1) / 2;
		return true;
	}
	if (!done->pieces && requests->built != EXPORT_FUNCTION) {
		done->pieces = 1;
		return true;
	}
	if (requests->nr < 2 || requests->size <= FLOOR_BYTES || done->pieces > PIECES_MAX / 2)
		return false;
	if (!done->pieces)
		done->pieces = 1;
	done->pieces *= 2;
	done->piece *= 2;
	return true;
}
