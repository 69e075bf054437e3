/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_MEMBERS_H
#define BPFPROFIL_PROFILE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * The members of the JSON document. Each has one row, by which profile_read.c reads it,
 * profile_write.c writes it, and profile_free() frees it. The document has the order of the rows.
 */
enum member_type {
	MEMBER_U64,
	MEMBER_U32,
	MEMBER_DOUBLE, /* not negative */
	MEMBER_BOOL,
	MEMBER_STRING,
	MEMBER_STRING_OR_NULL,
	MEMBER_PID, /* -1 is null */
	MEMBER_OBJECT, /* with members of its own */
	MEMBER_TUPLE, /* the same, as an array without their keys */
	/* Members of one kind of object each. Those up to MEMBER_LOST get the whole object. */
	MEMBER_FORMAT,
	MEMBER_VERSION,
	MEMBER_CPU_NS, /* the sum of the targets' */
	MEMBER_ID, /* the index of the object in its list */
	MEMBER_BINS,
	MEMBER_LOST,
	MEMBER_COMMAND,
	MEMBER_OBJECT_KIND,
	MEMBER_WALK_END, /* WALK_END_COUNT: it is missing */
	MEMBER_PARENT, /* of a node */
	MEMBER_SITE, /* its number; -1 is PROFILE_SITE_KERNEL */
	MEMBER_TYPES
};

enum member_shape {
	MEMBER_VALUE,
	MEMBER_KNOWN, /* `other` is a bool: the value is known */
	MEMBER_LIST, /* `other` is the length */
	MEMBER_POINTER, /* to an object, or NULL */
};

struct profile_member {
	const char *key; /* NULL: end of the table */
	enum member_type type; /* of the value, or of each element */
	enum member_shape shape;
	size_t offset;
	size_t other;
	size_t size; /* of an element, or of the object at the pointer */
	const struct profile_member *members; /* of an object or a tuple */
	const char *meaning; /* of a tuple: "a site is [object, offset]" */
	bool optional; /* may be missing when it is read */
	/* Whether an optional one is written. NULL: if it is neither 0 nor empty. */
	bool (*is_written)(const void *object);
	bool on_new_line;
	unsigned int per_line; /* elements of a list on each line; 0: all on that of the key */
};

/* Of a profile, and of the elements of its lists. */
extern const struct profile_member profile_members[];
extern const struct profile_member profile_target_members[], profile_split_members[],
	profile_label_members[], profile_object_members[], profile_histogram_members[],
	profile_function_members[], profile_host_members[], profile_root_members[],
	profile_wait_class_members[], profile_wait_account_members[];

/* The list, or the object, that a member of an object points to; and the length of a list. */
static inline void *member_pointer(const struct profile_member *member, const void *object)
{
	void *pointer;

	memcpy(&pointer, (const char *)object + member->offset, sizeof(pointer));
	return pointer;
}

static inline size_t member_length(const struct profile_member *member, const void *object)
{
	size_t nr;

	memcpy(&nr, (const char *)object + member->other, sizeof(nr));
	return nr;
}

/* Frees the strings and lists of an object, but not the object. */
void profile_members_free(const struct profile_member *members, void *object);

/*
 * Makes room in all lists of an object, and of the objects that it points to, for those of another.
 * -ENOMEM: nothing was lost.
 */
int profile_members_extend(const struct profile_member *members, void *into, const void *from);

/* Then moves the elements, and pointers that are NULL in the first. */
void profile_members_move(const struct profile_member *members, void *into, void *from);

#endif
