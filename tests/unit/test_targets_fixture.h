/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_TARGETS_FIXTURE_H
#define TEST_TARGETS_FIXTURE_H

#include <stdint.h>

#include "fixture.h"
#include "host/targets/targets.h"

/*
 * A fake host: directories for cgroups, and a procfs whose mountinfo says that they are cgroup file
 * systems. A cgroup in it is populated if its cgroup.procs has a pid.
 */
struct host {
	char dir[64];
	struct targets targets;
	struct error err;
};

void host_begin(struct host *host);
void host_end(struct host *host);

/* A path in the host's directory; the text stays valid for seven more calls. */
const char *host_path(const char *path, const struct host *host);

/*
 * Mounts a hierarchy on a directory: options are as the kernel shows them ("rw,cpu,cpuacct"), NULL
 * for version 2; root is the part that is shown.
 */
void host_mount(const struct host *host, const char *where, const char *options, const char *root);

/* Adds a line to mountinfo unchanged. */
void host_mount_line(const struct host *host, const char *line);

/* Makes a directory and all above it; procs: the pids in it, "" for none. */
void host_cgroup(const struct host *host, const char *path, const char *procs);

/* Writes a file and the directories above it. */
void host_file(const struct host *host, const char *path, const char *text);

/* Adds a program to PATH, which contains nothing else from then on: sh runs the script. */
void host_program(const struct host *host, const char *name, const char *script);

/* Call when all is in place: makes host->targets use it. */
void host_ready(struct host *host);

/* The id of a target for this cgroup. */
uint64_t host_cgroup_id(const struct host *host, const char *path);

/*
 * Expects that the only target is the cgroup in this directory, by this controller ("": version 2).
 */
void host_expect(struct host *host, int result, const char *directory, const char *controller);

/* Expects that adding failed with this error; hint "": none. */
void host_expect_error(struct host *host, int result, int wanted, const char *text,
		       const char *hint);

#endif
