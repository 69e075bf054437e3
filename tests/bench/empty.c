// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * empty PERIOD_NS
 *
 * The floor: a BPF program of two instructions on the CPU clock of every online CPU, until SIGINT.
 * What the kernel's statistics read for it is their own clock and not a handler; what it slows the
 * workload by is the interrupt.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load_nothing(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bench_empty", "Dual BSD/GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

static int attach(int prog, int cpu, unsigned long long period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
	};
	int event;

	event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	return bpf_link_create(prog, event, BPF_PERF_EVENT, NULL);
}

int main(int argc, char **argv)
{
	unsigned long long period = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	sigset_t stop;
	int prog, err, sig;

	if (!period) {
		fprintf(stderr, "usage: empty PERIOD_NS\n");
		return 2;
	}
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	prog = load_nothing();
	if (prog < 0) {
		fprintf(stderr, "empty: cannot load a BPF program: %s\n", strerror(-prog));
		return 1;
	}
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		err = attach(prog, cpu, period);
		/* ENODEV: the CPU is offline */
		if (err < 0 && err != -ENODEV) {
			fprintf(stderr, "empty: CPU %d: %s\n", cpu, strerror(-err));
			return 1;
		}
	}
	sigwait(&stop, &sig);
	return 0;
}
