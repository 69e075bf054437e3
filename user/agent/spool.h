/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPOOL_H
#define BPFPROFIL_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/http.h"
#include "base/error.h"

/*
 * Profiles that wait for a sink, as files in its own folder, so that they survive the end of the
 * agent and of the host. They are numbered. If profiles are merged, the sum has the first and the
 * last number in its name. An agent that ended before it removed the parts can thus be recognized,
 * and no part is counted twice.
 */
struct spool;

#define PIECES_MAX (UINT32_C(1) << 24) /* limit for the pieces of a service */

/*
 * The progress of a profile that is too large for one request: how many of its services are
 * delivered, and how many pieces of the next one. Those are never sent again.
 */
struct delivered {
	uint32_t services;
	uint32_t pieces; /* number of pieces of the next service; 0: it is sent whole */
	uint32_t piece;
	uint64_t ticks; /* ticks in all of these */
};

/* Whether any part was delivered on its own, so that the whole must not be sent again. */
static inline bool delivered_any(const struct delivered *done)
{
	return done->services || done->pieces;
}

struct spool_entry {
	uint64_t first; /* numbers of the first and last profile in it, from 1 */
	uint64_t last;
	uint64_t ticks;
	uint64_t duration_ns;
	struct delivered done;
	size_t size; /* bytes */
};

/*
 * Creates this sink's folder in dir if it does not exist. -EBUSY: another agent uses it. Call
 * spool_close() on *result in any case.
 */
int spool_open(const char *dir, const char *sink, struct spool **result, struct error *err);
void spool_close(struct spool *spool); /* NULL is fine */

/* Returns the path of this sink's folder in dir, which the caller frees; NULL: out of memory. */
char *spool_folder(const char *dir, const char *sink);

/* Whether spool_folder() could have made a folder of this name. */
bool spool_is_folder(const char *name);

/*
 * Opens the folder of a sink that no longer exists, and locks it; the caller closes it. NULL: an
 * agent uses it, others can write there, or there is no memory.
 */
struct spool *spool_open_old(const char *path);

/* The sink of the folder, for messages; name has room for that many bytes. */
void spool_sink(const struct spool *spool, char *name, size_t room);

/*
 * Moves the profiles from another sink's folder to the end of this one, once this one is listed.
 * The caller frees *result, which lists them.
 */
void spool_import(struct spool *spool, const char *folder, struct spool_entry **result,
		  size_t *ret_nr);

/* Removes the agent's files there, and the folder if nothing else is in it. */
void spool_empty(struct spool *spool);

/* Checks that the folder is writable, without locking it. */
int spool_check(const char *dir, const char *sink, struct error *err);

const char *spool_path(const struct spool *spool);

uint64_t spool_number(struct spool *spool);

/* Lists the profiles by number, and removes parts that are in a sum; the caller frees *result. */
int spool_list(struct spool *spool, struct spool_entry **result, size_t *ret_nr, struct error *err);

/* On return, the whole profile is on disk, or nothing of it. */
int spool_write(struct spool *spool, const struct spool_entry *entry, const struct bytes *bytes,
		struct error *err);

/* Records in an entry and its file's name what was delivered. On failure both stay unchanged. */
int spool_advance(struct spool *spool, struct spool_entry *entry, const struct delivered *done);

/* Returns a descriptor, which the caller closes, or -errno. */
int spool_read(const struct spool *spool, const struct spool_entry *entry);
void spool_remove(const struct spool *spool, const struct spool_entry *entry);

/*
 * Opens a folder, or creates it, and checks that nobody else may write to it. Returns a descriptor
 * or a negative errno.
 */
int spool_open_folder(const char *path, struct error *err);
struct stat;
bool spool_is_own_file(const struct stat *st);

/*
 * Replaces a file of a folder atomically. sync: it survives a crash of the host too. Returns 0 or a
 * negative errno.
 */
int spool_replace(int folder, const char *name, const struct bytes *bytes, bool sync);

/* Renames the file to NAME.bad, which agents neither read nor remove. */
void spool_set_aside(const struct spool *spool, const struct spool_entry *entry);

#endif
