/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include "bpfprofil/profil.h"
#include "fake_server.h"
#include "fixture.h"

/* The library in this process, and a fake server. */
struct fixture {
	struct fake_server server;
	struct fake_shared *shared; /* shared with the server */
	size_t descriptors;
};

void fixture_begin(struct fixture *fixture);

/* Also asserts that this process has the same descriptors as before. */
void fixture_end(struct fixture *fixture);

/* A test whose body, which follows, has a `fixture`. */
#define CLIENT_TEST(suite, name, ...)                                                              \
	FIXTURE_TEST(fixture, fixture_begin, suite, name, ##__VA_ARGS__)

/* As if the program had been started with this variable; NULL: without it. */
void fixture_environment(const char *name, const char *value);

size_t open_descriptors(void);

/* profil(NULL, 0, 0, 0), which glibc's declaration does not allow. */
int stop_profiling(void);

/* A buffer and a region, for calls whose arguments do not matter. */
extern unsigned short test_counters[64];
extern struct prof test_region;

/* Asserts that the expression is -1 with this errno. */
#define cr_assert_fails(expression, error)                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		cr_assert_eq(expression, -1);                                                      \
		cr_assert_eq(errno, error, "errno is %s", strerror(errno));                        \
	} while (0)

#endif
