/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FIELDS_H
#define BPFPROFIL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "profile/profile.h"

/*
 * Reads JSON objects into structures by tables of their keys. All functions return 0, or a negative
 * errno after they have described the failure in the reader's struct error.
 */

struct reader {
	struct json_reader *json;
	struct input *in;
	struct error *err;
	struct profile *profile;
	uint64_t id; /* id of the target or object that is being read */
	bool is_ours; /* "format" has been read */
	bool has_cpu_ns; /* the head had a "cpu_ns", */
	uint64_t cpu_ns; /* with this value */
};

/* A key of an object and where its value goes: mostly to the member of that name. */
struct field {
	const char *key;
	int (*read)(struct reader *r, void *member);
	size_t offset;
	bool optional;
	size_t size; /* of the elements that read reads; 0: the value is no list */
	size_t nr_offset; /* where a list's number of elements goes */
};

/* Behind these three may stand .optional = true. */
#define FIELD(type, member, reader, ...)                                                           \
	{                                                                                          \
		.key = #member, .read = reader, .offset = offsetof(struct type, member),           \
		##__VA_ARGS__                                                                      \
	}
#define LIST(type, member, reader, ...)                                                            \
	FIELD(type, member, reader, .size = sizeof(*((struct type *)0)->member),                   \
	      .nr_offset = offsetof(struct type, nr_##member), ##__VA_ARGS__)

/*
 * Reads an object into the structure at base. Unknown keys come from a later writer and are
 * skipped; a known key may occur only once. The table ends with a NULL key and has at most 64 keys.
 */
int read_fields(struct reader *r, const struct field *fields, void *base);

/*
 * Reads an array of elements of size bytes into *list, which must be empty. An element is zeroed
 * and counted before it is read, so that after a failure profile_free() finds a partly read one.
 */
int read_list(struct reader *r, void **list, size_t *nr, size_t size,
	      int (*read)(struct reader *r, void *element));

/* For the tables: member has the type in the name, or int64_t for a pid. */
int read_u64(struct reader *r, void *member);
int read_u32(struct reader *r, void *member);
int read_double(struct reader *r, void *member); /* not negative */
int read_bool(struct reader *r, void *member);
int read_string(struct reader *r, void *member); /* allocated */
int read_string_or_null(struct reader *r, void *member);
int read_pid(struct reader *r, void *member); /* null becomes -1 */

int read_histogram(struct reader *r, void *element); /* a struct profile_histogram */

/* Copies a string that was read, such as a key, to keep it. */
int read_copy(struct reader *r, const char *text, char **result);

int read_no_memory(struct reader *r);

#endif
