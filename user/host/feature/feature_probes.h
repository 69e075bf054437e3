/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FEATURE_PROBES_H
#define BPFPROFIL_FEATURE_PROBES_H

#include "host/feature/features.h"

/*
 * Each function tries one feature and reports the result; afterwards state is never
 * FEATURE_UNTRIED.
 */
void probe_privilege(struct feature_answer *answer);
void probe_bpf(struct feature_answer *answer);
void probe_btf(struct feature_answer *answer);
void probe_perf_event(struct feature_answer *answer);
void probe_perf_program(struct feature_answer *answer);
void probe_tp_btf(struct feature_answer *answer);
void probe_atomics(struct feature_answer *answer);
void probe_find_vma(struct feature_answer *answer);
void probe_task_pt_regs(struct feature_answer *answer);
void probe_task_storage(struct feature_answer *answer);
void probe_ringbuf(struct feature_answer *answer);
void probe_read_kernel(struct feature_answer *answer);
void probe_exit(struct feature_answer *answer);
void probe_jit(struct feature_answer *answer);
void probe_max_rate(struct feature_answer *answer);
void probe_lateness(struct feature_answer *answer);
void probe_sched_tick(struct feature_answer *answer);
void probe_clock_cost(struct feature_answer *answer);
void probe_tick_cost(struct feature_answer *answer);
void probe_ptrace(struct feature_answer *answer);
void probe_kallsyms(struct feature_answer *answer);

/* Fills in an answer; mend may be NULL. */
void feature_answer_set(struct feature_answer *answer, enum feature_state state, const char *mend,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
