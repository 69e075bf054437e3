// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * many STUB processes N TURN_US [CGROUP GROUPS]
 * many STUB files N DIR [apart]
 * many STUB text MIB PAGES
 *
 * Makes more of one thing than a host has. On each CPU one thread is busy. After each call of the
 * code in STUB it walks through memory, so that nothing of the tick's handler stays in the
 * first-level cache.
 *
 * processes: they run in turn, each for TURN_US; process I is in CGROUP.(I modulo GROUPS). files:
 * calls go at random to copies of STUB in DIR, or with `apart` each thread calls its own copy.
 * text: calls go to copies in PAGES pages of one file of MIB, most of which is a hole.
 *
 * Prints the processes, then "ready", and ends with all of them at SIGTERM. It is static, because
 * there may be 100,000 of it.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STUB_TURNS 8000 /* some 20 us */
#define WALK_BYTES (256 * 1024)
#define LINE 64
#define PAGE 4096UL
#define APART (4 * PAGE)

typedef uint64_t stub_fn(uint64_t x, uint64_t turns);

/* Mapped by all processes. */
struct shared {
	unsigned char walk[WALK_BYTES];
	_Atomic uint32_t ready;
	_Atomic uint32_t turn[]; /* by process: whose turn it is */
};

static struct {
	unsigned char bytes[PAGE];
	size_t size;
	size_t entry;
} stub;

static struct shared *shared;
static stub_fn **functions;
static uint64_t nr_functions;
static bool apart;
static int cpus[CPU_SETSIZE], nr_cpus;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void list_cpus(void)
{
	cpu_set_t set;
	int i;

	if (sched_getaffinity(0, sizeof(set), &set))
		give_up("sched_getaffinity");
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[nr_cpus++] = i;
}

static void pin(int lane)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[lane % nr_cpus], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void read_stub(const char *path)
{
	const Elf64_Ehdr *header = (void *)stub.bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, stub.bytes, sizeof(stub.bytes));

	if (got < (ssize_t)sizeof(*header) || (size_t)got == sizeof(stub.bytes))
		give_up(path);
	stub.size = (size_t)got;
	stub.entry = header->e_entry;
	close(fd);
}

static stub_fn *entry_at(void *text)
{
	return (stub_fn *)((char *)text + stub.entry);
}

/*
 * Maps text as far apart as small libraries are, so that caches of mappings do not find it harder
 * than usual.
 */
static void *map_text(int fd, size_t size)
{
	void *room = mmap(NULL, size + APART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *text = mmap(room, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0);

	if (room == MAP_FAILED || text == MAP_FAILED)
		give_up("mmap");
	return text;
}

static void map_shared(uint32_t processes)
{
	shared = mmap(NULL, sizeof(*shared) + processes * sizeof(shared->turn[0]),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		give_up("mmap");
	memset(shared->walk, 1, sizeof(shared->walk));
}

static uint64_t work(stub_fn *fn, uint64_t x)
{
	size_t i;

	x = fn(x, STUB_TURNS);
	for (i = 0; i < WALK_BYTES; i += LINE)
		x += *(volatile unsigned char *)&shared->walk[i];
	return x;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- processes ------------------------------------------------------------------------------------ */

static void wait_turn(_Atomic uint32_t *turn)
{
	while (!atomic_exchange(turn, 0))
		syscall(SYS_futex, turn, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void give_turn(_Atomic uint32_t *turn)
{
	atomic_store(turn, 1);
	syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void enter_cgroup(const char *prefix, uint32_t number)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%u/cgroup.procs", prefix, number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		give_up(path);
	close(fd);
}

static void take_turns(stub_fn *fn, uint32_t self, uint32_t next, uint64_t turn_ns)
{
	uint64_t x = 1, end;

	atomic_fetch_add(&shared->ready, 1);
	for (;;) {
		wait_turn(&shared->turn[self]);
		end = now_ns() + turn_ns;
		do {
			x = work(fn, x);
		} while (now_ns() < end);
		give_turn(&shared->turn[next]);
	}
}

static pid_t start_process(stub_fn *fn, uint32_t i, uint32_t n, char **argv)
{
	uint32_t lanes = (uint32_t)nr_cpus, next = i + lanes < n ? i + lanes : i % lanes;
	uint64_t turn_ns = strtoull(argv[0], NULL, 10) * 1000;
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin((int)(i % lanes));
	if (argv[1])
		enter_cgroup(argv[1], i % (uint32_t)atoi(argv[2]));
	take_turns(fn, i, next, turn_ns);
	return 0;
}

static void run_processes(uint32_t n, char **argv, const char *path)
{
	stub_fn *fn = entry_at(map_text(open(path, O_RDONLY | O_CLOEXEC), PAGE));
	uint32_t i;

	map_shared(n);
	for (i = 0; i < n; i++)
		printf("%d\n", start_process(fn, i, n, argv));
	while (atomic_load(&shared->ready) < n)
		usleep(10000);
	for (i = 0; i < n && i < (uint32_t)nr_cpus; i++)
		give_turn(&shared->turn[i]);
}

/* --- one process ---------------------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *jump_about(void *arg)
{
	uint64_t lane = (uintptr_t)arg, state = 88172645463325252ULL + lane * 7919, x = 1;

	pin((int)lane);
	for (;;)
		x = work(functions[(apart ? lane : random_next(&state)) % nr_functions], x);
	return NULL;
}

/* Touches all text, so that it is in memory and mapped before anything is measured. */
static void start_threads(void)
{
	volatile uint64_t x = 1;
	pthread_t thread;
	uint64_t i;

	map_shared(0);
	for (i = 0; i < nr_functions; i++)
		x = functions[i](x, 1);
	for (i = 0; i < (uint64_t)nr_cpus; i++)
		if (pthread_create(&thread, NULL, jump_about, (void *)(uintptr_t)i))
			give_up("pthread_create");
	printf("%d\n", getpid());
}

static void allocate_functions(uint64_t n)
{
	nr_functions = n;
	functions = calloc(n, sizeof(*functions));
	if (!functions || !n)
		give_up("calloc");
}

static void run_files(uint32_t n, const char *dir, bool each_its_own)
{
	char path[4096];
	uint32_t i;
	int fd;

	apart = each_its_own;
	allocate_functions(n);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/object.%u", dir, i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
		if (fd < 0 || write(fd, stub.bytes, stub.size) != (ssize_t)stub.size)
			give_up(path);
		functions[i] = entry_at(map_text(fd, PAGE));
		close(fd);
	}
	start_threads();
}

/* Pages are at equal distances, with the stub at a random place in each. */
static void run_text(uint64_t mib, uint64_t pages)
{
	uint64_t size = mib << 20, i, state = 2463534242, at;
	int fd = memfd_create("text", MFD_CLOEXEC);
	char *text;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		give_up("memfd_create");
	if (pages > size / PAGE)
		pages = size / PAGE;
	text = map_text(fd, size);
	allocate_functions(pages);
	for (i = 0; i < pages; i++) {
		at = i * (size / PAGE / pages) * PAGE;
		at += random_next(&state) % ((PAGE - stub.size) / LINE) * LINE;
		if (pwrite(fd, stub.bytes, stub.size, (off_t)at) != (ssize_t)stub.size)
			give_up("writing text");
		functions[i] = entry_at(text + at);
	}
	start_threads();
}

int main(int argc, char **argv)
{
	sigset_t end;
	int signal_number;

	if (argc < 5)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	list_cpus();
	read_stub(argv[1]);
	setpgid(0, 0);
	if (!strcmp(argv[2], "processes"))
		run_processes((uint32_t)atoi(argv[3]), argv + 4, argv[1]);
	else if (!strcmp(argv[2], "files"))
		run_files((uint32_t)atoi(argv[3]), argv[4], argc > 5);
	else
		run_text(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&end, &signal_number);
	kill(0, SIGTERM); /* SIGTERM is blocked here */
	while (wait(NULL) > 0)
		;
	return 0;
}
