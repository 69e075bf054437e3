// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/resource.h"

#include <string.h>

#include "export/export_impl.h"
#include "target/container_id.h"

#define POD_UID_LENGTH 36
#define UID_DIGITS "0123456789abcdef-_"

static void put(struct resource *resource, const char *key, const char *value)
{
	uint32_t number = texts_add(&resource->texts, value);

	if (number && resource->nr < RESOURCE_ATTRIBUTES_MAX)
		resource->all[resource->nr++] = (struct resource_attribute){ key, number };
}

static const char *last_component(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Finds the id of the container that a cgroup is, or is in. */
static bool find_container(const char *cgroup, char id[CONTAINER_ID_LENGTH + 1])
{
	char component[256];
	const char *at, *found;
	size_t length;

	id[0] = '\0';
	for (at = cgroup; at && *at; at += length) {
		at += strspn(at, "/");
		length = strcspn(at, "/");
		snprintf(component, sizeof(component), "%.*s", (int)(length < 256 ? length : 255),
			 at);
		found = container_id_in(component);
		if (found)
			snprintf(id, CONTAINER_ID_LENGTH + 1, "%.64s", found);
	}
	return id[0];
}

/* Finds "pod" and a uid, in which a systemd slice writes - as _. */
static bool find_pod(const char *cgroup, char uid[POD_UID_LENGTH + 1])
{
	const char *at = cgroup;
	size_t i;

	uid[0] = '\0';
	while (at && !uid[0] && (at = strstr(at, "pod"))) {
		at += strlen("pod");
		if (strspn(at, UID_DIGITS) != POD_UID_LENGTH)
			continue;
		snprintf(uid, POD_UID_LENGTH + 1, "%.36s", at);
		for (i = 0; uid[i]; i++)
			if (uid[i] == '_')
				uid[i] = '-';
	}
	return uid[0];
}

static bool has_unit_suffix(const char *name, size_t length)
{
	static const char *const suffixes[] = { ".service", ".scope", ".slice", NULL };
	size_t i, of;

	for (i = 0; suffixes[i]; i++) {
		of = strlen(suffixes[i]);
		if (length > of && !strncmp(name + length - of, suffixes[i], of))
			return true;
	}
	return false;
}

/* Finds the innermost unit that a cgroup is in. */
static bool find_unit(const char *cgroup, char unit[256])
{
	const char *at;
	size_t length;

	unit[0] = '\0';
	for (at = cgroup; at && *at; at += length) {
		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (length < 256 && has_unit_suffix(at, length))
			snprintf(unit, 256, "%.*s", (int)length, at);
	}
	return unit[0];
}

static void name_service(struct resource *resource, const struct profile *profile,
			 const struct sample_service *service, const char *container,
			 const char *unit)
{
	const struct profile_target *target = &profile->targets[service->target];
	char name[256];

	if (*container)
		snprintf(name, sizeof(name), "%.*s", CONTAINER_ID_SHORT, container);
	else if (*unit)
		snprintf(name, sizeof(name), "%s", unit);
	else if (service->cgroup)
		snprintf(name, sizeof(name), "%.255s", service->cgroup);
	else if (!strcmp(target->kind, "command") && profile->command && profile->command[0])
		snprintf(name, sizeof(name), "%.255s", last_component(profile->command[0]));
	else
		snprintf(name, sizeof(name), "%.255s", target->name);
	put(resource, "service.name", name);
	/* Backends reject a service without a name. */
	if (!resource->nr)
		put(resource, "service.name", *target->kind ? target->kind : "unknown");
}

/* OpenTelemetry has other names for two of them. */
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
	char container[CONTAINER_ID_LENGTH + 1], pod[POD_UID_LENGTH + 1], unit[256];

	resource->nr = 0;
	if (texts_begin(&resource->texts))
		return resource->texts.error;
	find_container(service->cgroup, container);
	find_pod(service->cgroup, pod);
	find_unit(service->cgroup, unit);
	name_service(resource, profile, service, container, unit);
	put(resource, "host.name", target->host ? target->host : profile->host.name);
	put(resource, "host.arch", architecture(profile->host.arch));
	put(resource, "os.type", "linux");
	put(resource, "os.version", profile->host.kernel);
	put(resource, "container.id", container);
	put(resource, "k8s.pod.uid", pod);
	put(resource, "process.linux.cgroup", service->cgroup);
	put(resource, "bpfprofil.target", *target->name ? target->name : target->kind);
	put(resource, "bpfprofil.mode", profile->sampling.mode);
	put(resource, "bpfprofil.source", profile->sampling.source);
	return resource->texts.error;
}

void resource_free(struct resource *resource)
{
	texts_end(&resource->texts);
}

uint64_t resource_hash(uint64_t seed, const char *text)
{
	seed ^= 0xcbf29ce484222325;
	for (text = text ? text : ""; *text; text++)
		seed = (seed ^ (unsigned char)*text) * 0x100000001b3;
	/* Separates the parts, so that "ab", "c" differs from "a", "bc". */
	return (seed ^ 0xff) * 0x100000001b3;
}

void resource_profile_id(const struct samples *samples, const struct sample_service *service,
			 const char *type, uint8_t id[PROFILE_ID_BYTES])
{
	const struct profile *profile = samples->profile;
	const struct profile_target *target = &profile->targets[service->target];
	char number[64];
	uint64_t part = 0;
	size_t i;

	/*
	 * The duration is included, because a sum that begins at the same time as its first part is
	 * another profile.
	 */
	snprintf(number, sizeof(number), "%u %llu", service->target,
		 (unsigned long long)profile->duration_ns);
	for (i = 0; i < PROFILE_ID_BYTES; i += sizeof(part)) {
		part = resource_hash(part, target->host ? target->host : profile->host.name);
		part = resource_hash(part, profile->started);
		part = resource_hash(part, number);
		part = resource_hash(part, service->cgroup);
		part = resource_hash(part, type);
		memcpy(id + i, &part, sizeof(part));
	}
}
