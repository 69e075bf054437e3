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

/* No kernel has a larger section. */
#define SECTION_MAX (64U << 20)

/* A wanted name that the kernel has. */
struct found {
	uint32_t at; /* in the kernel's strings, */
	uint32_t to; /* and in ours; 0: not there yet */
	const char *name;
};

struct part {
	uint8_t *bytes;
	uint32_t size;
};

/* Bytes that are written one after the other. */
struct buffer {
	uint8_t *bytes;
	size_t size, room;
};

struct scan {
	struct btf_header head;
	const char **slots; /* the wanted names by their hash */
	size_t nr_slots; /* a power of two */
	struct found *found; /* in the order of the kernel's strings */
	size_t nr_found, room;
	uint8_t *is_found; /* by place in the kernel's strings */
	struct part types;
	uint32_t *where; /* of each type, in types */
	uint32_t *numbers; /* ours of each type; 0: it is not needed */
	uint32_t *waiting; /* needed types whose references were not followed yet */
	uint32_t nr, nr_needed;
	size_t nr_waiting, waiting_room;
	struct buffer out, strings;
};

/*** The kernel's strings. ***/

static const char **find_slot(const struct scan *scan, const char *name, size_t length)
{
	size_t i = hash_bytes(HASH_BEGIN, name, length) & (scan->nr_slots - 1);

	while (scan->slots[i] && strcmp(scan->slots[i], name))
		i = (i + 1) & (scan->nr_slots - 1);
	return &scan->slots[i];
}

static int enter_names(struct scan *scan, const char *names, size_t size)
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

/* The memory is mapped, because the heap would keep this size. */
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

/*
 * The 32-bit words of each kind of type, as letters: the word of struct btf_type that is a size or
 * a type, the words after it, and those of each element.
 *
 *     n   a name
 *     m   a member's name: the element is left out if the name is not needed
 *     t   a type, which is needed too
 *     p   the same, but only if it is a function's prototype
 *     v   a variable: the element is left out if nothing needs it
 *     0   not needed: it becomes 0
 *     -   anything else, which is copied
 */
static const struct kind_words {
	char size;
	const char *fixed, *each;
} kinds[] = {
	[BTF_KIND_INT] = { '-', "-", "" },	   [BTF_KIND_PTR] = { 'p', "", "" },
	[BTF_KIND_ARRAY] = { '-', "tt-", "" },	   [BTF_KIND_STRUCT] = { '-', "", "mt-" },
	[BTF_KIND_UNION] = { '-', "", "mt-" },	   [BTF_KIND_ENUM] = { '-', "", "n-" },
	[BTF_KIND_FWD] = { '-', "", "" },	   [BTF_KIND_TYPEDEF] = { 't', "", "" },
	[BTF_KIND_VOLATILE] = { 't', "", "" },	   [BTF_KIND_CONST] = { 't', "", "" },
	[BTF_KIND_RESTRICT] = { 't', "", "" },	   [BTF_KIND_FUNC] = { 't', "", "" },
	[BTF_KIND_FUNC_PROTO] = { '0', "", "00" }, [BTF_KIND_VAR] = { '0', "-", "" },
	[BTF_KIND_DATASEC] = { '-', "", "v--" },   [BTF_KIND_FLOAT] = { '-', "", "" },
	[BTF_KIND_DECL_TAG] = { '-', "-", "" },	   [BTF_KIND_TYPE_TAG] = { 't', "", "" },
	[BTF_KIND_ENUM64] = { '-', "", "n--" },
};

enum { WORDS_MAX = 3 };

static const struct kind_words *kind_of(const struct btf_type *type)
{
	return &kinds[btf_kind(type)];
}

/* Bytes behind struct btf_type; -1: a kind that is not known here. */
static int64_t rest_of(const struct btf_type *type)
{
	if (btf_kind(type) >= sizeof(kinds) / sizeof(*kinds) || !kind_of(type)->size)
		return -1;
	return (int64_t)sizeof(uint32_t) * (int64_t)(strlen(kind_of(type)->fixed) +
						     strlen(kind_of(type)->each) * btf_vlen(type));
}

static const uint32_t *element_of(const struct btf_type *type, uint32_t i)
{
	const uint32_t *words = (const uint32_t *)(type + 1);

	return words + strlen(kind_of(type)->fixed) + strlen(kind_of(type)->each) * i;
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

static int need(struct scan *scan, uint32_t id)
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

/* libbpf compares types only up to pointers. We also need the prototype behind one. */
static uint32_t pointed_at(const struct scan *scan, uint32_t to)
{
	return to && to < scan->nr && btf_is_func_proto(type_at(scan, to)) ? to : 0;
}

/* An unnamed member may be a structure with a named one. */
static bool is_wanted(const struct scan *scan, const char *letters, const uint32_t *words)
{
	if (*letters == 'm')
		return !*words || found_at(scan, *words);
	return *letters != 'v' || (*words < scan->nr && scan->numbers[*words]);
}

static int need_words(struct scan *scan, const char *letters, const uint32_t *words)
{
	int ret = 0;

	if (!is_wanted(scan, letters, words))
		return 0;
	for (; !ret && *letters; letters++, words++)
		if (*letters == 't' || *letters == 'p')
			ret = need(scan, *letters == 't' ? *words : pointed_at(scan, *words));
	return ret;
}

static int need_references(struct scan *scan, const struct btf_type *type)
{
	const struct kind_words *kind = kind_of(type);
	const char size[] = { kind->size, '\0' };
	int ret = need_words(scan, size, &type->type);
	uint32_t i;

	if (!ret)
		ret = need_words(scan, kind->fixed, (const uint32_t *)(type + 1));
	for (i = 0; !ret && *kind->each && i < btf_vlen(type); i++)
		ret = need_words(scan, kind->each, element_of(type, i));
	return ret;
}

static int find_needed(struct scan *scan)
{
	uint32_t id;
	int ret = 0;

	for (id = 1; !ret && id < scan->nr; id++)
		if (found_at(scan, type_at(scan, id)->name_off) &&
		    btf_kind(type_at(scan, id)) != BTF_KIND_DECL_TAG)
			ret = need(scan, id);
	while (!ret && scan->nr_waiting)
		ret = need_references(scan, type_at(scan, scan->waiting[--scan->nr_waiting]));
	/*
	 * In the kernel's order: if several types have one name, libbpf finds the same one first.
	 */
	for (id = 1; id < scan->nr; id++)
		if (scan->numbers[id])
			scan->numbers[id] = ++scan->nr_needed;
	return ret;
}

/*** The BTF that is made of them. ***/

static int put(struct buffer *to, const void *bytes, size_t size)
{
	if (GROW(to->bytes, to->room, to->size + size))
		return -ENOMEM;
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
	return 0;
}

/* Where the name of a type or member is in our strings; a name that is not wanted is "-". */
static int name_of(struct scan *scan, uint32_t at, uint32_t *to)
{
	struct found *found = at ? found_at(scan, at) : NULL;

	*to = at ? 1 : 0;
	if (!found)
		return 0;
	if (!found->to) {
		found->to = (uint32_t)scan->strings.size;
		if (put(&scan->strings, found->name, strlen(found->name) + 1))
			return -ENOMEM;
	}
	*to = found->to;
	return 0;
}

static int put_words(struct scan *scan, const char *letters, const uint32_t *words)
{
	uint32_t made[WORDS_MAX] = { 0 };
	int ret = 0;
	size_t i;

	for (i = 0; !ret && letters[i]; i++) {
		if (letters[i] == 'n' || letters[i] == 'm')
			ret = name_of(scan, words[i], &made[i]);
		else if (letters[i] == 't' || letters[i] == 'v')
			made[i] = scan->numbers[words[i]];
		else if (letters[i] == 'p')
			made[i] = scan->numbers[pointed_at(scan, words[i])];
		else if (letters[i] == '-')
			made[i] = words[i];
	}
	return ret ? ret : put(&scan->out, made, i * sizeof(*made));
}

static int put_type(struct scan *scan, const struct btf_type *type)
{
	const struct kind_words *kind = kind_of(type);
	const uint32_t nr = *kind->each ? btf_vlen(type) : 0;
	const char head[] = { 'n', '-', kind->size, '\0' };
	uint32_t words[] = { type->name_off, type->info, type->type }, left_out = 0, i;
	int ret;

	for (i = 0; i < nr; i++)
		left_out += !is_wanted(scan, kind->each, element_of(type, i));
	words[1] -= left_out; /* the lowest bits are the number of elements */
	ret = put_words(scan, head, words);
	if (!ret)
		ret = put_words(scan, kind->fixed, (const uint32_t *)(type + 1));
	for (i = 0; !ret && i < nr; i++)
		if (is_wanted(scan, kind->each, element_of(type, i)))
			ret = put_words(scan, kind->each, element_of(type, i));
	return ret;
}

static int make_btf(struct scan *scan, struct kernel_types *result)
{
	struct btf_header head = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(head) };
	uint32_t id;
	int ret;

	result->numbers = calloc(scan->nr_needed + 1, sizeof(*result->numbers));
	if (!result->numbers)
		return -ENOMEM;
	ret = put(&scan->strings, "\0-", sizeof("\0-"));
	if (!ret)
		ret = put(&scan->out, &head, sizeof(head));
	for (id = 1; !ret && id < scan->nr; id++) {
		if (!scan->numbers[id])
			continue;
		result->numbers[scan->numbers[id]] = id;
		ret = put_type(scan, type_at(scan, id));
	}
	if (ret)
		return ret;
	head.type_len = head.str_off = (uint32_t)(scan->out.size - sizeof(head));
	head.str_len = (uint32_t)scan->strings.size;
	memcpy(scan->out.bytes, &head, sizeof(head));
	ret = put(&scan->out, scan->strings.bytes, scan->strings.size);
	result->btf = ret ? NULL : btf__new(scan->out.bytes, (uint32_t)scan->out.size);
	return ret || result->btf ? ret : -errno;
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
	int ret = read_head(fd, &scan->head);

	if (!ret)
		ret = enter_names(scan, names, size);
	if (!ret)
		ret = read_part(fd, (uint64_t)head->hdr_len + head->str_off, head->str_len,
				&strings);
	if (!ret)
		ret = find_names(scan, &strings);
	/* Only the larger of the two parts is in memory at a time. */
	free_part(&strings);
	if (!ret)
		ret = read_part(fd, (uint64_t)head->hdr_len + head->type_off, head->type_len,
				&scan->types);
	if (!ret)
		ret = find_types(scan);
	if (!ret)
		ret = find_needed(scan);
	return ret ? ret : make_btf(scan, result);
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
	free(scan->out.bytes);
	free(scan->strings.bytes);
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
