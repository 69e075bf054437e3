// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/nameless.h"

#include <stdio.h>
#include <string.h>

#include "profile/profile_notes.h"

/* Share of all ticks below which missing names are not worth a note. */
#define WORTH_PERCENT 1

void nameless_add(struct nameless *nameless, const struct profile *profile, uint32_t object,
		  uint64_t ticks, uint64_t unnamed)
{
	enum profile_object_kind kind = profile->objects[object].kind;
	struct nameless_kind *sum = kind == PROFILE_JIT ? &nameless->jit : &nameless->files;

	nameless->named += ticks;
	if (!unnamed || (kind != PROFILE_JIT && kind != PROFILE_FILE))
		return;
	sum->ticks += unnamed;
	sum->nr_objects++;
	if (unnamed <= sum->most)
		return;
	sum->most = unnamed;
	sum->object = object;
}

static bool has_worth(const struct nameless *nameless, const struct nameless_kind *kind)
{
	return kind->ticks > nameless->named / 100 * WORTH_PERCENT;
}

/* " and 3 others", or "". */
static const char *others(const struct nameless_kind *kind, char *text, size_t room)
{
	*text = '\0';
	if (kind->nr_objects > 1)
		snprintf(text, room, " and %zu other%s", kind->nr_objects - 1,
			 kind->nr_objects > 2 ? "s" : "");
	return text;
}

static double share(const struct nameless *nameless, const struct nameless_kind *kind)
{
	return 100 * (double)kind->ticks / (double)nameless->named;
}

bool nameless_is_of_files(const char *note)
{
	return !strncmp(note, NOTE_NAMELESS_FUNCTIONS, strlen(NOTE_NAMELESS_FUNCTIONS));
}

int nameless_note(const struct nameless *nameless, struct profile *profile)
{
	const struct profile_object *file = &profile->objects[nameless->files.object];
	char more[48];
	int ret = 0;

	if (has_worth(nameless, &nameless->jit))
		ret = profile_note(
			profile,
			NOTE_NAMELESS_CODE
			"%s%s" NOTE_SHARE "%.1f%% of the ticks," NOTE_AFTER_CODE
			": /tmp/perf-PID.map has them "
			"when the program writes it, as node --perf-basic-prof, python3 -X perf "
			"and java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (or with "
			"an agent) do",
			profile->objects[nameless->jit.object].path,
			others(&nameless->jit, more, sizeof(more)),
			share(nameless, &nameless->jit));
	if (!ret && has_worth(nameless, &nameless->files))
		ret = profile_note(profile,
				   NOTE_NAMELESS_FUNCTIONS
				   "%s%s%s%s" NOTE_SHARE "%.1f%% of the ticks" NOTE_AFTER_FUNCTIONS
				   "of debug symbols (-dbgsym, -debuginfo) has them, for this "
				   "profile too, or a server in DEBUGINFOD_URLS, which report "
				   "--inline and the next profile ask",
				   file->path, others(&nameless->files, more, sizeof(more)),
				   file->build_id ? NOTE_BUILD_ID : "",
				   file->build_id ? file->build_id : "",
				   share(nameless, &nameless->files));
	return ret;
}
