// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/feature/features.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "host/feature/feature_probes.h"

/* In a reader's order, because a missing feature explains those below it. */
static const struct feature features[] = {
	{ "privilege", "the right to load BPF programs and to sample whole CPUs", true,
	  probe_privilege },
	{ "bpf", "the bpf() system call", true, probe_bpf },
	{ "btf", "the kernel's type information, which programs are fitted to", true, probe_btf },
	{ "perf_event", "the CPU clock of perf, one event per CPU", true, probe_perf_event },
	{ "perf_program", "BPF programs on perf events: the tick handler", true,
	  probe_perf_program },
	{ "tp_btf", "BPF programs on fork, exec and exit: following children", true, probe_tp_btf },
	{ "atomics", "fetching atomics: counters that several CPUs claim", true, probe_atomics },
	{ "find_vma", "bpf_find_vma: which file a pc is in", true, probe_find_vma },
	{ "task_pt_regs", "bpf_task_pt_regs: the user pc of a tick in the kernel", true,
	  probe_task_pt_regs },
	{ "task_storage", "task storage: which tasks are followed", true, probe_task_storage },
	{ "ringbuf", "the ring buffer: news of files and processes", true, probe_ringbuf },
	{ "read_kernel", "bpf_probe_read_kernel: names of files", true, probe_read_kernel },
	{ "exit", "a hook before exit gives the address space up: its ticks", false, probe_exit },
	{ "jit", "the BPF compiler: a cheap tick", false, probe_jit },
	{ "max_rate", "the highest rate the kernel allows", false, probe_max_rate },
	{ "lateness", "a clock that comes when it is due, and what it sees of bursts", false,
	  probe_lateness },
	{ "clock_cost", "what a tick of the clock takes from a busy CPU", false, probe_clock_cost },
	{ "sched_tick", "the scheduler's own tick, for --source tick", false, probe_sched_tick },
	{ "tick_cost", "what --source tick takes from a busy CPU", false, probe_tick_cost },
	{ "ptrace", "reading the files of other users' processes", false, probe_ptrace },
	{ "kallsyms", "names of kernel functions, for --mode split", false, probe_kallsyms },
};

#define NR_FEATURES (sizeof(features) / sizeof(features[0]))

static struct feature_answer answers[NR_FEATURES];
static bool in_hurry;

void features_hurry(void)
{
	in_hurry = true;
}

/* It measures for longer than a moment. */
static bool takes_longer(const struct feature *feature)
{
	return feature->probe == probe_lateness || feature->probe == probe_clock_cost ||
	       feature->probe == probe_tick_cost;
}

static void probe(size_t i)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);

	if (in_hurry && takes_longer(&features[i]))
		feature_answer_set(&answers[i], FEATURE_UNKNOWN, NULL, "not tried");
	else
		features[i].probe(&answers[i]);
	libbpf_set_print(print);
}

const struct feature *features_at(size_t i, const struct feature_answer **ret_answer)
{
	if (i >= NR_FEATURES)
		return NULL;
	if (answers[i].state == FEATURE_UNTRIED)
		probe(i);
	*ret_answer = &answers[i];
	return &features[i];
}

int features_require(struct error *err)
{
	const struct feature_answer *answer;
	const struct feature *feature;
	size_t i;
	int ret;

	for (i = 0; i < NR_FEATURES; i++) {
		/* Optional features take longer to try, and profiling does not depend on them. */
		if (!features[i].required)
			continue;
		feature = features_at(i, &answer);
		if (answer->state != FEATURE_MISSING)
			continue;
		ret = feature->probe == probe_privilege ? -EPERM : -EOPNOTSUPP;
		error_set(err, ret, "cannot profile: %s", answer->detail);
		if (answer->mend[0])
			error_hint(err, "%s", answer->mend);
		return ret;
	}
	return 0;
}

const char *features_libbpf_version(void)
{
	return libbpf_version_string();
}
