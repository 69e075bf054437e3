// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/nearest.h"
#include "host/targets/runtimes_impl.h"

/* A container while it is read, and the words that say where it belongs. */
struct container_reading {
	struct runtime_container container;
	char *name;
	char *pod;
	char *namespace;
};

static void free_reading(struct container_reading *reading)
{
	free(reading->container.id);
	free(reading->container.where);
	free(reading->name);
	free(reading->pod);
	free(reading->namespace);
	*reading = (struct container_reading){ 0 };
}

/* If a name occurs twice in an object, the last member counts. */
static int read_json_string(struct json_reader *json, char **result)
{
	free(*result);
	*result = NULL;
	return json_reader_string(json, result);
}

static int read_json_pid(struct json_reader *json, pid_t *result)
{
	uint64_t pid;
	int ret = json_reader_u64(json, &pid);

	if (ret)
		return ret;
	if (pid > INT_MAX)
		return json_reader_fail(json, "no pid");
	*result = (pid_t)pid;
	return 0;
}

/* Takes over the strings of reading. */
static int keep_container(struct runtime_parse *parse, struct container_reading *reading)
{
	struct runtime_containers *containers = parse->containers;
	int ret;

	ret = grow((void **)&containers->list, &containers->capacity, containers->nr + 1,
		   sizeof(*containers->list));
	if (ret)
		return ret;
	reading->container.runtime = parse->runtime;
	containers->list[containers->nr++] = reading->container;
	reading->container = (struct runtime_container){ 0 };
	return 0;
}

typedef int (*read_member)(struct json_reader *json, const char *key,
			   struct container_reading *reading);

static int read_json_object(struct json_reader *json, read_member member,
			    struct container_reading *reading)
{
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) > 0)
		ret = member(json, key, reading);
	return ret;
}

static int docker_state(struct json_reader *json, const char *key,
			struct container_reading *reading)
{
	bool running;
	int ret;

	if (!strcmp(key, "Pid"))
		return read_json_pid(json, &reading->container.pid);
	if (strcmp(key, "Running") != 0)
		return json_reader_skip(json);
	ret = json_reader_bool(json, &running);
	if (!ret)
		reading->container.stopped = !running;
	return ret;
}

static int docker_member(struct json_reader *json, const char *key,
			 struct container_reading *reading)
{
	if (!strcmp(key, "Id"))
		return read_json_string(json, &reading->container.id);
	if (!strcmp(key, "State"))
		return read_json_object(json, docker_state, reading);
	return json_reader_skip(json);
}

int runtime_parse_docker(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = json_reader_array(json);

	while (!ret && (ret = json_reader_element(json)) > 0) {
		ret = read_json_object(json, docker_member, &reading);
		if (!ret && reading.container.id)
			ret = keep_container(parse, &reading);
		free_reading(&reading);
	}
	return ret;
}

static int oci_member(struct json_reader *json, const char *key, struct container_reading *reading)
{
	char *status = NULL;
	int ret;

	if (!strcmp(key, "id"))
		return read_json_string(json, &reading->container.id);
	if (!strcmp(key, "pid"))
		return read_json_pid(json, &reading->container.pid);
	if (strcmp(key, "status") != 0)
		return json_reader_skip(json);
	ret = json_reader_string(json, &status);
	if (!ret)
		reading->container.stopped = !strcmp(status, "stopped");
	free(status);
	return ret;
}

int runtime_parse_oci(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = read_json_object(json, oci_member, &reading);

	if (!ret && reading.container.id)
		ret = keep_container(parse, &reading);
	free_reading(&reading);
	return ret;
}

static int cri_metadata(struct json_reader *json, const char *key,
			struct container_reading *reading)
{
	if (!strcmp(key, "name"))
		return read_json_string(json, &reading->name);
	return json_reader_skip(json);
}

static int cri_label(struct json_reader *json, const char *key, struct container_reading *reading)
{
	if (!strcmp(key, "io.kubernetes.pod.name"))
		return read_json_string(json, &reading->pod);
	if (!strcmp(key, "io.kubernetes.pod.namespace"))
		return read_json_string(json, &reading->namespace);
	return json_reader_skip(json);
}

static int cri_member(struct json_reader *json, const char *key, struct container_reading *reading)
{
	if (!strcmp(key, "id"))
		return read_json_string(json, &reading->container.id);
	if (!strcmp(key, "metadata"))
		return read_json_object(json, cri_metadata, reading);
	if (!strcmp(key, "labels"))
		return read_json_object(json, cri_label, reading);
	return json_reader_skip(json);
}

static int keep_named(struct runtime_parse *parse, struct container_reading *reading)
{
	if (!reading->name || !reading->container.id)
		return 0;
	if (parse->names)
		return names_add(parse->names, reading->name, SIZE_MAX);
	if (strcmp(reading->name, parse->name) != 0)
		return 0;
	if (reading->pod &&
	    asprintf(&reading->container.where, "%s/%s/%s", reading->namespace ?: "default",
		     reading->pod, reading->name) < 0) {
		reading->container.where = NULL;
		return -ENOMEM;
	}
	return keep_container(parse, reading);
}

static int cri_containers(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = json_reader_array(json);

	while (!ret && (ret = json_reader_element(json)) > 0) {
		ret = read_json_object(json, cri_member, &reading);
		if (!ret)
			ret = keep_named(parse, &reading);
		free_reading(&reading);
	}
	return ret;
}

int runtime_parse_cri(struct json_reader *json, struct runtime_parse *parse)
{
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) > 0)
		ret = strcmp(key, "containers") ? json_reader_skip(json) :
						  cri_containers(json, parse);
	return ret;
}
