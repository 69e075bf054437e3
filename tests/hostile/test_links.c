// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles programs whose debug files are links to what their owner may not open. Opening is
 * what must not happen, because it is enough to change the kernel's state, so inotify watches for it.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"
#include "test_burn_fixture.h"

#define OWNER "65534"
#define THIRD "12345"

TestSuite(hostile_links, .timeout = 170);

/* What has no file system of that type in a kernel has no such door, except for the first two. */
static const struct {
	const char *type, *file;
} doors[] = {
	{ "proc", "sys/kernel/ostype" }, { "sysfs", "kernel/mm/transparent_hugepage/enabled" },
	{ "tracefs", "free_buffer" },	 { "debugfs", "sched/features" },
	{ "cgroup2", "cgroup.procs" },
};

#define NR_DOORS (sizeof(doors) / sizeof(*doors))

/* A program without names, and beside it full.debug, which its .gnu_debuglink names. */
struct trap {
	char program[128];
	int watch; /* of what full.debug is or links to */
	int opened; /* how often it was */
};

struct traps {
	struct trap list[NR_DOORS + 2];
	size_t nr;
	int notify;
};

static void add(struct live *live, struct traps *traps, const char *name, const char *make,
		const char *file)
{
	static const char steps[] =
		"set -e; mkdir $1; cd $1; chmod 755 .. .; cp $0 true.debug; cp $0 program.so;"
		"ln true.debug full.debug; strip --strip-all program.so;"
		"objcopy --add-gnu-debuglink=full.debug program.so; rm full.debug;"
		"chown -R " OWNER " .; eval \"$2\"; chown -h " OWNER " full.debug";
	struct trap *trap = &traps->list[traps->nr++];
	const char *folder = live_path(live, name);
	char full[192];

	child_do(ARGS("sh", "-c", steps, BURN, folder, make, file));
	snprintf(trap->program, sizeof(trap->program), "%s/program.so", folder);
	snprintf(full, sizeof(full), "%s/full.debug", folder);
	trap->watch = inotify_add_watch(traps->notify, full, IN_OPEN);
	cr_assert_geq(trap->watch, 0, "%s", full);
}

static void add_doors(struct live *live, struct traps *traps)
{
	char point[128], file[256];
	size_t i;

	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	for (i = 0; i < NR_DOORS; i++) {
		snprintf(point, sizeof(point), "%s/%s-mount", live->dir, doors[i].type);
		cr_assert_eq(mkdir(point, 0755), 0);
		if (mount(doors[i].type, point, doors[i].type, 0, NULL)) {
			cr_assert_geq(i, 2, "%s", doors[i].type);
			continue;
		}
		snprintf(file, sizeof(file), "%s/%s", point, doors[i].file);
		if (i < 2 || !access(file, F_OK))
			add(live, traps, doors[i].type, "ln -s $3 full.debug", file);
	}
}

/* Before the test's folder is removed with all that is in it. */
static void remove_doors(struct live *live)
{
	char point[128];
	size_t i;

	for (i = 0; i < NR_DOORS; i++) {
		snprintf(point, sizeof(point), "%s/%s-mount", live->dir, doors[i].type);
		umount2(point, MNT_DETACH);
		cr_assert_eq(rmdir(point), 0, "%s", point);
	}
}

static void count_opened(struct traps *traps)
{
	char events[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got = read(traps->notify, events, sizeof(events)), at = 0;
	const struct inotify_event *event;
	size_t i;

	for (; at < got; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const void *)(events + at);
		for (i = 0; i < traps->nr; i++)
			traps->list[i].opened += traps->list[i].watch == event->wd;
	}
}

/* Only the honest program's file is opened, and all are counted. */
LIVE_TEST(hostile_links, not_opened)
{
	struct traps traps = { .notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
	const char *command[3 + sizeof(traps.list) / sizeof(*traps.list) + 1] = { MAPPED, NULL,
										  BURN_COUNT };
	char offset[32];
	size_t i;

	NEED_ROOT();
	NEED(have_mounts(), "no mounts in a namespace of one's own");
	NEED_TOOL("objcopy");
	cr_assert_geq(traps.notify, 0);
	add(live, &traps, "honest", "mv true.debug full.debug", "");
	add(live, &traps, "third",
	    "mv true.debug theirs; chown " THIRD
	    " theirs; chmod 600 theirs; ln -s theirs full.debug",
	    "");
	add_doors(live, &traps);
	command[1] = offset;
	for (i = 0; i < traps.nr; i++)
		command[3 + i] = traps.list[i].program;
	burn_offset(offset, sizeof(offset));
	cr_assert(live_run(live, ARGS(FAST), command));
	count_opened(&traps);
	remove_doors(live);
	cr_expect_gt(traps.list[0].opened, 0);
	cr_expect_eq(doc_function(live->doc, "burn", traps.list[0].program),
		     doc_object(live->doc, "file", traps.list[0].program));
	for (i = 0; i < traps.nr; i++) {
		cr_expect_gt(doc_object(live->doc, "file", traps.list[i].program), 100, "%s",
			     traps.list[i].program);
		cr_expect(i == 0 || !traps.list[i].opened, "%s", traps.list[i].program);
	}
}
