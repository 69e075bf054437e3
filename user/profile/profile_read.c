// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_io.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/fields.h"

static int read_object_kind(struct reader *r, void *member)
{
	enum profile_object_kind *result = member;
	cleanup_free char *word = NULL;
	int kind;
	int ret;

	ret = json_reader_string(r->json, &word);
	if (ret)
		return ret;
	kind = profile_object_kind_parse(word);
	if (kind < 0)
		return json_reader_fail(r->json, "an object of an unknown kind");
	*result = (enum profile_object_kind)kind;
	return 0;
}

static int read_id(struct reader *r, void *member)
{
	(void)member;
	return json_reader_u64(r->json, &r->id);
}

static int check_id(struct reader *r, size_t nr)
{
	return r->id == nr - 1 ? 0 : json_reader_fail(r->json, "ids do not count up from 0");
}

static int read_lost_cause(struct reader *r, struct profile_account *account, size_t *capacity,
			   const char *cause)
{
	struct profile_lost *lost;
	size_t i;
	int ret;

	for (i = 0; i < account->nr_lost; i++)
		if (!strcmp(account->lost[i].cause, cause))
			return json_reader_fail(r->json, "a cause stands there twice");
	if (grow((void **)&account->lost, capacity, account->nr_lost + 1, sizeof(*account->lost)))
		return read_no_memory(r);
	lost = account->lost + account->nr_lost++;
	lost->ticks = 0;
	ret = read_copy(r, cause, &lost->cause);
	return ret ? ret : json_reader_u64(r->json, &lost->ticks);
}

/* Later writers may add causes; unknown ones are counted too. */
static int read_lost(struct reader *r, void *member)
{
	struct profile_account *account = member;
	size_t capacity = 0;
	const char *cause;
	int ret;

	ret = json_reader_object(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_member(r->json, &cause)) > 0) {
		ret = read_lost_cause(r, account, &capacity, cause);
		if (ret)
			return ret;
	}
	return ret;
}

static int read_account(struct reader *r, void *member)
{
	static const struct field fields[] = {
		{ "total", read_u64, offsetof(struct profile_account, total), false },
		{ "binned", read_u64, offsetof(struct profile_account, binned), false },
		{ "overflow", read_u64, offsetof(struct profile_account, overflow), false },
		{ "outside", read_u64, offsetof(struct profile_account, outside), false },
		{ "filtered", read_u64, offsetof(struct profile_account, filtered), false },
		{ "lost", read_lost, 0, false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, member);
}

static int read_cpu_time(struct reader *r, void *member)
{
	struct profile_target *target = member;

	target->cpu_known = true;
	return json_reader_u64(r->json, &target->cpu_ns);
}

static int read_target(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "id", read_id, 0, false },
		{ "kind", read_string, offsetof(struct profile_target, kind), false },
		{ "name", read_string, offsetof(struct profile_target, name), false },
		{ "cgroup", read_string, offsetof(struct profile_target, cgroup), true },
		{ "host", read_string, offsetof(struct profile_target, host), true },
		{ "period_ns", read_u64, offsetof(struct profile_target, period_ns), true },
		{ "ticks", read_account, offsetof(struct profile_target, ticks), false },
		{ "cpu_ns", read_cpu_time, 0, true },
		{ "excess", read_u64, offsetof(struct profile_target, excess), true },
		{ NULL, NULL, 0, false },
	};
	int ret = read_fields(r, fields, element);

	return ret ? ret : check_id(r, r->profile->nr_targets);
}

static int read_split(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "target", read_u32, offsetof(struct profile_split, target), false },
		{ "pid", read_pid, offsetof(struct profile_split, pid), false },
		{ "process", read_string_or_null, offsetof(struct profile_split, process), true },
		{ "cgroup", read_string_or_null, offsetof(struct profile_split, cgroup), false },
		{ "ticks", read_u64, offsetof(struct profile_split, ticks), false },
		{ "cpu_ns", read_u64, offsetof(struct profile_split, cpu_ns), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, element);
}

static int read_label(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "host", read_string, offsetof(struct profile_label, host), true },
		{ "cgroup", read_string_or_null, offsetof(struct profile_label, cgroup), false },
		{ "key", read_string, offsetof(struct profile_label, key), false },
		{ "value", read_string, offsetof(struct profile_label, value), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, element);
}

static int read_text_range(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "offset", read_u64, offsetof(struct profile_text, offset), false },
		{ "address", read_u64, offsetof(struct profile_text, address), false },
		{ "size", read_u64, offsetof(struct profile_text, size), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, element);
}

static int read_texts(struct reader *r, void *member)
{
	struct profile_object *object = member;

	return read_list(r, (void **)&object->text, &object->nr_text, sizeof(*object->text),
			 read_text_range);
}

static int read_profile_object(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "id", read_id, 0, false },
		{ "kind", read_object_kind, offsetof(struct profile_object, kind), false },
		{ "path", read_string, offsetof(struct profile_object, path), false },
		{ "build_id", read_string_or_null, offsetof(struct profile_object, build_id),
		  false },
		{ "text", read_texts, 0, false },
		{ NULL, NULL, 0, false },
	};
	int ret = read_fields(r, fields, element);

	return ret ? ret : check_id(r, r->profile->nr_objects);
}

static int read_function(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "object", read_u32, offsetof(struct profile_function, object), false },
		{ "name", read_string, offsetof(struct profile_function, name), false },
		{ "offset", read_u64, offsetof(struct profile_function, offset), false },
		{ "size", read_u64, offsetof(struct profile_function, size), false },
		{ "ticks", read_u64, offsetof(struct profile_function, ticks), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, element);
}

static int read_targets(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->targets, &profile->nr_targets,
			 sizeof(*profile->targets), read_target);
}

static int read_splits(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->splits, &profile->nr_splits,
			 sizeof(*profile->splits), read_split);
}

static int read_labels(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->labels, &profile->nr_labels,
			 sizeof(*profile->labels), read_label);
}

static int read_objects(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->objects, &profile->nr_objects,
			 sizeof(*profile->objects), read_profile_object);
}

static int read_histograms(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->histograms, &profile->nr_histograms,
			 sizeof(*profile->histograms), read_histogram);
}

static int read_functions(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->functions, &profile->nr_functions,
			 sizeof(*profile->functions), read_function);
}

static int read_notes(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->notes, &profile->nr_notes, sizeof(*profile->notes),
			 read_string);
}

/*
 * The list ends in NULL. After a failure in the middle, the zeroed element of read_list() ends it.
 */
static int read_command(struct reader *r, void *member)
{
	struct profile *profile = member;
	size_t nr = 0;
	char **longer;
	int ret;

	ret = read_list(r, (void **)&profile->command, &nr, sizeof(*profile->command), read_string);
	if (!profile->command)
		return ret;
	longer = realloc(profile->command, (nr + 1) * sizeof(*longer));
	if (longer) {
		longer[nr] = NULL;
		profile->command = longer;
		return ret;
	}
	while (nr)
		free(profile->command[--nr]);
	free(profile->command);
	profile->command = NULL;
	return ret ? ret : read_no_memory(r);
}

static int read_host(struct reader *r, void *member)
{
	static const struct field fields[] = {
		{ "kernel", read_string, offsetof(struct profile_host, kernel), false },
		{ "arch", read_string, offsetof(struct profile_host, arch), false },
		{ "cpus", read_u32, offsetof(struct profile_host, cpus), false },
		{ "name", read_string, offsetof(struct profile_host, name), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, member);
}

static int read_hosts(struct reader *r, void *member)
{
	struct profile *profile = member;

	return read_list(r, (void **)&profile->hosts, &profile->nr_hosts, sizeof(*profile->hosts),
			 read_host);
}

static int read_delivered(struct reader *r, void *member)
{
	struct profile_sampling *sampling = member;

	return read_list(r, (void **)&sampling->delivered, &sampling->nr_delivered,
			 sizeof(*sampling->delivered), read_u64);
}

static int read_segment(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ "since_ns", read_u64, offsetof(struct profile_segment, since_ns), false },
		{ "duration_ns", read_u64, offsetof(struct profile_segment, duration_ns), false },
		{ "period_ns", read_u64, offsetof(struct profile_segment, period_ns), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, element);
}

static int read_segments(struct reader *r, void *member)
{
	struct profile_sampling *sampling = member;

	return read_list(r, (void **)&sampling->segments, &sampling->nr_segments,
			 sizeof(*sampling->segments), read_segment);
}

static int read_cost(struct reader *r, void *member)
{
	static const struct field fields[] = {
		{ "budget_percent", read_double, offsetof(struct profile_cost, budget_percent),
		  false },
		{ "percent", read_double, offsetof(struct profile_cost, percent), false },
		{ "interrupt_ns", read_double, offsetof(struct profile_cost, interrupt_ns), false },
		{ "handler_ns", read_double, offsetof(struct profile_cost, handler_ns), false },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, member);
}

static int read_sampling(struct reader *r, void *member)
{
	static const struct field fields[] = {
		{ "source", read_string, offsetof(struct profile_sampling, source), false },
		{ "mode", read_string, offsetof(struct profile_sampling, mode), false },
		{ "split", read_string, offsetof(struct profile_sampling, split), true },
		{ "cpus", read_string, offsetof(struct profile_sampling, cpus), true },
		{ "hierarchy", read_string, offsetof(struct profile_sampling, hierarchy), true },
		{ "period_ns", read_u64, offsetof(struct profile_sampling, period_ns), false },
		{ "requested_hz", read_double, offsetof(struct profile_sampling, requested_hz),
		  false },
		{ "measured_hz", read_double, offsetof(struct profile_sampling, measured_hz),
		  false },
		{ "duty_percent", read_double, offsetof(struct profile_sampling, duty_percent),
		  true },
		{ "sampled_ns", read_u64, offsetof(struct profile_sampling, sampled_ns), true },
		{ "delivered", read_delivered, 0, true },
		{ "segments", read_segments, 0, true },
		{ "cost", read_cost, offsetof(struct profile_sampling, cost), true },
		{ NULL, NULL, 0, false },
	};

	return read_fields(r, fields, member);
}

static int not_ours(struct reader *r)
{
	return error_set(r->err, -EBADMSG, "%s: not a bpfprofil profile", input_name(r->in));
}

static int read_format(struct reader *r, void *member)
{
	cleanup_free char *word = NULL;
	int ret;

	(void)member;
	ret = json_reader_string(r->json, &word);
	if (ret)
		return ret;
	if (strcmp(word, "bpfprofil") != 0)
		return not_ours(r);
	r->is_ours = true;
	return 0;
}

static int read_version(struct reader *r, void *member)
{
	uint64_t version;
	int ret;

	(void)member;
	ret = json_reader_u64(r->json, &version);
	if (ret)
		return ret;
	if (!version)
		return json_reader_fail(r->json, "version 0");
	if (version > PROFILE_VERSION)
		return error_set(r->err, -EPROTONOSUPPORT,
				 "%s: version %llu is newer than this bpfprofil reads (%d)",
				 input_name(r->in), (unsigned long long)version, PROFILE_VERSION);
	return 0;
}

/* The targets hold these times; this value is only compared with them. */
static int read_whole_cpu_time(struct reader *r, void *member)
{
	(void)member;
	r->has_cpu_ns = true;
	return json_reader_u64(r->json, &r->cpu_ns);
}

static int check_whole_cpu_time(struct reader *r)
{
	uint64_t sum;

	if (!r->has_cpu_ns || (profile_cpu_time(r->profile, &sum) && sum == r->cpu_ns))
		return 0;
	return error_set(r->err, -EBADMSG, "%s: \"cpu_ns\" is not the sum of the targets'",
			 input_name(r->in));
}

static const struct field document[] = {
	{ "format", read_format, 0, false },
	{ "version", read_version, 0, false },
	{ "tool", read_string, offsetof(struct profile, tool), false },
	{ "started", read_string, offsetof(struct profile, started), false },
	{ "duration_ns", read_u64, offsetof(struct profile, duration_ns), false },
	{ "complete", read_bool, offsetof(struct profile, complete), false },
	{ "host", read_host, offsetof(struct profile, host), false },
	{ "hosts", read_hosts, 0, true },
	{ "command", read_command, 0, false },
	{ "sampling", read_sampling, offsetof(struct profile, sampling), false },
	{ "ticks", read_account, offsetof(struct profile, ticks), false },
	{ "cpu_ns", read_whole_cpu_time, 0, true },
	{ "targets", read_targets, 0, false },
	{ "splits", read_splits, 0, true },
	{ "labels", read_labels, 0, true },
	{ "objects", read_objects, 0, false },
	{ "histograms", read_histograms, 0, false },
	{ "functions", read_functions, 0, false },
	{ "notes", read_notes, 0, true },
	{ NULL, NULL, 0, false },
};

static int read_document(struct reader *r)
{
	int ret;

	/*
	 * Finds the end of an empty file, or something else and then reports it; the first is no
	 * failure.
	 */
	ret = json_reader_end(r->json);
	if (!ret)
		return error_set(r->err, -ENODATA, "%s: empty", input_name(r->in));
	if (ret != -EBADMSG)
		return ret;
	ret = read_fields(r, document, r->profile);
	if (!ret)
		ret = json_reader_end(r->json);
	/* A file without "format" is reported as foreign rather than damaged. */
	if (ret == -EBADMSG && !r->is_ours)
		return not_ours(r);
	if (!ret)
		ret = profile_check(r->profile, input_name(r->in), r->err);
	return ret ? ret : check_whole_cpu_time(r);
}

int profile_read(struct input *in, struct profile **result, struct error *err)
{
	struct error ignored = { "", "" };
	struct reader r = { .in = in, .err = err ? err : &ignored };
	int ret = -ENOMEM;

	r.json = json_reader_new(in, r.err);
	r.profile = profile_new();
	if (r.json && r.profile)
		ret = read_document(&r);
	else
		read_no_memory(&r);
	json_reader_free(r.json);
	if (ret) {
		profile_free(r.profile);
		return ret;
	}
	error_set(r.err, 0, "%s", "");
	*result = r.profile;
	return 0;
}

int profile_load(const char *path, struct profile **result, struct error *err)
{
	struct input *in;
	int ret;

	ret = input_open(path, &in, err);
	if (ret)
		return ret;
	ret = profile_read(in, result, err);
	input_close(in);
	return ret;
}
