/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BUILD_ID_H
#define BPFPROFIL_BUILD_ID_H

#include <stddef.h>

#include <libelf.h>

/* Lower-case hex, NULL when the file has none; the caller frees it. 0 or -ENOMEM. */
int build_id_read(Elf *elf, char **ret);

/* The same of its bytes; -EINVAL: no build id is as short or as long. */
int build_id_text(const void *bytes, size_t size, char **ret);

#endif
