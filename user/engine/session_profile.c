// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bpfprofil/version.h"
#include "engine/session_impl.h"
#include "engine/snapshot.h"

static int out_of_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "profile: out of memory");
}

static struct counted counted_of(const struct session *session)
{
	return (struct counted){
		.pool = &session->pool,
		.xlat = session->xlat.at,
		.nr_sets = (size_t)session->nr_cpus * XLAT_SETS,
		.cpus = session->cpu_accounts.at,
		.nr_cpus = session->nr_cpus,
		.targets = session->target_accounts.at,
		.nr_targets = session->nr_targets,
		.windows_fd = bpf_map__fd(session->skel->maps.windows),
		.carries_fd = bpf_map__fd(session->skel->maps.carries),
	};
}

static uint64_t elapsed_ns(const struct session *session)
{
	struct timespec now;

	if (session->stop_ns)
		return session->stop_ns - session->start_ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec - session->start_ns;
}

/* "2026-11-21T07:30:00Z" */
static char *rfc3339(time_t when)
{
	struct tm tm;
	char text[32];

	if (!gmtime_r(&when, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return strdup(text);
}

static int fill_host(struct profile *profile)
{
	struct utsname uts;

	if (uname(&uts))
		memset(&uts, 0, sizeof(uts));
	profile->host.kernel = strdup(uts.release);
	profile->host.arch = strdup(uts.machine);
	profile->host.name = strdup(uts.nodename);
	profile->host.cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return profile->host.kernel && profile->host.arch && profile->host.name ? 0 : -ENOMEM;
}

static int fill_head(const struct session *session, struct profile *profile, struct error *err)
{
	static const char *const modes[] = { "charged", "user", "split" };
	struct profile_sampling *sampling = &profile->sampling;

	profile->tool = strdup(BPFPROFIL_VERSION);
	profile->started = rfc3339(session->started);
	profile->duration_ns = elapsed_ns(session);
	profile->complete = session->stop_ns != 0;
	sampling->source = strdup("clock");
	sampling->mode = strdup(modes[session->options.mode]);
	sampling->period_ns = session->options.period_ns;
	sampling->requested_hz = session->options.requested_hz;
	if (!profile->tool || !profile->started || !sampling->source || !sampling->mode ||
	    fill_host(profile))
		return out_of_memory(err);
	return 0;
}

/* The sum of one target's bins. */
static uint64_t binned(const struct profile *profile, uint32_t target)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++)
		if (profile->histograms[i].target == target)
			ticks += profile_histogram_ticks(&profile->histograms[i]);
	return ticks;
}

/* A tick belongs to one target, so the whole account is the sum of theirs. */
static int sum_targets(struct profile *profile, struct error *err)
{
	struct profile_account *sum = &profile->ticks;
	size_t i, cause;

	sum->lost = calloc(LOST_CAUSE_COUNT, sizeof(*sum->lost));
	if (!sum->lost)
		return out_of_memory(err);
	sum->nr_lost = LOST_CAUSE_COUNT;
	for (cause = 0; cause < LOST_CAUSE_COUNT; cause++) {
		sum->lost[cause].cause = strdup(lost_cause_name(cause));
		if (!sum->lost[cause].cause)
			return out_of_memory(err);
	}
	for (i = 0; i < profile->nr_targets; i++) {
		const struct profile_account *ticks = &profile->targets[i].ticks;

		sum->total += ticks->total;
		sum->binned += ticks->binned;
		sum->outside += ticks->outside;
		sum->filtered += ticks->filtered;
		for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
			sum->lost[cause].ticks += ticks->lost[cause].ticks;
	}
	return 0;
}

static int fill_targets(const struct session *session, const struct counted *counted,
			struct profile *profile, struct error *err)
{
	uint32_t i;
	int ret;

	profile->targets = calloc(session->nr_targets + 1, sizeof(*profile->targets));
	if (!profile->targets)
		return out_of_memory(err);
	for (i = 0; i < session->nr_targets; i++) {
		struct profile_target *target = &profile->targets[profile->nr_targets++];

		target->kind = strdup(session->targets[i].kind);
		target->name = strdup(session->targets[i].name);
		if (!target->kind || !target->name)
			return out_of_memory(err);
		ret = snapshot_account(counted, i, session->sampler.withheld, &target->ticks, err);
		if (ret)
			return ret;
		target->ticks.binned = binned(profile, i);
	}
	return sum_targets(profile, err);
}

__attribute__((format(printf, 2, 3))) static int add_note(struct profile *profile,
							  const char *format, ...)
{
	char **notes = realloc(profile->notes, (profile->nr_notes + 1) * sizeof(*notes));
	va_list args;
	int ret;

	if (!notes)
		return -ENOMEM;
	profile->notes = notes;
	va_start(args, format);
	ret = vasprintf(&notes[profile->nr_notes], format, args);
	va_end(args);
	if (ret < 0)
		return -ENOMEM;
	profile->nr_notes++;
	return 0;
}

static int fill_notes(const struct session *session, const struct counted *counted,
		      struct profile *profile, struct error *err)
{
	uint64_t coarse = 0, missed = 0;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < session->nr_targets; i++) {
		coarse += counted->targets[i].coarse;
		missed += counted->targets[i].forks_missed;
	}
	if (coarse)
		ret = add_note(profile,
			       "%llu ticks are in bins of %u bytes: the %llu KiB of --memory were "
			       "in use",
			       (unsigned long long)coarse,
			       1U << bin_coarser(session->options.bin_shift),
			       (unsigned long long)session->options.memory / 1024);
	if (missed && !ret)
		ret = add_note(profile, "%llu children could not be followed: out of memory",
			       (unsigned long long)missed);
	if (session->sampler.withheld && !ret)
		ret = add_note(profile,
			       "the kernel withheld %llu ticks, of whichever process: "
			       "see kernel.perf_event_max_sample_rate",
			       (unsigned long long)session->sampler.withheld);
	return ret ? out_of_memory(err) : 0;
}

int session_profile(struct session *session, struct profile **ret, struct error *err)
{
	struct counted counted = counted_of(session);
	struct profile *profile = profile_new();
	int failed;

	if (!profile)
		return out_of_memory(err);
	free(session->sources);
	session->sources = NULL;
	session->nr_sources = 0;
	failed = fill_head(session, profile, err);
	if (!failed)
		failed = snapshot_histograms(&counted, &session->spaces, profile, &session->sources,
					     err);
	if (!failed)
		failed = fill_targets(session, &counted, profile, err);
	if (!failed)
		failed = fill_notes(session, &counted, profile, err);
	if (failed) {
		profile_free(profile);
		return failed;
	}
	session->nr_sources = profile->nr_objects;
	*ret = profile;
	return 0;
}

int session_open_object(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct session *session = ctx;
	const struct space_info *info;
	int fd;

	if (root_size)
		root[0] = '\0';
	info = object < session->nr_sources ? session->sources[object] : NULL;
	if (!info)
		return -ENOENT;
	if (info->space.kind != SPACE_FILE)
		return space_open_perf_map(info);
	if (info->fd < 0)
		return -ENOENT;
	if (info->root_fd >= 0)
		snprintf(root, root_size, "/proc/self/fd/%d", info->root_fd);
	fd = dup(info->fd);
	return fd < 0 ? -errno : fd;
}

void session_live(struct session *session, struct session_live *ret)
{
	struct counted counted = counted_of(session);
	size_t i, cause;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < counted.nr_targets; i++) {
		ret->total += snapshot_ticks(&counted, i);
		for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
			ret->lost += counted.targets[i].lost[cause];
	}
	for (i = 0; i < counted.nr_cpus; i++) {
		ret->misses += counted.cpus[i].misses;
		ret->renewed += counted.cpus[i].renewed;
	}
	ret->hits = ret->total > ret->misses ? ret->total - ret->misses : 0;
	ret->memory = pool_bytes(&session->pool);
	ret->elapsed_ns = elapsed_ns(session);
}
