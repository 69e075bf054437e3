// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/sched_tick.h"

#include <errno.h>
#include <time.h>

#include "base/util.h"
#include "host/engine/kernel_btf.h"

#define NOHZ_FULL "/sys/devices/system/cpu/nohz_full"

static int refuse_tick(struct error *err, const char *why)
{
	return error_with_hint(err, -EOPNOTSUPP, "--source clock", "--source tick: %s", why);
}

static int find_distances(struct sched_tick *result, struct error *err)
{
	const struct kernel_btf *btf;
	int ret = kernel_btf_read(&btf, err);

	if (ret)
		return ret;
	if (btf->tick_cpu_sched < 0 || btf->hrtimer_bases < 0 || btf->irq_regs < 0 ||
	    btf->sched_timer < 0)
		return refuse_tick(err, "the kernel's BTF does not have the variables of its tick");
	result->tick_distance = btf->tick_cpu_sched + btf->sched_timer - btf->hrtimer_bases;
	result->regs_distance = btf->irq_regs - btf->tick_cpu_sched - btf->sched_timer;
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
	/* Without high resolution, timers run from the tick, which is then no such timer itself. */
	if (fine.tv_sec || fine.tv_nsec > 1 || !sched_tick_period_ns())
		return refuse_tick(err, "the timers here have no high resolution (highres=off?)");
	return find_distances(result, err);
}

void sched_tick_list_tickless(char *list, size_t size)
{
	/* "(null)": the kernel supports nohz_full, but does not use it. */
	if (read_first_line(NOHZ_FULL, list, size) || *list < '0' || *list > '9')
		*list = '\0';
}
