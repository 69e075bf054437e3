// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two profiles, separated by a zero byte. Their sum must be the same to the byte in either order,
 * and be readable; their difference must be writable, whatever the names.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "report/diff.h"

struct part {
	const char *text;
	size_t size;
};

/* False: they cannot be added up. */
static bool add_up(const struct part *first, const struct part *second, struct fuzz_text *result)
{
	struct profile_merger merger = { 0 };
	struct error err = { "", "" };
	struct profile *sum;
	int ret;

	ret = profile_merger_add(&merger, fuzz_profile(first->text, first->size), "a", &err);
	if (!ret)
		ret = profile_merger_add(&merger, fuzz_profile(second->text, second->size), "b",
					 &err);
	if (!ret)
		ret = profile_merger_finish(&merger, &sum, &err);
	profile_merger_free(&merger);
	if (ret) {
		fuzz_check_refusal(&err);
		return false;
	}
	fuzz_check(!profile_write(sum, fuzz_text_begin(result), &err), "a sum is written");
	fuzz_text_end(result);
	profile_free(sum);
	return true;
}

static void check_merge(const struct part *a, const struct part *b)
{
	struct fuzz_text one, other;
	struct profile *again;
	bool added = add_up(a, b, &one);

	fuzz_check(add_up(b, a, &other) == added, "what adds up does so in either order");
	if (!added)
		return;
	fuzz_check(one.size == other.size && !memcmp(one.text, other.text, one.size),
		   "a sum is the same in either order");
	again = fuzz_profile(one.text, one.size);
	fuzz_check(again != NULL, "a sum can be read");
	profile_free(again);
	fuzz_text_free(&one);
	fuzz_text_free(&other);
}

static void check_written(const struct diff *diff, enum report_format format)
{
	const struct report_options options = { .format = format, .target = REPORT_ALL_TARGETS };
	struct fuzz_text text;

	diff_write(diff, &options, fuzz_text_begin(&text));
	fuzz_text_end(&text);
	if (format == REPORT_JSON)
		fuzz_check_json(&text);
	else
		fuzz_check_plain(&text);
	fuzz_text_free(&text);
}

static void check_diff(const struct profile *old, const struct profile *new, enum report_by by)
{
	const struct diff_options options = { .by = by, .old_name = "old", .new_name = "new" };
	struct error err = { "", "" };
	struct diff diff = { 0 };
	size_t spared;

	if (diff_build(old, new, &options, &diff, &err)) {
		fuzz_check_refusal(&err);
	} else {
		fuzz_check(diff_above(&diff, 0, &spared) <= diff.nr, "of all rows");
		check_written(&diff, REPORT_TEXT);
		check_written(&diff, REPORT_CSV);
		check_written(&diff, REPORT_JSON);
	}
	diff_free(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct part a = { text, strnlen(text, size) };
	struct part b = { text + a.size, size - a.size };
	struct profile *old, *new;

	if (b.size) {
		b.text++;
		b.size--;
	}
	old = fuzz_profile(a.text, a.size);
	new = fuzz_profile(b.text, b.size);
	if (old && new) {
		check_merge(&a, &b);
		check_diff(old, new, REPORT_FUNCTIONS);
		check_diff(old, new, REPORT_OBJECTS);
	}
	profile_free(old);
	profile_free(new);
	return 0;
}
