/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_OTHERS_H
#define TEST_OTHERS_H

/*
 * Copies a program into a folder, which becomes accessible to all users, and returns the copy's path.
 * What another user runs must be such a copy: the clone may lie below a private home, and may have been
 * built with a umask of 077. The path is valid until the eighth call after this one.
 */
const char *others_copy(const char *folder, const char *program);

#endif
