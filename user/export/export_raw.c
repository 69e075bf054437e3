// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "naming/regions.h"

/*
 * The buffers of a call, one after the other, as the call would have left them if they were zero at
 * first. The call's pcs are offsets of one object; ticks of other objects are pcs outside all
 * regions. Only counters above 0 are kept in memory.
 */
struct raw_hit {
	uint64_t at; /* byte offset in the output */
	uint64_t ticks;
};

struct raw {
	const struct profile *profile;
	const struct export_call *call;
	uint64_t *starts; /* of the buffers in the output; the last element is its size */
	uint32_t object; /* nr_objects: none */
	struct raw_hit *hits;
	size_t nr;
	size_t capacity;
	uint64_t untaken; /* ticks outside all regions */
	struct error *err;
};

static int add_raw_hit(struct raw *raw, size_t region, uint64_t bin, uint64_t ticks)
{
	const struct raw_hit hit = { raw->starts[region] + bin * raw->call->width, ticks };
	const int ret = PUSH(raw->hits, raw->capacity, raw->nr, hit);

	return ret ? error_errno(raw->err, ret, "raw") : 0;
}

static const struct call_region *find_call_region(const struct raw *raw, uint64_t pc)
{
	return call_table_find(&raw->call->table, raw->call->lines, pc);
}

static uint64_t bin_last(const struct profile_histogram *histogram, size_t i)
{
	return add_saturating(profile_bin_start(histogram, i), histogram->bytes_per_bin - 1);
}

/*
 * Refuses a bin that is wider than a counter, because it is unknown which counters its ticks belong
 * to.
 */
static int straddles(const struct raw *raw, const struct profile_histogram *histogram, size_t i)
{
	return error_with_hint(raw->err, -EINVAL,
			       "a smaller --scale, or bpfprofil run --bytes-per-bin 1",
			       "raw: %.200s: its bin of %" PRIu64 " bytes at 0x%" PRIx64
			       " falls into more than one counter",
			       raw->profile->objects[histogram->object].path,
			       histogram->bytes_per_bin, profile_bin_start(histogram, i));
}

static int file_bin(struct raw *raw, const struct profile_histogram *histogram, size_t i)
{
	uint64_t first = profile_bin_start(histogram, i), last = bin_last(histogram, i);
	const struct call_region *region = find_call_region(raw, first);
	uint64_t bin = call_region_bin(region, first);

	if (region != find_call_region(raw, last) || bin != call_region_bin(region, last))
		return straddles(raw, histogram, i);
	if (region->kind == CALL_REGION)
		return add_raw_hit(raw, region->number, bin, histogram->bins[i].count);
	raw->untaken = add_saturating(raw->untaken, histogram->bins[i].count);
	return 0;
}

/*
 * Ticks of an overflow bin and of other objects are outside the regions. Kernel ticks have no pc
 * here. A program's own calls count the time of its samples again.
 */
static int file_histogram(struct raw *raw, const struct profile_histogram *histogram)
{
	bool chosen = histogram->object == raw->object && !histogram->overflow;
	size_t i;
	int ret = 0;

	if (!profile_target_counts(raw->profile, histogram->target))
		return 0;
	if (!chosen) {
		if (raw->profile->objects[histogram->object].kind != PROFILE_KERNEL)
			raw->untaken =
				add_saturating(raw->untaken, profile_histogram_ticks(histogram));
		return 0;
	}
	for (i = 0; !ret && i < histogram->nr_bins; i++)
		ret = file_bin(raw, histogram, i);
	return ret;
}

static int file_ticks(struct raw *raw)
{
	const struct profile *profile = raw->profile;
	const struct export_call *call = raw->call;
	size_t i;
	int ret;

	raw->untaken = profile->ticks.outside;
	for (i = 0; i < profile->nr_histograms; i++) {
		ret = file_histogram(raw, &profile->histograms[i]);
		if (ret)
			return ret;
	}
	if (call->overflow < call->nr && raw->untaken)
		return add_raw_hit(raw, call->overflow, 0, raw->untaken);
	return 0;
}

static bool fits_call(const struct raw *raw, const struct profile_histogram *histogram)
{
	const struct call_region *region;
	size_t i;

	if (histogram->overflow || !profile_target_counts(raw->profile, histogram->target))
		return false;
	for (i = 0; i < histogram->nr_bins; i++) {
		region = find_call_region(raw, profile_bin_start(histogram, i));
		if (region->kind == CALL_REGION ||
		    region != find_call_region(raw, bin_last(histogram, i)))
			return true;
	}
	return false;
}

/* Finds the only object with ticks in the regions. */
static int guess_object(struct raw *raw)
{
	const struct profile *profile = raw->profile;
	const struct profile_histogram *histogram;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		histogram = &profile->histograms[i];
		if (histogram->object == raw->object || !fits_call(raw, histogram))
			continue;
		if (raw->object != profile->nr_objects) {
			error_set(raw->err, -EINVAL,
				  "raw: --object: not given, and both %.160s and %.160s have ticks "
				  "at these offsets",
				  profile->objects[raw->object].path,
				  profile->objects[histogram->object].path);
			error_hint(raw->err, "--object %.200s", profile->objects[raw->object].path);
			return -EINVAL;
		}
		raw->object = histogram->object;
	}
	return 0;
}

/* Several objects may have one path: of two builds, or of samples and of the program's own calls. */
static int named_object(struct raw *raw, const struct export_options *options)
{
	const struct profile *profile = raw->profile;
	bool ticks, any = false;
	uint32_t i;

	for (i = 0; i < profile->nr_objects; i++) {
		if (!object_has_name(&profile->objects[i], options->object))
			continue;
		ticks = export_ticks(profile, options, i);
		if (any && ticks)
			return error_with_hint(
				raw->err, -EINVAL,
				*options->object == '/' ? "" : "the whole path of one of them",
				"raw: --object '%.200s': more than one object", options->object);
		if (ticks || raw->object == profile->nr_objects)
			raw->object = i;
		any |= ticks;
	}
	if (raw->object != profile->nr_objects)
		return 0;
	return error_with_hint(raw->err, -EINVAL, "bpfprofil report --by objects",
			       "raw: --object '%.200s': not in the profile", options->object);
}

DEFINE_COMPARE(compare_raw_hits, struct raw_hit, at)

static void add_raw_ticks(void *first, const void *equal)
{
	struct raw_hit *sum = first;
	const struct raw_hit *hit = equal;

	sum->ticks = add_saturating(sum->ticks, hit->ticks);
}

static void say_stopped(const struct raw_hit *hottest, size_t others, char *note)
{
	if (!note)
		return;
	export_add_note(note,
			"the counter at byte %" PRIu64 " of the buffer reached %d and ended it",
			hottest->at, DIALECT_LIMIT);
	if (others)
		export_add_note(note, "%zu more would have: a profile knows no order of ticks",
				others);
}

/* Whether the ticks alone would end the call. */
static bool is_at_limit(const struct raw *raw, const struct raw_hit *hit)
{
	return dialect_count(FULL_STOPS, raw->call->width, 0, hit->ticks) == DIALECT_LIMIT;
}

/*
 * The order of ticks determines what the other counters contain when one reaches the limit, but a
 * profile does not have it. Assume the order that counts most: the fullest counter (the first of
 * equal ones) reaches the limit last, and other full ones have one tick less.
 */
static void stop_at_limit(struct raw *raw, char *note)
{
	struct raw_hit *hottest = NULL;
	size_t i, over = 0;

	for (i = 0; i < raw->nr; i++) {
		if (!is_at_limit(raw, &raw->hits[i]))
			continue;
		if (!hottest || raw->hits[i].ticks > hottest->ticks)
			hottest = &raw->hits[i];
		over++;
	}
	if (!hottest)
		return;
	for (i = 0; i < raw->nr; i++)
		if (&raw->hits[i] != hottest && is_at_limit(raw, &raw->hits[i]))
			raw->hits[i].ticks = DIALECT_LIMIT - 1;
	say_stopped(hottest, over - 1, note);
}

static void put_zero_bytes(FILE *stream, uint64_t bytes)
{
	static const char zeros[4096];
	size_t part;

	for (; bytes && !ferror(stream); bytes -= part) {
		part = bytes < sizeof(zeros) ? (size_t)bytes : sizeof(zeros);
		fwrite(zeros, 1, part, stream);
	}
}

static int put_raw_buffers(const struct raw *raw, FILE *stream)
{
	const struct export_call *call = raw->call;
	uint64_t at = 0, value;
	uint16_t narrow;
	uint32_t wide;
	size_t i;

	errno = 0;
	for (i = 0; i < raw->nr; i++) {
		value = dialect_count(call->full, call->width, 0, raw->hits[i].ticks);
		narrow = (uint16_t)value;
		wide = (uint32_t)value;
		put_zero_bytes(stream, raw->hits[i].at - at);
		fwrite(call->width == 2 ? (void *)&narrow : (void *)&wide, call->width, 1, stream);
		at = raw->hits[i].at + call->width;
	}
	put_zero_bytes(stream, raw->starts[call->nr] - at);
	return export_end(stream, "the buffer", raw->err);
}

/* Computes the offset of each buffer in the output. */
static int lay_out_buffers(struct raw *raw)
{
	uint64_t *starts = raw->starts;
	size_t i;

	for (i = 0; i < raw->call->nr; i++)
		if (__builtin_add_overflow(starts[i], raw->call->sizes[i], &starts[i + 1]) ||
		    starts[i + 1] > INT64_MAX)
			return error_set(raw->err, -EFBIG,
					 "raw: the buffer is larger than a file can be");
	return 0;
}

static int write_raw(struct raw *raw, const struct export_options *options, FILE *stream)
{
	int ret = lay_out_buffers(raw);

	if (!ret)
		ret = options->object ? named_object(raw, options) : guess_object(raw);
	if (!ret)
		ret = file_ticks(raw);
	if (ret)
		return ret;
	/* Each counter has one hit, in the order of the output. */
	raw->nr = COMBINE(raw->hits, raw->nr, compare_raw_hits, add_raw_ticks);
	if (raw->call->full == FULL_STOPS)
		stop_at_limit(raw, options->note);
	return put_raw_buffers(raw, stream);
}

int export_raw(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err)
{
	struct raw raw = { .profile = profile,
			   .err = err,
			   .object = (uint32_t)profile->nr_objects };
	int ret;

	if (!options->call)
		return error_set(err, -EINVAL, "raw: no call was described");
	raw.call = options->call;
	raw.starts = calloc(raw.call->nr + 1, sizeof(*raw.starts));
	if (!raw.starts)
		return error_errno(err, -ENOMEM, "raw");
	ret = write_raw(&raw, options, stream);
	free(raw.starts);
	free(raw.hits);
	return ret;
}
