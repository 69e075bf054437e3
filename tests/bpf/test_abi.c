// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/call_abi.h"

#include "calls.skel.h"
#include "host.skel.h"
#include "lateness.skel.h"

/*
 * Compares both compilers' layouts by the BTF that each wrote: every struct and union of
 * include/shared is walked in each BPF object that knows it, member by member, down to its integers.
 * One that no object knows, and one that user space can see but include/shared does not have, fail.
 */
static const struct btf *ours, *theirs;

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

static void compare_types(uint32_t our_id, uint32_t their_id, const char *where);

static void compare_members(const struct btf_type *our, const struct btf_type *their,
			    const char *where)
{
	const struct btf_member *a = btf_members(our), *b = btf_members(their);
	char member[256];
	unsigned int i;

	cr_expect_eq(our->size, their->size, "size of %s", where);
	cr_assert_eq(btf_vlen(our), btf_vlen(their), "members of %s", where);
	for (i = 0; i < btf_vlen(our); i++) {
		snprintf(member, sizeof(member), "%.200s.%.50s", where,
			 name_of(ours, a[i].name_off));
		cr_expect_str_eq(name_of(ours, a[i].name_off), name_of(theirs, b[i].name_off), "%s",
				 member);
		cr_expect_eq(btf_member_bit_offset(our, i), btf_member_bit_offset(their, i),
			     "offset of %s", member);
		cr_expect_eq(btf_member_bitfield_size(our, i), btf_member_bitfield_size(their, i),
			     "bits of %s", member);
		compare_types(a[i].type, b[i].type, member);
	}
}

/* What a pointer points to is not compared. */
static void compare_types(uint32_t our_id, uint32_t their_id, const char *where)
{
	const struct btf_type *our = resolve(ours, our_id), *their = resolve(theirs, their_id);

	cr_assert(our && their, "%s", where);
	cr_assert_eq(btf_kind(our), btf_kind(their), "kind of %s", where);
	if (btf_is_composite(our)) {
		compare_members(our, their, where);
	} else if (btf_is_array(our)) {
		cr_expect_eq(btf_array(our)->nelems, btf_array(their)->nelems, "length of %s",
			     where);
		compare_types(btf_array(our)->type, btf_array(their)->type, where);
	} else if (btf_is_int(our)) {
		cr_expect_eq(our->size, their->size, "size of %s", where);
		cr_expect_eq(btf_int_encoding(our) & BTF_INT_SIGNED,
			     btf_int_encoding(their) & BTF_INT_SIGNED, "sign of %s", where);
	} else if (btf_is_any_enum(our)) {
		cr_expect_eq(our->size, their->size, "size of %s", where);
	} else {
		cr_expect(btf_is_ptr(our), "%s: what is this?", where);
	}
}

/*
 * Compares the structs that the object knows, and marks them in met. Returns how many there are.
 */
static unsigned int compare_shared(struct bpf_object *object, bool *met)
{
	unsigned int id, nr = 0;
	int other;

	theirs = bpf_object__btf(object);
	for (id = 1; id < btf__type_cnt(ours); id++) {
		const struct btf_type *type = btf__type_by_id(ours, id);
		const char *name = name_of(ours, type->name_off);

		if (!btf_is_composite(type) || !*name)
			continue;
		other = btf__find_by_name_kind(theirs, name, btf_kind(type));
		if (other <= 0)
			continue;
		compare_types(id, (uint32_t)other, name);
		met[id] = true;
		nr++;
	}
	return nr;
}

/* A struct that user space can see, by itself or in an array, must be one that is compared. */
static void check_visible(uint32_t id, const char *where)
{
	const struct btf_type *type = resolve(theirs, id);
	const char *name;

	while (type && btf_is_array(type))
		type = resolve(theirs, btf_array(type)->type);
	if (!type || !btf_is_composite(type))
		return;
	name = name_of(theirs, type->name_off);
	cr_expect(*name && btf__find_by_name_kind(ours, name, btf_kind(type)) > 0,
		  "%s holds struct %s, which is not in include/shared", where, name);
}

/* The keys and values of all maps, of which some are the programs' variables. */
static void check_maps(struct bpf_object *object)
{
	const struct btf_type *type;
	struct bpf_map *map;
	int i;

	theirs = bpf_object__btf(object);
	bpf_object__for_each_map(map, object) {
		check_visible(bpf_map__btf_key_type_id(map), bpf_map__name(map));
		check_visible(bpf_map__btf_value_type_id(map), bpf_map__name(map));
		type = resolve(theirs, bpf_map__btf_value_type_id(map));
		for (i = 0; type && btf_is_datasec(type) && i < btf_vlen(type); i++) {
			const struct btf_type *variable =
				btf__type_by_id(theirs, btf_var_secinfos(type)[i].type);

			check_visible(variable->type, name_of(theirs, variable->name_off));
		}
	}
}

/* Those of the socket, and of a table that is compiled into the programs as constants. */
static bool is_of_one_side(const char *name)
{
	static const char *const names[] = { "call_entry", "call_request", "call_reply",
					     "call_state", "dialect_rule" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A struct without a name has no other to be found by. Names with two underscores are libc's. */
static bool is_nameless(const struct btf_type *type)
{
	const struct btf_type *of = btf_is_typedef(type) ? resolve(ours, type->type) : NULL;

	return of && btf_is_composite(of) && !*name_of(ours, of->name_off) &&
	       strncmp(name_of(ours, type->name_off), "__", 2) != 0;
}

static void check_all_met(const bool *met)
{
	unsigned int id;

	for (id = 1; id < btf__type_cnt(ours); id++) {
		const struct btf_type *type = btf__type_by_id(ours, id);
		const char *name = name_of(ours, type->name_off);

		cr_expect_not(is_nameless(type), "typedef %s of a struct without a name", name);
		if (btf_is_composite(type) && *name)
			cr_expect_eq(met[id], !is_of_one_side(name), "struct %s is %s", name,
				     met[id] ? "shared after all" : "in no BPF object");
	}
}

Test(abi, both_sides_lay_out_alike)
{
	struct lateness_bpf *lateness = lateness_bpf__open();
	struct calls_bpf *calls = calls_bpf__open();
	struct host_bpf *host = host_bpf__open();
	struct btf *btf = btf__parse_elf(TEST_LAYOUT, NULL);
	bool *met;

	cr_assert(btf, TEST_LAYOUT);
	cr_assert(host && calls && lateness);
	ours = btf;
	met = calloc(btf__type_cnt(ours), sizeof(*met));
	cr_assert(met);
	cr_expect_gt(compare_shared(host->obj, met), 0);
	cr_expect_gt(compare_shared(calls->obj, met), 0);
	compare_shared(lateness->obj, met);
	check_all_met(met);
	check_maps(host->obj);
	check_maps(calls->obj);
	check_maps(lateness->obj);
	free(met);
	btf__free(btf);
	host_bpf__destroy(host);
	calls_bpf__destroy(calls);
	lateness_bpf__destroy(lateness);
}
