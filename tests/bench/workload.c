// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * workload STATE OBJECTS PAGES KIB
 *
 * One thread per allowed CPU, each bound to its own, runs in all shared objects of the folder
 * OBJECTS in random order, with PAGES hot pages in each. After each call it touches KIB of memory,
 * which evicts the handler's cache lines as a real program does. Every CPU is busy, so every tick
 * hits the workload, and the mean over a program's runs is the cost of a tick. The order is random,
 * because a fixed one would beat against the sampling period.
 *
 * With 0 PAGES the threads only read the clock. Time missing between two readings went to
 * interrupts. It is added up for each stretch that contains one scheduler tick, and the median
 * stretch represents all. So a hypervisor that takes the CPU away now and then does not show, but
 * 0.1 us of 4 ms does. What interrupts do to caches does not show either.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "object.h"
#include "window.h"

#define MAX_OBJECTS 1024
#define CACHE_LINE 64
/* Two readings are some 40 ns apart. */
#define GAP_NS 200
#define MAX_STRETCHES 65536
/* Longer than any window, so that a workload whose measure was killed does not spin on. */
#define LIFETIME_SECONDS 120

static struct {
	object_work *const *objects[MAX_OBJECTS];
	uint32_t nr_objects;
	uint32_t pages;
	size_t touch_bytes;
	uint64_t tick_ns; /* of the scheduler's tick */
	struct window *window;
} load;

struct spinner {
	pthread_t thread;
	int cpu;
	uint32_t index;
	int schedstat;
	char *touched;
	uint64_t state;
	uint64_t calls;
	uint64_t last_ns;
	uint64_t end_ns; /* of the stretch */
	uint64_t taken_ns; /* in the stretch */
	uint32_t stretches[MAX_STRETCHES];
	uint32_t nr_stretches;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Without the file the wait counts as 0, and held_ns is plain elapsed time. */
static uint64_t waited_ns(int schedstat)
{
	unsigned long long ran, waited = 0;
	char text[128];
	ssize_t len;

	len = pread(schedstat, text, sizeof(text) - 1, 0);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

static void watch_clock(struct spinner *s)
{
	uint64_t now = now_ns(), gap = now - s->last_ns;

	if (gap > GAP_NS)
		s->taken_ns += gap;
	s->last_ns = now;
	s->calls++;
	if (now < s->end_ns)
		return;
	if (s->nr_stretches < MAX_STRETCHES)
		s->stretches[s->nr_stretches++] = s->taken_ns < UINT32_MAX ? (uint32_t)s->taken_ns :
									     UINT32_MAX;
	s->taken_ns = 0;
	s->end_ns = now + load.tick_ns;
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static uint64_t median_stretch(struct spinner *s)
{
	if (!s->nr_stretches)
		return 0;
	qsort(s->stretches, s->nr_stretches, sizeof(s->stretches[0]), compare);
	return s->stretches[s->nr_stretches / 2];
}

static void note(const struct spinner *s, struct window_thread *figures)
{
	uint64_t elapsed = now_ns();

	figures->calls = s->calls - figures->calls;
	figures->held_ns = elapsed - waited_ns(s->schedstat) - figures->held_ns;
	figures->elapsed_ns = elapsed - figures->elapsed_ns;
}

static void spin(struct spinner *s)
{
	uint32_t pick;

	if (!load.pages) {
		watch_clock(s);
		return;
	}
	s->state = s->state * 6364136223846793005 + 1442695040888963407;
	pick = (uint32_t)(s->state >> 33);
	s->state = load.objects[pick % load.nr_objects][(pick >> 16) % load.pages](s->state);
	for (size_t i = 0; i < load.touch_bytes; i += CACHE_LINE)
		s->touched[i]++;
	s->calls++;
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		die("pthread_setaffinity_np");
}

static void *spin_through(void *arg)
{
	struct spinner *s = arg;
	struct window_thread figures = { 0 };

	bind_to(s->cpu);
	s->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	for (uint32_t i = 0; i < load.nr_objects; i++)
		s->state ^= load.objects[i][0](s->state + i);
	atomic_fetch_add(&load.window->ready, 1);

	while (atomic_load(&load.window->phase) == WINDOW_WARM)
		spin(s);
	note(s, &figures);
	s->nr_stretches = 0;
	while (atomic_load(&load.window->phase) == WINDOW_OPEN)
		spin(s);
	note(s, &figures);
	figures.taken_ns = median_stretch(s);

	load.window->thread[s->index] = figures;
	atomic_fetch_add(&load.window->left, 1);
	return NULL;
}

static void map_window(const char *path)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(path);
	load.window = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (load.window == MAP_FAILED)
		die(path);
	close(fd);
}

static void open_objects(const char *folder)
{
	struct dirent *entry;
	const char *suffix;
	char path[4096];
	void *object;
	DIR *dir;

	dir = opendir(folder);
	if (!dir)
		die(folder);
	while ((entry = readdir(dir)) && load.nr_objects < MAX_OBJECTS) {
		suffix = strrchr(entry->d_name, '.');
		if (!suffix || strcmp(suffix, ".so"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!object || !dlsym(object, "object_pages")) {
			fprintf(stderr, "workload: %s\n", dlerror());
			exit(1);
		}
		load.objects[load.nr_objects++] = dlsym(object, "object_pages");
	}
	closedir(dir);
	if (!load.nr_objects) {
		fprintf(stderr, "workload: no objects in %s\n", folder);
		exit(1);
	}
}

static void start(struct spinner *s, uint32_t index, int cpu)
{
	s->index = index;
	s->cpu = cpu;
	s->state = 88172645463325252 + index;
	s->touched = calloc(1, load.touch_bytes + 1);
	if (!s->touched || pthread_create(&s->thread, NULL, spin_through, s))
		die("pthread_create");
}

static void run_threads(void)
{
	struct spinner *spinners;
	cpu_set_t allowed;
	uint32_t n = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		die("sched_getaffinity");
	spinners = calloc(load.window->nr_threads, sizeof(*spinners));
	if (!spinners)
		die("calloc");
	for (int cpu = 0; cpu < CPU_SETSIZE && n < load.window->nr_threads; cpu++)
		if (CPU_ISSET(cpu, &allowed)) {
			start(&spinners[n], n, cpu);
			n++;
		}
	for (uint32_t i = 0; i < n; i++)
		pthread_join(spinners[i].thread, NULL);
}

int main(int argc, char **argv)
{
	struct timespec tick;

	if (argc != 5) {
		fprintf(stderr, "usage: workload STATE OBJECTS PAGES KIB\n");
		return 2;
	}
	alarm(LIFETIME_SECONDS);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	load.tick_ns = (uint64_t)tick.tv_nsec;
	map_window(argv[1]);
	open_objects(argv[2]);
	load.pages = (uint32_t)atoi(argv[3]);
	load.touch_bytes = (size_t)atoi(argv[4]) * 1024;
	if (load.pages > OBJECT_PAGES) {
		fprintf(stderr, "workload: PAGES is 0 to %d\n", OBJECT_PAGES);
		return 2;
	}
	run_threads();
	return 0;
}
