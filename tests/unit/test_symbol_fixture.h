/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SYMBOL_FIXTURE_H
#define TEST_SYMBOL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Programs that the test itself builds, in its own folder. They are never run. MARK(n), from mark.h
 * there, leaves eight bytes in the text that no assembler or symbol table knows of: their place in
 * the file tells which function and line that offset belongs to. All functions fail the test if
 * something does not work.
 */
void fixture_begin(void);
void fixture_end(void);

void fixture_write(const char *name, const char *text);

/* Runs a shell command in the folder. */
void fixture_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fixture_open(const char *name);
const char *fixture_path(const char *name); /* valid until the next call */

/* The contents of the file; the caller frees them. */
char *fixture_read(const char *name, size_t *size);

/* The file offset of the only MARK(n). */
uint64_t fixture_mark(const char *name, uint32_t n);

#endif
