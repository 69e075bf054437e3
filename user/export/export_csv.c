// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/util.h"
#include "export/bin_walk.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"

/*
 * A row for each bin, sorted by object, then offset. offset is hexadecimal, as in nm, objdump and
 * addr2line, because a spreadsheet would round kernel addresses as numbers. share is that of the
 * target's ticks, ns the CPU time that these ticks stand for.
 */
static const char header[] = "target,target_name,kind,object,build_id,pid,process,cgroup,offset,"
			     "bytes,function,ticks,share,ns\n";

struct csv {
	const struct profile *profile;
	const struct profile_index *index;
	struct profile_weights *weights;
	FILE *stream;
};

/*
 * Writes a cell on one line. It is quoted if necessary (RFC 4180), and marked as text if a
 * spreadsheet would compute it; NULL becomes an empty cell.
 */
static void put_csv_text(FILE *stream, const char *text)
{
	bool quoted = text && text[strcspn(text, ",\"")];

	if (quoted)
		fputc('"', stream);
	if (text && csv_is_formula(text))
		fputc('\'', stream);
	if (text)
		export_text(stream, text, '"', "\"\"");
	fputs(quoted ? "\"," : ",", stream);
}

/*
 * Writes nine decimal places with integers, because printf's decimal point depends on the locale.
 */
static void put_share(FILE *stream, uint64_t ticks, uint64_t total)
{
	uint64_t share = total ? (uint64_t)((unsigned __int128)ticks * 1000000000 / total) : 0;

	fprintf(stream, "%" PRIu64 ".%09" PRIu64, share / 1000000000, share % 1000000000);
}

static void put_csv_row(const struct csv *csv, const struct bin_place *place)
{
	const struct profile_histogram *histogram = place->histogram;
	const struct profile_target *target = &csv->profile->targets[histogram->target];
	const struct profile_object *object = &csv->profile->objects[histogram->object];
	const struct profile_function *function =
		profile_bin_function(csv->index, histogram, place->bin);

	fprintf(csv->stream, "%" PRIu32 ",", histogram->target);
	put_csv_text(csv->stream, target->name);
	fprintf(csv->stream, "%s,", profile_object_kind_name(object->kind));
	put_csv_text(csv->stream, object->path);
	put_csv_text(csv->stream, object->build_id);
	if (histogram->pid >= 0)
		fprintf(csv->stream, "%" PRId64, histogram->pid);
	fputc(',', csv->stream);
	put_csv_text(csv->stream, histogram->process);
	put_csv_text(csv->stream, histogram->cgroup);
	fprintf(csv->stream, "0x%" PRIx64 ",%" PRIu64 ",", place->offset, histogram->bytes_per_bin);
	put_csv_text(csv->stream, function ? function->name : NULL);
	fprintf(csv->stream, "%" PRIu64 ",", place->ticks);
	put_share(csv->stream, place->ticks, target->ticks.total);
	fprintf(csv->stream, ",%" PRIu64 "\n",
		profile_weights_take(csv->weights, histogram, place->ticks));
}

static int put_csv_rows(const struct csv *csv, struct bin_walk *walk, struct error *err)
{
	struct bin_place place;
	uint32_t object;

	errno = 0;
	fputs(header, csv->stream);
	while (bin_walk_object(walk, &object))
		while (bin_walk_next(walk, &place) && !ferror(csv->stream))
			put_csv_row(csv, &place);
	return export_end(csv->stream, "CSV", err);
}

int export_csv(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err)
{
	struct profile_index *index = profile_index_new(profile);
	struct profile_weights *weights = profile_weights_new(profile);
	struct bin_walk *walk = bin_walk_new(profile, NULL);
	struct csv csv = { profile, index, weights, stream };
	int ret;

	(void)options;
	if (index && weights && walk)
		ret = put_csv_rows(&csv, walk, err);
	else
		ret = error_errno(err, -ENOMEM, "writing CSV");
	profile_index_free(index);
	profile_weights_free(weights);
	bin_walk_free(walk);
	return ret;
}
