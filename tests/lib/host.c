// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host.h"

#include <stdio.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* Since boot, in jiffies: what CPUs did, and what a hypervisor kept them from doing. */
struct host_time {
	double busy;
	double stolen;
};

static struct host_time since;

static struct host_time host_time(void)
{
	double user, nice, system, idle, iowait, irq, softirq, steal;
	FILE *file = fopen("/proc/stat", "re");

	cr_assert(file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system,
				 &idle, &iowait, &irq, &softirq, &steal) == 8);
	fclose(file);
	return (struct host_time){ user + nice + system + irq + softirq, steal };
}

double host_busy_seconds(void)
{
	return host_time().busy / (double)sysconf(_SC_CLK_TCK);
}

void host_clock_begin(void)
{
	since = host_time();
}

double host_stolen_part(void)
{
	struct host_time now = host_time();
	double busy = (now.busy - since.busy) / (double)sysconf(_SC_NPROCESSORS_ONLN);
	double stolen = now.stolen - since.stolen;

	return stolen > 0 ? stolen / (busy + stolen) : 0;
}
