/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_IMPL_H
#define BPFPROFIL_SESSION_IMPL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/jit_text.h"
#include "engine/pool.h"
#include "engine/recycle.h"
#include "engine/runtime.h"
#include "engine/sampler.h"
#include "engine/session.h"
#include "engine/snapshot.h"
#include "engine/spaces.h"
#include "engine/split_names.h"
#include "shared/abi.h"

#include "host.skel.h"

/*
 * The inside of a session: session.c runs it, session_targets.c tells it whom to look for,
 * session_take.c takes a profile from it, step by step, which session_profile.c fills. Nobody else
 * looks.
 */
struct mapped {
	void *at;
	size_t size;
};

struct session_target {
	enum target_kind kind;
	char *name;
	char *cgroup; /* its path, of a cgroup */
	struct tally taken; /* out of its counters, by all takes so far */
};

/* Perf maps are read when they grow, but for a rest after each reading. */
struct session_jit {
	int inotify_fd; /* -1: nobody tells that they do */
	int timer_fd;
	bool resting;
	uint64_t rest_until;
	bool unread; /* some map waits to be read, whether or not it grows */
	size_t next; /* before which space's map comes next */
	size_t room; /* for functions remembered */
	size_t nr_texts; /* that there ever were */
};

struct session {
	struct session_options options;
	struct host_bpf *skel;
	struct pool pool;
	struct sampler sampler;
	struct ring_buffer *records;
	struct spaces spaces;
	struct session_jit jit;
	struct split_names splits;
	struct carries carries;
	struct recycler recycler;
	struct runtime runtime;
	struct mapped xlat;
	struct mapped cpu_accounts;
	struct mapped target_accounts;
	uint32_t nr_cpus; /* possible */
	uint64_t *delivered; /* ticks of each, in the profiles taken so far */
	struct session_target *targets;
	uint32_t nr_targets;
	bool by_cgroup; /* cgroups are targets or told apart */
	char *controller; /* of the hierarchy then; NULL: version 2 */
	uint32_t *sources; /* by object id of the last profile its place in spaces, or NO_SOURCE */
	size_t nr_sources;
	int epoll_fd;
	int stats_fd; /* while it is open the kernel measures its programs; -1: not for us */
	struct timespec started; /* wall clock; all else here is monotonic */
	uint64_t start_ns;
	uint64_t paused_ns; /* 0: it is not */
	uint64_t since_ns; /* of the last take, else of the start */
	uint64_t since_idle_ns; /* of the time since then that was paused */
	uint64_t idle_ns; /* of all time since the start */
	uint64_t stop_ns; /* 0 while it runs */
	struct error failure; /* of the last record */
};

/*
 * session_targets.c, in this order: takes in the targets of the options; between open and load
 * gives the programs' knobs and maps what they need for them; before the programs are attached,
 * shows them the cgroups, for what they find out of one they remember; afterwards the processes.
 */
int session_add_targets(struct session *session, struct error *err);
int session_configure_targets(struct session *session, struct error *err);
int session_want_cgroups(struct session *session, struct error *err);
int session_follow_targets(struct session *session, struct error *err);

/*
 * session_runtime.c: the CPU time of the targets. It counts from the first of these on, is brought
 * to account before each take, and once sampling has ended threads that were reaped are waited for,
 * whose last runtime is not known before they are freed.
 */
int session_begin_runtime(struct session *session, struct error *err);
int session_pause_runtime(struct session *session, struct error *err);
int session_settle_runtime(struct session *session, struct error *err);
int session_finish_runtime(struct session *session, struct error *err);

/* What was read of the splits: into the profile, whose histograms are of split_ids; -ENOMEM. */
int session_fill_splits(struct session *session, const uint64_t *split_ids,
			struct profile *profile);

/* The same of all splits of a target. */
uint64_t session_split_ns(const struct session *session, uint32_t target);

/* Runs a program that is an iterator once over all threads of the host. */
int session_walk(struct bpf_program *program, struct error *err);

/*
 * session_jit.c: of a process with anonymous text its perf map is followed from the first sight on,
 * read when it grows and before a profile is made; in that, what was counted of code whose place
 * other code took is moved (-ENOMEM); and once it is taken, that begins anew.
 */
int session_open_jit(struct session *session, struct error *err);
void session_close_jit(struct session *session);
void session_new_text(struct session *session, struct space_info *info);
void session_free_text(struct session *session, struct space_info *info);
void session_poll_jit(struct session *session);
void session_read_jit(struct session *session);
int session_move_jit(const struct session *session, struct seen_names *names,
		     struct profile *profile);
void session_turn_jit(struct session *session);

/*
 * session_profile.c: what a take reads by, and what it fills the profile with once all is read. The
 * counters of bins and accounts are taken by the second.
 */
struct counted session_counted(struct session *session);
uint64_t session_until_ns(const struct session *session);
int session_fill_head(const struct session *session, uint64_t until, struct profile *profile,
		      struct error *err);
int session_fill(struct session *session, const struct counted *counted, struct seen *seen,
		 struct profile *profile, struct error *err);

#endif
