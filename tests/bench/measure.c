// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Measures one window of the workload under one profiler; prints key=value pairs on one line. See usage() and run.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "window.h"

#define START_SECONDS 30
#define STOP_SECONDS 60
#define POLL_NS 5000000

static struct {
	const char *mode;
	const char *build;
	const char *output;
	const char *prog;
	const char *pages;
	const char *kib;
	const char *load;
	double warm;
	double window;
} opt = {
	.build = "build/bench",
	.output = "/dev/null",
	.prog = "",
	.pages = "1",
	.kib = "0",
	.warm = 1,
	.window = 2,
};

/* The results of one window; the profiler's are 0 if there is none. */
struct result {
	struct prog_cost handler;
	struct prog_misses misses;
	uint64_t cpu_window_ns;
	uint64_t cpu_total_ns;
	uint64_t start_ns; /* until its program ran */
	uint64_t stop_ns; /* from the signal that ends it */
	uint64_t maps_kib;
	long peak_kib;
	int status;
};

static pid_t profiler, workload;

static void usage(void)
{
	fputs("usage: measure -m none [OPTIONS]\n"
	      "       measure -m beside [OPTIONS] -- PROFILER...  (ends at SIGINT)\n"
	      "       measure -m wrap [OPTIONS] -- PROFILER...    (the workload is appended)\n"
	      "  -b DIR    the built programs          -o FILE  PROFILER's stdout; stderr is FILE.err\n"
	      "  -n NAME   its BPF program's name      -p N     hot pages per object; 0: the clock\n"
	      "  -w SEC    warm-up                     -k KIB   memory touched per call\n"
	      "  -s SEC    window                      -l LOAD  run by sh instead of the workload\n",
	      stderr);
	exit(2);
}

/* Ends all that was started here, and the workload. */
static void give_up(const char *what)
{
	fprintf(stderr, "measure: %s\n", what);
	if (workload > 0)
		kill(opt.load ? -workload : workload, SIGKILL);
	if (profiler > 0)
		kill(profiler, SIGINT);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_for(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void redirect(int fd, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (to < 0 || dup2(to, fd) < 0)
		_exit(126);
}

static pid_t spawn(char *const argv[], const char *output)
{
	char errors[4096];
	pid_t pid;

	snprintf(errors, sizeof(errors), "%s.err", output);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		give_up("cannot fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGINT);
	/* Background processes have SIGINT ignored, and then BCC's python does not end by it. */
	signal(SIGINT, SIG_DFL);
	if (strcmp(output, "-")) {
		redirect(STDOUT_FILENO, output);
		redirect(STDERR_FILENO, strcmp(output, "/dev/null") ? errors : output);
	}
	execvp(argv[0], argv);
	_exit(127);
}

static bool ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid == pid;
}

static struct window *make_window(const char *path)
{
	struct window *window;
	cpu_set_t allowed;
	size_t size;
	int fd;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		give_up("sched_getaffinity failed");
	size = sizeof(*window) + (size_t)CPU_COUNT(&allowed) * sizeof(window->thread[0]);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		give_up("cannot make the shared state");
	window = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (window == MAP_FAILED)
		give_up("cannot map the shared state");
	close(fd);
	window->nr_threads = (uint32_t)CPU_COUNT(&allowed);
	return window;
}

/* Waits until the program of a profiler that runs beside has been seen running, if it has one. */
static void await_prog(uint32_t after)
{
	uint64_t limit = now_ns() + START_SECONDS * 1000000000ULL;

	while (*opt.prog && !prog_cost(find_prog(after, opt.prog)).runs) {
		if (ended(profiler) || now_ns() > limit)
			give_up("the profiler did not start");
		sleep_for(POLL_NS / 1e9);
	}
}

static void await_threads(_Atomic uint32_t *count, uint32_t wanted)
{
	uint64_t limit = now_ns() + START_SECONDS * 1000000000ULL;

	while (atomic_load(count) < wanted) {
		if (ended(profiler) || ended(workload) || now_ns() > limit)
			give_up("the workload did not run");
		sleep_for(POLL_NS / 1e9);
	}
}

static char **with_workload(char **argv, int argc, char **workload_argv)
{
	char **all = calloc((size_t)argc + 6, sizeof(*all));
	int n = 0;

	if (!all)
		give_up("out of memory");
	while (n < argc) {
		all[n] = argv[n];
		n++;
	}
	for (int i = 0; i < 5; i++)
		all[n++] = workload_argv[i];
	return all;
}

/*
 * It gets its own session, so that it can be ended as one, and because the scheduler divides CPUs
 * among sessions first.
 */
static pid_t spawn_load(void)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("cannot fork");
	if (pid)
		return pid;
	setsid();
	execl("/bin/sh", "sh", "-c", opt.load, NULL);
	_exit(127);
}

static void end_workload(void)
{
	uint64_t limit = now_ns() + STOP_SECONDS * 1000000000ULL;

	if (workload > 0 && opt.load) {
		kill(-workload, SIGTERM);
		while (!ended(workload) && now_ns() < limit)
			sleep_for(POLL_NS / 1e9);
		kill(-workload, SIGKILL);
	}
	if (workload > 0)
		waitpid(workload, NULL, 0);
	workload = 0;
}

static void start(char **argv, int argc, const char *state, struct result *result)
{
	char program[4096], objects[4096];
	char *workload_argv[] = { program,	     (char *)state,   objects,
				  (char *)opt.pages, (char *)opt.kib, NULL };
	uint32_t after = newest_prog();
	uint64_t began_ns = now_ns();

	snprintf(program, sizeof(program), "%s/workload", opt.build);
	snprintf(objects, sizeof(objects), "%s/objects", opt.build);
	if (!strcmp(opt.mode, "wrap")) {
		profiler = spawn(with_workload(argv, argc, workload_argv), opt.output);
		return;
	}
	if (!strcmp(opt.mode, "beside")) {
		profiler = spawn(argv, opt.output);
		await_prog(after);
		result->start_ns = now_ns() - began_ns;
	}
	workload = opt.load ? spawn_load() : spawn(workload_argv, "-");
}

static void watch(struct window *window, uint32_t after, struct result *result)
{
	struct prog_cost before, end;
	struct prog_misses misses;
	uint32_t id;
	uint64_t cpu;

	if (!opt.load)
		await_threads(&window->ready, window->nr_threads);
	sleep_for(opt.warm);
	id = find_prog(after, opt.prog);
	cpu = profiler ? process_cpu_ns(profiler) : 0;
	before = prog_cost(id);
	misses = prog_misses(id);
	atomic_store(&window->phase, WINDOW_OPEN);
	sleep_for(opt.window);
	end = prog_cost(id);
	result->misses = prog_misses(id);
	if (profiler) {
		result->cpu_window_ns = process_cpu_ns(profiler) - cpu;
		result->maps_kib = process_maps_kib(profiler);
	}
	atomic_store(&window->phase, WINDOW_DONE);
	if (!opt.load)
		await_threads(&window->left, window->nr_threads);
	result->misses.misses -= misses.misses;
	result->misses.renewed -= misses.renewed;
	result->handler.runs = end.runs - before.runs;
	result->handler.ns = end.ns - before.ns;
}

/*
 * The profiler's own CPU time is read while it is a zombie, because rusage would include the
 * workload's.
 */
static void stop(struct result *result)
{
	struct rusage usage;
	uint64_t limit, began_ns;

	end_workload();
	if (!profiler)
		return;
	began_ns = now_ns();
	limit = began_ns + STOP_SECONDS * 1000000000ULL;
	if (!strcmp(opt.mode, "beside"))
		kill(profiler, SIGINT);
	while (!ended(profiler)) {
		if (now_ns() > limit)
			kill(profiler, SIGKILL);
		sleep_for(POLL_NS / 1e9);
	}
	result->stop_ns = now_ns() - began_ns;
	result->cpu_total_ns = process_cpu_ns(profiler);
	wait4(profiler, &result->status, 0, &usage);
	result->peak_kib = usage.ru_maxrss;
}

static void print_window(const struct window *window, const struct result *r)
{
	uint64_t calls = 0, held = 0, elapsed = 0, taken = 0;

	for (uint32_t i = 0; i < window->nr_threads; i++) {
		calls += window->thread[i].calls;
		held += window->thread[i].held_ns;
		elapsed += window->thread[i].elapsed_ns;
		taken += window->thread[i].taken_ns;
	}
	printf("status=%d threads=%u calls=%llu held_ns=%llu elapsed_ns=%llu ", r->status,
	       window->nr_threads, (unsigned long long)calls, (unsigned long long)held,
	       (unsigned long long)elapsed);
	printf("taken_ns=%llu ", (unsigned long long)(taken / window->nr_threads));
	printf("missed=%llu renewed=%llu ", (unsigned long long)r->misses.misses,
	       (unsigned long long)r->misses.renewed);
	printf("start_ns=%llu stop_ns=%llu ", (unsigned long long)r->start_ns,
	       (unsigned long long)r->stop_ns);
	printf("runs=%llu run_ns=%llu cpu_window_ns=%llu cpu_total_ns=%llu peak_kib=%ld "
	       "maps_kib=%llu\n",
	       (unsigned long long)r->handler.runs, (unsigned long long)r->handler.ns,
	       (unsigned long long)r->cpu_window_ns, (unsigned long long)r->cpu_total_ns,
	       r->peak_kib, (unsigned long long)r->maps_kib);
}

static int run_window(char **argv, int argc)
{
	uint32_t after = newest_prog();
	struct result result = { 0 };
	struct window *window;
	char state[4096];

	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		give_up("cannot switch the kernel's BPF statistics on: run as root");
	snprintf(state, sizeof(state), "%s/state", opt.build);
	window = make_window(state);
	start(argv, argc, state, &result);
	watch(window, after, &result);
	stop(&result);
	print_window(window, &result);
	return 0;
}

static void set_option(int c)
{
	switch (c) {
	case 'm':
		opt.mode = optarg;
		break;
	case 'b':
		opt.build = optarg;
		break;
	case 'o':
		opt.output = optarg;
		break;
	case 'n':
		opt.prog = optarg;
		break;
	case 'p':
		opt.pages = optarg;
		break;
	case 'k':
		opt.kib = optarg;
		break;
	case 'l':
		opt.load = optarg;
		break;
	case 'w':
		opt.warm = atof(optarg);
		break;
	case 's':
		opt.window = atof(optarg);
		break;
	default:
		usage();
	}
}

int main(int argc, char **argv)
{
	bool needs_command;
	int c;

	while ((c = getopt(argc, argv, "+m:b:o:n:p:k:l:w:s:")) != -1)
		set_option(c);
	if (!opt.mode)
		usage();
	needs_command = strcmp(opt.mode, "none");
	if (needs_command != (optind < argc))
		usage();
	return run_window(argv + optind, argc - optind);
}
