// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "elf/elf_image.h"
#include "symbol/debug_file.h"
#include "symbol/line_job.h"
#include "symbol/pclntab.h"
#include "symbol/symbol.h"

/* Compilers nest blocks and inlining less deeply, and our stack has room for it. */
#define DEPTH_MAX 512

/* clang's attribute of an inlined call; some <dwarf.h> lack it. */
#define ATTRIBUTE_DISCRIMINATOR 0x2136

struct die_walk {
	struct line_job *job;
	bool everywhere; /* also enter types, and functions that cover no place */
	int code; /* -ENOMEM or -E2BIG */
};

/*
 * libdw joins a file with its folder, but joins the result with the unit's folder only for files
 * directly in that.
 */
static const char *line_file(struct line_job *job, const char *path)
{
	const char *folder = job->unit.folder;
	char whole[STRING_SET_LONGEST + 1];

	if (folder && *path != '/' &&
	    (size_t)snprintf(whole, sizeof(whole), "%s/%s", folder, path) < sizeof(whole))
		path = whole;
	return string_set_add(&job->lines->strings, path);
}

/* The first place of the unit at or above the address; nr: there is none. */
static size_t unit_lower_bound(const struct compile_unit *unit, uint64_t address)
{
	return BISECT(i, unit->nr, unit->places[i].address < address);
}

/*
 * Whether the DIE covers any place. If frame is not 0, it becomes the function of these places. The
 * walk goes from outer to inner functions. Therefore the innermost one comes last.
 */
static bool covers(struct die_walk *walk, Dwarf_Die *die, size_t frame, bool *has_ranges)
{
	struct compile_unit *unit = &walk->job->unit;
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

/* A function whose DIE covers a place becomes the frame of everything inside it. */
static bool enter_function(struct die_walk *walk, Dwarf_Die *die, size_t *frame)
{
	struct compile_unit *unit = &walk->job->unit;
	bool has_ranges;

	if (GROW(unit->frames, unit->frames_room, unit->nr_frames + 1)) {
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

/* Whether to visit the DIE's children. *frame is the frame around the DIE. */
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
		/* A sibling reference backwards would make an endless loop. */
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

/* The file of the call of an inlined function, from the unit with the DIE. */
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

/* A number of a call site; 0: it has none. */
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
	struct call_site *site = source_lines_add_site(job->lines);
	const char *file = call_file(&frame->die);

	if (!site)
		return -ENOMEM;
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
	struct scope *scope = source_lines_add_scope(lines);
	const char *name = linkage_name(&frame->die);
	int line;

	if (!scope)
		return -ENOMEM;
	frame->scope = &scope->scope;
	if (!dwarf_decl_line(&frame->die, &line) && line > 0)
		scope->scope.line = (uint32_t)line;
	name = name ? name : dwarf_diename(&frame->die);
	if (name)
		scope->scope.name = string_set_add(&lines->strings, name);
	return name && !scope->scope.name ? -ENOMEM : 0;
}

/* Callers have lower numbers. Therefore they are resolved already. This also ends any chain. */
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
	int ret = resolve_frames(job);

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

static int line_functions_resolve(struct line_job *job)
{
	struct die_walk walk = { .job = job };
	Dwarf_Die die = job->unit.die, split;

	job->unit.nr_frames = 0;
	/* A skeleton's functions are in its .dwo. Without that file there are only lines. */
	if (line_job_split_unit(job, &job->unit.die, &split))
		die = split;
	walk_children(&walk, &die, 0, 0);
	if (!walk.code && !all_found(&job->unit)) {
		/* Rust has functions inside types, and GNU C has nested functions. */
		walk.everywhere = true;
		walk_children(&walk, &die, 0, 0);
	}
	return walk.code ? walk.code : name_places(job);
}

/*
 * libdw keeps each decoded row, some 40 bytes, until it is closed. Closing is cheap, because the
 * Elf keeps the sections.
 */
#define ROWS_MAX (512 << 10)

static int add_unit_place(struct compile_unit *unit, const struct asked_place *place)
{
	const struct unit_place added = { .address = place->address, .index = place->index };

	return PUSH(unit->places, unit->room, unit->nr, added);
}

DEFINE_COMPARE_2(compare_unit_places, struct unit_place, address, index)

/*
 * Sorts places and removes duplicates. The ranges of a unit may be in any order and, wrongly,
 * overlap.
 */
static void order_places(struct compile_unit *unit)
{
	unit->nr = COMBINE(unit->places, unit->nr, compare_unit_places, NULL);
}

/*
 * Finds the places in this unit by the ranges of its top DIE, which every compiler writes. clang
 * does not write .debug_aranges, and reading them costs as much. Each unit that uses a template
 * claims the one copy that the linker kept; the first unit gets it.
 */
static int gather_places(struct line_job *job)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int ret = 0;
	size_t i;

	job->unit.nr = 0;
	while (!ret && (at = dwarf_ranges(&job->unit.die, at, &base, &begin, &end)) > 0) {
		ret = line_job_step(job);
		/* The linker writes 0 for a function that it dropped. */
		if (!begin)
			continue;
		i = BISECT(j, job->nr, job->places[j].address < begin);
		for (; !ret && i < job->nr; i++) {
			if (job->places[i].address >= end)
				break;
			if (!job->lines->lines[job->places[i].index].file)
				ret = add_unit_place(&job->unit, &job->places[i]);
		}
		/* Limit the places that overlapping ranges of a hostile file make. */
		if (job->unit.nr > 2 * job->nr)
			order_places(&job->unit);
	}
	order_places(&job->unit);
	return ret;
}

/* The row for an address; of several at one address, the last. */
static Dwarf_Line *find_line_row(Dwarf_Lines *rows, size_t nr, uint64_t address)
{
	Dwarf_Line *row;
	Dwarf_Addr at;
	size_t behind;
	bool ended;

	behind = BISECT(i, nr, !dwarf_lineaddr(dwarf_onesrcline(rows, i), &at) && at <= address);
	row = behind ? dwarf_onesrcline(rows, behind - 1) : NULL;
	if (!row || dwarf_lineendsequence(row, &ended) || ended)
		return NULL;
	return row;
}

/* A relative folder, as in Debian's builds with -ffile-prefix-map, is part of libdw's path. */
static const char *unit_folder(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));

	return folder && *folder == '/' ? folder : NULL;
}

static int set_line(struct line_job *job, size_t index, Dwarf_Line *row)
{
	struct source_line *line = &job->lines->lines[index];
	const char *file = dwarf_linesrc(row, NULL, NULL);
	int number;

	if (!file)
		return 0;
	line->file = line_file(job, file);
	if (!line->file)
		return -ENOMEM;
	if (!dwarf_lineno(row, &number) && number > 0)
		line->line = (uint32_t)number;
	dwarf_linediscriminator(row, &line->discriminator);
	return 0;
}

/* The size of the unit's line program in bytes, as it claims. */
static uint64_t program_size(struct line_job *job)
{
	const Elf_Data *data = job->line_programs;
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	uint32_t size;
	uint64_t wide;

	if (!data || !data->d_buf ||
	    dwarf_formudata(dwarf_attr(&job->unit.die, DW_AT_stmt_list, &attribute), &at) ||
	    at > data->d_size || data->d_size - at < sizeof(size) + sizeof(wide))
		return 0;
	memcpy(&size, (const char *)data->d_buf + at, sizeof(size));
	memcpy(&wide, (const char *)data->d_buf + at + sizeof(size), sizeof(wide));
	return size == UINT32_MAX ? wide : size;
}

/* libdw also keeps the names of files. */
static size_t count_files(struct line_job *job)
{
	Dwarf_Files *files;
	size_t nr;

	return dwarf_getsrcfiles(&job->unit.die, &files, &nr) ? 0 : nr;
}

static int resolve_rows(struct line_job *job)
{
	const struct compile_unit *unit = &job->unit;
	Dwarf_Lines *rows;
	Dwarf_Line *row;
	size_t nr, i;
	int ret = 0;

	if (program_size(job) > LINE_PROGRAM_MAX)
		return error_set(&job->lines->why, -E2BIG,
				 "debug information with a line table of %llu bytes",
				 (unsigned long long)program_size(job));
	if (dwarf_getsrclines(&job->unit.die, &rows, &nr))
		return 0;
	job->rows += nr + count_files(job);
	for (i = 0; !ret && i < unit->nr; i++) {
		row = find_line_row(rows, nr, unit->places[i].address);
		if (row)
			ret = set_line(job, unit->places[i].index, row);
	}
	return ret;
}

static int resolve_unit(struct line_job *job)
{
	int ret = gather_places(job);

	if (ret || !job->unit.nr)
		return ret;
	job->unit.folder = unit_folder(&job->unit.die);
	ret = resolve_rows(job);
	if (!ret)
		ret = line_functions_resolve(job);
	if (!ret && job->rows > ROWS_MAX)
		ret = line_job_reopen(job);
	return ret;
}

static bool is_code_unit(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit ||
	       tag == DW_TAG_partial_unit;
}

static int line_units_resolve(struct line_job *job)
{
	Dwarf_Off at = 0, next;
	size_t header;
	int ret = 0;

	job->nr_units = 0;
	while (!ret && !dwarf_next_unit(job->dwarf, at, &next, &header, NULL, NULL, NULL, NULL,
					NULL, NULL)) {
		if (next <= at)
			break;
		if (++job->nr_units > LINE_UNITS_MAX)
			return error_set(&job->lines->why, -E2BIG,
					 "debug information of more than %d units", LINE_UNITS_MAX);
		ret = line_job_step(job);
		if (ret)
			return ret;
		if (dwarf_offdie(job->dwarf, at + header, &job->unit.die) &&
		    is_code_unit(&job->unit.die))
			ret = resolve_unit(job);
		at = next;
	}
	return ret;
}

DEFINE_COMPARE(compare_asked_places, struct asked_place, address)

/* Offsets outside of the text keep an empty line. */
static struct asked_place *make_places(const struct elf_image *image, const uint64_t *offsets,
				       size_t nr, size_t *nr_places)
{
	struct asked_place *places = malloc((nr + 1) * sizeof(*places));
	size_t i, used = 0;

	if (!places)
		return NULL;
	for (i = 0; i < nr; i++) {
		places[used].index = i;
		if (elf_image_address(image, offsets[i], &places[used].address))
			used++;
	}
	*nr_places = used;
	SORT(places, used, compare_asked_places);
	return places;
}

static bool has_dwarf(const struct elf_image *image)
{
	GElf_Shdr header;

	return elf_image_section(image, ".debug_info", &header) ||
	       elf_image_section(image, ".zdebug_info", &header);
}

static int resolve_lines(const struct elf_image *image, struct line_job job,
			 const uint64_t *offsets)
{
	struct source_lines *lines = job.lines;
	struct asked_place *places;
	int ret = elf_check_packed(&job.image->file, &lines->why);

	if (ret)
		return ret;
	places = make_places(image, offsets, lines->nr, &job.nr);
	if (!places)
		return -ENOMEM;
	job.places = places;
	ret = job.nr ? line_job_run(&job, line_units_resolve) : 0;
	line_job_close(&job);
	free(job.unit.places);
	free(job.unit.frames);
	free(places);
	/* Treat unreadable DWARF as missing. */
	return ret == -ENOMEM || ret == -E2BIG ? ret : 0;
}

static int resolve_go_lines(const struct elf_image *image, struct line_job job,
			    const uint64_t *offsets)
{
	struct asked_place *places = make_places(image, offsets, job.lines->nr, &job.nr);
	int ret;

	if (!places)
		return -ENOMEM;
	job.places = places;
	line_job_begin(&job);
	ret = pclntab_lines_resolve(image, &job);
	free(places);
	return ret;
}

/* Trust references to other files only if the file belongs to us or root. */
static void set_owner(struct line_job *job, int fd)
{
	struct stat stat = { .st_uid = NO_UID };

	fstat(fd, &stat);
	job->owner = stat.st_uid;
	job->trusted = job->trusted && regular_file_is_from(&stat, 0);
}

static int resolve_with_debug_file(const struct elf_image *image, int fd, const char *path,
				   const char *root, const uint64_t *offsets,
				   struct source_lines *lines)
{
	struct line_job job = { .image = image,
				.path = path,
				.root = root,
				.lines = lines,
				.trusted = true };
	char debug_path[PATH_MAX];
	struct elf_image debug;
	int debug_fd, ret = 0;

	set_owner(&job, fd);
	if (has_dwarf(image))
		return resolve_lines(image, job, offsets);
	debug_fd = debug_file_open(image->elf, fd, path, root, debug_path);
	if (debug_fd < 0)
		return debug_fd == -ENOMEM ? debug_fd : resolve_go_lines(image, job, offsets);
	if (!elf_image_open(debug_fd, &debug, NULL)) {
		job.image = &debug;
		job.path = debug_path;
		set_owner(&job, debug_fd);
		ret = resolve_lines(image, job, offsets);
		elf_image_close(&debug);
	}
	close(debug_fd);
	return ret;
}

static void fail_lines(int code, const char *path, const struct source_lines *lines,
		       struct error *err)
{
	if (lines && *lines->why.text)
		error_set(err, code, "%.200s: %.256s", path, lines->why.text);
	else if (code == -E2BIG)
		error_set(err, code,
			  "%.256s: more debug information than is read in %d seconds of CPU time",
			  path, LINE_JOB_SECONDS);
	else
		error_errno(err, code, "source lines of %.256s", path);
}

int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **result, struct error *err)
{
	struct source_lines *lines;
	struct elf_image image;
	int ret = elf_image_open(fd, &image, err);

	if (ret)
		return ret;
	ret = -ENOMEM;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		goto out;
	lines->nr = nr;
	lines->lines = calloc(nr + 1, sizeof(*lines->lines));
	if (lines->lines)
		ret = resolve_with_debug_file(&image, fd, path, root, offsets, lines);
out:
	elf_image_close(&image);
	if (ret) {
		fail_lines(ret, path, lines, err);
		source_lines_free(lines);
		return ret;
	}
	*result = lines;
	return 0;
}

const struct source_line *source_lines_at(const struct source_lines *lines, size_t i)
{
	return &lines->lines[i];
}

struct call_site *source_lines_add_site(struct source_lines *lines)
{
	struct call_site *site;

	if (GROW(lines->sites, lines->sites_room, lines->nr_sites + 1))
		return NULL;
	site = lines->sites[lines->nr_sites] = calloc(1, sizeof(*site));
	if (site)
		site->number = (uint32_t)++lines->nr_sites;
	return site;
}

struct scope *source_lines_add_scope(struct source_lines *lines)
{
	struct scope *scope;

	if (GROW(lines->scopes, lines->scopes_room, lines->nr_scopes + 1))
		return NULL;
	scope = lines->scopes[lines->nr_scopes] = calloc(1, sizeof(*scope));
	if (scope)
		scope->number = (uint32_t)++lines->nr_scopes;
	return scope;
}

void source_lines_free(struct source_lines *lines)
{
	if (!lines)
		return;
	free_all(lines->scopes, lines->nr_scopes);
	free_all(lines->sites, lines->nr_sites);
	string_set_free(&lines->strings);
	free(lines->lines);
	free(lines);
}
