/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CALLER_H
#define TEST_CALLER_H

#include <stddef.h>
#include <stdint.h>

#include "bpfprofil/profil.h"
#include "serve.h"

/*
 * A process that profiles itself: the library in a child of the test, for what it does may be bad
 * for it. Its text for that are two functions that stand in different pages.
 */

/* In a child, where criterion's own asserts reach nobody. */
#define ENSURE(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			caller_fail(__FILE__, __LINE__, #condition);                               \
	} while (0)

/* The same for numbers, which are told. */
#define ENSURE_NUMBER(a, relation, b)                                                              \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (!(a_ relation b_))                                                             \
			caller_fail_number(__FILE__, __LINE__, #a " " #relation " " #b, a_, b_);   \
	} while (0)

__attribute__((noreturn)) void caller_fail(const char *file, int line, const char *text);
__attribute__((noreturn)) void caller_fail_number(const char *file, int line, const char *text,
						  long long a, long long b);

/* A server with options, and this process and its children are its clients from here on. */
void caller_begin(struct serve *serve, const char *const options[]);

/* A suite whose tests each have a server of their own with the default options: `serve`. */
#define CALLER_SUITE(name)                                                                         \
	static struct serve serve;                                                                 \
                                                                                                   \
	static void begin(void)                                                                    \
	{                                                                                          \
		if (have_root())                                                                   \
			caller_begin(&serve, ARGS(NULL));                                          \
	}                                                                                          \
                                                                                                   \
	static void end(void)                                                                      \
	{                                                                                          \
		if (have_root())                                                                   \
			serve_end(&serve);                                                         \
	}                                                                                          \
                                                                                                   \
	TestSuite(name, .init = begin, .fini = end)

/* Which server the calls of this process ask; NULL: none in particular. */
void caller_use(const char *path);

/* Runs body in a child, as user when that is not 0, and asserts that it ended well. */
void caller_run(void (*body)(void *argument), void *argument);
void caller_run_as(unsigned int user, void (*body)(void *argument), void *argument);

/* This process is the user's from here on, and still ends with its parent. */
void caller_become(unsigned int user);

/*
 * The same, in a user namespace that it makes and to which root gives uids and gids by a map, as
 * newuidmap does: it is root there.
 */
void caller_lend(unsigned int user, const char *map);

/* A child of this process, with body as its life. */
int caller_fork(void (*body)(void *argument), void *argument);

/* Waits; ENSUREs that it ended well. */
void caller_join(int pid);

enum { PAGE = 4096, TEXT_SPAN = 4 * PAGE };

/* CPU time of the calling thread, nearly all of it in the function itself. */
void burn_low(double seconds);
void burn_high(double seconds); /* at least a page after burn_low(), within TEXT_SPAN */

/* Where burn_low() begins: a page. */
size_t text_start(void);

/*
 * Text of which each page takes a page of counters for itself at 2 bytes of buffer for 1 of text:
 * machine code for x86-64. burn_wide() is in n of its pages, one after another.
 */
enum { WIDE = 4096, WIDE_STEP = 4096 };
#define WIDE_SPAN ((size_t)WIDE * WIDE_STEP)
char *wide_text(void);
void burn_wide(char *text, int n);

/* With a byte of buffer for each byte of text, where burn_high()'s counters are. */
size_t high_at(void);

/* The regions of both at 1 byte for 1 byte of text, 16-bit counters; 0 or -1 and errno. */
int on(void *buffer, size_t size); /* profil(): 100 Hz */
int on_fast(void *buffer, size_t size); /* sprofil(): 1,000 Hz */
int off(void);

struct bpfprofil_status told(void);
uint64_t sum_of(const void *buffer, size_t size); /* of 16-bit counters */

/* After the call has ended: the identity of the account, and of the buffer with it. */
struct bpfprofil_status account(const void *buffer, size_t size);

/* Ends it first. */
struct bpfprofil_status off_and_account(const void *buffer, size_t size);

/* Pages of nothing but zeros. */
void *fresh_pages(size_t size);

double cpu_seconds(void); /* of the process */
double seconds_now(void);
void rest(double seconds); /* sleeps */

/*
 * Ticks for each that CPU time should have had, and by how much that may differ from 1. A clock of
 * fixed period hits what a turn on a CPU has beyond whole periods once or not: variance 1/6.
 */
struct ratio {
	double value;
	double allowed;
};

/* part: what may be wrong at least, like 0.03. */
struct ratio ratio_of(double ticks, double expected, double turns, double part);
int ratio_is_good(const struct ratio *ratio);
double turns(void); /* of the process so far */

#endif
