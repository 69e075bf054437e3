// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include <dwarf.h>

#include "base/util.h"
#include "symbol/lines.h"
#include "symbol/symbol.h"

/*
 * Compilers nest blocks and inlining less deeply than this, and our stack is large enough for it.
 */
#define DEPTH_MAX 512

/* clang's attribute of a call that was inlined; not every <dwarf.h> has it. */
#define ATTRIBUTE_DISCRIMINATOR 0x2136

struct die_walk {
	struct line_job *job;
	struct compile_unit *unit;
	bool everywhere; /* also enter types and functions that cover no place */
	int code; /* -ENOMEM or -E2BIG */
};

/*
 * Whether the DIE covers any place. If frame is not 0, it becomes the function of these places: the
 * walk goes from outer to inner, so the innermost function sets it last.
 */
static bool covers(struct die_walk *walk, Dwarf_Die *die, size_t frame, bool *has_ranges)
{
	struct compile_unit *unit = walk->unit;
	Dwarf_Addr base, begin, end;
	bool found = false;
	ptrdiff_t at = 0;
	size_t i;

	*has_ranges = false;
	while (!walk->code && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		walk->code = line_job_step(walk->job);
		*has_ranges = true;
		for (i = unit_lower_bound(unit, begin); begin && i < unit->nr; i++) {
			if (unit->places[i].address >= end)
				break;
			found = true;
			if (!frame)
				break;
			unit->places[i].frame = frame;
		}
	}
	return found;
}

/* A function whose DIE covers a place becomes the frame of what is inside it. */
static bool enter_function(struct die_walk *walk, Dwarf_Die *die, size_t *frame)
{
	struct compile_unit *unit = walk->unit;
	bool has_ranges;

	if (grow((void **)&unit->frames, &unit->frames_room, unit->nr_frames + 1,
		 sizeof(*unit->frames))) {
		walk->code = -ENOMEM;
		return false;
	}
	if (!covers(walk, die, unit->nr_frames + 1, &has_ranges))
		return false;
	if (++walk->job->nr_functions > LINE_FUNCTIONS_MAX)
		walk->code = -E2BIG;
	unit->frames[unit->nr_frames++] = (struct unit_frame){
		.die = *die,
		.caller = dwarf_tag(die) == DW_TAG_inlined_subroutine ? *frame : 0,
	};
	*frame = unit->nr_frames;
	return true;
}

/* Whether the DIE's children must be visited. *frame is the frame that the DIE is in. */
static bool leads_on(struct die_walk *walk, Dwarf_Die *die, size_t *frame)
{
	bool has_ranges, found;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_entry_point:
		found = enter_function(walk, die, frame);
		return found || walk->everywhere;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		found = covers(walk, die, 0, &has_ranges);
		return found || !has_ranges || walk->everywhere;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	default:
		return walk->everywhere;
	}
}

static void walk_children(struct die_walk *walk, Dwarf_Die *parent, size_t frame, int depth)
{
	Dwarf_Off at, last = 0;
	Dwarf_Die child;
	size_t inner;

	if (depth == DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		/* A sibling reference that leads back would make an endless loop. */
		at = dwarf_dieoffset(&child);
		if (at <= last)
			return;
		last = at;
		inner = frame;
		if (!walk->code)
			walk->code = line_job_step(walk->job);
		if (leads_on(walk, &child, &inner))
			walk_children(walk, &child, inner, depth + 1);
	} while (!walk->code && !dwarf_siblingof(&child, &child));
}

static bool all_found(const struct compile_unit *unit)
{
	size_t i;

	for (i = 0; i < unit->nr; i++) {
		if (!unit->places[i].frame)
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

static int name_function(struct source_lines *lines, Dwarf_Die *die, const char **result)
{
	const char *name = linkage_name(die);
	char *plain = NULL;

	*result = NULL;
	if (name)
		plain = demangle(name);
	if (!plain)
		name = dwarf_diename(die) ? dwarf_diename(die) : name;
	if (!plain && !name)
		return 0;
	*result = string_set_add(&lines->strings, plain ? plain : name);
	free(plain);
	return *result ? 0 : -ENOMEM;
}

/* The file in which a DIE says it was called, from the unit that contains the DIE. */
static const char *call_file(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t nr;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) ||
	    !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &nr) ||
	    number >= nr)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* A number from a call site; 0 if there is none. */
static uint32_t call_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &number) || number > INT32_MAX)
		return 0;
	return (uint32_t)number;
}

static int add_site(struct line_job *job, struct unit_frame *frame, const struct unit_frame *caller)
{
	struct source_lines *lines = job->lines;
	struct call_site *site = calloc(1, sizeof(*site));
	const char *file = call_file(&frame->die);

	if (!site)
		return -ENOMEM;
	site->next = lines->sites;
	lines->sites = site;
	site->line.file = file ? line_file(job, file) : NULL;
	site->line.line = file ? call_number(&frame->die, DW_AT_call_line) : 0;
	site->line.discriminator = call_number(&frame->die, ATTRIBUTE_DISCRIMINATOR);
	site->line.function = caller->name;
	site->line.scope = caller->scope;
	site->line.caller = caller->site;
	frame->site = &site->line;
	return file && !site->line.file ? -ENOMEM : 0;
}

static int add_scope(struct source_lines *lines, struct unit_frame *frame)
{
	struct scope *scope = calloc(1, sizeof(*scope));
	const char *name = linkage_name(&frame->die);
	int line;

	if (!scope)
		return -ENOMEM;
	scope->next = lines->scopes;
	lines->scopes = scope;
	frame->scope = &scope->scope;
	if (!dwarf_decl_line(&frame->die, &line) && line > 0)
		scope->scope.line = (uint32_t)line;
	name = name ? name : dwarf_diename(&frame->die);
	if (name)
		scope->scope.name = string_set_add(&lines->strings, name);
	return name && !scope->scope.name ? -ENOMEM : 0;
}

/* A caller has a lower number, so it has been resolved before. This also ends any chain. */
static int resolve_frames(struct line_job *job)
{
	struct compile_unit *unit = &job->unit;
	struct unit_frame *frame;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < unit->nr_frames; i++) {
		frame = &unit->frames[i];
		ret = name_function(job->lines, &frame->die, &frame->name);
		if (!ret)
			ret = add_scope(job->lines, frame);
		if (!ret && frame->caller)
			ret = add_site(job, frame, &unit->frames[frame->caller - 1]);
	}
	return ret;
}

static int name_places(struct line_job *job)
{
	const struct compile_unit *unit = &job->unit;
	const struct unit_frame *frame;
	struct source_line *line;
	size_t i;
	int ret;

	ret = resolve_frames(job);
	for (i = 0; !ret && i < unit->nr; i++) {
		if (!unit->places[i].frame)
			continue;
		frame = &unit->frames[unit->places[i].frame - 1];
		line = &job->lines->lines[unit->places[i].index];
		if (frame->name)
			line->function = frame->name;
		line->scope = frame->scope;
		line->caller = frame->site;
	}
	return ret;
}

int line_functions_resolve(struct line_job *job)
{
	struct die_walk walk = { .job = job, .unit = &job->unit };
	Dwarf_Die die = job->unit.die, split;

	job->unit.nr_frames = 0;
	/* A skeleton's functions are in its .dwo; without that file there are only lines. */
	if (line_job_split_unit(job, &job->unit.die, &split))
		die = split;
	walk_children(&walk, &die, 0, 0);
	if (!walk.code && !all_found(&job->unit)) {
		/* Rust has functions inside types, and GNU C has functions inside functions. */
		walk.everywhere = true;
		walk_children(&walk, &die, 0, 0);
	}
	return walk.code ? walk.code : name_places(job);
}
