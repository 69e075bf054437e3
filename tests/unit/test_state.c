// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What one agent leaves to the next beside the spool. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/run.h"
#include "agent/state.h"
#include "base/util.h"
#include "profile/profile_splits.h"
#include "sample.h"
#include "test_file_fixture.h"

TestSuite(state, .init = folder_enter, .fini = folder_remove);

#define FILE_NAME "spool/" STATE_NAME
#define HEAD_LENGTH 38 /* its name and version, a hash and a newline */

static void open_state(struct state *state, struct figures *figures)
{
	figures_open(figures);
	state_open(state, "spool", false, figures);
	cr_assert_geq(state->fd, 0);
}

static void close_state(struct state *state, struct figures *figures)
{
	state_close(state);
	figures_close(figures);
}

static void add_usage(struct usages *usages, const char *path, uint64_t id, uint64_t ns)
{
	cr_assert_eq(GROW(usages->list, usages->room, usages->nr + 1), 0);
	usages->list[usages->nr++] = (struct usage){ strdup(path), id, ns };
}

/* An agent that has counted, and was killed. */
static uint64_t leave(uint64_t until_ns)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct figures figures;
	struct state state;
	uint64_t sum;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		profile->targets[i].cpu_known = true;
		profile->targets[i].cpu_ns = 1234567891 + i;
	}
	open_state(&state, &figures);
	figures_new_session(&figures, true, 2);
	service_times_scrape(&figures.times, "10.0.0.1");
	figures_add(&figures, profile, &(struct figures_session){ .handler_ns = 77 });
	figures_add_unsampled(&figures, 3000000000, NULL);
	state.until_ns = until_ns;
	state.cut_ns = until_ns - 5;
	state.ticks = 12;
	state.parts_ticks = 3;
	state.has_duty = true;
	state.duty_percent = 17.5;
	add_usage(&state.usages, "/a", 7, 1000);
	add_usage(&state.usages, "/a/b", 8, 900);
	state.sinks = calloc(1, sizeof(*state.sinks));
	state.sinks[state.nr_sinks++] =
		(struct sink_state){ strdup("otlp http://x"), { .ticks = 5, .losses = { 1, 2 } } };
	state_save(&state, &figures);
	cr_expect_not(state.failed);
	sum = service_times_sum(&figures.times, TIMES_ALL);
	close_state(&state, &figures);
	return sum;
}

Test(state, goes_on)
{
	uint64_t until_ns = monotonic_ns(), sum = leave(until_ns);
	cleanup_profile struct profile *profile = sample_profile();
	struct figures figures;
	struct state state;
	struct stat st;

	cr_assert_eq(stat(FILE_NAME, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	open_state(&state, &figures);
	cr_expect_eq(figures.ticks.total, profile->ticks.total);
	cr_expect_eq(figures.ticks.nr_lost, profile->ticks.nr_lost);
	cr_expect_eq(figures.former_ns, 77);
	cr_expect_eq(figures.unsampled.ns, 3000000000);
	cr_expect_eq(service_times_sum(&figures.times, TIMES_ALL), sum);
	cr_expect_eq(figures.times.list[0].nr, 2);
	/* A scraper that knows the counters is known. */
	cr_expect_gt(service_times_scrape(&figures.times, "10.0.0.1"), 1);
	cr_expect_eq(state.until_ns, until_ns);
	cr_expect_eq(state.cut_ns, until_ns - 5);
	cr_expect_eq(state.ticks + state.parts_ticks, 15);
	cr_expect(state.has_duty && state.duty_percent == 17.5);
	cr_expect_eq(state.usages.nr, 2);
	cr_expect_eq(state.usages.list[1].ns, 900);
	cr_assert_not_null(state_find_sink(&state, "otlp http://x"));
	cr_expect_eq(state_find_sink(&state, "otlp http://x")->losses[1], 2);
	cr_expect_null(state_find_sink(&state, "otlp http://y"));
	/* With another number of functions too. */
	figures_new_session(&figures, true, 1);
	cr_expect_eq(figures.times.list[0].nr, 1);
	figures_new_session(&figures, true, 5);
	close_state(&state, &figures);
}

static char *read_whole(size_t *size)
{
	FILE *file = fopen(FILE_NAME, "re");
	char *text = calloc(1, 1 << 16);

	cr_assert(file && text);
	*size = fread(text, 1, 1 << 16, file);
	cr_assert_eq(fclose(file), 0);
	return text;
}

static void write_whole(const char *text, size_t size)
{
	FILE *file = fopen(FILE_NAME, "we");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(text, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

/* Whether what is in the file is used. */
static bool is_used(void)
{
	struct figures figures;
	struct state state;
	bool used;

	open_state(&state, &figures);
	used = state.until_ns || figures.ticks.total;
	/* Whatever it was, it can be written again. */
	figures_new_session(&figures, true, 3);
	state_save(&state, &figures);
	cr_expect_not(state.failed);
	close_state(&state, &figures);
	return used;
}

/* Cut anywhere, or with any byte changed: it is whole, or nothing of it is used. */
Test(state, damaged)
{
	size_t size, i;
	char *text;

	cr_redirect_stderr();
	leave(monotonic_ns());
	text = read_whole(&size);
	for (i = 0; i < size; i++) {
		write_whole(text, i);
		cr_expect_not(is_used(), "%zu", i);
		text[i] ^= 1;
		write_whole(text, size);
		cr_expect_not(is_used(), "%zu", i);
		text[i] ^= 1;
	}
	write_whole(text, size);
	cr_expect(is_used());
	free(text);
}

/* With a hash that is right: who can write the file must not get further than that. */
Test(state, forged)
{
	static const char with[] = { '\n', '0', '9', 'x', '\0', '\xff', '-' };
	size_t size, i, j, used = 0;
	char *text, *copy, head[64];

	cr_redirect_stderr();
	leave(monotonic_ns());
	text = read_whole(&size);
	copy = malloc(size + 1);
	cr_assert_not_null(copy);
	for (i = HEAD_LENGTH; i < size; i++) {
		for (j = 0; j < sizeof(with); j++) {
			memcpy(copy, text, size);
			copy[i] = with[j];
			snprintf(head, sizeof(head), "%.*s%016" PRIx64 "\n", HEAD_LENGTH - 17, text,
				 hash_bytes(HASH_BEGIN, copy + HEAD_LENGTH, size - HEAD_LENGTH));
			memcpy(copy, head, HEAD_LENGTH);
			write_whole(copy, size);
			used += is_used();
		}
	}
	cr_expect_gt(used, 0);
	cr_expect_lt(used, (size - HEAD_LENGTH) * sizeof(with));
	free(copy);
	free(text);
}

/* What is no file of ours is not read, and is replaced. */
Test(state, strange)
{
	size_t size, i;
	char *text;

	for (i = 0; i < 4; i++) {
		leave(monotonic_ns());
		text = read_whole(&size);
		cr_assert_eq(unlink(FILE_NAME), 0);
		if (i == 0)
			cr_assert_eq(mkfifo(FILE_NAME, 0600), 0);
		else if (i == 1)
			cr_assert_eq(symlink("/dev/zero", FILE_NAME), 0);
		else if (i == 2)
			write_whole("bpfprofil counters 2 0000000000000000\n", HEAD_LENGTH);
		else
			write_whole("", 0);
		if (i == 2)
			cr_assert_eq(truncate(FILE_NAME, (off_t)STATE_BYTES_MAX + 1), 0);
		cr_expect_not(is_used(), "%zu", i);
		cr_expect_not(is_used(), "%zu", i);
		free(text);
	}
}

/* Of another start of the host there are only counters: its clock is not this one. */
Test(state, another_boot)
{
	uint64_t sum = leave(monotonic_ns() + 3600000000000ULL);
	struct agent agent = { 0 };
	char head[64], *text;
	size_t size;

	text = read_whole(&size);
	text[HEAD_LENGTH + 3] = text[HEAD_LENGTH + 3] == '7' ? '8' : '7'; /* behind the length */
	snprintf(head, sizeof(head), "%.*s%016" PRIx64 "\n", HEAD_LENGTH - 17, text,
		 hash_bytes(HASH_BEGIN, text + HEAD_LENGTH, size - HEAD_LENGTH));
	memcpy(text, head, HEAD_LENGTH);
	write_whole(text, size);
	free(text);
	open_state(&agent.state, &agent.figures);
	cr_expect_eq(service_times_sum(&agent.figures.times, TIMES_ALL), sum);
	cr_expect_eq(agent.state.until_ns, 0);
	cr_expect_eq(agent.state.usages.nr, 0);
	cr_redirect_stderr();
	run_count_killed(&agent);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"bpfprofil: agent: the last one was killed: 15 ticks are in no profile\n");
	close_state(&agent.state, &agent.figures);
}

Test(state, is_of_one_agent)
{
	struct figures figures, others;
	struct state state, second;

	open_state(&state, &figures);
	figures_open(&others);
	state_open(&second, "spool", false, &others);
	cr_expect_lt(second.fd, 0);
	state_save(&second, &others);
	cr_expect_neq(access(FILE_NAME, F_OK), 0);
	state_close(&second);
	figures_close(&others);
	close_state(&state, &figures);
}

static uint64_t spent_by(const struct profile *times, const char *path)
{
	size_t i;

	for (i = 0; i < times->nr_splits; i++)
		if (!strcmp(times->splits[i].cgroup, path))
			return times->splits[i].cpu_ns;
	return 0;
}

/* Without descriptors there are no cgroups rather than some: those left out would be new ones later. */
Test(state, usages_are_whole_or_none)
{
	enum { DEPTH = 6 };
	struct cgroup_mount mount = { .root = (char *)"/", .key = (char *)"" };
	struct cgroups cgroups = { .list = &mount, .nr = 1 };
	struct usages usages = { 0 };
	struct rlimit limit;
	struct stat st;
	rlim_t most;

	cr_assert_eq(system("d=tree; for i in 1 2 3 4 5 6; do d=$d/x; mkdir -p $d && "
			    "echo usage_usec $i >$d/cpu.stat; done"),
		     0);
	mount.where = realpath("tree", NULL);
	cr_assert(mount.where && !stat(mount.where, &st));
	mount.dev = st.st_dev;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	most = limit.rlim_cur;
	for (limit.rlim_cur = 3; limit.rlim_cur < 64; limit.rlim_cur++) {
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		usages_read(&usages, &cgroups);
		cr_expect(!usages.nr || usages.nr == DEPTH, "%zu", usages.nr);
	}
	cr_assert_eq(usages.nr, DEPTH);
	cr_expect_eq(usages.list[2].ns, 3000);
	limit.rlim_cur = most;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	usages_free(&usages);
	free(mount.where);
}

/* What a cgroup spent is not also its parent's, and what the session has is not counted again. */
Test(state, spent_without_an_agent)
{
	const uint64_t ms = 1000000;
	struct usages before = { 0 }, now = { 0 };
	const struct agent_choice choice = { 0 };
	cleanup_profile struct profile *times = sample_profile_of_services(1, 1);

	add_usage(&before, "/a", 1, 1000 * ms);
	add_usage(&before, "/a/gone", 2, 500 * ms);
	add_usage(&before, "/a/stays", 3, 300 * ms);
	add_usage(&before, "/b", 4, 700 * ms);
	add_usage(&now, "/a", 1, 1150 * ms); /* 150: 40 stays, 30 new, 80 its own or those gone */
	add_usage(&now, "/a/new", 5, 30 * ms);
	add_usage(&now, "/a/stays", 3, 340 * ms);
	add_usage(&now, "/b", 6, 20 * ms); /* another of that name */
	times->splits = calloc(1, sizeof(*times->splits));
	times->splits[times->nr_splits++] = (struct profile_split){ .pid = -1,
								    .cgroup = strdup("/a/stays"),
								    .cpu_ns = 15 * ms };
	cr_assert_eq(usages_spent(&before, &now, &choice, times), 0);
	cr_expect_eq(times->nr_splits, 4);
	cr_expect_eq(spent_by(times, "/a"), 80 * ms);
	cr_expect_eq(spent_by(times, "/a/new"), 30 * ms);
	cr_expect_eq(spent_by(times, "/a/stays"), 25 * ms);
	cr_expect_eq(spent_by(times, "/b"), 20 * ms);
	cr_expect_eq(times->targets[0].cpu_ns, 155 * ms);
	usages_free(&before);
	usages_free(&now);
}
