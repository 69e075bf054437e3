// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

struct profile_index {
	size_t nr;
	const struct profile_function *functions[]; /* sorted by object, then offset */
};

static int compare_places_in_objects(uint32_t object_a, uint64_t offset_a, uint32_t object_b,
				     uint64_t offset_b)
{
	return compare_u64(object_a, object_b) ?: compare_u64(offset_a, offset_b);
}

static int compare_indexed_functions(const void *a, const void *b)
{
	const struct profile_function *x = *(const struct profile_function *const *)a;
	const struct profile_function *y = *(const struct profile_function *const *)b;
	int order = compare_places_in_objects(x->object, x->offset, y->object, y->offset);

	/*
	 * Of functions with the same start, the longer comes first, so that a search finds the
	 * shorter.
	 */
	return order ?: compare_u64(y->size, x->size) ?: compare_u64((uintptr_t)x, (uintptr_t)y);
}

struct profile_index *profile_index_new(const struct profile *profile)
{
	struct profile_index *index;
	size_t i;

	index = malloc(sizeof(*index) + profile->nr_functions * sizeof(index->functions[0]));
	if (!index)
		return NULL;
	index->nr = profile->nr_functions;
	for (i = 0; i < index->nr; i++)
		index->functions[i] = &profile->functions[i];
	SORT(index->functions, index->nr, compare_indexed_functions);
	return index;
}

void profile_index_free(struct profile_index *index)
{
	free(index);
}

/* The number of functions that begin at or before the place. */
static size_t count_before(const struct profile_index *index, uint32_t object, uint64_t offset)
{
	const struct profile_function *const *functions = index->functions;

	return BISECT(i, index->nr,
		      compare_places_in_objects(functions[i]->object, functions[i]->offset, object,
						offset) <= 0);
}

const struct profile_function *profile_index_find_up_to(const struct profile_index *index,
							uint32_t object, uint64_t offset,
							uint64_t size, uint64_t *last)
{
	const size_t after = count_before(index, object, offset);
	const struct profile_function *f = after ? index->functions[after - 1] : NULL;
	const struct profile_function *next = after < index->nr ? index->functions[after] : NULL;

	*last = UINT64_MAX;
	if (next && next->object == object)
		*last = next->offset - 1;
	if (f && f->object == object && offset - f->offset < f->size) {
		*last = min_size(*last, f->offset + (f->size - 1));
		return f;
	}
	if (*last == UINT64_MAX)
		return NULL;
	if (*last - offset < size - 1) {
		*last = offset;
		return next;
	}
	*last -= size - 1;
	return NULL;
}

const struct profile_function *profile_index_find(const struct profile_index *index,
						  uint32_t object, uint64_t offset, uint64_t size)
{
	uint64_t last;

	return profile_index_find_up_to(index, object, offset, size, &last);
}

const char *const profile_object_kinds[] = {
	[PROFILE_FILE] = "file",
	[PROFILE_JIT] = "jit",
	[PROFILE_KERNEL] = "kernel",
	[PROFILE_MEMORY] = "memory",
};

struct profile *profile_new(void)
{
	return calloc(1, sizeof(struct profile));
}

uint64_t profile_account_lost(const struct profile_account *account)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		sum = add_saturating(sum, account->lost[i].ticks);
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
	found->ticks = add_saturating(found->ticks, lost->ticks);
	return 0;
}

int profile_bins_add(struct profile_bins *bins, uint64_t index, uint64_t count)
{
	return PUSH(bins->list, bins->capacity, bins->nr, (struct profile_bin){ index, count });
}

int profile_account_add(struct profile_account *sum, const struct profile_account *part)
{
	size_t i;
	int ret = 0;

	sum->total = add_saturating(sum->total, part->total);
	sum->binned = add_saturating(sum->binned, part->binned);
	sum->overflow = add_saturating(sum->overflow, part->overflow);
	sum->outside = add_saturating(sum->outside, part->outside);
	sum->filtered = add_saturating(sum->filtered, part->filtered);
	for (i = 0; i < part->nr_lost && !ret; i++)
		ret = add_lost(sum, &part->lost[i]);
	return ret;
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

bool profile_target_is_call(const struct profile_target *target)
{
	return !strcmp(target->kind, "call");
}

static enum profile_kinds find_kinds(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (!profile_target_is_call(&profile->targets[i]))
			return KINDS_OTHERS;
	return KINDS_ONLY_CALLS;
}

void profile_note_kinds(struct profile *profile)
{
	profile->kinds = find_kinds(profile);
}

bool profile_target_counts(const struct profile *profile, uint32_t target)
{
	if (!profile_target_is_call(&profile->targets[target]))
		return true;
	return (profile->kinds ?: find_kinds(profile)) == KINDS_ONLY_CALLS;
}

bool profile_target_chosen(const struct profile *profile, uint64_t chosen, uint32_t target)
{
	if (chosen == PROFILE_ALL_TARGETS)
		return profile_target_counts(profile, target);
	return chosen ==
	       (profile->targets[target].waits ? profile->targets[target].waits_of : target);
}

bool profile_is_partly_sampled(const struct profile *profile)
{
	return profile->sampling.sampled_ns || profile->sampling.duty_percent > 0;
}

uint64_t profile_sampled_ns(const struct profile *profile)
{
	return profile_is_partly_sampled(profile) ? profile->sampling.sampled_ns :
						    profile->duration_ns;
}

bool profile_cpu_time(const struct profile *profile, uint64_t *result)
{
	bool any = false;
	uint32_t i;

	*result = 0;
	for (i = 0; i < profile->nr_targets; i++) {
		if (!profile_target_counts(profile, i))
			continue;
		if (!profile->targets[i].cpu_known)
			return false;
		*result = add_saturating(*result, profile->targets[i].cpu_ns);
		any = true;
	}
	return any;
}

int profile_compare_texts(const struct profile_histogram *a, const struct profile_histogram *b)
{
	int order = compare_u64(a->target, b->target) ?: compare_u64(a->object, b->object);

	order = order ?: compare_i64(a->pid, b->pid) ?: compare_text(a->process, b->process);
	return order ?: compare_text(a->cgroup, b->cgroup);
}

uint64_t profile_histogram_ticks(const struct profile_histogram *histogram)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < histogram->nr_bins; i++)
		sum = add_saturating(sum, histogram->bins[i].count);
	return sum;
}

bool profile_is_of_host(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (!strcmp(profile->targets[i].kind, "system"))
			return true;
	return false;
}

bool profile_is_confidential(const struct profile *profile)
{
	const char *mode = profile->sampling.mode;
	size_t i;

	if ((mode && !strcmp(mode, "split")) || profile_is_of_host(profile))
		return true;
	for (i = 0; i < profile->nr_objects; i++)
		if (profile->objects[i].kind == PROFILE_KERNEL)
			return true;
	return false;
}

int profile_function_compare(const void *left, const void *right)
{
	const struct profile_function *a = left, *b = right;
	int order = compare_u64(b->ticks, a->ticks) ?:
			    compare_places_in_objects(a->object, a->offset, b->object, b->offset);

	return order ?: compare_u64(a->size, b->size) ?: strcmp(a->name, b->name);
}

const char *profile_object_base(const struct profile_object *object)
{
	return object->path && *object->path ? text_basename(object->path) :
					       profile_object_kinds[object->kind];
}

const char *profile_whole_name(const struct profile_object *object)
{
	return object->kind == PROFILE_JIT ? profile_object_base(object) : NULL;
}

const struct profile_text *profile_text_at(const struct profile_text *text, size_t nr,
					   uint64_t offset)
{
	for (; nr; nr--, text++)
		if (offset - text->offset < text->size)
			return text;
	return NULL;
}

const struct profile_text *profile_text_with(const struct profile_text *text, size_t nr,
					     uint64_t address)
{
	for (; nr; nr--, text++)
		if (address - text->address < text->size)
			return text;
	return NULL;
}

bool profile_text_fits(const struct profile_text *text, size_t nr)
{
	uint64_t end;

	for (; nr; nr--, text++)
		if (__builtin_add_overflow(text->offset, text->size, &end) ||
		    __builtin_add_overflow(text->address, text->size, &end))
			return false;
	return true;
}

bool profile_is_build_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len && len % 2 == 0 && !text[len];
}

uint64_t profile_object_address(const struct profile_object *object, uint64_t offset)
{
	const struct profile_text *text = profile_text_at(object->text, object->nr_text, offset);

	return text ? offset - text->offset + text->address : offset;
}

int profile_add_label(struct profile *profile, const char *cgroup, const char *key,
		      const char *value)
{
	struct profile_label label = { 0 }, *labels;

	if (!value || !*value)
		return 0;
	labels = reallocarray(profile->labels, profile->nr_labels + 1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	profile->labels = labels;
	label.cgroup = cgroup ? strdup(cgroup) : NULL;
	label.key = strdup(key);
	label.value = strdup(value);
	if ((cgroup && !label.cgroup) || !label.key || !label.value) {
		free(label.cgroup);
		free(label.key);
		free(label.value);
		return -ENOMEM;
	}
	profile->labels[profile->nr_labels++] = label;
	return 0;
}
