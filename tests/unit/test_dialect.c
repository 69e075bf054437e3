// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "shared/dialect.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "oracle.h"

static const unsigned int widths[] = { 2, 4, 8 };

static void compare(const struct oracle_call *call, uint64_t d)
{
	uint64_t scale = call->entries[0].scale;
	struct dialect_factor factor = dialect_factor(call->dialect, call->width, scale);
	unsigned __int128 bin = oracle_bin(call->dialect, call->width, scale, d);

	if (bin > UINT64_MAX)
		bin = UINT64_MAX;
	if (dialect_bin(&factor, d) == (uint64_t)bin)
		return;
	oracle_print(call, call->entries[0].offset + d);
	cr_assert_fail("d %#" PRIx64 ": bin %#llx, the oracle's %#" PRIx64, d,
		       dialect_bin(&factor, d), (uint64_t)bin);
}

/* The class is what the oracle says of the pc at the offset of a large buffer. */
static void compare_class(const struct oracle_call *call)
{
	uint32_t class = dialect_class(call->dialect, call->sprofil, call->entries[0].offset,
				       call->entries[0].scale);
	struct oracle_answer answer = oracle_find(call, call->entries[0].offset);
	bool same;

	if (oracle_check(call))
		same = class == CLASS_INVALID;
	else if (answer.outcome == ORACLE_OVERFLOW)
		same = class == CLASS_OVERFLOW;
	else if (answer.outcome == ORACLE_BIN)
		same = class == CLASS_REGION;
	else
		same = class == CLASS_OFF;
	if (!same)
		oracle_print(call, call->entries[0].offset);
	cr_assert(same, "class %u", class);
}

/* 200,000 cases for each dialect, with every width. */
Test(dialect, every_bin_is_the_oracles)
{
	struct dice dice = { 0x5eed1 };
	struct call_entry entry = { .size = 16 };
	struct oracle_call call = { .entries = &entry, .nr = 1 };
	unsigned int dialect, i;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		call.dialect = dialect;
		for (i = 0; i < 200000; i++) {
			call.width = widths[i % 3];
			call.sprofil = i & 1;
			entry.scale = dice_scale(&dice);
			entry.offset = dice_below(&dice, 3) ? dice_address(&dice) : 0;
			compare_class(&call);
			compare(&call, dice_address(&dice));
		}
	}
}

/* Each scale of 16 bits and a little more, where the dialects differ most. */
Test(dialect, every_small_scale)
{
	static const uint64_t distances[] = { 0, 1, 2, 3, 0xfff, 0x10001, 0x1fffe, UINT64_MAX };
	struct call_entry entry = { .size = 16 };
	struct oracle_call call = { .entries = &entry, .nr = 1 };
	unsigned int dialect;
	size_t i;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		call.dialect = dialect;
		for (entry.scale = 0; entry.scale < 0x10010; entry.scale++) {
			call.sprofil = entry.scale & 1;
			call.width = widths[entry.scale % 3];
			compare_class(&call);
			for (i = 0; i < sizeof(distances) / sizeof(distances[0]); i++)
				compare(&call, distances[i]);
		}
	}
}

static void check_way_back(enum dialect dialect, unsigned int width, uint64_t scale, uint64_t bin)
{
	struct dialect_factor factor = dialect_factor(dialect, width, scale);
	unsigned __int128 first = dialect_first(&factor, bin);
	uint64_t last = dialect_last(&factor, bin);
	bool right;

	right = oracle_bin(dialect, width, scale, last) <= bin;
	if (last != UINT64_MAX)
		right = right && oracle_bin(dialect, width, scale, last + 1) > bin;
	if (first > UINT64_MAX)
		right = right && oracle_bin(dialect, width, scale, UINT64_MAX) < bin;
	else
		right = right && oracle_bin(dialect, width, scale, first) >= bin;
	if (first)
		right = right && oracle_bin(dialect, width, scale, first - 1) < bin;
	cr_assert(right, "dialect %u width %u scale %#" PRIx64 " bin %#" PRIx64, dialect, width,
		  scale, bin);
}

Test(dialect, way_back_is_exact)
{
	struct dice dice = { 0x5eed2 };
	unsigned int dialect, i;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++)
		for (i = 0; i < 150000; i++)
			check_way_back(dialect, widths[i % 3], dice_scale(&dice),
				       i & 1 ? dice_size(&dice) / 2 : dice_below(&dice, 5));
}

/* From any value, even above the limit, with as many ticks as it takes to wrap around. */
static void check_counting(enum dialect dialect, bool sprofil, unsigned int width, uint64_t start,
			   uint64_t ticks)
{
	uint32_t full = dialect_full(dialect, sprofil);
	uint64_t value = start, i;
	bool stopped = false;

	for (i = 1; i <= ticks; i++) {
		if (!stopped)
			value = oracle_tick(dialect, sprofil, width, value, &stopped);
		cr_assert_eq(dialect_count(full, width, start, i), value,
			     "dialect %u width %u start %#" PRIx64 " after %" PRIu64, dialect,
			     width, start, i);
	}
}

Test(dialect, full_counters)
{
	static const uint64_t starts[] = { 0, 1, 32765, 32766, 32767, 32768, 65534, 65535 };
	unsigned int dialect, i, w;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++)
		for (w = 0; w < 3; w++)
			for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
				uint64_t top = UINT64_MAX >> (64 - 8 * widths[w]);

				check_counting(dialect, i & 1, widths[w], starts[i], 40);
				check_counting(dialect, i & 1, widths[w], top - 5 + i % 6, 10);
			}
	for (dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		check_counting(dialect, false, 2, 3, 140000);
		check_counting(dialect, true, 2, 3, 140000);
	}
	cr_assert_eq(dialect_count(FULL_SATURATES, 8, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX);
	cr_assert_eq(dialect_count(FULL_WRAPS, 2, 65530, 53), 47);
}

static uint64_t bin_of(enum dialect dialect, unsigned int width, uint64_t scale, uint64_t d)
{
	struct dialect_factor factor = dialect_factor(dialect, width, scale);

	return dialect_bin(&factor, d);
}

/* What the manuals say in words and numbers. */
Test(dialect, manuals)
{
	/* 4.4BSD: "65536 maps each bin to 2 bytes ...; 32768 gives 4 bytes, 16384 gives 8". */
	cr_expect_eq(bin_of(DIALECT_BSD44, 2, 65536, 1999), 999);
	cr_expect_eq(bin_of(DIALECT_BSD44, 2, 32768, 4003), 1000);
	cr_expect_eq(bin_of(DIALECT_BSD44, 2, 16384, 8007), 1000);
	cr_expect_eq(bin_of(DIALECT_BSD44DOC, 2, 16384, 8007), 1000);
	/* 4.2BSD: "0x8000 maps each pair of instruction words together". */
	cr_expect_eq(bin_of(DIALECT_BSD43, 2, 0x8000, 4003), 1000);
	/* System V: "0x4000, maps subdivisions 8 bytes long to each counter". */
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 0x4000, 8007), 1000);
	cr_expect_eq(bin_of(DIALECT_SOLARIS, 2, 0x4000, 8008), 1001);
	/* "scale can be computed as (RATIO * 0200000L)", RATIO "between 0 and 1": 1 is 1-1. */
	cr_expect_eq(dialect_class(DIALECT_SVR4, 0, 4096, 0200000), CLASS_REGION);
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 0200000, 4003),
		     bin_of(DIALECT_SVR4, 2, 0177777, 4003));
	cr_expect_eq(dialect_class(DIALECT_SVR4, 0, 4096, 0200001), CLASS_OFF);
	cr_expect_eq(dialect_class(DIALECT_V7, 0, 4096, 0200000), CLASS_OFF);
	/* And "0x0002 (1/32,768), maps subdivision 65,536 bytes long". */
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 2, 65535), 0);
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 2, 65536), 1);
	/* "0xffff (approximately 1)": the error grows to a bin. */
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 0xffff, 2), 0);
	cr_expect_eq(bin_of(DIALECT_SVR4, 2, 0xffff, 131072), 65535);
	cr_expect_eq(bin_of(DIALECT_SOLARIS, 2, 0x10000, 131072), 65536);
	/* IRIX: 1-1 with instructions of 4 bytes is 0x8000 for shorts, 0x10000 for ints. */
	cr_expect_eq(bin_of(DIALECT_IRIX, 2, 0x8000, 4003), 1000);
	cr_expect_eq(bin_of(DIALECT_IRIX, 4, 0x10000, 4003), 1000);
	/* V7 rounds up: only the first word is in counter 0. */
	cr_expect_eq(bin_of(DIALECT_V7, 2, 0xffff, 2), 1);
	cr_expect_eq(bin_of(DIALECT_V7, 2, 0x4000, 4), 1);
	/* 4.4BSD's manual and its kernels differ at scales that are not powers of two. */
	cr_expect_eq(bin_of(DIALECT_BSD44, 2, 0xc000, 3), 1);
	cr_expect_eq(bin_of(DIALECT_BSD44DOC, 2, 0xc000, 3), 0);
	/* 4.3BSD loses the low bit of the scale. */
	cr_expect_eq(bin_of(DIALECT_BSD43, 2, 3, 65536), bin_of(DIALECT_BSD43, 2, 2, 65536));
}
