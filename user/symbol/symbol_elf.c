// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/debug_file.h"
#include "symbol/pclntab.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"

/*
 * The sources of a symbol table are functions NAME_symbols_add(). Each adds its symbols at the file
 * offsets of image, the mapped file. Malformed sources add nothing. They return 0, or -ENOMEM and
 * the like.
 */

/* The size of a jump on x86-64 and aarch64. Extra bytes of .plt are a header at its start. */
#define PLT_JUMP 16
#define PLT_HEADER_MAX 32

/* A relocation, and the address of the word that its jump reads. */
struct plt_slot {
	uint64_t address;
	size_t relocation;
};

struct plt {
	const struct elf_image *image;
	Elf_Data *relocations; /* .rela.plt */
	struct plt_slot *slots; /* in the order of the jumps */
	size_t nr;
	Elf_Data *symbols;
	size_t strings;
	bool is_arm64;
	bool has_others; /* .rela.plt also has relocations without a jump */
	uint64_t address; /* of the first jump */
};

static bool find_symbols(struct plt *plt, size_t symbols_index)
{
	Elf_Scn *section = elf_getscn(plt->image->elf, symbols_index);
	GElf_Shdr header;

	if (!symbols_index || !section || !gelf_getshdr(section, &header))
		return false;
	plt->symbols = elf_section_entries(section);
	plt->strings = header.sh_link;
	return plt->symbols != NULL;
}

static bool has_jump(const struct plt *plt, size_t i, struct plt_slot *slot)
{
	GElf_Rela relocation;
	uint64_t type;

	if (!gelf_getrela(plt->relocations, (int)i, &relocation))
		return false;
	*slot = (struct plt_slot){ relocation.r_offset, i };
	type = GELF_R_TYPE(relocation.r_info);
	return plt->is_arm64 ? type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_IRELATIVE :
			       type == R_X86_64_JUMP_SLOT || type == R_X86_64_IRELATIVE;
}

DEFINE_COMPARE_2(compare_slots, struct plt_slot, address, relocation)

/*
 * The words are in the order of the jumps. The relocations are not: ld puts those of the file's own
 * indirect functions (IRELATIVE) at the end, in reverse. Those of thread-local variables (TLSDESC)
 * come after all jumps and have none.
 */
static int order_jumps(struct plt *plt)
{
	const size_t all = plt->nr;

	plt->slots = calloc(all + 1, sizeof(*plt->slots));
	if (!plt->slots)
		return -ENOMEM;
	for (plt->nr = 0; plt->nr < all && has_jump(plt, plt->nr, &plt->slots[plt->nr]);)
		plt->nr++;
	plt->has_others = plt->nr < all;
	SORT(plt->slots, plt->nr, compare_slots);
	return 0;
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
	plt->relocations = elf_section_entries(section);
	if (!plt->relocations || !find_symbols(plt, header.sh_link))
		return false;
	plt->nr = plt->relocations->d_size / header.sh_entsize;
	if (plt->nr > ELF_SYMBOLS_MAX)
		return false;
	plt->is_arm64 = file.e_machine == EM_AARCH64;
	return true;
}

/* Returns a copy of the name; NULL: there is none, or no memory. */
static char *jump_target(const struct plt *plt, size_t i)
{
	GElf_Rela relocation;
	GElf_Sym symbol;
	const char *name;
	size_t length;

	if (!gelf_getrela(plt->relocations, (int)plt->slots[i].relocation, &relocation) ||
	    !GELF_R_SYM(relocation.r_info) ||
	    !gelf_getsym(plt->symbols, (int)GELF_R_SYM(relocation.r_info), &symbol))
		return NULL;
	name = elf_image_string(plt->image->elf, plt->strings, symbol.st_name, &length);
	return name && length ? strndup(name, length) : NULL;
}

static uint64_t jump_start(const struct symbol_source *source, size_t i)
{
	const struct plt *plt = source->from;

	return plt->address + i * PLT_JUMP;
}

static int add_jump(struct symbol_table *table, const struct symbol_source *source, size_t i)
{
	struct symbol_spec spec = { .size = PLT_JUMP, .rank = SYMBOL_RANK_FUNCTION };
	cleanup_free char *target = NULL, *plain = NULL, *name = NULL;

	if (!elf_image_offset(source->image, jump_start(source, i), &spec.offset))
		return 0;
	target = jump_target(source->from, i);
	if (!target)
		return 0;
	spec.name = target;
	spec.name_length = strlen(target);
	if (!symbol_table_keeps(table, &spec))
		return symbol_table_add(table, &spec);
	plain = demangle(target);
	name = format_text("%s@plt", plain ? plain : target);
	if (!name)
		return -ENOMEM;
	spec.name = name;
	spec.name_length = strlen(name);
	return symbol_table_add(table, &spec);
}

/* begin: where in the section the first jump is. */
static int add_jumps(struct symbol_table *table, struct plt *plt, const char *section_name,
		     uint64_t begin)
{
	const struct symbol_source jumps = { .image = plt->image,
					     .from = plt,
					     .nr = plt->nr,
					     .start = jump_start,
					     .add = add_jump };
	GElf_Shdr header;
	uint64_t extra;

	if (!elf_image_section(plt->image, section_name, &header) ||
	    header.sh_size / PLT_JUMP < plt->nr)
		return 0;
	/* Retpolines are longer, and on arm64 signed or guarded jumps. */
	extra = header.sh_size - plt->nr * PLT_JUMP;
	if ((!plt->has_others && extra > (begin ? PLT_HEADER_MAX : 0)) ||
	    (plt->is_arm64 && header.sh_entsize > PLT_JUMP))
		return 0;
	/* The jumps come last, unless one for other relocations follows. */
	plt->address = header.sh_addr + extra;
	if (plt->has_others)
		plt->address = header.sh_addr + begin;
	return symbol_table_add_sorted(table, &jumps);
}

/* Adds NAME@plt for the jumps of .plt and .plt.sec. */
static int plt_symbols_add(struct symbol_table *table, const struct elf_image *image)
{
	struct plt plt = { .image = image };
	int ret;

	if (!find_relocations(&plt))
		return 0;
	ret = order_jumps(&plt);
	if (!ret)
		ret = add_jumps(table, &plt, ".plt", plt.is_arm64 ? 32 : PLT_JUMP);
	if (!ret)
		ret = add_jumps(table, &plt, ".plt.sec", 0);
	free(plt.slots);
	return ret;
}

/*
 * Functions from unwind information: .eh_frame_hdr has their starts, sorted for a binary search,
 * and .eh_frame their lengths. In a stripped file they replace symbols. Their names are only their
 * places, but a function becomes one row instead of one for each pc. They also show where a symbol
 * without a size ends.
 *
 * The header (Linux Standard Base, "Exception Frame Header") has a version, the encodings of the
 * pointer to .eh_frame, of the count and of the table, and then these values. All linkers use the
 * encodings below.
 */
#define HEADER_VERSION 1
#define POINTER_PCREL_SDATA4 0x1b
#define COUNT_UDATA4 0x03
#define TABLE_DATAREL_SDATA4 0x3b
#define HEADER_BYTES 12
#define ENTRY_BYTES 8

/*
 * A description (FDE): its length, the distance to its CIE, the start of its function relative to
 * this field itself, and the function's length.
 */
#define DESCRIPTION_START 8
#define DESCRIPTION_SIZE 12
#define DESCRIPTION_BYTES 16

struct elf_frames {
	const unsigned char *entries; /* pairs of int32: start and description, from address */
	size_t nr; /* 0: unknown */
	uint64_t address;
	const unsigned char *descriptions; /* NULL: not readable */
	size_t descriptions_size;
	uint64_t descriptions_address;
};

static uint32_t read_uint32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const unsigned char *section_bytes(const struct elf_image *image, const char *name,
					  uint64_t *address, size_t *size)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, name, &header);
	Elf_Data *data = elf_section_bytes(section);

	if (!data)
		return NULL;
	*address = header.sh_addr;
	*size = data->d_size;
	return data->d_buf;
}

static void elf_frames_find(const struct elf_image *image, struct elf_frames *result)
{
	static const unsigned char known[] = { HEADER_VERSION, POINTER_PCREL_SDATA4, COUNT_UDATA4,
					       TABLE_DATAREL_SDATA4 };
	const unsigned char *header;
	size_t size, nr;

	*result = (struct elf_frames){ 0 };
	header = section_bytes(image, ".eh_frame_hdr", &result->address, &size);
	if (!header || size < HEADER_BYTES || memcmp(header, known, sizeof(known)))
		return;
	result->entries = header + HEADER_BYTES;
	nr = read_uint32(result->entries - sizeof(uint32_t));
	if (nr <= ELF_SYMBOLS_MAX && nr <= (size - HEADER_BYTES) / ENTRY_BYTES)
		result->nr = nr;
	result->descriptions = section_bytes(image, ".eh_frame", &result->descriptions_address,
					     &result->descriptions_size);
}

/* Reads an int32 relative to the header's address. */
static uint64_t datarel(const struct elf_frames *frames, const unsigned char *at)
{
	return frames->address + (uint64_t)(int64_t)(int32_t)read_uint32(at);
}

static uint64_t frame_start(const struct elf_frames *frames, size_t i)
{
	return datarel(frames, frames->entries + i * ENTRY_BYTES);
}

/*
 * Returns the length of a function, or 0. The CIE has the encoding of a description, but is not
 * read. If the start, in the usual encoding, equals the one in the header, the encoding is right.
 */
static uint64_t frame_size(const struct elf_frames *frames, size_t i)
{
	uint64_t address = datarel(frames, frames->entries + i * ENTRY_BYTES + sizeof(uint32_t));
	uint64_t at = address - frames->descriptions_address, start;
	const unsigned char *description;

	if (!frames->descriptions || at >= frames->descriptions_size ||
	    frames->descriptions_size - at < DESCRIPTION_BYTES)
		return 0;
	description = frames->descriptions + at;
	start = address + DESCRIPTION_START +
		(uint64_t)(int64_t)(int32_t)read_uint32(description + DESCRIPTION_START);
	return start == frame_start(frames, i) ? read_uint32(description + DESCRIPTION_SIZE) : 0;
}

/* The number of functions that begin at or before an address. */
static size_t frames_before(const struct elf_frames *frames, uint64_t address)
{
	return BISECT(i, frames->nr, frame_start(frames, i) <= address);
}

/*
 * How far a function at this address may reach. If *known, to the end of the described function,
 * else to the start of the next one.
 */
static uint64_t elf_frames_room(const struct elf_frames *frames, uint64_t address, bool *known)
{
	size_t next = frames_before(frames, address);
	uint64_t into, size;

	*known = false;
	if (next) {
		into = address - frame_start(frames, next - 1);
		size = frame_size(frames, next - 1);
		*known = into < size;
		if (*known)
			return size - into;
	}
	return next < frames->nr ? frame_start(frames, next) - address : UINT64_MAX;
}

/* The end of the segment with an offset. */
static uint64_t text_end(const struct elf_image *image, uint64_t offset)
{
	const struct profile_text *text = profile_text_at(image->text, image->nr_text, offset);

	return text ? text->offset + text->size : offset;
}

/* The functions, as a source of symbols. */
struct frame_source {
	struct elf_frames frames;
	const char *base; /* prefix of all names */
};

static uint64_t source_start(const struct symbol_source *source, size_t i)
{
	const struct frame_source *from = source->from;

	return frame_start(&from->frames, i);
}

static int add_frame(struct symbol_table *table, const struct symbol_source *source, size_t i)
{
	const struct frame_source *from = source->from;
	struct symbol_spec spec = { .place = true,
				    .rank = SYMBOL_RANK_LOCAL,
				    .name = from->base,
				    .name_length = NAME_MAX };
	uint64_t size = frame_size(&from->frames, i);

	if (!elf_image_offset(source->image, frame_start(&from->frames, i), &spec.offset))
		return 0;
	/*
	 * Set the limit and not the size: a symbol without a size at this place has a better name.
	 */
	spec.limit = text_end(source->image, spec.offset);
	if (size && size < spec.limit - spec.offset)
		spec.limit = spec.offset + size;
	return symbol_table_add(table, &spec);
}

/*
 * Adds OBJECT+0xOFFSET for each function in the unwind information, for files without better names.
 */
static int frame_symbols_add(struct symbol_table *table, const struct elf_image *image,
			     const char *path)
{
	const char *slash = strrchr(path, '/');
	struct frame_source from = { .base = slash ? slash + 1 : path };
	struct symbol_source source = { .image = image,
					.from = &from,
					.places = true,
					.start = source_start,
					.add = add_frame };

	elf_frames_find(image, &from.frames);
	source.nr = from.frames.nr;
	return symbol_table_add_sorted(table, &source);
}

/*
 * The sections of a file. A large file has a million symbols, and libelf would search the section
 * of each.
 */
struct section_place {
	uint64_t end;
	bool is_code;
	bool exists;
};

struct symbol_section {
	const struct elf_frames *frames;
	const struct section_place *places;
	size_t nr_places;
	Elf_Data *symbols;
	Elf_Data *extended; /* section indices that do not fit st_shndx; or NULL */
	Elf_Data *strings;
	size_t nr;
	bool wide; /* Elf64_Sym; read directly, because gelf_getsym() takes a lock for each */
};

static bool is_elf_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/*
 * Accepts untyped symbols in code, and objects, which GHC makes of Haskell's functions. aarch64's $x
 * and $d only mark where code starts.
 */
static bool names_text(const GElf_Sym *symbol, const struct section_place *section,
		       const struct symbol_spec *spec)
{
	return is_elf_function(symbol) || (section->is_code && spec->name[0] != '$');
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
			    const struct section_place **section, struct symbol_spec *spec)
{
	Elf32_Word index;

	if (from->wide)
		memcpy(symbol, (const char *)from->symbols->d_buf + i * sizeof(*symbol),
		       sizeof(*symbol));
	else if (!gelf_getsym(from->symbols, (int)i, symbol))
		return false;
	if (!is_elf_function(symbol) && GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE &&
	    GELF_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return false;
	index = symbol->st_shndx;
	if (index == SHN_XINDEX &&
	    !gelf_getsymshndx(from->symbols, from->extended, (int)i, symbol, &index))
		return false;
	if (index == SHN_UNDEF ||
	    (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return false;
	if (index >= from->nr_places || !from->places[index].exists)
		return false;
	*section = &from->places[index];
	if (!symbol->st_name || symbol->st_name >= from->strings->d_size)
		return false;
	spec->name = (const char *)from->strings->d_buf + symbol->st_name;
	spec->name_length = min_size(from->strings->d_size - symbol->st_name, ELF_NAME_MAX);
	/* Old libraries have symbol versions in the names. */
	spec->versioned = true;
	return true;
}

/* Hand-written assembly often has symbols without size, and functions without symbols. */
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
	const struct section_place *section;
	struct symbol_spec spec = { 0 };
	GElf_Sym symbol;

	if (!read_elf_symbol(from, i, &symbol, &section, &spec) ||
	    !names_text(&symbol, section, &spec) ||
	    !elf_image_offset(image, symbol.st_value, &spec.offset))
		return 0;
	spec.size = symbol.st_size;
	spec.limit = spec.offset + (section->end - symbol.st_value);
	spec.rank = symbol_rank(&symbol);
	/*
	 * Names and frames are scattered in a large file. Therefore read them only for symbols that
	 * are kept.
	 */
	if (symbol_table_keeps(table, &spec)) {
		if (!*spec.name || *spec.name == '@')
			return 0;
		if (!spec.size)
			bound_unsized_symbols(from, symbol.st_value, &spec);
	}
	return symbol_table_add(table, &spec);
}

static Elf_Data *extended_indices(Elf *elf, size_t symbols)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == symbols)
			return elf_section_entries(section);
	}
	return NULL;
}

static int add_section(struct symbol_table *table, const struct elf_image *image,
		       struct symbol_section from, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header)
{
	size_t i;
	int ret = 0;

	from.symbols = elf_section_entries(section);
	from.strings = elf_section_bytes(elf_getscn(elf, header->sh_link));
	if (!from.symbols || !from.strings || !header->sh_entsize)
		return 0;
	from.extended = extended_indices(elf, elf_ndxscn(section));
	from.nr = from.symbols->d_size / header->sh_entsize;
	from.wide = header->sh_entsize >= sizeof(Elf64_Sym) && gelf_getclass(elf) == ELFCLASS64;
	for (i = 1; !ret && i < from.nr; i++)
		ret = add_symbol(table, image, &from, i);
	return ret;
}

/* NULL: out of memory. */
static struct section_place *find_sections(Elf *elf, size_t *nr)
{
	struct section_place *places;
	GElf_Shdr header;
	size_t i;

	if (elf_getshdrnum(elf, nr))
		*nr = 0;
	places = calloc(*nr + 1, sizeof(*places));
	for (i = 0; places && i < *nr; i++)
		if (gelf_getshdr(elf_getscn(elf, i), &header))
			places[i] =
				(struct section_place){ .end = header.sh_addr + header.sh_size,
							.is_code = header.sh_flags & SHF_EXECINSTR,
							.exists = true };
	return places;
}

/* Adds .symtab and .dynsym of elf, which is image's own file or its debug file. */
static int elf_symbols_add(struct symbol_table *table, const struct elf_image *image, Elf *elf,
			   bool *has_symtab)
{
	struct elf_frames frames;
	struct symbol_section from = { .frames = &frames };
	cleanup_free struct section_place *places = find_sections(elf, &from.nr_places);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	if (!places)
		return -ENOMEM;
	from.places = places;
	elf_frames_find(image, &frames);
	while (!ret && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			*has_symtab = true;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			ret = add_section(table, image, from, elf, section, &header);
	}
	return ret;
}

/*
 * xz compresses by up to 7,000, and the file may be hostile. Therefore limit the unpacked size.
 * Fedora's largest tables have a few megabytes.
 */
#define UNPACKED_MAX (64UL << 20)
#define DECODER_MEMORY (64UL << 20)

/*
 * liblzma usually comes with libdw. Use it directly, because libdw unpacks without a limit. If
 * libdw was built without it, such tables are not read.
 */
#define LZMA_CALLS(call) call(lzma_stream_decoder) call(lzma_code) call(lzma_end)

LIBRARY(LZMA_CALLS, NULL, "liblzma5")

/* Returns 0 with *result NULL if the data is malformed or too large. */
static int unpack(const Elf_Data *packed, void **result, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = 256 << 10;
	char *out = NULL, *grown;
	lzma_ret status;

	*result = NULL;
	status = lib.lzma_stream_decoder(&stream, DECODER_MEMORY, 0);
	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (status == LZMA_OK && room < UNPACKED_MAX) {
		room *= 2;
		grown = realloc(out, room);
		if (!grown) {
			status = LZMA_MEM_ERROR;
			break;
		}
		out = grown;
		stream.next_out = (uint8_t *)out + stream.total_out;
		stream.avail_out = room - stream.total_out;
		status = lib.lzma_code(&stream, LZMA_FINISH);
	}
	*size = stream.total_out;
	lib.lzma_end(&stream);
	if (status == LZMA_STREAM_END) {
		*result = out;
		return 0;
	}
	free(out);
	return status == LZMA_MEM_ERROR ? -ENOMEM : 0;
}

/* Adds the compressed symbol table in .gnu_debugdata. */
static int mini_symbols_add(struct symbol_table *table, const struct elf_image *image,
			    bool *has_symtab)
{
	struct elf_image mini;
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *packed;
	void *memory;
	size_t size;
	int ret;

	section = elf_image_section(image, ".gnu_debugdata", &header);
	packed = elf_section_bytes(section);
	if (!packed || load_library(NULL))
		return 0;
	ret = unpack(packed, &memory, &size);
	if (ret || !memory)
		return ret;
	if (!elf_image_open_memory(memory, size, &mini, NULL)) {
		ret = elf_symbols_add(table, image, mini.elf, has_symtab);
		elf_image_close(&mini);
	}
	free(memory);
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

/* fd -1: an image in memory, which has no debug file. */
static int add_all(struct symbol_table *table, const struct elf_image *image, int fd,
		   const char *path, const char *root)
{
	bool has_symtab = false;
	int ret = elf_symbols_add(table, image, image->elf, &has_symtab);

	if (!ret && !has_symtab && fd >= 0)
		ret = add_debug_file(table, image, fd, path, root, &has_symtab);
	if (!ret && !has_symtab)
		ret = mini_symbols_add(table, image, &has_symtab);
	if (!ret && !has_symtab)
		ret = pclntab_symbols_add(table, image);
	if (!ret && !has_symtab)
		ret = frame_symbols_add(table, image, path);
	return ret ? ret : plt_symbols_add(table, image);
}

static int check_build(const struct elf_image *image, const char *wanted)
{
	cleanup_free char *found = NULL;
	int ret = build_id_read(image->elf, &found);

	return ret || !wanted || !found || !strcmp(found, wanted) ? ret : -ESTALE;
}

/* Consumes image. wanted NULL: all symbols. */
static int load_image(struct elf_image *image, int fd, const char *path, const char *root,
		      const char *build_id, const struct symbol_wanted *wanted,
		      struct symbol_table **result, struct error *err)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);
	int ret = table ? check_build(image, build_id) : -ENOMEM;

	if (!ret && wanted)
		ret = symbol_table_survey(table, wanted);
	if (!ret && wanted)
		ret = add_all(table, image, fd, path, root);
	if (!ret && wanted)
		symbol_table_select(table);
	if (!ret)
		ret = add_all(table, image, fd, path, root);
	if (!ret)
		ret = symbol_table_finish(table);
	elf_image_close(image);
	if (!ret) {
		*result = table;
		return 0;
	}
	symbol_table_free(table);
	return symbol_table_failure(ret, path, err);
}

int symbol_table_load_elf(int fd, const char *path, const char *root, const char *build_id,
			  const struct symbol_wanted *wanted, struct symbol_table **result,
			  struct error *err)
{
	struct elf_image image;
	int ret = elf_image_open(fd, &image, err);

	return ret ?: load_image(&image, fd, path, root, build_id, wanted, result, err);
}

int symbol_table_load_memory(const void *memory, size_t size, const char *build_id,
			     struct symbol_table **result, struct error *err)
{
	struct elf_image image;
	int ret = elf_image_open_memory(memory, size, &image, err);

	return ret ?: load_image(&image, -1, "memory", "", build_id, NULL, result, err);
}
