// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/util.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/sched_tick.h"
#include "host/engine/session_impl.h"
#include "host/engine/store_profile.h"
#include "profile/profile_head.h"

/* With the tick as the source: notes the CPUs that the clock samples instead. */
static int note_tickless(struct profile *profile)
{
	char list[8192];

	sched_tick_list_tickless(list, sizeof(list));
	return *list ? profile_note(profile,
				    "CPUs %s have no scheduler's tick (nohz_full) and were sampled "
				    "by the clock",
				    list) :
		       0;
}

/* With --duty a tick also stands for those that were skipped. */
static int fill_rate(const struct session *session, struct profile *profile)
{
	const struct session_options *options = &session->options;
	double share = options->duty_percent > 0 ? options->duty_percent / 100 : 1;

	if (profile_fill_sampling(profile, tick_source_words[options->source],
				  tick_mode_words[options->mode],
				  (uint64_t)llround((double)options->period_ns / share),
				  options->requested_hz * share))
		return -ENOMEM;
	if (!(options->duty_percent > 0))
		return 0;
	profile->sampling.duty_percent = options->duty_percent;
	profile->sampling.sampled_ns = (uint64_t)(share * (double)profile->duration_ns);
	return 0;
}

int session_fill_head(const struct session *session, uint64_t until, struct wall_clock *ret_clock,
		      struct profile *profile, struct error *err)
{
	const struct session_options *options = &session->options;
	const struct wall_clock now = wall_clock_read();
	struct wall_clock change;
	struct timespec since;

	*ret_clock = session->times.clock;
	change = wall_clock_follow(ret_clock, &now);
	since = wall_clock_at(ret_clock, session->times.since_ns);
	profile->duration_ns = until - session->times.since_ns - session->times.since_idle_ns;
	if (profile_fill_head(profile, &since) || profile_note_clock(profile, &change) ||
	    fill_rate(session, profile) ||
	    (options->split != SPLIT_NONE &&
	     profile_fill_split(profile, split_words[options->split])) ||
	    (session->by_cgroup && profile_fill_hierarchy(profile, session->controller)) ||
	    (options->cpus && profile_fill_cpus(profile, options->cpus)) ||
	    (options->source == SOURCE_TICK && note_tickless(profile)))
		return error_no_memory(err, "profile");
	return 0;
}

/*
 * The total of a target. At the end it is an independent count less all earlier profiles. While
 * ticks fall, two counts cannot be read at the same moment, and the sum is used.
 */
static uint64_t total_ticks(const struct session *session, const struct counted *counted,
			    uint32_t target)
{
	if (!session->times.stop_ns)
		return tally_ticks(&counted->tallies[target]);
	return counted_ticks(counted, target) + session->targets[target].taken.withheld +
	       counted->tallies[target].withheld - tally_ticks(&session->targets[target].taken);
}

static const char *const kind_words[] = {
	[TARGET_COMMAND] = "command",
	[TARGET_PID] = "pid",
	[TARGET_CGROUP] = "cgroup",
	[TARGET_SYSTEM] = "system",
};

static uint64_t target_cpu_ns(const struct session *session, const struct counted *counted,
			      uint32_t target)
{
	return counted->tallies[target].cpu_ns + session_split_ns(session, target);
}

/*
 * How many ticks a target lacks, by the CPU time of all profiles. If that is unknown, withheld
 * samples are divided in proportion to ticks.
 */
static double lacking_ticks(const struct session *session, const struct counted *counted,
			    uint32_t target)
{
	const struct tally *taken = &session->targets[target].taken;
	double ticks = (double)counted_ticks(counted, target);
	double lacking = taken->due + counted->tallies[target].due - ticks;

	if (session->options.cpus)
		return ticks;
	lacking -= (double)taken->withheld;
	return lacking > 0 ? lacking : 0;
}

/*
 * The kernel does not report whose samples it withheld. Later samples of the same threads stand for
 * them, because a thread's ticks add up to its CPU time. Therefore only the ticks that targets
 * still lack at the end are lost.
 */
static void bill_withheld(const struct session *session, const struct counted *counted,
			  const struct profile *profile)
{
	double withheld = session->times.stop_ns ? (double)session->sampler.withheld : 0;
	double lacking = 0, share;
	uint32_t i;

	for (i = 0; i < session->nr_targets; i++) {
		counted->tallies[i].due = (double)target_cpu_ns(session, counted, i) /
					  (double)profile->sampling.period_ns;
		withheld -= (double)session->targets[i].taken.withheld;
		lacking += lacking_ticks(session, counted, i);
	}
	if (withheld < 1 || !(lacking > 0))
		return;
	share = session->options.cpus || lacking > withheld ? withheld / lacking : 1;
	for (i = 0; i < session->nr_targets; i++)
		counted->tallies[i].withheld =
			(uint64_t)(lacking_ticks(session, counted, i) * share);
}

/*
 * These are read with the CPU time. If some belong to ticks that were not read yet, the next
 * profile gets them.
 */
static void fill_kernel(const struct counted *counted, uint32_t number,
			struct profile_target *target)
{
	const uint64_t ticks = counted->tallies[number].kernel, most = target->ticks.total;

	target->kernel_known = true;
	target->kernel_ticks = ticks < most ? ticks : most;
	if (counted->take && ticks > most)
		__atomic_fetch_add(&counted->targets[number].kernel, ticks - most,
				   __ATOMIC_RELAXED);
}

int session_name_targets(const struct session *session, struct profile *profile)
{
	const struct session_target *from = session->targets, *end = from + session->nr_targets;
	struct profile_target *to;

	profile->targets = calloc(session->nr_targets + 1, sizeof(*profile->targets));
	if (!profile->targets)
		return -ENOMEM;
	for (; from < end; from++) {
		to = &profile->targets[profile->nr_targets++];
		to->kind = strdup(kind_words[from->kind]);
		to->name = strdup(from->name);
		to->cgroup = from->cgroup ? strdup(from->cgroup) : NULL;
		if (!to->kind || !to->name || !to->cgroup != !from->cgroup)
			return -ENOMEM;
	}
	return 0;
}

static int fill_targets(const struct session *session, const struct counted *counted,
			struct profile *profile)
{
	uint32_t i;

	if (session_name_targets(session, profile))
		return -ENOMEM;
	for (i = 0; i < session->nr_targets; i++) {
		struct profile_target *target = &profile->targets[i];

		if (tally_account(&counted->tallies[i], total_ticks(session, counted, i),
				  &target->ticks))
			return -ENOMEM;
		target->excess = counted->tallies[i].excess;
		fill_kernel(counted, i, target);
		target->cpu_known = !session->options.cpus;
		if (target->cpu_known)
			target->cpu_ns = target_cpu_ns(session, counted, i);
	}
	return profile_sum_targets(profile);
}

/* Ticks by CPU, for CPUs that have ticks or are online. */
static int fill_delivered(const struct session *session, const struct counted *counted,
			  struct profile *profile)
{
	struct profile_sampling *sampling = &profile->sampling;
	uint64_t ticks;
	uint32_t cpu;

	sampling->delivered = calloc(session->nr_cpus, sizeof(*sampling->delivered));
	if (!sampling->delivered)
		return -ENOMEM;
	for (cpu = 0; cpu < session->nr_cpus; cpu++) {
		ticks = counted_delivered(counted, cpu);
		if (ticks > session->delivered[cpu])
			sampling->delivered[cpu] = ticks - session->delivered[cpu];
		if (counted->take)
			session->delivered[cpu] += sampling->delivered[cpu];
		if (sampling->delivered[cpu] || cpu < profile->host.cpus)
			sampling->nr_delivered = cpu + 1;
	}
	return 0;
}

/* A value of --memory with room for more, in MiB. */
static unsigned long long more_memory(const struct session *session)
{
	const unsigned long long mib = session->options.memory >> 20;

	return mib < 64 ? 64 : 8 * mib;
}

/* A note about ticks that lack something, because --memory had no room for it. */
#define note_no_room(session, profile, ticks_lack, room, ...)                                      \
	profile_note(profile,                                                                      \
		     ticks_lack ", because --memory %lluK had no room for " room                   \
				"; --memory %lluM has room for more",                              \
		     __VA_ARGS__, (unsigned long long)(session)->options.memory / 1024,            \
		     more_memory(session))

/* Coarse bins are of two widths, unless the finer of them is the widest that there is. */
static int note_coarse(const struct session *session, const struct tally *sum,
		       struct profile *profile)
{
	unsigned int coarser = 1U << bin_coarser(session->options.bin_shift);
	char widest[80] = "";
	uint64_t finer = sum->coarse - sum->widest;

	if (!finer)
		coarser = 1U << BIN_SHIFT_MAX;
	if (coarser == 1U << BIN_SHIFT_MAX)
		finer = sum->coarse;
	else if (sum->widest)
		snprintf(widest, sizeof(widest), " and %llu in bins of %u bytes",
			 (unsigned long long)sum->widest, 1U << BIN_SHIFT_MAX);
	return note_no_room(session, profile, "%llu ticks are in bins of %u bytes%s",
			    "their places", (unsigned long long)finer, coarser, widest);
}

static int note_unknown(const struct session *session, const struct tally *sum,
			struct profile *profile)
{
	static const char *const names[] = { [SPLIT_PROCESS] = "process",
					     [SPLIT_THREAD] = "thread",
					     [SPLIT_CGROUP] = "cgroup" };

	return note_no_room(session, profile, "the %s of %llu ticks is unknown", "more of them",
			    names[session->options.split], (unsigned long long)sum->unknown);
}

/* Chains that found no room get a note if at least this share of the ticks with callers is affected. */
enum { FULL_PERCENT = 1 };

static int note_full_chains(const struct session *session, struct profile *profile)
{
	struct callers_account walks;
	uint64_t all = 0;
	size_t i;

	if (profile_callers_account(profile, PROFILE_ALL_TARGETS, &walks))
		return -ENOMEM;
	for (i = 0; i < WALK_END_COUNT; i++)
		all += walks.ticks[i];
	if (!walks.ticks[END_FULL] || walks.ticks[END_FULL] < all / 100 * FULL_PERCENT)
		return 0;
	return profile_note(profile,
			    "%llu ticks lack callers, because what --memory has for callers was "
			    "full; --memory %lluM has room for more",
			    (unsigned long long)walks.ticks[END_FULL], more_memory(session));
}

static int fill_notes(const struct session *session, const struct counted *counted,
		      const struct seen_names *names, struct profile *profile)
{
	struct tally sum = {};
	uint32_t i;

	for (i = 0; i < session->nr_targets; i++)
		tally_add(&sum, &counted->tallies[i]);
	if ((sum.coarse && note_coarse(session, &sum, profile)) ||
	    (sum.unknown && note_unknown(session, &sum, profile)) ||
	    (sum.no_text &&
	     note_no_room(session, profile, "%llu ticks are in [anon]", "their files or processes",
			  (unsigned long long)sum.no_text)) ||
	    note_full_chains(session, profile))
		return -ENOMEM;
	if (session->added_up &&
	    profile_note(
		    profile,
		    "%zu %s that had ended are distinguished by name only: there were more than "
		    "--memory has room for",
		    session->added_up,
		    session->options.split == SPLIT_THREAD ? "threads" : "processes"))
		return -ENOMEM;
	if (sum.forks_missed &&
	    profile_note(profile, "%llu children could not be followed: out of memory",
			 (unsigned long long)sum.forks_missed))
		return -ENOMEM;
	if (names->nr_nameless &&
	    profile_note(profile,
			 "%zu names are missing: new text or processes came faster than they could "
			 "be looked at",
			 names->nr_nameless))
		return -ENOMEM;
	if (session->times.stop_ns && session->sampler.withheld &&
	    profile_note(profile,
			 "the kernel withheld %llu samples; later ones stand for their time, but "
			 "for ticks that are lost as throttled: see "
			 "kernel.perf_event_max_sample_rate",
			 (unsigned long long)session->sampler.withheld))
		return -ENOMEM;
	return 0;
}

/* Reads what was counted outside of bins. Delayed ticks are lost only at the end. */
static void read_accounts(const struct session *session, const struct counted *counted)
{
	uint32_t i;

	for (i = 0; i < session->nr_targets; i++) {
		counted_account(counted, i);
		if (session->times.stop_ns)
			counted_pending(counted, i);
	}
}

/* It is no failure if the kernel has no modules or hides them. */
static int read_modules(const struct session *session, struct kernel_modules *modules,
			struct error *err)
{
	cleanup_file FILE *file = NULL;

	if (session->options.mode != MODE_KERNEL_APART)
		return 0;
	file = fopen("/proc/modules", "re");
	return file ? kernel_modules_parse(file, modules, err) : 0;
}

static int fill_all(struct session *session, const struct counted *counted,
		    struct seen_names *names, struct profile *profile)
{
	if (session_note_jit(session, names, profile))
		return -ENOMEM;
	read_accounts(session, counted);
	session_reread_runtime(session);
	bill_withheld(session, counted, profile);
	if (fill_targets(session, counted, profile) ||
	    session_fill_splits(session, counted, names->split_ids, profile) ||
	    fill_delivered(session, counted, profile) ||
	    fill_notes(session, counted, names, profile))
		return -ENOMEM;
	return 0;
}

int session_fill(struct session *session, const struct counted *counted, struct profile *profile,
		 struct error *err)
{
	struct seen_names names = {
		.spaces = &session->spaces,
		.splits = &session->splits,
		.split = session->options.split,
	};
	struct kernel_modules modules = {};
	const struct store_fill_request request = {
		.names = &names,
		.tallies = counted->tallies,
		.modules = &modules,
		.callers = session->options.callers,
		.waits = session->options.waits ? &session->waits.accounts : NULL,
	};
	int ret;

	spaces_sort(&session->spaces);
	split_names_sort(&session->splits);
	ret = read_modules(session, &modules, err);
	if (!ret)
		ret = store_fill(session->store, &request, profile, err);
	kernel_modules_free(&modules);
	if (!ret && session->waits.dropped &&
	    profile_note(profile, "where threads waited is not known for a part of the time: "
				  "--memory had no room for it"))
		ret = error_no_memory(err, "profile");
	if (!ret && fill_all(session, counted, &names, profile))
		ret = error_no_memory(err, "profile");
	free(names.split_ids);
	session->sources = names.sources;
	session->nr_sources = profile->nr_objects;
	return ret;
}

static int duplicate(int fd)
{
	const int copy = dup(fd);

	return copy < 0 ? -errno : copy;
}

/* Opens the map that was followed, because the file may have been removed since. */
static int open_perf_map(const struct space_info *info)
{
	if (!info->jit || !info->jit->map)
		return info->far ? -ENOENT : space_open_perf_map(info);
	return duplicate(jit_map_fd(info->jit->map));
}

/* NULL: the last profile has no such object, or it was never announced. */
static const struct space_info *source_of(const struct session *session, uint32_t object)
{
	if (object >= session->nr_sources || session->sources[object] == NO_SOURCE)
		return NULL;
	return &session->spaces.list[session->sources[object]];
}

/* The root below which its debug files are; NULL: out of memory. */
static char *find_root(const struct space_info *info)
{
	char dir[FD_PATH] = "", root[PATH_MAX];

	if (info->space.kind == SPACE_FILE && info->root_fd >= 0)
		fd_path(info->root_fd, dir);
	if (info->space.kind != SPACE_FILE || !info->far)
		return strdup(dir);
	opener_root(info->owner, *dir ? dir : "/", root, sizeof(root));
	return strdup(root);
}

int session_open_source(const struct session *session, uint32_t object,
			struct session_source *result)
{
	const struct space_info *info = source_of(session, object);

	*result =
		(struct session_source){ .fd = -ENOENT, .places_fd = -ENOENT, .limit = UINT64_MAX };
	if (!info)
		return 0;
	if (info->jit) {
		result->limit = info->jit->limit;
		result->places_fd = jit_text_open_places(info->jit);
	}
	result->owner = info->owner;
	result->far = info->far && info->space.kind == SPACE_FILE;
	if (info->space.kind != SPACE_FILE)
		result->fd = open_perf_map(info);
	else if (info->fd >= 0)
		result->fd = duplicate(info->fd);
	result->root = find_root(info);
	return result->root ? 0 : -ENOMEM;
}

void session_close_source(struct session_source *source)
{
	close_fd(&source->fd);
	close_fd(&source->places_fd);
	free(source->root);
}

void session_live(struct session *session, struct session_live *result)
{
	struct counted counted = session_counted(session);
	size_t i, cause;

	memset(result, 0, sizeof(*result));
	for (i = 0; i < counted.nr_targets; i++) {
		result->total += counted_ticks(&counted, i);
		for (cause = 0; cause < LOST_CAUSE_COUNT; cause++)
			result->lost += session->targets[i].taken.lost[cause] +
					counted.targets[i].lost[cause];
	}
	for (i = 0; i < counted.nr_cpus; i++)
		result->misses += counted.cpus[i].misses;
	result->hits = result->total > result->misses ? result->total - result->misses : 0;
	result->memory = session_bytes(session);
	result->elapsed_ns =
		session_until_ns(session) - session->times.start_ns - session->times.idle_ns;
}
