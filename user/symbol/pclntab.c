// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/pclntab.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"

/*
 * Go's cmd/link/internal/ld/pcln.go writes the table, and runtime/symtab.go reads it. Its header
 * has a number of the layout, and the offsets of the table's parts.
 */
#define LAYOUT_1_16 0xfffffffaU /* functions have addresses */
#define LAYOUT_1_18 0xfffffff0U /* functions have offsets from the start of the text */
#define LAYOUT_1_20 0xfffffff1U /* the same; some names differ */

enum { NAMES, UNITS, FILES, VALUES, FUNCTIONS, PARTS };

struct pclntab_header {
	uint32_t layout;
	uint8_t zero[2];
	uint8_t quantum; /* the unit of pcs */
	uint8_t pointer; /* its size */
	uint64_t nr_functions;
	uint64_t nr_files;
	uint64_t words[1 + PARTS]; /* start of the text, unless functions have addresses; parts */
};

/* Go 1.26 stores the start of the text in a module's struct moduledata, at this offset. */
#define MODULE ".go.module"
#define MODULE_TEXT 176

/* In a section with much else, search only the beginning. */
#define SEARCH_BYTES (64UL << 20)

struct piece {
	const unsigned char *bytes;
	size_t size;
};

struct pclntab {
	struct piece parts[PARTS];
	size_t nr;
	size_t wide; /* size of a text position in the table */
	uint64_t text; /* added to these */
	uint8_t quantum;
};

/* A function's description has its position, then these numbers. */
enum { NUMBER_NAME = 0, NUMBER_FILE_VALUES = 4, NUMBER_LINE_VALUES = 5, NUMBER_UNIT = 7 };

/* No unit, or no file. */
#define NONE UINT32_MAX

/* The file may change at any time. Therefore check a copy. */
static bool read_at(const struct piece *piece, uint64_t at, void *result, size_t size)
{
	if (at > piece->size || size > piece->size - at)
		return false;
	memcpy(result, piece->bytes + at, size);
	return true;
}

static struct piece section_piece(const struct elf_image *image, const char *name,
				  uint64_t *address)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, name, &header);
	Elf_Data *data = elf_section_bytes(section);

	if (!data)
		return (struct piece){ 0 };
	*address = header.sh_addr;
	return (struct piece){ data->d_buf, data->d_size };
}

/*
 * Reads the pointer at an address. In a position-independent program, clang's linker leaves it to
 * the loader and writes zero. Go's and GNU's linkers also write it to the file.
 */
static uint64_t pointer_at(const struct elf_image *image, uint64_t in_file, uint64_t address)
{
	uint64_t unused, i;
	struct piece relocations;
	Elf64_Rela relocation;

	if (in_file)
		return in_file;
	relocations = section_piece(image, ".rela.dyn", &unused);
	for (i = 0; i < ELF_SYMBOLS_MAX; i++) {
		if (!read_at(&relocations, i * sizeof(relocation), &relocation, sizeof(relocation)))
			break;
		if (relocation.r_offset == address)
			return (uint64_t)relocation.r_addend;
	}
	return 0;
}

/* 0: unknown. */
static uint64_t text_start(const struct elf_image *image, const struct pclntab_header *header,
			   uint64_t address)
{
	uint64_t start = pointer_at(image, header->words[0],
				    address + offsetof(struct pclntab_header, words));
	struct piece module;

	if (start)
		return start;
	module = section_piece(image, MODULE, &address);
	if (!read_at(&module, MODULE_TEXT, &start, sizeof(start)))
		return 0;
	return pointer_at(image, start, address + MODULE_TEXT);
}

static bool find_parts(const struct piece *whole, const struct pclntab_header *header,
		       struct pclntab *result)
{
	const uint64_t *starts = header->words + (header->layout != LAYOUT_1_16);
	size_t i;

	for (i = 0; i < PARTS; i++) {
		if (starts[i] < sizeof(*header) - sizeof(*starts) || starts[i] >= whole->size)
			return false;
		result->parts[i] =
			(struct piece){ whole->bytes + starts[i], whole->size - starts[i] };
	}
	result->nr = header->nr_functions;
	result->quantum = header->quantum;
	result->wide = header->layout == LAYOUT_1_16 ? sizeof(uint64_t) : sizeof(uint32_t);
	/* After the last function comes its end. */
	return result->nr && result->nr <= ELF_SYMBOLS_MAX &&
	       (2 * result->nr + 1) * result->wide <= result->parts[FUNCTIONS].size;
}

static bool is_header(const struct pclntab_header *header)
{
	return (header->layout == LAYOUT_1_16 || header->layout == LAYOUT_1_18 ||
		header->layout == LAYOUT_1_20) &&
	       !header->zero[0] && !header->zero[1] && header->quantum &&
	       header->pointer == sizeof(uint64_t);
}

static bool find_in(const struct elf_image *image, const char *section, struct pclntab *result)
{
	uint64_t address = 0;
	struct piece whole = section_piece(image, section, &address);
	struct pclntab_header header;
	size_t at;

	for (at = 0; at < SEARCH_BYTES && read_at(&whole, at, &header, sizeof(header)); at += 8) {
		const struct piece rest = { whole.bytes + at, whole.size - at };

		if (!is_header(&header) || !find_parts(&rest, &header, result))
			continue;
		if (header.layout != LAYOUT_1_16)
			result->text = text_start(image, &header, address + at);
		return header.layout == LAYOUT_1_16 || result->text;
	}
	return false;
}

/*
 * In position-independent programs, Go's linker uses another name, and GNU's puts the table among
 * other relocated data. Search that only in a Go program.
 */
static bool find(const struct elf_image *image, struct pclntab *result)
{
	GElf_Shdr ignored;

	*result = (struct pclntab){ 0 };
	return find_in(image, ".gopclntab", result) ||
	       find_in(image, ".data.rel.ro.gopclntab", result) ||
	       (elf_image_section(image, ".go.buildinfo", &ignored) &&
		find_in(image, ".data.rel.ro", result));
}

/* i may be nr: the end of the last function. */
static uint64_t function_start(const struct pclntab *table, size_t i)
{
	uint64_t start = 0;

	memcpy(&start, table->parts[FUNCTIONS].bytes + 2 * i * table->wide, table->wide);
	return table->text + start;
}

static bool function_number(const struct pclntab *table, size_t i, unsigned int number,
			    uint32_t *result)
{
	const struct piece *functions = &table->parts[FUNCTIONS];
	uint64_t at = 0;

	memcpy(&at, functions->bytes + (2 * i + 1) * table->wide, table->wide);
	return at < functions->size &&
	       read_at(functions, at + table->wide + number * sizeof(*result), result,
		       sizeof(*result));
}

/* Returns the length; 0: there is none. */
static size_t string_at(const struct piece *piece, uint64_t at, const char **result)
{
	size_t rest;

	if (at >= piece->size)
		return 0;
	*result = (const char *)piece->bytes + at;
	rest = piece->size - at;
	return strnlen(*result, rest < ELF_NAME_MAX ? rest : ELF_NAME_MAX);
}

static uint64_t source_start(const struct symbol_source *source, size_t i)
{
	return function_start(source->from, i);
}

static int add_function(struct symbol_table *symbols, const struct symbol_source *source, size_t i)
{
	const struct pclntab *table = source->from;
	uint64_t start = function_start(table, i), end = function_start(table, i + 1);
	struct symbol_spec spec = { .size = end - start, .rank = SYMBOL_RANK_FUNCTION };
	uint32_t name;

	if (start >= end || !elf_image_offset(source->image, start, &spec.offset) ||
	    !function_number(table, i, NUMBER_NAME, &name))
		return 0;
	spec.name_length = string_at(&table->parts[NAMES], name, &spec.name);
	return spec.name_length ? symbol_table_add(symbols, &spec) : 0;
}

int pclntab_symbols_add(struct symbol_table *symbols, const struct elf_image *image)
{
	struct pclntab table;
	struct symbol_source source = { .image = image,
					.from = &table,
					.start = source_start,
					.add = add_function };

	if (!find(image, &table))
		return 0;
	source.nr = table.nr;
	return symbol_table_add_sorted(symbols, &source);
}

bool pclntab_text(const struct elf_image *image, uint64_t *offset, uint64_t *size)
{
	struct pclntab table;
	uint64_t start, end, last;

	*size = 0;
	if (!find(image, &table))
		return false;
	start = function_start(&table, 0);
	end = function_start(&table, table.nr);
	if (end <= start || !elf_image_offset(image, start, offset) ||
	    !elf_image_offset(image, end - 1, &last) || last - *offset != end - start - 1)
		return false;
	*size = end - start;
	return true;
}

/*
 * A walk over the values of a function's pcs, such as lines. Pairs of numbers encode the change
 * from the previous value, and for how many pcs the value holds.
 */
struct pc_walk {
	uint64_t at;
	uint64_t end; /* of the value */
	uint32_t value;
	bool begun;
};

struct walker {
	struct line_job *job;
	struct pclntab table;
	size_t function; /* of the previous place */
	uint64_t reached; /* the walks have covered the text before this */
	struct pc_walk file, line;
};

/* Seven bits per byte, the lowest first. */
static bool read_number(const struct piece *piece, uint64_t *at, uint32_t *result)
{
	unsigned int shift;
	unsigned char byte;

	*result = 0;
	for (shift = 0; shift < 32; shift += 7) {
		if (!read_at(piece, (*at)++, &byte, sizeof(byte)))
			return false;
		*result |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Each step advances. Therefore a function takes at most as many as it has bytes. */
static bool step(const struct pclntab *table, struct pc_walk *walk)
{
	const struct piece *values = &table->parts[VALUES];
	uint32_t change, pcs;

	if (!read_number(values, &walk->at, &change) || (!change && walk->begun) ||
	    !read_number(values, &walk->at, &pcs) || !pcs)
		return false;
	walk->value += change & 1 ? ~(change >> 1) : change >> 1;
	walk->end += (uint64_t)pcs * table->quantum;
	walk->begun = true;
	return true;
}

static int walk_to(const struct walker *walker, struct pc_walk *walk, uint64_t address)
{
	int ret = 0;

	while (!ret && walk->end <= address) {
		if (!step(&walker->table, walk)) {
			walk->value = NONE;
			walk->end = UINT64_MAX;
		}
		ret = line_job_step(walker->job);
	}
	return ret;
}

static struct pc_walk begin_walk(const struct pclntab *table, size_t function, unsigned int number)
{
	struct pc_walk walk = { .end = function_start(table, function), .value = NONE };
	uint32_t at;

	/* 0: there are no values, as for a function in C. */
	if (function_number(table, function, number, &at) && at)
		walk.at = at;
	else
		walk.end = UINT64_MAX;
	return walk;
}

/* A unit numbers its files. Its part of the table maps these numbers to names. */
static size_t file_name(const struct walker *walker, const char **result)
{
	uint32_t unit, at;

	if (walker->file.value == NONE ||
	    !function_number(&walker->table, walker->function, NUMBER_UNIT, &unit) ||
	    unit == NONE ||
	    !read_at(&walker->table.parts[UNITS],
		     ((uint64_t)unit + walker->file.value) * sizeof(at), &at, sizeof(at)) ||
	    at == NONE)
		return 0;
	return string_at(&walker->table.parts[FILES], at, result);
}

static int set_line(struct walker *walker, struct source_line *line)
{
	char path[ELF_NAME_MAX];
	const char *file;
	size_t length = file_name(walker, &file);

	if (!length)
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)length, file);
	line->file = string_set_add(&walker->job->lines->strings, path);
	if (walker->line.value <= INT32_MAX)
		line->line = walker->line.value;
	return line->file ? 0 : -ENOMEM;
}

/*
 * Places ascend. Therefore all places of a function share one walk. Functions that overlap have no
 * lines, because each could take a walk over all the text before it.
 */
static bool enter(struct walker *walker, size_t function)
{
	if (function == walker->function)
		return true;
	if (function >= walker->table.nr ||
	    function_start(&walker->table, function) < walker->reached)
		return false;
	walker->function = function;
	walker->file = begin_walk(&walker->table, function, NUMBER_FILE_VALUES);
	walker->line = begin_walk(&walker->table, function, NUMBER_LINE_VALUES);
	return true;
}

static int resolve(struct walker *walker, const struct asked_place *place)
{
	const struct pclntab *table = &walker->table;
	size_t after = BISECT(i, table->nr + 1, function_start(table, i) <= place->address);
	int ret;

	if (!after || !enter(walker, after - 1))
		return 0;
	walker->reached = place->address;
	ret = walk_to(walker, &walker->file, place->address);
	if (!ret)
		ret = walk_to(walker, &walker->line, place->address);
	return ret ? ret : set_line(walker, &walker->job->lines->lines[place->index]);
}

int pclntab_lines_resolve(const struct elf_image *image, struct line_job *job)
{
	struct walker walker = { .job = job, .function = SIZE_MAX };
	size_t i;
	int ret = 0;

	if (!find(image, &walker.table))
		return 0;
	for (i = 0; !ret && i < job->nr; i++)
		ret = resolve(&walker, &job->places[i]);
	return ret;
}
