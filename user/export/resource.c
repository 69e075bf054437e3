// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/resource.h"

#include <inttypes.h>
#include <string.h>

#include "base/cgroup_parts.h"
#include "base/text.h"
#include "base/util.h"
#include "export/export_impl.h"

/* A key keeps its first value. */
static void put_attribute(struct resource *resource, const char *key, const char *value)
{
	uint32_t number = texts_add(&resource->texts, value);
	size_t i;

	for (i = 0; i < resource->nr; i++)
		if (!strcmp(resource->all[i].key, key))
			return;
	if (number && resource->nr < RESOURCE_ATTRIBUTES_MAX)
		resource->all[resource->nr++] = (struct resource_attribute){ key, number };
}

/* Labels of a service: its cgroup's, or those of everything. */
struct service_labels {
	const struct samples *samples;
	const char *host; /* NULL: the profile's only host */
	const char *cgroup;
};

/* The index of the cgroup's first label in samples->labels. Its other labels follow. */
static size_t first_label(const struct service_labels *labels)
{
	const struct samples *samples = labels->samples;

	return BISECT(i, samples->profile->nr_labels,
		      compare_text(samples->labels[i]->cgroup, labels->cgroup) < 0);
}

/* Returns labels one by one, from *next on; NULL: there are no more. */
static const struct profile_label *next_label(const struct service_labels *labels, size_t *next)
{
	const struct profile_label *label;

	while (*next < labels->samples->profile->nr_labels) {
		label = labels->samples->labels[(*next)++];
		if (compare_text(label->cgroup, labels->cgroup) != 0)
			return NULL;
		if (!label->host || !compare_text(label->host, labels->host))
			return label;
	}
	return NULL;
}

static const char *find_label(const struct service_labels *labels, const char *key)
{
	const struct profile_label *label;
	size_t next = first_label(labels);

	while ((label = next_label(labels, &next)))
		if (!strcmp(label->key, key))
			return label->value;
	return NULL;
}

/* The keys may be from a file, and may be anything. */
static void put_labels(struct resource *resource, const struct service_labels *labels)
{
	const struct profile_label *label;
	size_t next = first_label(labels);
	uint32_t key;

	while ((label = next_label(labels, &next))) {
		key = texts_add(&resource->texts, label->key);
		if (key)
			put_attribute(resource, resource->texts.all[key], label->value);
	}
}

static void name_service(struct resource *resource, const struct profile *profile,
			 const struct sample_service *service, const struct service_labels *labels,
			 const struct cgroup_parts *parts)
{
	const struct profile_target *target = &profile->targets[service->target];
	const struct service_labels of_all = { .samples = labels->samples, .host = labels->host };
	const char *name = find_label(labels, "service.name");
	char id[CONTAINER_ID_SHORT + 1];

	snprintf(id, sizeof(id), "%.*s", CONTAINER_ID_SHORT, parts->container);
	if (!name)
		name = find_label(&of_all, "service.name");
	if (!name && *id)
		name = id;
	else if (!name && parts->unit[0])
		name = parts->unit;
	else if (!name && service->cgroup)
		name = strcmp(service->cgroup, "/") ? service->cgroup : "[root cgroup]";
	else if (!name && !strcmp(target->kind, "command") && profile->command &&
		 profile->command[0])
		name = text_basename(profile->command[0]);
	put_attribute(resource, "service.name", name ? name : target->name);
	/* Backends reject a service without a name. */
	if (!resource->nr)
		put_attribute(resource, "service.name", *target->kind ? target->kind : "unknown");
}

/* OpenTelemetry has other names for two architectures. */
static const char *architecture(const char *machine)
{
	if (machine && !strcmp(machine, "x86_64"))
		return "amd64";
	if (machine && !strcmp(machine, "aarch64"))
		return "arm64";
	return machine;
}

int resource_of(struct resource *resource, const struct samples *samples,
		const struct sample_service *service)
{
	const struct profile *profile = samples->profile;
	const struct profile_target *target = &profile->targets[service->target];
	const char *host = target->host ? target->host : profile->host.name;
	const struct service_labels labels = { samples, host, service->cgroup };
	const struct service_labels of_all = { samples, host, NULL };
	struct cgroup_parts parts;

	resource->nr = 0;
	if (texts_begin(&resource->texts))
		return resource->texts.error;
	resource->texts.labels = true;
	cgroup_parts_find(service->cgroup, &parts);
	name_service(resource, profile, service, &labels, &parts);
	if (service->cgroup)
		put_labels(resource, &labels);
	put_labels(resource, &of_all);
	resource->nr_labels = resource->nr;
	put_attribute(resource, "host.name", host);
	put_attribute(resource, "host.arch", architecture(profile->host.arch));
	put_attribute(resource, "os.type", "linux");
	put_attribute(resource, "os.version", profile->host.kernel);
	put_attribute(resource, "container.id", parts.container);
	put_attribute(resource, "k8s.pod.uid", parts.pod);
	put_attribute(resource, "process.linux.cgroup", service->cgroup);
	put_attribute(resource, "bpfprofil.target", *target->name ? target->name : target->kind);
	put_attribute(resource, "bpfprofil.mode", profile->sampling.mode);
	put_attribute(resource, "bpfprofil.source", profile->sampling.source);
	return resource->texts.error;
}

void resource_free(struct resource *resource)
{
	texts_end(&resource->texts);
}

uint64_t resource_hash(uint64_t seed, const char *text)
{
	seed = hash_bytes(seed ^ HASH_BEGIN, text ? text : "", text ? strlen(text) : 0);
	/* Separates the parts, so that "ab", "c" differs from "a", "bc". */
	return hash_bytes(seed, "\xff", 1);
}

void resource_profile_id(const struct samples *samples, const struct sample_service *service,
			 const char *type, uint8_t id[PROFILE_ID_BYTES])
{
	const struct profile *profile = samples->profile;
	const struct profile_target *target = &profile->targets[service->target];
	char number[64];
	uint64_t part = 0;
	size_t i, size;

	/*
	 * Include the duration: a sum differs from its first part, with the same start. Include the
	 * piece, too.
	 */
	size = (size_t)snprintf(number, sizeof(number), "%u %llu", service->target,
				(unsigned long long)profile->duration_ns);
	if (samples->pieces > 1)
		snprintf(number + size, sizeof(number) - size, " %" PRIu32 "/%" PRIu32,
			 samples->piece, samples->pieces);
	for (i = 0; i < PROFILE_ID_BYTES; i += sizeof(part)) {
		part = resource_hash(part, target->host ? target->host : profile->host.name);
		part = resource_hash(part, profile->started);
		part = resource_hash(part, number);
		part = resource_hash(part, service->cgroup);
		part = resource_hash(part, type);
		memcpy(id + i, &part, sizeof(part));
	}
}
