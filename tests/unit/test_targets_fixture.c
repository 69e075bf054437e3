// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_targets_fixture.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <criterion/criterion.h>

#include "child.h"
#include "host/targets/targets_impl.h"

#define CONTROLLERS                                                                                \
	"#subsys_name\thierarchy\tnum_cgroups\tenabled\n"                                          \
	"cpuset\t3\t1\t1\ncpu\t1\t1\t1\ncpuacct\t1\t1\t1\nmemory\t4\t12\t1\npids\t8\t1\t1\n"

const char *host_path(const char *path, const struct host *host)
{
	static char paths[8][PATH_MAX];
	static unsigned int next;
	char *whole = paths[next++ % 8];

	snprintf(whole, sizeof(paths[0]), "%s/%s", host->dir, path);
	return whole;
}

static void make_directories(const struct host *host, const char *path)
{
	char whole[PATH_MAX], *slash;

	snprintf(whole, sizeof(whole), "%s/%s/", host->dir, path);
	for (slash = whole + strlen(host->dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		cr_assert(!mkdir(whole, 0755) || errno == EEXIST, "%s: %s", whole, strerror(errno));
	}
}

static void write_text(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);

	cr_assert(file && fputs(text, file) >= 0 && !fclose(file), "%s: %s", path, strerror(errno));
}

void host_file(const struct host *host, const char *path, const char *text)
{
	char above[PATH_MAX];

	snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
	make_directories(host, above);
	write_text(host_path(path, host), "we", text);
}

void host_begin(struct host *host)
{
	memset(host, 0, sizeof(*host));
	snprintf(host->dir, sizeof(host->dir), "/tmp/bpfprofil-host-XXXXXX");
	cr_assert_not_null(mkdtemp(host->dir), "%s: %s", host->dir, strerror(errno));
	host_file(host, "proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda rw\n");
	host_file(host, "proc/cgroups", CONTROLLERS);
	make_directories(host, "bin");
	setenv("PATH", host_path("bin", host), 1);
}

void host_end(struct host *host)
{
	targets_free(&host->targets);
	child_do(ARGS("/bin/rm", "-rf", host->dir));
}

void host_mount_line(const struct host *host, const char *line)
{
	write_text(host_path("proc/self/mountinfo", host), "ae", line);
}

/* Writes a path as the kernel does there. */
static void escape(char *to, const char *path)
{
	for (; *path; path++)
		to += strchr(" \\", *path) ? sprintf(to, "\\%03o", (unsigned char)*path) :
					     sprintf(to, "%c", *path);
}

void host_mount(const struct host *host, const char *where, const char *options, const char *root)
{
	char line[PATH_MAX], escaped[512];
	struct stat status;

	make_directories(host, where);
	cr_assert(!stat(host->dir, &status));
	escape(escaped, where);
	snprintf(line, sizeof(line), "30 1 %u:%u %s %s/%s rw,nosuid shared:9 - %s none %s\n",
		 major(status.st_dev), minor(status.st_dev), root, host->dir, escaped,
		 options ? "cgroup" : "cgroup2", options ?: "rw,nsdelegate");
	host_mount_line(host, line);
}

void host_cgroup(const struct host *host, const char *path, const char *procs)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	host_file(host, file, procs);
}

void host_program(const struct host *host, const char *name, const char *script)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bin/%s", host->dir, name);
	write_text(path, "we", "#!/bin/sh\n");
	write_text(path, "ae", script);
	cr_assert(!chmod(path, 0755));
}

void host_ready(struct host *host)
{
	host->targets.cgroups = calloc(1, sizeof(*host->targets.cgroups));
	cr_assert_not_null(host->targets.cgroups);
	cr_assert_eq(cgroups_read(host->targets.cgroups, host_path("proc", host), &host->err), 0,
		     "%s", host->err.text);
}

uint64_t host_cgroup_id(const struct host *host, const char *path)
{
	struct stat status;

	cr_assert(!stat(host_path(path, host), &status), "%s: %s", path, strerror(errno));
	return status.st_ino;
}

void host_expect(struct host *host, int result, const char *directory, const char *controller)
{
	struct targets *targets = &host->targets;

	cr_assert_eq(result, 0, "%d: %s", result, host->err.text);
	result = targets_finish(targets, &host->err);
	cr_assert_eq(result, 0, "%d: %s", result, host->err.text);
	cr_assert_eq(targets->nr, 1);
	cr_assert_eq(targets->list[0].kind, TARGET_CGROUP);
	cr_expect_eq(targets->list[0].cgroup, host_cgroup_id(host, directory), "it is %s",
		     targets->list[0].path);
	cr_expect_str_eq(targets->controller ?: "", controller);
}

void host_expect_error(struct host *host, int result, int wanted, const char *text,
		       const char *hint)
{
	cr_expect_eq(result, wanted, "%d", result);
	cr_expect_str_eq(host->err.text, text);
	cr_expect_str_eq(host->err.hint, hint);
	memset(&host->err, 0, sizeof(host->err));
}
