// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "hostile.h"

#include <criterion/criterion.h>

#include "base/util.h"
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096UL
#define NR_TABLES 60000
#define NR_NAMES 4096
#define NAME_BYTES (16UL << 20)
#define LINK "hole.debug"
#define LINK_BYTES (15UL << 40)

/* A file that is being built: the base file, followed by what is added. */
struct building {
	const char *folder;
	int fd;
	unsigned char *base;
	size_t end; /* size of the file so far */
	Elf64_Ehdr head;
	Elf64_Shdr *sections; /* has room for NR_TABLES more */
	size_t nr;
};

static const char *const names[HOSTILE_KINDS] = { "segments",  "tables", "symbols", "names",
						  "link",      "packed", "endless", "notes",
						  "cut",       "frames", "rows",    "copied",
						  "functions", "circle", "beyond" };

const char *hostile_name(enum hostile_kind kind)
{
	return names[kind];
}

static void put(const struct building *file, const void *bytes, size_t size, size_t at)
{
	cr_assert_eq(pwrite(file->fd, bytes, size, (off_t)at), (ssize_t)size);
}

/* Adds whole pages, which stay a hole where nothing is written. */
static size_t add_room(struct building *file, size_t size)
{
	size_t at = (file->end + PAGE - 1) / PAGE * PAGE;

	file->end = at + size;
	cr_assert_eq(ftruncate(file->fd, (off_t)file->end), 0, "%zu bytes", file->end);
	return at;
}

static void load(struct building *file, const char *base)
{
	int fd = open(base, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	cr_assert(fd >= 0 && !fstat(fd, &stat), "%s", base);
	file->end = (size_t)stat.st_size;
	file->base = malloc(file->end);
	cr_assert(file->base && read(fd, file->base, file->end) == stat.st_size);
	close(fd);
	memcpy(&file->head, file->base, sizeof(file->head));
	file->nr = file->head.e_shnum;
	file->sections = calloc(file->nr + NR_TABLES, sizeof(*file->sections));
	cr_assert(file->sections);
	memcpy(file->sections, file->base + file->head.e_shoff, file->nr * sizeof(Elf64_Shdr));
	put(file, file->base, file->end, 0);
}

static void finish(struct building *file)
{
	size_t size = file->nr * sizeof(*file->sections);

	file->head.e_shoff = add_room(file, size);
	file->head.e_shnum = file->nr < SHN_LORESERVE ? (Elf64_Half)file->nr : 0;
	put(file, file->sections, size, file->head.e_shoff);
	put(file, &file->head, sizeof(file->head), 0);
	free(file->sections);
	free(file->base);
	close(file->fd);
}

static Elf64_Shdr *find_type(const struct building *file, uint32_t type)
{
	size_t i;

	for (i = 0; i < file->nr && file->sections[i].sh_type != type; i++)
		;
	cr_assert_lt(i, file->nr, "no section of type %u", type);
	return &file->sections[i];
}

/* NULL: there is none in the base file. */
static Elf64_Shdr *look_for_name(const struct building *file, const char *name)
{
	Elf64_Ehdr base;
	const Elf64_Shdr *strings;
	size_t i;

	memcpy(&base, file->base, sizeof(base));
	strings = (const Elf64_Shdr *)(file->base + base.e_shoff) + base.e_shstrndx;
	for (i = 0; i < base.e_shnum; i++)
		if (!strcmp((char *)file->base + strings->sh_offset + file->sections[i].sh_name,
			    name))
			return &file->sections[i];
	return NULL;
}

static Elf64_Shdr *find_name(const struct building *file, const char *name)
{
	Elf64_Shdr *found = look_for_name(file, name);

	cr_assert_not_null(found, "no section %s", name);
	return found;
}

/* Adds a section whose name the others do not have. */
static Elf64_Shdr *add_section(struct building *file, const char *name)
{
	Elf64_Shdr *strings = &file->sections[file->head.e_shstrndx], *added;
	size_t at = add_room(file, strings->sh_size + strlen(name) + 1);
	cleanup_free char *others = malloc(strings->sh_size);

	cr_assert(others && pread(file->fd, others, strings->sh_size, (off_t)strings->sh_offset) ==
				    (ssize_t)strings->sh_size);
	put(file, others, strings->sh_size, at);
	put(file, name, strlen(name) + 1, at + strings->sh_size);
	added = &file->sections[file->nr++];
	added->sh_name = (Elf64_Word)strings->sh_size;
	added->sh_type = SHT_PROGBITS;
	added->sh_addralign = 1;
	strings->sh_offset = at;
	strings->sh_size += strlen(name) + 1;
	return added;
}

static void make_segments(struct building *file)
{
	const size_t nr = 100000000;

	file->head.e_phnum = PN_XNUM;
	file->sections[0].sh_info = nr;
	file->head.e_phoff = add_room(file, nr * sizeof(Elf64_Phdr));
}

static void make_tables(struct building *file)
{
	const Elf64_Shdr table = *find_type(file, SHT_SYMTAB);
	size_t i;

	for (i = 0; i < NR_TABLES; i++)
		file->sections[file->nr++] = table;
}

static void make_symbols(struct building *file)
{
	Elf64_Shdr *table = find_type(file, SHT_SYMTAB);

	table->sh_size = 200000000 * sizeof(Elf64_Sym);
	table->sh_offset = add_room(file, table->sh_size);
}

/* Makes symbols that all cover all of the text; each name is the end of the previous one. */
static void make_names(struct building *file)
{
	const Elf64_Shdr *text = find_name(file, ".text");
	Elf64_Shdr *table = find_type(file, SHT_SYMTAB);
	Elf64_Shdr *strings = &file->sections[table->sh_link];
	Elf64_Sym *symbols = calloc(NR_NAMES, sizeof(*symbols));
	cleanup_free char *name = malloc(NAME_BYTES);
	size_t i;

	cr_assert(symbols && name);
	for (i = 1; i < NR_NAMES; i++)
		symbols[i] = (Elf64_Sym){ .st_name = (Elf64_Word)i,
					  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					  .st_shndx = (Elf64_Half)(text - file->sections),
					  .st_value = text->sh_addr,
					  .st_size = text->sh_size };
	memset(name, 'a', NAME_BYTES - 1);
	name[NAME_BYTES - 1] = '\0';
	table->sh_size = NR_NAMES * sizeof(*symbols);
	table->sh_offset = add_room(file, table->sh_size);
	put(file, symbols, table->sh_size, table->sh_offset);
	strings->sh_size = NAME_BYTES;
	strings->sh_offset = add_room(file, NAME_BYTES);
	put(file, name, NAME_BYTES, strings->sh_offset);
	free(symbols);
}

static void make_link(struct building *file)
{
	static const struct {
		char name[12];
		uint32_t checksum;
	} link = { LINK, 0x12345678 };
	Elf64_Shdr *section;
	char path[PATH_MAX];
	off_t size = LINK_BYTES;
	int hole;

	/*
	 * Its symbol table is hidden, because a program that has one does not look for a debug
	 * file.
	 */
	find_type(file, SHT_SYMTAB)->sh_type = SHT_PROGBITS;
	section = add_section(file, ".gnu_debuglink");
	section->sh_size = sizeof(link);
	section->sh_offset = add_room(file, sizeof(link));
	put(file, &link, sizeof(link), section->sh_offset);
	snprintf(path, sizeof(path), "%s/" LINK, file->folder);
	hole = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_geq(hole, 0);
	/* Not every file system supports files of this size. */
	while (ftruncate(hole, size))
		size /= 2;
	cr_assert_gt(size, 8L << 30);
	close(hole);
}

static void make_packed(struct building *file)
{
	static const Elf64_Chdr packed = { .ch_type = ELFCOMPRESS_ZLIB,
					   .ch_size = 1UL << 40,
					   .ch_addralign = 1 };
	Elf64_Shdr *info = find_name(file, ".debug_info");

	info->sh_flags |= SHF_COMPRESSED;
	info->sh_size = 1UL << 31;
	info->sh_offset = add_room(file, info->sh_size);
	put(file, &packed, sizeof(packed), info->sh_offset);
}

static void make_endless(struct building *file)
{
	Elf64_Shdr *strings = &file->sections[file->head.e_shstrndx];

	strings->sh_size--;
}

static void make_notes(struct building *file)
{
	const size_t nr = 1000, size = 1UL << 29;
	Elf64_Phdr *segments = calloc(nr, sizeof(*segments)), *text = NULL;
	size_t i, notes = add_room(file, size);

	cr_assert(segments);
	memcpy(segments, file->base + file->head.e_phoff, file->head.e_phnum * sizeof(*segments));
	for (i = 0; i < file->head.e_phnum; i++)
		if (segments[i].p_flags & PF_X && segments[i].p_type == PT_LOAD)
			text = &segments[i];
	cr_assert(text);
	segments[0] = *text;
	for (i = 1; i < nr; i++)
		segments[i] = (Elf64_Phdr){ .p_type = PT_NOTE,
					    .p_offset = notes,
					    .p_filesz = size,
					    .p_align = 1 };
	file->head.e_phnum = (Elf64_Half)nr;
	file->head.e_phoff = add_room(file, nr * sizeof(*segments));
	put(file, segments, nr * sizeof(*segments), file->head.e_phoff);
	free(segments);
}

#define FRAMES_BYTES (60UL << 20)

/* Version 1, augmentation "zR": absolute addresses of 8 bytes. */
static const unsigned char frames_cie[24] = { 20, 0,	0,  0, 0, 0,	0, 0, 1,    'z', 'R', 0,
					      1,  0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1,	 0,   0 };

struct frames_fde {
	uint32_t length;
	uint32_t back;
	uint64_t address;
	uint64_t size;
	unsigned char augmentation;
	unsigned char program[3];
} __attribute__((packed));

static void put_frames(struct building *file, const unsigned char *frames, size_t size)
{
	Elf64_Shdr *section = find_name(file, ".eh_frame");

	section->sh_size = size;
	section->sh_offset = add_room(file, size);
	put(file, frames, size, section->sh_offset);
}

/* The text's segment comes last, and is so large. */
static uint64_t add_text_segments(struct building *file, size_t nr, size_t size)
{
	Elf64_Phdr *segments = calloc(nr + file->head.e_phnum, sizeof(*segments)), *text;
	size_t i;

	cr_assert(segments);
	memcpy(segments, file->base + file->head.e_phoff, file->head.e_phnum * sizeof(*segments));
	for (text = segments; text->p_type != PT_LOAD || !(text->p_flags & PF_X); text++)
		cr_assert_lt(text - segments, file->head.e_phnum);
	segments[nr - 1] = *text;
	segments[nr - 1].p_filesz = segments[nr - 1].p_memsz = size;
	for (i = 0; i < nr - 1; i++)
		segments[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
					    .p_flags = PF_R | PF_X,
					    .p_vaddr = (1UL << 40) + i * PAGE,
					    .p_filesz = PAGE,
					    .p_memsz = PAGE };
	file->head.e_phnum = (Elf64_Half)nr;
	file->head.e_phoff = add_room(file, nr * sizeof(*segments));
	put(file, segments, nr * sizeof(*segments), file->head.e_phoff);
	free(segments);
	return find_name(file, ".text")->sh_addr;
}

/* Descriptions of functions of a byte, so many bytes apart, and again from the start of the text. */
static void make_descriptions(struct building *file, uint64_t text, size_t apart, size_t size)
{
	const struct frames_fde fde = { .length = sizeof(fde) - 4, .size = 1 };
	cleanup_free unsigned char *frames = calloc(1, FRAMES_BYTES);
	size_t at, i = 0;

	cr_assert(frames);
	memcpy(frames, frames_cie, sizeof(frames_cie));
	for (at = sizeof(frames_cie); at + sizeof(fde) <= FRAMES_BYTES; at += sizeof(fde)) {
		struct frames_fde *here = (struct frames_fde *)(frames + at);

		*here = fde;
		here->back = (uint32_t)at + 4;
		here->address = text + i++ * apart % size;
	}
	put_frames(file, frames, FRAMES_BYTES);
}

static void make_frames(struct building *file)
{
	make_descriptions(file, add_text_segments(file, 1000, 4 * PAGE), sizeof(struct frames_fde),
			  64);
}

static void make_functions(struct building *file)
{
	const size_t text = (2UL << 30) - (1UL << 20);

	make_descriptions(file, add_text_segments(file, 1, text), 1000, text);
}

static void make_rows(struct building *file)
{
	cleanup_free unsigned char *frames = calloc(1, FRAMES_BYTES);
	struct frames_fde *fde;
	size_t i, bytes = FRAMES_BYTES - sizeof(frames_cie);

	cr_assert(frames);
	memcpy(frames, frames_cie, sizeof(frames_cie));
	fde = (struct frames_fde *)(frames + sizeof(frames_cie));
	fde->length = (uint32_t)bytes - 4;
	fde->back = sizeof(frames_cie) + 4;
	fde->address = add_text_segments(file, 1, 16UL << 20);
	fde->size = 15UL << 20;
	/* DW_CFA_advance_loc 1; DW_CFA_def_cfa_offset i */
	for (i = 0; offsetof(struct frames_fde, program) + 4 * i + 4 <= bytes; i++)
		memcpy(fde->program + 4 * i,
		       (unsigned char[]){ 0x41, 0x0e, 0x80 | (i & 0x7f), (i >> 7) & 0x7f }, 4);
	put_frames(file, frames, FRAMES_BYTES);
}

static void make_circle(struct building *file)
{
	cleanup_free unsigned char *frames = calloc(1, FRAMES_BYTES);
	struct frames_fde *fde;
	size_t at;

	cr_assert(frames);
	for (at = 0; at + sizeof(*fde) <= FRAMES_BYTES; at += sizeof(*fde)) {
		fde = (struct frames_fde *)(frames + at);
		fde->length = sizeof(*fde) - 4;
		/* Itself; the one before, which is none either; or something before the section. */
		fde->back = at % 3 == 0 ? 4 : at % 3 == 1 ? sizeof(*fde) + 4 : UINT32_MAX - 3;
		fde->address = find_name(file, ".text")->sh_addr;
		fde->size = 64;
	}
	put_frames(file, frames, FRAMES_BYTES);
}

/* The header is added, so that all text keeps its own. */
static void make_beyond(struct building *file)
{
	const size_t nr = file->head.e_phnum;
	Elf64_Phdr *segments = calloc(nr + 1, sizeof(*segments));

	cr_assert(segments);
	memcpy(segments, file->base + file->head.e_phoff, nr * sizeof(*segments));
	segments[nr] = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_vaddr = -PAGE,
				     .p_filesz = 2 * PAGE,
				     .p_memsz = 2 * PAGE };
	file->head.e_phnum = (Elf64_Half)(nr + 1);
	file->head.e_phoff = add_room(file, (nr + 1) * sizeof(*segments));
	put(file, segments, (nr + 1) * sizeof(*segments), file->head.e_phoff);
	free(segments);
}

static void dig(struct building *file, const char *name, uint32_t type, size_t size, size_t behind)
{
	Elf64_Shdr *symbols = find_type(file, SHT_SYMTAB);
	Elf64_Shdr *section = look_for_name(file, name) ?: add_section(file, name);

	section->sh_type = type;
	section->sh_size = size;
	section->sh_offset = add_room(file, size + behind) + behind;
	if (type == SHT_SYMTAB_SHNDX)
		section->sh_link = (Elf64_Word)(symbols - file->sections);
}

static void make_copied(struct building *file)
{
	const size_t size = 1200000000 / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);

	dig(file, ".eh_frame", SHT_RELA, size, 1);
	dig(file, ".eh_frame_hdr", SHT_RELA, size, 1);
	dig(file, ".rela.plt", SHT_RELA, size, 1);
}

static void begin(struct building *file, const char *base, const char *path)
{
	file->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	cr_assert_geq(file->fd, 0, "%s", path);
	load(file, base);
}

void hostile_make_hole(const char *base, const char *path, const char *section, uint32_t type,
		       size_t size, size_t behind)
{
	struct building file = { 0 };

	begin(&file, base, path);
	dig(&file, section, type, size, behind);
	finish(&file);
}

void hostile_make(const char *base, const char *folder, enum hostile_kind kind)
{
	static void (*const make[HOSTILE_KINDS])(struct building * file) = {
		[HOSTILE_SEGMENTS] = make_segments,   [HOSTILE_TABLES] = make_tables,
		[HOSTILE_SYMBOLS] = make_symbols,     [HOSTILE_NAMES] = make_names,
		[HOSTILE_LINK] = make_link,	      [HOSTILE_PACKED] = make_packed,
		[HOSTILE_ENDLESS] = make_endless,     [HOSTILE_NOTES] = make_notes,
		[HOSTILE_FRAMES] = make_frames,	      [HOSTILE_ROWS] = make_rows,
		[HOSTILE_FUNCTIONS] = make_functions, [HOSTILE_COPIED] = make_copied,
		[HOSTILE_CIRCLE] = make_circle,	      [HOSTILE_BEYOND] = make_beyond,
	};
	struct building file = { .folder = folder };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, names[kind]);
	begin(&file, base, path);
	if (make[kind])
		make[kind](&file);
	finish(&file);
	if (kind == HOSTILE_CUT)
		cr_assert_eq(truncate(path, (off_t)file.head.e_shoff), 0);
}

enum { ROW_BYTES = 5, RULES_APART = 1 << 14 };

static size_t put_fde(unsigned char *frames, size_t at, size_t program, uint64_t address,
		      uint64_t size)
{
	const size_t bytes = offsetof(struct frames_fde, program) + program;

	*(struct frames_fde *)(frames + at) = (struct frames_fde){ .length = (uint32_t)bytes - 4,
								   .back = (uint32_t)at + 4,
								   .address = address,
								   .size = size };
	return at + bytes;
}

void hostile_make_rules(const char *base, const char *path, struct hostile_rules wanted)
{
	const size_t program = (size_t)wanted.rows * ROW_BYTES;
	const size_t size = sizeof(frames_cie) + 2 * sizeof(struct frames_fde) + program;
	cleanup_free unsigned char *frames = calloc(1, size);
	struct building file = { .folder = "" };
	size_t i, at, end;
	uint64_t text;

	file.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	cr_assert(file.fd >= 0 && frames, "%s", path);
	load(&file, base);
	text = add_text_segments(&file, 1, wanted.rows + 4 * PAGE);
	memcpy(frames, frames_cie, sizeof(frames_cie));
	at = put_fde(frames, sizeof(frames_cie), 4, text, find_name(&file, ".text")->sh_size);
	end = put_fde(frames, at, program, text + PAGE, wanted.rows);
	at += offsetof(struct frames_fde, program);
	/* DW_CFA_advance_loc 1; DW_CFA_def_cfa_offset in three bytes */
	for (i = 0; i < wanted.rows; i++) {
		size_t offset = RULES_APART * (wanted.seed + 1) + 8UL * (i % wanted.rules);

		memcpy(frames + at + ROW_BYTES * i,
		       (unsigned char[]){ 0x41, 0x0e, 0x80 | (offset & 0x7f),
					  0x80 | (offset >> 7 & 0x7f), offset >> 14 & 0x7f },
		       ROW_BYTES);
	}
	put_frames(&file, frames, end);
	add_room(&file, wanted.rows);
	finish(&file);
}
