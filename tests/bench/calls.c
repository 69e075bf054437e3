// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * calls BPFPROFIL EMPTY [ROUNDS [SECONDS]]
 *
 * Measures what a tick of profil() and sprofil() costs, by the number of regions and of processes
 * with a call, net of an empty program on the same clock in the same window; what a call costs;
 * what a server costs while nobody profiles; and a program with our profil() beside libc's.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpfprofil/profil.h>

#include "account.h"

enum { REGIONS_MAX = 4096, ROUNDS_MAX = 64, CASES = 5, WALK_BYTES = 8 << 20 };

static const struct bench_case {
	const char *name;
	int regions;
	int processes;
} cases[CASES] = {
	{ "1 region, 1 process", 1, 1 },
	{ "64 regions, 1 process", 64, 1 },
	{ "4,096 regions, 1 process", 4096, 1 },
	{ "1 region, 1,000 processes", 1, 1000 },
	{ "1 region, 10,000 processes", 1, 10000 },
};

static struct {
	const char *bpfprofil;
	const char *empty;
	int rounds;
	double seconds;
	char socket[64];
	pid_t server;
	int stats_fd;
} bench = { .rounds = 5, .seconds = 2 };

static double results[CASES][ROUNDS_MAX];

static void give_up(const char *what)
{
	perror(what);
	if (bench.server > 0)
		kill(bench.server, SIGTERM);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_for(double seconds)
{
	usleep((useconds_t)(seconds * 1e6));
}

static pid_t spawn(const char *file, char *const argv[])
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(file, argv);
	_exit(127);
}

static void start_server(void)
{
	char *argv[] = { "bpfprofil", "serve", "--socket", bench.socket, NULL };
	struct stat status;
	int i;

	bench.server = spawn(bench.bpfprofil, argv);
	for (i = 0; stat(bench.socket, &status); i++) {
		if (i == 500)
			give_up(bench.socket);
		sleep_for(0.01);
	}
}

static void end(pid_t pid, int signal)
{
	kill(pid, signal);
	waitpid(pid, NULL, 0);
}

/*
 * Work that evicts all that the handler uses from the caches: without it a tick costs next to
 * nothing.
 */
static volatile uint64_t sink;

static __attribute__((noinline)) void work(uint64_t *walk, uint64_t steps)
{
	uint64_t state = 88172645463325252ULL, i;

	for (i = 0; i < steps; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		sink += walk[state % (WALK_BYTES / sizeof(*walk))]++;
	}
}

static uint64_t *make_walk(void)
{
	uint64_t *walk = mmap(NULL, WALK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (walk == MAP_FAILED)
		give_up("mmap");
	return walk;
}

/* Sets one region around work(), and the others behind it. */
static void profile_regions(int nr)
{
	static unsigned int counters[REGIONS_MAX][16];
	static struct prof regions[REGIONS_MAX];
	size_t text = (size_t)work & ~(size_t)0xfff;
	int i;

	for (i = 0; i < nr; i++)
		regions[i] = (struct prof){ .pr_base = counters[i],
					    .pr_size = sizeof(counters[i]),
					    .pr_off = text + (size_t)i * 4096,
					    .pr_scale = 16 * 4 * 65536 / 4096 };
	if (sprofil(regions, nr, NULL, PROF_UINT | PROF_FAST))
		give_up("sprofil");
}

/* Starts a process with a call that spins; others forked from one with a call sleep. */
static pid_t start_spinner(int regions)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	profile_regions(regions);
	for (uint64_t *walk = make_walk();;)
		work(walk, 1000000);
}

/* They are a process group, so that they end together. */
static pid_t start_sleepers(int nr)
{
	int ready[2];
	pid_t pid;
	int i, reached = 1;

	if (pipe(ready))
		give_up("pipe");
	pid = fork();
	if (pid) {
		close(ready[1]);
		if (read(ready[0], &reached, sizeof(reached)) != sizeof(reached))
			give_up("sleepers");
		close(ready[0]);
		if (reached != nr) {
			kill(-pid, SIGKILL);
			fprintf(stderr, "calls: %d processes: the host allows %d\n", nr, reached);
			exit(1);
		}
		return pid;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	profile_regions(1);
	for (i = 1; i < nr; i++) {
		pid = fork();
		if (!pid)
			for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
				pause();
		reached += pid > 0;
	}
	if (write(ready[1], &reached, sizeof(reached)) != sizeof(reached))
		_exit(1);
	for (;;)
		pause();
}

static double ns_per_run(int fd, const struct prog_cost *before)
{
	struct prog_cost after = prog_fd_cost(fd);

	return after.runs > before->runs ?
		       (double)(after.ns - before->ns) / (double)(after.runs - before->runs) :
		       0;
}

static int await_prog(const char *name)
{
	int i, fd;

	for (i = 0; i < 500; i++) {
		fd = prog_open(find_prog(0, name));
		if (fd >= 0)
			return fd;
		sleep_for(0.01);
	}
	give_up(name);
	return -1;
}

/* Gross cost of a tick minus that of the empty program beside it. */
static double measure(const struct bench_case *what)
{
	char *argv[] = { "empty", "1000000", NULL };
	pid_t sleepers = what->processes > 1 ? start_sleepers(what->processes - 1) : 0;
	pid_t spinner = start_spinner(what->regions), floor = spawn(bench.empty, argv);
	int tick = await_prog("call_tick_fast"), empty = await_prog("bench_empty");
	struct prog_cost tick_before, empty_before;
	double net;

	sleep_for(0.3);
	tick_before = prog_fd_cost(tick);
	empty_before = prog_fd_cost(empty);
	sleep_for(bench.seconds);
	net = ns_per_run(tick, &tick_before) - ns_per_run(empty, &empty_before);
	close(tick);
	close(empty);
	end(floor, SIGINT);
	end(spinner, SIGKILL);
	if (sleepers) {
		kill(-sleepers, SIGKILL);
		waitpid(sleepers, NULL, 0);
		sleep_for(0.5);
	}
	return net;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int nr)
{
	qsort(values, (size_t)nr, sizeof(*values), compare);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

static void print_ticks(void)
{
	double first = 0, middle;
	int i;

	printf("\n| a tick, net of an empty program | ns | to the first |\n|---|---|---|\n");
	for (i = 0; i < CASES; i++) {
		middle = median(results[i], bench.rounds);
		first = i ? first : middle;
		printf("| %s | %.0f (%.0f to %.0f) | %.2f |\n", cases[i].name, middle,
		       results[i][0], results[i][bench.rounds - 1], middle / first);
	}
}

static void time_ticks(void)
{
	int round, i;

	for (round = 0; round < bench.rounds; round++)
		for (i = 0; i < CASES; i++)
			results[(i + round) % CASES][round] = measure(&cases[(i + round) % CASES]);
	print_ticks();
}

/* --- one call ------------------------------------------------------------------------------------ */

static unsigned short buffer[1024];

static void call_start(void)
{
	if (profil(buffer, sizeof(buffer), (size_t)work, 0x10000))
		give_up("profil");
}

static void call_stop(void)
{
	if (profil(buffer, 0, 0, 0))
		give_up("profil");
}

static void call_sync(void)
{
	if (bpfprofil_sync())
		give_up("bpfprofil_sync");
}

static void time_call(const char *name, void (*call)(void), void (*undo)(void))
{
	enum { CALLS = 200 };
	double us[CALLS];
	int i;

	for (i = 0; i < CALLS; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);

		call();
		us[i] = (double)(now_ns(CLOCK_MONOTONIC) - before) / 1000;
		if (undo)
			undo();
	}
	median(us, CALLS);
	printf("| %s | %.0f (%.0f to %.0f) |\n", name, us[CALLS / 2], us[CALLS / 20],
	       us[CALLS - CALLS / 20]);
}

static void time_calls(void)
{
	printf("\n| a call | µs, median (5 %% to 95 %%) |\n|---|---|\n");
	time_call("profil(), the first in force: the clock starts", call_start, call_stop);
	call_start();
	time_call("profil() in place of another", call_start, NULL);
	time_call("bpfprofil_sync()", call_sync, NULL);
	call_stop();
	time_call("profil() that ends it, with nothing on", call_stop, NULL);
}

/* --- a server that nobody asks ------------------------------------------------------------------- */

static long wake_ups(pid_t pid)
{
	char path[64], line[128];
	long total = 0, value;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		give_up(path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &value) == 1)
			total += value;
	fclose(file);
	return total;
}

/* The process that serves, which is the only child of the one that waits for it. */
static pid_t serving(void)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", bench.server, bench.server);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &child) != 1)
		give_up(path);
	fclose(file);
	return child;
}

static void time_idle(void)
{
	pid_t server = serving();
	long before;
	uint64_t cpu;

	sleep_for(3);
	before = wake_ups(server);
	cpu = process_cpu_ns(server);
	sleep_for(10);
	printf("\nA server that nobody asks: %ld wake-ups and %.3f ms of CPU time in 10 s.\n",
	       wake_ups(server) - before, (double)(process_cpu_ns(server) - cpu) / 1e6);
}

/* --- a program under ours and under libc's ------------------------------------------------------- */

enum { UNDER_NONE, UNDER_OURS, UNDER_LIBC, UNDER_COUNT };

/* libc's own; the static library's function hides it. */
extern int libc_profil(unsigned short *buf, size_t size, size_t offset, unsigned int scale);

static double time_work(int under, uint64_t *walk)
{
	uint64_t before;

	if (under == UNDER_OURS)
		call_start();
	if (under == UNDER_LIBC)
		libc_profil(buffer, sizeof(buffer), (size_t)work, 0x10000);
	before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	work(walk, 60000000);
	before = now_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	if (under == UNDER_OURS)
		call_stop();
	if (under == UNDER_LIBC)
		libc_profil(buffer, 0, 0, 0);
	return (double)before;
}

static void time_programs(void)
{
	static double slower[UNDER_COUNT][ROUNDS_MAX];
	uint64_t *walk = make_walk();
	double base;
	int round, i;

	time_work(UNDER_NONE, walk);
	for (round = 0; round < bench.rounds; round++) {
		base = time_work(UNDER_NONE, walk);
		for (i = UNDER_OURS; i < UNDER_COUNT; i++)
			slower[i][round] = 100 * (time_work(i, walk) / base - 1);
		slower[UNDER_NONE][round] = 100 * (time_work(UNDER_NONE, walk) / base - 1);
	}
	printf("\n| the same program at 100 Hz | CPU time more, %% |\n|---|---|\n");
	for (i = 0; i < UNDER_COUNT; i++) {
		static const char *const names[] = { "unprofiled, once more", "our profil()",
						     "libc's profil()" };
		double middle = median(slower[i], bench.rounds);

		printf("| %s | %.2f (%.2f to %.2f) |\n", names[i], middle, slower[i][0],
		       slower[i][bench.rounds - 1]);
	}
}

/* The library reads its environment when a program starts, so the program is executed again. */
static void set_socket(char **argv)
{
	snprintf(bench.socket, sizeof(bench.socket), "/tmp/bpfprofil-bench-%d", getpid());
	if (getenv("BPFPROFIL_SOCKET") && !strcmp(getenv("BPFPROFIL_SOCKET"), bench.socket))
		return;
	setenv("BPFPROFIL_SOCKET", bench.socket, 1);
	execv("/proc/self/exe", argv);
	give_up("exec");
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: calls BPFPROFIL EMPTY [ROUNDS [SECONDS]]\n");
		return 2;
	}
	bench.bpfprofil = argv[1];
	bench.empty = argv[2];
	bench.rounds = argc > 3 ? atoi(argv[3]) : bench.rounds;
	bench.seconds = argc > 4 ? atof(argv[4]) : bench.seconds;
	if (bench.rounds < 1 || bench.rounds > ROUNDS_MAX)
		return 2;
	set_socket(argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench.stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (bench.stats_fd < 0)
		give_up("BPF run-time statistics");
	start_server();
	time_ticks();
	time_calls();
	time_programs();
	time_idle();
	end(bench.server, SIGTERM);
	return 0;
}
