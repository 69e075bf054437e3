/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SUBORDINATES_H
#define BPFPROFIL_SUBORDINATES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Ranges of uids for the namespaces of a user: see subuid(5). */
#define SUBORDINATES_FILE "/etc/subuid"

/* Reads the next range; false: there is none. */
bool subordinates_next(FILE *file, uint32_t *first, uint32_t *nr);

#endif
