// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/timeline.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sample.h"

/* Half a second of each: the ticks of a function at 1 kHz, of a file at the paths where it ran. */
static void add_part(struct timeline *timeline, const char *first, const char *second,
		     const char *build_id)
{
	cleanup_profile struct profile *part = INTERVAL(
		0, { .object = first, .function = "f", .offset = 64, .pid = 5, .ticks = 200 },
		{ .object = second, .function = "f", .offset = 64, .pid = 6, .ticks = 300 });
	struct error err = { 0 };
	size_t i;

	for (i = 0; build_id && i < part->nr_objects; i++) {
		free(part->objects[i].build_id);
		part->objects[i].build_id = strdup(build_id);
	}
	cr_assert_eq(timeline_add(timeline, part, first, &err), 0, "%s", err.text);
}

static double ns_of(struct timeline *timeline, size_t part, const char *path, const char *build_id)
{
	const struct profile_object object = { .kind = PROFILE_FILE,
					       .path = (char *)path,
					       .build_id = (char *)build_id };

	return timeline_ns(timeline, &timeline->parts[part], &object, 64);
}

/* The sum has one function of a file with a build id, under one of its paths. */
Test(timeline, a_file_is_its_build_id)
{
	struct timeline timeline = { 0 };

	add_part(&timeline, "/opt/1/server", "/opt/2/server", "abcd");
	add_part(&timeline, "/opt/3/server", "/opt/3/server", "abcd");
	cr_assert_float_eq(ns_of(&timeline, 0, "/opt/1/server", "abcd"), 500e6, 1e3);
	cr_assert_float_eq(ns_of(&timeline, 1, "/opt/1/server", "abcd"), 500e6, 1e3);
	cr_assert_eq(ns_of(&timeline, 0, "/opt/1/server", "abce"), 0);
	timeline_free(&timeline);
}

Test(timeline, a_file_without_a_build_id_is_its_path)
{
	struct timeline timeline = { 0 };

	add_part(&timeline, "/opt/1/server", "/opt/2/server", NULL);
	cr_assert_float_eq(ns_of(&timeline, 0, "/opt/1/server", NULL), 200e6, 1e3);
	cr_assert_float_eq(ns_of(&timeline, 0, "/opt/2/server", NULL), 300e6, 1e3);
	timeline_free(&timeline);
}
