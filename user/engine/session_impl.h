/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_IMPL_H
#define BPFPROFIL_SESSION_IMPL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/pool.h"
#include "engine/sampler.h"
#include "engine/session.h"
#include "engine/snapshot.h"
#include "engine/spaces.h"
#include "engine/split_names.h"
#include "shared/abi.h"

#include "profil.skel.h"

/* The inside of a session: session.c runs it, session_profile.c reads it. Nobody else looks. */
struct mapped {
	void *at;
	size_t size;
};

struct session_target {
	char *kind;
	char *name;
	struct tally taken; /* out of its counters, by all takes so far */
};

struct session {
	struct session_options options;
	struct profil_bpf *skel;
	struct pool pool;
	struct sampler sampler;
	struct ring_buffer *records;
	struct spaces spaces;
	struct split_names splits;
	struct carries carries;
	struct mapped xlat;
	struct mapped cpu_accounts;
	struct mapped target_accounts;
	uint32_t nr_cpus; /* possible */
	uint32_t max_targets;
	struct session_target targets[1];
	uint32_t nr_targets;
	uint32_t *sources; /* by object id of the last profile its place in spaces, or NO_SOURCE */
	size_t nr_sources;
	int epoll_fd;
	struct timespec started; /* wall clock; all else here is monotonic */
	uint64_t start_ns;
	uint64_t since_ns; /* of the last take, else of the start */
	uint64_t stop_ns; /* 0 while it runs */
	struct error failure; /* of the last record */
};

uint64_t now_ns(void); /* monotonic */

#endif
