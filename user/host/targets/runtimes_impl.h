/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIMES_IMPL_H
#define BPFPROFIL_RUNTIMES_IMPL_H

/* What runtimes.c, which asks, and runtime_parse.c, which parses the answers, share. */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "host/targets/runtimes.h"

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

/* How a program that was asked something ended. */
struct tool_answer {
	int out; /* what it wrote, from the beginning; -1: no such program in PATH */
	int status; /* exit status as in a shell */
	bool late; /* it was killed after TOOL_PATIENCE_MS */
	char said[160]; /* the last line of its standard error, which gives the reason */
};

#define TOOL_PATIENCE_MS 5000
#define TOOL_OUTPUT_MAX (16 << 20)

/*
 * Runs a program found in PATH, without a shell and with our environment, and waits for it. If it
 * is late, it is killed together with what it started. Fails only for lack of a process or of
 * memory.
 */
int tool_ask(const char *const *argv, struct tool_answer *result, struct error *err);
void tool_answer_free(struct tool_answer *answer);

#endif
