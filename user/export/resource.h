/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESOURCE_H
#define BPFPROFIL_RESOURCE_H

#include "export/samples.h"

#define RESOURCE_ATTRIBUTES_MAX 48

struct resource_attribute {
	const char *key;
	uint32_t value; /* number in texts */
};

/* Attributes of a service, by OpenTelemetry's names. The first is its service.name. */
struct resource {
	struct texts texts;
	struct resource_attribute all[RESOURCE_ATTRIBUTES_MAX];
	size_t nr;
	size_t nr_labels; /* of these: the service's name and its labels, which come first */
};

/* Call resource_free() in any case. Returns 0 or -ENOMEM. */
int resource_of(struct resource *resource, const struct samples *samples,
		const struct sample_service *service);
void resource_free(struct resource *resource);

/* FNV-1a of a text, continued from `before`; NULL is "". */
uint64_t resource_hash(uint64_t before, const char *text);

/* A unique id of one profile of a service, the same at each call. */
#define PROFILE_ID_BYTES 16
void resource_profile_id(const struct samples *samples, const struct sample_service *service,
			 const char *type, uint8_t id[PROFILE_ID_BYTES]);

#endif
