/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CODES_H
#define BPFPROFIL_CODES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What backends answer, for counting. The words are labels of metrics, so there is a fixed number of
 * them whatever a backend says: common codes as they are, others by class.
 */
#define CODES_NR 50

/* A number below CODES_NR. http: HTTP's status, 0 for no answer; status: gRPC's. */
size_t code_number(long http, bool grpc, long status);

/* "200", "5xx", "grpc-14", "none" */
const char *code_word(size_t number);

#endif
