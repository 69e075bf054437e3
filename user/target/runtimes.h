/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIMES_H
#define BPFPROFIL_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* What a container runtime says of a container. */
struct runtime_container {
	const char *runtime;
	char *id;
	char *where; /* "namespace/pod/name" in Kubernetes; NULL elsewhere */
	pid_t pid; /* of its first process; 0: not told */
	bool stopped;
};

struct runtime_containers {
	struct runtime_container *list;
	size_t nr;
	size_t capacity;
	/* Why a runtime that is installed could not answer: "docker: ..."; the first one's. */
	char trouble[256];
};

/*
 * Asks every runtime's own command for the containers of that name, or with that beginning of an
 * id. The name must be one, container_name_is_valid(), so that nothing takes it for an option.
 */
int runtimes_ask(const char *name, struct runtime_containers *ret, struct error *err);
void runtime_containers_free(struct runtime_containers *containers);

/* The names of all running containers, as far as the runtimes tell. */
struct names;
int runtimes_names(struct names *ret, struct error *err);

#endif
