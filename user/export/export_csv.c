// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile_rows.h"

/*
 * A row for each bin, sorted by object, then offset. offset is hexadecimal, as in nm, objdump and
 * addr2line, because a spreadsheet would round kernel addresses as numbers. share is that of the
 * target's ticks, ns the CPU time that these ticks stand for.
 */
static const char header[] = "target,target_name,kind,object,build_id,pid,process,cgroup,offset,"
			     "bytes,function,ticks,share,ns\n";

static void put_csv_text(FILE *stream, const char *text)
{
	text_csv(stream, text);
	fputc(',', stream);
}

/*
 * Writes nine decimal places with integers, because printf's decimal point depends on the locale.
 */
static void put_share(FILE *stream, uint64_t ticks, uint64_t total)
{
	uint64_t share = total ? (uint64_t)((unsigned __int128)ticks * 1000000000 / total) : 0;

	fprintf(stream, "%" PRIu64 ".%09" PRIu64, share / 1000000000, share % 1000000000);
}

static void put_csv_row(struct profile_rows *rows, const struct profile_row *row, FILE *stream)
{
	const struct profile_histogram *histogram = row->histogram;
	const struct profile_target *target = &rows->profile->targets[histogram->target];
	const struct profile_object *object = &rows->profile->objects[row->object];
	const struct profile_function *function = profile_rows_function(rows, row);

	fprintf(stream, "%" PRIu32 ",", histogram->target);
	put_csv_text(stream, target->name);
	fprintf(stream, "%s,", profile_object_kinds[object->kind]);
	put_csv_text(stream, object->path);
	put_csv_text(stream, object->build_id);
	if (histogram->pid >= 0)
		fprintf(stream, "%" PRId64, histogram->pid);
	fputc(',', stream);
	put_csv_text(stream, histogram->process);
	put_csv_text(stream, histogram->cgroup);
	fprintf(stream, "0x%" PRIx64 ",%" PRIu64 ",", row->offset, row->size);
	put_csv_text(stream, function ? function->name : NULL);
	fprintf(stream, "%" PRIu64 ",", row->ticks);
	put_share(stream, row->ticks, target->ticks.total);
	fprintf(stream, ",%" PRIu64 "\n", profile_rows_next_ns(rows, row));
}

int export_csv(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err)
{
	struct profile_rows rows;
	const struct profile_row *row;
	int ret = profile_rows_begin(&rows, profile, &(struct profile_choice){ 0 });

	(void)options;
	if (ret) {
		error_errno(err, ret, "writing CSV");
	} else {
		errno = 0;
		fputs(header, stream);
		profile_rows_start(&rows, PROFILE_ROWS_BY_PLACE);
		while (!ferror(stream) && (row = profile_rows_of_all(&rows)))
			put_csv_row(&rows, row, stream);
		ret = export_end(stream, "CSV", err);
	}
	profile_rows_end(&rows);
	return ret;
}
