/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPOOL_H
#define BPFPROFIL_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/http.h"
#include "base/error.h"

/*
 * Profiles that wait for a sink, as files in a folder of its own, so that they survive the end of the
 * agent and of the host. Profiles are numbered as they come. A sum of several has the first and the last
 * of their numbers in its name, so that its parts are recognized, and not counted twice, when the agent
 * ended before it removed them.
 */
struct spool;

#define PIECES_MAX (UINT32_C(1) << 24) /* of a service; it has fewer samples */

/*
 * How much of a profile a backend has had, if the whole was too large for it: so many of its services,
 * and so many pieces of the next one. What it has had is never sent again.
 */
struct delivered {
	uint32_t services;
	uint32_t pieces; /* the next service is sent by function in so many; 0: it is sent whole */
	uint32_t piece;
	uint64_t ticks; /* the sum of all that */
};

/* Whether any part was sent by itself, so that the whole must not be sent any more. */
static inline bool delivered_any(const struct delivered *done)
{
	return done->services || done->pieces;
}

struct spool_entry {
	uint64_t first; /* numbers of the profiles in it, from 1 */
	uint64_t last;
	uint64_t ticks;
	uint64_t duration_ns;
	struct delivered done;
	size_t size; /* bytes */
};

/*
 * Makes the folder of this sink in dir if there is none. -EBUSY: another agent has it. Call
 * spool_close() on *result in any case.
 */
int spool_open(const char *dir, const char *sink, struct spool **result, struct error *err);
void spool_close(struct spool *spool); /* NULL is fine */

/* The folder of this sink in dir, which the caller frees; NULL: out of memory. */
char *spool_folder(const char *dir, const char *sink);

/*
 * Folders of sinks that the options do not name any more: calls each() for every other folder of a sink in
 * dir than those that `is_used` is true of, with its spool, which no agent has. each() removes it if it
 * wants to; the spool is closed behind it.
 */
void spool_find_old(const char *dir, bool (*is_used)(void *context, const char *folder),
		    void (*each)(void *context, struct spool *old), void *context);

/* Leaves it to others from now on. */
void spool_let_go(const struct spool *spool);

/* Whose it was, for messages; name has room for that many bytes. */
void spool_sink(const struct spool *spool, char *name, size_t room);

/*
 * Moves the profiles of the folder of another sink here, behind what is here, once that is listed. The
 * caller frees *result, which lists them.
 */
void spool_adopt(struct spool *spool, const char *folder, struct spool_entry **result,
		 size_t *ret_nr);

/* Removes what agents read there, and the folder if nothing else is in it. */
void spool_empty(struct spool *spool);

/* Checks that the folder can be written to, without taking it from whoever has it. */
int spool_check(const char *dir, const char *sink, struct error *err);

const char *spool_path(const struct spool *spool);

/* Returns the number for a new profile. */
uint64_t spool_number(struct spool *spool);

/* Lists what is there by number, and removes parts whose sum is there; the caller frees *result. */
int spool_list(struct spool *spool, struct spool_entry **result, size_t *ret_nr, struct error *err);

/* When this returns, the profile is on the disk as a whole or not at all. */
int spool_write(struct spool *spool, const struct spool_entry *entry, const struct bytes *bytes,
		struct error *err);

/* Notes in an entry and in its file's name what was delivered; on failure both stay as they are. */
int spool_advance(struct spool *spool, struct spool_entry *entry, const struct delivered *done);

/* Returns a descriptor, which the caller closes, or -errno. */
int spool_read(const struct spool *spool, const struct spool_entry *entry);
void spool_remove(const struct spool *spool, const struct spool_entry *entry);

/*
 * Opens a folder that is made if it is not there, and that nobody else may write to. Returns a descriptor
 * or a negative errno.
 */
int spool_open_folder(const char *path, struct error *err);
struct stat;
bool spool_is_own_file(const struct stat *st);

/* Writes a file of a folder in one step. sync: it outlives the host too. Returns 0 or a negative errno. */
int spool_replace(int folder, const char *name, const struct bytes *bytes, bool sync);

/* Calls its file NAME.bad, which no agent reads or removes. */
void spool_set_aside(const struct spool *spool, const struct spool_entry *entry);

#endif
