/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_IMAGE_H
#define BPFPROFIL_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

#include "base/error.h"
#include "profile/profile.h"

/* An ELF file open for reading, and where its text lies. */
struct elf_image {
	Elf *elf;
	struct profile_text *text; /* executable PT_LOAD segments */
	size_t nr_text;
};

/*
 * How the file is read. ELF_COPY survives a file that shrinks meanwhile; ELF_MAP leaves large
 * DWARF in the page cache instead of our heap.
 */
enum elf_access { ELF_COPY, ELF_MAP };

/* fd and memory stay the caller's and must outlive the image. -ENOEXEC: not an ELF file. */
int elf_image_open(int fd, enum elf_access access, struct elf_image *ret, struct error *err);
int elf_image_open_memory(const void *memory, size_t size, struct elf_image *ret,
			  struct error *err);
void elf_image_close(struct elf_image *image);

/* Between the addresses an ELF file speaks of and its file offsets; false: not text. */
bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t *offset);
bool elf_image_address(const struct elf_image *image, uint64_t offset, uint64_t *address);

/* The first section of that name, or NULL. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header);

#endif
