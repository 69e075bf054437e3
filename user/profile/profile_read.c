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
		FIELD(profile_account, total, read_u64),
		FIELD(profile_account, binned, read_u64),
		FIELD(profile_account, overflow, read_u64),
		FIELD(profile_account, outside, read_u64),
		FIELD(profile_account, filtered, read_u64),
		{ .key = "lost", .read = read_lost },
		{ 0 },
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
		{ .key = "id", .read = read_id },
		FIELD(profile_target, kind, read_string),
		FIELD(profile_target, name, read_string),
		FIELD(profile_target, cgroup, read_string, .optional = true),
		FIELD(profile_target, host, read_string, .optional = true),
		FIELD(profile_target, period_ns, read_u64, .optional = true),
		FIELD(profile_target, ticks, read_account),
		{ .key = "cpu_ns", .read = read_cpu_time, .optional = true },
		FIELD(profile_target, excess, read_u64, .optional = true),
		{ 0 },
	};
	int ret = read_fields(r, fields, element);

	return ret ? ret : check_id(r, r->profile->nr_targets);
}

static int read_split(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_split, target, read_u32),
		FIELD(profile_split, pid, read_pid),
		FIELD(profile_split, process, read_string_or_null, .optional = true),
		FIELD(profile_split, cgroup, read_string_or_null),
		FIELD(profile_split, ticks, read_u64),
		FIELD(profile_split, cpu_ns, read_u64),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_label(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_label, host, read_string, .optional = true),
		FIELD(profile_label, cgroup, read_string_or_null),
		FIELD(profile_label, key, read_string),
		FIELD(profile_label, value, read_string),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_text_range(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_text, offset, read_u64),
		FIELD(profile_text, address, read_u64),
		FIELD(profile_text, size, read_u64),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_profile_object(struct reader *r, void *element)
{
	static const struct field fields[] = {
		{ .key = "id", .read = read_id },
		FIELD(profile_object, kind, read_object_kind),
		FIELD(profile_object, path, read_string),
		FIELD(profile_object, build_id, read_string_or_null),
		LIST(profile_object, text, read_text_range),
		{ 0 },
	};
	int ret = read_fields(r, fields, element);

	return ret ? ret : check_id(r, r->profile->nr_objects);
}

static int read_function(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_function, object, read_u32),
		FIELD(profile_function, name, read_string),
		FIELD(profile_function, offset, read_u64),
		FIELD(profile_function, size, read_u64),
		FIELD(profile_function, ticks, read_u64),
		{ 0 },
	};

	return read_fields(r, fields, element);
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
		FIELD(profile_host, kernel, read_string),
		FIELD(profile_host, arch, read_string),
		FIELD(profile_host, cpus, read_u32),
		FIELD(profile_host, name, read_string),
		{ 0 },
	};

	return read_fields(r, fields, member);
}

static int read_segment(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_segment, since_ns, read_u64),
		FIELD(profile_segment, duration_ns, read_u64),
		FIELD(profile_segment, period_ns, read_u64),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_cost(struct reader *r, void *member)
{
	static const struct field fields[] = {
		FIELD(profile_cost, budget_percent, read_double),
		FIELD(profile_cost, percent, read_double),
		FIELD(profile_cost, interrupt_ns, read_double),
		FIELD(profile_cost, handler_ns, read_double),
		FIELD(profile_cost, fixed_percent, read_double, .optional = true),
		{ 0 },
	};

	return read_fields(r, fields, member);
}

static int read_sampling(struct reader *r, void *member)
{
	static const struct field fields[] = {
		FIELD(profile_sampling, source, read_string),
		FIELD(profile_sampling, mode, read_string),
		FIELD(profile_sampling, split, read_string, .optional = true),
		FIELD(profile_sampling, cpus, read_string, .optional = true),
		FIELD(profile_sampling, hierarchy, read_string, .optional = true),
		FIELD(profile_sampling, period_ns, read_u64),
		FIELD(profile_sampling, requested_hz, read_double),
		FIELD(profile_sampling, measured_hz, read_double),
		FIELD(profile_sampling, duty_percent, read_double, .optional = true),
		FIELD(profile_sampling, sampled_ns, read_u64, .optional = true),
		LIST(profile_sampling, delivered, read_u64, .optional = true),
		LIST(profile_sampling, segments, read_segment, .optional = true),
		FIELD(profile_sampling, cost, read_cost, .optional = true),
		{ 0 },
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
	{ .key = "format", .read = read_format },
	{ .key = "version", .read = read_version },
	FIELD(profile, tool, read_string),
	FIELD(profile, started, read_string),
	FIELD(profile, duration_ns, read_u64),
	FIELD(profile, complete, read_bool),
	FIELD(profile, host, read_host),
	LIST(profile, hosts, read_host, .optional = true),
	{ .key = "command", .read = read_command },
	FIELD(profile, sampling, read_sampling),
	FIELD(profile, ticks, read_account),
	{ .key = "cpu_ns", .read = read_whole_cpu_time, .optional = true },
	LIST(profile, targets, read_target),
	LIST(profile, splits, read_split, .optional = true),
	LIST(profile, labels, read_label, .optional = true),
	LIST(profile, objects, read_profile_object),
	LIST(profile, histograms, read_histogram),
	LIST(profile, functions, read_function),
	LIST(profile, notes, read_string, .optional = true),
	{ 0 },
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
