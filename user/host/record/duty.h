/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DUTY_H
#define BPFPROFIL_DUTY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * --duty: when to sample, if not always. Time is cut into slots, and each has one window at a place
 * of its own, found by chance. A window that goes beyond the end of its slot goes on at the slot's
 * beginning, so that each moment is as likely to be sampled as any other: work that comes at a beat
 * is seen as often as it should be.
 */
struct duty {
	double share; /* 0: always */
	uint64_t slot_ns;
	uint64_t begin_ns; /* of this slot */
	uint64_t window_ns;
	uint64_t from_ns; /* where in the slot the window begins */
	int64_t owed_ns; /* what earlier slots had too little; < 0: too much */
	uint64_t sampled_ns; /* in all, when this slot began */
};

/* percent 0: always. A series has some slots in each interval. Times are those of monotonic_ns(). */
void duty_begin(struct duty *duty, double percent, uint64_t interval_ns, uint64_t now);

/*
 * Whether to sample now; *until gets the time to ask again, 0: never. sampled_ns: how long sampling was on
 * until now, which is never quite as long as planned: the difference is made up for.
 */
bool duty_look(struct duty *duty, uint64_t now, uint64_t sampled_ns, uint64_t *until);

#endif
