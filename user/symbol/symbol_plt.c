// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol.h"

/*
 * The size of a jump on x86-64 and aarch64. What .plt has beyond its jumps is a header at its
 * start.
 */
#define PLT_JUMP 16

struct plt {
	const struct elf_image *image;
	Elf_Data *relocations; /* .rela.plt: one for each jump, in the same order */
	size_t nr;
	Elf_Data *symbols;
	size_t strings;
};

static bool find_symbols(struct plt *plt, size_t symbols_index)
{
	Elf_Scn *section = elf_getscn(plt->image->elf, symbols_index);
	GElf_Shdr header;

	if (!symbols_index || !section || !gelf_getshdr(section, &header))
		return false;
	plt->symbols = elf_getdata(section, NULL);
	plt->strings = header.sh_link;
	return plt->symbols != NULL;
}

static bool find_relocations(struct plt *plt)
{
	GElf_Ehdr file;
	GElf_Shdr header;
	Elf_Scn *section;

	if (!gelf_getehdr(plt->image->elf, &file) ||
	    (file.e_machine != EM_X86_64 && file.e_machine != EM_AARCH64))
		return false;
	section = elf_image_section(plt->image, ".rela.plt", &header);
	if (!section || header.sh_type != SHT_RELA || !header.sh_entsize)
		return false;
	plt->relocations = elf_getdata(section, NULL);
	if (!plt->relocations || !find_symbols(plt, header.sh_link))
		return false;
	plt->nr = plt->relocations->d_size / header.sh_entsize;
	return plt->nr <= ELF_SYMBOLS_MAX;
}

/* A copy of the name; NULL if there is none or no memory. */
static char *jump_target(const struct plt *plt, size_t i)
{
	GElf_Rela relocation;
	GElf_Sym symbol;
	const char *name;
	size_t length;

	if (!gelf_getrela(plt->relocations, (int)i, &relocation) ||
	    !GELF_R_SYM(relocation.r_info) ||
	    !gelf_getsym(plt->symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
		return NULL;
	name = elf_image_string(plt->image->elf, plt->strings, symbol.st_name, &length);
	return name && length ? strndup(name, length) : NULL;
}

static int add_jump(struct symbol_table *table, const struct plt *plt, size_t i, uint64_t address)
{
	struct symbol_spec spec = { .size = PLT_JUMP, .rank = SYMBOL_RANK_FUNCTION };
	cleanup_free char *target = NULL;
	char *plain, *name;
	int length, ret;

	if (!elf_image_offset(plt->image, address, &spec.offset))
		return 0;
	target = jump_target(plt, i);
	if (!target)
		return 0;
	plain = demangle(target);
	length = asprintf(&name, "%s@plt", plain ? plain : target);
	free(plain);
	if (length < 0)
		return -ENOMEM;
	spec.name = name;
	spec.name_length = (size_t)length;
	ret = symbol_table_add(table, &spec);
	free(name);
	return ret;
}

static int add_jumps(struct symbol_table *table, const struct plt *plt, const char *section_name)
{
	GElf_Shdr header;
	uint64_t address;
	size_t i;
	int ret = 0;

	if (!elf_image_section(plt->image, section_name, &header) ||
	    header.sh_size / PLT_JUMP < plt->nr)
		return 0;
	address = header.sh_addr + header.sh_size - plt->nr * PLT_JUMP;
	for (i = 0; !ret && i < plt->nr; i++)
		ret = add_jump(table, plt, i, address + i * PLT_JUMP);
	return ret;
}

int plt_symbols_add(struct symbol_table *table, const struct elf_image *image)
{
	struct plt plt = { .image = image };
	int ret;

	if (!find_relocations(&plt))
		return 0;
	ret = add_jumps(table, &plt, ".plt");
	return ret ? ret : add_jumps(table, &plt, ".plt.sec");
}
