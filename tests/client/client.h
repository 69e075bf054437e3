/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include "bpfprofil/profil.h"
#include "fake_server.h"

/* The library in this process, and a server that is none. */
struct fixture {
	struct fake_server server;
	struct fake_shared *shared; /* the server's */
	size_t descriptors;
};

void fixture_begin(struct fixture *fixture);

/* Also asserts that this process has the descriptors it had. */
void fixture_end(struct fixture *fixture);

/* As if the program had started with this variable; NULL: without. */
void fixture_environment(const char *name, const char *value);

size_t open_descriptors(void);

/* profil(NULL, 0, 0, 0), which glibc's declaration does not allow. */
int stop_profiling(void);

/* A counter's buffer and a region, for calls whose arguments do not matter. */
extern unsigned short test_counters[64];
extern struct prof test_region;

/* The expression is -1, and errno is this. */
#define cr_assert_fails(expression, error)                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		cr_assert_eq(expression, -1);                                                      \
		cr_assert_eq(errno, error, "errno is %s", strerror(errno));                        \
	} while (0)

#endif
