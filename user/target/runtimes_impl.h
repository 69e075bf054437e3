/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIMES_IMPL_H
#define BPFPROFIL_RUNTIMES_IMPL_H

/* What runtimes.c (who is asked) and runtime_parse.c (what is answered) share. */

#include "base/json_reader.h"
#include "target/runtimes.h"

struct runtime_parse {
	const char *runtime;
	const char *name; /* what is looked for, where all are told; NULL: only names are wanted */
	struct runtime_containers *containers;
	struct names *names; /* NULL: not wanted */
};

/* docker inspect, and those that take after it: [{Id, State: {Running, Pid}}...] */
int runtime_parse_docker(struct json_reader *json, struct runtime_parse *parse);

/* crictl ps -o json: {containers: [{id, state, metadata: {name}, labels}...]} */
int runtime_parse_cri(struct json_reader *json, struct runtime_parse *parse);

/* The state of the OCI runtime specification: {id, status, pid} */
int runtime_parse_oci(struct json_reader *json, struct runtime_parse *parse);

#endif
