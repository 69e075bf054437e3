// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The maps for walks, and the files of processes that have just begun. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/programs.h"
#include "host/engine/session_impl.h"
#include "shared/callers_abi.h"

/*
 * The largest part of --memory for rules. They use only what they need: clang alone has 10 MiB of
 * rules, and a whole host without it 13.
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

	map_set_entries(skel->maps.rule_lines, lines->base);
	map_set_entries(skel->maps.rule_chunks, (lines->limit - lines->base) / CHUNK_LINES);
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
		.lines_fd = bpf_map__fd(skel->maps.rule_lines),
		.line_chunks_fd = bpf_map__fd(skel->maps.rule_chunks),
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

/* --- processes that have just begun ----------------------------------------------------------- */

/*
 * A file is announced at its first tick, and until its table is made, ticks in it lack callers. A
 * program that has just begun maps its libraries one after the other. Therefore, if a file is first
 * seen in a process, that process is searched for other files some milliseconds later, and twice
 * more.
 */
#define MS 1000000ULL

/* The loader usually needs 1 to 3 ms; an interpreter loads modules for longer. */
#define FIRST_LOOK (3 * MS)
enum { LATER = 4, LOOKS = 3 };

/*
 * The search uses at most 1/REST_SHARE of a processor's time, because a process may have any number
 * of mappings.
 */
enum { REST_SHARE = 20 };

void session_note_starting(struct session *session, uint32_t tgid)
{
	struct session_starting *starting = &session->callers.starting;
	size_t i;

	/* Before the start, session_announce_texts() announces all mappings. */
	if (!(session->options.callers || session->options.waits) || !session->times.start_ns)
		return;
	for (i = 0; i < starting->nr; i++)
		if (starting->list[i].tgid == tgid)
			return;
	if (starting->nr == STARTING_MAX)
		return;
	starting->list[starting->nr++] =
		(struct starting_process){ .tgid = tgid,
					   .due_ns = monotonic_ns() + FIRST_LOOK,
					   .next_ns = FIRST_LOOK * LATER };
	session_wake_at(session, monotonic_ns() + FIRST_LOOK);
}

static void look_through(struct session *session, struct starting_process *process)
{
	struct error ignored;

	programs_walk(session->skel->progs.profil_texts, process->tgid, &ignored);
	process->looks++;
	process->due_ns += process->next_ns;
	process->next_ns *= LATER;
}

static void look_through_due(struct session *session, uint64_t began)
{
	struct session_starting *starting = &session->callers.starting;
	size_t i, kept = 0;

	for (i = 0; i < starting->nr; i++) {
		if (starting->list[i].due_ns <= began)
			look_through(session, &starting->list[i]);
		if (starting->list[i].looks < LOOKS)
			starting->list[kept++] = starting->list[i];
	}
	starting->nr = kept;
	starting->rest_until = monotonic_ns() + (monotonic_ns() - began) * REST_SHARE;
}

void session_poll_starting(struct session *session)
{
	struct session_starting *starting = &session->callers.starting;
	const uint64_t now = monotonic_ns();
	size_t i;

	if (starting->nr && now >= starting->rest_until)
		look_through_due(session, now);
	for (i = 0; i < starting->nr; i++)
		session_wake_at(session, max_size(starting->list[i].due_ns, starting->rest_until));
}
