// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Whose a tick is, by the cgroup that the test itself moves to. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "need.h"
#include "shared/abi.h"

#include "selftest.skel.h"

TestSuite(bpf_target, .init = need_root);

enum { SYSTEM = 7, OUTER = 1, INNER = 2, OWN = 3 };

/* outer, outer/plain, outer/inner and outer/inner/deep, and where the test was before. */
struct ground {
	struct selftest_bpf *skel;
	char mount[256], outer[300], plain[320], inner[320], deep[340];
};

static void want(struct ground *ground, const char *path, uint32_t target)
{
	uint64_t number = cgroup_number(path);
	int fd = bpf_map__fd(ground->skel->maps.cgroup_targets);

	cr_assert_eq(bpf_map_update_elem(fd, &number, &target, BPF_NOEXIST), 0);
}

static void open_skel(struct ground *ground, bool cgroups, int controller, uint32_t system)
{
	struct selftest_bpf *skel = selftest_bpf__open();

	cr_assert(skel);
	ground->skel = skel;
	skel->rodata->cgroup_wanted = cgroups;
	skel->rodata->cgroup_controller = controller;
	skel->rodata->system_target = system;
	bpf_map__set_max_entries(skel->maps.cgroup_targets, 4);
	cr_assert_eq(selftest_bpf__load(skel), 0);
}

static void make_cgroups(struct ground *ground)
{
	snprintf(ground->outer, sizeof(ground->outer), "%s/bpfprofil-test-%d", ground->mount,
		 getpid());
	snprintf(ground->plain, sizeof(ground->plain), "%s/plain", ground->outer);
	snprintf(ground->inner, sizeof(ground->inner), "%s/inner", ground->outer);
	snprintf(ground->deep, sizeof(ground->deep), "%s/deep", ground->inner);
	cgroup_make(ground->outer);
	cgroup_make(ground->plain);
	cgroup_make(ground->inner);
}

static void close_all(struct ground *ground)
{
	if (ground->outer[0])
		cgroup_remove(ground->outer);
	selftest_bpf__destroy(ground->skel);
}

static uint32_t target_now(const struct ground *ground)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_program__fd(ground->skel->progs.selftest_target);

	cr_assert_eq(bpf_prog_test_run_opts(fd, &opts), 0);
	return ground->skel->bss->out_target;
}

static uint32_t target_in(const struct ground *ground, const char *path)
{
	cgroup_enter(path, getpid());
	return target_now(ground);
}

/* The innermost target cgroup wins; a cgroup that is made later has its ancestors' target. */
static void check_places(struct ground *ground)
{
	make_cgroups(ground);
	want(ground, ground->outer, OUTER);
	want(ground, ground->inner, INNER);
	cr_expect_eq(target_now(ground), SYSTEM);
	cr_expect_eq(target_in(ground, ground->outer), OUTER);
	cr_expect_eq(target_in(ground, ground->plain), OUTER);
	cr_expect_eq(target_in(ground, ground->inner), INNER);
	cgroup_make(ground->deep);
	cr_expect_eq(target_in(ground, ground->deep), INNER);
	/* Once more, now from memory. */
	cr_expect_eq(target_in(ground, ground->plain), OUTER);
	cr_expect_eq(target_in(ground, ground->deep), INNER);
	cr_expect_eq(target_in(ground, ground->mount), SYSTEM);
}

Test(bpf_target, version_2)
{
	struct ground ground = { 0 };

	NEED(cgroup_mount(NULL, ground.mount, sizeof(ground.mount)), "no cgroup2 is mounted");
	open_skel(&ground, true, -1, SYSTEM);
	check_places(&ground);
	close_all(&ground);
}

/* The index of a controller in this kernel. */
static int controller_number(const char *enumerator)
{
	struct btf *btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	int id = btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM), i, found = -1;
	const struct btf_type *type = btf__type_by_id(btf, (__u32)id);

	for (i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), enumerator))
			found = btf_enum(type)[i].val;
	btf__free(btf);
	return found;
}

Test(bpf_target, version_1)
{
	struct ground ground = { 0 };

	NEED(cgroup_mount("cpu", ground.mount, sizeof(ground.mount)),
	     "no cgroup hierarchy of version 1 with the cpu controller is mounted");
	open_skel(&ground, true, controller_number("cpu_cgrp_id"), SYSTEM);
	check_places(&ground);
	close_all(&ground);
}

Test(bpf_target, nobody)
{
	struct ground ground = { 0 };

	open_skel(&ground, false, -1, NO_TARGET);
	cr_expect_eq(target_now(&ground), NO_TARGET);
	close_all(&ground);
}

Test(bpf_target, system)
{
	struct ground ground = { 0 };

	open_skel(&ground, false, -1, SYSTEM);
	cr_expect_eq(target_now(&ground), SYSTEM);
	close_all(&ground);
}

/* A process that is followed itself keeps its target wherever it moves. */
Test(bpf_target, followed)
{
	struct follow follow = { .target = OWN };
	struct ground ground = { 0 };
	int fd;

	NEED(cgroup_mount(NULL, ground.mount, sizeof(ground.mount)), "no cgroup2 is mounted");
	open_skel(&ground, true, -1, SYSTEM);
	make_cgroups(&ground);
	want(&ground, ground.outer, OUTER);
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	cr_assert_geq(fd, 0);
	cr_assert_eq(bpf_map_update_elem(bpf_map__fd(ground.skel->maps.follows), &fd, &follow,
					 BPF_NOEXIST),
		     0);
	cr_expect_eq(target_in(&ground, ground.outer), OWN);
	close(fd);
	close_all(&ground);
}

static uint64_t billed_at(struct ground *ground, uint64_t now)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	ground->skel->bss->in_now = now;
	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(ground->skel->progs.selftest_bill),
					    &run),
		     0);
	return ground->skel->bss->out_fresh;
}

/* Who has read a sum before another CPU billed a newer one takes nothing back. */
Test(bpf_target, is_billed_once)
{
	struct ground ground = { 0 };

	open_skel(&ground, false, -1, SYSTEM);
	cr_expect_eq(billed_at(&ground, 100), 100);
	cr_expect_eq(billed_at(&ground, 130), 30);
	cr_expect_eq(billed_at(&ground, 110), 0);
	cr_expect_eq(billed_at(&ground, 135), 5);
	close_all(&ground);
}
