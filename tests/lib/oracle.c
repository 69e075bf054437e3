// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "oracle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

typedef unsigned __int128 wide;

static const char *const names[] = { "glibc", "v7",    "svr4",	   "solaris",
				     "bsd43", "bsd44", "bsd44doc", "irix" };

/* v7 and svr4 keep the scale in 16 bits; svr4's "RATIO * 0200000L" is 0177777 for a ratio of 1. */
static uint64_t true_scale(enum dialect dialect, uint64_t scale)
{
	if (dialect == DIALECT_SVR4 && scale == 0200000)
		return 0177777;
	return dialect == DIALECT_V7 || dialect == DIALECT_SVR4 ? scale % 65536 : scale;
}

unsigned __int128 oracle_bin(enum dialect dialect, unsigned int width, uint64_t scale, uint64_t d)
{
	wide s = true_scale(dialect, scale), x;

	switch (dialect) {
	case DIALECT_V7:
		x = ((wide)(d / 2) * (s / 2)) / 16384;
		return (x + width - 1) / width;
	case DIALECT_SVR4:
	case DIALECT_SOLARIS:
	case DIALECT_BSD44:
		return (wide)d * s / 65536 / width;
	case DIALECT_BSD43:
		return (wide)(d / 2) * (s / 2) / 16384 / width;
	default:
		return (wide)(d / width) * s / 65536;
	}
}

enum region_class { REGION_OFF, REGION_ON, REGION_OVERFLOW, REGION_REFUSED };

static bool one_is_a_scale(const struct oracle_call *call)
{
	if (call->sprofil)
		return false;
	return call->dialect == DIALECT_BSD44 || call->dialect == DIALECT_BSD44DOC ||
	       call->dialect == DIALECT_GLIBC;
}

static enum region_class classify(const struct oracle_call *call, const struct call_entry *entry)
{
	uint64_t scale = true_scale(call->dialect, entry->scale);

	if (scale == 0 || (scale == 1 && !one_is_a_scale(call)))
		return REGION_OFF;
	if (scale > 0x10000 &&
	    (call->dialect == DIALECT_BSD44 || call->dialect == DIALECT_BSD44DOC))
		return REGION_REFUSED;
	if (scale == 2 && entry->offset == 0 && (call->sprofil || call->dialect == DIALECT_IRIX))
		return REGION_OVERFLOW;
	return REGION_ON;
}

int oracle_check(const struct oracle_call *call)
{
	size_t i;

	if (call->nr > 4096 || (call->nr == 0 && call->dialect == DIALECT_IRIX))
		return -E2BIG;
	for (i = 0; i < call->nr; i++) {
		enum region_class class = classify(call, &call->entries[i]);

		if (class == REGION_REFUSED)
			return -EINVAL;
		if (class == REGION_OVERFLOW && call->dialect == DIALECT_IRIX && i != call->nr - 1)
			return -EINVAL;
	}
	return 0;
}

/* Finds the counter of an entry that pc falls into; false: there is none. */
static bool hits(const struct oracle_call *call, const struct call_entry *entry, uint64_t pc,
		 uint64_t *ret_bin)
{
	wide bin = oracle_bin(call->dialect, call->width, entry->scale, pc - entry->offset);

	if (bin >= entry->size / call->width)
		return false;
	*ret_bin = (uint64_t)bin;
	return true;
}

/* Finds the largest offset <= pc, the first of equal ones, among those with offset < limit. */
static bool largest_offset(const struct oracle_call *call, uint64_t pc, wide limit, size_t *result)
{
	bool found = false;
	size_t i;

	for (i = 0; i < call->nr; i++) {
		const struct call_entry *entry = &call->entries[i];

		if (entry->size == 0 || classify(call, entry) != REGION_ON)
			continue;
		if (entry->offset > pc || entry->offset >= limit)
			continue;
		if (!found || entry->offset > call->entries[*result].offset)
			*result = i;
		found = true;
	}
	return found;
}

static struct oracle_answer overflow_or_outside(const struct oracle_call *call)
{
	size_t i;

	for (i = 0; i < call->nr; i++)
		if (classify(call, &call->entries[i]) == REGION_OVERFLOW &&
		    call->entries[i].size >= call->width)
			return (struct oracle_answer){ ORACLE_OVERFLOW, i, 0 };
	return (struct oracle_answer){ ORACLE_OUTSIDE, 0, 0 };
}

static struct oracle_answer find_region(const struct oracle_call *call, uint64_t pc)
{
	wide limit = (wide)1 << 64;
	uint64_t bin = 0;
	size_t i = 0;

	while (largest_offset(call, pc, limit, &i)) {
		if (hits(call, &call->entries[i], pc, &bin))
			return (struct oracle_answer){ ORACLE_BIN, i, bin };
		if (call->dialect == DIALECT_IRIX)
			break;
		limit = call->entries[i].offset;
	}
	return overflow_or_outside(call);
}

struct oracle_answer oracle_find(const struct oracle_call *call, uint64_t pc)
{
	const struct call_entry *entry = call->entries;
	struct oracle_answer answer = { ORACLE_BEYOND, 0, 0 };

	if (call->sprofil)
		return find_region(call, pc);
	switch (classify(call, entry)) {
	case REGION_OFF:
		answer.outcome = ORACLE_OFF;
		break;
	case REGION_OVERFLOW:
		if (entry->size >= call->width)
			answer.outcome = ORACLE_OVERFLOW;
		break;
	default:
		if (pc < entry->offset)
			answer.outcome = ORACLE_BELOW;
		else if (hits(call, entry, pc, &answer.bin))
			answer.outcome = ORACLE_BIN;
	}
	return answer;
}

uint64_t oracle_tick(enum dialect dialect, bool sprofil, unsigned int width, uint64_t value,
		     bool *stopped)
{
	wide top = (wide)1 << (8 * width);

	*stopped = false;
	if (dialect == DIALECT_SOLARIS) {
		if (value < 32767)
			value++;
		*stopped = value >= 32767;
		return value;
	}
	if (value + (wide)1 < top)
		return value + 1;
	if (dialect == DIALECT_SVR4 || dialect == DIALECT_IRIX ||
	    (dialect == DIALECT_GLIBC && sprofil))
		return value;
	return 0;
}

uint64_t dice_u64(struct dice *dice)
{
	uint64_t x = dice->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	dice->state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

uint64_t dice_below(struct dice *dice, uint64_t limit)
{
	return (uint64_t)(((wide)dice_u64(dice) * limit) >> 64);
}

/* A number with a random number of bits, so that small numbers are as likely as large ones. */
static uint64_t any_length(struct dice *dice)
{
	return dice_u64(dice) >> dice_below(dice, 64);
}

uint64_t dice_scale(struct dice *dice)
{
	static const uint64_t scales[] = {
		0,
		1,
		2,
		3,
		4,
		5,
		0x100,
		0x4000,
		0x7fff,
		0x8000,
		0x8001,
		0x8037,
		0xfffe,
		0xffff,
		0x10000,
		0x10001,
		0x10002,
		0x18000,
		0x1ffff,
		0x20000,
		0x20001,
		0xffffffff,
		1ULL << 32,
		(1ULL << 32) + 1,
		1ULL << 62,
		1ULL << 63,
		(1ULL << 63) + 1,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (dice_below(dice, 4)) {
	case 0:
	case 1:
		return scales[dice_below(dice, sizeof(scales) / sizeof(scales[0]))];
	case 2:
		return dice_below(dice, 0x20004);
	default:
		return any_length(dice);
	}
}

uint64_t dice_size(struct dice *dice)
{
	static const uint64_t sizes[] = {
		0,	    1,		2,
		3,	    4,		5,
		7,	    8,		9,
		1023,	    4096,	65535,
		65536,	    1ULL << 32, (1ULL << 32) + 1,
		1ULL << 47, 1ULL << 63, UINT64_MAX - 1,
		UINT64_MAX,
	};

	if (dice_below(dice, 2))
		return sizes[dice_below(dice, sizeof(sizes) / sizeof(sizes[0]))];
	return any_length(dice);
}

uint64_t dice_address(struct dice *dice)
{
	static const uint64_t addresses[] = {
		0,
		1,
		2,
		0x1000,
		0x400000,
		0xffffffff,
		1ULL << 32,
		(1ULL << 47) - 1,
		1ULL << 47,
		1ULL << 63,
		0xffffffff81000000,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (dice_below(dice, 3)) {
	case 0:
		return addresses[dice_below(dice, sizeof(addresses) / sizeof(addresses[0]))];
	case 1:
		return 0x555500000000 + dice_below(dice, 1 << 20);
	default:
		return any_length(dice);
	}
}

/* Near where the counters of an entry end, give or take rounding. */
static uint64_t near_end(struct dice *dice, const struct oracle_call *call,
			 const struct call_entry *entry)
{
	wide scale = true_scale(call->dialect, entry->scale);
	wide bytes = scale ? (wide)(entry->size / call->width) * call->width * 65536 / scale : 0;

	return entry->offset + (uint64_t)bytes + dice_below(dice, 8) - 4;
}

uint64_t dice_pc(struct dice *dice, const struct oracle_call *call)
{
	const struct call_entry *entry;

	if (!call->nr)
		return dice_address(dice);
	entry = &call->entries[dice_below(dice, call->nr)];
	switch (dice_below(dice, 6)) {
	case 0:
		return entry->offset + dice_below(dice, 5) - 2;
	case 1:
		return near_end(dice, call, entry);
	case 2:
		return entry->offset + dice_below(dice, 70000);
	case 3:
		return entry->offset + any_length(dice);
	case 4:
		return dice_address(dice);
	default:
		return dice_u64(dice);
	}
}

void dice_entries(struct dice *dice, struct call_entry *entries, size_t nr)
{
	uint64_t spread = 16ULL << dice_below(dice, 44), start = dice_address(dice);
	bool wild = !dice_below(dice, 3);
	size_t i;

	for (i = 0; i < nr; i++) {
		struct call_entry *entry = &entries[i];

		*entry = (struct call_entry){
			.size = dice_below(dice, 3 + 2 * spread / nr),
			.offset = start + dice_below(dice, spread),
			.scale = dice_below(dice, 4) ? 0x4000ULL << dice_below(dice, 4) :
						       dice_scale(dice),
		};
		if (wild || !dice_below(dice, 16))
			entry->size = dice_size(dice);
		if (wild || !dice_below(dice, 64))
			entry->offset = dice_address(dice);
		if (i && !dice_below(dice, 10))
			entry->offset = entries[dice_below(dice, i)].offset;
	}
	if (!dice_below(dice, 3))
		entries[nr - 1] = (struct call_entry){ .size = dice_below(dice, 9), .scale = 2 };
}

void oracle_print(const struct oracle_call *call, uint64_t pc)
{
	size_t i;

	fprintf(stderr, "bpfprofil bin --dialect %s --width %u", names[call->dialect], call->width);
	for (i = 0; i < call->nr && i < 20; i++)
		fprintf(stderr,
			call->sprofil ? " --region 0x%" PRIx64 ":0x%" PRIx64 ":%" PRIu64 :
					" --offset 0x%" PRIx64 " --scale 0x%" PRIx64
					" --size %" PRIu64,
			call->entries[i].offset, call->entries[i].scale, call->entries[i].size);
	fprintf(stderr, "%s 0x%" PRIx64 "\n", i < call->nr ? " ..." : "", pc);
}
