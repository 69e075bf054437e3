/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CALLER_H
#define TEST_CALLER_H

#include <stddef.h>
#include <stdint.h>

#include "bpfprofil/profil.h"
#include "need.h"
#include "serve.h"

/*
 * A process that profiles itself: the library runs in a child of the test, because what it does may
 * harm that child. Its text for this is two functions in different pages.
 */

/* For use in a child, where criterion's asserts do not work. */
#define ENSURE(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			caller_fail(__FILE__, __LINE__, #condition);                               \
	} while (0)

/* The same for numbers, which are printed. */
#define ENSURE_NUMBER(a, relation, b)                                                              \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (!(a_ relation b_))                                                             \
			caller_fail_number(__FILE__, __LINE__, #a " " #relation " " #b, a_, b_);   \
	} while (0)

__attribute__((noreturn)) void caller_fail(const char *file, int line, const char *text);
__attribute__((noreturn)) void caller_fail_number(const char *file, int line, const char *text,
						  long long a, long long b);

/* Starts a server with options; from here on this process and its children are its clients. */
void caller_begin(struct serve *serve, const char *const options[]);

/* A suite in which each test has its own server, `serve`, with the default options. */
#define CALLER_SUITE(name)                                                                         \
	static struct serve serve;                                                                 \
                                                                                                   \
	static void begin(void)                                                                    \
	{                                                                                          \
		need_root();                                                                       \
		caller_begin(&serve, ARGS(NULL));                                                  \
	}                                                                                          \
                                                                                                   \
	static void end(void)                                                                      \
	{                                                                                          \
		serve_end(&serve);                                                                 \
	}                                                                                          \
                                                                                                   \
	TestSuite(name, .init = begin, .fini = end, .timeout = 300)

/* Sets the server that this process's calls use; NULL: the default one. */
void caller_use(const char *path);

/* Runs body in a child, as user unless that is 0, and asserts that it ended well. */
void caller_run(void (*body)(void *argument), void *argument);
void caller_run_as(unsigned int user, void (*body)(void *argument), void *argument);

/* From here on this process is the user's, and still ends with its parent. */
void caller_become(unsigned int user);

/*
 * The same in a user namespace that it makes, to which root gives uids and gids by a map, as
 * newuidmap does; in it the process is root.
 */
void caller_lend(unsigned int user, const char *map);

/* A test of which the body, which follows, runs in a child, as user unless that is 0. */
#define CALLER_TEST_AS(user, suite, name, ...)                                                     \
	static void name##_body(void *);                                                           \
                                                                                                   \
	Test(suite, name, ##__VA_ARGS__)                                                           \
	{                                                                                          \
		caller_run_as(user, name##_body, NULL);                                            \
	}                                                                                          \
                                                                                                   \
	static void name##_body(__attribute__((unused)) void *argument)

#define CALLER_TEST(suite, name, ...) CALLER_TEST_AS(0, suite, name, ##__VA_ARGS__)

/* Forks a child of this process that runs body. */
int caller_fork(void (*body)(void *argument), void *argument);

/* Waits, and ENSUREs that it ended well. */
void caller_join(int pid);

/* The largest page of the processor's kernels, so that it may be unmapped or protected in each of them. */
#ifdef __aarch64__
enum { PAGE = 65536 };
#else
enum { PAGE = 4096 };
#endif

enum { TEXT_SPAN = 4 * PAGE };

/* Uses CPU time of the calling thread, nearly all of it in the function itself. */
void burn_low(double seconds);
void burn_high(double seconds); /* at least a page after burn_low(), within TEXT_SPAN */

/* Where burn_low() begins, which is a page boundary. */
size_t text_start(void);

/*
 * Text of which each page needs a page of counters of its own at 2 bytes of buffer per byte of
 * text. burn_wide() runs in n of its pages, one after another.
 */
enum { WIDE = 4096, WIDE_STEP = 4096 };
#define WIDE_SPAN ((size_t)WIDE * WIDE_STEP)
char *wide_text(void);
void burn_wide(char *text, int n);

/* Where burn_high()'s counters are, with a byte of buffer for each byte of text. */
size_t high_at(void);

/*
 * Profile the text of both at 1 byte per byte of text, with 16-bit counters; return 0, or -1 and
 * errno.
 */
int on(void *buffer, size_t size); /* profil(): 100 Hz */
int on_fast(void *buffer, size_t size); /* sprofil(): 1,000 Hz */
int off(void);

struct bpfprofil_status told(void);
uint64_t sum_of(const void *buffer, size_t size); /* of 16-bit counters */

/*
 * Call after the call has ended: checks the identity of the account, and that it agrees with the
 * buffer.
 */
struct bpfprofil_status account(const void *buffer, size_t size);

/* Ends the call first. */
struct bpfprofil_status off_and_account(const void *buffer, size_t size);

/* Pages of zeros. */
void *fresh_pages(size_t size);

double cpu_seconds(void); /* of the process */
double seconds_now(void);
void rest(double seconds); /* sleeps */

/*
 * Ticks relative to what the CPU time should have given, and by how much that may differ from 1. A
 * clock with fixed period hits the part of a turn beyond whole periods once or not at all: variance
 * 1/6.
 */
struct ratio {
	double value;
	double allowed;
};

/* part is an error that is always allowed, such as 0.03. */
struct ratio ratio_of(double ticks, double expected, double turns, double part);
int ratio_is_good(const struct ratio *ratio);
double turns(void); /* of the process so far */

#endif
