// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "record/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/output.h"
#include "record/symbolizer.h"
#include "report/text.h"

#define INTERVAL_MS 1000

/* Names need symbol tables, some ms each time: at 1 s, 2 s, 4 s ... */
static bool name_now(unsigned int updates)
{
	return !(updates & (updates - 1));
}

static void find_hottest(struct progress *progress)
{
	static const struct sampling_options all_text;
	struct profile *profile;
	struct error err;

	if (session_peek(progress->session, &profile, &err))
		return;
	if (!symbolizer_once(progress->session, &all_text, profile, &err) && profile->nr_functions)
		snprintf(progress->hottest, sizeof(progress->hottest), "%s",
			 profile->functions[0].name);
	profile_free(profile);
}

void progress_begin(struct progress *progress, struct session *session, bool wanted)
{
	memset(progress, 0, sizeof(*progress));
	progress->session = session;
	progress->shown = wanted && terminal_attached(stderr);
}

int progress_timeout(const struct progress *progress)
{
	return progress->shown ? INTERVAL_MS : -1;
}

void progress_update(struct progress *progress, bool paused)
{
	struct session_live live;
	double seconds;

	if (!progress->shown)
		return;
	if (name_now(++progress->updates))
		find_hottest(progress);
	session_live(progress->session, &live);
	seconds = live.elapsed_ns / 1e9;
	fprintf(stderr, "\r\033[K%s%.0f s  %" PRIu64 " ticks  %.0f/s  %" PRIu64 " lost  ",
		paused ? "paused  " : "", seconds, live.total,
		seconds > 0 ? live.total / seconds : 0, live.lost);
	text_write(stderr, progress->hottest, 40);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
