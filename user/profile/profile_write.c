// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "profile/profile_members.h"
#include "profile/waits.h"
#include "shared/counters.h"

#define LOST_KEY(id, key, text) [LOST_##id] = key,
static const char *const lost_keys[] = { LOST_CAUSES(LOST_KEY) };
#undef LOST_KEY

struct writer {
	FILE *stream;
	size_t index; /* of the current element */
};

/* before: the text before the number. */
static void put_u64(FILE *stream, const char *before, uint64_t value)
{
	fputs(before, stream);
	json_text_u64(stream, value);
}

static uint64_t lost_ticks(const struct profile_account *account, const char *cause)
{
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		if (!strcmp(account->lost[i].cause, cause))
			return account->lost[i].ticks;
	return 0;
}

static bool is_known_cause(const char *cause)
{
	size_t i;

	for (i = 0; i < LOST_CAUSE_COUNT; i++)
		if (!strcmp(lost_keys[i], cause))
			return true;
	return false;
}

static void put_cause(FILE *stream, const char *separator, const char *cause, uint64_t ticks)
{
	fputs(separator, stream);
	json_text_string(stream, cause);
	put_u64(stream, ": ", ticks);
}

/* Writes our own causes in order, even if they are 0, then unknown ones. */
static void put_lost(FILE *stream, const struct profile_account *account)
{
	size_t i;

	for (i = 0; i < LOST_CAUSE_COUNT; i++)
		put_cause(stream, i ? ", " : "{", lost_keys[i], lost_ticks(account, lost_keys[i]));
	for (i = 0; i < account->nr_lost; i++)
		if (!is_known_cause(account->lost[i].cause))
			put_cause(stream, ", ", account->lost[i].cause, account->lost[i].ticks);
	fputs("}", stream);
}

static void put_command(FILE *stream, char *const *command)
{
	const char *separator = "[";

	for (; command && *command; command++) {
		fputs(separator, stream);
		json_text_string(stream, *command);
		separator = ", ";
	}
	fputs(*separator == '[' ? "[]" : "]", stream);
}

static void put_bins(FILE *stream, const struct profile_histogram *histogram)
{
	size_t i;

	fputs("[", stream);
	for (i = 0; i < histogram->nr_bins && !ferror(stream); i++) {
		put_u64(stream, i ? ",[" : "[", histogram->bins[i].index);
		put_u64(stream, ",", histogram->bins[i].count);
		fputs("]", stream);
	}
	fputs("]", stream);
}

static void put_parent(FILE *stream, int32_t parent)
{
	put_u64(stream, parent < 0 ? "-" : "", (uint64_t)llabs(parent));
}

static void put_site(FILE *stream, uint32_t site)
{
	if (site == PROFILE_SITE_KERNEL)
		fputs("-1", stream);
	else
		json_text_u64(stream, site);
}

static void write_members(struct writer *w, const struct profile_member *members,
			  const char *object);

static void put_pid(FILE *stream, int64_t pid)
{
	if (pid < 0)
		fputs("null", stream);
	else
		json_text_u64(stream, (uint64_t)pid);
}

static void write_special(const struct writer *w, enum member_type type, const void *value)
{
	uint64_t ns;

	switch (type) {
	case MEMBER_FORMAT:
		return json_text_string(w->stream, "bpfprofil");
	case MEMBER_VERSION:
		return json_text_u64(w->stream, PROFILE_VERSION);
	case MEMBER_CPU_NS:
		profile_cpu_time(value, &ns);
		return json_text_u64(w->stream, ns);
	case MEMBER_ID:
		return json_text_u64(w->stream, w->index);
	case MEMBER_BINS:
		return put_bins(w->stream, value);
	case MEMBER_LOST:
		return put_lost(w->stream, value);
	case MEMBER_COMMAND:
		return put_command(w->stream, *(char **const *)value);
	case MEMBER_OBJECT_KIND:
		return json_text_string(
			w->stream, profile_object_kinds[*(const enum profile_object_kind *)value]);
	case MEMBER_WALK_END:
		return json_text_string(w->stream, walk_end_words[*(const enum walk_end *)value]);
	case MEMBER_PARENT:
		return put_parent(w->stream, *(const int32_t *)value);
	default:
		return put_site(w->stream, *(const uint32_t *)value);
	}
}

static void write_value(struct writer *w, const struct profile_member *member, const void *value);

static void write_tuple(struct writer *w, const struct profile_member *members, const char *tuple)
{
	const char *separator = "[";

	for (; members->key; members++, separator = ",") {
		fputs(separator, w->stream);
		write_value(w, members, tuple + members->offset);
	}
	fputs("]", w->stream);
}

static void write_value(struct writer *w, const struct profile_member *member, const void *value)
{
	switch (member->type) {
	case MEMBER_U64:
		return json_text_u64(w->stream, *(const uint64_t *)value);
	case MEMBER_U32:
		return json_text_u64(w->stream, *(const uint32_t *)value);
	case MEMBER_DOUBLE:
		return json_text_double(w->stream, *(const double *)value);
	case MEMBER_BOOL:
		return (void)fputs(*(const bool *)value ? "true" : "false", w->stream);
	case MEMBER_STRING:
		return json_text_string(w->stream, *(char *const *)value);
	case MEMBER_STRING_OR_NULL:
		return json_text_string_or_null(w->stream, *(char *const *)value);
	case MEMBER_PID:
		return put_pid(w->stream, *(const int64_t *)value);
	case MEMBER_OBJECT:
		return write_members(w, member->members, value);
	case MEMBER_TUPLE:
		return write_tuple(w, member->members, value);
	default:
		return write_special(w, member->type, value);
	}
}

static void write_list(struct writer *w, const struct profile_member *member, const char *object)
{
	const char *list = member_pointer(member, object);
	const size_t nr = member_length(member, object);
	const unsigned int per_line = member->per_line;
	size_t i;

	fputs(nr && per_line ? "[\n" : "[", w->stream);
	for (i = 0; i < nr && !ferror(w->stream); i++) {
		if (i && per_line)
			fputs(i % per_line ? "," : ",\n", w->stream);
		else if (i)
			fputs(", ", w->stream);
		w->index = i;
		write_value(w, member, list + i * member->size);
	}
	fputs(nr && per_line ? "\n]" : "]", w->stream);
}

/* Whether an optional member has a value other than 0. */
static bool has_value(const struct profile_member *member, const char *object)
{
	const char *value = object + member->offset;

	switch (member->shape) {
	case MEMBER_LIST:
		return member_length(member, object);
	case MEMBER_POINTER:
		return member_pointer(member, object);
	case MEMBER_KNOWN:
		return *(const bool *)(object + member->other);
	default:
		break;
	}
	switch (member->type) {
	case MEMBER_U64:
		return *(const uint64_t *)(const void *)value;
	case MEMBER_DOUBLE:
		return *(const double *)(const void *)value > 0;
	case MEMBER_BOOL:
		return *(const bool *)value;
	default:
		return member_pointer(member, object);
	}
}

static bool is_written(const struct profile_member *member, const char *object)
{
	if (!member->optional)
		return true;
	return member->is_written ? member->is_written(object) : has_value(member, object);
}

static void write_members(struct writer *w, const struct profile_member *members,
			  const char *object)
{
	const char *first = "{";

	for (; members->key; members++) {
		if (!is_written(members, object))
			continue;
		fputs(first ?: members->on_new_line ? ",\n" : ", ", w->stream);
		fprintf(w->stream, "\"%s\": ", members->key);
		if (members->shape == MEMBER_LIST)
			write_list(w, members, object);
		else if (members->shape == MEMBER_POINTER)
			write_members(w, members->members, member_pointer(members, object));
		else
			write_value(w, members, object + members->offset);
		first = NULL;
	}
	fputs("}", w->stream);
}

int profile_write(const struct profile *profile, FILE *stream, struct error *err)
{
	struct writer writer = { .stream = stream };
	int ret;

	errno = 0;
	write_members(&writer, profile_members, (const char *)profile);
	fputs("\n", stream);
	if (!fflush(stream) && !ferror(stream))
		return 0;
	ret = errno ? -errno : -EIO;
	return error_errno(err, ret, "writing the profile");
}

int profile_save(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err)
{
	struct output *out;
	int ret;

	if (profile_is_confidential(profile))
		flags |= OUTPUT_CONFIDENTIAL;
	ret = output_open(path, flags, &out, err);
	if (ret)
		return ret;
	ret = profile_write(profile, output_stream(out), err);
	return output_finish(out, ret, err);
}
