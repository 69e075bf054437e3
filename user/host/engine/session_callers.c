// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* With --callers: the maps that walks need, and the rules in them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "host/engine/callers_rules.h"
#include "host/engine/session_callers.h"
#include "host/engine/session_state.h"
#include "shared/callers_abi.h"

/*
 * The largest part of --memory for rules. They use what they need: clang alone has 10 MiB of rules, and a whole host
 * without it 13.
 */
enum { RULES_SHARE = 2 };

uint64_t session_plan_callers(struct session *session)
{
	const uint64_t bytes = session->options.callers ? session->options.memory / RULES_SHARE : 0;

	if (bytes)
		callers_rules_plan(&session->callers.lines, bytes);
	return bytes;
}

static void size_callers(struct session *session)
{
	const struct chunked_array *lines = &session->callers.lines;
	const uint32_t walks = 2 * session->nr_cpus; /* of ticks, and of exits */
	struct host_bpf *skel = session->skel;

	map_set_entries(skel->maps.lines, lines->base);
	map_set_entries(skel->maps.line_chunks, (lines->limit - lines->base) / CHUNK_LINES);
	map_set_entries(skel->maps.rules, RULES_MAX);
	map_set_entries(skel->maps.ranges, walks * RANGES);
	map_set_entries(skel->maps.known_rules, walks * KNOWN_RULES);
	map_set_entries(skel->maps.walks, walks);
}

void session_configure_callers(struct session *session)
{
	struct host_bpf *skel = session->skel;

	bpf_program__set_autoload(skel->progs.profil_texts,
				  session->options.callers || session->options.waits);
	bpf_program__set_autoattach(skel->progs.profil_texts, false);
	if (!session->options.callers)
		return;
	skel->rodata->with_callers = true;
	skel->rodata->exit_walks = session->nr_cpus;
	skel->rodata->base_lines = session->callers.lines.base;
	size_callers(session);
}

int session_bind_callers(struct session *session, struct error *err)
{
	struct session_callers *callers = &session->callers;
	struct host_bpf *skel = session->skel;
	struct callers_rules_maps maps = {
		.lines_fd = bpf_map__fd(skel->maps.lines),
		.line_chunks_fd = bpf_map__fd(skel->maps.line_chunks),
		.texts = session->texts.numbers,
	};
	int ret;

	if (!session->options.callers)
		return 0;
	ret = mapped_array_open(skel->maps.rules, PROT_READ | PROT_WRITE, &maps.rules, err);
	if (ret)
		return ret;
	callers->rules = callers_rules_start(&maps, &callers->lines, err);
	if (!callers->rules)
		return -ENOMEM;
	callers_rules_add(callers->rules, (struct wanted_rules){ .text = TEXT_VDSO, .fd = -1 });
	return 0;
}
