// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/kernel_types.h"

#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

/*
 * struct wanted { int first; const small *second[2]; struct other *third; union { int inner; }; };
 * and two variables of a CPU, of which one is asked for.
 */
static void add_wanted(struct btf *btf, int number)
{
	int small = btf__add_const(btf, btf__add_typedef(btf, "small", number));
	int array = btf__add_array(btf, number, btf__add_ptr(btf, small), 2);
	int other = btf__add_struct(btf, "other", 4), pointer, inner;

	btf__add_field(btf, "first", number, 0, 0);
	pointer = btf__add_ptr(btf, other);
	inner = btf__add_union(btf, NULL, 4);
	btf__add_field(btf, "inner", number, 0, 0);
	btf__add_struct(btf, "wanted", 40);
	btf__add_field(btf, "first", number, 0, 0);
	btf__add_field(btf, "second", array, 64, 0);
	btf__add_field(btf, "third", pointer, 192, 0);
	btf__add_field(btf, "", inner, 256, 0);
}

static struct btf *make_btf(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), here, there, proto;

	add_wanted(btf, number);
	here = btf__add_var(btf, "here", BTF_VAR_STATIC, number);
	there = btf__add_var(btf, "there", BTF_VAR_STATIC, number);
	btf__add_datasec(btf, ".data..percpu", 8);
	btf__add_datasec_var_info(btf, here, 0, 4);
	btf__add_datasec_var_info(btf, there, 4, 4);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "what", number);
	btf__add_func(btf, "call", BTF_FUNC_STATIC, proto);
	return btf;
}

static const char names[] = "wanted\0first\0third\0inner\0there\0.data..percpu\0call\0none";

static int read_bytes(const void *bytes, size_t size, struct kernel_types *result)
{
	cleanup_fd int fd = memfd_create("btf", MFD_CLOEXEC);
	char path[FD_PATH];

	libbpf_set_print(NULL);
	cr_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return kernel_types_read(fd_path(fd, path), names, sizeof(names), result, NULL);
}

static const struct btf_type *find(const struct kernel_types *types, const char *name,
				   uint32_t kind)
{
	int id = btf__find_by_name_kind(types->btf, name, kind);

	cr_assert_gt(id, 0, "%s", name);
	return btf__type_by_id(types->btf, (uint32_t)id);
}

Test(kernel_types, has_what_was_asked_for)
{
	struct btf *all = make_btf();
	const struct btf_type *type;
	struct kernel_types types;
	const void *bytes;
	uint32_t size;

	bytes = btf__raw_data(all, &size);
	cr_assert_eq(read_bytes(bytes, size, &types), 0);
	cr_assert(types.numbers, "not all types");
	type = find(&types, "wanted", BTF_KIND_STRUCT);
	cr_assert_eq(btf_vlen(type), 3, "second is left out");
	cr_expect_eq(type->size, 40);
	cr_expect_eq(btf_member_bit_offset(type, 1), 192);
	type = btf__type_by_id(types.btf, btf_members(type)[1].type);
	cr_expect(btf_is_ptr(type) && !type->type, "a pointer to nothing");
	type = find(&types, ".data..percpu", BTF_KIND_DATASEC);
	cr_assert_eq(btf_vlen(type), 1);
	cr_expect_eq(btf_var_secinfos(type)->offset, 4, "there");
	type = btf__type_by_id(types.btf, find(&types, "call", BTF_KIND_FUNC)->type);
	cr_expect(btf_is_func_proto(type) && btf_vlen(type) == 1);
	cr_expect_eq(kernel_types_number(&types, "wanted", BTF_KIND_STRUCT),
		     btf__find_by_name_kind(all, "wanted", BTF_KIND_STRUCT));
	cr_expect_eq(kernel_types_number(&types, "call", BTF_KIND_FUNC),
		     btf__find_by_name_kind(all, "call", BTF_KIND_FUNC));
	cr_expect_eq(kernel_types_number(&types, "other", BTF_KIND_STRUCT), -ENOENT);
	kernel_types_free(&types);
	btf__free(all);
}

/* Every truncation, and every byte with each of its bits turned, ends in types or an error. */
Test(kernel_types, survives_what_is_broken)
{
	struct btf *all = make_btf();
	struct kernel_types types;
	uint8_t *bytes;
	uint32_t size, at, bit;

	bytes = (uint8_t *)btf__raw_data(all, &size);
	for (at = 0; at < size; at++) {
		read_bytes(bytes, at, &types);
		kernel_types_free(&types);
		for (bit = 0; bit < 8; bit++) {
			bytes[at] ^= (uint8_t)(1 << bit);
			read_bytes(bytes, size, &types);
			kernel_types_free(&types);
			bytes[at] ^= (uint8_t)(1 << bit);
		}
	}
	btf__free(all);
}

/* A kind that is not known here is for libbpf to judge, which may be newer. */
Test(kernel_types, leaves_unknown_kinds_to_libbpf)
{
	struct btf *all = make_btf();
	struct kernel_types types;
	struct btf_type *type;
	uint8_t *bytes;
	uint32_t size;

	bytes = (uint8_t *)btf__raw_data(all, &size);
	type = (struct btf_type *)(bytes + sizeof(struct btf_header));
	type->info |= 0x1fU << 24;
	cr_expect_eq(read_bytes(bytes, size, &types), -EINVAL, "libbpf's answer");
	kernel_types_free(&types);
	btf__free(all);
}
