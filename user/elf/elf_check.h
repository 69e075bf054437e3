/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ELF_CHECK_H
#define BPFPROFIL_ELF_CHECK_H

#include "base/error.h"
#include "elf/mapped_file.h"

/*
 * Limits for ELF files, because anybody can map a file as text, and root reads it. libelf and libdw
 * trust the numbers and sizes in headers. Linkers stay far below these limits, and only sizes far
 * above them do harm.
 */
enum {
	ELF_SEGMENTS_MAX = 1170, /* 64 KiB of headers; the kernel runs nothing with more */
	ELF_SECTIONS_MAX = 1 << 17,
	ELF_SYMBOLS_MAX = 4 << 20, /* per table; Chrome and the kernel have less than a million */
	ELF_NOTES_MAX = 4 << 20, /* bytes; the probes of a JVM need 54 KiB */
	ELF_COPIED_MAX = 4 << 20, /* bytes in sections that libelf cannot read in place */
	ELF_UNPACKED_MAX = 1 << 30, /* bytes in unpacked sections */
	ELF_NAME_MAX = 4096, /* bytes in a name; the rest is cut off */
};

/*
 * Checks that libelf may read the file. Pages with headers are copied, so that later reads see what
 * was checked. -ENOEXEC: not an ELF file; -E2BIG: beyond the limits; -EIO: malformed; or -errno.
 */
int elf_check_file(const struct mapped_file *file, struct error *err);

/*
 * After elf_check_file(), checks that libdw may read the file, too. libdw unpacks all debug
 * information. Therefore this check takes longer. Symbols do not need it.
 */
int elf_check_packed(const struct mapped_file *file, struct error *err);

/* Does the same as elf_check_file() for memory that nobody changes. */
int elf_check_memory(const void *memory, size_t size, struct error *err);

#endif
