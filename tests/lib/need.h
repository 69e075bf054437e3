/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_NEED_H
#define TEST_NEED_H

#include <stdbool.h>

/*
 * What a test needs of the machine. Without it the test prints one line, "SKIP name: reason", and
 * returns. Use these macros in a test's body, because they return from it.
 */
#define NEED(condition, reason)                                                                    \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			skip_say(reason);                                                          \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#define NEED_ROOT() NEED(have_root(), "not root")
#define NEED_TOOL(name) NEED(have_tool(name), "no " name " in PATH")

/* For the .init of a suite: without root each of its tests is skipped. */
void need_root(void);

/* Prints the line for the current test. */
void skip_say(const char *reason);

bool have_root(void);
bool have_tool(const char *name);

/* True if a private mount namespace with a tmpfs is possible. */
bool have_mounts(void);

#endif
