// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/mapped_text.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_image.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* This process, as the server has a caller. */
static struct mapped_text *read_own(void)
{
	struct process process = { .pid = getpid() };
	struct mapped_text *text;

	process.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	process.maps_fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	cr_assert(process.mem_fd >= 0 && process.maps_fd >= 0);
	text = mapped_text_read(&process);
	process_close(&process);
	return text;
}

/* Maps a file of two pages, whose first is `head`, as a loader does. Returns its text. */
static char *map_file(const void *head, size_t size)
{
	char path[] = "/tmp/bpfprofil-mapped-XXXXXX";
	const size_t page = page_size();
	int fd = mkstemp(path);
	char *at;

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)(2 * page)), 0);
	cr_assert_eq(pwrite(fd, head, size, 0), (ssize_t)size);
	at = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert_neq(at, MAP_FAILED);
	cr_assert_eq(mprotect(at + page, page, PROT_READ | PROT_EXEC), 0);
	close(fd);
	unlink(path);
	return at + page;
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

Test(mapped_text, of_this_program)
{
	union {
		void (*function)(struct mapped_text *text);
		void *pointer;
	} here = { .function = mapped_text_free };
	struct mapped_text *text = read_own();
	uint64_t at = address_of(here.pointer), offset;
	const struct text_mapping *found = mapped_text_find(text, at, 1);
	struct elf_facts facts;
	char path[PATH_MAX] = "";
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	cr_assert_not_null(found);
	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	cr_expect_str_eq(found->file.path, path);
	cr_assert_eq(elf_facts_read(fd, &facts, NULL), 0);
	close(fd);
	cr_expect_str_eq(found->file.build_id, facts.build_id);
	cr_assert_eq(found->file.nr_text, facts.nr_text);
	cr_expect_eq(memcmp(found->file.text, facts.text, facts.nr_text * sizeof(*facts.text)), 0);
	cr_assert_eq(text_mapping_offset(found, at, &offset), 0);
	cr_expect_eq(offset, found->offset + (at - found->start));
	cr_expect_eq(text_mapping_offset(found, found->start - found->offset, &offset), 0);
	cr_expect_eq(offset, 0);
	cr_expect_eq(text_mapping_offset(found, found->start - found->offset - 1, &offset),
		     -ERANGE);
	cr_expect_null(mapped_text_find(text, 16, 1));
	cr_expect_eq(mapped_text_find(text, found->start - 16, 17), found, "a bin that ends in it");
	elf_facts_free(&facts);
	mapped_text_free(text);
}

/* What a program says of its file is not believed where a reader would refuse the profile. */
Test(mapped_text, hostile_heads)
{
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 2 };
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(head),
			    .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(segment),
			    .e_phnum = 1,
			    .e_shoff = UINT64_MAX,
			    .e_shnum = 3 };
	unsigned char bytes[sizeof(head) + sizeof(segment)];
	const struct text_mapping *found;
	struct mapped_text *text;
	char *at[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		memset(bytes, i == 3 ? 0xff : 0, sizeof(bytes));
		segment.p_offset = i == 1 ? UINT64_MAX : page_size();
		segment.p_vaddr = i == 2 ? UINT64_MAX : page_size();
		memcpy(bytes, &head, sizeof(head));
		if (i < 3)
			memcpy(bytes + sizeof(head), &segment, sizeof(segment));
		at[i] = map_file(bytes, sizeof(bytes));
	}
	text = read_own();
	for (i = 0; i < 4; i++) {
		found = mapped_text_find(text, address_of(at[i]), 1);
		cr_assert_not_null(found, "%zu", i);
		cr_expect_not(strstr(found->file.path, "(deleted)"), "%s", found->file.path);
		cr_expect_null(found->file.build_id);
		cr_expect_eq(found->file.nr_text, i == 0, "%zu", i);
	}
	mapped_text_free(text);
}

/* However many mappings there are, only some are kept. */
Test(mapped_text, many)
{
	struct mapped_text *text;
	size_t i;

	for (i = 0; i < 1000; i++)
		map_file("no ELF file", 11);
	text = read_own();
	cr_assert_not_null(text);
	cr_expect_leq(text->nr, 256);
	mapped_text_free(text);
}
