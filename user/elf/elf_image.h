/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_IMAGE_H
#define BPFPROFIL_ELF_IMAGE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/mapped_file.h"
#include "profile/profile.h"

/* An open ELF file, and its text. */
struct elf_image {
	Elf *elf;
	struct mapped_file file; /* all zero: an image in memory */
	struct profile_text *text; /* executable PT_LOAD segments */
	size_t nr_text;
};

/*
 * Opens a file that anybody may have made; see elf_check.h. The caller keeps fd and memory; memory
 * must outlive the image. -ENOEXEC: not an ELF file.
 */
int elf_image_open(int fd, struct elf_image *result, struct error *err);
int elf_image_open_memory(const void *memory, size_t size, struct elf_image *result,
			  struct error *err);

/*
 * Opens a file that only the kernel can make, such as /proc/kcore. It cannot be mapped. Therefore
 * fd must stay open.
 */
int elf_image_open_trusted(int fd, struct elf_image *result, struct error *err);
void elf_image_close(struct elf_image *image);

/* Convert between addresses and file offsets of text; false: not in text. */
bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t *offset);
bool elf_image_address(const struct elf_image *image, uint64_t offset, uint64_t *address);

/*
 * Returns the bytes of a string in a string section, with *length, at most ELF_NAME_MAX; NULL:
 * there is none. elf_strptr() would search the end of the last string each time.
 */
const char *elf_image_string(Elf *elf, size_t section, uint64_t at, size_t *length);

/* The first section of that name, or NULL. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header);

/*
 * Returns the bytes of a section in place, or its entries by its type, which libelf copies if it
 * must (see ELF_COPIED_MAX). NULL: the section is empty, packed, or not in the file. Nothing else
 * in the tree calls elf_getdata() or elf_rawdata().
 */
Elf_Data *elf_section_bytes(Elf_Scn *section);
Elf_Data *elf_section_entries(Elf_Scn *section);

/* The ELF image of this process's vdso, which all 64-bit processes share. NULL: there is none. */
const void *vdso_image(size_t *ret_size);

/* Facts of an ELF file. The caller frees them with elf_facts_free(). */
struct elf_facts {
	char *build_id; /* lower-case hex; NULL: none */
	struct profile_text *text; /* its executable PT_LOAD segments */
	size_t nr_text;
};

/* The caller keeps fd; its file position is not used. -ENOEXEC: not an ELF file. */
int elf_facts_read(int fd, struct elf_facts *result, struct error *err);
void elf_facts_free(struct elf_facts *facts);

/* Does the same for an ELF image in this process's memory (the vdso). */
int elf_facts_read_memory(const void *image, size_t size, struct elf_facts *result,
			  struct error *err);

/*
 * Sets *result to the build id in lower-case hex, or NULL: there is none. The caller frees it.
 * Returns 0 or -ENOMEM.
 */
int build_id_read(Elf *elf, char **result);

/* Does the same from the id's bytes; -EINVAL: the length is wrong for a build id. */
int build_id_text(const void *bytes, size_t size, char **result);

#endif
