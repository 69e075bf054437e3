// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include <dwarf.h>

#include "symbol/demangle.h"
#include "symbol/lines.h"

/* Deeper than compilers nest blocks and inlining, and shallow enough for our stack. */
#define DEPTH_MAX 512

struct walk {
	struct unit *unit;
	bool everywhere; /* into types and foreign functions too */
};

/*
 * Does the DIE cover any place? With claim, it becomes their function: the walk goes from outer to
 * inner, so that the last to claim is the innermost.
 */
static bool covers(const struct walk *walk, Dwarf_Die *die, bool claim, bool *has_ranges)
{
	struct unit *unit = walk->unit;
	Dwarf_Addr base, begin, end;
	bool found = false;
	ptrdiff_t at = 0;
	size_t i;

	*has_ranges = false;
	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		*has_ranges = true;
		for (i = unit_lower_bound(unit, begin); begin && i < unit->nr; i++) {
			if (unit->places[i].address >= end)
				break;
			found = true;
			if (!claim)
				break;
			unit->places[i].function = *die;
			unit->places[i].has_function = true;
		}
	}
	return found;
}

/* Is there anything for us among the DIE's children? */
static bool leads_on(const struct walk *walk, Dwarf_Die *die)
{
	bool has_ranges, found;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_entry_point:
		found = covers(walk, die, true, &has_ranges);
		return found || walk->everywhere;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		found = covers(walk, die, false, &has_ranges);
		return found || !has_ranges || walk->everywhere;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	default:
		return walk->everywhere;
	}
}

static void walk_children(const struct walk *walk, Dwarf_Die *parent, int depth)
{
	Dwarf_Die child;
	Dwarf_Off at, last = 0;

	if (depth == DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		/* A sibling reference that leads back would have no end. */
		at = dwarf_dieoffset(&child);
		if (at <= last)
			return;
		last = at;
		if (leads_on(walk, &child))
			walk_children(walk, &child, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

static bool all_found(const struct unit *unit)
{
	size_t i;

	for (i = 0; i < unit->nr; i++) {
		if (!unit->places[i].has_function)
			return false;
	}
	return true;
}

static const char *string_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = string_attribute(die, DW_AT_linkage_name);

	return name ? name : string_attribute(die, DW_AT_MIPS_linkage_name);
}

static int name_function(struct source_lines *lines, Dwarf_Die *die, const char **ret)
{
	const char *name = linkage_name(die);
	char *plain = NULL;

	*ret = NULL;
	if (name)
		plain = demangle(name);
	if (!plain)
		name = dwarf_diename(die) ? dwarf_diename(die) : name;
	if (!plain && !name)
		return 0;
	*ret = string_set_add(&lines->strings, plain ? plain : name);
	free(plain);
	return *ret ? 0 : -ENOMEM;
}

static int name_places(struct line_job *job)
{
	const struct unit *unit = &job->unit;
	const void *last = NULL;
	const char *name = NULL;
	int code = 0;
	size_t i;

	for (i = 0; !code && i < unit->nr; i++) {
		struct unit_place *place = &unit->places[i];

		if (!place->has_function)
			continue;
		if (place->function.addr != last)
			code = name_function(job->lines, &place->function, &name);
		last = place->function.addr;
		if (name)
			job->lines->lines[place->index].function = name;
	}
	return code;
}

int line_functions_resolve(struct line_job *job)
{
	struct walk walk = { .unit = &job->unit };
	Dwarf_Die die = job->unit.die, split;
	uint8_t type;

	/* A skeleton's functions are in its .dwo; without that there are only lines. */
	if (!dwarf_cu_info(die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton && split.addr) {
		line_job_guard(dwarf_cu_getdwarf(split.cu));
		die = split;
	}
	walk_children(&walk, &die, 0);
	if (!all_found(&job->unit)) {
		/* Rust has functions inside types, GNU C inside functions. */
		walk.everywhere = true;
		walk_children(&walk, &die, 0);
	}
	return name_places(job);
}
