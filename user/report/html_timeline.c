// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The hottest functions of a sum in each of its parts, for a map over time. */
#include <inttypes.h>

#include "base/json_text.h"
#include "report/html_impl.h"

#define FUNCTIONS_MAX 60

/* [started, length in nanoseconds, ticks, nanoseconds of CPU time] */
static void put_parts(const struct timeline *timeline, FILE *data)
{
	size_t i;

	for (i = 0; i < timeline->nr; i++) {
		const struct timeline_part *part = &timeline->parts[i];

		fputs(i ? ",\n[" : "\n[", data);
		json_text_string(data, part->started);
		fprintf(data, ",%" PRIu64 ",%" PRIu64 ",%.0f]", part->duration_ns, part->ticks,
			part->ns);
	}
}

void html_timeline(struct timeline *timeline, const struct profile *profile, FILE *data)
{
	size_t i, j;

	fputs(",\n\"timeline\": { \"parts\": [", data);
	put_parts(timeline, data);
	fputs("],\n\"functions\": [", data);
	for (i = 0; i < profile->nr_functions && i < FUNCTIONS_MAX; i++) {
		const struct profile_function *function = &profile->functions[i];

		fprintf(data, "%s\n[%zu,[", i ? "," : "", i);
		for (j = 0; j < timeline->nr; j++)
			fprintf(data, "%s%.0f", j ? "," : "",
				timeline_ns(timeline, &timeline->parts[j],
					    &profile->objects[function->object], function->offset));
		fputs("]]", data);
	}
	fputs("] }", data);
}
