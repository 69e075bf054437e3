// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * BOLT calls a global function by its name and a local one NAME/NUMBER. The local symbols of one
 * name, functions and data alike, are numbered from 1 by address. A function that begins inside
 * another is an entry point of that one.
 */
#include "symbol/bolt_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "elf/elf_image.h"
#include "symbol/string_set.h"

struct raw_symbol {
	GElf_Sym symbol;
	const char *name; /* each once, in the string set */
	bool text;
	uint64_t rest; /* bytes to the end of its section */
	size_t order; /* its place in the symbol table */
	size_t number; /* among the local symbols of its name */
};

struct bolt_reading {
	struct elf_image image;
	struct raw_symbol *all;
	size_t nr;
	size_t room;
	struct string_set names;
};

static bool is_bolt_function(const struct raw_symbol *raw)
{
	int type = GELF_ST_TYPE(raw->symbol.st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_local(const struct raw_symbol *raw)
{
	return GELF_ST_BIND(raw->symbol.st_info) == STB_LOCAL;
}

/* BOLT looks only at symbols that lie in memory, in their own section. */
static bool in_section(Elf *elf, struct raw_symbol *raw)
{
	const GElf_Sym *symbol = &raw->symbol;
	GElf_Shdr header;

	if (symbol->st_shndx == SHN_ABS)
		return true;
	if (symbol->st_shndx == SHN_UNDEF ||
	    !gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &header))
		return false;
	if (!(header.sh_flags & SHF_ALLOC) || symbol->st_value < header.sh_addr ||
	    symbol->st_value - header.sh_addr > header.sh_size)
		return false;
	raw->text = header.sh_flags & SHF_EXECINSTR;
	raw->rest = header.sh_size - (symbol->st_value - header.sh_addr);
	return symbol->st_size <= raw->rest;
}

static int read_bolt_symbol(struct bolt_reading *reading, Elf_Data *data, size_t i, size_t strings)
{
	struct raw_symbol raw = { .order = i };
	const char *name;
	char plain[ELF_NAME_MAX + 1];
	size_t length;
	int type;

	if (!gelf_getsym(data, (int)i, &raw.symbol) || !raw.symbol.st_value)
		return 0;
	type = GELF_ST_TYPE(raw.symbol.st_info);
	name = elf_image_string(reading->image.elf, strings, raw.symbol.st_name, &length);
	if (type == STT_FILE || type == STT_SECTION || type == STT_TLS || !name || !length ||
	    !in_section(reading->image.elf, &raw))
		return 0;
	memcpy(plain, name, length);
	plain[length] = '\0';
	raw.name = string_set_add(&reading->names, plain);
	if (!raw.name ||
	    grow((void **)&reading->all, &reading->room, reading->nr + 1, sizeof(*reading->all)))
		return -ENOMEM;
	reading->all[reading->nr++] = raw;
	return 0;
}

static int read_symbols(struct bolt_reading *reading, bool *any)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t i;
	int ret = 0;

	while (!ret && (section = elf_nextscn(reading->image.elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    !header.sh_entsize)
			continue;
		*any = true;
		data = elf_getdata(section, NULL);
		for (i = 1; data && !ret && i < data->d_size / header.sh_entsize; i++)
			ret = read_bolt_symbol(reading, data, i, header.sh_link);
	}
	return ret;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct raw_symbol *a = left, *b = right;

	if (a->symbol.st_value != b->symbol.st_value)
		return a->symbol.st_value < b->symbol.st_value ? -1 : 1;
	if (is_bolt_function(a) != is_bolt_function(b))
		return is_bolt_function(a) ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_bolt_names(const void *left, const void *right)
{
	const struct raw_symbol *a = left, *b = right;

	if (is_local(a) != is_local(b))
		return is_local(a) ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return compare_addresses(left, right);
}

static void number_locals(struct bolt_reading *reading)
{
	struct raw_symbol *all = reading->all;
	size_t i;

	qsort(all, reading->nr, sizeof(*all), compare_bolt_names);
	for (i = 0; i < reading->nr && is_local(&all[i]); i++)
		all[i].number = i && all[i].name == all[i - 1].name ? all[i - 1].number + 1 : 1;
	qsort(all, reading->nr, sizeof(*all), compare_addresses);
}

static char *bolt_name(const struct raw_symbol *raw)
{
	char *name;

	if (!is_local(raw))
		return strdup(raw->name);
	return asprintf(&name, "%s/%zu", raw->name, raw->number) < 0 ? NULL : name;
}

/*
 * Symbols from assembly may have no type or no size; such a symbol reaches to the next one. Any
 * number of them may be at one address.
 */
static void bound_unsized_bolt(struct bolt_reading *reading)
{
	uint64_t next = UINT64_MAX, at;
	size_t i;

	for (i = reading->nr; i--;) {
		struct raw_symbol *raw = &reading->all[i];

		at = raw->symbol.st_value;
		if (i + 1 < reading->nr && reading->all[i + 1].symbol.st_value > at)
			next = reading->all[i + 1].symbol.st_value;
		if (!raw->symbol.st_size)
			raw->symbol.st_size = next - at < raw->rest ? next - at : raw->rest;
	}
}

static int add_bolt_name(struct bolt_names *names, const struct bolt_reading *reading, size_t i)
{
	const struct bolt_name *last = names->nr ? &names->all[names->nr - 1] : NULL;
	const struct raw_symbol *raw = &reading->all[i];
	struct bolt_name added = { .size = raw->symbol.st_size };

	if (!raw->text || !elf_image_offset(&reading->image, raw->symbol.st_value, &added.offset))
		return 0;
	if (!is_bolt_function(raw) && GELF_ST_TYPE(raw->symbol.st_info) != STT_NOTYPE)
		return 0;
	if (last && added.offset - last->offset < last->size)
		return 0;
	if (grow((void **)&names->all, &names->room, names->nr + 1, sizeof(*names->all)))
		return -ENOMEM;
	added.name = bolt_name(raw);
	if (!added.name)
		return -ENOMEM;
	names->all[names->nr++] = added;
	return 0;
}

static bool has_relocations(const struct elf_image *image)
{
	GElf_Shdr header;

	return elf_image_section(image, ".rela.text", &header) ||
	       elf_image_section(image, ".rel.text", &header);
}

static int load_bolt_names(struct bolt_reading *reading, const char *path,
			   struct bolt_names *result, struct error *err)
{
	bool any = false;
	int ret = read_symbols(reading, &any);
	size_t i;

	if (!ret && !any)
		return error_set(err, -ENODATA, "%.200s: no symbol table", path);
	if (!ret && reading->nr)
		number_locals(reading);
	bound_unsized_bolt(reading);
	for (i = 0; !ret && i < reading->nr; i++)
		ret = add_bolt_name(result, reading, i);
	result->relocations = has_relocations(&reading->image);
	return ret ? error_errno(err, ret, "symbols of %.200s", path) : 0;
}

int bolt_names_load(int fd, const char *path, struct bolt_names *result, struct error *err)
{
	struct bolt_reading reading = { 0 };
	int ret;

	*result = (struct bolt_names){ 0 };
	ret = elf_image_open(fd, &reading.image, err);
	if (ret)
		return ret;
	ret = load_bolt_names(&reading, path, result, err);
	if (ret)
		bolt_names_free(result);
	free(reading.all);
	string_set_free(&reading.names);
	elf_image_close(&reading.image);
	return ret;
}

const struct bolt_name *bolt_names_find(const struct bolt_names *names, uint64_t offset)
{
	size_t behind = BISECT(i, names->nr, names->all[i].offset <= offset);
	const struct bolt_name *name = behind ? &names->all[behind - 1] : NULL;

	return name && offset - name->offset < name->size ? name : NULL;
}

void bolt_names_free(struct bolt_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->all[i].name);
	free(names->all);
	*names = (struct bolt_names){ 0 };
}
