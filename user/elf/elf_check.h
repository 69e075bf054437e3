/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_CHECK_H
#define BPFPROFIL_ELF_CHECK_H

#include "base/error.h"
#include "elf/mapped_file.h"

/*
 * Anybody can map a file as text, and root reads it. libelf and libdw take numbers and sizes from
 * the headers as they are; these limits lie far above what linkers write and far below what hurts.
 */
enum {
	ELF_SEGMENTS_MAX = 1170, /* 64 KiB of headers: the kernel runs nothing with more */
	ELF_SECTIONS_MAX = 1 << 17,
	ELF_SYMBOLS_MAX = 4 << 20, /* of one table: Chrome and the kernel stay below a million */
	ELF_NOTES_MAX = 256 << 20, /* bytes */
	ELF_UNPACKED_MAX = 1 << 30, /* bytes of sections that are compressed */
	ELF_NAME_MAX = 4096, /* bytes of a name, the rest is cut off */
};

/*
 * Whether the file may be given to libelf. Headers become our own, so that what was checked is what
 * is read. -ENOEXEC: not an ELF file; -E2BIG: beyond the limits; -EIO: malformed; or -errno.
 */
int elf_check_file(const struct mapped_file *file, struct error *err);

/*
 * Whether one that passed may be given to libdw, which unpacks all the debug information there is.
 * That takes longer, and who only looks for symbols need not ask.
 */
int elf_check_packed(const struct mapped_file *file, struct error *err);

/* The same as elf_check_file() of bytes that nobody changes. */
int elf_check_memory(const void *memory, size_t size, struct error *err);

#endif
