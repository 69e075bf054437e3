// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "unwind/cfi.h"

/*
 * Up to this many bytes between functions may lack a description. Most are padding, which continues
 * the previous rule, because that saves two rows for most functions. Others may be code.
 */
enum { GAP_MAX = 64 };

#define OFFSET_MAX ((uint64_t)UNWIND_GRANULES_MAX << UNWIND_GRANULE_SHIFT)

/*
 * Slots for rules by their hash. A file that is made for collisions loses rules, but takes no
 * longer.
 */
enum { SLOTS = 2 * UNWIND_RULES_MAX, PROBES_MAX = 16 };

/*
 * A cache of frames' rules. Nine of ten frames equal a recent one, and finding it takes a third of
 * the time.
 */
enum { FRAMES = 256 };

struct known_frame {
	struct cfi_frame frame;
	enum cfi_kind kind;
	int rule; /* 0: empty */
};

/* The start of a rule in a function. */
struct draft_row {
	uint32_t at; /* relative to the function's start */
	uint32_t rule;
};

/* A function before sorting. */
struct draft_function {
	uint64_t offset;
	uint32_t size;
	uint32_t first; /* its first row; ascends in the order of reading */
	uint32_t nr;
};

struct drafts {
	const struct elf_image *image;
	struct unwind_go go;
	const unsigned char *bytes; /* of the file */
	size_t size;
	struct unwind_table table;
	struct draft_function *functions;
	size_t nr_functions;
	size_t room_functions;
	struct draft_row *rows;
	size_t nr_rows;
	size_t room_rows;
	size_t eh_rows; /* of these rows, from .eh_frame */
	size_t room_rules;
	uint64_t budget;
	uint16_t slots[SLOTS];
	struct known_frame known[FRAMES];
	struct cfi_section section;
	struct cfi_run run;
};

static int add_rule(struct drafts *drafts, const struct unwind_rule *rule)
{
	struct unwind_table *table = &drafts->table;

	if (GROW(table->rules, drafts->room_rules, table->rule_count + 1))
		return -ENOMEM;
	table->rules[table->rule_count] = *rule;
	return (int)table->rule_count++;
}

/*
 * Returns the rule's number, or -ENOMEM. If there are too many rules, it is the number of
 * UNWIND_NONE.
 */
static int number_of(struct drafts *drafts, const struct unwind_rule *rule)
{
	uint32_t hash = unwind_rule_hash(rule), probe;
	struct unwind_table *table = &drafts->table;
	int number;

	for (probe = 0; probe < PROBES_MAX; probe++) {
		uint16_t *slot = &drafts->slots[(hash + probe) % SLOTS];

		if (!*slot && table->rule_count < UNWIND_RULES_MAX) {
			number = add_rule(drafts, rule);
			*slot = (uint16_t)(number < 0 ? 0 : number);
			return number;
		}
		if (*slot && !memcmp(&table->rules[*slot], rule, sizeof(*rule)))
			return *slot;
	}
	table->cut = true;
	return 0;
}

static bool is_same_place(const struct cfi_place *a, const struct cfi_place *b)
{
	return a->how == b->how && a->offset == b->offset && a->how != CFI_EXPRESSION;
}

static bool is_same_frame(const struct cfi_frame *a, const struct cfi_frame *b)
{
	return a->cfa_offset == b->cfa_offset && a->cfa_register == b->cfa_register &&
	       !a->cfa_expression.at && !b->cfa_expression.at && is_same_place(&a->fp, &b->fp) &&
	       is_same_place(&a->ra, &b->ra);
}

static int number_of_frame(struct drafts *drafts, const struct cfi_frame *frame, enum cfi_kind kind)
{
	const uint64_t size = (uint64_t)frame->cfa_offset ^ (uint64_t)frame->fp.offset * 4;
	struct known_frame *known = &drafts->known[size / 8 % FRAMES];
	struct unwind_rule rule;
	int number;

	if (known->rule && known->kind == kind && is_same_frame(&known->frame, frame))
		return known->rule;
	cfi_machine->rule(frame, kind, &rule);
	number = number_of(drafts, &rule);
	if (number > 0)
		*known = (struct known_frame){ *frame, kind, number };
	return number;
}

static int add_draft_row(struct drafts *drafts, const struct draft_function *function, uint64_t at,
			 uint32_t rule)
{
	size_t nr = drafts->nr_rows;

	if (nr > function->first && drafts->rows[nr - 1].rule == rule)
		return 0;
	return PUSH(drafts->rows, drafts->room_rows, drafts->nr_rows,
		    (struct draft_row){ (uint32_t)at, rule });
}

/* Each function needs one more row in the table, at its end. */
static bool is_full(const struct drafts *drafts)
{
	return drafts->nr_rows + drafts->nr_functions >= UNWIND_ROWS_MAX;
}

static enum cfi_kind kind_of(const struct drafts *drafts, const struct draft_function *function)
{
	const bool is_go = !drafts->section.is_eh &&
			   function->offset - drafts->go.offset < drafts->go.size;

	if (function->offset >= drafts->size)
		return is_go ? CFI_GO : CFI_PLAIN;
	return cfi_machine->kind_of_code(drafts->bytes + function->offset,
					 drafts->size - function->offset, is_go);
}

static int add_draft_rows(struct drafts *drafts, const struct cfi_function *description,
			  struct draft_function *function)
{
	const enum cfi_kind kind = kind_of(drafts, function);
	struct cfi_run *run = &drafts->run;
	int number = 0, ret = 0;

	cfi_run_begin(run, &drafts->section, description);
	while (!ret && !is_full(drafts) && cfi_run_next(run)) {
		number = number_of_frame(drafts, &run->frame, kind);
		ret = number < 0 ? number :
				   add_draft_row(drafts, function, run->row, (uint32_t)number);
	}
	function->nr = (uint32_t)(drafts->nr_rows - function->first);
	return ret;
}

/* Finds the function's offset, if all of it is text of the file. */
static bool find_text(const struct elf_image *image, const struct cfi_function *description,
		      uint64_t *offset)
{
	uint64_t last;

	/* The linker writes address 0 for a function that it removed. */
	return description->address && description->size &&
	       elf_image_offset(image, description->address, offset) &&
	       elf_image_offset(image, description->address + description->size - 1, &last) &&
	       last - *offset == description->size - 1 && *offset <= last && last < OFFSET_MAX;
}

static int add_draft(struct drafts *drafts, const struct cfi_function *description)
{
	struct draft_function function = { .first = (uint32_t)drafts->nr_rows };
	int ret;

	if (!find_text(drafts->image, description, &function.offset)) {
		drafts->table.outside++;
		return 0;
	}
	function.size = (uint32_t)description->size;
	ret = add_draft_rows(drafts, description, &function);
	if (ret || is_full(drafts))
		return ret;
	if (drafts->run.program.bad) {
		drafts->table.malformed++;
		return 0;
	}
	return PUSH(drafts->functions, drafts->room_functions, drafts->nr_functions, function);
}

static int add_drafts(struct drafts *drafts)
{
	struct cfi_section *section = &drafts->section;
	struct cfi_function description;
	int ret = 0;

	while (!ret && !is_full(drafts) && cfi_next(section, &description))
		ret = add_draft(drafts, &description);
	drafts->table.malformed += section->malformed;
	drafts->table.cut = drafts->table.cut || section->is_exhausted || is_full(drafts);
	return ret;
}

/*
 * Unpacks a section in place. Only sections that are not in a program's memory can be compressed.
 */
static bool unpack(const struct drafts *drafts, Elf_Scn *section)
{
	GElf_Chdr packed;

	return drafts->image->file.bytes && !elf_check_packed(&drafts->image->file, NULL) &&
	       gelf_getchdr(section, &packed) && packed.ch_size <= drafts->budget &&
	       elf_compress(section, 0, 0) >= 0;
}

static int read_section(struct drafts *drafts, const char *name, bool is_eh)
{
	GElf_Shdr header;
	Elf_Scn *found = elf_image_section(drafts->image, name, &header);
	Elf_Data *data;
	int ret;

	if (!found)
		return 0;
	if ((header.sh_flags & SHF_COMPRESSED) && !unpack(drafts, found)) {
		drafts->table.malformed++;
		return 0;
	}
	data = elf_section_bytes(found);
	if (!data)
		return 0;
	memset(&drafts->section, 0, sizeof(drafts->section));
	drafts->section.bytes = data->d_buf;
	drafts->section.size = data->d_size;
	drafts->section.address = header.sh_addr;
	drafts->section.is_eh = is_eh;
	drafts->section.budget = drafts->budget;
	ret = add_drafts(drafts);
	drafts->budget = drafts->section.budget;
	return ret;
}

static int add_leaf(struct drafts *drafts, const GElf_Sym *symbol)
{
	static const struct unwind_rule rule = { .cfa = UNWIND_SP, .ra = UNWIND_RA_SCRATCH };
	struct draft_function function = {
		.size = (uint32_t)symbol->st_size,
		.first = (uint32_t)drafts->nr_rows,
		.nr = 1,
	};
	int number;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    !find_text(drafts->image,
		       &(struct cfi_function){ .address = symbol->st_value,
					       .size = symbol->st_size },
		       &function.offset) ||
	    function.offset + function.size > drafts->size ||
	    !cfi_machine->is_leaf(drafts->bytes + function.offset, function.size))
		return 0;
	number = number_of(drafts, &rule);
	if (number < 0 || add_draft_row(drafts, &function, 0, (uint32_t)number))
		return -ENOMEM;
	return PUSH(drafts->functions, drafts->room_functions, drafts->nr_functions, function);
}

/*
 * Linux builds arm64's vDSO without call-frame information. Its functions that read the clock are
 * leaves. Others get no rule; the frame pointer leads to their callers.
 */
static int add_leaves(struct drafts *drafts)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(drafts->image, ".dynsym", &header);
	Elf_Data *symbols = section ? elf_section_entries(section) : NULL;
	GElf_Sym symbol;
	int i, ret = 0;

	for (i = 0; symbols && !ret && gelf_getsym(symbols, i, &symbol); i++)
		ret = add_leaf(drafts, &symbol);
	return ret;
}

/* By place; at one place in the order of reading. */
DEFINE_COMPARE_2(compare_drafts, struct draft_function, offset, first)

/*
 * Keeps one function per place, and prefers .eh_frame to .debug_frame. Ends each function at the
 * next one. Returns the last one.
 */
static const struct draft_function *drop_repeated(struct drafts *drafts)
{
	struct draft_function *functions = drafts->functions, *last = NULL;
	uint64_t described = 0;
	size_t i;

	for (i = 0; i < drafts->nr_functions; i++) {
		const struct draft_function function = functions[i];
		bool is_eh = function.first < drafts->eh_rows;

		if ((last && last->offset == function.offset) ||
		    (!is_eh && function.offset < described)) {
			drafts->table.repeated++;
			continue;
		}
		if (is_eh && described < function.offset + function.size)
			described = function.offset + function.size;
		if (last && last->size > function.offset - last->offset)
			last->size = (uint32_t)(function.offset - last->offset);
		last = last ? last + 1 : functions;
		*last = function;
	}
	drafts->table.functions = drafts->nr_functions = (size_t)(last + 1 - functions);
	return last;
}

/* flag: UNWIND_ROW_EARLY or 0. */
static void add_row(struct unwind_table *table, uint64_t offset, uint32_t rule, uint32_t flag)
{
	uint64_t granule = unwind_granule(offset) - table->first_granule;

	if (table->row_count && unwind_row_rule(table->rows[table->row_count - 1]) == rule)
		return;
	while (table->granule_count <= granule)
		table->index[table->granule_count++] = (uint32_t)table->row_count;
	table->rows[table->row_count++] = unwind_row(offset, rule | flag);
}

static enum cfi_gap gap_at(const struct drafts *drafts, uint64_t offset, uint64_t size)
{
	unsigned char bytes[GAP_MAX];

	if (size > GAP_MAX || offset > drafts->size || size > drafts->size - offset)
		return CFI_GAP_CODE;
	/* The file may change at any time. Therefore copy the bytes. */
	memcpy(bytes, drafts->bytes + offset, size);
	return cfi_machine->gap(bytes, size);
}

/*
 * Adds a row for the bytes after a function. After padding, a return address may be the start of
 * the next function, as makecontext() makes it. It is looked up by the byte before it. Therefore
 * the next function's rule must begin there.
 */
static void add_gap(struct drafts *drafts, const struct draft_function *function,
		    const struct draft_function *next)
{
	uint64_t end = function->offset + function->size;
	enum cfi_gap gap = CFI_GAP_CODE;

	if (next && next->offset == end)
		return;
	if (next)
		gap = gap_at(drafts, end, next->offset - end);
	if (gap == CFI_GAP_CODE)
		add_row(&drafts->table, end, 0, 0);
	else if (gap == CFI_GAP_PADDING && next->nr)
		add_row(&drafts->table, next->offset - 1, drafts->rows[next->first].rule,
			UNWIND_ROW_EARLY);
}

static void add_rows(struct drafts *drafts, const struct draft_function *last)
{
	const struct draft_function *function = drafts->functions;
	struct unwind_table *table = &drafts->table;
	const struct draft_row *row;

	if (function->offset % UNWIND_GRANULE)
		add_row(table, function->offset - function->offset % UNWIND_GRANULE, 0, 0);
	for (; function <= last; function++) {
		row = &drafts->rows[function->first];
		for (; row < &drafts->rows[function->first + function->nr]; row++)
			if (row->at < function->size)
				add_row(table, function->offset + row->at, row->rule, 0);
		add_gap(drafts, function, function < last ? function + 1 : NULL);
	}
	table->index[table->granule_count] = (uint32_t)table->row_count;
}

static int make_table(struct drafts *drafts)
{
	struct unwind_table *table = &drafts->table;
	const struct draft_function *last;
	uint64_t granules;

	if (!drafts->nr_functions)
		return 0;
	SORT(drafts->functions, drafts->nr_functions, compare_drafts);
	last = drop_repeated(drafts);
	table->first_granule = (uint32_t)unwind_granule(drafts->functions[0].offset);
	granules = unwind_granule(last->offset + last->size) - table->first_granule + 1;
	table->index = malloc((granules + 1) * sizeof(*table->index));
	table->rows = malloc((drafts->nr_rows + drafts->nr_functions + 1) * sizeof(*table->rows));
	if (!table->index || !table->rows)
		return -ENOMEM;
	add_rows(drafts, last);
	return 0;
}

static bool is_ours(const struct elf_image *image)
{
	GElf_Ehdr header;

	return gelf_getehdr(image->elf, &header) && header.e_machine == cfi_machine->elf &&
	       header.e_ident[EI_CLASS] == ELFCLASS64;
}

static int read_drafts(struct drafts *drafts)
{
	static const struct unwind_rule none = { .cfa = UNWIND_NONE };
	int ret = add_rule(drafts, &none);

	if (!ret)
		ret = read_section(drafts, ".eh_frame", true);
	drafts->eh_rows = drafts->nr_rows;
	if (!ret)
		ret = read_section(drafts, ".debug_frame", false);
	/* Only the vDSO is read from memory. */
	if (!ret && !drafts->nr_functions && !drafts->image->file.bytes && cfi_machine->is_leaf)
		ret = add_leaves(drafts);
	return ret ? ret : make_table(drafts);
}

int unwind_table_read(const struct elf_image *image, uint64_t bytes_max, const struct unwind_go *go,
		      struct unwind_table *result, struct error *err)
{
	struct drafts *drafts;
	int ret;

	if (!is_ours(image))
		return error_set(err, -ENOTSUP, "call-frame information: not of this processor");
	if (image->nr_text > UNWIND_SEGMENTS_MAX)
		return error_set(err, -ENOTSUP, "call-frame information: too many segments");
	drafts = calloc(1, sizeof(*drafts));
	if (!drafts)
		return error_no_memory(err, "call-frame information");
	drafts->image = image;
	drafts->go = *go;
	drafts->bytes = (const unsigned char *)elf_rawfile(image->elf, &drafts->size);
	drafts->size = drafts->bytes ? drafts->size : 0;
	drafts->budget = bytes_max < UNWIND_BYTES_MAX ? bytes_max : UNWIND_BYTES_MAX;
	ret = read_drafts(drafts);
	if (ret)
		unwind_table_free(&drafts->table);
	else
		*result = drafts->table;
	free(drafts->functions);
	free(drafts->rows);
	free(drafts);
	return ret ? error_errno(err, ret, "call-frame information") : 0;
}

void unwind_table_free(struct unwind_table *table)
{
	free(table->rows);
	free(table->index);
	free(table->rules);
	*table = (struct unwind_table){ 0 };
}
