// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/call_abi.h"

#include "calls.skel.h"
#include "host.skel.h"

/*
 * Compares both compilers' layouts by the BTF that each wrote: every struct and union of
 * include/shared that a BPF object knows is walked, member by member, down to its integers.
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
	}
}

/* Compares the structs that both sides know. Structs of ours alone are not shared with BPF. */
static unsigned int compare_shared(struct bpf_object *object)
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
		nr++;
	}
	return nr;
}

/*
 * A map's key or value of a type that only BPF knows would be a struct that is not compared here.
 */
static void check_maps(struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	const struct btf_type *type;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const uint32_t ids[] = { bpf_map__btf_key_type_id(map),
					 bpf_map__btf_value_type_id(map) };
		size_t i;

		for (i = 0; i < 2; i++) {
			type = resolve(btf, ids[i]);
			if (!type || !btf_is_composite(type))
				continue;
			cr_expect_gt(btf__find_by_name_kind(ours, name_of(btf, type->name_off),
							    btf_kind(type)),
				     0, "%s holds struct %s, which is not in include/shared",
				     bpf_map__name(map), name_of(btf, type->name_off));
		}
	}
}

static void check_object(struct bpf_object *object, unsigned int least)
{
	struct btf *btf = btf__parse_elf(TEST_LAYOUT, NULL);

	cr_assert(btf, TEST_LAYOUT);
	ours = btf;
	cr_expect_geq(compare_shared(object), least);
	check_maps(object);
	btf__free(btf);
}

Test(abi, both_sides_of_the_host_lay_out_alike)
{
	struct host_bpf *skel = host_bpf__open();

	cr_assert(skel);
	check_object(skel->obj, 20);
	host_bpf__destroy(skel);
}

Test(abi, both_sides_of_the_calls_lay_out_alike)
{
	struct calls_bpf *skel = calls_bpf__open();

	cr_assert(skel);
	check_object(skel->obj, 12);
	calls_bpf__destroy(skel);
}
