// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/registry.h"

enum {
	JOBS_MAX = 1024, /* per user */
	IDLE_SECONDS = 2, /* how long an idle thread waits for work */
	STACK_BYTES = 512 << 10, /* a copy uses 50 KiB, and more with a sanitizer */
};

#define MS 1000000ULL
#define STUCK_NS (3000 * MS) /* less than our client waits */
#define END_NS (1000 * MS)
#define END_MOST_NS (60000 * MS) /* even for one that only uses CPU time */
#define END_LOOK_NS (20 * MS)

/* --- pending work --- */

static bool is_free(const struct worker *worker)
{
	return !worker->running && !worker->specs && worker_is_idle(worker) &&
	       TAILQ_EMPTY(&worker->dirty);
}

static void init_worker(struct calls *calls, struct worker *worker, uint64_t key, uid_t uid)
{
	if (worker->calls)
		pthread_cond_destroy(&worker->wake);
	*worker = (struct worker){ .calls = calls, .key = key, .uid = uid };
	TAILQ_INIT(&worker->urgent);
	TAILQ_INIT(&worker->dirty);
	TAILQ_INIT(&worker->due);
	STAILQ_INIT(&worker->jobs);
	cond_init_monotonic(&worker->wake);
}

#define KEY_OF_GONE UINT64_MAX

/*
 * Subordinate uids share a key by charge_of(), so that one person's uids cannot use all threads.
 * Other uids are people, and are keys themselves, because checking the process would cost more than
 * everything else here. All those whose process has ended share one key.
 */
uint64_t worker_key(pid_t pid, uid_t uid)
{
	cleanup_fd int pid_fd = -1;
	uint64_t charge;

	if (uid < CHARGE_SUBORDINATE_MIN)
		return uid;
	pid_fd = process_fd(pid);
	return pid_fd < 0 || charge_of(pid, pid_fd, uid, &charge) ? KEY_OF_GONE : charge;
}

struct worker *worker_of(struct calls *calls, uint64_t key, uid_t uid)
{
	/* Root always gets the last place, to find out who uses the others. */
	const size_t most = key ? WORKERS_MAX - 1 : WORKERS_MAX;
	struct worker *worker, *place = NULL;

	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++) {
		if (worker->key == key)
			return worker;
		if (!place && worker < calls->workers + most && is_free(worker))
			place = worker;
	}
	if (!place && calls->nr_workers < most)
		place = &calls->workers[calls->nr_workers++];
	if (place)
		init_worker(calls, place, key, uid);
	return place;
}

static struct worker *worker_of_call(const struct calls *calls, const struct call_ref *ref)
{
	const struct call *call;

	if (ref->slot >= calls->engine.nr_calls)
		return NULL;
	call = &calls->engine.calls[ref->slot];
	if (call->serial != ref->serial || call->phase == CALL_FREE || !calls->specs[call->spec])
		return NULL;
	return calls->specs[call->spec]->worker;
}

struct worker *worker_for(struct calls *calls, pid_t pid, uint64_t key, uid_t uid)
{
	cleanup_fd int pid_fd = process_fd(pid);
	struct worker *worker;
	struct call_ref ref;

	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++)
		if (worker->pid == pid)
			return worker;
	if (pid_fd >= 0 && !call_engine_ref_of(&calls->engine, pid_fd, &ref)) {
		worker = worker_of_call(calls, &ref);
		if (worker)
			return worker;
	}
	return worker_of(calls, key, uid);
}

static void put_work(struct worker *worker, struct work_list *list, struct work *work)
{
	if (work->list)
		TAILQ_REMOVE(work->list, work, link);
	TAILQ_INSERT_TAIL(list, work, link);
	work->worker = worker;
	work->list = list;
}

static void remove_work(struct work *work)
{
	TAILQ_REMOVE(work->list, work, link);
	work->worker = NULL;
	work->list = NULL;
}

/* --- a user's thread --- */

static void do_work(struct worker *worker, struct work *work)
{
	bool urgent = work->list == &worker->urgent, gone = work->gone;
	struct calls *calls = worker->calls;
	struct call_ref ref = work->ref;
	struct caller *caller;

	remove_work(work);
	pthread_mutex_unlock(&calls->lock);
	caller = calls_caller(calls, &ref);
	if (caller && gone)
		calls_release(calls, caller);
	else if (caller && !urgent)
		calls_copy(calls, caller);
	pthread_mutex_lock(&calls->lock);
	/* The process was only opened while it existed; its copy comes in due order. */
	if (caller && urgent && !gone)
		worker_mark(calls, &ref, false);
}

static void do_job(struct worker *worker, struct job *job)
{
	struct calls *calls = worker->calls;
	struct worker *other;

	STAILQ_REMOVE_HEAD(&worker->jobs, link);
	worker->nr_jobs--;
	worker->current = job;
	pthread_mutex_unlock(&calls->lock);
	other = job->run(job, calls->ending ? NULL : worker);
	pthread_mutex_lock(&calls->lock);
	worker->current = NULL;
	worker->pid = 0;
	if (other && !worker_enqueue(other, job))
		return;
	if (other) {
		pthread_mutex_unlock(&calls->lock);
		job->run(job, NULL);
		pthread_mutex_lock(&calls->lock);
	}
	free(job);
}

/*
 * Urgent work comes first, then requests, then copies, so that a request waits for at most one
 * copy.
 */
static void do_next(struct worker *worker)
{
	worker->busy = true;
	worker->moved_ns = monotonic_ns();
	if (!TAILQ_EMPTY(&worker->urgent))
		do_work(worker, TAILQ_FIRST(&worker->urgent));
	else if (!STAILQ_EMPTY(&worker->jobs))
		do_job(worker, STAILQ_FIRST(&worker->jobs));
	else
		do_work(worker, TAILQ_FIRST(&worker->due));
	worker->busy = worker->stuck = false;
}

/* False: no work for some time. */
static bool await_work(struct worker *worker)
{
	struct timespec until;

	if (!worker_is_idle(worker))
		return true;
	/* Its work may have changed what is due, and nobody must check this worker now. */
	calls_set_timer(worker->calls);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	while (worker_is_idle(worker) && !worker->calls->ending)
		if (pthread_cond_timedwait(&worker->wake, &worker->calls->lock, &until))
			break;
	return !worker_is_idle(worker);
}

static void *serve_user(void *argument)
{
	struct worker *worker = argument;
	struct calls *calls = worker->calls;

	LOCK_SCOPE(&calls->lock);
	worker->tid = gettid();
	while (await_work(worker))
		do_next(worker);
	worker->running = false;
	worker->tid = 0;
	pthread_cond_signal(&calls->ended);
	return NULL;
}

/* The main thread handles signals. */
static int start_worker(struct worker *worker)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int ret;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&worker->thread, &attributes, serve_user, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	worker->running = !ret;
	return ret ? -EAGAIN : 0;
}

static int wake_worker(struct worker *worker)
{
	if (!worker->running)
		return start_worker(worker);
	pthread_cond_signal(&worker->wake);
	return 0;
}

/* --- the main thread --- */

int worker_enqueue(struct worker *worker, struct job *job)
{
	if (worker->nr_jobs >= JOBS_MAX || wake_worker(worker))
		return -EAGAIN;
	STAILQ_INSERT_TAIL(&worker->jobs, job, link);
	worker->nr_jobs++;
	if (worker->stuck)
		job->give_up(job);
	return 0;
}

void worker_mark(struct calls *calls, const struct call_ref *ref, bool gone)
{
	struct worker *worker = worker_of_call(calls, ref);
	struct work *work;

	if (!worker)
		return;
	work = &calls->work[ref->slot];
	work->gone = gone || (work->list && work->gone && work->ref.serial == ref->serial);
	work->ref = *ref;
	if (work->gone || !calls->callers[ref->slot]) {
		put_work(worker, &worker->urgent, work);
		wake_worker(worker);
	} else if (work->worker != worker) {
		put_work(worker, &worker->dirty, work);
	}
}

void workers_copy(struct calls *calls)
{
	struct worker *worker;
	struct work *work;

	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++) {
		while ((work = TAILQ_FIRST(&worker->dirty)))
			put_work(worker, &worker->due, work);
		if (!worker_is_idle(worker))
			wake_worker(worker);
	}
}

/* The thread is runnable but has no CPU. */
static bool lacks_cpu(const struct worker *worker)
{
	char path[64], line[256];
	const char *state;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", worker->tid);
	if (!worker->tid)
		return true;
	if (read_first_line(path, line, sizeof(line)) < 0)
		return false;
	state = strrchr(line, ')');
	return state && !strncmp(state, ") R", 3);
}

/* How long a busy thread has made no progress: it waits for something that is not ours. */
static uint64_t still_ns(struct worker *worker, uint64_t now)
{
	struct timespec used;
	uint64_t cpu_ns;
	clockid_t clock;

	if (!worker->running || !worker->busy || pthread_getcpuclockid(worker->thread, &clock) ||
	    clock_gettime(clock, &used))
		return 0;
	cpu_ns = (uint64_t)used.tv_sec * 1000 * MS + (uint64_t)used.tv_nsec;
	if (cpu_ns != worker->cpu_ns || (now - worker->moved_ns > END_NS && lacks_cpu(worker))) {
		worker->cpu_ns = cpu_ns;
		worker->moved_ns = now;
	}
	return now > worker->moved_ns ? now - worker->moved_ns : 0;
}

static void end_calls(struct calls *calls, const struct worker *worker)
{
	uint32_t slot;

	for (slot = 0; slot < calls->engine.nr_calls; slot++) {
		struct call *call = &calls->engine.calls[slot];
		const struct call_ref ref = { slot, call->serial };

		if (call->phase != CALL_ON || worker_of_call(calls, &ref) != worker)
			continue;
		call->stop = CALL_STOP_FAULT;
		call_engine_switch_off(&calls->engine, call);
	}
}

static void give_up(struct worker *worker)
{
	struct job *job;

	worker->stuck = true;
	if (worker->calls->options.stuck)
		worker->calls->options.stuck(worker->uid);
	if (worker->current)
		worker->current->give_up(worker->current);
	STAILQ_FOREACH(job, &worker->jobs, link)
		job->give_up(job);
}

/*
 * If this process was stopped, or had no CPU, its threads had none either. Therefore reset their
 * times.
 */
static void forgive(struct calls *calls, uint64_t now)
{
	struct worker *worker;

	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++)
		if (!worker->stuck)
			worker->moved_ns = now;
}

void workers_check(struct calls *calls)
{
	uint64_t now = monotonic_ns();
	struct worker *worker;

	if (now - calls->checked_ns > STUCK_NS / 2)
		forgive(calls, now);
	calls->checked_ns = now;
	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++) {
		if (still_ns(worker, now) < STUCK_NS)
			continue;
		if (!worker->stuck)
			give_up(worker);
		/* Also ends calls of children that were forked meanwhile. */
		end_calls(calls, worker);
	}
}

/* Counts the remaining workers with progress, and those without. */
static void count_running(struct calls *calls, uint32_t *moving, uint32_t *still)
{
	uint64_t now = monotonic_ns();
	struct worker *worker;

	*moving = *still = 0;
	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++) {
		if (!worker->running)
			continue;
		if (still_ns(worker, now) < END_NS)
			++*moving;
		else
			++*still;
	}
}

bool workers_end(struct calls *calls)
{
	uint32_t slot, moving, still;
	struct worker *worker;
	const uint64_t last = monotonic_ns() + END_MOST_NS;
	struct timespec until;

	calls->ending = true;
	for (slot = 0; slot < calls->engine.nr_calls; slot++) {
		const struct call_ref ref = { slot, calls->engine.calls[slot].serial };

		worker_mark(calls, &ref, true);
	}
	for (worker = calls->workers; worker < calls->workers + calls->nr_workers; worker++)
		pthread_cond_signal(&worker->wake);
	for (count_running(calls, &moving, &still); moving && monotonic_ns() < last;
	     count_running(calls, &moving, &still)) {
		until = timespec_of(monotonic_ns() + END_LOOK_NS);
		pthread_cond_timedwait(&calls->ended, &calls->lock, &until);
	}
	return !still && !moving;
}
