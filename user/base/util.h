/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_UTIL_H
#define BPFPROFIL_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Makes room for need elements of size bytes in *array, at least doubling *capacity (counted in
 * elements). New elements are not initialised. On failure nothing has changed: -ENOMEM, or
 * -EOVERFLOW when the bytes do not fit a size_t.
 */
int grow(void **array, size_t *capacity, size_t need, size_t size);

/*
 * Numbers as a user types them. The whole text must be the number: no sign, no blank, nothing
 * behind it. Returns 0, -EINVAL (not such a number) or -ERANGE (too large); *ret is untouched on
 * failure. None depends on the locale.
 */
int parse_u64(const char *text, uint64_t *ret); /* decimal, or hexadecimal after 0x */
int parse_double(const char *text, double *ret); /* decimal, may have an exponent; finite */
int parse_size(const char *text, uint64_t *ret); /* bytes; K, M, G, T are powers of 1024 */
int parse_duration(const char *text, uint64_t *ret); /* ns; ns us ms s m h, seconds without */

/* For qsort(): which of two comes first. Of texts, NULL does. */
int compare_u64(uint64_t a, uint64_t b);
int compare_text(const char *a, const char *b);

/* A descriptor of a process, for its pid may be another's later. -1, and errno says why. */
int process_fd(pid_t pid);

/* The first line of a small file, as sysfs has them, without its newline. A negative errno. */
int read_first_line(const char *path, char *line, size_t size);

/* Whether what that user made is ours: we are they, or were called by them through sudo. */
bool is_our_user(uid_t user);

/* By the clock that nobody sets. */
uint64_t monotonic_ns(void);

/* Bytes of the UTF-8 sequence text starts with, 0 when it is not valid UTF-8. */
size_t utf8_sequence(const char *text, size_t length);

/* The code point of a sequence of that length. */
uint32_t utf8_code_point(const char *text, size_t length);

/*
 * Whether that sequence is what text of others must not bring about: C0, DEL and C1, which a terminal
 * may obey, ends of lines, what turns text around, and what cannot be seen.
 */
bool utf8_is_control(const char *text, size_t length);

/* Whether a spreadsheet takes a cell of this text for a formula. */
bool csv_is_formula(const char *text);

void cleanup_fd_close(const int *fd);
void cleanup_file_close(FILE **file);
void cleanup_free_pointer(void *pointer);

/* For a variable that owns a temporary. An fd of -1 and NULL own nothing. errno is kept. */
#define cleanup_fd __attribute__((cleanup(cleanup_fd_close)))
#define cleanup_file __attribute__((cleanup(cleanup_file_close)))
#define cleanup_free __attribute__((cleanup(cleanup_free_pointer)))

#endif
