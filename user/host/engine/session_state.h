/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_STATE_H
#define BPFPROFIL_SESSION_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "profile/profile_head.h"
#include "host/engine/callers_rules.h"
#include "host/engine/counted.h"
#include "host/engine/halves.h"
#include "host/engine/jit_text.h"
#include "host/engine/maps.h"
#include "host/engine/runtime.h"
#include "host/engine/sampler.h"
#include "host/engine/session.h"
#include "host/engine/spaces.h"
#include "host/engine/split_names.h"
#include "host/engine/stack_copies.h"
#include "host/engine/store.h"
#include "host/engine/store_waits.h"
#include "host/engine/text_numbers.h"
#include "shared/abi.h"

#include "host.skel.h"

/*
 * The inside of a session, for its own files only: session_run.c runs it, session_targets.c follows
 * the targets, session_swap.c moves ticks out of the kernel, session_take.c makes a profile step by
 * step, and session_profile.c fills it.
 */
struct session_target {
	enum target_kind kind;
	char *name;
	char *cgroup; /* path of a cgroup target */
	struct tally taken; /* the sum of all takes so far */
};

/* See session_jit.c. */
struct session_jit {
	int inotify_fd; /* -1: nothing reports that maps grow */
	bool resting;
	uint64_t rest_until;
	bool unread; /* some map must be read, even if it does not grow */
	size_t next; /* index of the space whose map is read next */
	size_t room; /* how many more functions may be remembered */
	size_t nr_texts; /* since the start */
};

/* The time that the programs took while they were measured, and an estimate for the rest. */
struct cost_measurement {
	int stats_fd; /* the kernel measures programs while it is open; -1: it does not */
	bool on; /* they are measured now, by the kernel or by themselves */
	bool known; /* they were measured before */
	uint64_t switched_ns; /* when measuring last began or ended */
	struct session_cost seen; /* until then */
	struct session_cost base; /* the figures and the time when it began */
	double share; /* time of programs in a nanosecond, at the last measurement */
};

/* When the session ran. */
struct session_times {
	struct wall_clock clock; /* at the last profile, or the start; all times are monotonic */
	uint64_t start_ns;
	uint64_t paused_ns; /* 0: not paused */
	uint64_t since_ns; /* of the last profile, or of the start */
	uint64_t since_idle_ns; /* how much of the time since then was paused */
	uint64_t idle_ns; /* how much of the time since the start was paused */
	uint64_t stop_ns; /* 0 while it runs */
};

/* Processes that have just begun: see session_callers.c. */
enum { STARTING_MAX = 64 };

struct session_starting {
	uint64_t rest_until;
	size_t nr;
	struct starting_process {
		uint32_t tgid;
		uint32_t looks;
		uint64_t due_ns;
		uint64_t next_ns; /* from then to the next look */
	} list[STARTING_MAX];
};

/* With --callers: the rules by which a frame's caller is found. */
struct session_callers {
	struct chunked_array lines; /* as planned; the rules' own afterwards */
	struct callers_rules *rules;
	struct session_starting starting;
};

/* With --waits: see session_waits.c. */
struct session_waits {
	struct store *store;
	struct waits_accounts accounts; /* since the last profile */
	struct mapped_array unplaced; /* struct node_waits by target */
	struct mapped_array pieces; /* struct stack_piece */
	struct stack_copies copies;
	uint64_t look_ns; /* when late waits are looked for next */
	uint64_t due_ns; /* when the next one is due for another walk */
	uint32_t looks; /* how often that is soon again */
	bool dropped; /* places were lost for want of memory */
};

/* The texts that have a number in the kernel, or had one until recently: see session_texts.c. */
struct session_texts {
	struct text_numbers numbers;
	struct mapped_array places; /* struct rules_of_text by number */
	struct mapped_array owners; /* struct owner by number */
	struct store_text *list; /* by number */
	struct text_state {
		uint32_t named; /* the last swap whose half had ticks in it */
		uint32_t unlinked; /* the swap in which its text lost it; 0: the text has it */
		uint32_t retry; /* the swap from which on a file without room is read again */
		uint32_t pause; /* how many swaps it waits for that */
	} * states;
	uint32_t nr;
	size_t room;
	uint32_t aged; /* the last swap in which texts lost their numbers because they were old */
	bool are_refused; /* some that have ticks found no room for their tables */
	uint64_t reclaim_after; /* when a swap may free numbers again, between takes */
};

struct session {
	struct session_options options;
	struct host_bpf *skel;
	struct halves halves;
	struct store *store;
	uint64_t store_limit; /* bytes that it may take */
	uint32_t nr_splits; /* the most processes, threads or cgroups that can be split */
	uint32_t swaps; /* how often a half was closed and added to the store, from 1 on */
	bool is_full; /* the programs have requested a swap */
	struct grace_period grace;
	struct sampler sampler;
	struct ring_buffer *records;
	struct spaces spaces;
	struct session_jit jit;
	struct split_names splits;
	struct carries carries;
	struct session_callers callers;
	struct session_waits waits;
	struct session_texts texts;
	struct runtime runtime;
	size_t added_up; /* processes added up by name since the last profile */
	struct mapped_array ranges;
	struct mapped_array cpu_accounts;
	struct mapped_array target_accounts;
	uint32_t nr_cpus; /* number of possible CPUs */
	uint64_t *delivered; /* by CPU: its ticks in the profiles so far */
	struct session_target *targets;
	uint32_t nr_targets;
	bool by_cgroup; /* cgroups are targets or splits */
	char *controller; /* of the version 1 hierarchy in use; NULL: version 2 */
	uint32_t *sources; /* by object id of the last profile: its index in spaces, or NO_SOURCE */
	size_t nr_sources;
	int epoll_fd;
	int wake_fd; /* a timer, */
	uint64_t wake_ns; /* and when it expires; 0: never */
	struct cost_measurement cost;
	struct session_times times;
	struct error failure; /* from the last record that failed */
};

/* The programs on perf's clock and on the scheduler's tick. */
struct bpf_program *session_clock_program(const struct session *session);
struct bpf_program *session_tick_program(const struct session *session);

/* Makes session_fd() readable at that time. Call it again if session_poll() runs earlier. */
void session_wake_at(struct session *session, uint64_t when);

/* What a profile is read with. */
struct counted session_counted(struct session *session);

/* When a profile of this moment would end. */
uint64_t session_until_ns(const struct session *session);

/*
 * The kernel's map of announced files, processes and cgroups. Both functions have the programs
 * announce a space again: session_announce_again() at the next tick in a file, in any process;
 * session_forget_announced() as if it had never been announced.
 */
void session_announce_again(struct session *session, const struct space *space);
void session_forget_announced(struct session *session, const struct space *space);

/* Decides whether the ticks of a cgroup count, unless that was decided before. */
void session_classify(struct session *session, struct split_name *name);

#endif
