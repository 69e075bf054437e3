// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/nameless.h"

#include <stdio.h>
#include <string.h>

#include "profile/profile_notes.h"
#include "symbol/debug_package.h"

/* Share of all ticks below which missing names are not worth a note. */
#define WORTH_PERCENT 10

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

/* Who writes down the names of what a runtime compiles; objects are called [node:77]. */
static const char *advice(const char *object)
{
	if (!strncmp(object, "[node:", strlen("[node:")))
		return "node --perf-basic-prof writes them";
	if (!strncmp(object, "[java:", strlen("[java:")))
		return "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit writes them";
	return "/tmp/perf-PID.map has them if the program writes it";
}

static int note_code(const struct nameless *nameless, struct profile *profile)
{
	const struct nameless_kind *jit = &nameless->jit;
	const char *path = profile->objects[jit->object].path;
	char more[48];

	return profile_note(profile,
			    NOTE_NAMELESS_CODE "%s%s" NOTE_SHARE
					       "%.1f%% of the ticks," NOTE_AFTER_CODE ": %s",
			    path, others(jit, more, sizeof(more)), share(nameless, jit),
			    advice(path));
}

static int note_files(const struct nameless *nameless, bool look, struct profile *profile)
{
	const struct nameless_kind *files = &nameless->files;
	const struct profile_object *file = &profile->objects[files->object];
	char more[48], package[PACKAGE_BYTES] = "its debug symbols, or build it with them";
	/* Of each that was opened its text is known. */
	bool opened = file->nr_text || file->build_id;

	if (look && opened)
		debug_package(file, package);
	return profile_note(profile,
			    NOTE_NAMELESS_FUNCTIONS
			    "%s%s" NOTE_SHARE "%.1f%% of the ticks" NOTE_AFTER_FUNCTIONS "%s%s",
			    file->path, others(files, more, sizeof(more)), share(nameless, files),
			    opened ? "install " : "gone before it could be opened",
			    opened ? package : "");
}

int nameless_note(const struct nameless *nameless, bool look, struct profile *profile)
{
	int ret = 0;

	if (has_worth(nameless, &nameless->jit))
		ret = note_code(nameless, profile);
	if (!ret && has_worth(nameless, &nameless->files))
		ret = note_files(nameless, look, profile);
	return ret;
}
