/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_FILE_FIXTURE_H
#define TEST_FILE_FIXTURE_H

#include <sys/types.h>

#include "base/error.h"

/* For a suite's init and fini: each test has its own process and empty folder. */
void folder_enter(void);
void folder_remove(void);

int folder_entries(const char *path);
void folder_put(const char *path, const char *text);
void folder_assert_holds(const char *path, const char *text);
mode_t folder_mode_of(const char *path);
void folder_assert_owner(const char *path, uid_t uid, gid_t gid);

/*
 * Writes through output_open() and output_commit(); returns what the first one that fails returns.
 */
int folder_write(const char *path, const char *text, struct error *err);

#endif
