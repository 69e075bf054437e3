/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_IMPL_H
#define BPFPROFIL_SESSION_IMPL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "profile/profile_head.h"
#include "base/error.h"
#include "host/engine/callers_rules.h"
#include "host/engine/counted.h"
#include "host/engine/halves.h"
#include "host/engine/jit_text.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/maps.h"
#include "host/engine/runtime.h"
#include "host/engine/sampler.h"
#include "host/engine/session.h"
#include "host/engine/spaces.h"
#include "host/engine/split_names.h"
#include "host/engine/stack_copies.h"
#include "host/engine/store.h"
#include "host/engine/store_profile.h"
#include "host/engine/text_numbers.h"
#include "shared/abi.h"

#include "host.skel.h"

/*
 * The inside of a session, for its own files only: its state, and what each file does for those
 * above it. session_run.c explains the files.
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
		uint64_t retry_ns; /* when a file that had no room may be read again */
		uint32_t retries; /* how often it was */
	} * states;
	uint32_t nr;
	size_t room;
	uint32_t aged; /* the last swap in which texts lost their numbers because they were old */
	uint64_t retry_ns; /* the earliest of those that had ticks; 0: all had room */
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

/* --- session_state.c -------------------------------------------------------------------------- */

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
bool session_forget_announced(struct session *session, const struct space *space);

/* Decides whether the ticks of a cgroup count, unless that was decided before. */
void session_classify(struct session *session, struct split_name *name);

/* --- session_profile.c ------------------------------------------------------------------------ */

/*
 * session_fill_head() sets the clock that the profile is dated by. session_fill() fills the profile
 * once all is read, and uses up the counters of bins and accounts.
 */
int session_fill_head(const struct session *session, uint64_t until, struct wall_clock *ret_clock,
		      struct profile *profile, struct error *err);
int session_fill(struct session *session, const struct counted *counted, struct profile *profile,
		 struct error *err);

/* Adds the targets with their names. */
int session_name_targets(const struct session *session, struct profile *profile); /* -ENOMEM */

/* --- session_forget.c ------------------------------------------------------------------------- */

/* After a profile was made: removes the ticks that it has, and cgroups without threads. */
void session_forget_taken(struct session *session);

/* Frees texts whose numbers were freed, once no tick is in them. */
void session_forget_texts(struct session *session);

/* Between takes: makes room for texts if numbers are short. */
void session_reclaim_texts(struct session *session);

/* --- session_swap.c --------------------------------------------------------------------------- */

/*
 * The kernel's table of ticks, and the session's own. session_plan() divides --memory; the next two
 * run between open and load, and after load. session_swap() closes the half in use and moves all
 * its ticks to the session's own table. It runs for each profile, and when the programs request it.
 */
int session_plan(struct session *session, struct error *err);
void session_size_halves(struct session *session);
int session_bind_halves(struct session *session, struct error *err);
int session_swap(struct session *session, struct error *err);
void session_swap_between_takes(struct session *session);
void session_poll_swap(struct session *session);

/* Decides how many splits must be in use before the programs request a swap. */
void session_mark_splits(struct session *session);

/* Whether an owner may be refused an account that a swap could free. The programs do not ask. */
bool session_refuses_splits(const struct session *session);

uint64_t session_bytes(const struct session *session); /* of all tables of counts and rules */

/* --- session_waits.c -------------------------------------------------------------------------- */

/* All do nothing without --waits. The first runs between open and load, the second after load. */
int session_configure_waits(struct session *session, struct error *err);
int session_bind_waits(struct session *session, struct error *err);
void session_free_waits(struct session *session);

/* The wall time of threads counts from session_begin_waits() to session_end_waits(). */
int session_begin_waits(struct session *session, bool has_threads, struct error *err);
int session_end_waits(struct session *session, struct error *err);

/*
 * In a swap: before the halves change, threads begin to count in the other half. After it, the last
 * waits move there.
 */
int session_cut_waits(struct session *session, struct error *err);
int session_move_waits(struct session *session, struct error *err);

/* Adds a closed half's accounts to the session's, which must have room for all of its roots. */
void session_add_accounts(struct session *session, const struct closed_half *half);

void session_poll_waits(struct session *session);

/* Joins the accounts like store_sum_splits(), and limits them and the waits in the store. */
void session_sum_accounts(struct session *session,
			  uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split));
void session_limit_waits(struct session *session, uint64_t limit);

/* Removes the accounts that a profile has. */
void session_clear_waits(struct session *session);

static inline struct runtime_map session_runtime_map(const struct session *session)
{
	return (struct runtime_map){ .fd = bpf_map__fd(session->skel->maps.spent_cpus),
				     .state = &session->skel->bss->table_state,
				     .owners = session->texts.numbers.owners };
}

static inline uint64_t session_accounts_bytes(const struct session *session)
{
	return session->waits.accounts.nr * sizeof(struct waits_account);
}

/* --- session_splits.c ------------------------------------------------------------------------- */

/*
 * The CPU time of the targets. It counts from the first of these calls on, and is brought up to
 * date before each profile. After sampling has ended it waits for threads that were reaped, because
 * the last runtime of a thread is only known when it is freed.
 */
int session_begin_runtime(struct session *session, struct error *err);
void session_set_period(struct session *session);
int session_pause_runtime(struct session *session, struct error *err);

/* After session_begin_runtime() failed: the pause continues. */
void session_stay_paused(struct session *session);
int session_settle_runtime(struct session *session, struct error *err);
int session_finish_runtime(struct session *session, struct error *err);

/* Around a time without ticks: PASS_TICKS_OFF or PASS_TICKS_ON. No tick falls during either. */
int session_switch_ticks(struct session *session, enum pass_kind kind, struct error *err);

/* Names the processes or threads that were read. */
int session_name_splits(struct session *session, struct error *err);

/* If cgroups are chosen, reads the splits once more, after the accounts. */
void session_reread_runtime(struct session *session);

/* The sum over all splits of a target. */
uint64_t session_split_ns(const struct session *session, uint32_t target);

/*
 * Writes the times of the splits into the profile. split_ids has the split of each of its
 * histograms. Returns 0 or -ENOMEM.
 */
int session_fill_splits(struct session *session, const struct counted *counted,
			const uint64_t *split_ids, struct profile *profile);

/*
 * Does the same for a profile without ticks: cgroups that have names. Adds their time to their
 * targets.
 */
int session_fill_times(const struct session *session, struct profile *profile);

/* --- session_records.c ------------------------------------------------------------------------ */

/*
 * The programs' announcements. With --callers, session_announce_texts() has running targets' texts
 * announced, and waits for their tables of rules.
 */
int session_open_records(struct session *session, struct error *err);
int session_consume_records(struct session *session, struct error *err);
int session_read_records(struct session *session, struct error *err); /* and perf maps */
int session_announce_texts(struct session *session, struct error *err);

/* --- session_callers.c ------------------------------------------------------------------------ */

/* With --callers: plans the memory for rules; sizes maps before load; maps them after it. */
uint64_t session_plan_callers(struct session *session);
void session_configure_callers(struct session *session);
int session_bind_callers(struct session *session, struct error *err);

/*
 * With --callers or --waits: a process in which a file was first seen is searched for the other
 * files that it maps.
 */
void session_note_starting(struct session *session, uint32_t tgid);
void session_poll_starting(struct session *session);

/* --- session_jit.c ---------------------------------------------------------------------------- */

/*
 * Follows the perf map of each process with anonymous text. The map is read when it grows, and
 * before a profile is made. session_note_jit() notes in the profile how far it was read (-ENOMEM).
 */
int session_open_jit(struct session *session, struct error *err);
void session_close_jit(struct session *session);
void session_new_text(struct session *session, struct space_info *info);
void session_free_text(struct session *session, struct space_info *info);
void session_poll_jit(struct session *session);
void session_read_jit(struct session *session);
int session_note_jit(const struct session *session, const struct seen_names *names,
		     struct profile *profile);

/* --- session_targets.c ------------------------------------------------------------------------ */

/*
 * The targets in the options. Call these in this order: copy the targets; between open and load,
 * set knobs and map sizes for them; before the programs are attached, enter the cgroups, because
 * programs remember what they find for a cgroup; afterwards follow the processes.
 */
int session_add_targets(struct session *session, struct error *err);
int session_configure_targets(struct session *session, struct error *err);
int session_enter_cgroups(struct session *session, struct error *err);
int session_follow_targets(struct session *session, struct error *err);

/* --- session_texts.c -------------------------------------------------------------------------- */

/*
 * The numbers of texts. Each text gets one when it is announced, and with --callers also its table
 * of rules. session_age_texts() runs in each swap, while the closed half is mapped.
 */
void session_size_texts(struct session *session);
int session_bind_texts(struct session *session, struct error *err);
void session_free_texts(struct session *session);
void session_new_number(struct session *session, const struct space *space);
int session_read_texts(struct session *session); /* -ENOMEM */
void session_age_texts(struct session *session, const struct table_node *nodes, uint32_t nr);
bool session_texts_are_short(const struct session *session);

/*
 * Other code is in these places now, perhaps since late_ns ago. If they have ticks, later ticks are
 * counted apart.
 */
void session_replace_code(struct session *session, struct space_info *info, struct jit_code *codes,
			  size_t nr, uint64_t late_ns);

/* --- session_cost.c --------------------------------------------------------------------------- */

/* Starts to measure. Without CAP_SYS_ADMIN, sampling works, and the clock's cost is unknown. */
int session_open_cost(struct session *session, struct error *err);

#endif
