// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_index.h"

/*
 * A row for each bin, by object, then offset. offset is hexadecimal, as nm, objdump and addr2line
 * have it: a spreadsheet would round kernel addresses as numbers. share is of the target's ticks.
 */
static const char header[] = "target,target_name,kind,object,build_id,pid,process,cgroup,offset,"
			     "bytes,function,ticks,share\n";

/* The next row of a histogram. */
struct cursor {
	const struct profile_histogram *histogram;
	size_t bin;
};

struct csv {
	const struct profile *profile;
	const struct profile_index *index;
	FILE *stream;
	struct cursor *heap; /* of one object's histograms, the smallest offset on top */
	size_t nr;
};

static uint64_t cursor_offset(const struct cursor *cursor)
{
	const struct profile_histogram *histogram = cursor->histogram;

	return histogram->offset + histogram->bins[cursor->bin].index * histogram->bytes_per_bin;
}

static bool comes_before(const struct cursor *a, const struct cursor *b)
{
	uint64_t offset_a = cursor_offset(a);
	uint64_t offset_b = cursor_offset(b);

	return offset_a != offset_b ? offset_a < offset_b : a->histogram < b->histogram;
}

static void sift_down(struct csv *csv, size_t at)
{
	struct cursor moved = csv->heap[at];
	size_t child;

	for (; (child = 2 * at + 1) < csv->nr; at = child) {
		if (child + 1 < csv->nr && comes_before(&csv->heap[child + 1], &csv->heap[child]))
			child++;
		if (!comes_before(&csv->heap[child], &moved))
			break;
		csv->heap[at] = csv->heap[child];
	}
	csv->heap[at] = moved;
}

/* A row is a line: control characters show as \xNN, and what is not UTF-8 as U+FFFD. */
static void put_character(FILE *stream, const char *text, size_t length)
{
	unsigned char c = (unsigned char)*text;

	if (!length)
		fputs("\xef\xbf\xbd", stream);
	else if (c < 0x20 || c == 0x7f)
		fprintf(stream, "\\x%02x", c);
	else if (c == '"')
		fputs("\"\"", stream);
	else
		fwrite(text, 1, length, stream);
}

/* Quoted when it must be (RFC 4180); NULL is the empty cell. */
static void put_text(FILE *stream, const char *text)
{
	bool quoted = text && text[strcspn(text, ",\"")];
	size_t length;

	if (quoted)
		fputc('"', stream);
	while (text && *text) {
		length = utf8_sequence(text, strnlen(text, 4));
		put_character(stream, text, length);
		text += length ? length : 1;
	}
	fputs(quoted ? "\"," : ",", stream);
}

/* To nine places, in whole numbers: printf's decimal point depends on the locale. */
static void put_share(FILE *stream, uint64_t ticks, uint64_t total)
{
	uint64_t share = total ? (uint64_t)((unsigned __int128)ticks * 1000000000 / total) : 0;

	fprintf(stream, "%" PRIu64 ".%09" PRIu64, share / 1000000000, share % 1000000000);
}

static void put_row(const struct csv *csv, const struct cursor *cursor)
{
	const struct profile_histogram *histogram = cursor->histogram;
	const struct profile_target *target = &csv->profile->targets[histogram->target];
	const struct profile_object *object = &csv->profile->objects[histogram->object];
	const struct profile_bin *bin = &histogram->bins[cursor->bin];
	const struct profile_function *function;
	uint64_t offset = cursor_offset(cursor);

	function =
		profile_index_find(csv->index, histogram->object, offset, histogram->bytes_per_bin);
	fprintf(csv->stream, "%" PRIu32 ",", histogram->target);
	put_text(csv->stream, target->name);
	fprintf(csv->stream, "%s,", profile_object_kind_name(object->kind));
	put_text(csv->stream, object->path);
	put_text(csv->stream, object->build_id);
	if (histogram->pid >= 0)
		fprintf(csv->stream, "%" PRId64, histogram->pid);
	fputc(',', csv->stream);
	put_text(csv->stream, histogram->process);
	put_text(csv->stream, histogram->cgroup);
	fprintf(csv->stream, "0x%" PRIx64 ",%" PRIu64 ",", offset, histogram->bytes_per_bin);
	put_text(csv->stream, function ? function->name : NULL);
	fprintf(csv->stream, "%" PRIu64 ",", bin->count);
	put_share(csv->stream, bin->count, target->ticks.total);
	fputc('\n', csv->stream);
}

/* Merges the histograms on the heap. */
static void put_object(struct csv *csv)
{
	size_t i;

	for (i = csv->nr / 2; i-- > 0;)
		sift_down(csv, i);
	while (csv->nr && !ferror(csv->stream)) {
		put_row(csv, &csv->heap[0]);
		if (++csv->heap[0].bin == csv->heap[0].histogram->nr_bins)
			csv->heap[0] = csv->heap[--csv->nr];
		sift_down(csv, 0);
	}
}

static int compare_objects(const void *a, const void *b)
{
	const struct profile_histogram *x = *(const struct profile_histogram *const *)a;
	const struct profile_histogram *y = *(const struct profile_histogram *const *)b;

	return x->object < y->object ? -1 : x->object > y->object;
}

/* sorted: the histograms by object. */
static void put_rows(struct csv *csv, const struct profile_histogram **sorted)
{
	size_t nr = csv->profile->nr_histograms;
	size_t i;

	fputs(header, csv->stream);
	for (i = 0; i < nr; i++) {
		if (sorted[i]->nr_bins)
			csv->heap[csv->nr++] = (struct cursor){ sorted[i], 0 };
		if (i + 1 == nr || sorted[i + 1]->object != sorted[i]->object)
			put_object(csv);
	}
}

int export_csv(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err)
{
	struct csv csv = { .profile = profile, .stream = stream };
	const struct profile_histogram **sorted;
	struct profile_index *index;
	int code = -ENOMEM;
	size_t i;

	(void)options;
	errno = 0;
	index = profile_index_new(profile);
	sorted = calloc(profile->nr_histograms + 1, sizeof(*sorted));
	csv.heap = calloc(profile->nr_histograms + 1, sizeof(*csv.heap));
	csv.index = index;
	if (index && sorted && csv.heap) {
		for (i = 0; i < profile->nr_histograms; i++)
			sorted[i] = &profile->histograms[i];
		qsort(sorted, profile->nr_histograms, sizeof(*sorted), compare_objects);
		put_rows(&csv, sorted);
		code = 0;
		if (fflush(stream) || ferror(stream))
			code = errno ? -errno : -EIO;
	}
	profile_index_free(index);
	free(sorted);
	free(csv.heap);
	return code ? error_errno(err, code, "writing CSV") : 0;
}
