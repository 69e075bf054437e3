// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_head.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/util.h"
#include "bpfprofil/version.h"
#include "profile/profile_notes.h"

#define JITTER_NS 1000000

static int64_t read_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* Reads one clock after another. If that took long, as on a busy CPU, reads them again. */
struct wall_clock wall_clock_read(void)
{
	int64_t before, boot, real;
	unsigned int tries = 0;

	do {
		before = (int64_t)monotonic_ns();
		boot = read_clock(CLOCK_BOOTTIME);
		real = read_clock(CLOCK_REALTIME);
	} while ((int64_t)monotonic_ns() - before > JITTER_NS && ++tries < 10);
	return (struct wall_clock){ .real_ns = real - boot, .asleep_ns = boot - before };
}

struct timespec wall_clock_at(const struct wall_clock *clock, uint64_t at_ns)
{
	int64_t ns = (int64_t)at_ns + clock->asleep_ns + clock->real_ns;
	int64_t rest = (ns % SECOND_NS + SECOND_NS) % SECOND_NS;

	return (struct timespec){ .tv_sec = (ns - rest) / SECOND_NS, .tv_nsec = rest };
}

/*
 * Ignores differences within the error of two readings. Otherwise a profile would not end where the
 * next one begins, and its start could differ from its file's name.
 */
static int64_t follow(int64_t *offset, int64_t now)
{
	int64_t change = now - *offset;

	if (llabs(change) <= JITTER_NS)
		return 0;
	*offset = now;
	return llabs(change) > SECOND_NS ? change : 0;
}

struct wall_clock wall_clock_follow(struct wall_clock *clock, const struct wall_clock *now)
{
	struct wall_clock change;

	change.real_ns = follow(&clock->real_ns, now->real_ns);
	change.asleep_ns = follow(&clock->asleep_ns, now->asleep_ns);
	return change;
}

/*
 * "2026-11-21T07:30:00.125Z": with milliseconds, because a service may make several profiles in a
 * second.
 */
static char *rfc3339(const struct timespec *when)
{
	struct tm tm;
	char text[32];

	if (!gmtime_r(&when->tv_sec, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return NULL;
	return format_text("%s.%03ldZ", text, when->tv_nsec / 1000000);
}

int64_t profile_seconds(const char *text, const char **fraction)
{
	struct tm tm = { 0 };
	const char *zone = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours, minutes;
	int64_t seconds;

	*fraction = "";
	if (!zone)
		return 0;
	seconds = timegm(&tm);
	*fraction = *zone == '.' ? zone + 1 : zone;
	zone = *fraction + strspn(*fraction, "0123456789");
	if ((*zone == '+' || *zone == '-') && sscanf(zone + 1, "%2d:%2d", &hours, &minutes) == 2)
		seconds -= (*zone == '-' ? -60 : 60) * (hours * 60 + minutes);
	return seconds;
}

/* Compares digits after the point: 5 is above 49, and equal to 50. */
static int compare_fractions(const char *a, const char *b)
{
	size_t i, nr_a = strspn(a, "0123456789"), nr_b = strspn(b, "0123456789");
	char x, y;

	for (i = 0; i < nr_a || i < nr_b; i++) {
		x = i < nr_a ? a[i] : '0';
		y = i < nr_b ? b[i] : '0';
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int profile_compare_times(const char *a, const char *b)
{
	const char *fraction_a, *fraction_b;
	int64_t x = profile_seconds(a, &fraction_a), y = profile_seconds(b, &fraction_b);

	return compare_i64(x, y) ?: compare_fractions(fraction_a, fraction_b) ?: strcmp(a, b);
}

int profile_fill_head(struct profile *profile, const struct timespec *started)
{
	struct utsname uts;

	if (uname(&uts))
		memset(&uts, 0, sizeof(uts));
	profile->tool = strdup(BPFPROFIL_VERSION);
	profile->started = rfc3339(started);
	profile->host.kernel = strdup(uts.release);
	profile->host.arch = strdup(uts.machine);
	profile->host.name = strdup(uts.nodename);
	profile->host.cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return profile->tool && profile->started && profile->host.kernel && profile->host.arch &&
			       profile->host.name ?
		       0 :
		       -ENOMEM;
}

int profile_set_started(struct profile *profile, const struct timespec *started)
{
	free(profile->started);
	profile->started = rfc3339(started);
	return profile->started ? 0 : -ENOMEM;
}

int profile_note_clock(struct profile *profile, const struct wall_clock *change)
{
	long long set = llround((double)change->real_ns / 1e9);
	long long asleep = llround((double)change->asleep_ns / 1e9);
	int ret = 0;

	if (set)
		ret = profile_note(profile,
				   "%s%lld s meanwhile: its times are by what it said last",
				   set < 0 ? NOTE_CLOCK_BACK : NOTE_CLOCK_FORWARD,
				   set < 0 ? -set : set);
	if (asleep && !ret)
		ret = profile_note(profile, NOTE_SUSPENDED "%lld s, which are in none of its times",
				   asleep);
	return ret;
}

int profile_fill_sampling(struct profile *profile, const char *source, const char *mode,
			  uint64_t period_ns, double requested_hz)
{
	struct profile_sampling *sampling = &profile->sampling;

	sampling->source = strdup(source);
	sampling->mode = strdup(mode);
	sampling->period_ns = period_ns;
	sampling->requested_hz = requested_hz;
	return sampling->source && sampling->mode ? 0 : -ENOMEM;
}

int profile_fill_split(struct profile *profile, const char *split)
{
	profile->sampling.split = strdup(split);
	return profile->sampling.split ? 0 : -ENOMEM;
}

int profile_fill_hierarchy(struct profile *profile, const char *controller)
{
	char **ret = &profile->sampling.hierarchy;

	*ret = controller ? format_text("v1:%s", controller) : strdup("v2");
	return *ret ? 0 : -ENOMEM;
}

int profile_fill_cpus(struct profile *profile, const char *list)
{
	profile->sampling.cpus = strdup(list);
	if (!profile->sampling.cpus)
		return -ENOMEM;
	return profile_note(profile,
			    NOTE_CPUS "%s %s %s sampled; CPU time is ticks times the period, for "
				      "the scheduler's accounts are of all CPUs",
			    strpbrk(list, ",-") ? "s" : "", list,
			    strpbrk(list, ",-") ? "were" : "was");
}

int profile_sum_targets(struct profile *profile)
{
	uint32_t i;
	int ret = 0;

	profile_account_free(&profile->ticks);
	profile->ticks = (struct profile_account){ 0 };
	profile_note_kinds(profile);
	for (i = 0; !ret && i < profile->nr_targets; i++)
		if (profile_target_counts(profile, i))
			ret = profile_account_add(&profile->ticks, &profile->targets[i].ticks);
	return ret;
}
