// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/util.h"
#include "profile/profile.h"
#include "profile/profile_io.h"
#include "profile/profile_members.h"
#include "profile/waits.h"

/*
 * Reads JSON objects into structures by their tables of members. All functions return 0, or a
 * negative errno with a description in the reader's struct error.
 */

struct reader {
	struct json_reader *json;
	struct input *in;
	struct error *err;
	struct profile *profile;
	uint64_t id; /* of the current target or object */
	bool is_ours; /* "format" was read */
	bool has_cpu_ns; /* the head has "cpu_ns" */
	uint64_t cpu_ns; /* its value */
};

static int read_no_memory(struct reader *r)
{
	return error_errno(r->err, -ENOMEM, "%s", input_name(r->in));
}

/* Copies a string from the reader. */
static int read_copy(struct reader *r, const char *text, char **result)
{
	*result = strdup(text);
	return *result ? 0 : read_no_memory(r);
}

/* Starts with the next member, because our own writer uses the table's order. */
static size_t find_member(const struct profile_member *members, const char *key, size_t next)
{
	size_t i = 0;

	if (members[next].key && !strcmp(members[next].key, key))
		return next;
	while (members[i].key && strcmp(members[i].key, key) != 0)
		i++;
	return i;
}

static int read_member(struct reader *r, const struct profile_member *member, char *object);
static int read_list(struct reader *r, const struct profile_member *member, void **list,
		     size_t *nr);

static int leave_out(struct reader *r, const struct profile_member *member, char *object)
{
	const enum walk_end none = WALK_END_COUNT;

	if (!member->optional)
		return json_reader_fail(r->json, "\"%s\" is missing", member->key);
	if (member->type == MEMBER_WALK_END)
		memcpy(object + member->offset, &none, sizeof(none));
	return 0;
}

/*
 * Reads an object. Unknown keys come from a later version, and are skipped. A known key may occur
 * only once. The table has at most 64 keys.
 */
static int read_members(struct reader *r, const struct profile_member *members, void *object)
{
	uint64_t seen = 0;
	const char *key;
	size_t i, next = 0;
	int ret = json_reader_object(r->json);

	if (ret)
		return ret;
	while ((ret = json_reader_member(r->json, &key)) > 0) {
		i = find_member(members, key, next);
		if (!members[i].key)
			ret = json_reader_skip(r->json);
		else if (seen >> i & 1)
			ret = json_reader_fail(r->json, "\"%s\" stands there twice",
					       members[i].key);
		else
			ret = read_member(r, &members[i], object);
		if (ret)
			return ret;
		if (members[i].key)
			seen |= 1ULL << i;
		next = members[i].key ? i + 1 : next;
	}
	for (i = 0; !ret && members[i].key; i++)
		if (!(seen >> i & 1))
			ret = leave_out(r, &members[i], object);
	return ret;
}

/* Readers of a value, which has the type in the function's name, or int64_t for a pid. */
static int read_u64(struct reader *r, void *member)
{
	return json_reader_u64(r->json, member);
}

static int read_u32(struct reader *r, void *member)
{
	uint32_t *result = member;
	uint64_t value;
	int ret = json_reader_u64(r->json, &value);

	if (ret)
		return ret;
	if (value > UINT32_MAX)
		return json_reader_fail(r->json, "a number is above 2^32 - 1");
	*result = (uint32_t)value;
	return 0;
}

static int read_double(struct reader *r, void *member)
{
	double *result = member;
	int ret = json_reader_double(r->json, result);

	if (!ret && *result < 0)
		ret = json_reader_fail(r->json, "a rate is negative");
	return ret;
}

static int read_bool(struct reader *r, void *member)
{
	return json_reader_bool(r->json, member);
}

static int read_string(struct reader *r, void *member)
{
	return json_reader_string(r->json, member);
}

static int read_string_or_null(struct reader *r, void *member)
{
	int ret = json_reader_null(r->json);

	return ret ? (ret < 0 ? ret : 0) : json_reader_string(r->json, member);
}

static int read_pid(struct reader *r, void *member)
{
	int64_t *result = member;
	uint64_t value;
	int ret;

	*result = -1;
	ret = json_reader_null(r->json);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = json_reader_u64(r->json, &value);
	if (ret)
		return ret;
	if (value > INT32_MAX)
		return json_reader_fail(r->json, "a pid is above 2^31 - 1");
	*result = (int64_t)value;
	return 0;
}

static int read_value(struct reader *r, const struct profile_member *member, void *value);

static int read_tuple(struct reader *r, const struct profile_member *member, char *tuple)
{
	const struct profile_member *of = member->members;
	int ret = json_reader_array(r->json);

	for (; !ret && of->key; of++) {
		ret = json_reader_element(r->json);
		if (ret < 0)
			return ret;
		ret = ret ? read_value(r, of, tuple + of->offset) :
			    json_reader_fail(r->json, "%s", member->meaning);
	}
	if (!ret)
		ret = json_reader_element(r->json);
	return ret > 0 ? json_reader_fail(r->json, "%s", member->meaning) : ret;
}

static int keep_bins(struct reader *r, struct profile_histogram *histogram, size_t *capacity,
		     const uint64_t (*pairs)[2], size_t nr)
{
	struct profile_bin *bin;
	size_t i;

	if (GROW(histogram->bins, *capacity, histogram->nr_bins + nr))
		return read_no_memory(r);
	for (i = 0; i < nr; i++) {
		bin = &histogram->bins[histogram->nr_bins];
		*bin = (struct profile_bin){ pairs[i][0], pairs[i][1] };
		if (histogram->nr_bins && bin[-1].index >= bin->index)
			return json_reader_fail(r->json, "bins do not ascend");
		histogram->nr_bins++;
	}
	return 0;
}

/* Most bins are read by json_reader_pairs(), which expects them without blanks. */
static int read_bin(struct reader *r, uint64_t pair[2])
{
	static const struct profile_member numbers[] = {
		{ .key = "index", .type = MEMBER_U64 },
		{ .key = "ticks", .type = MEMBER_U64, .offset = sizeof(uint64_t) },
		{ 0 }
	};
	static const struct profile_member bin = { .members = numbers,
						   .meaning = "a bin is [index, ticks]" };

	return read_tuple(r, &bin, (char *)pair);
}

static int read_bins(struct reader *r, void *member)
{
	struct profile_histogram *histogram = member;
	uint64_t pairs[64][2];
	struct profile_bin *exact;
	size_t capacity = 0, nr;
	int ret = json_reader_array(r->json);

	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		nr = json_reader_pairs(r->json, pairs, sizeof(pairs) / sizeof(pairs[0]));
		ret = nr ? 0 : read_bin(r, pairs[0]);
		if (!ret)
			ret = keep_bins(r, histogram, &capacity, pairs, max_size(nr, 1));
		if (ret)
			return ret;
	}
	/*
	 * Shrink the array, because doubling leaves up to half of it unused, and bins are most of a
	 * profile.
	 */
	if (!ret && histogram->nr_bins) {
		exact = realloc(histogram->bins, histogram->nr_bins * sizeof(*exact));
		if (exact)
			histogram->bins = exact;
	}
	return ret;
}

/* Reads one of nr words, as an enum of their order. what: the message for any other. */
static int read_word(struct reader *r, const char *const *words, unsigned int nr, const char *what,
		     unsigned int *result)
{
	cleanup_free char *word = NULL;
	int ret = json_reader_string(r->json, &word);

	for (*result = 0; !ret && *result < nr; ++*result)
		if (!strcmp(word, words[*result]))
			return 0;
	return ret ?: json_reader_fail(r->json, "%s", what);
}

static int read_object_kind(struct reader *r, void *member)
{
	return read_word(r, profile_object_kinds, PROFILE_MEMORY + 1,
			 "an object of an unknown kind", member);
}

static int read_id(struct reader *r, void *member)
{
	(void)member;
	return json_reader_u64(r->json, &r->id);
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
	if (account->nr_lost == PROFILE_CAUSES_MAX)
		return json_reader_fail(r->json, "more than %d causes", PROFILE_CAUSES_MAX);
	if (GROW(account->lost, *capacity, account->nr_lost + 1))
		return read_no_memory(r);
	lost = account->lost + account->nr_lost++;
	lost->ticks = 0;
	ret = read_copy(r, cause, &lost->cause);
	return ret ? ret : json_reader_u64(r->json, &lost->ticks);
}

/* Later versions may add causes. Unknown ones count, too. */
static int read_lost(struct reader *r, void *member)
{
	struct profile_account *account = member;
	size_t capacity = 0;
	const char *cause;
	int ret = json_reader_object(r->json);

	if (ret)
		return ret;
	while ((ret = json_reader_member(r->json, &cause)) > 0) {
		ret = read_lost_cause(r, account, &capacity, cause);
		if (ret)
			return ret;
	}
	return ret;
}

static int read_end(struct reader *r, void *member)
{
	return read_word(r, walk_end_words, WALK_END_COUNT, "an unknown end of a walk", member);
}

static int read_parent(struct reader *r, void *member)
{
	int64_t parent;
	int ret = json_reader_i64(r->json, &parent);

	if (ret)
		return ret;
	if (parent < INT32_MIN || parent > INT32_MAX)
		return json_reader_fail(r->json, "a parent is beyond 2^31");
	*(int32_t *)member = (int32_t)parent;
	return 0;
}

static int read_site(struct reader *r, void *member)
{
	int64_t site;
	int ret = json_reader_i64(r->json, &site);

	if (ret)
		return ret;
	if (site < -1 || site >= PROFILE_SITE_KERNEL)
		return json_reader_fail(r->json, "a site is neither -1 nor an index");
	*(uint32_t *)member = site < 0 ? PROFILE_SITE_KERNEL : (uint32_t)site;
	return 0;
}

/* The list ends with NULL. After a failure, the zeroed element of read_list() ends it. */
static int read_command(struct reader *r, void *value)
{
	static const struct profile_member word = { .type = MEMBER_STRING, .size = sizeof(char *) };
	char ***command = value, **longer;
	size_t nr = 0;
	int ret = read_list(r, &word, value, &nr);

	if (!*command)
		return ret;
	longer = realloc(*command, (nr + 1) * sizeof(*longer));
	if (longer) {
		longer[nr] = NULL;
		*command = longer;
		return ret;
	}
	while (nr)
		free((*command)[--nr]);
	free(*command);
	*command = NULL;
	return ret ? ret : read_no_memory(r);
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

/* This only checks the sum of the targets' times. */
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

static int (*const readers[MEMBER_TYPES])(struct reader *r, void *value) = {
	[MEMBER_U64] = read_u64,
	[MEMBER_U32] = read_u32,
	[MEMBER_DOUBLE] = read_double,
	[MEMBER_BOOL] = read_bool,
	[MEMBER_STRING] = read_string,
	[MEMBER_STRING_OR_NULL] = read_string_or_null,
	[MEMBER_PID] = read_pid,
	[MEMBER_FORMAT] = read_format,
	[MEMBER_VERSION] = read_version,
	[MEMBER_CPU_NS] = read_whole_cpu_time,
	[MEMBER_ID] = read_id,
	[MEMBER_BINS] = read_bins,
	[MEMBER_LOST] = read_lost,
	[MEMBER_COMMAND] = read_command,
	[MEMBER_OBJECT_KIND] = read_object_kind,
	[MEMBER_WALK_END] = read_end,
	[MEMBER_PARENT] = read_parent,
	[MEMBER_SITE] = read_site,
};

static int read_value(struct reader *r, const struct profile_member *member, void *value)
{
	if (member->type == MEMBER_OBJECT)
		return read_members(r, member->members, value);
	if (member->type == MEMBER_TUPLE)
		return read_tuple(r, member, value);
	return readers[member->type](r, value);
}

static int read_element(struct reader *r, const struct profile_member *member, void *element,
			size_t i)
{
	int ret = read_value(r, member, element);

	if (!ret && member->members && member->members->type == MEMBER_ID && r->id != i)
		ret = json_reader_fail(r->json, "ids do not count up from 0");
	return ret;
}

/*
 * Reads an array into *list, which must be empty. Elements are zeroed and counted before they are
 * read, so that profile_free() finds a partial one after a failure.
 */
static int read_list(struct reader *r, const struct profile_member *member, void **list, size_t *nr)
{
	const size_t size = member->size;
	size_t capacity = 0;
	char *elements;
	int ret = json_reader_array(r->json);

	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		if (grow(list, &capacity, *nr + 1, size))
			return read_no_memory(r);
		memcpy(&elements, list, sizeof(elements));
		memset(elements + *nr * size, 0, size);
		*nr += 1;
		ret = read_element(r, member, elements + (*nr - 1) * size, *nr - 1);
		if (ret)
			return ret;
	}
	return ret;
}

static int read_pointer(struct reader *r, const struct profile_member *member, void *pointer)
{
	void *object = calloc(1, member->size);

	if (!object)
		return read_no_memory(r);
	memcpy(pointer, &object, sizeof(object));
	return read_members(r, member->members, object);
}

static int read_member(struct reader *r, const struct profile_member *member, char *object)
{
	void *value = object + member->offset, *other = object + member->other;

	switch (member->shape) {
	case MEMBER_LIST:
		return read_list(r, member, value, other);
	case MEMBER_POINTER:
		return read_pointer(r, member, value);
	case MEMBER_KNOWN:
		*(bool *)other = true;
		break;
	default:
		break;
	}
	return read_value(r, member, value);
}

static int read_document(struct reader *r)
{
	int ret;

	/* Finds the end of an empty file, or reports that there is more, which is fine. */
	ret = json_reader_end(r->json);
	if (!ret)
		return error_set(r->err, -ENODATA, "%s: empty", input_name(r->in));
	if (ret != -EBADMSG)
		return ret;
	ret = read_members(r, profile_members, r->profile);
	if (!ret)
		ret = json_reader_end(r->json);
	/* Report a file without "format" as foreign rather than damaged. */
	if (ret == -EBADMSG && !r->is_ours)
		return not_ours(r);
	if (!ret)
		ret = profile_check(r->profile, input_name(r->in), r->err);
	if (ret)
		return ret;
	profile_note_kinds(r->profile);
	return check_whole_cpu_time(r);
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
	int ret = input_open(path, &in, err);

	if (ret)
		return ret;
	ret = profile_read(in, result, err);
	input_close(in);
	return ret;
}
