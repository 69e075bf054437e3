/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPENER_H
#define BPFPROFIL_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens files of file systems that a user's own program serves, such as FUSE. On these, open(),
 * fstat(), read() and close() may block for ever, and a blocked process can neither be killed nor
 * end.
 *
 * Therefore a helper process, one for each owner, opens the file and returns a copy. Callers wait
 * for it a second at most. Until it answers, that owner gets no other helper.
 */
struct regular_file_rule;

/* The hidden command of the helper. */
#define OPENER_COMMAND "__open"
int opener_serve(void);

/* Called by main(). Before that, files that need an opener are not opened. */
void opener_enable(void);

/* Larger files are not copied, and thus have no names. */
enum { OPENER_COPY_MAX = 64 << 20, OPENER_WAIT_MS = 1000 };

/*
 * Returns a copy of a regular file, which can be read without blocking, or -errno. -ETIMEDOUT: the
 * owner's program did not answer in time. path is below the directory `place`; "": the file that
 * place is, opened with O_PATH.
 */
int opener_open(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule);

/*
 * Does the same in two steps. The first returns a descriptor; the second reads the answer from it
 * and closes it. -EAGAIN: there is no answer after this time. It does not wait if the owner's
 * program is known not to answer.
 */
int opener_ask(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule);
int opener_answer(uint64_t owner, int *asked, unsigned int ms);

/* If fd is such a copy, replaces owner, device and inode by those of the original. */
void opener_copy_of(int fd, struct stat *stat);

/*
 * Makes a root for regular_file_open() and its callers: everything below the directory `dir` is
 * opened by the owner's helper. The caller chooses a number for each owner.
 */
void opener_root(uint64_t owner, const char *dir, char *root, size_t root_size);

/* Returns the directory of such a root; NULL: it is an ordinary one. */
const char *opener_root_dir(const char *root, uint64_t *owner);

#endif
