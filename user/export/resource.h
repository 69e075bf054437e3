/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESOURCE_H
#define BPFPROFIL_RESOURCE_H

#include "export/samples.h"

#define RESOURCE_ATTRIBUTES_MAX 16

struct resource_attribute {
	const char *key;
	uint32_t value; /* texts */
};

/* Whose a service's samples are, by OpenTelemetry's names. The first is its service.name. */
struct resource {
	struct texts texts;
	struct resource_attribute all[RESOURCE_ATTRIBUTES_MAX];
	size_t nr;
};

/* resource_free() in either case. 0 or -ENOMEM. */
int resource_of(struct resource *resource, const struct samples *samples,
		const struct sample_service *service);
void resource_free(struct resource *resource);

/* Of a text and of what was before it, by FNV-1a; NULL is "". */
uint64_t resource_hash(uint64_t before, const char *text);

/* What tells one profile of a service from all others, the same whenever it is asked. */
#define PROFILE_ID_BYTES 16
void resource_profile_id(const struct samples *samples, const struct sample_service *service,
			 const char *type, uint8_t id[PROFILE_ID_BYTES]);

#endif
