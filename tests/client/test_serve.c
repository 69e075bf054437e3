// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The library, the drop-in and the real server together. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "chance.h"
#include "child.h"
#include "fixture.h"
#include "client.h"
#include "need.h"
#include "serve.h"

TestSuite(client_serve, .init = need_root, .timeout = 300);

/* A busy machine may swallow ticks, so a test may try again. */
enum { TRIES = 3 };

/* Ticks relative to what the CPU time should have given, and by how much that may differ from 1. */
struct ratio {
	double value;
	double allowed;
};

/*
 * A clock with fixed period hits the part of a turn beyond whole periods once or not at all: the
 * variance averages 1/6.
 */
static struct ratio ratio_of(double ticks, double expected, double turns)
{
	return (struct ratio){ ticks / expected,
			       fmax(0.05, CHANCE_ERRORS * sqrt(turns / 6) / expected) };
}

static bool is_good(const struct ratio *ratio)
{
	return fabs(ratio->value - 1) <= ratio->allowed;
}

static double turns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static void serve_this(struct serve *serve)
{
	serve_begin(serve, ARGS(NULL));
	/* Criterion sets this variable. */
	unsetenv("GMON_OUT_PREFIX");
	fixture_environment("BPFPROFIL_SOCKET", serve->path);
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static volatile unsigned long sink;

__attribute__((noinline)) static void spin(double seconds)
{
	double end = cpu_seconds() + seconds;
	int i;

	do {
		for (i = 0; i < 100000; i++)
			sink += (unsigned long)i;
	} while (cpu_seconds() < end);
}

static uint64_t sum_of(const unsigned int *counters, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += counters[i];
	return sum;
}

/* All ticks of some CPU time at 1 kHz are visible before the call ends, and accounted for. */
static struct ratio ticks_by_time(void)
{
	static unsigned int counters[1 << 16], rest[1];
	struct prof regions[] = { { counters, sizeof(counters), (size_t)spin & ~0xffffUL, 0x10000 },
				  { rest, sizeof(rest), 0, 2 } };
	struct bpfprofil_status status;
	struct timeval tick;
	double used, switches;

	memset(counters, 0, sizeof(counters));
	rest[0] = 0;
	cr_assert_eq(sprofil(regions, 2, &tick, PROF_UINT | PROF_FAST), 0, "%s", strerror(errno));
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 1000);
	used = cpu_seconds();
	switches = turns();
	spin(0.6);
	used = cpu_seconds() - used;
	switches = turns() - switches;
	cr_assert_eq(bpfprofil_sync(), 0);
	cr_assert_gt(sum_of(counters, 1 << 16), 0);
	cr_assert_eq(stop_profiling(), 0);
	cr_assert_eq(bpfprofil_status(&status, sizeof(status)), 0);
	cr_assert_eq(status.on, (unsigned int)BPFPROFIL_OFF);
	cr_assert_eq(status.stopped, (unsigned int)BPFPROFIL_STOPPED_ASKED);
	cr_assert_eq(status.binned, sum_of(counters, 1 << 16));
	cr_assert_eq(status.overflow, rest[0]);
	cr_assert_eq(status.total, status.binned + status.overflow + status.outside +
					   status.filtered + status.lost);
	return ratio_of((double)status.total, used * 1000, switches + 1);
}

FIXTURE_TEST(serve, serve_this, client_serve, counts)
{
	struct ratio ratio = { 0 };
	int i;

	for (i = 0; i < TRIES && !is_good(&ratio); i++)
		ratio = ticks_by_time();
	cr_assert(is_good(&ratio), "%.3f ticks for each that should be, allowed are +- %.3f",
		  ratio.value, ratio.allowed);
}

FIXTURE_TEST(serve, serve_this, client_serve, an_unprivileged_user)
{
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		if (sprofil(&test_region, 1, NULL, 0) || bpfprofil_sync())
			_exit(2);
		_exit(stop_profiling() != 0);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0, "exit %d", WEXITSTATUS(status));
}

static volatile sig_atomic_t own_ticks, stop_spinning;

static void count_tick(int signal)
{
	(void)signal;
	own_ticks++;
}

static void *spin_until_told(void *argument)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!stop_spinning)
		spin(0.001);
	return argument;
}

/* Sleeps for some 300 ms in all; returns how often a sleep was interrupted. */
static int interrupted_sleeps(void)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	int i, cut = 0;

	for (i = 0; i < 30; i++) {
		cut += poll(NULL, 0, 5) != 0;
		cut += nanosleep(&nap, NULL) != 0;
	}
	return cut;
}

static size_t threads_here(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* While each millisecond of a thread is counted, the program notices nothing. */
FIXTURE_TEST(serve, serve_this, client_serve, disturbs_nothing)
{
	struct bpfprofil_status status;
	size_t threads, descriptors;
	pthread_t thread;

	pthread_create(&thread, NULL, spin_until_told, NULL);
	threads = threads_here();
	descriptors = open_descriptors();
	cr_assert_eq(sprofil(&test_region, 1, NULL, PROF_FAST), 0);
	cr_assert_eq(interrupted_sleeps(), 0);
	cr_assert_eq(threads_here(), threads);
	cr_assert_eq(open_descriptors(), descriptors);
	stop_spinning = 1;
	pthread_join(thread, NULL);
	cr_assert_eq(bpfprofil_status(&status, sizeof(status)), 0);
	cr_assert_gt(status.total, 20, "nothing was counted meanwhile");
}

FIXTURE_TEST(serve, serve_this, client_serve, itimer_prof_is_free)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, now;
	struct sigaction action = { .sa_handler = count_tick };

	cr_assert_eq(profil(test_counters, sizeof(test_counters), 0x1000, 0x10000), 0);
	cr_assert_eq(getitimer(ITIMER_PROF, &now), 0);
	cr_assert(!now.it_value.tv_sec && !now.it_value.tv_usec);
	sigaction(SIGPROF, &action, NULL);
	cr_assert_eq(setitimer(ITIMER_PROF, &every, NULL), 0);
	spin(0.2);
	cr_assert_geq(own_ticks, 10);
	setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
}

/* The time in all functions that gprof reports for these files. */
static double gprof_seconds(const struct serve *serve, const char *program, const char *files)
{
	struct child_end end;
	char command[512];
	double seconds;

	snprintf(command, sizeof(command),
		 "cd %s && gprof -b -p %s %s | awk '$3 + 0 == $3 { s += $3 } END { print s + 0 }'",
		 serve->dir, program, files);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	cr_assert_eq(sscanf(end.out, "%lf", &seconds), 1, "%s", end.err);
	child_end_free(&end);
	return seconds;
}

/*
 * CPU time of a -pg program by gprof, per second that its processes say they used. How the work is
 * divided does not matter, because nearly all is in the program's own text.
 */
static struct ratio pg_ratio(const struct serve *serve, const char *program, const char *how)
{
	double used = 0, switches = 0, seconds, n;
	struct child_end end;
	char command[512], *line;

	snprintf(command, sizeof(command),
		 "cd %s && rm -f mon.* && LD_PRELOAD=%s GMON_OUT_PREFIX=mon exec %s 2000 %s",
		 serve->dir, CLIENT_PRELOAD, program, how);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert_str_empty(end.err);
	for (line = end.out; sscanf(line, "%*d %lf %lf", &seconds, &n) == 2;
	     line = strchr(line, '\n') + 1) {
		used += seconds;
		switches += n;
	}
	child_end_free(&end);
	return ratio_of(gprof_seconds(serve, program, "mon.*") * 100, used * 100, switches);
}

static void assert_pg(const char *program, const char *how)
{
	struct serve serve;
	struct ratio ratio = { 0 };
	int i;

	serve_this(&serve);
	for (i = 0; i < TRIES && !is_good(&ratio); i++)
		ratio = pg_ratio(&serve, program, how);
	cr_assert(is_good(&ratio), "%s: gprof has %.3f of the CPU time, allowed are +- %.3f", how,
		  ratio.value, ratio.allowed);
	serve_end(&serve);
}

Test(client_serve, pg_pie)
{
	assert_pg(CLIENT_PROGRAMS "/pg_pie", "");
}

Test(client_serve, pg_nopie_threads)
{
	assert_pg(CLIENT_PROGRAMS "/pg_nopie", "thread");
}

Test(client_serve, pg_fork)
{
	assert_pg(CLIENT_PROGRAMS "/pg_pie", "fork");
}

/* Each file has only its process's time: what was on its way at a fork is not in two files. */
FIXTURE_TEST(serve, serve_this, client_serve, pg_forks)
{
	struct ratio ratio;
	int i;

	for (i = 0; i < TRIES; i++) {
		ratio = pg_ratio(serve, CLIENT_PROGRAMS "/pg_pie", "forks");
		cr_assert_lt(ratio.value, 1.25, "gprof has %.3f of the CPU time", ratio.value);
	}
}

/* Checks the one line about missing time, and reads how many seconds of how many are missing. */
static void assert_short(const char *err, double *missing, double *used)
{
	cr_assert_eq(sscanf(err,
			    "bpfprofil: gmon.out: the server did not count to the end; up to %lf s "
			    "of %lf s are missing\n",
			    missing, used),
		     2, "%s", err);
	cr_assert_eq(strchr(err, '\n')[1], '\0', "%s", err);
}

/* The next server does not know the processes that the previous one served. */
FIXTURE_TEST(serve, serve_this, client_serve, pg_server_anew)
{
	double missing, used;
	struct child_end end;
	struct child child;
	char command[512];

	snprintf(command, sizeof(command), "cd %s && LD_PRELOAD=%s exec %s 2000", serve->dir,
		 CLIENT_PRELOAD, CLIENT_PROGRAMS "/pg_pie");
	child_start(&child, NULL, ARGS("sh", "-c", command));
	usleep(500000);
	serve_stop(serve);
	serve_again(serve, ARGS(NULL));
	child_finish(&child, &end);
	cr_assert_eq(end.status, 0, "%s", end.err);
	assert_short(end.err, &missing, &used);
	cr_assert_geq(used, 1);
	cr_assert_float_eq(used - missing, gprof_seconds(serve, CLIENT_PROGRAMS "/pg_pie", ""),
			   0.02, "%s", end.err);
	cr_assert_lt(missing, used, "%s", end.err);
	child_end_free(&end);
}

/* A child for which the server has no room says so; its parent has lost nothing. */
Test(client_serve, pg_child_refused)
{
	double missing, used;
	struct child_end end;
	struct serve serve;
	char command[512];

	serve_begin(&serve, ARGS("--max-calls", "1"));
	fixture_environment("BPFPROFIL_SOCKET", serve.path);
	snprintf(command, sizeof(command),
		 "cd %s && LD_PRELOAD=%s GMON_OUT_PREFIX=mon exec %s 1000 fork", serve.dir,
		 CLIENT_PRELOAD, CLIENT_PROGRAMS "/pg_pie");
	child_run(&end, NULL, ARGS("sh", "-c", command));
	cr_assert_eq(end.status, 0, "%s", end.err);
	assert_short(end.err, &missing, &used);
	cr_assert_float_eq(missing, used, 1e-9, "%s", end.err);
	cr_assert(used > 0.4 && used < 0.6, "%s", end.err);
	child_end_free(&end);
	serve_end(&serve);
}

static bool is_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

/* The process that runs this command line's program, by the socket's name in it. */
static pid_t private_server_of(pid_t starter)
{
	struct child_end end;
	char command[256];
	pid_t pid = 0;

	snprintf(
		command, sizeof(command),
		"grep -lazP -- '^--private' /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do "
		"tr '\\0' ' ' <$f | grep -q -- '--for %d ' && expr $f : '/proc/\\([0-9]*\\)'; done",
		starter);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	sscanf(end.out, "%d", &pid);
	child_end_free(&end);
	return pid;
}

/* A privileged program starts its own server, which ends after the program. */
Test(client_serve, private)
{
	pid_t child, server;
	int status, go[2];
	char byte;

	NEED(access(CALL_SOCKET, F_OK), "a server serves this host");
	fixture_environment("BPFPROFIL_SOCKET", NULL);
	fixture_environment("BPFPROFIL_SERVER", BPFPROFIL_BIN);
	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		if (sprofil(&test_region, 1, NULL, PROF_FAST))
			_exit(1);
		spin(0.1);
		if (bpfprofil_sync())
			_exit(2);
		_exit(read(go[0], &byte, 1) != 0);
	}
	close(go[0]);
	usleep(1000000);
	server = private_server_of(child);
	close(go[1]);
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0, "exit %d", WEXITSTATUS(status));
	cr_assert_gt(server, 0, "no server");
	cr_assert(eventually(is_gone, &server), "it stays");
}
