/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPENER_H
#define BPFPROFIL_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens files for which a user's own program answers, as below FUSE. Opening, fstat(), reading and closing one may take
 * for ever, and a process that waits for such an answer can neither be killed nor end. So a process of its own does
 * all of this, one for each owner, and nobody waits for it longer than a second. As long as it has not answered,
 * that owner has no other.
 */
struct regular_file_rule;

/* The hidden command that it is started by. */
#define OPENER_COMMAND "__open"
int opener_serve(void);

/* Called by main(). Until then what needs an opener is not opened. */
void opener_enable(void);

/* What is larger has no names. */
enum { OPENER_COPY_MAX = 64 << 20, OPENER_WAIT_MS = 1000 };

/*
 * Returns a copy of a regular file, which nobody has to answer for, or -errno: -ETIMEDOUT if its owner's program did
 * not answer in time. path is below the directory `place`; "": the file itself, which was opened with O_PATH.
 */
int opener_open(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule);

/*
 * The same in two steps: the first returns a descriptor, which the second reads the answer from and closes. -EAGAIN: it
 * is not there after so many milliseconds; without waiting if the owner's program is known not to answer.
 */
int opener_ask(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule);
int opener_answer(uint64_t owner, int *asked, unsigned int ms);

/* Changes the facts of what may be such a copy to whose the file is, and which it is. */
void opener_copy_of(int fd, struct stat *stat);

/*
 * A root for regular_file_open() and what calls it: everything below the directory `dir` is opened in this way. Each
 * owner is a number that the caller chooses.
 */
void opener_root(uint64_t owner, const char *dir, char *root, size_t root_size);

/* The directory of such a root, or NULL: it is an ordinary one. */
const char *opener_root_dir(const char *root, uint64_t *owner);

#endif
