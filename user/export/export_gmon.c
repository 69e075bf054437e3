// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes gmon.out, GNU version 1, of one object: only histogram records, at the addresses of its
 * symbol table. Limits of gprof 2.40 shape it:
 *
 * - A counter has 16 bits, but gprof adds up records with equal bounds. Therefore the rest of a
 *   larger count is in another record. The sum has 31 bits.
 * - The unit is two bytes of text. With less text per counter, gprof loses every other counter. It
 *   rounds the start of a function down to the unit.
 * - Seconds are counts divided by an integer rate. If the CPU time of targets is known, a tick has
 *   any weight. Therefore it becomes several counts of a small part of a second.
 * - Records must not overlap unless they are equal. Therefore they are cut at multiples of a fixed
 *   size. Records without ticks are skipped, which keeps large texts small. The records of two runs
 *   can be added up, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "naming/object_file.h"
#include "profile/profile_rows.h"

#define UNIT 2
#define RECORD_BYTES 4096 /* of text */
#define COUNTERS (RECORD_BYTES / UNIT)
#define COUNT_MAX INT32_MAX
#define SPREAD_MAX 65536 /* largest bin, as in profil() */
#define FINE_RATE 10000 /* least counts per second of CPU time, */
#define FINE_TICK 10 /* and per period */

struct gmon {
	const struct profile *profile;
	struct profile_rows rows;
	uint32_t object;
	FILE *stream;
	struct error *err;
	size_t pointer; /* bytes of a pointer in the object */
	uint32_t rate;
	bool with_ns; /* counts are CPU time rather than ticks */
	unsigned __int128 ns; /* CPU time so far, */
	uint64_t given; /* and its counts */
	uint64_t record; /* number of the current one */
	uint32_t counts[COUNTERS];
};

/* gprof uses the pointer size of the program that it is given. */
static size_t pointer_size(const struct profile *profile, const struct profile_object *object)
{
	const char *arch = profile->host.arch ? profile->host.arch : "";
	unsigned char ident[5] = "";
	int fd = object_file_here(object, NULL);

	if (fd >= 0) {
		if (pread(fd, ident, sizeof(ident), 0) != (ssize_t)sizeof(ident))
			ident[4] = 0;
		close(fd);
	}
	if (ident[4])
		return ident[4] == 1 ? 4 : 8; /* ELFCLASS32 */
	/* A sum of several architectures has none. */
	return *arch && !strstr(arch, "64") && strcmp(arch, "s390x") ? 4 : 8;
}

static void put_gmon_bytes(FILE *stream, const void *value, size_t size)
{
	fwrite_unlocked(value, 1, size, stream);
}

static void put_pointer(const struct gmon *gmon, uint64_t value)
{
	uint32_t narrow = (uint32_t)value;

	put_gmon_bytes(gmon->stream, gmon->pointer == 4 ? (void *)&narrow : (void *)&value,
		       gmon->pointer);
}

static void put_gmon_header(FILE *stream)
{
	static const char spare[12];
	const uint32_t version = 1;

	put_gmon_bytes(stream, "gmon", 4);
	put_gmon_bytes(stream, &version, sizeof(version));
	put_gmon_bytes(stream, spare, sizeof(spare));
}

/* Writes as much of the counts as one record holds; true: there are more. */
static bool put_part(struct gmon *gmon)
{
	static const char tag, dimension[15] = "seconds";
	const uint32_t nr = COUNTERS;
	bool left = false;
	uint16_t part;
	size_t i;

	put_gmon_bytes(gmon->stream, &tag, 1);
	put_pointer(gmon, gmon->record * RECORD_BYTES);
	put_pointer(gmon, (gmon->record + 1) * RECORD_BYTES);
	put_gmon_bytes(gmon->stream, &nr, sizeof(nr));
	put_gmon_bytes(gmon->stream, &gmon->rate, sizeof(gmon->rate));
	put_gmon_bytes(gmon->stream, dimension, sizeof(dimension));
	put_gmon_bytes(gmon->stream, "s", 1);
	for (i = 0; i < COUNTERS; i++) {
		part = gmon->counts[i] < UINT16_MAX ? (uint16_t)gmon->counts[i] : UINT16_MAX;
		gmon->counts[i] -= part;
		left = left || gmon->counts[i];
		put_gmon_bytes(gmon->stream, &part, sizeof(part));
	}
	return left;
}

static void put_record(struct gmon *gmon)
{
	bool left = gmon->record != UINT64_MAX;

	while (left && !ferror(gmon->stream))
		left = put_part(gmon);
}

/*
 * Cuts a bin to the first segment of text that it overlaps. Bins begin at multiples of their size,
 * and no tick is outside of the text.
 */
static void cut_to_text(const struct profile_object *object, uint64_t *offset, uint64_t *size)
{
	uint64_t first, end;
	size_t i;

	for (i = 0; i < object->nr_text; i++) {
		const struct profile_text *text = &object->text[i];

		first = max_size(*offset, text->offset);
		end = min_size(add_saturating(*offset, *size), text->offset + text->size);
		if (first < end) {
			*offset = first;
			*size = end - first;
			return;
		}
	}
}

/*
 * Returns the address at which gprof finds the function that we assign to a bin. This is in the
 * function's first unit if it begins in the bin. Otherwise it is the last unit that only this
 * function has, because another one may begin at the odd byte after it.
 */
static uint64_t filed_at(const struct gmon *gmon, const struct profile_function *function,
			 uint64_t offset)
{
	const struct profile_object *object = &gmon->profile->objects[gmon->object];
	uint64_t address, end;

	if (!function)
		return profile_object_address(object, offset);
	if (function->offset > offset)
		offset = function->offset;
	address = profile_object_address(object, offset);
	end = address - (offset - function->offset) + function->size;
	if (end % UNIT && address == end - 1 && function->size > UNIT)
		address -= UNIT;
	return address;
}

static int add_gmon_ticks(struct gmon *gmon, uint64_t address, uint64_t ticks)
{
	uint32_t *count;

	if (address / RECORD_BYTES != gmon->record) {
		put_record(gmon);
		memset(gmon->counts, 0, sizeof(gmon->counts));
		gmon->record = address / RECORD_BYTES;
	}
	count = &gmon->counts[address % RECORD_BYTES / UNIT];
	if (ticks > COUNT_MAX - *count)
		return error_with_hint(gmon->err, -EOVERFLOW,
				       "--target ID, or a sum of fewer files",
				       "gmon: %.200s: more than %d %s at 0x%" PRIx64
				       ", and gprof counts no further",
				       gmon->profile->objects[gmon->object].path, COUNT_MAX,
				       gmon->with_ns ? "counts" : "ticks", address);
	*count += (uint32_t)ticks;
	return 0;
}

/* Divides a bin of several functions equally among its bytes, as gprof does. */
static int spread_gmon_ticks(struct gmon *gmon, uint64_t offset, uint64_t size,
			     unsigned __int128 ticks)
{
	const struct profile_object *object = &gmon->profile->objects[gmon->object];
	uint64_t nr = size / UNIT ?: 1, share, i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		share = (uint64_t)(ticks * (i + 1) / nr - ticks * i / nr);
		if (share)
			ret = add_gmon_ticks(
				gmon, profile_object_address(object, offset + i * UNIT), share);
	}
	return ret;
}

static int add_gmon_row(struct gmon *gmon, const struct profile_row *row)
{
	const struct profile_function *function = profile_rows_function(&gmon->rows, row);
	uint64_t offset = row->offset, size = row->size;

	cut_to_text(&gmon->profile->objects[gmon->object], &offset, &size);
	/* A function that is just the place of a bin means that the bin has several functions. */
	if (row->size > UNIT && row->size <= SPREAD_MAX &&
	    (!function || (function->offset == row->offset && function->size == row->size)))
		return spread_gmon_ticks(gmon, offset, size, row->ticks);
	return add_gmon_ticks(gmon, filed_at(gmon, function, offset), row->ticks);
}

/* Returns the counts for the ticks, and carries fractions to the next place. */
static uint64_t count_of(struct gmon *gmon, const struct profile_row *row)
{
	uint64_t count, sum;

	if (!gmon->with_ns)
		return row->ticks;
	gmon->ns += profile_rows_next_ns(&gmon->rows, row);
	sum = (uint64_t)(gmon->ns * gmon->rate / SECOND_NS);
	count = sum - gmon->given;
	gmon->given = sum;
	return count;
}

/* Combines bins at one place, so that wide ones do not alternate between records. */
static int put_gmon_object(struct gmon *gmon)
{
	const struct profile_row *row;
	struct profile_row sum = { 0 };
	uint64_t count;
	int ret = 0;

	gmon->record = UINT64_MAX;
	while (!ret && !ferror(gmon->stream) && (row = profile_rows_next(&gmon->rows))) {
		count = count_of(gmon, row);
		if (row->again && row->size == sum.size) {
			sum.ticks += count;
			continue;
		}
		if (sum.histogram)
			ret = add_gmon_row(gmon, &sum);
		sum = *row;
		sum.ticks = count;
	}
	if (!ret && sum.histogram)
		ret = add_gmon_row(gmon, &sum);
	if (!ret)
		put_record(gmon);
	return ret;
}

static bool is_of_file(const struct profile *profile, const void *options,
		       const struct profile_histogram *histogram)
{
	const struct export_options *of = options;

	return histogram->object == of->file_object && export_chosen(profile, of, histogram);
}

static int put_gmon_records(struct gmon *gmon)
{
	int ret = 0;

	errno = 0;
	put_gmon_header(gmon->stream);
	profile_rows_start(&gmon->rows, PROFILE_ROWS_BY_PLACE);
	if (profile_rows_next_part(&gmon->rows))
		ret = put_gmon_object(gmon);
	return ret ? ret : export_end(gmon->stream, "gmon", gmon->err);
}

/* gprof's rate is an integer per second, and 0 would mean no time at all. */
static uint32_t rate_of(uint64_t period, char *note)
{
	uint64_t rate = period ? (SECOND_NS + period / 2) / period : 0;
	double off;

	rate = rate ? rate : 1;
	off = 100e9 / ((double)rate * (double)period) - 100;
	if (note && (off > 0.1 || off < -0.1))
		snprintf(note, EXPORT_NOTE_BYTES,
			 "gprof knows whole rates only: its seconds are off by %+.1f %%", off);
	return (uint32_t)rate;
}

/*
 * The rate is far finer than the hundredths that gprof shows, and fine enough for ticks at
 * intervals of 10 us. Above 59 hours of CPU time it is lower, so that no place has more counts than
 * gprof's sum holds. gprof cannot add up files with different rates.
 */
static uint32_t fine_rate(const struct profile *profile, const struct export_options *options)
{
	uint64_t rate = FINE_RATE, period, own;
	double seconds = 0;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		period = profile_target_period(profile, i);
		own = period ? (uint64_t)FINE_TICK * SECOND_NS / period : 0;
		rate = own > rate ? own : rate;
		if (profile_target_chosen(profile, options->target, i))
			seconds += profile_target_time(profile, i) / SECOND_NS;
	}
	rate = rate < FINE_TICK * 100000 ? rate : FINE_TICK * 100000;
	while (rate > 1 && seconds * (double)rate > COUNT_MAX)
		rate = rate / 10 ?: 1;
	return (uint32_t)rate;
}

/* Chooses CPU time for all targets, or else ticks with a single period. */
static int choose_unit(struct gmon *gmon, const struct export_options *options)
{
	const struct profile *profile = gmon->profile;
	uint64_t period;
	int ret;

	if (export_knows_cpu_time(profile, options)) {
		gmon->with_ns = true;
		gmon->rate = fine_rate(profile, options);
		return 0;
	}
	ret = export_one_period(profile, options, "gmon", &period, gmon->err);
	if (!ret)
		gmon->rate = rate_of(period, options->note);
	return ret;
}

int export_gmon(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err)
{
	struct gmon *gmon = calloc(1, sizeof(*gmon));
	int ret;

	if (!gmon)
		return error_errno(err, -ENOMEM, "gmon");
	gmon->profile = profile;
	gmon->object = options->file_object;
	gmon->stream = stream;
	gmon->err = err;
	if (profile_rows_begin(&gmon->rows, profile,
			       &(struct profile_choice){ .chosen = is_of_file, .of = options }))
		ret = error_errno(err, -ENOMEM, "gmon");
	else
		ret = choose_unit(gmon, options);
	if (!ret) {
		gmon->pointer = pointer_size(profile, &profile->objects[gmon->object]);
		ret = put_gmon_records(gmon);
	}
	profile_rows_end(&gmon->rows);
	free(gmon);
	return ret;
}
