/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIMES_H
#define BPFPROFIL_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/json_reader.h"

/* A container, as reported by a runtime. */
struct runtime_container {
	const char *runtime;
	char *id;
	char *where; /* "namespace/pod/name" in Kubernetes; else NULL */
	pid_t pid; /* first process; 0: unknown */
	bool stopped;
};

struct runtime_containers {
	struct runtime_container *list;
	size_t nr;
	size_t capacity;
	/* Why installed runtimes failed: "docker: ...; runc: ...". */
	char trouble[320];
	char without[64]; /* runtimes without a container of that name, like "runc, crun" */
};

/*
 * Asks all runtimes for containers with that name, or prefix of an id. If one of them runs, stopped
 * ones are dropped, such as one that podman has only created. The name must pass
 * container_name_is_valid(), so that it cannot be an option.
 */
int runtimes_ask(const char *name, struct runtime_containers *result, struct error *err);
void runtime_containers_free(struct runtime_containers *containers);

/* The names of all running containers. */
struct names;
int runtimes_names(struct names *result, struct error *err);

/*
 * Returns "ID NAME" for one runtime's containers whose name is not their id, except those of
 * Kubernetes. processes, unless NULL, receives lines "NAME PID ..." of containers whose names are
 * their ids, among other lines. False: there is no runtime with this number.
 */
bool runtime_list(size_t number, struct names *ids, struct names *processes);

/* A parser of runtimes' output. */
struct runtime_parse {
	const char *runtime;
	const char *name; /* the name to find in a full list; NULL: collect names only */
	struct runtime_containers *containers;
	struct names *names; /* collects names; NULL: do not */
};

/* Output of docker inspect, and of similar tools: [{Id, State: {Running, Pid}}...] */
int runtime_parse_docker(struct json_reader *json, struct runtime_parse *parse);

/* crictl ps -o json: {containers: [{id, state, metadata: {name}, labels}...]} */
int runtime_parse_cri(struct json_reader *json, struct runtime_parse *parse);

/* State of the OCI runtime specification: {id, status, pid} */
int runtime_parse_oci(struct json_reader *json, struct runtime_parse *parse);

/* Frees the old *result: if a name occurs twice in an object, the last member counts. */
int runtime_read_string(struct json_reader *json, char **result);

#endif
