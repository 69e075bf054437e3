// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/kernel_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

/* Larger sections than any kernel has are none. */
#define SECTION_MAX (64U << 20)

/* A name that was asked for, and that the kernel has. */
struct found {
	uint32_t at; /* in the kernel's strings, */
	uint32_t to; /* and in ours; 0: not yet there */
	const char *name;
};

struct part {
	uint8_t *bytes;
	uint32_t size;
};

struct scan {
	struct btf_header head;
	const char **slots; /* what was asked for, by its hash */
	size_t nr_slots; /* a power of two */
	struct found *found; /* in the order of the kernel's strings */
	size_t nr_found, room;
	uint8_t *is_found; /* by place in the kernel's strings */
	struct part types;
	uint32_t *where; /* of each type, in types */
	uint32_t *numbers; /* ours of each type; 0: it is not taken */
	uint32_t *waiting; /* taken, and what they refer to not yet */
	uint32_t nr, nr_taken;
	size_t nr_waiting, waiting_room;
	uint8_t *out;
	size_t out_size, out_room;
	char *strings;
	size_t strings_size, strings_room;
};

/*** The kernel's strings. ***/

static const char **find_slot(const struct scan *scan, const char *name, size_t length)
{
	size_t i = hash_bytes(HASH_BEGIN, name, length) & (scan->nr_slots - 1);

	while (scan->slots[i] && strcmp(scan->slots[i], name))
		i = (i + 1) & (scan->nr_slots - 1);
	return &scan->slots[i];
}

static int take_names(struct scan *scan, const char *names, size_t size)
{
	const char *at;
	size_t nr = 0;

	for (at = names; at < names + size; at += strlen(at) + 1)
		nr++;
	for (scan->nr_slots = 16; scan->nr_slots < 4 * nr;)
		scan->nr_slots *= 2;
	scan->slots = calloc(scan->nr_slots, sizeof(*scan->slots));
	if (!scan->slots)
		return -ENOMEM;
	for (at = names; at < names + size; at += strlen(at) + 1)
		if (*at)
			*find_slot(scan, at, strlen(at)) = at;
	return 0;
}

/*
 * Mapped and not allocated, because what was once as large as this the heap would keep from then on.
 */
static int read_part(int fd, uint64_t from, uint32_t size, struct part *part)
{
	ssize_t got;
	void *bytes;

	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	*part = (struct part){ bytes, size };
	got = read_range(fd, bytes, size, from);
	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EPROTO;
}

static void free_part(struct part *part)
{
	if (part->bytes)
		munmap(part->bytes, part->size);
	*part = (struct part){ 0 };
}

static int note_found(struct scan *scan, uint32_t at, const char *name)
{
	if (GROW(scan->found, scan->room, scan->nr_found + 1))
		return -ENOMEM;
	scan->found[scan->nr_found++] = (struct found){ at, 0, name };
	scan->is_found[at / 8] |= (uint8_t)(1 << at % 8);
	return 0;
}

static int find_names(struct scan *scan, const struct part *strings)
{
	const char *text = (const char *)strings->bytes, *name;
	uint32_t at, length;
	int ret = 0;

	scan->is_found = calloc(strings->size / 8 + 1, 1);
	if (!scan->is_found)
		return -ENOMEM;
	if (text[strings->size - 1])
		return -EPROTO;
	for (at = 0; !ret && at < strings->size; at += length + 1) {
		length = (uint32_t)strlen(text + at);
		name = *find_slot(scan, text + at, length);
		if (name)
			ret = note_found(scan, at, name);
	}
	return ret;
}

static struct found *found_at(const struct scan *scan, uint32_t at)
{
	size_t i;

	if (at >= scan->head.str_len || !(scan->is_found[at / 8] & 1 << at % 8))
		return NULL;
	i = BISECT(middle, scan->nr_found, scan->found[middle].at < at);
	return &scan->found[i];
}

/*** The kernel's types. ***/

static const struct btf_type *type_at(const struct scan *scan, uint32_t id)
{
	return (const struct btf_type *)(scan->types.bytes + scan->where[id]);
}

/* Bytes behind struct btf_type; -1: a kind that is not known here. */
static int64_t rest_of(const struct btf_type *type)
{
	static const struct {
		int8_t fixed, each;
	} sizes[] = {
		[BTF_KIND_INT] = { 4, 0 },	  [BTF_KIND_PTR] = { 0, 0 },
		[BTF_KIND_ARRAY] = { 12, 0 },	  [BTF_KIND_STRUCT] = { 0, 12 },
		[BTF_KIND_UNION] = { 0, 12 },	  [BTF_KIND_ENUM] = { 0, 8 },
		[BTF_KIND_FWD] = { 0, 0 },	  [BTF_KIND_TYPEDEF] = { 0, 0 },
		[BTF_KIND_VOLATILE] = { 0, 0 },	  [BTF_KIND_CONST] = { 0, 0 },
		[BTF_KIND_RESTRICT] = { 0, 0 },	  [BTF_KIND_FUNC] = { 0, 0 },
		[BTF_KIND_FUNC_PROTO] = { 0, 8 }, [BTF_KIND_VAR] = { 4, 0 },
		[BTF_KIND_DATASEC] = { 0, 12 },	  [BTF_KIND_FLOAT] = { 0, 0 },
		[BTF_KIND_DECL_TAG] = { 4, 0 },	  [BTF_KIND_TYPE_TAG] = { 0, 0 },
		[BTF_KIND_ENUM64] = { 0, 12 },
	};
	uint16_t kind = btf_kind(type);

	if (kind == BTF_KIND_UNKN || kind >= sizeof(sizes) / sizeof(*sizes))
		return -1;
	return sizes[kind].fixed + (int64_t)sizes[kind].each * btf_vlen(type);
}

static int find_types(struct scan *scan)
{
	const uint32_t size = scan->types.size;
	uint32_t at = 0;
	int64_t rest;

	scan->where = calloc(size / sizeof(struct btf_type) + 2, sizeof(*scan->where));
	if (!scan->where)
		return -ENOMEM;
	for (scan->nr = 1; at < size; scan->nr++) {
		if (size - at < sizeof(struct btf_type))
			return -EPROTO;
		scan->where[scan->nr] = at;
		at += sizeof(struct btf_type);
		rest = rest_of(type_at(scan, scan->nr));
		if (rest < 0 || rest > size - at)
			return -EPROTO;
		at += (uint32_t)rest;
	}
	scan->numbers = calloc(scan->nr, sizeof(*scan->numbers));
	return scan->numbers ? 0 : -ENOMEM;
}

static int take(struct scan *scan, uint32_t id)
{
	if (id >= scan->nr)
		return -EPROTO;
	if (!id || scan->numbers[id])
		return 0;
	if (GROW(scan->waiting, scan->waiting_room, scan->nr_waiting + 1))
		return -ENOMEM;
	scan->waiting[scan->nr_waiting++] = id;
	scan->numbers[id] = 1;
	return 0;
}

/* An unnamed member may be a structure with a named one. */
static bool is_member_wanted(const struct scan *scan, const struct btf_member *member)
{
	return !member->name_off || found_at(scan, member->name_off);
}

static int take_members(struct scan *scan, const struct btf_type *type)
{
	const struct btf_member *members = btf_members(type);
	int ret = 0, i;

	for (i = 0; !ret && i < btf_vlen(type); i++)
		if (is_member_wanted(scan, &members[i]))
			ret = take(scan, members[i].type);
	return ret;
}

/* What libbpf compares ends at pointers; what we ask ourselves goes on to the prototype behind one. */
static uint32_t pointed_at(const struct scan *scan, const struct btf_type *pointer)
{
	uint32_t to = pointer->type;

	return to && to < scan->nr && btf_is_func_proto(type_at(scan, to)) ? to : 0;
}

static int take_references(struct scan *scan, const struct btf_type *type)
{
	int ret;

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return take_members(scan, type);
	case BTF_KIND_ARRAY:
		ret = take(scan, btf_array(type)->type);
		return ret ?: take(scan, btf_array(type)->index_type);
	case BTF_KIND_PTR:
		return take(scan, pointed_at(scan, type));
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
		return take(scan, type->type);
	default:
		return 0;
	}
}

static int take_types(struct scan *scan)
{
	uint32_t id;
	int ret = 0;

	for (id = 1; !ret && id < scan->nr; id++)
		if (found_at(scan, type_at(scan, id)->name_off) &&
		    btf_kind(type_at(scan, id)) != BTF_KIND_DECL_TAG)
			ret = take(scan, id);
	while (!ret && scan->nr_waiting)
		ret = take_references(scan, type_at(scan, scan->waiting[--scan->nr_waiting]));
	/* In the kernel's order, so that of several with one name libbpf finds the same one first. */
	for (id = 1; id < scan->nr; id++)
		if (scan->numbers[id])
			scan->numbers[id] = ++scan->nr_taken;
	return ret;
}

/*** The BTF that is made of them. ***/

static int put(struct scan *scan, const void *bytes, size_t size)
{
	if (GROW(scan->out, scan->out_room, scan->out_size + size))
		return -ENOMEM;
	memcpy(scan->out + scan->out_size, bytes, size);
	scan->out_size += size;
	return 0;
}

static int put_string(struct scan *scan, const char *text)
{
	size_t size = strlen(text) + 1;

	if (GROW(scan->strings, scan->strings_room, scan->strings_size + size))
		return -ENOMEM;
	memcpy(scan->strings + scan->strings_size, text, size);
	scan->strings_size += size;
	return 0;
}

/* Where the name of a type or member is in our strings; one that nobody asked for is "-". */
static int name_of(struct scan *scan, uint32_t at, uint32_t *to)
{
	struct found *found = at ? found_at(scan, at) : NULL;

	*to = at ? 1 : 0;
	if (!found)
		return 0;
	if (!found->to) {
		found->to = (uint32_t)scan->strings_size;
		if (put_string(scan, found->name))
			return -ENOMEM;
	}
	*to = found->to;
	return 0;
}

static int put_members(struct scan *scan, const struct btf_type *type)
{
	struct btf_member member;
	int ret = 0, i;

	for (i = 0; !ret && i < btf_vlen(type); i++) {
		member = btf_members(type)[i];
		if (!is_member_wanted(scan, &member))
			continue;
		member.type = scan->numbers[member.type];
		ret = name_of(scan, member.name_off, &member.name_off) ?:
			      put(scan, &member, sizeof(member));
	}
	return ret;
}

static int put_variables(struct scan *scan, const struct btf_type *type)
{
	struct btf_var_secinfo variable;
	int ret = 0, i;

	for (i = 0; !ret && i < btf_vlen(type); i++) {
		variable = btf_var_secinfos(type)[i];
		if (variable.type >= scan->nr || !scan->numbers[variable.type])
			continue;
		variable.type = scan->numbers[variable.type];
		ret = put(scan, &variable, sizeof(variable));
	}
	return ret;
}

static int put_values(struct scan *scan, const struct btf_type *type)
{
	const size_t size = btf_is_enum64(type) ? sizeof(struct btf_enum64) :
						  sizeof(struct btf_enum);
	const uint8_t *values = (const uint8_t *)(type + 1);
	struct btf_enum64 value;
	int ret = 0, i;

	for (i = 0; !ret && i < btf_vlen(type); i++) {
		memcpy(&value, values + i * size, size);
		ret = name_of(scan, value.name_off, &value.name_off) ?: put(scan, &value, size);
	}
	return ret;
}

/* Arguments count, and what they are does not. */
static int put_arguments(struct scan *scan, const struct btf_type *type)
{
	const struct btf_param nothing = { 0 };
	int ret = 0, i;

	for (i = 0; !ret && i < btf_vlen(type); i++)
		ret = put(scan, &nothing, sizeof(nothing));
	return ret;
}

static int put_rest(struct scan *scan, const struct btf_type *type)
{
	struct btf_array array;

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return put_members(scan, type);
	case BTF_KIND_DATASEC:
		return put_variables(scan, type);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return put_values(scan, type);
	case BTF_KIND_FUNC_PROTO:
		return put_arguments(scan, type);
	case BTF_KIND_ARRAY:
		array = *btf_array(type);
		array.type = scan->numbers[array.type];
		array.index_type = scan->numbers[array.index_type];
		return put(scan, &array, sizeof(array));
	default:
		return put(scan, type + 1, (size_t)rest_of(type));
	}
}

/* The number that a type has in place of a size, where it has one. */
static uint32_t reference_of(const struct scan *scan, const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
		return scan->numbers[pointed_at(scan, type)];
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
		return scan->numbers[type->type];
	case BTF_KIND_VAR:
	case BTF_KIND_FUNC_PROTO:
		return 0;
	default:
		return type->size;
	}
}

static int put_type(struct scan *scan, const struct btf_type *type)
{
	const size_t begin = scan->out_size;
	struct btf_type head = { .info = type->info, .size = reference_of(scan, type) };
	size_t each;
	int ret = name_of(scan, type->name_off, &head.name_off) ?: put(scan, &head, sizeof(head));

	ret = ret ?: put_rest(scan, type);
	if (ret || (!btf_is_composite(type) && !btf_is_datasec(type)))
		return ret;
	/* Both have as many bytes for each. */
	each = (scan->out_size - begin - sizeof(head)) / sizeof(struct btf_member);
	head.info = (head.info & ~0xffffU) | (uint32_t)each;
	memcpy(scan->out + begin, &head, sizeof(head));
	return 0;
}

static int make_btf(struct scan *scan, struct kernel_types *result)
{
	struct btf_header head = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(head) };
	uint32_t id;
	int ret;

	result->numbers = calloc(scan->nr_taken + 1, sizeof(*result->numbers));
	if (!result->numbers)
		return -ENOMEM;
	ret = put_string(scan, "") ?: put_string(scan, "-");
	ret = ret ?: put(scan, &head, sizeof(head));
	for (id = 1; !ret && id < scan->nr; id++) {
		if (!scan->numbers[id])
			continue;
		result->numbers[scan->numbers[id]] = id;
		ret = put_type(scan, type_at(scan, id));
	}
	if (ret)
		return ret;
	head.type_len = head.str_off = (uint32_t)(scan->out_size - sizeof(head));
	head.str_len = (uint32_t)scan->strings_size;
	memcpy(scan->out, &head, sizeof(head));
	ret = put(scan, scan->strings, scan->strings_size);
	result->btf = ret ? NULL : btf__new(scan->out, (uint32_t)scan->out_size);
	return ret ?: result->btf ? 0 : -errno;
}

static int read_head(int fd, struct btf_header *head)
{
	ssize_t got = read_range(fd, head, sizeof(*head), 0);

	if (got < 0)
		return (int)got;
	if (got != sizeof(*head) || head->magic != BTF_MAGIC || head->version != 1 ||
	    head->hdr_len < sizeof(*head) || !head->type_len || head->type_len > SECTION_MAX ||
	    head->type_off % 4 || !head->str_len || head->str_len > SECTION_MAX)
		return -EPROTO;
	return 0;
}

static int scan_file(int fd, const char *names, size_t size, struct scan *scan,
		     struct kernel_types *result)
{
	const struct btf_header *head = &scan->head;
	struct part strings = { 0 };
	int ret = read_head(fd, &scan->head) ?: take_names(scan, names, size);

	if (!ret)
		ret = read_part(fd, (uint64_t)head->hdr_len + head->str_off, head->str_len, &strings) ?:
			      find_names(scan, &strings);
	/* What is in memory at one time is only the larger of the two parts. */
	free_part(&strings);
	if (!ret)
		ret = read_part(fd, (uint64_t)head->hdr_len + head->type_off, head->type_len,
				&scan->types);
	ret = ret ?: find_types(scan);
	ret = ret ?: take_types(scan);
	return ret ?: make_btf(scan, result);
}

static void free_scan(struct scan *scan)
{
	free_part(&scan->types);
	free(scan->slots);
	free(scan->found);
	free(scan->is_found);
	free(scan->where);
	free(scan->numbers);
	free(scan->waiting);
	free(scan->out);
	free(scan->strings);
}

int kernel_types_read(const char *path, const char *names, size_t size, struct kernel_types *result,
		      struct error *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct scan scan = { 0 };
	int ret;

	*result = (struct kernel_types){ 0 };
	ret = fd < 0 ? -errno : scan_file(fd, names, size, &scan, result);
	free_scan(&scan);
	if (ret == -EPROTO) {
		kernel_types_free(result);
		result->btf = btf__parse(path, NULL);
		ret = result->btf ? 0 : -errno;
	}
	return ret ? error_errno(err, ret, "reading the kernel's BTF") : 0;
}

void kernel_types_free(struct kernel_types *types)
{
	btf__free(types->btf);
	free(types->numbers);
	*types = (struct kernel_types){ 0 };
}

int kernel_types_number(const struct kernel_types *types, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(types->btf, name, kind);

	return id < 0 || !types->numbers ? id : (int)types->numbers[id];
}
