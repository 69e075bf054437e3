/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPOOL_H
#define BPFPROFIL_SPOOL_H

#include <stdint.h>

#include "agent/gzip.h"
#include "base/error.h"

/*
 * Profiles that wait for a sink, as files in a folder of its own: they are there again after whatever
 * ended the agent or the host. Profiles are numbered as they come, and one that is the sum of several
 * has their first and last number in its name, so that nothing is counted twice when the agent ends
 * between writing a sum and removing its parts.
 */
struct spool;

struct spool_entry {
	uint64_t first; /* numbers of the profiles in it, from 1 */
	uint64_t last;
	uint64_t ticks;
	uint64_t duration_ns;
	size_t size; /* bytes */
};

/* DIR/SINK is made if it is not there; another agent's is refused. spool_close() *ret in either case. */
int spool_open(const char *dir, const char *sink, struct spool **ret, struct error *err);
void spool_close(struct spool *spool); /* NULL is fine */

/* Only checks that the spool could be opened. */
int spool_check(const char *dir, const char *sink, struct error *err);

const char *spool_path(const struct spool *spool);

/* The next number. */
uint64_t spool_number(struct spool *spool);

/* What is there, by number; the caller frees *ret. Parts of a sum that is there too are removed. */
int spool_list(struct spool *spool, struct spool_entry **ret, size_t *ret_nr, struct error *err);

/* When this returns, the profile is on the disk, or not there at all. */
int spool_write(struct spool *spool, const struct spool_entry *entry, const struct bytes *bytes,
		struct error *err);

/* A descriptor for the caller, or -errno. */
int spool_read(const struct spool *spool, const struct spool_entry *entry);
void spool_remove(const struct spool *spool, const struct spool_entry *entry);

#endif
