// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * waits [MS [NR]]: threads that wait in a known way for MS milliseconds, and prints for each one
 *
 *     NAME TID CLASS: INNER OUTER WAITED
 *
 * INNER is the thread's time by its own clock, OUTER that from before its creation until after its end, and WAITED the
 * time around its waiting calls, all in nanoseconds. For "spins" WAITED is the time for which it was ready without a
 * CPU, by the kernel (/proc/thread-self/schedstat).
 *
 * With NR only so many threads that sleep, and one line with their sums.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SPINNERS = 8,
	MS = 1000000,
	FILE_BYTES = 4 << 20,
	CHUNK = 1 << 16,
	STACK = 1 << 16,
	MIGRATIONS = 16
};

/* The system call of epoll_wait(). */
#ifdef __aarch64__
#define EPOLL_WAIT "epoll_pwait"
#else
#define EPOLL_WAIT "epoll_wait"
#endif

static long wait_ns = 200L * MS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], files[2];

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void rest(long ns)
{
	const struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&time, NULL);
}

static uint64_t sleeps(void)
{
	uint64_t begun = now();
	int i;

	for (i = 0; i < 4; i++)
		rest(wait_ns / 4);
	return now() - begun;
}

/* A file of which no page is in memory; drop() makes it so again. */
static void drop(int fd)
{
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		abort();
}

static int make_file(void)
{
	char name[] = "/var/tmp/waits-XXXXXX";
	static char data[FILE_BYTES];
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) || write(fd, data, FILE_BYTES) != FILE_BYTES || fdatasync(fd))
		abort();
	drop(fd);
	return fd;
}

static uint64_t reads_file(void)
{
	const uint64_t until = now() + (uint64_t)wait_ns;
	static char data[CHUNK];
	uint64_t begun, sum = 0;
	off_t at;

	for (; now() < until; drop(files[0]))
		for (at = 0; at < FILE_BYTES; at += CHUNK) {
			begun = now();
			if (pread(files[0], data, CHUNK, at) != CHUNK)
				abort();
			sum += now() - begun;
		}
	return sum;
}

static uint64_t faults(void)
{
	const uint64_t until = now() + (uint64_t)wait_ns;
	uint64_t begun, sum = 0;
	volatile char *data;
	size_t at;

	for (; now() < until; drop(files[1])) {
		data = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, files[1], 0);
		if (data == MAP_FAILED || madvise((void *)data, FILE_BYTES, MADV_RANDOM))
			abort();
		begun = now();
		for (at = 0; at < FILE_BYTES; at += CHUNK)
			(void)data[at];
		sum += now() - begun;
		munmap((void *)data, FILE_BYTES);
	}
	return sum;
}

static uint64_t locks(void)
{
	uint64_t begun = now();

	pthread_mutex_lock(&lock);
	begun = now() - begun;
	pthread_mutex_unlock(&lock);
	return begun;
}

static uint64_t reads(void)
{
	uint64_t begun = now();
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	return now() - begun;
}

static uint64_t conditions(void)
{
	pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	uint64_t begun;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mine);
	begun = now();
	while (!pthread_cond_timedwait(&never, &mine, &until))
		;
	begun = now() - begun;
	pthread_mutex_unlock(&mine);
	return begun;
}

static uint64_t polls(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);
	uint64_t begun = now();

	epoll_wait(fd, &event, 1, (int)(wait_ns / MS));
	begun = now() - begun;
	close(fd);
	return begun;
}

static uint64_t children(void)
{
	pid_t child = fork();
	uint64_t begun;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "child");
		rest(wait_ns);
		_exit(0);
	}
	begun = now();
	waitpid(child, NULL, 0);
	return now() - begun;
}

static uint64_t spins(void)
{
	uint64_t until = now() + (uint64_t)wait_ns, ran, ready = 0;
	FILE *file;

	while (now() < until)
		;
	file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%lu %lu", &ran, &ready) != 2)
		abort();
	fclose(file);
	return ready;
}

struct thread {
	const char *name, *class;
	uint64_t (*wait)(void);
	pthread_t id;
	uint64_t begun, inner, outer, waited;
	pid_t tid;
};

static void *run(void *argument)
{
	struct thread *thread = argument;
	uint64_t begun = now();

	prctl(PR_SET_NAME, thread->name);
	thread->tid = gettid();
	thread->waited = thread->wait();
	thread->inner = now() - begun;
	return NULL;
}

static void start(struct thread *thread)
{
	thread->begun = now();
	if (pthread_create(&thread->id, NULL, run, thread))
		abort();
}

static void finish(struct thread *thread)
{
	pthread_join(thread->id, NULL);
	thread->outer = now() - thread->begun;
	printf("%s %d %s: %lu %lu %lu\n", thread->name, thread->tid, thread->class, thread->inner,
	       thread->outer, thread->waited);
}

static int pool(size_t nr)
{
	struct thread *threads = calloc(nr, sizeof(*threads)), sum = { 0 };
	pthread_attr_t attributes;
	size_t i;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (i = 0; i < nr; i++) {
		threads[i] = (struct thread){ .name = "pool", .wait = sleeps, .begun = now() };
		if (pthread_create(&threads[i].id, &attributes, run, &threads[i]))
			return 77;
	}
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i].id, NULL);
		sum.inner += threads[i].inner;
		sum.outer += now() - threads[i].begun;
		sum.waited += threads[i].waited;
	}
	printf("pool 0 clock_nanosleep: %lu %lu %lu\n", sum.inner, sum.outer, sum.waited);
	return 0;
}

/* Its thread ends amid a wait, because the process executes this program. */
static uint64_t is_ended(void)
{
	rest(100 * wait_ns);
	return 0;
}

static void exec_child(const char *program)
{
	struct thread thread = { .name = "is_ended", .wait = is_ended };
	char ms[24], begun[24], waited[24], ended[24];
	pid_t child = fork();

	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(ms, sizeof(ms), "%ld", wait_ns / MS);
	snprintf(begun, sizeof(begun), "%lu", now());
	start(&thread);
	snprintf(waited, sizeof(waited), "%lu", sleeps());
	thread.inner = now() - thread.begun;
	snprintf(ended, sizeof(ended), "%lu", thread.inner);
	printf("is_ended %d clock_nanosleep: %lu ", thread.tid, thread.inner);
	fflush(stdout);
	execl(program, program, ms, "0", begun, waited, ended, NULL);
	abort();
}

/*
 * The time before the exec is in the arguments. The other thread ended after it had waited for
 * `ended`, and before now.
 */
static int after_exec(uint64_t begun, uint64_t waited, uint64_t ended)
{
	printf("%lu %lu\n", now() - begun, ended);
	prctl(PR_SET_NAME, "execs");
	waited += sleeps();
	begun = now() - begun;
	printf("execs %d clock_nanosleep: %lu %lu %lu\n", getpid(), begun, begun, waited);
	return 0;
}

/* It stops itself, and its parent lets it go on. */
static void stop_child(void)
{
	uint64_t begun = now(), stopped;
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "stops");
		stopped = now();
		raise(SIGSTOP);
		stopped = now() - stopped;
		printf("stops %d stopped: %lu ", getpid(), now() - begun);
		printf("%lu %lu\n", now() - begun, stopped);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	rest(wait_ns);
	kill(child, SIGCONT);
	waitpid(child, NULL, 0);
}

/* To the next CPU that this process may use. */
static void migrate(pthread_t thread)
{
	static size_t cpu;
	cpu_set_t all, one;

	if (pthread_getaffinity_np(pthread_self(), sizeof(all), &all))
		abort();
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_setaffinity_np(thread, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	struct thread threads[] = {
		{ "sleeps", "clock_nanosleep", sleeps, 0, 0, 0, 0, 0, 0 },
		{ "locks", "futex", locks, 0, 0, 0, 0, 0, 0 },
		{ "reads", "read", reads, 0, 0, 0, 0, 0, 0 },
		{ "conditions", "futex", conditions, 0, 0, 0, 0, 0, 0 },
		{ "polls", EPOLL_WAIT, polls, 0, 0, 0, 0, 0, 0 },
		{ "parent", "wait4", children, 0, 0, 0, 0, 0, 0 },
		{ "files", "pread64", reads_file, 0, 0, 0, 0, 0, 0 },
		{ "faults", "page fault", faults, 0, 0, 0, 0, 0, 0 },
		{ "migrates", "clock_nanosleep", sleeps, 0, 0, 0, 0, 0, 0 },
	};
	const size_t nr = sizeof(threads) / sizeof(*threads);
	struct thread spinners[SPINNERS];
	size_t i;

	if (argc > 1)
		wait_ns = atol(argv[1]) * MS;
	if (argc > 5)
		return after_exec(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
				  strtoul(argv[5], NULL, 10));
	if (argc > 2)
		return pool(strtoul(argv[2], NULL, 10));
	files[0] = make_file();
	files[1] = make_file();
	if (pipe(ends))
		abort();
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr; i++)
		start(&threads[i]);
	for (i = 0; i < MIGRATIONS; i++) {
		migrate(threads[nr - 1].id);
		rest(wait_ns / MIGRATIONS);
	}
	pthread_mutex_unlock(&lock);
	if (write(ends[1], "", 1) != 1)
		abort();
	for (i = 0; i < nr; i++)
		finish(&threads[i]);
	fflush(stdout);
	stop_child();
	exec_child(argv[0]);
	for (i = 0; i < SPINNERS; i++) {
		spinners[i] = (struct thread){ "spins", "runnable", spins, 0, 0, 0, 0, 0, 0 };
		start(&spinners[i]);
	}
	for (i = 0; i < SPINNERS; i++)
		finish(&spinners[i]);
	return 0;
}
