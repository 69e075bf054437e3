/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_FACTS_H
#define BPFPROFIL_ELF_FACTS_H

#include <libelf.h>
#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

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
