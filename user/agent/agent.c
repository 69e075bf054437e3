// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/agent.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/last_good.h"
#include "agent/privileges.h"
#include "agent/run.h"
#include "base/error.h"
#include "base/notify.h"
#include "base/output.h"
#include "base/util.h"
#include "host/engine/sched_tick.h"
#include "host/record/sample_loop.h"
#include "host/record/symbolizer.h"

#define PATIENCE_NS (5 * SECOND_NS)
#define FIRST_NS (10 * SECOND_NS)

static void deliver(void *context, const struct profile *profile)
{
	struct run *run = context;
	struct agent *agent = run->agent;
	size_t i;

	LOCK_SCOPE(&agent->figures.shown);
	agent->state.cut_ns = session_since_ns(run->loop.session);
	if (run->ended)
		agent->state.until_ns = agent->state.cut_ns;
	agent->parts_ticks = 0;
	figures_end_interval(&agent->figures);
	/* A profile without ticks is not sent. The next one includes its unsampled time. */
	if (profile->ticks.total) {
		run->clock = session_clock(run->loop.session);
	} else {
		agent->unsampled_ns = profile->sampling.unsampled_ns;
		session_set_clock(run->loop.session, &run->clock);
	}
	agent->state.parts_ticks = 0;
	for (i = 0; i < agent->nr_sinks && profile->ticks.total; i++)
		sink_put(agent->sinks[i], profile);
	state_count_sinks(&agent->state, agent->sinks, agent->nr_sinks);
	state_save(&agent->state, &agent->figures);
}

static void observe(void *context, struct profile *part)
{
	struct run *run = context;
	struct session_live live;
	struct session_cost cost;

	run->cut_ns = monotonic_ns();
	if (choice_label(&run->options->choice, part))
		print_message(NULL, "agent: out of memory: some labels are missing");
	identities_end_interval(run->agent->identities);
	part->sampling.unsampled_ns = run->agent->unsampled_ns;
	run->agent->unsampled_ns = 0;
	run->agent->parts_ticks += part->ticks.total;
	session_live(run->loop.session, &live);
	session_cost(run->loop.session, &cost);
	pthread_mutex_lock(&run->agent->figures.shown);
	figures_add(&run->agent->figures, part,
		    &(struct figures_session){ .handler_ns = cost.all_ns,
					       .cost = run->loop.spending.cost,
					       .memory = live.memory,
					       .memory_limit = run->options->sampling.memory });
	if (run->agent->state.fd >= 0 && !run->ended)
		run_save_state(run);
	pthread_mutex_unlock(&run->agent->figures.shown);
	if (run->has_scrapes)
		scrapes_add_part(&run->scrapes, part);
}

/*
 * Use the scheduler's tick if the kernel has one. With perf's clock, reach the duty by a lower
 * rate: the interrupts of skipped ticks would cost almost as much as counting them.
 */
static void choose_source(struct sampling_options *options)
{
	struct sched_tick found;
	struct error ignored;

	if (options->source == SOURCE_UNTOLD && !sched_tick_find(&found, &ignored))
		options->source = SOURCE_TICK;
	if (options->source != SOURCE_TICK && options->duty_percent > 0) {
		options->budget_percent *= options->duty_percent / 100;
		options->duty_percent = 0;
	}
}

/* On a busy host one interval may be late. */
enum { LATE_INTERVALS = 3 };

static int open_listener(struct run *run, struct error *err)
{
	const uint64_t interval = run->options->sampling.interval_ns;
	const struct listen_sources sources = {
		.cut_ns = &run->cut_ns,
		.late_ns = LATE_INTERVALS * (interval > NAMES_LEAST_NS ? interval : NAMES_LEAST_NS),
		.figures = &run->agent->figures,
		.config_error = run->agent->config_error.text,
		.scrapes = &run->scrapes,
		.sinks = run->sinks,
		.nr_sinks = run->nr_sinks,
		.identities = run->agent->identities
	};

	if (!run->options->listen.address)
		return 0;
	run->cut_ns = monotonic_ns();
	return listener_open(&run->options->listen, &sources, &run->listener, err);
}

/*
 * Without usable cgroups, profile the host as one service, unless --include or --exclude must
 * choose among cgroups.
 */
static int find_cgroups(struct run *run, struct error *err)
{
	int ret = targets_split_hierarchy(&run->targets.controller, err);

	if (ret != -EOPNOTSUPP || run->options->choice.nr_rules)
		return ret;
	run->options->sampling.split = SPLIT_NONE;
	return 0;
}

static int find_targets(struct run *run, struct error *err)
{
	int ret = targets_add_all(&run->targets, err);

	if (!ret)
		ret = targets_finish(&run->targets, err);
	if (!ret && run->options->sampling.split == SPLIT_CGROUP)
		ret = find_cgroups(run, err);
	return ret;
}

/*
 * Intervals end at random times, so that hosts that start together do not deliver together. The
 * first profile comes early: after a rollout it shows soon whether the sinks accept profiles.
 */
static void choose_cuts(struct sample_loop *loop)
{
	uint64_t now = monotonic_ns(), interval = loop->options->interval_ns;

	loop->cut_ns = now + chance_below(interval) + 1;
	if (interval <= FIRST_NS)
		return;
	loop->then_ns = loop->cut_ns;
	loop->cut_ns = now + FIRST_NS + chance_below(SECOND_NS);
}

static enum space_state decide(void *context, const char *cgroup)
{
	struct run *run = context;

	return choice_decide(&run->options->choice, cgroup);
}

/*
 * Kubelet creates the link to a container's log late. Look the name up again before the first
 * profile, which would lack it.
 */
static void look_up_names(void *context, const char *cgroup)
{
	struct run *run = context;

	if (choice_look_up(&run->options->choice, cgroup))
		run->loop.named_ns = monotonic_ns() + IDENTITIES_AGAIN_NS;
}

static int prepare(struct run *run, struct error *err)
{
	struct sampling_options *sampling = &run->options->sampling;
	int ret;

	run->options->choice.identities = run->agent->identities;
	sampling->choose_context = run;
	sampling->first_seen = look_up_names;
	if (run->options->choice.nr_rules)
		sampling->choose = decide;
	choose_source(sampling);
	ret = spending_choose(sampling, "agent", err);
	if (ret)
		return sample_explain(ret, err);
	/*
	 * Without a duty from the last agent, start with all ticks. The first profile then shows
	 * their cost.
	 */
	sampling->adapt_duty = sampling->source == SOURCE_TICK && !sampling->has_duty;
	if (sampling->adapt_duty && run->agent->state.has_duty)
		sampling->duty_percent = run->agent->state.duty_percent;
	run->result.options = sampling;
	run->result.deliver = deliver;
	run->result.observe = observe;
	run->result.context = run;
	ret = find_targets(run, err);
	if (!ret)
		ret = run_open_wake(run, err);
	if (!ret)
		ret = run_open_sinks(run, err);
	if (ret)
		return ret;
	ret = sample_start(&run->loop, run->targets.list, run->targets.nr, run->targets.controller,
			   err);
	if (ret)
		return ret;
	choose_cuts(&run->loop);
	ret = open_listener(run, err);
	if (ret)
		return ret;
	/* Only once: after a failure other options may be tried. */
	run_find_unsampled(run);
	run->clock = session_clock(run->loop.session);
	return 0;
}

/* Kubelet cuts a host name to 63 bytes, and then removes characters that may not come last. */
#define POD_NAME_CUT 60

static bool is_pods_name(const char *host)
{
	const char *rest = strlen(host) < POD_NAME_CUT ? "" : "*";
	char pattern[sizeof(LOGS_OF_PODS) + 2 * HOST_NAME_MAX];
	glob_t found;
	bool ret;

	snprintf(pattern, sizeof(pattern), LOGS_OF_PODS "/*_%s%s_*", host, rest);
	ret = !glob(pattern, GLOB_NOSORT, NULL, &found);
	if (ret)
		globfree(&found);
	return ret;
}

/* A pod's name changes with each restart. Therefore it identifies no host. */
static void say_whose_name(const struct agent_choice *choice)
{
	char host[HOST_NAME_MAX + 1] = "";
	size_t i;

	for (i = 0; i < choice->nr_labels; i++)
		if (!strcmp(choice->labels[i].key, "host.name"))
			return;
	if (!gethostname(host, sizeof(host) - 1) && *host && is_pods_name(host))
		print_message("--label host.name=NODE",
			      "agent: host.name is %s, which is a pod's and not the node's", host);
}

static void say_what_runs(const struct run *run)
{
	size_t i;

	say_whose_name(&run->options->choice);
	if (run->options->sampling.split == SPLIT_NONE)
		print_message(
			NULL,
			"agent: only one cgroup is visible, so the host is one service; in a "
			"container, --cgroupns=host and -v /sys/fs/cgroup:/sys/fs/cgroup:ro show all");
	for (i = 0; i < run->agent->nr_sinks; i++)
		print_message(NULL, "agent: to %s every %.6g s", sink_name(run->agent->sinks[i]),
			      (double)run->options->sampling.interval_ns / 1e9);
	if (run->listener)
		print_message(NULL, "agent: listening at port %u", listener_port(run->listener));
}

/* Do not keep a copy of a file that is not in force. */
static void keep_config(const struct run *run)
{
	const struct agent_options *options = run->options;
	struct error err = { 0 };

	if (options->last_good && !run->agent->config_error.text[0] &&
	    last_good_keep(options->config, &options->config_read, options->last_good, &err))
		print_error(&err);
}

static void say_ready(struct run *run)
{
	struct agent *agent = run->agent;

	keep_config(run);
	figures_note_old_spools(&agent->figures,
				old_spools_settle(run->options->spool, run->options->old_spools,
						  agent->sinks, agent->nr_sinks));
	if (run->options->sampling.verbosity >= 0)
		say_what_runs(run);
	if (!run->agent->ready)
		notify(NOTIFY_READY);
	run->agent->ready = true;
}

static enum agent_end sample(struct run *run)
{
	enum sample_event event;

	do {
		if (run_is_reconfigured(run))
			return AGENT_RELOAD;
		event = sample_run(&run->loop);
		if (event == SAMPLE_ENDED)
			run_wake(run);
	} while (event == SAMPLE_ENDED);
	if (event != SAMPLE_SIGNAL)
		return AGENT_FAILED;
	return run->loop.signal.ssi_signo == SIGHUP ? AGENT_RELOAD : AGENT_STOPPED;
}

static void finish(struct run *run)
{
	if (run->has_scrapes)
		scrapes_cancel(&run->scrapes);
	listener_close(run->listener);
	if (run->has_scrapes)
		scrapes_close(&run->scrapes);
	sample_close(&run->loop);
	if (run->sinks)
		run_close_sinks(run->sinks, run->nr_sinks, 0);
	close_fd(&run->timer_fd);
	close_fd(&run->watch_fd);
	close_fd(&run->save_fd);
	close_fd(&run->wake_fd);
	result_free(&run->result);
	targets_free(&run->targets);
}

/*
 * A copy of the signal waits until the session has stopped: the kernel may take longer to detach the
 * programs than a copy may be late.
 */
static enum agent_end stop(struct run *run, enum agent_end end, struct error *err)
{
	int ret;

	/* Read these in the same order as run_save_state() does. */
	usages_read(&run->agent->state.usages, &run->agent->cgroups);
	ret = session_stop(run->loop.session, err);
	if (end == AGENT_STOPPED)
		sample_let_signals_through(
			"bpfprofil: agent: ended by a second signal: what was counted since the "
			"last profile and what waits is lost, but for what is in a spool\n");
	if (ret) {
		print_error(err);
		return AGENT_FAILED;
	}
	run->ended = true;
	run->agent->state.ticks = 0;
	result_finish(&run->result, run->loop.session);
	return end;
}

enum agent_end agent_run(struct agent *agent, struct agent_options *options, struct error *err)
{
	struct run run = { .agent = agent,
			   .options = options,
			   .timer_fd = -1,
			   .watch_fd = -1,
			   .save_fd = -1,
			   .wake_fd = -1 };
	enum agent_end end = AGENT_FAILED;
	int ret;

	run.loop = (struct sample_loop){ .options = &options->sampling,
					 .phases = &run.phases,
					 .result = &run.result,
					 .signal_fd = -1,
					 .control = CONTROL_CLOSED,
					 .ended_fd = -1 };
	figures_new_session(&agent->figures, options->listen.address, options->listen.functions);
	/* SIGHUP reloads, even if nohup(1) had it ignored. */
	signal(SIGHUP, SIG_DFL);
	run.loop.signal_fd = sample_open_signals(err);
	ret = run.loop.signal_fd < 0 ? run.loop.signal_fd : prepare(&run, err);
	if (ret)
		end = AGENT_NOT_BEGUN;
	else
		ret = run_replace_sinks(&run, err);
	if (ret) {
		print_error(err);
	} else {
		run_count_killed(agent);
		agent->state.ticks = agent->state.parts_ticks = 0;
		agent->state.cut_ns = session_since_ns(run.loop.session);
		say_ready(&run);
		end = sample(&run);
		end = stop(&run, end, err);
	}
	finish(&run);
	return end;
}

int agent_open(struct agent *agent, const struct agent_options *options, struct error *err)
{
	int ret;

	memory_keep_little();
	*agent = (struct agent){ .state.fd = -1 };
	figures_open(&agent->figures);
	if (cgroups_read(&agent->cgroups, "/proc", err))
		return -EIO;
	ret = targets_check_namespace("agent", err);
	if (!ret)
		ret = privileges_drop(options, err);
	if (!ret && options->spool)
		state_open(&agent->state, options->spool, options->nr_sinks, &agent->figures);
	return ret ? ret : identities_open("/var/log", &agent->identities, err);
}

void agent_close(struct agent *agent)
{
	run_end_sinks(agent->sinks, agent->nr_sinks, PATIENCE_NS);
	if (agent->ready) {
		state_count_sinks(&agent->state, agent->sinks, agent->nr_sinks);
		state_save(&agent->state, &agent->figures);
	}
	run_close_sinks(agent->sinks, agent->nr_sinks, PATIENCE_NS);
	state_close(&agent->state);
	cgroups_free(&agent->cgroups);
	figures_close(&agent->figures);
	identities_close(agent->identities);
	*agent = (struct agent){ 0 };
}
