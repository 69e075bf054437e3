// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "live.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define MAX_ARGS 64

void live_begin(struct live *live)
{
	memset(live, 0, sizeof(*live));
	snprintf(live->dir, sizeof(live->dir), "/tmp/bpfprofil-live-XXXXXX");
	cr_assert_not_null(mkdtemp(live->dir), "%s: %s", live->dir, strerror(errno));
	snprintf(live->profile, sizeof(live->profile), "%s/profile.json", live->dir);
}

void live_end(struct live *live)
{
	struct child_end end;

	child_run(&end, NULL, ARGS("rm", "-rf", live->dir));
	child_end_free(&end);
	child_end_free(&live->end);
	json_object_put(live->doc);
	live->doc = NULL;
}

const char *live_path(struct live *live, const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", live->dir, name);
	return path;
}

const char *live_copy(struct live *live, const char *workload, const char *name)
{
	const char *copy = live_path(live, name);
	struct child_end end;

	child_run(&end, NULL, ARGS("cp", workload, copy));
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	return copy;
}

static size_t append(const char **argv, size_t n, size_t max, const char *const more[])
{
	for (; *more; more++) {
		cr_assert_lt(n + 1, max);
		argv[n++] = *more;
	}
	argv[n] = NULL;
	return n;
}

void live_command(struct live *live, const char **argv, size_t max, const char *const options[],
		  const char *const command[], bool treetime)
{
	size_t n = 0;

	n = append(argv, n, max, ARGS(BPFPROFIL_BIN, "run", "-o", live->profile));
	n = append(argv, n, max, options);
	n = append(argv, n, max, ARGS("--"));
	if (treetime)
		n = append(argv, n, max, ARGS(WORKLOAD("treetime"), live_path(live, "cpu_ns")));
	append(argv, n, max, command);
}

void live_load(struct live *live)
{
	json_object_put(live->doc);
	live->doc = doc_load(live->profile);
}

static double read_cpu_ns(struct live *live)
{
	FILE *file = fopen(live_path(live, "cpu_ns"), "re");
	double ns = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%lf", &ns) != 1)
		ns = 0;
	fclose(file);
	return ns;
}

void live_try(struct live *live, const char *const options[], const char *const command[])
{
	const char *argv[MAX_ARGS];

	live_command(live, argv, MAX_ARGS, options, command, true);
	child_end_free(&live->end);
	child_run(&live->end, NULL, argv);
	live->cpu_ns = read_cpu_ns(live);
	if (!access(live->profile, R_OK))
		live_load(live);
}

void live_run(struct live *live, const char *const options[], const char *const command[])
{
	live_try(live, options, command);
	cr_assert_eq(live->end.status, 0, "exit %d: %s", live->end.status, live->end.err);
	cr_assert_not_null(live->doc, "no profile: %s", live->end.err);
	doc_assert_sound(live->doc);
	cr_assert(json_object_get_boolean(doc_get(live->doc, "complete")));
	cr_assert_gt(live->cpu_ns, 0);
}

void live_assert_time(struct live *live, double stretches)
{
	double period = (double)doc_number(live->doc, "sampling.period_ns");
	double ticks = (double)doc_number(live->doc, "ticks.total");
	double expected = live->cpu_ns / period;
	/*
	 * A clock of fixed period and random phase hits a stretch of f periods beyond the whole
	 * ones once or not: variance f(1 - f), which is 1/6 on the average.
	 */
	double error = sqrt(stretches / 6);
	double allowed = fmax(0.02 * expected, 3 * error);

	cr_expect_leq(fabs(ticks - expected), allowed,
		      "%.0f ticks for a CPU time of %.0f periods, allowed are +- %.0f: %s", ticks,
		      expected, allowed, json_object_to_json_string(doc_get(live->doc, "ticks")));
}
