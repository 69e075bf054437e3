// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Chooses the ticks for an export by place, and their weights. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "export/export_impl.h"
#include "profile/profile_head.h"
#include "profile/profile_weights.h"
#include "naming/regions.h"

bool export_chosen(const struct profile *profile, const void *of,
		   const struct profile_histogram *histogram)
{
	const struct export_options *options = of;
	const struct profile_object *object = &profile->objects[histogram->object];

	/* An overflow bin counts ticks outside all regions, which have no place. */
	if (histogram->overflow ||
	    !profile_target_chosen(profile, options->target, histogram->target))
		return false;
	return !options->object || object_has_name(object, options->object);
}

int export_rows_begin(struct profile_rows *rows, const struct profile *profile,
		      const struct export_options *options, enum profile_rows_callers callers)
{
	const struct profile_choice choice = { export_chosen, options, callers };

	return profile_rows_begin(rows, profile, &choice);
}

uint64_t export_ticks(const struct profile *profile, const struct export_options *options,
		      uint32_t object)
{
	const struct profile_histogram *histogram;
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		histogram = &profile->histograms[i];
		if (histogram->object == object && export_chosen(profile, options, histogram))
			ticks += profile_histogram_ticks(histogram);
	}
	return ticks;
}

bool export_has_file(const struct profile *profile, const struct export_options *options,
		     uint32_t object)
{
	const struct profile_object *o = &profile->objects[object];

	return o->kind == PROFILE_FILE && o->path[0] == '/' &&
	       export_ticks(profile, options, object);
}

int export_check(const struct profile *profile, const struct export_options *options,
		 const char *format, struct error *err)
{
	if (options->target != EXPORT_ALL_TARGETS && options->target >= profile->nr_targets)
		return error_set(err, -EINVAL,
				 "%s: target %" PRIu64 ": not in the profile, which has %zu",
				 format, options->target, profile->nr_targets);
	if (!options->object || object_of_name(profile, options->object))
		return 0;
	return error_with_hint(err, -EINVAL, "bpfprofil report --by objects",
			       "%s: object '%.200s': not in the profile", format, options->object);
}

bool export_knows_cpu_time(const struct profile *profile, const struct export_options *options)
{
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (profile_target_chosen(profile, options->target, i) &&
		    profile->targets[i].cpu_known)
			return true;
	return false;
}

int export_one_period(const struct profile *profile, const struct export_options *options,
		      const char *format, uint64_t *result, struct error *err)
{
	uint64_t period = profile->sampling.period_ns;
	bool any = false;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		if (!profile_target_chosen(profile, options->target, i))
			continue;
		if (any && profile_target_period(profile, i) != period) {
			error_set(err, -EINVAL,
				  "%s: target %" PRIu32 " has a tick of %" PRIu64
				  " ns, others one of %" PRIu64,
				  format, i, profile_target_period(profile, i), period);
			error_hint(err, "--target %" PRIu32, i);
			return -EINVAL;
		}
		period = profile_target_period(profile, i);
		any = true;
	}
	*result = period;
	return 0;
}

int64_t export_start_ns(const struct profile *profile)
{
	const char *digit;
	int64_t seconds = profile_seconds(profile->started ? profile->started : "", &digit);
	uint64_t ns = 0, unit = 100000000;

	for (; *digit >= '0' && *digit <= '9'; digit++, unit /= 10)
		ns += (uint64_t)(*digit - '0') * unit;
	return seconds < 0 || seconds > INT64_MAX / 1000000000 - 1 ?
		       0 :
		       seconds * 1000000000 + (int64_t)ns;
}
