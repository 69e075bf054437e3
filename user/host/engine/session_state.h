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
#include "host/engine/sampler.h"
#include "host/engine/session.h"
#include "host/engine/spaces.h"
#include "host/engine/split_names.h"
#include "host/engine/store.h"
#include "host/engine/text_numbers.h"
#include "shared/abi.h"

#include "host.skel.h"

/*
 * The inside of a session, for the files of the session only: session_run.c runs it, session_targets.c
 * tells it whom to look for, session_take.c takes a profile from it step by step, and
 * session_profile.c fills the profile.
 */
struct session_target {
	enum target_kind kind;
	char *name;
	char *cgroup; /* path of a cgroup target */
	struct tally taken; /* what all takes so far have taken */
};

/* Perf maps are read when they grow, with a rest after each reading. */
struct session_jit {
	int inotify_fd; /* -1: nothing reports that maps grow */
	int timer_fd;
	bool resting;
	uint64_t rest_until;
	bool unread; /* some map waits to be read, whether or not it grows */
	size_t next; /* index of the space whose map is read next */
	size_t room; /* how many more functions may be remembered */
	size_t nr_texts; /* all that there ever were */
};

/* What the programs took while they were measured, and an estimate for when they were not. */
struct session_costs {
	int stats_fd; /* the kernel measures programs while it is open; -1: it does not */
	bool on; /* they are measured now, by the kernel or by themselves */
	bool known; /* they were once */
	uint64_t turned_ns; /* when that began or ended last */
	struct session_cost seen; /* until then */
	struct session_cost base; /* what had been measured, and the clock said, when it began */
	double share; /* time of programs in a nanosecond, when it was measured last */
};

/*
 * The CPU time of the processes or cgroups that targets are split into. The programs add it up in a
 * map. What was already taken of an entry is kept here, because an element of such a map cannot be
 * read and emptied in one step. An entry whose threads are all gone is deleted once all of it was
 * taken.
 */
enum { SPLIT_NAME_BYTES = 16 };

struct runtime_split {
	struct spent_key key;
	uint64_t ns; /* since the last take */
	uint64_t unbinned;
	uint64_t taken_ns; /* in all takes before */
	uint64_t taken_unbinned;
	uint32_t walk; /* the last walk that found a thread of it */
	bool gone; /* it is no longer in the map, because all its threads have ended */
	uint64_t gone_ns; /* what it had when it was deleted there, and no take has taken */
	uint64_t gone_unbinned;
	uint64_t sum; /* 0, or the id of what it is about to be added to */
	char name[SPLIT_NAME_BYTES]; /* of a process or thread */
};

struct runtime {
	struct runtime_split *list; /* ascending by target and split */
	size_t nr;
	size_t capacity;
	char (*sums)[SPLIT_NAME_BYTES]; /* by number: names by which some were added up */
	size_t nr_sums;
	size_t sum_capacity;
	uint32_t walk; /* the last walk over all threads: what it did not find has ended */
};

/* When the session ran; session_run.c keeps them. */
struct session_times {
	struct wall_clock clock; /* at the last take, or the start; all times here are monotonic */
	uint64_t start_ns;
	uint64_t paused_ns; /* 0: not paused */
	uint64_t since_ns; /* of the last take, or of the start */
	uint64_t since_idle_ns; /* how much of the time since then was paused */
	uint64_t idle_ns; /* how much of the time since the start was paused */
	uint64_t stop_ns; /* 0 while it runs */
};

/* Processes that have just begun: see callers_starting.c. */
enum { STARTING_MAX = 64 };

struct session_starting {
	int timer_fd;
	uint64_t wake_ns; /* 0: nothing else is due */
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

/* The texts that have a number in the kernel, or had one a moment ago: see session_texts.c. */
struct session_texts {
	struct text_numbers numbers;
	struct mapped_array places; /* struct rules_of_text by number */
	struct mapped_array owners; /* struct owner by number */
	struct store_text *list; /* by number */
	struct text_state {
		uint32_t named; /* the last turn whose half named it */
		uint32_t retired; /* the turn in which it was taken from its text; 0: it was not */
	} * states;
	uint32_t nr;
	size_t room;
	uint64_t reclaim_after; /* when numbers may be given back again between takes */
};

struct session {
	struct session_options options;
	struct host_bpf *skel;
	struct halves halves;
	struct store *store;
	uint64_t store_limit; /* bytes that it may take */
	uint32_t nr_splits; /* the most processes, threads or cgroups that are told apart */
	uint32_t turns; /* how often a half was closed and added to the store, from 1 on */
	bool is_full; /* the programs ask for a turn */
	struct grace_period grace;
	struct sampler sampler;
	struct ring_buffer *records;
	struct spaces spaces;
	struct session_jit jit;
	struct split_names splits;
	struct carries carries;
	struct session_callers callers;
	struct session_texts texts;
	struct runtime runtime;
	size_t added_up; /* processes that were added up by name since the last take */
	struct mapped_array ranges;
	struct mapped_array cpu_accounts;
	struct mapped_array target_accounts;
	uint32_t nr_cpus; /* number of possible CPUs */
	uint64_t *delivered; /* by CPU: its ticks in the profiles taken so far */
	struct session_target *targets;
	uint32_t nr_targets;
	bool by_cgroup; /* cgroups are targets or told apart */
	char *controller; /* of the hierarchy in that case; NULL: version 2 */
	uint32_t *sources; /* by object id of the last profile: its index in spaces, or NO_SOURCE */
	size_t nr_sources;
	int epoll_fd;
	struct session_costs cost;
	struct session_times times;
	struct error failure; /* from the last record that failed */
};

/*
 * session_targets.c, in this order: takes over the targets in the options; between open and load
 * sets knobs and map sizes for them; before the programs are attached fills in the cgroups, because
 * programs remember what they find for a cgroup; afterwards the processes.
 */
int session_add_targets(struct session *session, struct error *err);
int session_configure_targets(struct session *session, struct error *err);
int session_want_cgroups(struct session *session, struct error *err);
int session_follow_targets(struct session *session, struct error *err);

/* session_state.c: each source has two programs. */
struct bpf_program *session_clock_program(const struct session *session);
struct bpf_program *session_tick_program(const struct session *session);

/* session_records.c: the next tick in a file announces it, whichever process it falls in. */
void session_tell_again(struct session *session, const struct space *space);

/* The same as if it had never been announced. */
void session_forget_told(struct session *session, const struct space *space);

/* session_records.c: tells the programs whether a cgroup is wanted, unless they know it already. */
void session_judge(struct session *session, struct split_name *name);

/*
 * session_splits.c: the CPU time of the targets. It counts from the first of these calls on, and
 * is brought up to date before each take. After sampling has ended it waits for threads that were
 * reaped, because the last runtime of a thread is only known when it is freed.
 */
int session_begin_runtime(struct session *session, struct error *err);
void session_set_period(struct session *session);
int session_pause_runtime(struct session *session, struct error *err);
int session_settle_runtime(struct session *session, struct error *err);
int session_finish_runtime(struct session *session, struct error *err);

/* Around a time without ticks: WALK_MUTE or WALK_UNMUTE. None falls during either. */
int session_weigh_around(struct session *session, enum walk_kind kind, struct error *err);

/*
 * session_splits.c: writes the times of the splits into the profile; split_ids are its histograms'.
 * Returns 0 or -ENOMEM.
 */
int session_fill_splits(struct session *session, const struct counted *counted,
			const uint64_t *split_ids, struct profile *profile);

/* The same for a profile without ticks: cgroups that have names, whose time is added to their targets. */
int session_fill_times(const struct session *session, struct profile *profile);

/* session_profile.c: the words for kinds of targets. */
extern const char *const session_kind_words[];

/* What the processes or threads that were read are called. */
int session_name_splits(struct session *session, struct error *err);

/* Where cgroups are chosen: reads the splits once more, after the accounts. */
void session_reread_runtime(struct session *session);

/* The sum over all splits of a target. */
uint64_t session_split_ns(const struct session *session, uint32_t target);

/* Runs an iterator program once over all threads of the host, or, if tid is not 0, over that one. */
int session_walk(struct bpf_program *program, uint32_t tid, struct error *err);

/* Reads the map again. */
int runtime_read(struct runtime *runtime, int map_fd, struct error *err);

/* Marks what was read as taken, and forgets entries that were idle in the walk with that number. */
void runtime_take(struct runtime *runtime, int map_fd, uint32_t walk, struct callers_state *state);

/* Makes room in the map: what has ended is kept here alone. */
void runtime_retire(struct runtime *runtime, int map_fd, struct callers_state *state);

/*
 * Adds up by name what is gone, after it was said of each what it is added to: runtime_sum_of() is 0
 * for what stays. Returns how many there were.
 */
void runtime_find_sums(struct runtime *runtime);
uint64_t runtime_sum_of(const struct runtime *runtime, uint32_t target, uint64_t split);
size_t runtime_add_up(struct runtime *runtime);

/* Whether any target has an account of the split. */
bool runtime_has_split(const struct runtime *runtime, uint32_t nr_targets, uint64_t id);

/* Whether the last walk found no thread of a split; false for one that it came too early for. */
bool runtime_has_ended(const struct runtime *runtime, uint32_t nr_targets, uint64_t id);

void runtime_free(struct runtime *runtime);

/*
 * session_jit.c: follows the perf map of each process with anonymous text. The map is read when it
 * grows and before a profile is made. session_note_jit() says in the profile how far it was read (-ENOMEM);
 * after the take this begins anew.
 */
int session_open_jit(struct session *session, struct error *err);
void session_close_jit(struct session *session);
void session_new_text(struct session *session, struct space_info *info);
void session_free_text(struct session *session, struct space_info *info);
void session_poll_jit(struct session *session);
void session_read_jit(struct session *session);
int session_note_jit(const struct session *session, const struct seen_names *names,
		     struct profile *profile);
void session_turn_jit(struct session *session);

/*
 * session_records.c: opens the records of the programs; takes them in. session_begin_callers() has the
 * texts announced that targets run already, and their tables made.
 */
int session_open_records(struct session *session, struct error *err);
int session_consume_records(struct session *session, struct error *err);
int session_read_records(struct session *session, struct error *err); /* and perf maps */
int session_begin_callers(struct session *session, struct error *err);

/*
 * session_turn.c: divides --memory; between open and load; after load. session_turn() closes the half that
 * programs add to and moves all that is in it to the store. It runs at each take, and when the programs ask for it.
 */
int session_plan(struct session *session, struct error *err);
int session_size_halves(struct session *session);
int session_bind_halves(struct session *session, struct error *err);
int session_turn(struct session *session, struct error *err);
void session_poll_turn(struct session *session);
uint64_t session_bytes(const struct session *session); /* of kernel memory */

/* session_callers.c: what of the memory is for rules; between open and load; after load. */
uint64_t session_plan_callers(struct session *session);
int session_configure_callers(struct session *session, struct error *err);
int session_bind_callers(struct session *session, struct error *err);

/*
 * session_texts.c: the numbers of texts. Each text gets one when it is announced, and with --callers its table.
 * session_turn_texts() runs in each turn, while the closed half is mapped.
 */
uint32_t session_max_texts(const struct session *session);
int session_size_texts(struct session *session);
int session_bind_texts(struct session *session, struct error *err);
void session_free_texts(struct session *session);
void session_new_number(struct session *session, const struct space *space);
int session_read_texts(struct session *session); /* -ENOMEM */
void session_turn_texts(struct session *session, const struct caller_node *nodes, uint32_t nr);
bool session_texts_are_short(const struct session *session);

/* Between takes: turns if numbers are short. */
void session_reclaim_texts(struct session *session);

/* Forgets texts that were retired, and that no tick is in any more. */
void session_forget_texts(struct session *session);

/*
 * Other code lies in these places now, perhaps since late_ns ago: if there are ticks of them, those from now on
 * are told apart.
 */
void session_replace_code(struct session *session, struct space_info *info, struct jit_code *codes,
			  size_t nr, uint64_t late_ns);

/* callers_starting.c: a file was met for the first time in a process, which is looked through for others. */
int session_open_starting(struct session *session, struct error *err);
void session_note_starting(struct session *session, uint32_t tgid);
void session_poll_starting(struct session *session);
void session_wake_at(struct session *session, uint64_t when); /* polls then too */
void session_close_starting(struct session *session);

/*
 * session_profile.c: session_counted() is what a take reads with; session_fill_head() says by which
 * clock the profile is dated; session_fill() fills the profile once all is read, and takes the
 * counters of bins and accounts.
 */
struct counted session_counted(struct session *session);
uint64_t session_until_ns(const struct session *session);
int session_fill_head(const struct session *session, uint64_t until, struct wall_clock *ret_clock,
		      struct profile *profile, struct error *err);
int session_fill(struct session *session, const struct counted *counted, struct profile *profile,
		 struct error *err);

#endif
