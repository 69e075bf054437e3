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

/* An ELF file open for reading, and where its text lies. */
struct elf_image {
	Elf *elf;
	struct mapped_file file; /* all zero for an image in memory */
	struct profile_text *text; /* executable PT_LOAD segments */
	size_t nr_text;
};

/*
 * For a file that anybody may have made, see elf_check.h. fd and memory stay the caller's; memory
 * must outlive the image. -ENOEXEC: not an ELF file.
 */
int elf_image_open(int fd, struct elf_image *result, struct error *err);
int elf_image_open_memory(const void *memory, size_t size, struct elf_image *result,
			  struct error *err);

/*
 * For a file that only the kernel makes, such as /proc/kcore: it cannot be mapped, so fd must stay
 * open.
 */
int elf_image_open_trusted(int fd, struct elf_image *result, struct error *err);
void elf_image_close(struct elf_image *image);

/* Convert between the addresses in an ELF file and file offsets; false: not in its text. */
bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t *offset);
bool elf_image_address(const struct elf_image *image, uint64_t offset, uint64_t *address);

/*
 * A string of a string section: its bytes, of which *length belong to it, at most ELF_NAME_MAX;
 * NULL if there is none. elf_strptr() is not used, because it looks for the end of the last string
 * each time.
 */
const char *elf_image_string(Elf *elf, size_t section, uint64_t at, size_t *length);

/* The same without a look for its end: it has *most bytes, or ends at the NUL before. */
const char *elf_image_bytes(Elf *elf, size_t section, uint64_t at, size_t *most);

/* The first section of that name, or NULL. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header);

/*
 * The content of a section: its bytes in place, or its entries as its type has them, which libelf copies
 * if it must, see ELF_COPIED_MAX. NULL: it is empty or packed, or not in the file. Nothing else in the tree
 * calls elf_getdata() or elf_rawdata().
 */
Elf_Data *elf_section_bytes(Elf_Scn *section);
Elf_Data *elf_section_entries(Elf_Scn *section);

/* The ELF image of this process's vdso, which all 64-bit processes share. NULL: there is none. */
const void *vdso_image(size_t *ret_size);

/* What an ELF file says of itself. The caller frees it with elf_facts_free(). */
struct elf_facts {
	char *build_id; /* lower-case hex; NULL if the file has none */
	struct profile_text *text; /* its executable PT_LOAD segments */
	size_t nr_text;
};

/* fd stays the caller's, and its file position is not used. -ENOEXEC: not an ELF file. */
int elf_facts_read(int fd, struct elf_facts *result, struct error *err);
void elf_facts_free(struct elf_facts *facts);

/* The same for an ELF image in this process's memory (the vdso). */
int elf_facts_read_memory(const void *image, size_t size, struct elf_facts *result,
			  struct error *err);

/*
 * Sets *result to the build id in lower-case hex, or to NULL if the file has none; the caller frees
 * it. Returns 0 or -ENOMEM.
 */
int build_id_read(Elf *elf, char **result);

/* The same from the id's bytes; -EINVAL if they are too many or too few for a build id. */
int build_id_text(const void *bytes, size_t size, char **result);

#endif
