// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/cost/cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session.h"
#include "shared/lateness.h"

#include "lateness.skel.h"

#define HZ 997
#define PERIOD_NS (1000000000 / HZ)
#define MEMORY (1 << 20)
#define BURST_SECONDS 0.6

static const struct burst_share kinds[BURST_KINDS] = {
	{ .on_us = 20, .off_us = 50 },
	{ .on_us = 50, .off_us = 100 },
	{ .on_us = 100, .off_us = 100 },
};

/* The address of a kernel function. 0: the kernel hides it or does not have it. */
static uint64_t kernel_function(const char *name)
{
	cleanup_file FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[512], word[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %*c %255s", &address, word) == 2 && !strcmp(word, name))
			return address;
	return 0;
}

struct lateness_watch {
	struct lateness_bpf *skel;
	uint64_t *served;
};

#define SERVED_BYTES (LATENESS_BINS * sizeof(uint64_t))

static void watch_end(struct lateness_watch *watch)
{
	if (watch->served)
		munmap(watch->served, SERVED_BYTES);
	lateness_bpf__destroy(watch->skel);
	*watch = (struct lateness_watch){ 0 };
}

static int watch_load(struct lateness_watch *watch)
{
	uint64_t function = kernel_function("perf_swevent_hrtimer");
	struct programs_file file;
	int ret = function ? programs_open(&file, NULL) : -ENOENT;

	if (ret)
		return ret;
	watch->skel = lateness_bpf__open_opts(&file.opts);
	if (watch->skel) {
		watch->skel->rodata->clock_function = function;
		ret = programs_find_types(&file, watch->skel->obj, NULL) ?:
			      programs_load(&file, watch->skel->skeleton, NULL);
	}
	programs_close(&file);
	if (!watch->skel)
		return -ENOMEM;
	return ret ?: programs_attach(watch->skel->skeleton);
}

/* Without the watch lateness is unknown, but bursts can still be measured. */
static void watch_begin(struct lateness_watch *watch)
{
	void *served;

	*watch = (struct lateness_watch){ 0 };
	if (watch_load(watch)) {
		watch_end(watch);
		return;
	}
	served = mmap(NULL, SERVED_BYTES, PROT_READ, MAP_SHARED,
		      bpf_map__fd(watch->skel->maps.served), 0);
	if (served == MAP_FAILED)
		watch_end(watch);
	else
		watch->served = served;
}

static double quantile_ns(const uint64_t *served, uint64_t ticks, double part)
{
	double wanted = part * (double)ticks, below = 0;
	size_t bin;

	for (bin = 0; bin + 1 < LATENESS_BINS && below + (double)served[bin] < wanted; bin++)
		below += (double)served[bin];
	return ((double)bin + 0.5) * LATENESS_BIN_NS;
}

static void watch_read(const struct lateness_watch *watch, struct lateness *result)
{
	size_t bin;

	for (bin = 0; watch->served && bin < LATENESS_BINS; bin++)
		result->ticks += watch->served[bin];
	if (!result->ticks)
		return;
	result->median_ns = quantile_ns(watch->served, result->ticks, 0.5);
	result->p99_ns = quantile_ns(watch->served, result->ticks, 0.99);
}

static void spin_for(uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end)
		;
}

struct burster {
	const struct burst_share *kind;
	uint64_t cpu_ns;
};

static void *come_and_go(void *arg)
{
	struct burster *burster = arg;
	struct timespec off = { .tv_nsec = (long)burster->kind->off_us * 1000 };
	uint64_t end = monotonic_ns() + (uint64_t)(BURST_SECONDS * 1e9), from = thread_cpu_ns();

	while (monotonic_ns() < end) {
		spin_for(burster->kind->on_us * 1000ULL);
		nanosleep(&off, NULL);
	}
	burster->cpu_ns = thread_cpu_ns() - from;
	return NULL;
}

static int measure_kind(struct session *session, const struct burst_share *kind, double *result,
			struct error *err)
{
	struct burster burster = { .kind = kind };
	struct session_live before, after;
	pthread_t thread;
	int ret = session_resume(session, PERIOD_NS, err);

	if (ret)
		return ret;
	session_live(session, &before);
	ret = pthread_create(&thread, NULL, come_and_go, &burster);
	if (!ret)
		pthread_join(thread, NULL);
	session_pause(session);
	session_live(session, &after);
	if (ret)
		return error_errno(err, -ret, "starting a thread");
	*result = (double)(after.total - before.total) * PERIOD_NS / (double)burster.cpu_ns;
	return 0;
}

static int open_lateness_session(struct session **result, struct error *err)
{
	const struct target target = { .kind = TARGET_PID, .name = "lateness", .pid = getpid() };
	const struct session_options options = {
		.source = SOURCE_CLOCK,
		.period_ns = PERIOD_NS,
		.requested_hz = HZ,
		.mode = MODE_AT_USER_PC,
		.memory = MEMORY,
		.unweighted = true,
		.targets = &target,
		.nr_targets = 1,
	};
	int ret = session_open(&options, result, err);

	if (!ret)
		ret = session_start(*result, err);
	if (!ret)
		session_pause(*result);
	return ret;
}

int lateness_measure(struct lateness *result, struct error *err)
{
	struct session *session = NULL;
	struct lateness_watch watch;
	int ret, i;

	*result = (struct lateness){ 0 };
	memcpy(result->bursts, kinds, sizeof(kinds));
	ret = open_lateness_session(&session, err);
	watch_begin(&watch);
	for (i = 0; !ret && i < BURST_KINDS; i++)
		ret = measure_kind(session, &kinds[i], &result->bursts[i].seen, err);
	if (!ret)
		watch_read(&watch, result);
	watch_end(&watch);
	session_close(session);
	return ret;
}
