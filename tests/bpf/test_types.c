// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Programs that got the few types that they refer to are those that libbpf makes from all types. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <sys/stat.h>

#include "shared/abi.h"
#include "shared/call_abi.h"

#include "calls.skel.h"
#include "host.skel.h"
#include "host/engine/kernel_types.h"
#include "host/engine/programs.h"
#include "lateness.skel.h"

/* Descriptors and addresses of maps differ from load to load. */
static bool is_of_a_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg;
}

static void compare(const struct bpf_program *few, const struct bpf_program *all)
{
	const struct bpf_insn *a = bpf_program__insns(few), *b = bpf_program__insns(all);
	size_t nr = bpf_program__insn_cnt(few), i;

	cr_assert_eq(nr, bpf_program__insn_cnt(all), "%s", bpf_program__name(few));
	for (i = 0; i < nr; i++) {
		if (is_of_a_map(&b[i])) {
			i++;
			continue;
		}
		cr_assert(!memcmp(&a[i], &b[i], sizeof(*a)), "%s, instruction %zu",
			  bpf_program__name(few), i);
	}
}

static size_t compare_objects(const struct bpf_object *few, const struct bpf_object *all)
{
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program(program, all) {
		if (!bpf_program__autoload(program))
			continue;
		compare(bpf_object__find_program_by_name(few, bpf_program__name(program)), program);
		nr++;
	}
	return nr;
}

static void want_all(struct bpf_object *object)
{
	struct bpf_program *program;

	/* Not every kernel has its function. */
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program,
					  strcmp(bpf_program__name(program), "profil_exit_mm"));
}

/* The types that libbpf was given. */
static off_t given(const struct programs_file *file)
{
	struct stat stat;

	cr_assert_eq(fstat(file->fd, &stat), 0);
	return stat.st_size;
}

#define COMPARE(name)                                                                              \
	do {                                                                                       \
		struct name##_bpf *all = name##_bpf__open(), *few;                                 \
		struct programs_file file;                                                         \
		struct error err = { "", "" };                                                     \
                                                                                                   \
		want_all(all->obj);                                                                \
		cr_assert_eq(name##_bpf__load(all), 0);                                            \
		cr_assert_eq(programs_open(&file, &err), 0, "%s", err.text);                       \
		few = name##_bpf__open_opts(&file.opts);                                           \
		want_all(few->obj);                                                                \
		cr_assert_eq(programs_find_types(&file, few->obj, &err), 0, "%s", err.text);       \
		cr_assert_eq(programs_load(&file, few->skeleton, &err), 0, "%s", err.text);        \
		cr_expect_gt(compare_objects(few->obj, all->obj), 0);                              \
		cr_expect_lt(given(&file), 256 << 10, "few types are given");                      \
		cr_expect_eq(programs_attach(few->skeleton), 0);                                   \
		programs_close(&file);                                                             \
		name##_bpf__destroy(few);                                                          \
		name##_bpf__destroy(all);                                                          \
	} while (0)

Test(bpf_types, of_a_host)
{
	COMPARE(host);
}

Test(bpf_types, of_calls)
{
	COMPARE(calls);
}

Test(bpf_types, of_lateness)
{
	COMPARE(lateness);
}

Test(bpf_types, have_the_kernels_numbers)
{
	static const char names[] = "btf_trace_sched_process_fork\0bpf_iter_task\0task_struct\0pid";
	struct btf *all = btf__parse(KERNEL_TYPES, NULL);
	struct kernel_types few;
	struct error err;

	cr_assert(all);
	cr_assert_eq(kernel_types_read(KERNEL_TYPES, names, sizeof(names), &few, &err), 0);
	cr_expect_eq(kernel_types_number(&few, "btf_trace_sched_process_fork", BTF_KIND_TYPEDEF),
		     btf__find_by_name_kind(all, "btf_trace_sched_process_fork", BTF_KIND_TYPEDEF));
	cr_expect_eq(kernel_types_number(&few, "bpf_iter_task", BTF_KIND_FUNC),
		     btf__find_by_name_kind(all, "bpf_iter_task", BTF_KIND_FUNC));
	cr_expect_lt(kernel_types_number(&few, "bpf_iter_task_vma", BTF_KIND_FUNC), 0,
		     "nobody asked for it");
	kernel_types_free(&few);
	btf__free(all);
}
