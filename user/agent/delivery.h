/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DELIVERY_H
#define BPFPROFIL_DELIVERY_H

#include "agent/codes.h"
#include "agent/requests.h"

/* One try: a request, or a file. */
struct delivery {
	enum http_outcome outcome;
	uint64_t retry_after_s;
	uint64_t ticks; /* that it is about */
	uint64_t rejected; /* profiles that the backend rejected when it took others */
	bool asked; /* a request was made, and answered with this: */
	size_t code; /* of codes.h */
	size_t bytes;
	char why[256];
};

/* Writes a profile into a folder. */
void delivery_write(const char *folder, const struct profile *profile, struct delivery *delivery);

/* Sends the next request, of which there must be one. Returns 0, or -ENOMEM: it was not sent. */
int delivery_post(struct http *http, struct requests *requests, struct delivery *delivery);

/* It was not tried: the backend will not have it, or it is tried later. */
void delivery_refuse(struct delivery *delivery, const char *why);
void delivery_put_off(struct delivery *delivery, const char *why);

#endif
