// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs built with -pg, with our counts in their gmon.out. The server is a fake that adds given
 * counts to the counter of leaf().
 */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "client.h"

enum { HERTZ = 100 };

struct run {
	struct fixture fixture;
	char dir[64]; /* where it runs */
	const char *program;
	struct child_end end;
};

/* The address of a symbol in the file. */
static unsigned long address_of(const char *program, const char *symbol)
{
	struct child_end end;
	unsigned long address;
	char command[512];

	snprintf(command, sizeof(command), "nm %s | awk '$3 == \"%s\" { print $1 }'", program,
		 symbol);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	cr_assert_eq(sscanf(end.out, "%lx", &address), 1, "no %s in %s", symbol, program);
	child_end_free(&end);
	return address;
}

static void run_begin(struct run *run, const char *program)
{
	struct fake_shared *shared;

	memset(run, 0, sizeof(*run));
	/* Criterion sets this variable. */
	unsetenv("GMON_OUT_PREFIX");
	fixture_begin(&run->fixture);
	shared = run->fixture.shared;
	shared->reply.state.period_ns = 1000000000 / HERTZ;
	run->program = program;
	/*
	 * gcrt1.o passes __executable_start, rounded down. The counter is some bytes inside the
	 * function, because gprof divides a counter among everything that it covers.
	 */
	shared->at_start.at = shared->at_stop.at =
		address_of(program, "leaf") + 8 -
		(address_of(program, "__executable_start") & ~3UL);
	strcpy(run->dir, "/tmp/bpfprofil-gmon-XXXXXX");
	cr_assert_not_null(mkdtemp(run->dir));
}

static void run_end(struct run *run)
{
	cr_assert_eq(run->fixture.shared->uncounted, 0);
	child_end_free(&run->end);
	child_do(ARGS("rm", "-rf", run->dir));
	fixture_end(&run->fixture);
}

/* Runs in its directory, with the drop-in and `variables` as env(1) takes them. */
static void run_program(struct run *run, const char *variables, const char *arguments)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cd %s && umask 022 && exec env LD_PRELOAD=%s BPFPROFIL_SOCKET=%s %s %s %s",
		 run->dir, CLIENT_PRELOAD, run->fixture.server.path, variables, run->program,
		 arguments);
	child_end_free(&run->end);
	child_run(&run->end, NULL, ARGS("sh", "-c", command));
	cr_assert_eq(run->end.status, 0, "%s", run->end.err);
}

struct line {
	double seconds;
	unsigned long calls;
};

/* gprof's line for a function; all zero if there is none. */
static struct line gprof_line(const struct run *run, const char *file, const char *function)
{
	struct line line = { 0 };
	struct child_end end;
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && gprof -b -p %s %s | awk '$NF == \"%s\" { print $3, $4 }'", run->dir,
		 run->program, file, function);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	cr_assert_str_empty(end.err);
	sscanf(end.out, "%lf %lu", &line.seconds, &line.calls);
	child_end_free(&end);
	return line;
}

static void assert_line(const struct run *run, const char *file, double seconds,
			unsigned long calls)
{
	struct line line = gprof_line(run, file, "leaf");

	cr_assert_float_eq(line.seconds, seconds, 0.006, "%s: %.2f s, not %.2f", file, line.seconds,
			   seconds);
	cr_assert_eq(line.calls, calls, "%s: %lu calls, not %lu", file, line.calls, calls);
}

static void assert_quiet(const struct run *run)
{
	cr_assert_str_empty(run->end.err);
	cr_assert_not_null(strstr(run->end.out, "quiet"), "%s", run->end.out);
}

static void histogram_and_arcs(const char *program, uint32_t ticks)
{
	struct run run;

	run_begin(&run, program);
	run.fixture.shared->at_stop.n = ticks;
	run_program(&run, "", "");
	assert_quiet(&run);
	assert_line(&run, "gmon.out", (double)ticks / HERTZ, 1000);
	run_end(&run);
}

TestSuite(client_gmon, .timeout = 300);

Test(client_gmon, pie)
{
	histogram_and_arcs(CLIENT_PROGRAMS "/pg_pie", 123);
}

/* libc's own profil() must be ended, and not that of a library in between. */
Test(client_gmon, linked_with_us_too)
{
	setenv("LD_LIBRARY_PATH", CLIENT_LIBDIR, 1);
	histogram_and_arcs(CLIENT_PROGRAMS "/pg_both", 123);
}

Test(client_gmon, no_pie)
{
	histogram_and_arcs(CLIENT_PROGRAMS "/pg_nopie", 123);
}

Test(client_gmon, no_ticks)
{
	histogram_and_arcs(CLIENT_PROGRAMS "/pg_pie", 0);
}

/* As much as 16 bits hold, one more, and much more. */
Test(client_gmon, counts_beyond_16_bits)
{
	static const uint32_t ticks[] = { 65535, 65536, 131070, 131071, 5000000 };
	size_t i;

	for (i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		histogram_and_arcs(CLIENT_PROGRAMS "/pg_pie", ticks[i]);
}

Test(client_gmon, rate_is_the_real_one)
{
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_stop.n = 5000;
	run.fixture.shared->reply.state.period_ns = 1001000;
	run_program(&run, "", "");
	assert_line(&run, "gmon.out", 5000.0 / 999, 1000);
	run_end(&run);
}

/* The names of the files of a run with GMON_OUT_PREFIX, sorted by process. */
static size_t files_of(const struct run *run, char names[][32], size_t max)
{
	char pattern[128];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/mon.*", run->dir);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc && i < max; i++)
		snprintf(names[i], 32, "%s", strrchr(found.gl_pathv[i], '/') + 1);
	globfree(&found);
	return i;
}

/* Each process's file has its own time, and the sum of both files is that of both. */
Test(client_gmon, fork)
{
	char names[3][32], parent[32];
	struct run run;
	size_t i;
	long pid;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_start.n = 300;
	run.fixture.shared->at_stop.n = 500;
	run_program(&run, "GMON_OUT_PREFIX=mon", "0 fork");
	cr_assert_eq(files_of(&run, names, 3), 2);
	/* The parent writes last. */
	pid = strtol(strchr(run.end.out, '\n') + 1, NULL, 10);
	snprintf(parent, sizeof(parent), "mon.%ld", pid);
	for (i = 0; i < 2; i++) {
		bool is_parent = !strcmp(names[i], parent);

		assert_line(&run, names[i], is_parent ? 8 : 5, is_parent ? 1000 : 2000);
	}
	assert_line(&run, "mon.*", 13, 3000);
	run_end(&run);
}

Test(client_gmon, threads)
{
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_stop.n = 100;
	run_program(&run, "", "0 thread");
	assert_line(&run, "gmon.out", 1, 2000);
	run_end(&run);
}

/* Off and on again: the counts continue. */
Test(client_gmon, moncontrol)
{
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_start.n = 10;
	run.fixture.shared->at_stop.n = 1;
	run_program(&run, "", "0 off");
	assert_quiet(&run);
	assert_line(&run, "gmon.out", 0.22, 1000);
	run_end(&run);
}

/* The program runs as if we were not there. */
Test(client_gmon, no_server)
{
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	fake_kill(&run.fixture.server);
	run_program(&run, "BPFPROFIL_VERBOSE=0", "400");
	cr_assert_str_empty(run.end.err);
	cr_assert_not_null(strstr(run.end.out, "signals"), "%s", run.end.out);
	cr_assert_gt(gprof_line(&run, "gmon.out", "leaf").seconds, 0.05);
	run_program(&run, "", "0");
	cr_assert_str_eq(run.end.err,
			 "bpfprofil: gmon: no server: Connection refused; libc counts\n");
	assert_line(&run, "gmon.out", 0, 1000);
	run_end(&run);
}

Test(client_gmon, server_lost)
{
	double missing, used;
	struct child child;
	struct child_end end;
	char command[512];
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_start.n = 20;
	snprintf(command, sizeof(command),
		 "cd %s && LD_PRELOAD=%s BPFPROFIL_SOCKET=%s exec %s 1000", run.dir, CLIENT_PRELOAD,
		 run.fixture.server.path, run.program);
	child_start(&child, NULL, ARGS("sh", "-c", command));
	while (!run.fixture.shared->by_op[CALL_SPROFIL])
		usleep(1000);
	usleep(100000);
	fake_kill(&run.fixture.server);
	child_finish(&child, &end);
	cr_assert_eq(end.status, 0);
	cr_assert_eq(
		sscanf(end.err,
		       "bpfprofil: gmon.out: Connection refused; up to %lf s of %lf s are missing\n",
		       &missing, &used),
		2, "%s", end.err);
	/* It reports 0.2 s, and has no other line. */
	cr_assert_float_eq(used - missing, 0.2, 0.011, "%s", end.err);
	cr_assert_geq(used, 0.5);
	cr_assert_eq(strchr(end.err, '\n')[1], '\0', "%s", end.err);
	cr_assert_float_eq(gprof_line(&run, "gmon.out", "leaf").seconds, 0.2, 0.006);
	child_end_free(&end);
	run_end(&run);
}

/* Like libc we follow no link here, and what it points to does not change. */
Test(client_gmon, symbolic_link)
{
	struct stat status;
	struct run run;
	char path[128], target[128];

	run_begin(&run, CLIENT_PROGRAMS "/pg_pie");
	run.fixture.shared->at_stop.n = 100;
	run_program(&run, "", "");
	snprintf(path, sizeof(path), "%s/gmon.out", run.dir);
	snprintf(target, sizeof(target), "%s/target", run.dir);
	cr_assert_eq(rename(path, target), 0);
	cr_assert_eq(symlink("target", path), 0);
	run_program(&run, "", "");
	cr_assert_not_null(strstr(run.end.err, "bpfprofil: gmon.out: Too many levels"), "%s",
			   run.end.err);
	assert_line(&run, "target", 1, 1000);
	cr_assert_eq(stat(target, &status), 0);
	run_end(&run);
}

/* Statically linked, with the linker's --wrap: 16-bit counters, as in libc's own. */
Test(client_gmon, static_wrap)
{
	struct run run;

	run_begin(&run, CLIENT_PROGRAMS "/pg_static");
	run_program(&run, "", "");
	assert_quiet(&run);
	cr_assert_eq(run.fixture.shared->by_op[CALL_PROFIL], 2);
	cr_assert_eq(gprof_line(&run, "gmon.out", "leaf").calls, 1000);
	fake_kill(&run.fixture.server);
	run_program(&run, "", "400");
	cr_assert_not_null(strstr(run.end.out, "signals"), "%s", run.end.out);
	cr_assert_gt(gprof_line(&run, "gmon.out", "leaf").seconds, 0.05);
	run_end(&run);
}
