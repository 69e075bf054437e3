// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "container.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/json_text.h"
#include "cgroup.h"
#include "host/targets/cgroups.h"

void container_remove_cgroups(const char *path)
{
	struct cgroups cgroups;
	char whole[PATH_MAX];
	size_t i;

	cr_assert(!cgroups_read(&cgroups, "/proc", NULL));
	for (i = 0; i < cgroups.nr; i++) {
		snprintf(whole, sizeof(whole), "%s%s", cgroups.list[i].where, path);
		if (!access(whole, F_OK))
			cgroup_remove(whole);
	}
	cgroups_free(&cgroups);
}

static void run(const char *const argv[])
{
	struct child_end end;

	child_run(&end, NULL, argv);
	child_end_free(&end);
}

static void clean(void *argument)
{
	struct container *container = argument;
	char top[sizeof(container->cgroup)];

	run(ARGS("runc", "delete", "--force", container->name));
	snprintf(top, sizeof(top), "%s", container->cgroup);
	top[1 + strcspn(top + 1, "/")] = '\0';
	container_remove_cgroups(top);
	run(ARGS("rm", "-rf", container->dir));
}

static const char *in_bundle(const struct container *container, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", container->dir, name);
	return path;
}

static void make_root(const struct container *container, const char *const programs[])
{
	static const char *const directories[] = { "rootfs",	 "rootfs/usr", "rootfs/proc",
						   "rootfs/dev", "rootfs/tmp", "rootfs/test" };
	static const char *const links[] = { "bin", "sbin", "lib", "lib64" };
	char target[32], name[32];
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		cr_assert(!mkdir(in_bundle(container, directories[i]), 0755), "%s", directories[i]);
	for (i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(target, sizeof(target), "usr/%s", links[i]);
		snprintf(name, sizeof(name), "rootfs/%s", links[i]);
		cr_assert(!symlink(target, in_bundle(container, name)), "%s", name);
	}
	for (; *programs; programs++)
		run(ARGS("cp", *programs, in_bundle(container, "rootfs/test")));
}

static void write_config(const struct container *container, const char *const argv[])
{
	FILE *file = fopen(in_bundle(container, "config.json"), "we");
	const char *const *word;

	cr_assert_not_null(file);
	fputs("{ \"ociVersion\": \"1.0.2\", \"root\": { \"path\": \"rootfs\" },\n"
	      "\"process\": { \"user\": { \"uid\": 0, \"gid\": 0 }, \"cwd\": \"/\",\n"
	      "\"env\": [ \"PATH=/test:/usr/bin\" ], \"args\": [ ",
	      file);
	for (word = argv; *word; word++) {
		fputs(word > argv ? ", " : "", file);
		json_text_string(file, *word);
	}
	fputs(" ] },\n\"mounts\": [\n"
	      "{ \"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\" },\n"
	      "{ \"destination\": \"/usr\", \"type\": \"bind\", \"source\": \"/usr\",\n"
	      "\"options\": [ \"bind\", \"ro\" ] } ],\n"
	      "\"linux\": { \"namespaces\": [ { \"type\": \"pid\" }, { \"type\": \"mount\" },\n"
	      "{ \"type\": \"cgroup\" }, { \"type\": \"ipc\" }, { \"type\": \"uts\" } ],\n"
	      "\"cgroupsPath\": ",
	      file);
	json_text_string(file, container->cgroup);
	fputs(" } }\n", file);
	cr_assert(!fclose(file));
}

/*
 * runc renames the file when it is complete. Until it executes the program, the process is runc's.
 */
static bool has_started(void *argument)
{
	struct container *container = argument;
	FILE *file = fopen(in_bundle(container, "pid"), "re");
	char path[64], name[32] = "runc";

	if (!file)
		return false;
	cr_assert_eq(fscanf(file, "%d", &container->pid), 1);
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/comm", container->pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			name[0] = '\0';
		fclose(file);
	}
	return strncmp(name, "runc", 4) != 0;
}

static void choose_names(struct container *container)
{
	static unsigned int number;

	if (!container->name[0])
		snprintf(container->name, sizeof(container->name), "bpfprofil-%d-%u", getpid(),
			 number++);
	if (!container->cgroup[0])
		snprintf(container->cgroup, sizeof(container->cgroup), "/%s", container->name);
	snprintf(container->dir, sizeof(container->dir), "/tmp/bpfprofil-bundle-XXXXXX");
	cr_assert_not_null(mkdtemp(container->dir), "%s: %s", container->dir, strerror(errno));
}

void container_start(struct container *container, const char *const programs[],
		     const char *const argv[])
{
	struct child_end end;
	char pid_file[128];

	choose_names(container);
	guard_begin(&container->guard, clean, container);
	make_root(container, programs);
	write_config(container, argv);
	snprintf(pid_file, sizeof(pid_file), "%s/pid", container->dir);
	child_start(&container->runc, NULL,
		    ARGS("runc", "run", "--bundle", container->dir, "--pid-file", pid_file,
			 container->name));
	if (eventually(has_started, container))
		return;
	kill(container->runc.pid, SIGKILL);
	child_finish(&container->runc, &end);
	cr_assert_fail("runc: %s", end.err);
}

void container_divide(const struct container *container, const char *name, pid_t pid)
{
	struct cgroups cgroups;
	char path[PATH_MAX];
	size_t i;

	cr_assert(!cgroups_read(&cgroups, "/proc", NULL));
	for (i = 0; i < cgroups.nr; i++) {
		snprintf(path, sizeof(path), "%s%s", cgroups.list[i].where, container->cgroup);
		/* A cpuset without CPUs accepts no process. */
		if (access(path, F_OK) || strstr(cgroups.list[i].where, "cpuset"))
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", cgroups.list[i].where, container->cgroup,
			 name);
		cgroup_make(path);
		cgroup_enter(path, pid);
	}
	cgroups_free(&cgroups);
}

void container_kill(struct container *container)
{
	struct child_end end;

	if (!container->runc.pid)
		return;
	run(ARGS("runc", "kill", container->name, "KILL"));
	child_finish(&container->runc, &end);
	child_end_free(&end);
	container->runc.pid = 0;
}

void container_end(struct container *container)
{
	container_kill(container);
	guard_end(&container->guard);
}
