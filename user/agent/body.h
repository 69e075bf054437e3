/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BODY_H
#define BPFPROFIL_BODY_H

#include "agent/http.h"
#include "agent/sink.h"
#include "export/samples.h"

/*
 * Makes a request body for a backend of this kind, of the type that body_content() returns. The
 * caller frees *result. Returns 0 or -ENOMEM.
 */
int body_make(enum sink_kind kind, struct samples *samples, struct bytes *result);

/* Makes compressed pprof of one service. The caller frees *result. Returns 0 or -ENOMEM. */
int body_pprof(const struct samples *samples, const struct sample_service *service,
	       struct bytes *result);

struct http_content body_content(enum sink_kind kind);

/* The default path for a URL without one. */
const char *body_path(enum sink_kind kind, bool grpc);

#endif
