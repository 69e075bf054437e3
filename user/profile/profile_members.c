// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "profile/waits.h"

/*
 * .optional = true and the like may follow these. at: the offset of a struct within the owner of
 * the table.
 */
#define VALUE_AT(at, word, owner, member, kind, ...)                                               \
	{                                                                                          \
		.key = word, .type = MEMBER_##kind,                                                \
		.offset = (at) + offsetof(struct owner, member), ##__VA_ARGS__                     \
	}
#define LIST_AT(at, word, owner, member, kind, ...)                                                \
	VALUE_AT(at, word, owner, member, kind, .shape = MEMBER_LIST,                              \
		 .other = (at) + offsetof(struct owner, nr_##member),                              \
		 .size = sizeof(*((struct owner *)0)->member), ##__VA_ARGS__)
#define VALUE(owner, member, kind, ...) VALUE_AT(0, #member, owner, member, kind, ##__VA_ARGS__)
#define LIST(owner, member, kind, ...) LIST_AT(0, #member, owner, member, kind, ##__VA_ARGS__)
#define KNOWN(owner, member, known, ...)                                                           \
	VALUE(owner, member, U64, .shape = MEMBER_KNOWN, .other = offsetof(struct owner, known),   \
	      .optional = true)
/* The target and split that something belongs to. */
#define OWNER(owner)                                                                               \
	VALUE(owner, target, U32), VALUE(owner, pid, PID),                                         \
		VALUE(owner, process, STRING_OR_NULL, .optional = true),                           \
		VALUE(owner, cgroup, STRING_OR_NULL)
#define SPECIAL(word, kind, ...)                                                                   \
	{                                                                                          \
		.key = word, .type = MEMBER_##kind, ##__VA_ARGS__                                  \
	}

static const struct profile_member account_members[] = {
	VALUE(profile_account, total, U64),
	VALUE(profile_account, binned, U64),
	VALUE(profile_account, overflow, U64),
	VALUE(profile_account, outside, U64),
	VALUE(profile_account, filtered, U64),
	SPECIAL("lost", LOST),
	{ 0 },
};

const struct profile_member profile_target_members[] = {
	SPECIAL("id", ID),
	VALUE(profile_target, kind, STRING),
	VALUE(profile_target, name, STRING),
	VALUE(profile_target, cgroup, STRING, .optional = true),
	VALUE(profile_target, host, STRING, .optional = true),
	VALUE(profile_target, period_ns, U64, .optional = true),
	VALUE(profile_target, ticks, OBJECT, .members = account_members),
	KNOWN(profile_target, cpu_ns, cpu_known),
	VALUE(profile_target, excess, U64, .optional = true),
	KNOWN(profile_target, kernel_ticks, kernel_known),
	{ 0 },
};

const struct profile_member profile_split_members[] = {
	OWNER(profile_split),
	VALUE(profile_split, ticks, U64),
	VALUE(profile_split, cpu_ns, U64),
	{ 0 },
};

const struct profile_member profile_label_members[] = {
	VALUE(profile_label, host, STRING, .optional = true),
	VALUE(profile_label, cgroup, STRING_OR_NULL),
	VALUE(profile_label, key, STRING),
	VALUE(profile_label, value, STRING),
	{ 0 },
};

static const struct profile_member text_members[] = {
	VALUE(profile_text, offset, U64),
	VALUE(profile_text, address, U64),
	VALUE(profile_text, size, U64),
	{ 0 },
};

const struct profile_member profile_object_members[] = {
	SPECIAL("id", ID),
	VALUE(profile_object, kind, OBJECT_KIND),
	VALUE(profile_object, path, STRING),
	VALUE(profile_object, build_id, STRING_OR_NULL),
	LIST(profile_object, text, OBJECT, .members = text_members),
	{ 0 },
};

static bool has_dialect(const void *object)
{
	const struct profile_histogram *histogram = object;

	return histogram->dialect;
}

const struct profile_member profile_histogram_members[] = {
	VALUE(profile_histogram, target, U32),
	VALUE(profile_histogram, object, U32),
	VALUE(profile_histogram, pid, PID),
	VALUE(profile_histogram, process, STRING_OR_NULL, .optional = true),
	VALUE(profile_histogram, cgroup, STRING_OR_NULL),
	VALUE(profile_histogram, offset, U64),
	VALUE(profile_histogram, size, U64),
	VALUE(profile_histogram, width, U32),
	VALUE(profile_histogram, scale, U64),
	VALUE(profile_histogram, bytes_per_bin, U64),
	VALUE(profile_histogram, overflow, BOOL),
	VALUE(profile_histogram, stopped, STRING_OR_NULL),
	VALUE(profile_histogram, dialect, STRING_OR_NULL, .optional = true),
	VALUE(profile_histogram, buffer, U64, .optional = true, .is_written = has_dialect),
	VALUE(profile_histogram, region, U32, .optional = true, .is_written = has_dialect),
	SPECIAL("bins", BINS),
	{ 0 },
};

const struct profile_member profile_root_members[] = {
	OWNER(profile_root),
	VALUE(profile_root, end, WALK_END),
	VALUE(profile_root, ticks, U64),
	{ 0 },
};

static bool has_end(const void *object)
{
	const struct profile_root *root = object;

	return root->end < WALK_END_COUNT;
}

/* The same of waits. */
static const struct profile_member wait_root_members[] = {
	OWNER(profile_root),
	VALUE(profile_root, class, U32),
	VALUE(profile_root, end, WALK_END, .optional = true, .is_written = has_end),
	VALUE_AT(0, "ns", profile_root, ticks, U64),
	VALUE_AT(0, "count", profile_root, waits, U64),
	{ 0 },
};

static const struct profile_member site_members[] = {
	VALUE(profile_site, object, U32),
	VALUE(profile_site, offset, U64),
	{ 0 },
};

static const struct profile_member node_members[] = {
	VALUE(profile_node, parent, PARENT),
	VALUE(profile_node, site, SITE),
	VALUE(profile_node, ticks, U64),
	{ 0 },
};

static const struct profile_member wait_node_members[] = {
	VALUE(profile_node, parent, PARENT),
	VALUE(profile_node, site, SITE),
	VALUE_AT(0, "ns", profile_node, ticks, U64),
	VALUE_AT(0, "count", profile_node, waits, U64),
	{ 0 },
};

/* The lists of a tree. Many sites and nodes are on a line, because there are a hundred thousand. */
#define TREE_AT(at, root_table, node_table, of_a_node, ...)                                        \
	LIST_AT(at, "sites", profile_callers, sites, TUPLE, .members = site_members,               \
		.meaning = "a site is [object, offset]", .per_line = 16, ##__VA_ARGS__),           \
		LIST_AT(at, "roots", profile_callers, roots, OBJECT, .members = root_table,        \
			.on_new_line = true, .per_line = 1),                                       \
		LIST_AT(at, "nodes", profile_callers, nodes, TUPLE, .members = node_table,         \
			.meaning = of_a_node, .on_new_line = true, .per_line = 16)

static const struct profile_member callers_members[] = {
	TREE_AT(0, profile_root_members, node_members, "a node is [parent, site, ticks]"),
	{ 0 },
};

const struct profile_member profile_wait_class_members[] = {
	VALUE(profile_wait_class, name, STRING),
	VALUE(profile_wait_class, io, BOOL, .optional = true),
	{ 0 },
};

static const struct profile_member wait_sum_members[] = {
	VALUE(profile_wait_sum, class, U32),
	VALUE(profile_wait_sum, ns, U64),
	VALUE(profile_wait_sum, count, U64),
	{ 0 },
};

const struct profile_member profile_wait_account_members[] = {
	OWNER(profile_wait_account),
	VALUE(profile_wait_account, wall_ns, U64),
	VALUE(profile_wait_account, cpu_ns, U64),
	VALUE(profile_wait_account, runnable_ns, U64),
	VALUE(profile_wait_account, stolen_ns, U64),
	VALUE(profile_wait_account, unaccounted_ns, U64),
	LIST_AT(0, "classes", profile_wait_account, sums, TUPLE, .members = wait_sum_members,
		.meaning = "a sum of waits is [class, ns, count]"),
	{ 0 },
};

static const struct profile_member waits_members[] = {
	LIST(profile_waits, classes, OBJECT, .members = profile_wait_class_members, .per_line = 16),
	LIST(profile_waits, accounts, OBJECT, .members = profile_wait_account_members,
	     .on_new_line = true, .per_line = 1),
	TREE_AT(offsetof(struct profile_waits, tree), wait_root_members, wait_node_members,
		"a node of waits is [parent, site, ns, count]", .on_new_line = true),
	{ 0 },
};

const struct profile_member profile_function_members[] = {
	VALUE(profile_function, object, U32), VALUE(profile_function, name, STRING),
	VALUE(profile_function, offset, U64), VALUE(profile_function, size, U64),
	VALUE(profile_function, ticks, U64),  { 0 },
};

const struct profile_member profile_host_members[] = {
	VALUE(profile_host, kernel, STRING),
	VALUE(profile_host, arch, STRING),
	VALUE(profile_host, cpus, U32),
	VALUE(profile_host, name, STRING),
	{ 0 },
};

static const struct profile_member segment_members[] = {
	VALUE(profile_segment, since_ns, U64),
	VALUE(profile_segment, duration_ns, U64),
	VALUE(profile_segment, period_ns, U64),
	{ 0 },
};

static bool has_budget(const void *object)
{
	const struct profile_sampling *sampling = object;

	return sampling->cost.budget_percent > 0;
}

static bool always(const void *object)
{
	return object;
}

static const struct profile_member cost_members[] = {
	VALUE(profile_cost, budget_percent, DOUBLE),
	VALUE(profile_cost, percent, DOUBLE),
	VALUE(profile_cost, interrupt_ns, DOUBLE),
	VALUE(profile_cost, handler_ns, DOUBLE),
	VALUE(profile_cost, fixed_percent, DOUBLE, .optional = true, .is_written = always),
	{ 0 },
};

static bool is_partial(const void *object)
{
	const struct profile_sampling *sampling = object;

	return sampling->sampled_ns || sampling->duty_percent > 0;
}

static const struct profile_member sampling_members[] = {
	VALUE(profile_sampling, source, STRING),
	VALUE(profile_sampling, mode, STRING),
	VALUE(profile_sampling, split, STRING, .optional = true),
	VALUE(profile_sampling, cpus, STRING, .optional = true),
	VALUE(profile_sampling, hierarchy, STRING, .optional = true),
	VALUE(profile_sampling, period_ns, U64),
	VALUE(profile_sampling, requested_hz, DOUBLE),
	VALUE(profile_sampling, measured_hz, DOUBLE),
	VALUE(profile_sampling, duty_percent, DOUBLE, .optional = true),
	VALUE(profile_sampling, sampled_ns, U64, .optional = true, .is_written = is_partial),
	VALUE(profile_sampling, unsampled_ns, U64, .optional = true),
	LIST(profile_sampling, delivered, U64, .optional = true, .on_new_line = true),
	LIST(profile_sampling, segments, OBJECT, .members = segment_members, .optional = true,
	     .on_new_line = true, .per_line = 1),
	VALUE(profile_sampling, cost, OBJECT, .members = cost_members, .optional = true,
	      .is_written = has_budget, .on_new_line = true),
	{ 0 },
};

static bool has_cpu_time(const void *object)
{
	uint64_t ns;

	return profile_cpu_time(object, &ns);
}

#define OBJECTS(list, table, ...)                                                                  \
	LIST(profile, list, OBJECT, .members = table, .on_new_line = true, .per_line = 1,          \
	     ##__VA_ARGS__)

const struct profile_member profile_members[] = {
	SPECIAL("format", FORMAT),
	SPECIAL("version", VERSION),
	VALUE(profile, tool, STRING),
	VALUE(profile, started, STRING, .on_new_line = true),
	VALUE(profile, duration_ns, U64),
	VALUE(profile, complete, BOOL),
	VALUE(profile, host, OBJECT, .members = profile_host_members, .on_new_line = true),
	OBJECTS(hosts, profile_host_members, .optional = true),
	VALUE(profile, command, COMMAND, .on_new_line = true),
	VALUE(profile, sampling, OBJECT, .members = sampling_members, .on_new_line = true),
	VALUE(profile, ticks, OBJECT, .members = account_members, .on_new_line = true),
	SPECIAL("cpu_ns", CPU_NS, .optional = true, .is_written = has_cpu_time,
		.on_new_line = true),
	OBJECTS(targets, profile_target_members),
	OBJECTS(splits, profile_split_members, .optional = true),
	OBJECTS(labels, profile_label_members, .optional = true),
	OBJECTS(objects, profile_object_members),
	OBJECTS(histograms, profile_histogram_members),
	VALUE(profile, callers, OBJECT, .shape = MEMBER_POINTER,
	      .size = sizeof(struct profile_callers), .members = callers_members, .optional = true,
	      .on_new_line = true),
	VALUE(profile, waits, OBJECT, .shape = MEMBER_POINTER, .size = sizeof(struct profile_waits),
	      .members = waits_members, .optional = true, .on_new_line = true),
	OBJECTS(functions, profile_function_members),
	LIST(profile, notes, STRING, .optional = true, .is_written = always, .on_new_line = true,
	     .per_line = 1),
	{ 0 },
};

/* --- freeing ---------------------------------------------------------------------------------- */

void profile_command_free(char **command)
{
	size_t i;

	for (i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

static void free_lost(struct profile_account *account)
{
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		free(account->lost[i].cause);
	free(account->lost);
}

static void free_value(const struct profile_member *member, void *value)
{
	switch (member->type) {
	case MEMBER_STRING:
	case MEMBER_STRING_OR_NULL:
		free(*(char **)value);
		break;
	case MEMBER_OBJECT:
		profile_members_free(member->members, value);
		break;
	case MEMBER_LOST:
		free_lost(value);
		break;
	case MEMBER_BINS:
		free(((struct profile_histogram *)value)->bins);
		break;
	case MEMBER_COMMAND:
		profile_command_free(*(char ***)value);
		break;
	default:
		break;
	}
}

static void free_list(const struct profile_member *member, char *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free_value(member, list + i * member->size);
	free(list);
}

void profile_members_free(const struct profile_member *members, void *object)
{
	for (; members->key; members++) {
		if (members->shape == MEMBER_LIST)
			free_list(members, member_pointer(members, object),
				  member_length(members, object));
		else if (members->shape == MEMBER_POINTER)
			free_list(members, member_pointer(members, object),
				  member_pointer(members, object) ? 1 : 0);
		else
			free_value(members, (char *)object + members->offset);
	}
}

/* --- appending -------------------------------------------------------------------------------- */

static void set_pointer(const struct profile_member *member, void *object, void *pointer)
{
	memcpy((char *)object + member->offset, &pointer, sizeof(pointer));
}

static int extend_list(const struct profile_member *member, void *into, const void *from)
{
	const size_t nr = member_length(member, into) + member_length(member, from);
	void *list = reallocarray(member_pointer(member, into), nr + 1, member->size);

	if (list)
		set_pointer(member, into, list);
	return list ? 0 : -ENOMEM;
}

int profile_members_extend(const struct profile_member *members, void *into, const void *from)
{
	int ret = 0;

	for (; !ret && members->key; members++) {
		if (members->shape == MEMBER_LIST)
			ret = extend_list(members, into, from);
		if (members->shape == MEMBER_POINTER && member_pointer(members, into) &&
		    member_pointer(members, from))
			ret = profile_members_extend(members->members,
						     member_pointer(members, into),
						     member_pointer(members, from));
	}
	return ret;
}

static void move_list(const struct profile_member *member, void *into, void *from)
{
	const size_t nr = member_length(member, into), more = member_length(member, from);
	const size_t sum = nr + more;
	char *list = member_pointer(member, into), *part = member_pointer(member, from);

	if (more)
		memcpy(list + nr * member->size, part, more * member->size);
	free(part);
	memcpy((char *)into + member->other, &sum, sizeof(sum));
	set_pointer(member, from, NULL);
	memset((char *)from + member->other, 0, sizeof(sum));
}

void profile_members_move(const struct profile_member *members, void *into, void *from)
{
	for (; members->key; members++) {
		if (members->shape == MEMBER_LIST) {
			move_list(members, into, from);
		} else if (members->shape == MEMBER_POINTER) {
			void *whole = member_pointer(members, into);
			void *part = member_pointer(members, from);

			if (whole && part) {
				profile_members_move(members->members, whole, part);
			} else if (part) {
				set_pointer(members, into, part);
				set_pointer(members, from, NULL);
			}
		}
	}
}

/* --- each kind -------------------------------------------------------------------------------- */

void profile_account_free(struct profile_account *account)
{
	profile_members_free(account_members, account);
}

void profile_split_free(struct profile_split *split)
{
	profile_members_free(profile_split_members, split);
}

void profile_object_free(struct profile_object *object)
{
	profile_members_free(profile_object_members, object);
}

void profile_callers_free(struct profile_callers *callers)
{
	if (callers)
		profile_members_free(callers_members, callers);
	free(callers);
}

void profile_free(struct profile *profile)
{
	if (profile)
		profile_members_free(profile_members, profile);
	free(profile);
}
