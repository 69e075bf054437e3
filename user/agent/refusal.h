/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REFUSAL_H
#define BPFPROFIL_REFUSAL_H

#include <stdbool.h>

#include "agent/gzip.h"

/* Whether a backend refuses a request for its size: so say HTTP's status and the reply's body. */
bool refusal_for_size(long code, const struct bytes *body);

/* The same of gRPC's status and message. */
bool refusal_for_size_grpc(long status, const struct bytes *message);

#endif
