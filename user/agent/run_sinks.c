// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/run.h"
#include "base/util.h"

void run_end_sinks(struct sink *const *sinks, size_t nr, uint64_t patience_ns)
{
	uint64_t until = monotonic_ns() + patience_ns, now;
	size_t i;

	/* End them all at once: one that hangs must not delay the others. */
	for (i = 0; i < nr; i++)
		sink_begin_closing(sinks[i], patience_ns);
	for (i = 0; i < nr; i++) {
		now = monotonic_ns();
		sink_end(sinks[i], until > now ? until - now : 0);
	}
}

void run_close_sinks(struct sink **sinks, size_t nr, uint64_t patience_ns)
{
	size_t i;

	run_end_sinks(sinks, nr, patience_ns);
	for (i = 0; i < nr; i++)
		sink_close(sinks[i], 0);
	free(sinks);
}

/* Finds a sink of the same kind and place; nr: there is none. */
static size_t find_same(struct sink *const *sinks, size_t nr, const struct sink *sink)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (sinks[i] && sink_is_same(sinks[i], sink))
			break;
	return i;
}

/* Numbers a sink whose name another one has, so that metrics and messages differ. */
static int make_name_unique(const struct run *run, struct sink *sink, struct error *err)
{
	const char *name = sink_name(sink), *other;
	size_t i, same = 0, length = strlen(name);

	for (i = 0; i < run->nr_sinks; i++) {
		other = sink_name(run->sinks[i]);
		same += !strncmp(other, name, length) &&
			(!other[length] || !strncmp(other + length, " (", 2));
	}
	return same ? sink_number(sink, same + 1, err) : 0;
}

static int open_sink(struct run *run, const struct sink_options *options, struct error *err)
{
	const struct agent *agent = run->agent;
	struct sink *sink;
	int ret = sink_open(options, &run->sinks[run->nr_sinks], err);

	sink = run->sinks[run->nr_sinks];
	if (!ret && find_same(run->sinks, run->nr_sinks, sink) < run->nr_sinks)
		ret = error_set(err, -EINVAL, "agent: %s: given twice", sink_name(sink));
	if (!ret)
		ret = make_name_unique(run, sink, err);
	if (!ret && !agent->ready && state_find_sink(&agent->state, sink_name(sink)))
		sink_restore(sink, state_find_sink(&agent->state, sink_name(sink)));
	run->nr_sinks += sink != NULL;
	if (ret)
		return ret;
	/* If an earlier sink has the spool, it is loaded once that sink has ended. */
	return find_same(agent->sinks, agent->nr_sinks, sink) < agent->nr_sinks ?
		       0 :
		       sink_load(sink, err);
}

int run_open_sinks(struct run *run, struct error *err)
{
	const struct agent_options *options = run->options;
	size_t i;
	int ret = 0;

	run->sinks = calloc(options->nr_sinks + 1, sizeof(struct sink *));
	if (!run->sinks)
		return error_errno(err, -ENOMEM, "agent");
	for (i = 0; !ret && i < options->nr_sinks; i++)
		ret = open_sink(run, &options->sinks[i], err);
	return ret;
}

int run_replace_sinks(struct run *run, struct error *err)
{
	struct agent *agent = run->agent;
	struct error later; /* the first error is reported */
	struct sink *before;
	size_t i, at;
	int ret = 0, code;

	for (i = 0; i < run->nr_sinks; i++) {
		at = find_same(agent->sinks, agent->nr_sinks, run->sinks[i]);
		before = at < agent->nr_sinks ? agent->sinks[at] : NULL;
		if (before)
			agent->sinks[at] = NULL;
		code = sink_start(run->sinks[i], before, ret ? &later : err);
		ret = ret ? ret : code;
	}
	run_close_sinks(agent->sinks, agent->nr_sinks, 0);
	agent->sinks = run->sinks;
	agent->nr_sinks = run->nr_sinks;
	run->sinks = NULL;
	return ret;
}
