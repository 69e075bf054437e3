// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbol/debug_file.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol.h"

struct symbol_section {
	Elf *elf;
	const struct elf_frames *frames;
	Elf_Data *symbols;
	Elf_Data *extended; /* section indices that do not fit st_shndx, or NULL */
	size_t strings;
	size_t nr;
};

static bool is_elf_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/*
 * Untyped symbols are taken if they are in code; aarch64's $x and $d only mark where code starts.
 */
static bool names_text(const GElf_Sym *symbol, const GElf_Shdr *section,
		       const struct symbol_spec *spec)
{
	if (is_elf_function(symbol))
		return true;
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && (section->sh_flags & SHF_EXECINSTR) &&
	       spec->name[0] != '$';
}

static unsigned int symbol_rank(const GElf_Sym *symbol)
{
	unsigned int rank = SYMBOL_RANK_LOCAL;

	if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		rank |= SYMBOL_RANK_EXPORTED;
	if (is_elf_function(symbol))
		rank |= SYMBOL_RANK_FUNCTION;
	return rank;
}

static bool read_elf_symbol(const struct symbol_section *from, size_t i, GElf_Sym *symbol,
			    GElf_Shdr *section, struct symbol_spec *spec)
{
	const char *version;
	Elf32_Word index = 0;

	if (!gelf_getsymshndx(from->symbols, from->extended, (int)i, symbol, &index))
		return false;
	if (symbol->st_shndx != SHN_XINDEX)
		index = symbol->st_shndx;
	if (index == SHN_UNDEF ||
	    (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return false;
	if (!gelf_getshdr(elf_getscn(from->elf, index), section))
		return false;
	spec->name =
		elf_image_string(from->elf, from->strings, symbol->st_name, &spec->name_length);
	if (!spec->name || !spec->name_length)
		return false;
	/* Old libraries have symbol versions in the names. */
	version = memchr(spec->name, '@', spec->name_length);
	if (version)
		spec->name_length = (size_t)(version - spec->name);
	return true;
}

/*
 * Hand-written assembly often gives symbols no size, and has no symbols at all for some functions.
 */
static void bound_unsized_symbols(const struct symbol_section *from, uint64_t address,
				  struct symbol_spec *spec)
{
	bool known;
	uint64_t room = elf_frames_room(from->frames, address, &known);

	if (room < spec->limit - spec->offset)
		spec->limit = spec->offset + room;
	spec->loose = !known;
}

static int add_symbol(struct symbol_table *table, const struct elf_image *image,
		      const struct symbol_section *from, size_t i)
{
	struct symbol_spec spec = { 0 };
	GElf_Shdr section;
	GElf_Sym symbol;

	if (!read_elf_symbol(from, i, &symbol, &section, &spec) ||
	    !names_text(&symbol, &section, &spec) ||
	    !elf_image_offset(image, symbol.st_value, &spec.offset))
		return 0;
	spec.size = symbol.st_size;
	spec.limit = spec.offset + (section.sh_addr + section.sh_size - symbol.st_value);
	spec.rank = symbol_rank(&symbol);
	if (!spec.size)
		bound_unsized_symbols(from, symbol.st_value, &spec);
	return spec.name_length ? symbol_table_add(table, &spec) : 0;
}

static Elf_Data *extended_indices(Elf *elf, size_t symbols)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == symbols)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static int add_section(struct symbol_table *table, const struct elf_image *image,
		       const struct elf_frames *frames, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header)
{
	struct symbol_section from = { .elf = elf, .frames = frames, .strings = header->sh_link };
	size_t i;
	int ret = 0;

	from.symbols = elf_getdata(section, NULL);
	if (!from.symbols || !header->sh_entsize)
		return 0;
	from.extended = extended_indices(elf, elf_ndxscn(section));
	from.nr = from.symbols->d_size / header->sh_entsize;
	for (i = 1; !ret && i < from.nr; i++)
		ret = add_symbol(table, image, &from, i);
	return ret;
}

int elf_symbols_add(struct symbol_table *table, const struct elf_image *image, Elf *elf,
		    bool *has_symtab)
{
	struct elf_frames frames;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	elf_frames_find(image, &frames);
	while (!ret && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			*has_symtab = true;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			ret = add_section(table, image, &frames, elf, section, &header);
	}
	return ret;
}

static int add_debug_file(struct symbol_table *table, const struct elf_image *image, int fd,
			  const char *path, const char *root, bool *has_symtab)
{
	struct elf_image debug;
	int debug_fd, ret = 0;

	debug_fd = debug_file_open(image->elf, fd, path, root, NULL);
	if (debug_fd < 0)
		return debug_fd == -ENOMEM ? debug_fd : 0;
	if (!elf_image_open(debug_fd, &debug, NULL)) {
		ret = elf_symbols_add(table, image, debug.elf, has_symtab);
		elf_image_close(&debug);
	}
	close(debug_fd);
	return ret;
}

/* fd -1: an image in memory, which has no debug file. Takes over image. */
static int load_image(struct elf_image *image, int fd, const char *path, const char *root,
		      struct symbol_table **result, struct error *err)
{
	struct symbol_table *table;
	bool has_symtab = false;
	int ret = -ENOMEM;

	table = symbol_table_new(SYMBOL_INNERMOST);
	if (!table)
		goto out;
	ret = elf_symbols_add(table, image, image->elf, &has_symtab);
	if (!ret && !has_symtab && fd >= 0)
		ret = add_debug_file(table, image, fd, path, root, &has_symtab);
	if (!ret && !has_symtab)
		ret = mini_symbols_add(table, image, &has_symtab);
	if (!ret && !has_symtab)
		ret = frame_symbols_add(table, image, path);
	if (!ret)
		ret = plt_symbols_add(table, image);
	if (!ret)
		ret = symbol_table_finish(table);
out:
	elf_image_close(image);
	if (ret) {
		symbol_table_free(table);
		return symbol_table_failure(ret, path, err);
	}
	*result = table;
	return 0;
}

int symbol_table_load_elf(int fd, const char *path, const char *root, struct symbol_table **result,
			  struct error *err)
{
	struct elf_image image;
	int ret;

	ret = elf_image_open(fd, &image, err);
	return ret ? ret : load_image(&image, fd, path, root, result, err);
}

int symbol_table_load_memory(const void *memory, size_t size, struct symbol_table **result,
			     struct error *err)
{
	struct elf_image image;
	int ret;

	ret = elf_image_open_memory(memory, size, &image, err);
	return ret ? ret : load_image(&image, -1, "memory", "", result, err);
}
