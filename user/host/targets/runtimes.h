/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIMES_H
#define BPFPROFIL_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/json_reader.h"

/* What a container runtime says of a container. */
struct runtime_container {
	const char *runtime;
	char *id;
	char *where; /* "namespace/pod/name" in Kubernetes; NULL elsewhere */
	pid_t pid; /* of its first process; 0: unknown */
	bool stopped;
};

struct runtime_containers {
	struct runtime_container *list;
	size_t nr;
	size_t capacity;
	/* Why each runtime that is installed but failed could not answer: "docker: ...; runc: ...". */
	char trouble[320];
	char without[64]; /* the runtimes that have none of that name, as "runc, crun" */
};

/*
 * Asks the command of every runtime for the containers with that name or prefix of an id. While one
 * of them runs, those that do not are left out, as one that podman has merely created. The name must
 * pass container_name_is_valid(), so that it cannot be taken for an option.
 */
int runtimes_ask(const char *name, struct runtime_containers *result, struct error *err);
void runtime_containers_free(struct runtime_containers *containers);

/* The names of all running containers that the runtimes list. */
struct names;
int runtimes_names(struct names *result, struct error *err);

/*
 * "ID NAME" of one runtime's containers that have a name besides their id, except those of Kubernetes;
 * and, unless processes is NULL, among other lines "NAME PID ..." of those whose names are their ids.
 * False: there is no runtime of this number.
 */
bool runtime_tell(size_t number, struct names *ids, struct names *processes);

/* What parses the answers of runtimes. */
struct runtime_parse {
	const char *runtime;
	const char *name; /* the name to look for in a full list; NULL: only names are wanted */
	struct runtime_containers *containers;
	struct names *names; /* collects names; NULL: not wanted */
};

/* The output of docker inspect and of tools modelled on it: [{Id, State: {Running, Pid}}...] */
int runtime_parse_docker(struct json_reader *json, struct runtime_parse *parse);

/* crictl ps -o json: {containers: [{id, state, metadata: {name}, labels}...]} */
int runtime_parse_cri(struct json_reader *json, struct runtime_parse *parse);

/* The state of the OCI runtime specification: {id, status, pid} */
int runtime_parse_oci(struct json_reader *json, struct runtime_parse *parse);

/* Frees what *result had: if a name occurs twice in an object, the last member counts. */
int runtime_read_string(struct json_reader *json, char **result);

#endif
