// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/util.h"
#include "profile/profile.h"
#include "profile/profile_io.h"

/*
 * Reads JSON objects into structures by tables of keys. All functions return 0, or a negative errno
 * with a description in the reader's struct error.
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

/* A key of an object, and the member for its value, mostly of the same name. */
struct field {
	const char *key;
	int (*read)(struct reader *r, void *member);
	size_t offset;
	bool optional;
	size_t size; /* of an element; 0: the value is not a list */
	size_t nr_offset; /* member for the list's length */
};

/* .optional = true may follow these. */
#define FIELD(type, member, reader, ...)                                                           \
	{                                                                                          \
		.key = #member, .read = reader, .offset = offsetof(struct type, member),           \
		##__VA_ARGS__                                                                      \
	}
#define LIST(type, member, reader, ...)                                                            \
	FIELD(type, member, reader, .size = sizeof(*((struct type *)0)->member),                   \
	      .nr_offset = offsetof(struct type, nr_##member), ##__VA_ARGS__)

static int read_list(struct reader *r, void **list, size_t *nr, size_t size,
		     int (*read)(struct reader *r, void *element));

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

/* Starts with the next field, because our own writer uses the table's order. */
static size_t find_field(const struct field *fields, const char *key, size_t next)
{
	size_t i = 0;

	if (fields[next].key && !strcmp(fields[next].key, key))
		return next;
	while (fields[i].key && strcmp(fields[i].key, key) != 0)
		i++;
	return i;
}

static int read_field(struct reader *r, const struct field *field, char *base)
{
	void *member = base + field->offset, *nr = base + field->nr_offset;

	return field->size ? read_list(r, member, nr, field->size, field->read) :
			     field->read(r, member);
}

/*
 * Reads an object into the structure at base. Unknown keys come from a later version, and are
 * skipped. A known key may occur only once. The table ends with a NULL key, and has at most 64
 * keys.
 */
static int read_fields(struct reader *r, const struct field *fields, void *base)
{
	uint64_t seen = 0;
	const char *key;
	size_t i, next = 0;
	int ret;

	ret = json_reader_object(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_member(r->json, &key)) > 0) {
		i = find_field(fields, key, next);
		if (!fields[i].key)
			ret = json_reader_skip(r->json);
		else if (seen >> i & 1)
			ret = json_reader_fail(r->json, "\"%s\" stands there twice", fields[i].key);
		else
			ret = read_field(r, &fields[i], base);
		if (ret)
			return ret;
		if (fields[i].key)
			seen |= 1ULL << i;
		next = fields[i].key ? i + 1 : next;
	}
	for (i = 0; !ret && fields[i].key; i++)
		if (!fields[i].optional && !(seen >> i & 1))
			ret = json_reader_fail(r->json, "\"%s\" is missing", fields[i].key);
	return ret;
}

/*
 * Reads an array of elements of size bytes into *list, which must be empty. Elements are zeroed and
 * counted before they are read, so that profile_free() finds a partial one after a failure.
 */
static int read_list(struct reader *r, void **list, size_t *nr, size_t size,
		     int (*read)(struct reader *r, void *element))
{
	size_t capacity = 0;
	char *elements;
	int ret;

	ret = json_reader_array(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		if (grow(list, &capacity, *nr + 1, size))
			return read_no_memory(r);
		memcpy(&elements, list, sizeof(elements));
		memset(elements + *nr * size, 0, size);
		*nr += 1;
		ret = read(r, elements + (*nr - 1) * size);
		if (ret)
			return ret;
	}
	return ret;
}

/* For the tables. member has the type in the function's name, or int64_t for a pid. */
static int read_u64(struct reader *r, void *member)
{
	return json_reader_u64(r->json, member);
}

static int read_u32(struct reader *r, void *member)
{
	uint32_t *result = member;
	uint64_t value;
	int ret;

	ret = json_reader_u64(r->json, &value);
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
	int ret;

	ret = json_reader_double(r->json, result);
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

/* Reads an array of nr whole numbers. The first nr_signed may be negative. */
static int read_tuple(struct reader *r, uint64_t *numbers, size_t nr, size_t nr_signed,
		      const char *meaning)
{
	int64_t number;
	size_t i;
	int ret;

	ret = json_reader_array(r->json);
	for (i = 0; !ret && i < nr; i++) {
		ret = json_reader_element(r->json);
		if (ret < 0)
			return ret;
		if (!ret)
			return json_reader_fail(r->json, "%s", meaning);
		if (i >= nr_signed) {
			ret = json_reader_u64(r->json, &numbers[i]);
			continue;
		}
		ret = json_reader_i64(r->json, &number);
		numbers[i] = ret ? 0 : (uint64_t)number;
	}
	if (!ret)
		ret = json_reader_element(r->json);
	return ret > 0 ? json_reader_fail(r->json, "%s", meaning) : ret;
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

static int read_bins(struct reader *r, void *member)
{
	struct profile_histogram *histogram = member;
	uint64_t pairs[64][2];
	struct profile_bin *exact;
	size_t capacity = 0, nr;
	int ret;

	ret = json_reader_array(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		nr = json_reader_pairs(r->json, pairs, sizeof(pairs) / sizeof(pairs[0]));
		ret = nr ? 0 : read_tuple(r, pairs[0], 2, 0, "a bin is [index, ticks]");
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

static int read_histogram(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_histogram, target, read_u32),
		FIELD(profile_histogram, object, read_u32),
		FIELD(profile_histogram, pid, read_pid),
		FIELD(profile_histogram, process, read_string_or_null, .optional = true),
		FIELD(profile_histogram, cgroup, read_string_or_null),
		FIELD(profile_histogram, offset, read_u64),
		FIELD(profile_histogram, size, read_u64),
		FIELD(profile_histogram, width, read_u32),
		FIELD(profile_histogram, scale, read_u64),
		FIELD(profile_histogram, bytes_per_bin, read_u64),
		FIELD(profile_histogram, overflow, read_bool),
		FIELD(profile_histogram, stopped, read_string_or_null),
		FIELD(profile_histogram, dialect, read_string_or_null, .optional = true),
		FIELD(profile_histogram, buffer, read_u64, .optional = true),
		FIELD(profile_histogram, region, read_u32, .optional = true),
		{ .key = "bins", .read = read_bins },
		{ 0 },
	};

	return read_fields(r, fields, element);
}

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

static int read_kernel_ticks(struct reader *r, void *member)
{
	struct profile_target *target = member;

	target->kernel_known = true;
	return json_reader_u64(r->json, &target->kernel_ticks);
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
		{ .key = "kernel_ticks", .read = read_kernel_ticks, .optional = true },
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

static int read_site(struct reader *r, void *element)
{
	struct profile_site *site = element;
	uint64_t numbers[2];
	int ret = read_tuple(r, numbers, 2, 0, "a site is [object, offset]");

	if (ret)
		return ret;
	if (numbers[0] > UINT32_MAX)
		return json_reader_fail(r->json, "a number is above 2^32 - 1");
	*site = (struct profile_site){ (uint32_t)numbers[0], numbers[1] };
	return 0;
}

static int read_end(struct reader *r, void *member)
{
	cleanup_free char *word = NULL;
	unsigned int end = 0;
	int ret;

	ret = json_reader_string(r->json, &word);
	if (ret)
		return ret;
	while (end < WALK_END_COUNT && strcmp(word, walk_end_words[end]) != 0)
		end++;
	if (end == WALK_END_COUNT)
		return json_reader_fail(r->json, "an unknown end of a walk");
	*(enum walk_end *)member = (enum walk_end)end;
	return 0;
}

static int read_root(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_root, target, read_u32),
		FIELD(profile_root, pid, read_pid),
		FIELD(profile_root, process, read_string_or_null, .optional = true),
		FIELD(profile_root, cgroup, read_string_or_null),
		FIELD(profile_root, end, read_end),
		FIELD(profile_root, ticks, read_u64),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

/* Fills in a node's parent and site, and if it has ticks the third number. */
static int make_node(struct reader *r, const uint64_t *numbers, struct profile_node *node)
{
	const int64_t parent = (int64_t)numbers[0], site = (int64_t)numbers[1];

	*node = (struct profile_node){ 0 };
	if (parent < INT32_MIN || parent > INT32_MAX)
		return json_reader_fail(r->json, "a parent is beyond 2^31");
	if (site < -1 || site >= PROFILE_SITE_KERNEL)
		return json_reader_fail(r->json, "a site is neither -1 nor an index");
	/* -1 becomes PROFILE_SITE_KERNEL. */
	*node = (struct profile_node){ (int32_t)parent, (uint32_t)site, numbers[2] };
	return 0;
}

static int read_node(struct reader *r, void *element)
{
	uint64_t numbers[3];
	int ret = read_tuple(r, numbers, 3, 2, "a node is [parent, site, ticks]");

	return ret ? ret : make_node(r, numbers, element);
}

static int read_callers(struct reader *r, void *member)
{
	static const struct field fields[] = {
		LIST(profile_callers, sites, read_site),
		LIST(profile_callers, roots, read_root),
		LIST(profile_callers, nodes, read_node),
		{ 0 },
	};
	struct profile *profile = member;

	profile->callers = calloc(1, sizeof(*profile->callers));
	if (!profile->callers)
		return read_no_memory(r);
	return read_fields(r, fields, profile->callers);
}

static int read_wait_class(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_wait_class, name, read_string),
		FIELD(profile_wait_class, io, read_bool, .optional = true),
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_wait_sum(struct reader *r, void *element)
{
	struct profile_wait_sum *sum = element;
	uint64_t numbers[3];
	int ret = read_tuple(r, numbers, 3, 0, "a sum of waits is [class, ns, count]");

	if (ret)
		return ret;
	if (numbers[0] > UINT32_MAX)
		return json_reader_fail(r->json, "a number is above 2^32 - 1");
	*sum = (struct profile_wait_sum){ (uint32_t)numbers[0], numbers[1], numbers[2] };
	return 0;
}

static int read_wait_account(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_wait_account, target, read_u32),
		FIELD(profile_wait_account, pid, read_pid),
		FIELD(profile_wait_account, process, read_string_or_null, .optional = true),
		FIELD(profile_wait_account, cgroup, read_string_or_null),
		FIELD(profile_wait_account, wall_ns, read_u64),
		FIELD(profile_wait_account, cpu_ns, read_u64),
		FIELD(profile_wait_account, runnable_ns, read_u64),
		FIELD(profile_wait_account, stolen_ns, read_u64),
		FIELD(profile_wait_account, unaccounted_ns, read_u64),
		{ .key = "classes",
		  .read = read_wait_sum,
		  .offset = offsetof(struct profile_wait_account, sums),
		  .size = sizeof(struct profile_wait_sum),
		  .nr_offset = offsetof(struct profile_wait_account, nr_sums) },
		{ 0 },
	};

	return read_fields(r, fields, element);
}

static int read_wait_root(struct reader *r, void *element)
{
	static const struct field fields[] = {
		FIELD(profile_wait_root, target, read_u32),
		FIELD(profile_wait_root, pid, read_pid),
		FIELD(profile_wait_root, process, read_string_or_null, .optional = true),
		FIELD(profile_wait_root, cgroup, read_string_or_null),
		FIELD(profile_wait_root, class, read_u32),
		FIELD(profile_wait_root, end, read_end, .optional = true),
		FIELD(profile_wait_root, ns, read_u64),
		FIELD(profile_wait_root, count, read_u64),
		{ 0 },
	};
	struct profile_wait_root *root = element;

	root->end = WALK_END_COUNT;
	return read_fields(r, fields, root);
}

static int read_wait_node(struct reader *r, void *element)
{
	struct profile_wait_node *node = element;
	struct profile_node place;
	uint64_t numbers[4];
	int ret = read_tuple(r, numbers, 4, 2, "a node of waits is [parent, site, ns, count]");

	ret = ret ?: make_node(r, numbers, &place);
	if (!ret)
		*node = (struct profile_wait_node){ place.parent, place.site, numbers[2],
						    numbers[3] };
	return ret;
}

static int read_waits(struct reader *r, void *member)
{
	static const struct field fields[] = {
		LIST(profile_waits, classes, read_wait_class),
		LIST(profile_waits, accounts, read_wait_account),
		LIST(profile_waits, sites, read_site),
		LIST(profile_waits, roots, read_wait_root),
		LIST(profile_waits, nodes, read_wait_node),
		{ 0 },
	};
	struct profile *profile = member;

	profile->waits = calloc(1, sizeof(*profile->waits));
	if (!profile->waits)
		return read_no_memory(r);
	return read_fields(r, fields, profile->waits);
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

/* The list ends with NULL. After a failure, the zeroed element of read_list() ends it. */
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
		FIELD(profile_sampling, unsampled_ns, read_u64, .optional = true),
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
	{ .key = "callers", .read = read_callers, .optional = true },
	{ .key = "waits", .read = read_waits, .optional = true },
	LIST(profile, functions, read_function),
	LIST(profile, notes, read_string, .optional = true),
	{ 0 },
};

static int read_document(struct reader *r)
{
	int ret;

	/* Finds the end of an empty file, or reports that there is more, which is fine. */
	ret = json_reader_end(r->json);
	if (!ret)
		return error_set(r->err, -ENODATA, "%s: empty", input_name(r->in));
	if (ret != -EBADMSG)
		return ret;
	ret = read_fields(r, document, r->profile);
	if (!ret)
		ret = json_reader_end(r->json);
	/* Report a file without "format" as foreign rather than damaged. */
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
