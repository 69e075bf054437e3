// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What waits on disk: whenever it ends, each tick is there once. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/pending.h"
#include "agent/sink.h"
#include "base/util.h"
#include "sample.h"
#include "test_file_fixture.h"

TestSuite(spool, .init = folder_enter, .fini = folder_remove);

static void open_spool(struct pending *pending)
{
	struct error err = { 0 };

	cr_assert_eq(spool_open(".", "otlp http://x/", &pending->spool, &err), 0, "%s", err.text);
	cr_assert_eq(pending_load(pending, &err), 0, "%s", err.text);
}

/* Ends as if the agent had been killed: nothing is cleaned up. */
static void close_spool(struct pending *pending)
{
	spool_close(pending->spool);
	pending_free(pending);
}

static uint64_t add(struct pending *pending, unsigned int times)
{
	struct profile *profile = sample_profile();
	struct error err = { 0 };
	uint64_t ticks = profile->ticks.total;
	unsigned int i;

	for (i = 0; i < times; i++)
		cr_assert_eq(pending_add(pending, profile, &err), 0, "%s", err.text);
	profile_free(profile);
	return times * ticks;
}

/* How many ticks its files have. */
static uint64_t drain(struct pending *pending)
{
	struct pending_part part;
	struct profile *profile;
	struct error err = { 0 };
	uint64_t ticks = 0;

	while (pending->nr) {
		part = pending_pop(pending);
		cr_assert_eq(pending_read(pending, &part, &profile, &err), 0, "%s", err.text);
		cr_assert_eq(profile->ticks.total, part.entry.ticks);
		ticks += profile->ticks.total;
		profile_free(profile);
		pending_drop(pending, &part);
	}
	return ticks;
}

Test(spool, survives)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	struct pending_part part;
	uint64_t ticks;

	open_spool(&pending);
	ticks = add(&pending, 3);
	cr_expect_eq(pending.bytes, 0, "none is in memory");
	cr_expect_gt(pending.spooled, 0);
	/* One is under way. */
	part = pending_pop(&pending);
	close_spool(&pending);
	open_spool(&pending);
	cr_assert_eq(pending.nr, 3);
	cr_assert_eq(pending.ticks, ticks);
	ticks += add(&pending, 1);
	cr_expect_eq(pending.parts[3].entry.first, 4, "numbers go on");
	part = pending_pop(&pending);
	ticks -= part.entry.ticks;
	pending_drop(&pending, &part);
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(drain(&pending), ticks);
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(pending.nr, 0);
	close_spool(&pending);
}

/* A file that the disk does not give back keeps nobody waiting, and is left for whoever can read it. */
Test(spool, cannot_be_read)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	struct pending_part part;
	uint64_t ticks;
	char path[256];
	FILE *find;

	open_spool(&pending);
	ticks = add(&pending, 3);
	part = pending_pop(&pending);
	part.unread_ns = 1;
	cr_assert_eq(pending_put_back(&pending, &part), 0);
	cr_expect_eq(pending.parts[0].entry.first, 2, "behind the others");
	cr_expect_eq(pending.parts[2].entry.first, 1);
	pending.spool_cap = pending.spooled - 1;
	ticks += add(&pending, 1);
	cr_expect_eq(pending.merged, 1, "two that can be read");
	part = pending_pop(&pending);
	ticks -= part.entry.ticks;
	pending_drop(&pending, &part);
	part = pending_pop(&pending);
	cr_assert(part.unread_ns);
	ticks -= part.entry.ticks;
	pending_set_aside(&pending, &part);
	close_spool(&pending);
	pending = (struct pending){ .cap = 8 << 20, .spool_cap = 8 << 20 };
	open_spool(&pending);
	cr_expect_eq(drain(&pending), ticks);
	close_spool(&pending);
	find = popen("find . -name '*.bad'", "re");
	cr_assert(find && fgets(path, sizeof(path), find), "it was removed");
	pclose(find);
}

/* As after a SIGHUP that added --spool: it survives from there on, behind what an earlier agent left. */
Test(spool, takes_what_waits_in_memory)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	uint64_t ticks;
	size_t i;

	open_spool(&pending);
	ticks = add(&pending, 2);
	close_spool(&pending);
	pending = (struct pending){ .cap = 8 << 20, .spool_cap = 8 << 20 };
	ticks += add(&pending, 2);
	open_spool(&pending);
	cr_expect_eq(pending.bytes, 0);
	ticks += add(&pending, 1);
	for (i = 0; i < 5; i++)
		cr_expect_eq(pending.parts[i].entry.first, i + 1);
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(pending.nr, 5);
	cr_expect_eq(drain(&pending), ticks);
	close_spool(&pending);
}

Test(spool, adds_up_at_the_cap)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 10 };
	uint64_t ticks;

	open_spool(&pending);
	ticks = add(&pending, 100);
	cr_expect_leq(pending.spooled, pending.spool_cap);
	cr_expect_gt(pending.merged, 50);
	cr_expect_eq(pending.lost, 0);
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(drain(&pending), ticks);
	close_spool(&pending);
}

/* Adds profiles of another mode, as after a SIGHUP with another --mode. */
static uint64_t add_others(struct pending *pending, unsigned int times, unsigned int *ret_refused)
{
	struct profile *profile = sample_profile();
	struct error err = { 0 };
	uint64_t ticks = times * profile->ticks.total;
	int ret;

	free(profile->sampling.mode);
	profile->sampling.mode = strdup("user");
	for (; times; times--) {
		ret = pending_add(pending, profile, &err);
		cr_assert(!ret || ret == -ENOSPC, "%s", err.text);
		*ret_refused += ret != 0;
	}
	profile_free(profile);
	return ticks;
}

/* What does not add up with its neighbour stays as long as others do. */
Test(spool, modes_do_not_add_up)
{
	struct pending pending = { .cap = 8 << 10 };
	unsigned int refused = 0;
	uint64_t ticks = add(&pending, 30);

	ticks += add_others(&pending, 30, &refused);
	cr_expect_eq(pending.lost, 0);
	cr_expect_eq(pending.ticks, ticks);
	cr_expect_leq(pending.bytes, pending.cap);
	/* If nothing else makes room, the oldest has to go, and that is said. */
	pending.cap = 1;
	ticks += add_others(&pending, 1, &refused);
	cr_expect_eq(refused, 1);
	cr_expect_gt(pending.lost, 0);
	cr_expect_eq(pending.ticks + pending.lost, ticks);
	pending_free(&pending);
}

/* It was killed after writing a sum, before removing its parts: the ticks count once. */
Test(spool, parts_of_a_sum_that_is_there)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	struct spool_entry sum = { .first = 1, .last = 2, .ticks = 7 };
	struct bytes bytes = { .data = (char *)"x", .size = 1 };
	struct error err = { 0 };
	uint64_t ticks;

	open_spool(&pending);
	ticks = add(&pending, 3) / 3;
	cr_assert_eq(spool_write(pending.spool, &sum, &bytes, &err), 0, "%s", err.text);
	close_spool(&pending);
	open_spool(&pending);
	cr_assert_eq(pending.nr, 2);
	cr_expect_eq(pending.parts[0].entry.last, 2);
	cr_expect_eq(pending.ticks, 7 + ticks);
	close_spool(&pending);
	open_spool(&pending);
	cr_assert_eq(pending.nr, 2, "they are gone");
	close_spool(&pending);
}

/* As after a SIGHUP, when another sink takes over in the same process. */
Test(spool, is_free_when_its_sink_closes)
{
	const struct sink_options options = { .kind = SINK_OTLP,
					      .where = "http://127.0.0.1:1",
					      .cap = 8 << 20,
					      .spool = ".",
					      .spool_cap = 8 << 20,
					      .http.timeout_ms = 1000,
					      .retry_ns = 1000000,
					      .retry_most_ns = 1000000 };
	struct error err = { 0 };
	struct sink *sink;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		cr_assert_eq(sink_open(&options, &sink, &err), 0, "%s", err.text);
		cr_assert_eq(sink_load(sink, &err), 0, "%s", err.text);
		sink_close(sink, 0);
	}
}

Test(spool, is_of_one_agent)
{
	struct pending pending = { .cap = 8 << 20 };
	struct spool *second = NULL;
	struct error err = { 0 };

	open_spool(&pending);
	cr_expect_eq(spool_open(".", "otlp http://x/", &second, &err), -EBUSY);
	cr_expect(strstr(err.text, "another agent has it"), "%s", err.text);
	spool_close(second);
	close_spool(&pending);
}

/* What others put there is not read, and a folder that cannot be had is said. */
Test(spool, strange_folders)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	struct error err = { 0 };
	char command[512];

	open_spool(&pending);
	snprintf(
		command, sizeof(command),
		"cd %s && touch 1-1-1-1.json.gz x .new 0000000000000000-0000000000000001-1-1.json.gz "
		"&& ln -s /etc/passwd 0000000000000001-0000000000000001-5-1.json.gz && "
		"mkdir 0000000000000002-0000000000000002-5-1.json.gz",
		spool_path(pending.spool));
	cr_assert_eq(system(command), 0);
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(pending.nr, 0);
	close_spool(&pending);
	cr_expect_lt(spool_check("/proc/none", "otlp", &err), 0);
	cr_expect(strstr(err.text, "--spool"), "%s", err.text);
}

/* Numbers that we would not have written make it a file of somebody else's, which stays. */
Test(spool, names_that_are_not_ours)
{
	static const char *const names[] = {
		"0000000000000001-0000000000000001-376-1999847255-0-1-100000000-0",
		"0000000000000001-0000000000000001-376-1-0-1-1-0",
		"0000000000000001-0000000000000001-376-1-1-0-1-0",
		"0000000000000001-0000000000000001-376-1-0-4294967295-4294967294-0",
		"0000000000000001-0000000000000001-376-1-1-0-0-377",
		"0000000000000001-0000000000000001-18446744073709551615-1",
		"0000000000000001-0000000000000001-376-18446744073709551615",
		"0000000000000002-0000000000000001-376-1",
		"0000000000000001-fffffffffffffffe-376-1",
	};
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	char command[512];
	size_t i;

	open_spool(&pending);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(command, sizeof(command), "touch %s/%s.json.gz", spool_path(pending.spool),
			 names[i]);
		cr_assert_eq(system(command), 0);
		close_spool(&pending);
		open_spool(&pending);
		cr_expect_eq(pending.nr, 0, "%s", names[i]);
		snprintf(command, sizeof(command), "rm %s/%s.json.gz", spool_path(pending.spool),
			 names[i]);
		cr_expect_eq(system(command), 0);
	}
	close_spool(&pending);
}

/* A full disk: what it has no room for waits in memory, and goes there when there is room. */
Test(spool, full_disk)
{
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	struct rlimit before, none;
	uint64_t ticks;

	open_spool(&pending);
	ticks = add(&pending, 1);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 1;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ticks += add(&pending, 2);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_expect(pending.spool_failed);
	cr_expect_gt(pending.bytes, 0);
	cr_expect_eq(pending.ticks, ticks);
	ticks += add(&pending, 1);
	cr_expect(!pending.spool_failed);
	cr_expect_eq(pending.bytes, 0, "what waited in memory is there too");
	close_spool(&pending);
	open_spool(&pending);
	cr_expect_eq(drain(&pending), ticks);
	close_spool(&pending);
}

/* Their profiles would be this host's, and what the host does would be in a folder of theirs. */
Test(spool, folder_of_others)
{
	struct error err = { 0 };
	struct pending pending = { .cap = 8 << 20, .spool_cap = 8 << 20 };
	char folder[256];

	open_spool(&pending);
	snprintf(folder, sizeof(folder), "%s", spool_path(pending.spool));
	close_spool(&pending);
	cr_assert_eq(chmod(folder, 0770), 0);
	cr_expect_eq(spool_check(".", "otlp http://x/", &err), -EPERM);
	cr_expect(strstr(err.text, "has mode 0770"), "%s", err.text);
	cr_assert_eq(chmod(folder, 0755), 0);
	cr_expect_eq(spool_check(".", "otlp http://x/", &err), 0, "%s", err.text);
	/* Root alone can give a folder away. */
	if (geteuid())
		return;
	cr_assert_eq(chown(folder, 12345, 12345), 0);
	cr_expect_eq(spool_check(".", "otlp http://x/", &err), -EPERM);
	cr_expect(strstr(err.text, "user 12345"), "%s", err.text);
}
