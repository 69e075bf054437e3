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
 * JSON objects read into structures by tables of their keys. All functions return 0 or a negative
 * errno after they have described the failure in the reader's struct error.
 */

struct reader {
	struct json_reader *json;
	struct input *in;
	struct error *err;
	struct profile *profile;
	uint64_t id; /* of the target or object that is being read */
	bool is_ours; /* "format" was read */
	bool has_cpu_ns; /* the head's was, */
	uint64_t cpu_ns; /* and is this */
};

/* A key of an object and where its value goes. */
struct field {
	const char *key;
	int (*read)(struct reader *r, void *member);
	size_t offset;
	bool optional;
};

/*
 * Reads an object into the structure at base. Unknown keys are a later writer's and are skipped,
 * ours stand there once. The table ends with a NULL key and has at most 64.
 */
int read_fields(struct reader *r, const struct field *fields, void *base);

/*
 * Reads an array of elements of size bytes into *list, which is empty. An element is zeroed and
 * counted before it is read, so that profile_free() finds the half of it after a failure.
 */
int read_list(struct reader *r, void **list, size_t *nr, size_t size,
	      int (*read)(struct reader *r, void *element));

/* For the tables: member is what the name says, and for a pid an int64_t. */
int read_u64(struct reader *r, void *member);
int read_u32(struct reader *r, void *member);
int read_double(struct reader *r, void *member); /* not negative */
int read_bool(struct reader *r, void *member);
int read_string(struct reader *r, void *member); /* allocated */
int read_string_or_null(struct reader *r, void *member);
int read_pid(struct reader *r, void *member); /* null: -1 */

int read_histogram(struct reader *r, void *element); /* a struct profile_histogram */

/* A string that was read, such as a key, to keep. */
int read_copy(struct reader *r, const char *text, char **ret);

int read_no_memory(struct reader *r);

#endif
