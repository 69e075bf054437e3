// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/callers_hints.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "profile/callers.h"
#include "naming/functions.h"

/* So a file looks that rustc has made. */
__asm__(".pushsection .comment\n"
	".string \"rustc version 1.95.0 (of a test)\"\n"
	".popsection");

enum { MAX = 8 };

static struct profile *profile;

/* Roots: of chains that are complete, and of those that were cut. */
enum { COMPLETE = -1, NO_RULE = -2, DEEP = -3, NARROW = -4 };

static void *room(size_t size)
{
	void *made = calloc(MAX, size);

	cr_assert(made);
	return made;
}

static void begin(void)
{
	static const enum walk_end ends[] = { END_COMPLETE, END_NO_RULE, END_DEEP, END_32BIT };
	size_t i;

	profile = profile_new();
	cr_assert(profile);
	profile->objects = room(sizeof(*profile->objects));
	profile->functions = room(sizeof(*profile->functions));
	profile->histograms = room(sizeof(*profile->histograms));
	profile->targets = room(sizeof(*profile->targets));
	profile->nr_targets = 1;
	profile->targets[0].kind = strdup("run");
	profile->callers = room(sizeof(*profile->callers));
	profile->callers->sites = room(sizeof(*profile->callers->sites));
	profile->callers->nodes = room(sizeof(*profile->callers->nodes));
	profile->callers->roots = room(sizeof(*profile->callers->roots));
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		profile->callers->roots[profile->callers->nr_roots++].end = ends[i];
}

static void end(void)
{
	profile_free(profile);
}

TestSuite(callers_hints, .init = begin, .fini = end);

/* A frame in an object that is new: each has one site, and one function, which is named after it. */
static int32_t frame(int32_t parent, enum profile_object_kind kind, const char *path,
		     uint64_t ticks)
{
	struct profile_callers *callers = profile->callers;
	uint32_t id = (uint32_t)profile->nr_objects++;
	char *name;

	cr_assert_geq(asprintf(&name, "f%u", id), 0);
	profile->objects[id] = (struct profile_object){ .kind = kind, .path = strdup(path) };
	profile->functions[profile->nr_functions++] =
		(struct profile_function){ .object = id, .name = name, .size = 1, .ticks = ticks };
	callers->sites[callers->nr_sites++] = (struct profile_site){ .object = id };
	callers->nodes[callers->nr_nodes] =
		(struct profile_node){ .parent = parent, .site = id, .ticks = ticks };
	return (int32_t)callers->nr_nodes++;
}

static void check_opened(const struct object_opener *opener, const char *wanted)
{
	cr_assert_eq(callers_hint(profile, opener), 0);
	cr_assert_eq(profile->nr_notes, wanted ? 1 : 0);
	if (wanted)
		cr_expect(strstr(profile->notes[0], wanted), "%s", profile->notes[0]);
}

static void check(const char *wanted)
{
	check_opened(NULL, wanted);
}

static int open_path(void *ctx, uint32_t object, char *root, size_t root_size)
{
	int fd = open(profile->objects[object].path, O_RDONLY | O_CLOEXEC);

	(void)ctx;
	snprintf(root, root_size, "%s", "");
	return fd < 0 ? -errno : fd;
}

static const struct object_opener opener = { .open = open_path };

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
	check("20 ticks have no callers above f1 of /opt/bare, for which there is no call-frame "
	      "information: compile C with -fasynchronous-unwind-tables");
}

Test(callers_hints, without_rules_in_a_file)
{
	frame(NO_RULE, PROFILE_FILE, "/bin/true", 20);
	check_opened(&opener, "above f0 of /bin/true, for which there is no call-frame "
			      "information: compile C with");
}

Test(callers_hints, without_rules_by_rustc)
{
	frame(NO_RULE, PROFILE_FILE, "/proc/self/exe", 20);
	check_opened(&opener, "above f0 of /proc/self/exe, for which there is no call-frame "
			      "information: build it with -C force-unwind-tables=yes");
}

Test(callers_hints, file_that_is_gone)
{
	frame(NO_RULE, PROFILE_FILE, "/opt/gone", 20);
	check_opened(&opener, "compile C with");
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

Test(callers_hints, recursion)
{
	frame(COMPLETE, PROFILE_FILE, "/usr/bin/redis", 95);
	frame(frame(DEEP, PROFILE_FILE, "/opt/deep", 0), PROFILE_FILE, "/lib/libc.so.6", 5);
	check("5 ticks are more than 512 frames deep, mostly in a recursion of f1: they count for "
	      "it, and not for what called it first");
}

Test(callers_hints, narrow)
{
	frame(NARROW, PROFILE_FILE, "/opt/old", 60);
	check("60 ticks are of 32-bit programs, whose callers are not followed");
}

/* A frame that python made for its script is one of the script's functions. */
Test(callers_hints, python)
{
	int32_t python = frame(COMPLETE, PROFILE_FILE, "/usr/bin/python3.12", 30);

	frame(frame(python, PROFILE_JIT, "[jit:7]", 50), PROFILE_FILE, "/lib/libc.so.6", 20);
	check("30 ticks show functions of python itself and none of the script: python3 -X perf, from "
	      "3.12 on");
}

Test(callers_hints, perl)
{
	frame(frame(COMPLETE, PROFILE_FILE, "/usr/bin/perl", 0), PROFILE_FILE, "/lib/libm.so.6", 7);
	check("7 ticks show functions of perl itself and none of the script: perl names none");
}

/* Without callers a library's ticks may be of anybody. */
static void check_flat(const char *path, uint64_t ticks, const char *wanted)
{
	struct profile_bin *bins = calloc(2, sizeof(*bins));
	size_t i;

	cr_assert(bins);
	profile_callers_free(profile->callers);
	profile->callers = NULL;
	bins[0].count = ticks;
	bins[1].count = 100 - ticks;
	for (i = 0; i < 2; i++) {
		const char *paths[] = { path, "/lib/libc.so.6" };

		profile->objects[i] = (struct profile_object){ .path = strdup(paths[i]) };
		profile->histograms[i] =
			(struct profile_histogram){ .object = (uint32_t)i,
						    .bytes_per_bin = 1,
						    .bins = calloc(1, sizeof(*bins)),
						    .nr_bins = 1 };
		cr_assert(profile->histograms[i].bins);
		profile->histograms[i].bins[0] = bins[i];
	}
	free(bins);
	profile->nr_objects = profile->nr_histograms = 2;
	check(wanted);
}

Test(callers_hints, python_without_callers)
{
	check_flat("/usr/lib/libpython3.11.so.1.0", 60,
		   "60 ticks show functions of python itself and none of the script");
}

Test(callers_hints, ruby_without_callers)
{
	check_flat("/usr/lib/libruby-3.1.so.3.1", 60, "ruby --yjit --yjit-perf");
}

Test(callers_hints, php_without_callers)
{
	check_flat("/usr/bin/php8.2", 60, "-d opcache.jit_debug=16");
}

Test(callers_hints, perl_without_callers)
{
	check_flat("/usr/bin/perl", 60, "Devel::NYTProf");
}

Test(callers_hints, little_of_a_script)
{
	check_flat("/usr/bin/perl", 9, NULL);
}
