// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/sched_tick.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

#define NOHZ_FULL "/sys/devices/system/cpu/nohz_full"

static int refuse_tick(struct error *err, const char *why)
{
	error_set(err, -EOPNOTSUPP, "--source tick: %s", why);
	error_hint(err, "--source clock");
	return -EOPNOTSUPP;
}

/* The offset of a variable in its CPU's data; -1: there is no such variable. */
static int64_t percpu_offset(const struct btf *btf, const char *name)
{
	int section = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	const struct btf_type *type;
	struct btf_var_secinfo *var;
	int i;

	if (section < 0 || id < 0)
		return -1;
	type = btf__type_by_id(btf, (uint32_t)section);
	var = btf_var_secinfos(type);
	for (i = 0; i < btf_vlen(type); i++)
		if (var[i].type == (uint32_t)id)
			return var[i].offset;
	return -1;
}

static int64_t member(const struct btf *btf, const char *structure, const char *name)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	int i;

	for (i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return btf_member_bit_offset(type, (uint32_t)i) / 8;
	return -1;
}

static int find_distances(struct sched_tick *result, struct error *err)
{
	struct btf *btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	int64_t tick, timer, bases, regs;

	if (!btf)
		return error_errno(err, -errno, "reading the kernel's BTF");
	tick = percpu_offset(btf, "tick_cpu_sched");
	bases = percpu_offset(btf, "hrtimer_bases");
	regs = percpu_offset(btf, "__irq_regs");
	timer = member(btf, "tick_sched", "sched_timer");
	btf__free(btf);
	if (tick < 0 || bases < 0 || regs < 0 || timer < 0)
		return refuse_tick(err, "the kernel's BTF does not have the variables of its tick");
	result->tick_distance = tick + timer - bases;
	result->regs_distance = regs - tick - timer;
	return 0;
}

/* A coarse clock moves once per scheduler tick. */
uint64_t sched_tick_period_ns(void)
{
	struct timespec coarse = { 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &coarse);
	return (uint64_t)coarse.tv_sec * 1000000000 + (uint64_t)coarse.tv_nsec;
}

int sched_tick_find(struct sched_tick *result, struct error *err)
{
	struct timespec fine = { 0 };

	clock_getres(CLOCK_MONOTONIC, &fine);
	/* Without high resolution, timers run from the tick, which then is no such timer itself. */
	if (fine.tv_sec || fine.tv_nsec > 1 || !sched_tick_period_ns())
		return refuse_tick(err, "the timers here have no high resolution (highres=off?)");
	return find_distances(result, err);
}

void sched_tick_without(char *list, size_t size)
{
	/* "(null)": the kernel supports nohz_full but was not told to use it. */
	if (read_first_line(NOHZ_FULL, list, size) || *list < '0' || *list > '9')
		*list = '\0';
}
