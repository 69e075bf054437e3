// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/callers_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "profile/callers.h"
#include "naming/functions.h"
#include "reader/reader.h"

/* Below these shares of all ticks, there is no hint. A few cut chains hardly affect the rest. */
enum { WORTH_PERCENT = 10, CUT_PERCENT = 1 };

/* The kind of an object, by its file's name. */
enum program { OTHER, PYTHON, PERL, RUBY, PHP, JAVA };

static const struct {
	const char *begins;
	enum program program;
	bool whole; /* the name must not be longer */
} program_names[] = {
	{ "python3", PYTHON, false }, { "libpython3", PYTHON, false },
	{ "perl", PERL, true },	      { "libperl.so", PERL, false },
	{ "ruby", RUBY, false },      { "libruby", RUBY, false },
	{ "php", PHP, false },	      { "libphp", PHP, false },
	{ "libjvm.so", JAVA, false },
};

struct hints {
	const struct profile *profile;
	const struct object_opener *opener; /* NULL: files cannot be opened */
	struct profile_index *index;
	uint64_t all;
	uint64_t scripts[JAVA]; /* by interpreter: ticks outside of code that it compiled */
	uint64_t ends[WALK_END_COUNT];
	uint64_t *unknown, *unread; /* by object: ticks whose callers it hides */
	uint64_t *hides, *deep; /* by function: such ticks, and ticks of chains cut for depth */
};

/* Facts of a chain. */
struct chain_of {
	uint32_t root;
	uint32_t outermost; /* site */
	enum program program;
	bool has_jit;
};

static enum program program_of(const struct profile_object *object)
{
	const char *base;
	size_t i;

	if (object->kind != PROFILE_FILE || !object->path)
		return OTHER;
	base = text_basename(object->path);
	for (i = 0; i < sizeof(program_names) / sizeof(program_names[0]); i++)
		if (!strncmp(base, program_names[i].begins, strlen(program_names[i].begins)) &&
		    (!program_names[i].whole || !base[strlen(program_names[i].begins)]))
			return program_names[i].program;
	return OTHER;
}

static struct chain_of extend(const struct profile *profile, const struct profile_node *node,
			      const struct chain_of *chains)
{
	const struct profile_callers *callers = profile->callers;
	const struct profile_object *object;
	struct chain_of chain = { .outermost = UINT32_MAX };

	if (node->parent >= 0)
		chain = chains[node->parent];
	else
		chain.root = (uint32_t)(-1 - node->parent);
	if (node->site == PROFILE_SITE_KERNEL)
		return chain;
	object = &profile->objects[callers->sites[node->site].object];
	if (chain.outermost == UINT32_MAX)
		chain.outermost = node->site;
	chain.has_jit = chain.has_jit || object->kind == PROFILE_JIT;
	chain.program = program_of(object) ?: chain.program;
	return chain;
}

/* Adds ticks to the function of a site, if it has one. */
static void add_to_function(const struct hints *hints, const struct profile_site *site,
			    uint64_t *ticks, uint64_t n)
{
	const struct profile_function *function =
		profile_index_find(hints->index, site->object, site->offset, 1);

	if (function)
		ticks[function - hints->profile->functions] += n;
}

static void add(struct hints *hints, const struct chain_of *chain, uint64_t ticks)
{
	const struct profile_callers *callers = hints->profile->callers;
	const enum walk_end end = callers->roots[chain->root].end;
	const struct profile_site *site;

	if (!ticks)
		return;
	hints->all += ticks;
	hints->ends[end] += ticks;
	if (chain->program && chain->program != JAVA && !chain->has_jit)
		hints->scripts[chain->program] += ticks;
	if (chain->outermost == UINT32_MAX)
		return;
	site = &callers->sites[chain->outermost];
	if (end == END_DEEP)
		add_to_function(hints, site, hints->deep, ticks);
	if (end == END_LATE)
		hints->unread[site->object] += ticks;
	if (end != END_NO_RULE)
		return;
	hints->unknown[site->object] += ticks;
	add_to_function(hints, site, hints->hides, ticks);
}

static int add_chains(struct hints *hints)
{
	const struct profile_callers *callers = hints->profile->callers;
	cleanup_free struct chain_of *chains = calloc(callers->nr_nodes + 1, sizeof(*chains));
	size_t i;

	if (!chains)
		return -ENOMEM;
	for (i = 0; i < callers->nr_roots; i++) {
		hints->all += callers->roots[i].ticks;
		hints->ends[callers->roots[i].end] += callers->roots[i].ticks;
	}
	for (i = 0; i < callers->nr_nodes; i++) {
		chains[i] = extend(hints->profile, &callers->nodes[i], chains);
		add(hints, &chains[i], callers->nodes[i].ticks);
	}
	return 0;
}

/* Without callers, only ticks in the interpreter itself are known. */
static void add_histograms(struct hints *hints)
{
	const struct profile *profile = hints->profile;
	enum program program;
	uint64_t ticks;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		/* A program's own calls have ticks of other clocks. */
		if (profile->nr_targets &&
		    !profile_target_counts(profile, profile->histograms[i].target))
			continue;
		program = program_of(&profile->objects[profile->histograms[i].object]);
		ticks = profile_histogram_ticks(&profile->histograms[i]);
		hints->all += ticks;
		if (program && program != JAVA)
			hints->scripts[program] += ticks;
	}
}

static bool is_worth(const struct hints *hints, uint64_t ticks, unsigned int percent)
{
	return ticks && ticks >= hints->all * percent / 100;
}

/* --- text without rules ----------------------------------------------------------------------- */

/* Advises how to get rules for a file's functions. */
static const char *advice(const struct hints *hints, uint32_t object)
{
	const char *text = "compile C with -fasynchronous-unwind-tables, and give assembler code "
			   ".cfi directives";
	char root[FD_PATH * 4] = "";
	enum reader_maker maker = MADE_BY_OTHERS;
	cleanup_fd int fd = -1;

	if (hints->opener)
		fd = hints->opener->open(hints->opener->ctx, object, root, sizeof(root));
	if (fd >= 0)
		maker = reader_maker(fd);
	if (maker == MADE_BY_GO)
		text = "Go's assembler code often tells nothing of its frame, and no option of a "
		       "build changes that";
	else if (maker == MADE_BY_RUST)
		text = "build it with -C force-unwind-tables=yes";
	return text;
}

/* The function with the most ticks, of one object or of any (UINT32_MAX); NULL: none has ticks. */
static const struct profile_function *hottest(const struct profile *profile, const uint64_t *ticks,
					      uint32_t object)
{
	const struct profile_function *function, *found = NULL;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < profile->nr_functions; i++) {
		function = &profile->functions[i];
		if ((object != UINT32_MAX && function->object != object) || ticks[i] <= most)
			continue;
		most = ticks[i];
		found = function;
	}
	return found;
}

static int note_file(const struct hints *hints, uint32_t object, struct profile *profile)
{
	const struct profile_function *function = hottest(profile, hints->hides, object);

	return profile_note(profile,
			    "%llu ticks have no callers above %.200s of %s, for which there is no "
			    "call-frame information: %s",
			    (unsigned long long)hints->unknown[object],
			    function ? function->name : "code", profile->objects[object].path,
			    advice(hints, object));
}

static int note_unknown(const struct hints *hints, struct profile *profile)
{
	uint64_t jit = 0, most = 0;
	size_t i, hidden = 0;
	bool java = false;
	int ret = 0;

	for (i = 0; i < profile->nr_objects; i++) {
		java = java || program_of(&profile->objects[i]) == JAVA;
		if (profile->objects[i].kind == PROFILE_JIT)
			jit += hints->unknown[i];
		else if (hints->unknown[i] > most)
			most = hints->unknown[hidden = i];
	}
	if (is_worth(hints, most, WORTH_PERCENT))
		ret = note_file(hints, (uint32_t)hidden, profile);
	if (ret || !is_worth(hints, jit, WORTH_PERCENT))
		return ret;
	return profile_note(profile,
			    "%llu ticks have no callers above code that was made at run time and "
			    "keeps no frame pointers%s",
			    (unsigned long long)jit,
			    java ? ": run java with -XX:+PreserveFramePointer" : "");
}

/* --- other cuts, and scripts ------------------------------------------------------------------ */

static int note_deep(const struct hints *hints, struct profile *profile)
{
	const struct profile_function *function = hottest(profile, hints->deep, UINT32_MAX);

	if (!function || !is_worth(hints, hints->ends[END_DEEP], CUT_PERCENT))
		return 0;
	return profile_note(profile,
			    "%llu ticks are more than %d frames deep, mostly in a recursion of "
			    "%.200s: they count for it, and not for what called it first",
			    (unsigned long long)hints->ends[END_DEEP], WALK_FRAMES, function->name);
}

/* A few late ticks are normal: those before a file has been read. */
static int note_unread(const struct hints *hints, struct profile *profile)
{
	size_t i, most = 0;

	for (i = 1; i < profile->nr_objects; i++)
		if (hints->unread[i] > hints->unread[most])
			most = i;
	if (!is_worth(hints, hints->ends[END_LATE], WORTH_PERCENT))
		return 0;
	return profile_note(
		profile,
		"%llu ticks have no callers above files whose call-frame information was "
		"not read, or not yet: most are of %.256s",
		(unsigned long long)hints->ends[END_LATE],
		profile->objects[most].path ?: "code in memory");
}

static int note_32bit(const struct hints *hints, struct profile *profile)
{
	if (!is_worth(hints, hints->ends[END_32BIT], CUT_PERCENT))
		return 0;
	return profile_note(profile,
			    "%llu ticks are of 32-bit programs, whose callers are not followed",
			    (unsigned long long)hints->ends[END_32BIT]);
}

static const struct {
	const char *name, *hint;
} of_scripts[JAVA] = {
	[PYTHON] = { "python", "python3 -X perf, from 3.12 on, names them for --callers" },
	[PERL] = { "perl", "perl names none, but Devel::NYTProf profiles scripts" },
	[RUBY] = { "ruby", "ruby --yjit --yjit-perf, from 3.3 on, names those that it compiles" },
	[PHP] = { "php", "php -d opcache.enable_cli=1 -d opcache.jit=function -d "
			 "opcache.jit_buffer_size=64M -d opcache.jit_debug=16 names them" },
};

static int note_scripts(const struct hints *hints, struct profile *profile)
{
	enum program program;
	int ret = 0;

	for (program = PYTHON; program < JAVA && !ret; program++)
		if (is_worth(hints, hints->scripts[program], WORTH_PERCENT))
			ret = profile_note(profile,
					   "%llu ticks show functions of %s itself and none of "
					   "the script: %s",
					   (unsigned long long)hints->scripts[program],
					   of_scripts[program].name, of_scripts[program].hint);
	return ret;
}

static int note_all(struct hints *hints, struct profile *profile)
{
	int ret = 0;

	if (profile->callers)
		ret = add_chains(hints);
	else
		add_histograms(hints);
	if (!ret && profile->callers)
		ret = note_unknown(hints, profile) ?: note_unread(hints, profile);
	if (!ret)
		ret = note_deep(hints, profile) ?: note_32bit(hints, profile);
	return ret ? ret : note_scripts(hints, profile);
}

int callers_hint(struct profile *profile, const struct object_opener *opener)
{
	cleanup_free uint64_t *unknown = calloc(profile->nr_objects + 1, 2 * sizeof(*unknown));
	cleanup_free uint64_t *functions =
		calloc(profile->nr_functions + 1, 2 * sizeof(*functions));
	struct hints hints = { .profile = profile,
			       .opener = opener,
			       .index = profile_index_new(profile),
			       .unknown = unknown,
			       .unread = unknown ? unknown + profile->nr_objects + 1 : NULL,
			       .hides = functions,
			       .deep = functions + profile->nr_functions };
	int ret = unknown && functions && hints.index ? note_all(&hints, profile) : -ENOMEM;

	profile_index_free(hints.index);
	return ret;
}
