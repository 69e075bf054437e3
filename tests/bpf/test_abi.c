// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "shared/abi.h"

#include "host.skel.h"

/*
 * Both compilers' layouts, member by member: the BPF side's is in the object's own BTF. It has no
 * struct record, which is in no map; that one's size is asserted in abi.h, by both compilers.
 */
struct member {
	const char *type;
	const char *name;
	size_t offset;
	size_t size;
};

#define M(type, name)                                                                              \
	{                                                                                          \
#type, #name, offsetof(struct type, name), sizeof(struct type)                     \
	}

static const struct member members[] = {
	M(counter_page, counters),
	M(window_dir, pages),
	M(xlat_entry, who),
	M(xlat_entry, stamp),
	M(xlat_entry, where),
	M(xlat_entry, span),
	M(xlat_entry, dir),
	M(xlat_entry, place),
	M(xlat_entry, ticks),
	M(xlat_entry, hot),
	M(xlat_set, way),
	M(xlat_origin, vma),
	M(xlat_origin, inode),
	M(xlat_origin, delta),

	M(cpu_account, misses),

	M(cpu_account, renewed),
	M(cpu_account, hits),
	M(cpu_account, missed),
	M(target_account, ticks),
	M(target_account, outside),
	M(target_account, filtered),
	M(target_account, deferred),
	M(target_account, settled),
	M(target_account, lost),
	M(target_account, coarse),
	M(target_account, forks_missed),
	M(target_account, cpu_ns),
	M(target_account, excess),
	M(space, a),
	M(space, b),
	M(space, generation),
	M(space, dev),
	M(space, kind),
	M(window_key, space),
	M(window_key, window),
	M(window_key, split),
	M(window_key, target),
	M(window_key, shift),
	M(window, dir),
	M(spent_key, split),
	M(spent_key, target),
	M(spent_cpu, ns),
	M(spent_cpu, unbinned),
	M(spent_cpu, walk),
	M(cpu_time, period_ns),
	M(cpu_time, since_ns),
	M(cpu_time, walk),
	M(cpu_time, kind),
	M(cpu_time, zombies),
	M(cpu_time, exits),
	M(cpu_time, freed),
	M(weight, run),
	M(weight, base),
	M(weight, due),
	M(weight, ticked),
	M(weight, step),
	M(weight, taken),
	M(pool_state, next_page),
	M(pool_state, next_window),
	M(pool_state, page_limit),
	M(pool_state, fine_limit),
	M(pool_state, page_low),
	M(pool_state, window_low),
	M(pool_state, asked),
	M(follow, target),
	M(follow, flags),
	M(follow, mm),
	M(follow, weight),
	M(follow, split),
	M(follow, spent),
	M(follow, moved_ns),
	M(follow, pending),
	M(follow, exec),
	M(follow, exit),
};

static void check_member(const struct btf *btf, const struct member *member)
{
	int id = btf__find_by_name_kind(btf, member->type, BTF_KIND_STRUCT), i;
	const struct btf_type *type = btf__type_by_id(btf, id);

	cr_assert(type, "no struct %s", member->type);
	cr_expect_eq(type->size, member->size, "size of %s", member->type);
	for (i = 0; i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member->name))
			continue;
		cr_expect_eq(btf_member_bit_offset(type, i), member->offset * 8, "%s.%s",
			     member->type, member->name);
		return;
	}
	cr_assert_fail("no %s.%s", member->type, member->name);
}

Test(abi, both_sides_lay_out_alike)
{
	struct host_bpf *skel = host_bpf__open();
	size_t i;

	cr_assert(skel);
	for (i = 0; i < sizeof(members) / sizeof(*members); i++)
		check_member(bpf_object__btf(skel->obj), &members[i]);
	host_bpf__destroy(skel);
}
