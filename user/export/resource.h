/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESOURCE_H
#define BPFPROFIL_RESOURCE_H

#include "export/samples.h"

#define RESOURCE_ATTRIBUTES_MAX 48

struct resource_attribute {
	const char *key;
	uint32_t value; /* numbers in texts */
};

/* Whose samples a service has, by OpenTelemetry's names. The first is its service.name. */
struct resource {
	struct texts texts;
	struct resource_attribute all[RESOURCE_ATTRIBUTES_MAX];
	size_t nr;
	size_t nr_labels; /* of these the first: the service's name and its labels */
};

/* Call resource_free() in any case. Returns 0 or -ENOMEM. */
int resource_of(struct resource *resource, const struct samples *samples,
		const struct sample_service *service);
void resource_free(struct resource *resource);

/* The hash of a text and of what came before it, by FNV-1a; NULL is "". */
uint64_t resource_hash(uint64_t before, const char *text);

/* An id of one profile of a service, different from all others and the same each time. */
#define PROFILE_ID_BYTES 16
void resource_profile_id(const struct samples *samples, const struct sample_service *service,
			 const char *type, uint8_t id[PROFILE_ID_BYTES]);

#endif
