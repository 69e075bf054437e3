// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/output.h"
#include "profile/profile_io.h"
#include "report/report.h"
#include "symbol/functions.h"
#include "symbol/regions.h"

static int set_command(struct profile *profile, char **argv, struct error *err)
{
	size_t nr = 0, i;

	while (argv && argv[nr])
		nr++;
	if (!nr)
		return 0;
	profile->command = calloc(nr + 1, sizeof(*profile->command));
	for (i = 0; profile->command && i < nr; i++) {
		profile->command[i] = strdup(argv[i]);
		if (!profile->command[i])
			break;
	}
	if (!profile->command || i < nr)
		return error_set(err, -ENOMEM, "profile: out of memory");
	return 0;
}

static int write_file(const struct profile *profile, const char *path, struct error *err)
{
	struct output *out;
	int ret;

	ret = output_open(path, &out, err);
	if (ret)
		return ret;
	ret = profile_write(profile, output_stream(out), err);
	return output_finish(out, ret, err);
}

static int name_places(struct session *session, const struct sampling_options *options,
		       struct profile *profile, struct error *err)
{
	struct object_opener opener = { .open = session_open_object, .ctx = session };
	int ret;

	ret = regions_apply(profile, &opener, options->regions, options->nr_regions, err);
	return ret ?: functions_resolve(profile, &opener, err);
}

static void print_live(struct session *session)
{
	struct session_live live;

	session_live(session, &live);
	fprintf(stderr,
		"translations: %" PRIu64 " hits, %" PRIu64 " misses; %" PRIu64 " renewed; %" PRIu64
		" KiB of counters\n",
		live.hits, live.misses, live.renewed, live.memory / 1024);
}

static int print_summary(struct session *session, const struct sampling_options *options,
			 const struct profile *profile, const char *output, struct error *err)
{
	int ret;

	if (options->verbosity < 0)
		return 0;
	ret = report_summary(profile, color_enabled(stderr), terminal_width(stderr), stderr, err);
	if (ret)
		return ret;
	if (options->verbosity > 0)
		print_live(session);
	if (strcmp(output, "-"))
		fprintf(stderr, "profile: %s\n", output);
	return 0;
}

int result_write(struct session *session, const struct sampling_options *options, char **argv,
		 uint64_t cpu_ns, const char *output, struct error *err)
{
	struct profile *profile;
	int ret;

	ret = session_profile(session, &profile, err);
	if (ret)
		return ret;
	if (cpu_ns)
		profile->sampling.measured_hz = profile->ticks.total * 1e9 / cpu_ns;
	ret = set_command(profile, argv, err);
	if (!ret)
		ret = name_places(session, options, profile, err);
	if (!ret)
		ret = write_file(profile, output, err);
	if (!ret)
		ret = print_summary(session, options, profile, output, err);
	profile_free(profile);
	return ret;
}
