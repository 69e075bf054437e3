// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/handler/cost_load.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "host/cost/cost.h"

#define STACK_SIZE (128 << 10)
#define POLL_NS 200000

/* How long to wait for all threads; after that one of them gets no CPU at all. */
#define PATIENCE_NS 10000000000

/* Aligned to cache lines of their own, because the threads read the phase in every iteration. */
struct cost_thread {
	_Atomic uint32_t done; /* the last window that the thread has noted */
	struct cost_window figures;
} __attribute__((aligned(64)));

/* Odd phases are windows. The kind changes only between windows. */
struct cost_shared {
	_Atomic uint32_t phase;
	_Atomic uint32_t kind;
	_Atomic uint32_t ready; /* number of threads that run */
	_Atomic int failure; /* errno if the threads could not be started; 0: none */
	struct cost_thread threads[];
};

struct spinner {
	struct cost_shared *shared;
	struct cost_thread *thread;
	struct cost_work work;
};

/* Notes a window. One that passed while the thread had no CPU is noted afterwards, with zeros. */
static void note_window(struct cost_thread *thread, uint32_t window,
			const struct cost_window *figures)
{
	if (atomic_load(&thread->done) == window)
		return;
	thread->figures = *figures;
	atomic_store(&thread->done, window);
}

static void *spin_thread(void *arg)
{
	static const struct cost_window nothing;
	struct spinner *spinner = arg;
	struct cost_shared *shared = spinner->shared;
	uint32_t phase;

	cost_work_begin(&spinner->work);
	atomic_fetch_add(&shared->ready, 1);
	for (;;) {
		phase = atomic_load(&shared->phase);
		if (!(phase & 1))
			note_window(spinner->thread, phase - 1, &nothing);
		cost_work_run(&spinner->work, atomic_load(&shared->kind), &shared->phase, phase);
		if (phase & 1)
			note_window(spinner->thread, phase, &spinner->work.figures);
	}
	return NULL;
}

static int start_thread(struct spinner *spinner, size_t cpu)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_mask only;
	int ret;

	memset(&only, 0, sizeof(only));
	CPU_SET_S(cpu, sizeof(only), only.part);
	ret = pthread_attr_init(&attr);
	if (ret)
		return ret;
	ret = pthread_attr_setstacksize(&attr, STACK_SIZE);
	ret = ret ?: pthread_attr_setaffinity_np(&attr, sizeof(only), only.part);
	ret = ret ?: pthread_create(&thread, &attr, spin_thread, spinner);
	pthread_attr_destroy(&attr);
	return ret;
}

/*
 * Returns only if it fails, with an errno: otherwise the process ends when its parent says so or
 * dies.
 */
static int start_threads(struct cost_shared *shared, const cpu_mask *mask, uint32_t nr)
{
	struct spinner *spinners = calloc(nr, sizeof(*spinners));
	size_t size = cost_work_memory(), cpu;
	uint8_t *memory = malloc(size);
	uint32_t n = 0;
	int ret = 0;

	if (!spinners || !memory)
		return ENOMEM;
	/* Memory must be written, because all untouched pages are the one zero page. */
	memset(memory, 1, size);
	for (cpu = 0; cpu < CPU_MASK_CPUS && n < nr && !ret; cpu++) {
		if (!CPU_ISSET_S(cpu, sizeof(*mask), mask->part))
			continue;
		spinners[n].shared = shared;
		spinners[n].thread = &shared->threads[n];
		spinners[n].work = (struct cost_work){ .memory = memory,
						       .size = size,
						       .at = size / nr / 4096 * n * 4096,
						       .state = n + 1 };
		ret = start_thread(&spinners[n++], cpu);
	}
	return ret;
}

static void be_the_load(struct cost_shared *shared, const cpu_mask *mask, uint32_t nr, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	atomic_store(&shared->failure, start_threads(shared, mask, nr));
	for (;;)
		pause();
}

static int interruptible_sleep(int stop_fd, uint64_t ns, struct error *err)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };
	struct timespec timeout = timespec_of(ns);

	if (ppoll(&stop, 1, &timeout, NULL) <= 0)
		return 0;
	return error_set(err, -EINTR, "interrupted");
}

static bool has_ended(const struct cost_load *load)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)load->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

/* Sleeps before another look at the threads; called when not all of them were ready. */
static int wait_on(struct cost_load *load, uint64_t since, struct error *err)
{
	int failure = atomic_load(&load->shared->failure);

	if (failure)
		return error_errno(err, -failure, "bench: a thread on each CPU");
	if (has_ended(load))
		return error_set(err, -ECHILD, "bench: the program to be sampled was killed");
	if (monotonic_ns() - since > PATIENCE_NS)
		return error_set(err, -ETIMEDOUT, "bench: a CPU is too busy: no answer for %llu s",
				 PATIENCE_NS / 1000000000ULL);
	return interruptible_sleep(load->stop_fd, POLL_NS, err);
}

static int await_start(struct cost_load *load, struct error *err)
{
	uint64_t since = monotonic_ns();
	int ret = 0;

	while (!ret && atomic_load(&load->shared->ready) < load->threads)
		ret = wait_on(load, since, err);
	return ret;
}

static int share(struct cost_load *load, struct error *err)
{
	load->shared_size = sizeof(struct cost_shared) + load->threads * sizeof(struct cost_thread);
	load->shared = mmap(NULL, load->shared_size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (load->shared != MAP_FAILED)
		return 0;
	load->shared = NULL;
	return error_errno(err, -errno, "bench: memory to share with the program to be sampled");
}

int cost_load_start(struct cost_load *load, int stop_fd, struct error *err)
{
	pid_t parent = getpid();
	cpu_mask mask;
	int ret;

	*load = (struct cost_load){ .stop_fd = stop_fd };
	memset(&mask, 0, sizeof(mask));
	if (sched_getaffinity(0, sizeof(mask), mask.part))
		return error_errno(err, -errno, "bench: the CPUs we may use");
	load->threads = (uint32_t)CPU_COUNT_S(sizeof(mask), mask.part);
	ret = share(load, err);
	if (ret)
		return ret;
	load->pid = fork();
	if (load->pid < 0) {
		load->pid = 0;
		return error_errno(err, -errno, "bench: the program to be sampled");
	}
	if (!load->pid)
		be_the_load(load->shared, &mask, load->threads, parent);
	return await_start(load, err);
}

void cost_load_choose(struct cost_load *load, enum cost_kind kind)
{
	atomic_store(&load->shared->kind, kind);
	atomic_fetch_add(&load->shared->phase, 2);
}

int cost_load_let(struct cost_load *load, uint64_t ns, struct error *err)
{
	return interruptible_sleep(load->stop_fd, ns, err);
}

void cost_load_open(struct cost_load *load)
{
	atomic_fetch_add(&load->shared->phase, 1);
}

void cost_load_close(struct cost_load *load)
{
	atomic_fetch_add(&load->shared->phase, 1);
}

int cost_load_collect(struct cost_load *load, struct cost_window *result, struct error *err)
{
	uint32_t window = atomic_load(&load->shared->phase) - 1, i = 0;
	uint64_t since = monotonic_ns();
	struct cost_window sum = { 0 };
	int ret = 0;

	while (i < load->threads && !ret) {
		const struct cost_thread *thread = &load->shared->threads[i];

		if (atomic_load(&thread->done) != window) {
			ret = wait_on(load, since, err);
			continue;
		}
		sum.units += thread->figures.units;
		sum.held_ns += thread->figures.held_ns;
		sum.taken_ns += thread->figures.taken_ns;
		i++;
	}
	if (!ret)
		*result = sum;
	return ret;
}

void cost_load_end(struct cost_load *load)
{
	if (load->pid > 0) {
		kill(load->pid, SIGKILL);
		waitpid(load->pid, NULL, 0);
	}
	if (load->shared)
		munmap(load->shared, load->shared_size);
	*load = (struct cost_load){ .stop_fd = -1 };
}
