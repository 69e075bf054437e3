// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/sample_loop.h"

#include "base/util.h"

/*
 * Slots in an interval. Each costs two walks over all threads of the host, so there are not too
 * many.
 */
#define SLOTS 6
#define SLOT_MIN_NS UINT64_C(1000000000)
#define SLOT_MAX_NS UINT64_C(10000000000)

static int64_t within(int64_t value, int64_t least, int64_t most)
{
	if (value < least)
		return least;
	return value < most ? value : most;
}

static void begin_slot(struct duty *duty, uint64_t begin_ns)
{
	int64_t planned = (int64_t)((double)duty->slot_ns * duty->share);

	duty->begin_ns = begin_ns;
	duty->window_ns = (uint64_t)within(planned + duty->owed_ns, 0, (int64_t)duty->slot_ns);
	duty->from_ns = chance_below(duty->slot_ns);
}

void duty_begin(struct duty *duty, double percent, uint64_t interval_ns, uint64_t now)
{
	*duty = (struct duty){ .share = percent / 100 };
	if (!(percent > 0))
		return;
	duty->slot_ns = (uint64_t)within((int64_t)(interval_ns / SLOTS), SLOT_MIN_NS, SLOT_MAX_NS);
	begin_slot(duty, now);
}

/*
 * No slot makes up for more than itself: after a long stop of this process nothing is to be made up
 * for.
 */
static void end_slots(struct duty *duty, uint64_t now, uint64_t sampled_ns)
{
	uint64_t slots = (now - duty->begin_ns) / duty->slot_ns;
	int64_t planned = (int64_t)((double)duty->slot_ns * duty->share);
	int64_t owed = duty->owed_ns + (int64_t)((double)(slots * duty->slot_ns) * duty->share) -
		       (int64_t)(sampled_ns - duty->sampled_ns);

	duty->owed_ns = within(owed, -planned, planned);
	duty->sampled_ns = sampled_ns;
	begin_slot(duty, duty->begin_ns + slots * duty->slot_ns);
}

bool duty_look(struct duty *duty, uint64_t now, uint64_t sampled_ns, uint64_t *until)
{
	uint64_t at, phase, left;
	bool on;

	*until = 0;
	if (!(duty->share > 0))
		return true;
	if (now - duty->begin_ns >= duty->slot_ns)
		end_slots(duty, now, sampled_ns);
	at = now - duty->begin_ns;
	phase = (at + duty->slot_ns - duty->from_ns) % duty->slot_ns;
	on = phase < duty->window_ns;
	left = (on ? duty->window_ns : duty->slot_ns) - phase;
	*until = now + (left < duty->slot_ns - at ? left : duty->slot_ns - at);
	return on;
}
