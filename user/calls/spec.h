/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPEC_H
#define BPFPROFIL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "calls/call_engine.h"
#include "calls/mapped_text.h"
#include "calls/process.h"
#include "calls/region_table.h"
#include "shared/call_protocol.h"

struct worker;

/*
 * The arguments of a call. A process shares them with its forked children, until a region of one of
 * them turns out not to be writable.
 */
struct spec {
	uint32_t number; /* in the kernel's table of specs */
	enum call_op op;
	uint32_t dialect;
	uint32_t profil_flags;
	uint32_t flags; /* as in struct call */
	uint32_t width; /* bytes of a counter, or of a pc for pcsample() */
	uint32_t owner; /* in the kernel's table of owners */
	struct worker *worker; /* of its calls */
	uint32_t pointer;
	uint64_t random_at;
	uint8_t proof[PROCESS_PROOF];
	struct call_entry *entries;
	uint32_t nr_entries;
	struct region_table table; /* its lines are in the kernel from table.base on */
	uint32_t nr_lines; /* in the kernel: the table's, and the buffers' */
	struct mapped_text *mapped; /* for the record; NULL: none */
};

/*
 * Makes a spec from a checked request, and its table in the kernel, from like and entries. -ENOMEM,
 * -ENOSPC (no room for the table), -EINVAL and -E2BIG (because of the regions).
 */
int spec_make(struct call_engine *engine, const struct spec *like, const struct call_entry *entries,
	      uint32_t nr_entries, struct spec **result);

/* Frees its lines. NULL is fine. */
void spec_free(struct call_engine *engine, struct spec *spec);

/*
 * Finds the entry of a counter, the counter's number in it, and how many counters follow, including
 * itself.
 */
uint32_t spec_locate(const struct spec *spec, uint64_t flat, uint64_t *ret_bin, uint64_t *ret_left);

/* By enum dialect, then NULL. */
extern const char *const dialect_names[];

static inline bool spec_is_sprofil(const struct spec *spec)
{
	return spec->op == CALL_SPROFIL;
}

#endif
