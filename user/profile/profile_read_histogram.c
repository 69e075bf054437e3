// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/fields.h"

#include <stdlib.h>

#include "base/util.h"

/* Reads an element of a bin: returns 1, or 0 if the bin ends here. */
static int read_number(struct reader *r, uint64_t *result)
{
	int ret = json_reader_element(r->json);

	if (ret <= 0)
		return ret;
	ret = json_reader_u64(r->json, result);
	return ret ? ret : 1;
}

/* [index, ticks] */
static int read_bin(struct reader *r, struct profile_bin *bin)
{
	int ret;

	ret = json_reader_array(r->json);
	if (ret)
		return ret;
	ret = read_number(r, &bin->index);
	if (ret > 0)
		ret = read_number(r, &bin->count);
	if (ret < 0)
		return ret;
	if (ret > 0)
		ret = json_reader_element(r->json);
	else
		ret = 1;
	return ret > 0 ? json_reader_fail(r->json, "a bin is [index, ticks]") : ret;
}

static int read_bins(struct reader *r, void *member)
{
	struct profile_histogram *histogram = member;
	struct profile_bin bin = { 0, 0 };
	struct profile_bin *exact;
	size_t capacity = 0;
	int ret;

	ret = json_reader_array(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		uint64_t previous = bin.index;

		ret = read_bin(r, &bin);
		if (ret)
			return ret;
		if (histogram->nr_bins && bin.index <= previous)
			return json_reader_fail(r->json, "bins do not ascend");
		if (grow((void **)&histogram->bins, &capacity, histogram->nr_bins + 1, sizeof(bin)))
			return read_no_memory(r);
		histogram->bins[histogram->nr_bins++] = bin;
	}
	/*
	 * Shrinks the array, because doubling leaves up to half of it unused, and bins are most of
	 * a profile.
	 */
	if (!ret && histogram->nr_bins) {
		exact = realloc(histogram->bins, histogram->nr_bins * sizeof(*exact));
		if (exact)
			histogram->bins = exact;
	}
	return ret;
}

int read_histogram(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_histogram, target, read_u32),
		FIELD(profile_histogram, object, read_u32),
		FIELD(profile_histogram, pid, read_pid),
		FIELD(profile_histogram, process, read_string_or_null, .optional = true),
		FIELD(profile_histogram, cgroup, read_string_or_null),
		FIELD(profile_histogram, offset, read_u64),
		FIELD(profile_histogram, size, read_u64),
		FIELD(profile_histogram, width, read_u32),
		FIELD(profile_histogram, scale, read_u64),
		FIELD(profile_histogram, bytes_per_bin, read_u64),
		FIELD(profile_histogram, overflow, read_bool),
		FIELD(profile_histogram, stopped, read_string_or_null),
		FIELD(profile_histogram, dialect, read_string_or_null, .optional = true),
		FIELD(profile_histogram, buffer, read_u64, .optional = true),
		FIELD(profile_histogram, region, read_u32, .optional = true),
		{ .key = "bins", .read = read_bins },
		{ 0 },
	};

	return read_fields(r, fields, element);
}
