// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/callers_hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "profile/callers.h"

/* Share of all ticks with chains below which there is no hint. */
enum { WORTH_PERCENT = 10 };

/* What an object is, by its file's name. */
enum program { OTHER, PYTHON, PERL, JAVA };

struct hints {
	const struct profile *profile;
	uint64_t all;
	uint64_t scripts[JAVA]; /* by interpreter: ticks without code that it made for the script */
	uint64_t *unknown; /* by object: ticks whose callers it hides */
};

/* What is in a chain. */
struct chain_of {
	uint32_t root;
	uint32_t outermost; /* object */
	enum program program;
	bool has_jit;
};

static enum program program_of(const struct profile_object *object)
{
	const char *base;

	if (object->kind != PROFILE_FILE || !object->path)
		return OTHER;
	base = text_basename(object->path);
	if (!strncmp(base, "python3", 7) || !strncmp(base, "libpython3", 10))
		return PYTHON;
	return !strcmp(base, "perl") || !strncmp(base, "libperl.so", 10) ? PERL :
	       !strncmp(base, "libjvm.so", 9)				 ? JAVA :
									   OTHER;
}

static struct chain_of extend(const struct profile *profile, const struct profile_node *node,
			      const struct chain_of *chains)
{
	const struct profile_callers *callers = profile->callers;
	const struct profile_object *object;
	struct chain_of chain = { .outermost = UINT32_MAX };
	uint32_t id;

	if (node->parent >= 0)
		chain = chains[node->parent];
	else
		chain.root = (uint32_t)(-1 - node->parent);
	if (node->site == PROFILE_SITE_KERNEL)
		return chain;
	id = callers->sites[node->site].object;
	object = &profile->objects[id];
	if (chain.outermost == UINT32_MAX)
		chain.outermost = id;
	chain.has_jit = chain.has_jit || object->kind == PROFILE_JIT;
	chain.program = program_of(object) ?: chain.program;
	return chain;
}

static void add(struct hints *hints, const struct chain_of *chain, uint64_t ticks)
{
	enum walk_end end = hints->profile->callers->roots[chain->root].end;

	hints->all += ticks;
	if (end == END_NO_RULE && chain->outermost != UINT32_MAX)
		hints->unknown[chain->outermost] += ticks;
	if (chain->program && chain->program != JAVA && !chain->has_jit)
		hints->scripts[chain->program] += ticks;
}

static bool is_worth(const struct hints *hints, uint64_t ticks)
{
	return ticks && ticks >= hints->all * WORTH_PERCENT / 100;
}

static int note_unknown(const struct hints *hints, struct profile *profile)
{
	uint64_t jit = 0, most = 0;
	size_t i, hidden = 0;
	bool java = false;

	for (i = 0; i < profile->nr_objects; i++) {
		java = java || program_of(&profile->objects[i]) == JAVA;
		if (profile->objects[i].kind == PROFILE_JIT)
			jit += hints->unknown[i];
		else if (hints->unknown[i] > most)
			most = hints->unknown[hidden = i];
	}
	if (is_worth(hints, most) &&
	    profile_note(profile,
			 "%llu ticks have no callers above %s, which has no call-frame "
			 "information: compile it with -fasynchronous-unwind-tables",
			 (unsigned long long)most, profile->objects[hidden].path))
		return -ENOMEM;
	if (!is_worth(hints, jit))
		return 0;
	return profile_note(profile,
			    "%llu ticks have no callers above code that was made at run time and "
			    "keeps no frame pointers%s",
			    (unsigned long long)jit,
			    java ? ": run java with -XX:+PreserveFramePointer" : "");
}

static int note_scripts(const struct hints *hints, struct profile *profile)
{
	int ret = 0;

	if (is_worth(hints, hints->scripts[PYTHON]))
		ret = profile_note(
			profile,
			"%llu ticks have callers in python itself and not in its script: "
			"run python3 -X perf, from version 3.12 on",
			(unsigned long long)hints->scripts[PYTHON]);
	if (!ret && is_worth(hints, hints->scripts[PERL]))
		ret = profile_note(profile,
				   "%llu ticks have callers in perl itself and not in its script, "
				   "which perl tells nobody",
				   (unsigned long long)hints->scripts[PERL]);
	return ret;
}

int callers_hint(struct profile *profile)
{
	const struct profile_callers *callers = profile->callers;
	cleanup_free struct chain_of *chains = NULL;
	cleanup_free uint64_t *unknown = NULL;
	struct hints hints = { .profile = profile };
	size_t i;
	int ret;

	if (!callers)
		return 0;
	chains = calloc(callers->nr_nodes + 1, sizeof(*chains));
	hints.unknown = unknown = calloc(profile->nr_objects + 1, sizeof(*unknown));
	if (!chains || !unknown)
		return -ENOMEM;
	for (i = 0; i < callers->nr_roots; i++)
		hints.all += callers->roots[i].ticks;
	for (i = 0; i < callers->nr_nodes; i++) {
		chains[i] = extend(profile, &callers->nodes[i], chains);
		add(&hints, &chains[i], callers->nodes[i].ticks);
	}
	ret = note_unknown(&hints, profile);
	return ret ?: note_scripts(&hints, profile);
}
