// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "elf/elf_check.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define GNU_COMPRESSED "ZLIB" /* precedes the size, in sections named .zdebug */
#define GNU_COMPRESSED_BYTES 12

/* A linked file has some dozens of sections that are not in memory. */
#define PACKABLE_MAX 4096

struct checking {
	const unsigned char *bytes;
	uint64_t size;
	const struct mapped_file *file; /* NULL: memory of our own */
	bool wide; /* ELFCLASS64 */
	uint64_t nr_segments;
	uint64_t nr_sections;
	uint64_t names; /* the section with the section names */
	unsigned int symtabs;
	unsigned int dynsyms;
	uint64_t notes;
	uint64_t copied;
	uint64_t unpacked;
	uint64_t packable; /* sections that may be compressed */
	struct error *err;
};

static bool is_inside(const struct checking *checking, uint64_t at, uint64_t size)
{
	return at <= checking->size && size <= checking->size - at;
}

/* Reads a number in the file; beyond the file's end it is 0. */
static uint64_t number_at(const struct checking *checking, uint64_t at, size_t size)
{
	uint64_t value = 0;

	if (is_inside(checking, at, size))
		memcpy(&value, checking->bytes + at, size);
	return value;
}

/* Reads a member of a struct Elf32_TYPE or Elf64_TYPE at a file offset. */
#define MEMBER(checking, at, type, member)                                                         \
	((checking)->wide ? number_at(checking, (at) + offsetof(Elf64_##type, member),             \
				      sizeof(((Elf64_##type *)0)->member)) :                       \
			    number_at(checking, (at) + offsetof(Elf32_##type, member),             \
				      sizeof(((Elf32_##type *)0)->member)))
#define SIZE(checking, type) ((checking)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static int own(const struct checking *checking, uint64_t at, uint64_t size)
{
	int ret = checking->file ? mapped_file_own(checking->file, at, size) : 0;

	return ret ? error_errno(checking->err, ret, "ELF file") : 0;
}

static int too_many(const struct checking *checking, uint64_t nr, const char *what)
{
	return error_set(checking->err, -E2BIG, "ELF file: %llu %s, more than are read",
			 (unsigned long long)nr, what);
}

/* Files in another byte order cannot run here, and libelf would copy their sections. */
static int read_head(struct checking *checking)
{
	const unsigned char *ident = checking->bytes;

	if (checking->size < sizeof(Elf32_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) ||
	    (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    ident[EI_DATA] != ELFDATA2LSB)
		return error_set(checking->err, -ENOEXEC, "ELF file: not an ELF file");
	checking->wide = ident[EI_CLASS] == ELFCLASS64;
	return 0;
}

/*
 * If a count is too large for its field, the first section header has it. Only core files do that.
 */
static int count_headers(struct checking *checking, uint64_t sections)
{
	checking->nr_segments = MEMBER(checking, 0, Ehdr, e_phnum);
	checking->nr_sections = MEMBER(checking, 0, Ehdr, e_shnum);
	checking->names = MEMBER(checking, 0, Ehdr, e_shstrndx);
	if (checking->nr_segments == PN_XNUM)
		checking->nr_segments = MEMBER(checking, sections, Shdr, sh_info);
	if (!checking->nr_sections && sections)
		checking->nr_sections = MEMBER(checking, sections, Shdr, sh_size);
	if (checking->names == SHN_XINDEX)
		checking->names = MEMBER(checking, sections, Shdr, sh_link);
	if (checking->nr_segments > ELF_SEGMENTS_MAX)
		return too_many(checking, checking->nr_segments, "program headers");
	if (checking->nr_sections > ELF_SECTIONS_MAX)
		return too_many(checking, checking->nr_sections, "sections");
	return 0;
}

static int check_segments(struct checking *checking)
{
	uint64_t at = MEMBER(checking, 0, Ehdr, e_phoff), i;
	int ret = own(checking, at, checking->nr_segments * SIZE(checking, Phdr));

	for (i = 0; !ret && i < checking->nr_segments; i++, at += SIZE(checking, Phdr)) {
		uint64_t size = MEMBER(checking, at, Phdr, p_filesz);

		if (MEMBER(checking, at, Phdr, p_type) == PT_NOTE &&
		    is_inside(checking, MEMBER(checking, at, Phdr, p_offset), size))
			checking->notes += size;
	}
	return ret;
}

/* Each file has one table of each kind, but libelf would accept any number. */
static int check_symbols(const struct checking *checking, unsigned int *nr, uint64_t size)
{
	if (++*nr > 1)
		return too_many(checking, *nr, "symbol tables of a kind");
	if (size / SIZE(checking, Sym) > ELF_SYMBOLS_MAX)
		return too_many(checking, size / SIZE(checking, Sym), "symbols");
	return 0;
}

/* Names are searched by strlen(), which needs a final NUL. */
static int check_names(const struct checking *checking, uint64_t at, uint64_t size)
{
	int ret = size ? own(checking, at + size - 1, 1) : 0;

	if (!ret && (!size || checking->bytes[at + size - 1]))
		ret = error_set(checking->err, -EIO, "ELF file: names of sections without an end");
	return ret;
}

/* libelf's alignment for entries of a section type; 1: bytes. */
static uint64_t entry_alignment(const struct checking *checking, uint64_t type)
{
	switch (type) {
	case SHT_PROGBITS:
	case SHT_STRTAB:
	case SHT_SHLIB:
		return 1;
	case SHT_GNU_versym:
		return 2;
	case SHT_HASH:
	case SHT_GNU_HASH:
	case SHT_GROUP:
	case SHT_SYMTAB_SHNDX:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
	case SHT_NOTE:
		return 4;
	default:
		if (type >= SHT_LOPROC)
			return 1;
		return checking->wide ? sizeof(Elf64_Addr) : sizeof(Elf32_Addr);
	}
}

/*
 * libelf copies the whole section if it cannot read the entries in place, even a hole of gigabytes.
 * No linker makes such a section.
 */
static int check_copied(struct checking *checking, uint64_t type, uint64_t at, uint64_t size)
{
	uint64_t alignment = entry_alignment(checking, type);

	if (at % alignment)
		checking->copied += size;
	if (checking->copied <= ELF_COPIED_MAX)
		return 0;
	return too_many(checking, checking->copied, "bytes of misaligned sections");
}

static int check_section(struct checking *checking, uint64_t index, uint64_t header)
{
	uint64_t type = MEMBER(checking, header, Shdr, sh_type);
	uint64_t at = MEMBER(checking, header, Shdr, sh_offset);
	uint64_t size = MEMBER(checking, header, Shdr, sh_size);
	int ret = 0;

	/* libelf returns no data for a section beyond the file's end. */
	if (type == SHT_NULL || type == SHT_NOBITS || !is_inside(checking, at, size))
		return 0;
	if (index == checking->names)
		ret = check_names(checking, at, size);
	if (!ret)
		ret = check_copied(checking, type, at, size);
	if (ret)
		return ret;
	if (type == SHT_SYMTAB)
		return check_symbols(checking, &checking->symtabs, size);
	if (type == SHT_DYNSYM)
		return check_symbols(checking, &checking->dynsyms, size);
	if (type == SHT_NOTE)
		checking->notes += size;
	return 0;
}

static int check_sections(struct checking *checking, uint64_t sections)
{
	int ret = own(checking, sections, checking->nr_sections * SIZE(checking, Shdr));
	uint64_t i;

	for (i = 0; !ret && i < checking->nr_sections; i++)
		ret = check_section(checking, i, sections + i * SIZE(checking, Shdr));
	return ret;
}

static int check_all(struct checking *checking)
{
	uint64_t sections;
	int ret = own(checking, 0, sizeof(Elf64_Ehdr));

	if (!ret)
		ret = read_head(checking);
	if (ret)
		return ret;
	sections = MEMBER(checking, 0, Ehdr, e_shoff);
	ret = own(checking, sections, SIZE(checking, Shdr));
	if (!ret)
		ret = count_headers(checking, sections);
	if (!ret)
		ret = check_segments(checking);
	if (!ret)
		ret = check_sections(checking, sections);
	if (!ret && checking->notes > ELF_NOTES_MAX)
		ret = too_many(checking, checking->notes, "bytes of notes");
	return ret;
}

/* Returns a section's unpacked size, by its first bytes; 0: it is not compressed. */
static uint64_t unpacked_size(const struct checking *checking, uint64_t at, uint64_t flags)
{
	uint64_t size = 0;
	size_t i;

	if (flags & SHF_COMPRESSED) {
		size = MEMBER(checking, at, Chdr, ch_size);
	} else if (is_inside(checking, at, GNU_COMPRESSED_BYTES) &&
		   !memcmp(checking->bytes + at, GNU_COMPRESSED, strlen(GNU_COMPRESSED))) {
		for (i = strlen(GNU_COMPRESSED); i < GNU_COMPRESSED_BYTES; i++)
			size = size << 8 | checking->bytes[at + i];
	}
	return size > ELF_UNPACKED_MAX ? ELF_UNPACKED_MAX + 1ULL : size;
}

/*
 * Only sections that are not in a program's memory, such as debug information, can be compressed.
 */
static int check_packed(struct checking *checking, uint64_t header)
{
	uint64_t type = MEMBER(checking, header, Shdr, sh_type);
	uint64_t flags = MEMBER(checking, header, Shdr, sh_flags);
	uint64_t at = MEMBER(checking, header, Shdr, sh_offset);
	int ret;

	if (!(flags & SHF_COMPRESSED) && (type != SHT_PROGBITS || flags & SHF_ALLOC))
		return 0;
	if (++checking->packable > PACKABLE_MAX)
		return too_many(checking, checking->packable, "sections of debug information");
	ret = own(checking, at, sizeof(Elf64_Chdr));
	if (!ret)
		checking->unpacked += unpacked_size(checking, at, flags);
	if (checking->unpacked > ELF_UNPACKED_MAX)
		return error_set(checking->err, -E2BIG,
				 "ELF file: compressed sections of more than %d MiB",
				 ELF_UNPACKED_MAX >> 20);
	return ret;
}

int elf_check_packed(const struct mapped_file *file, struct error *err)
{
	struct checking checking = { .bytes = file->bytes,
				     .size = file->size,
				     .file = file,
				     .err = err };
	uint64_t sections, i;
	int ret = read_head(&checking);

	sections = MEMBER(&checking, 0, Ehdr, e_shoff);
	if (!ret)
		ret = count_headers(&checking, sections);
	for (i = 0; !ret && i < checking.nr_sections; i++)
		ret = check_packed(&checking, sections + i * SIZE(&checking, Shdr));
	return ret;
}

int elf_check_file(const struct mapped_file *file, struct error *err)
{
	struct checking checking = { .bytes = file->bytes,
				     .size = file->size,
				     .file = file,
				     .err = err };

	return check_all(&checking);
}

int elf_check_memory(const void *memory, size_t size, struct error *err)
{
	struct checking checking = { .bytes = memory, .size = size, .err = err };

	return check_all(&checking);
}
