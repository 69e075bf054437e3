// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Files that docker and podman write when they create a container. Reading them takes some 50 us
 * and starts no process. Therefore even a container that is gone in a moment has its name.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "host/targets/container_names.h"
#include "host/targets/runtimes.h"
#include "host/targets/targets_impl.h"

#define DOCKER_FOLDER "/var/lib/docker"

struct file_search {
	const char *id;
	char *found;
	bool is_it; /* the current object has the id */
};

/* Only root can write these files. A missing file is not an error. */
static int read_file(const char *root, const char *path,
		     int (*read)(struct json_reader *json, struct file_search *search),
		     struct file_search *search)
{
	int fd = regular_file_open(root, path, NULL), ret;
	struct json_reader *json;
	struct input *in;
	struct error err;

	if (fd < 0)
		return fd;
	ret = input_open_fd(fd, path, &in, &err);
	if (ret)
		return ret;
	json = json_reader_new(in, &err);
	ret = json ? read(json, search) : -ENOMEM;
	json_reader_free(json);
	input_close(in);
	return ret;
}

static int read_member(struct json_reader *json, const char *wanted, struct file_search *search)
{
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) > 0) {
		ret = strcmp(key, wanted) ? json_reader_skip(json) :
					    runtime_read_string(json, &search->found);
	}
	return ret;
}

static int read_data_root(struct json_reader *json, struct file_search *search)
{
	return read_member(json, "data-root", search);
}

static int read_docker_name(struct json_reader *json, struct file_search *search)
{
	return read_member(json, "Name", search);
}

static char *find_docker(const char *root, const char *id)
{
	struct file_search folder = { 0 }, search = { .id = id };
	cleanup_free char *path = NULL;

	read_file(root, "/etc/docker/daemon.json", read_data_root, &folder);
	path = format_text("%s/containers/%s/config.v2.json",
			   folder.found ? folder.found : DOCKER_FOLDER, id);
	free(folder.found);
	if (path)
		read_file(root, path, read_docker_name, &search);
	return search.found;
}

static int read_id(struct json_reader *json, struct file_search *search)
{
	char *id = NULL;
	int ret = json_reader_string(json, &id);

	search->is_it = id && !strcmp(id, search->id);
	free(id);
	return ret;
}

static int read_names(struct json_reader *json, char **last)
{
	int ret = json_reader_null(json);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = json_reader_array(json);
	while (!ret && (ret = json_reader_element(json)) > 0)
		ret = runtime_read_string(json, last);
	return ret;
}

/* Reads one container. Its names may come before or after its id; the last one counts. */
static int read_container(struct json_reader *json, struct file_search *search)
{
	cleanup_free char *name = NULL;
	const char *key;
	int ret = json_reader_object(json);

	search->is_it = false;
	while (!ret && (ret = json_reader_member(json, &key)) > 0) {
		if (!strcmp(key, "id"))
			ret = read_id(json, search);
		else if (!strcmp(key, "names"))
			ret = read_names(json, &name);
		else
			ret = json_reader_skip(json);
	}
	if (!ret && search->is_it) {
		search->found = name;
		name = NULL;
	}
	return ret;
}

static int read_storage(struct json_reader *json, struct file_search *search)
{
	int ret = json_reader_array(json);

	while (!ret && !search->found && (ret = json_reader_element(json)) > 0)
		ret = read_container(json, search);
	return ret;
}

/*
 * There is one list for each storage driver, such as overlay, and one of containers that end with
 * the host.
 */
static char *find_podman(const char *root, const char *id)
{
	struct file_search search = { .id = id };
	cleanup_free char *pattern =
		format_text("%s/var/lib/containers/storage/*-containers/*containers.json", root);
	glob_t files = { 0 };
	size_t i;

	if (pattern && !glob(pattern, GLOB_NOSORT, NULL, &files))
		for (i = 0; i < files.gl_pathc && !search.found; i++)
			read_file(root, files.gl_pathv[i] + strlen(root), read_storage, &search);
	globfree(&files);
	return search.found;
}

bool container_files_find(const char *root, const char *id, char result[CONTAINER_NAME_MAX])
{
	cleanup_free char *found = find_docker(root, id);
	const char *name;

	if (!found)
		found = find_podman(root, id);
	name = found && *found == '/' ? found + 1 : found;
	if (!name || !container_name_is_valid(name) || strlen(name) >= CONTAINER_NAME_MAX)
		return false;
	snprintf(result, CONTAINER_NAME_MAX, "%s", name);
	return true;
}
