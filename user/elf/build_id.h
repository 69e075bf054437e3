/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BUILD_ID_H
#define BPFPROFIL_BUILD_ID_H

#include <stddef.h>

#include <libelf.h>

/*
 * Sets *result to the build id in lower-case hex, or to NULL if the file has none; the caller frees
 * it. Returns 0 or -ENOMEM.
 */
int build_id_read(Elf *elf, char **result);

/* The same from the id's bytes; -EINVAL if they are too many or too few for a build id. */
int build_id_text(const void *bytes, size_t size, char **result);

#endif
