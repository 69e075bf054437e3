// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"

/* Extends the last segment; false: it has another period. */
static bool extend_segment(struct segments *segments, const struct profile *part, uint64_t since_ns)
{
	struct profile_segment *last = segments->nr ? &segments->list[segments->nr - 1] : NULL;

	if (!last || last->period_ns != part->sampling.period_ns)
		return false;
	last->duration_ns = since_ns - segments->since_ns + part->duration_ns - last->since_ns;
	return true;
}

int segments_add(struct segments *segments, struct profile *part, uint64_t since_ns,
		 struct error *err)
{
	if (extend_segment(segments, part, since_ns))
		return profile_merger_add(&segments->merger, part, "profile", err);
	if (GROW(segments->list, segments->capacity, segments->nr + 1)) {
		profile_free(part);
		return error_no_memory(err, "profile");
	}
	if (!segments->nr)
		segments->since_ns = since_ns;
	segments->list[segments->nr++] = (struct profile_segment){
		.since_ns = since_ns - segments->since_ns,
		.duration_ns = part->duration_ns,
		.period_ns = part->sampling.period_ns,
	};
	return profile_merger_add(&segments->merger, part, "profile", err);
}

int segments_finish(struct segments *segments, struct profile **profile, uint64_t since_ns,
		    struct error *err)
{
	struct profile *last = *profile;
	int ret;

	if (!segments->nr)
		return 0;
	*profile = NULL;
	ret = segments_add(segments, last, since_ns, err);
	if (!ret)
		ret = profile_merger_finish(&segments->merger, profile, err);
	/* A single period needs no list of segments. */
	if (!ret && segments->nr > 1) {
		(*profile)->sampling.segments = segments->list;
		(*profile)->sampling.nr_segments = segments->nr;
		segments->list = NULL;
	}
	segments_free(segments);
	return ret;
}

void segments_free(struct segments *segments)
{
	profile_merger_free(&segments->merger);
	free(segments->list);
	*segments = (struct segments){ 0 };
}

/*
 * If several files are written in one second, names may be ahead of the clock by this many seconds.
 */
#define JITTER 2

static int expand_series(struct series *series, struct error *err)
{
	time_t local = series->second + series->zone;
	char *path;
	struct tm tm;
	int ret;

	/* Reserve memory before writing the file, because nothing may fail afterwards. */
	ret = GROW(series->kept, series->capacity, series->nr_kept + 1);
	if (ret)
		return error_errno(err, ret, "%s", series->pattern);
	ret = output_expand(series->pattern, series->pid, gmtime_r(&local, &tm), &path, err);
	if (ret)
		return ret;
	free(series->path);
	series->path = path;
	return 0;
}

int series_begin(struct series *series, const char *pattern, pid_t pid, time_t now, uint64_t keep,
		 struct error *err)
{
	struct tm tm = { 0 };

	localtime_r(&now, &tm);
	*series = (struct series){ .pattern = pattern,
				   .pid = pid,
				   .keep = keep,
				   .second = now,
				   .latest = now,
				   .zone = tm.tm_gmtoff };
	return expand_series(series, err);
}

int series_start(struct series *series, time_t now, struct error *err)
{
	series->second = series->latest = now;
	return expand_series(series, err);
}

int series_next(struct series *series, time_t now, struct error *err)
{
	bool set_back = now < series->second - JITTER;
	int ret;

	series->second = set_back || now > series->second ? now : series->second + 1;
	ret = expand_series(series, err);
	/* After the clock was set back, one of our own files may have that second. */
	while (!ret && series->second <= series->latest && !access(series->path, F_OK)) {
		series->second++;
		ret = expand_series(series, err);
	}
	if (series->latest < series->second)
		series->latest = series->second;
	return ret;
}

static void forget_file(struct series *series, size_t at)
{
	free(series->kept[at]);
	series->nr_kept--;
	memmove(&series->kept[at], &series->kept[at + 1],
		(series->nr_kept - at) * sizeof(*series->kept));
}

static int drop_oldest_file(struct series *series, struct error *err)
{
	const char *path = series->kept[0];
	int ret = 0;

	if (unlink(path) && errno != ENOENT)
		ret = error_errno(err, -errno, "--keep: %s", path);
	forget_file(series, 0);
	return ret;
}

int series_written(struct series *series, struct error *err)
{
	series->written++;
	series->kept[series->nr_kept++] = series->path;
	series->path = NULL;
	if (series->keep)
		return series->nr_kept > series->keep ? drop_oldest_file(series, err) : 0;
	if (series->nr_kept > 2)
		forget_file(series, 1);
	return 0;
}

void series_skip(struct series *series)
{
	free(series->path);
	series->path = NULL;
}

void series_print(const struct series *series, FILE *out)
{
	if (!series->nr_kept)
		return;
	if (series->written == 1)
		fputs("profile: ", out);
	else if (series->nr_kept < series->written && series->keep)
		fprintf(out, "profiles: the last %zu of %" PRIu64 ", ", series->nr_kept,
			series->written);
	else
		fprintf(out, "profiles: %" PRIu64 ", ", series->written);
	if (series->nr_kept > 1) {
		text_write(out, series->kept[0], 0);
		fputs(" to ", out);
	}
	text_write(out, series->kept[series->nr_kept - 1], 0);
	fputc('\n', out);
}

void series_free(struct series *series)
{
	while (series->nr_kept)
		forget_file(series, series->nr_kept - 1);
	free(series->kept);
	free(series->path);
	*series = (struct series){ 0 };
}
