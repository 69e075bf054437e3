// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/callers_hints.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/callers.h"

enum { MAX = 8 };

static struct profile *profile;

/* Two roots: of chains that are complete, and of those that were cut where there is no rule. */
enum { COMPLETE = -1, NO_RULE = -2 };

static void *room(size_t size)
{
	void *made = calloc(MAX, size);

	cr_assert(made);
	return made;
}

static void begin(void)
{
	profile = profile_new();
	cr_assert(profile);
	profile->objects = room(sizeof(*profile->objects));
	profile->callers = room(sizeof(*profile->callers));
	profile->callers->sites = room(sizeof(*profile->callers->sites));
	profile->callers->nodes = room(sizeof(*profile->callers->nodes));
	profile->callers->roots = room(sizeof(*profile->callers->roots));
	profile->callers->nr_roots = 2;
	profile->callers->roots[0].end = END_COMPLETE;
	profile->callers->roots[1].end = END_NO_RULE;
}

static void end(void)
{
	profile_free(profile);
}

TestSuite(callers_hints, .init = begin, .fini = end);

/* A frame in an object that is new: each has one site. */
static int32_t frame(int32_t parent, enum profile_object_kind kind, const char *path,
		     uint64_t ticks)
{
	struct profile_callers *callers = profile->callers;
	uint32_t id = (uint32_t)profile->nr_objects++;

	profile->objects[id] = (struct profile_object){ .kind = kind, .path = strdup(path) };
	callers->sites[callers->nr_sites++] = (struct profile_site){ .object = id };
	callers->nodes[callers->nr_nodes] =
		(struct profile_node){ .parent = parent, .site = id, .ticks = ticks };
	return (int32_t)callers->nr_nodes++;
}

static void check(const char *wanted)
{
	cr_assert_eq(callers_hint(profile), 0);
	cr_assert_eq(profile->nr_notes, wanted ? 1 : 0);
	if (wanted)
		cr_expect(strstr(profile->notes[0], wanted), "%s", profile->notes[0]);
}

Test(callers_hints, nothing_to_say)
{
	frame(frame(COMPLETE, PROFILE_FILE, "/usr/bin/redis", 90), PROFILE_FILE, "/lib/libc.so.6",
	      9);
	frame(NO_RULE, PROFILE_FILE, "/opt/rare", 9);
	check(NULL);
}

Test(callers_hints, without_rules)
{
	frame(COMPLETE, PROFILE_FILE, "/usr/bin/redis", 80);
	frame(frame(NO_RULE, PROFILE_FILE, "/opt/bare", 15), PROFILE_FILE, "/lib/libc.so.6", 5);
	check("20 ticks have no callers above /opt/bare, which has no call-frame information");
}

Test(callers_hints, java_without_frame_pointers)
{
	frame(COMPLETE, PROFILE_FILE, "/usr/lib/jvm/libjvm.so", 40);
	frame(NO_RULE, PROFILE_JIT, "[jit:7]", 60);
	check("60 ticks have no callers above code that was made at run time and keeps no frame "
	      "pointers: run java with -XX:+PreserveFramePointer");
}

Test(callers_hints, jit_without_frame_pointers)
{
	frame(NO_RULE, PROFILE_JIT, "[jit:7]", 60);
	check("keeps no frame pointers");
	cr_expect(!strstr(profile->notes[0], "java"));
}

/* A frame that python made for its script is one of the script's functions. */
Test(callers_hints, python)
{
	int32_t python = frame(COMPLETE, PROFILE_FILE, "/usr/bin/python3.12", 30);

	frame(frame(python, PROFILE_JIT, "[jit:7]", 50), PROFILE_FILE, "/lib/libc.so.6", 20);
	check("30 ticks have callers in python itself and not in its script: run python3 -X perf");
}

Test(callers_hints, perl)
{
	frame(frame(COMPLETE, PROFILE_FILE, "/usr/bin/perl", 0), PROFILE_FILE, "/lib/libm.so.6", 7);
	check("7 ticks have callers in perl itself");
}
