// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const object_kinds[] = {
	[PROFILE_FILE] = "file",
	[PROFILE_JIT] = "jit",
	[PROFILE_KERNEL] = "kernel",
	[PROFILE_MEMORY] = "memory",
};

#define NR_OBJECT_KINDS (sizeof(object_kinds) / sizeof(object_kinds[0]))

struct profile *profile_new(void)
{
	return calloc(1, sizeof(struct profile));
}

void profile_account_free(struct profile_account *account)
{
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		free(account->lost[i].cause);
	free(account->lost);
}

static void free_targets(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		free(profile->targets[i].kind);
		free(profile->targets[i].name);
		profile_account_free(&profile->targets[i].ticks);
	}
	free(profile->targets);
}

static void free_objects(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++) {
		free(profile->objects[i].path);
		free(profile->objects[i].build_id);
		free(profile->objects[i].text);
	}
	free(profile->objects);
}

static void free_histograms(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		free(profile->histograms[i].process);
		free(profile->histograms[i].dialect);
		free(profile->histograms[i].cgroup);
		free(profile->histograms[i].stopped);
		free(profile->histograms[i].bins);
	}
	free(profile->histograms);
}

static void free_texts(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_functions; i++)
		free(profile->functions[i].name);
	free(profile->functions);
	for (i = 0; i < profile->nr_notes; i++)
		free(profile->notes[i]);
	free(profile->notes);
	for (i = 0; profile->command && profile->command[i]; i++)
		free(profile->command[i]);
	free(profile->command);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free_targets(profile);
	free_objects(profile);
	free_histograms(profile);
	free_texts(profile);
	profile_account_free(&profile->ticks);
	free(profile->tool);
	free(profile->started);
	free(profile->host.kernel);
	free(profile->host.arch);
	free(profile->host.name);
	free(profile->sampling.source);
	free(profile->sampling.mode);
	free(profile);
}

/* A sum that would overflow stays at the top, where no identity can hold. */
static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t profile_account_lost(const struct profile_account *account)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		sum = add(sum, account->lost[i].ticks);
	return sum;
}

static struct profile_lost *find_lost(const struct profile_account *account, const char *cause)
{
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		if (!strcmp(account->lost[i].cause, cause))
			return &account->lost[i];
	return NULL;
}

static int add_lost(struct profile_account *sum, const struct profile_lost *lost)
{
	struct profile_lost *found = find_lost(sum, lost->cause), *grown;

	if (!found) {
		grown = reallocarray(sum->lost, sum->nr_lost + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		sum->lost = grown;
		found = &sum->lost[sum->nr_lost];
		*found = (struct profile_lost){ .cause = strdup(lost->cause) };
		if (!found->cause)
			return -ENOMEM;
		sum->nr_lost++;
	}
	found->ticks = add(found->ticks, lost->ticks);
	return 0;
}

int profile_account_add(struct profile_account *sum, const struct profile_account *part)
{
	size_t i;
	int err = 0;

	sum->total = add(sum->total, part->total);
	sum->binned = add(sum->binned, part->binned);
	sum->overflow = add(sum->overflow, part->overflow);
	sum->outside = add(sum->outside, part->outside);
	sum->filtered = add(sum->filtered, part->filtered);
	for (i = 0; i < part->nr_lost && !err; i++)
		err = add_lost(sum, &part->lost[i]);
	return err;
}

bool profile_account_exact(const struct profile_account *account)
{
	unsigned __int128 sum = account->binned;
	size_t i;

	sum += account->overflow;
	sum += account->outside;
	sum += account->filtered;
	for (i = 0; i < account->nr_lost; i++)
		sum += account->lost[i].ticks;
	return sum == account->total;
}

uint64_t profile_histogram_ticks(const struct profile_histogram *histogram)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < histogram->nr_bins; i++)
		sum = add(sum, histogram->bins[i].count);
	return sum;
}

int profile_note(struct profile *profile, const char *format, ...)
{
	char **notes = reallocarray(profile->notes, profile->nr_notes + 1, sizeof(*notes));
	va_list args;
	int length;

	if (!notes)
		return -ENOMEM;
	profile->notes = notes;
	va_start(args, format);
	length = vasprintf(&notes[profile->nr_notes], format, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	profile->nr_notes++;
	return 0;
}

const char *profile_object_kind_name(enum profile_object_kind kind)
{
	return object_kinds[kind];
}

int profile_object_kind_parse(const char *word)
{
	size_t i;

	for (i = 0; i < NR_OBJECT_KINDS; i++)
		if (!strcmp(word, object_kinds[i]))
			return (int)i;
	return -1;
}
