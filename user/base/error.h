/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ERROR_H
#define BPFPROFIL_ERROR_H

/*
 * Why a call failed, in words for the user. Library code fills in an error and returns a negative
 * errno. Only the command line prints it:
 *
 *     bpfprofil: COMMAND: TEXT
 *     try: HINT            (if there is one)
 */
struct error {
	char text[512]; /* "object: reason", one line, no newline */
	char hint[256]; /* a command or change that solves it, or "" */
};

/* Sets text from a printf format, and hint; err may be NULL. Returns code, which is < 0. */
#define error_set(err, code, ...) error_with_hint((err), (code), "", __VA_ARGS__)
int error_with_hint(struct error *err, int code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Sets text to "what: strerror(-code)". Returns code. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "what: out of memory". Returns -ENOMEM. */
int error_no_memory(struct error *err, const char *what);

/* Sets the hint; call it after error_set(), which clears it. */
void error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
