/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIALECT_H
#define BPFPROFIL_DIALECT_H

#include "shared/dialect_names.h"
#include "shared/types.h"

/*
 * From a pc to a counter, by the rules of profil() and sprofil(). Only this file computes it, and
 * it is exact for every 64-bit pc, offset and scale.
 *
 * All formulas are one: with d = pc - offset,
 *
 *     bin = ((d >> before) * scale + round) >> after
 *
 * where the product has 128 bits. Formulas lose different low bits, and V7 rounds up. The bin never
 * falls as d rises, and therefore the pcs of a counter have no gap.
 */

/*
 * The manuals state these for 16-bit counters; here they hold for counters of `width` bytes. x is
 * the offset into the buffer in bytes.
 *
 * MULTIPLY: x = d * scale / 65536, bin = x / width.
 * DIVIDE: bin = (d / width) * scale / 65536.
 * HALVES: x = (d / 2) * (scale / 2) / 16384, bin = x / width.
 * ROUND_UP: the same, rounded up to a whole counter.
 */
enum dialect_formula { FORMULA_MULTIPLY, FORMULA_DIVIDE, FORMULA_HALVES, FORMULA_ROUND_UP };

/* The effect of the next tick on a full counter. */
enum dialect_full {
	FULL_WRAPS,
	FULL_SATURATES,
	FULL_STOPS, /* stops at DIALECT_LIMIT, and stops all others of the process */
};

/*
 * Where a pc beyond the last counter of its region counts. Its region has the largest offset <= pc.
 * It counts in the overflow bin, or in the next region around it that has a counter for it.
 */
enum dialect_beyond { BEYOND_OVERFLOW, BEYOND_OUTER_REGION };

enum {
	DIALECT_LIMIT = 32767, /* solaris: for a counter of any width */
	DIALECT_REGIONS_MAX = 4096, /* PROFIL_MAX */
	DIALECT_SCALE_ONE = 0x10000, /* one byte of buffer for each byte of text */
	DIALECT_SCALE_OVERFLOW = 2, /* with offset 0: sprofil()'s overflow bin */
};

struct dialect_rule {
	__u8 formula; /* enum dialect_formula */
	__u8 full; /* enum dialect_full, for profil() */
	__u8 full_sprofil; /* the same for sprofil() */
	__u8 beyond; /* enum dialect_beyond */
	__u8 scale_off; /* profil() is off up to this scale; sprofil()'s regions up to 1 */
	__u8 one_region; /* profil() is sprofil() with one region and its overflow bin */
	__u8 one_is_largest; /* a scale of 0x10000 means 0xffff, not 0 */
	__u64 scale_mask; /* the bits of scale that are used */
	__u64 scale_max; /* a larger scale gives EINVAL */
};

/*
 * The dialects differ little. A dialect whose system had no sprofil() follows glibc for regions and
 * its own rules for the rest.
 */
static const struct dialect_rule dialect_rules[DIALECT_COUNT] = {
	[DIALECT_GLIBC] = { FORMULA_DIVIDE, FULL_WRAPS, FULL_SATURATES, BEYOND_OUTER_REGION, 0, 0,
			    0, ~0ULL, ~0ULL },
	[DIALECT_V7] = { FORMULA_ROUND_UP, FULL_WRAPS, FULL_WRAPS, BEYOND_OUTER_REGION, 1, 0, 0,
			 0xffff, ~0ULL },
	[DIALECT_SVR4] = { FORMULA_MULTIPLY, FULL_SATURATES, FULL_SATURATES, BEYOND_OUTER_REGION, 1,
			   0, 1, 0xffff, ~0ULL },
	[DIALECT_SOLARIS] = { FORMULA_MULTIPLY, FULL_STOPS, FULL_STOPS, BEYOND_OUTER_REGION, 1, 0,
			      0, ~0ULL, ~0ULL },
	[DIALECT_BSD43] = { FORMULA_HALVES, FULL_WRAPS, FULL_WRAPS, BEYOND_OUTER_REGION, 1, 0, 0,
			    ~0ULL, ~0ULL },
	[DIALECT_BSD44] = { FORMULA_MULTIPLY, FULL_WRAPS, FULL_WRAPS, BEYOND_OUTER_REGION, 0, 0, 0,
			    ~0ULL, DIALECT_SCALE_ONE },
	[DIALECT_BSD44DOC] = { FORMULA_DIVIDE, FULL_WRAPS, FULL_WRAPS, BEYOND_OUTER_REGION, 0, 0, 0,
			       ~0ULL, DIALECT_SCALE_ONE },
	[DIALECT_IRIX] = { FORMULA_DIVIDE, FULL_SATURATES, FULL_SATURATES, BEYOND_OVERFLOW, 1, 1, 0,
			   ~0ULL, ~0ULL },
};

static inline const struct dialect_rule *dialect_rule(__u32 dialect)
{
	return &dialect_rules[dialect < DIALECT_COUNT ? dialect : DIALECT_GLIBC];
}

/* The scale that a dialect uses for the scale it is given. */
static inline __u64 dialect_scale(__u32 dialect, __u64 scale)
{
	const struct dialect_rule *rule = dialect_rule(dialect);

	if (rule->one_is_largest && scale == DIALECT_SCALE_ONE)
		return DIALECT_SCALE_ONE - 1;
	return scale & rule->scale_mask;
}

/* The meaning of a region's scale and offset. */
enum dialect_class { CLASS_OFF, CLASS_REGION, CLASS_OVERFLOW, CLASS_INVALID };

static inline __u32 dialect_class(__u32 dialect, __u32 is_sprofil, __u64 offset, __u64 scale)
{
	const struct dialect_rule *rule = dialect_rule(dialect);

	scale = dialect_scale(dialect, scale);
	if (scale <= (is_sprofil ? 1U : rule->scale_off))
		return CLASS_OFF;
	if (scale > rule->scale_max)
		return CLASS_INVALID;
	if (offset == 0 && scale == DIALECT_SCALE_OVERFLOW && (is_sprofil || rule->one_region))
		return CLASS_OVERFLOW;
	return CLASS_REGION;
}

/*
 * The formula with the numbers of a dialect, a width and a scale filled in. scale 0: always bin 0.
 */
struct dialect_factor {
	__u64 scale;
	__u32 round;
	__u8 before;
	__u8 after; /* from 1 to 63 */
	__u8 pad[2];
};

/* log2 of a width of 2, 4 or 8. */
static inline __u32 dialect_width_shift(__u32 width)
{
	return (width >> 1) - (width >> 3);
}

/* width is 2, 4 or 8. */
static inline struct dialect_factor dialect_factor(__u32 dialect, __u32 width, __u64 scale)
{
	struct dialect_factor factor = { .scale = dialect_scale(dialect, scale) };
	__u32 shift = dialect_width_shift(width);

	switch (dialect_rule(dialect)->formula) {
	case FORMULA_MULTIPLY:
		factor.after = 16 + shift;
		break;
	case FORMULA_DIVIDE:
		factor.before = shift;
		factor.after = 16;
		break;
	case FORMULA_ROUND_UP:
		factor.round = (width - 1) << 14;
		__attribute__((fallthrough));
	case FORMULA_HALVES:
		factor.scale >>= 1;
		factor.before = 1;
		factor.after = 14 + shift;
		break;
	}
	return factor;
}

/* The upper 64 bits of a product; BPF has no wider type. */
static inline __u64 dialect_high(__u64 a, __u64 b)
{
	__u64 a_low = (__u32)a, a_high = a >> 32, b_low = (__u32)b, b_high = b >> 32;
	__u64 middle = a_high * b_low;
	__u64 carry = ((a_low * b_low) >> 32) + (__u32)middle + a_low * b_high;

	return a_high * b_high + (middle >> 32) + (carry >> 32);
}

/* 2^64 - 1 also stands for all higher bins, because no buffer has that many. */
static inline __u64 dialect_bin(const struct dialect_factor *factor, __u64 d)
{
	__u64 a = d >> factor->before, scale = factor->scale, low, high;

	/* The usual case: text below 4 GiB at a usual scale. */
	if (!((a | scale) >> 32))
		return (a * scale + factor->round) >> factor->after;
	low = a * scale + factor->round;
	high = dialect_high(a, scale) + (low < factor->round);
	if (high >> factor->after)
		return ~0ULL;
	return high << (64 - factor->after) | low >> factor->after;
}

/* The number of counters in a buffer. */
static inline __u64 dialect_counters(__u64 bytes, __u32 width)
{
	return bytes >> dialect_width_shift(width);
}

static inline __u32 dialect_full(__u32 dialect, __u32 is_sprofil)
{
	const struct dialect_rule *rule = dialect_rule(dialect);

	return is_sprofil ? rule->full_sprofil : rule->full;
}

/* The largest value of a counter. */
static inline __u64 dialect_counter_max(__u32 width)
{
	return ~0ULL >> (64 - 8 * width);
}

/*
 * The value of a counter after n more ticks. With FULL_STOPS, ticks beyond the limit are not
 * counted, and a value above the limit, which the program set, stays.
 */
static inline __u64 dialect_count(__u32 full, __u32 width, __u64 value, __u64 n)
{
	__u64 max = dialect_counter_max(width);

	if (full == FULL_WRAPS)
		return (value + n) & max;
	if (full == FULL_STOPS)
		max = DIALECT_LIMIT;
	if (value >= max)
		return value;
	return n < max - value ? value + n : max;
}

/* The inverse. Only user space has it, because it needs a division of 128 bits. */
#ifndef __bpf__

/* The smallest d with this bin or a later one; 2^64 if no 64-bit d has one. */
static inline unsigned __int128 dialect_first(const struct dialect_factor *factor, __u64 bin)
{
	unsigned __int128 none = (unsigned __int128)1 << 64;
	unsigned __int128 need = (unsigned __int128)bin << factor->after;

	if (need <= factor->round)
		return 0;
	if (!factor->scale)
		return none;
	need = (need - factor->round + factor->scale - 1) / factor->scale;
	return need > ~0ULL >> factor->before ? none : need << factor->before;
}

/* The largest d with this bin or an earlier one. */
static inline __u64 dialect_last(const struct dialect_factor *factor, __u64 bin)
{
	return bin == ~0ULL ? ~0ULL : (__u64)(dialect_first(factor, bin + 1) - 1);
}

#endif
#endif
