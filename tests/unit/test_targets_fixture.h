/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_TARGETS_FIXTURE_H
#define TEST_TARGETS_FIXTURE_H

#include <stdint.h>

#include "target/targets.h"

/*
 * A host that is not: directories for cgroups, and a procfs whose mountinfo says that they are
 * file systems of cgroups. A cgroup of it is populated when its cgroup.procs holds a pid.
 */
struct host {
	char dir[64];
	struct targets targets;
	struct error err;
};

void host_begin(struct host *host);
void host_end(struct host *host);

/* A path in the host's directory; the text lives until the next but seven calls. */
const char *host_path(const char *path, const struct host *host);

/*
 * Mounts a hierarchy on a directory: options as the kernel shows them ("rw,cpu,cpuacct"), NULL
 * for version 2; root is what of it is shown.
 */
void host_mount(const struct host *host, const char *where, const char *options, const char *root);

/* A mountinfo line as it is. */
void host_mount_line(const struct host *host, const char *line);

/* Makes a directory and all above it; procs: the pids in it, "" for nobody. */
void host_cgroup(const struct host *host, const char *path, const char *procs);

/* Writes a file and the directories above it. */
void host_file(const struct host *host, const char *path, const char *text);

/* A program in PATH, which holds nothing else from then on: what sh does with the script. */
void host_program(const struct host *host, const char *name, const char *script);

/* Once all is in place: lets host->targets see it. */
void host_ready(struct host *host);

/* What a target of this cgroup has as its id. */
uint64_t host_cgroup_id(const struct host *host, const char *path);

/* The only target is the cgroup in this directory, by this controller ("": version 2). */
void host_expect(struct host *host, int result, const char *directory, const char *controller);

/* Adding failed so. hint "": none. */
void host_expect_error(struct host *host, int result, int wanted, const char *text,
		       const char *hint);

#endif
