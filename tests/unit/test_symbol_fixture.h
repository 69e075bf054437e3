/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SYMBOL_FIXTURE_H
#define TEST_SYMBOL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Programs built by the test itself, in a folder of its own. They are never run. MARK(n), from
 * mark.h there, leaves eight bytes in the text that no assembler or symbol table knows of: where
 * they are in the file says which function and line that offset belongs to. Everything here fails
 * the test when it does not work.
 */
void fixture_begin(void);
void fixture_end(void);

void fixture_write(const char *name, const char *text);

/* In the folder. */
void fixture_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fixture_open(const char *name);
const char *fixture_path(const char *name); /* good until the next call */

/* The whole file; the caller frees it. */
char *fixture_read(const char *name, size_t *size);

/* File offset of the only MARK(n). */
uint64_t fixture_mark(const char *name, uint32_t n);

#endif
