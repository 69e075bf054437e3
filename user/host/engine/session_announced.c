// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kernel's map of announced files, processes and cgroups. */
#include <bpf/bpf.h>

#include "host/engine/session_announced.h"
#include "host/engine/session_state.h"

void session_announce_again(struct session *session, const struct space *space)
{
	const uint32_t unopened = SPACE_UNOPENED;

	bpf_map_update_elem(bpf_map__fd(session->skel->maps.spaces), space, &unopened, BPF_EXIST);
	__atomic_fetch_add(&session->halves.state->epoch, 1, __ATOMIC_RELEASE);
}

void session_forget_announced(struct session *session, const struct space *space)
{
	bpf_map_delete_elem(bpf_map__fd(session->skel->maps.spaces), space);
	__atomic_fetch_add(&session->halves.state->epoch, 1, __ATOMIC_RELEASE);
}

void session_classify(struct session *session, struct split_name *name)
{
	const struct space space = cgroup_space(name->id);
	uint32_t state;

	if (!session->options.choose || name->state != SPACE_ANNOUNCED)
		return;
	name->state = state = session->options.choose(session->options.choose_context, name->name);
	bpf_map_update_elem(bpf_map__fd(session->skel->maps.spaces), &space, &state, BPF_EXIST);
}
