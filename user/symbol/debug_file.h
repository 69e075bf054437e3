/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_FILE_H
#define BPFPROFIL_DEBUG_FILE_H

#include <libelf.h>

/*
 * The separate debug file of elf, which is open as fd and stands at path below root: by build id,
 * else by .gnu_debuglink. Returns a descriptor that the caller closes, or -errno.
 */
int debug_file_open(Elf *elf, int fd, const char *path, const char *root);

#endif
