// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/agent.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/last_good.h"
#include "base/error.h"
#include "base/notify.h"
#include "base/output.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "host/engine/sched_tick.h"
#include "host/record/sample_loop.h"
#include "host/record/symbolizer.h"
#include "profile/profile_head.h"

/* What to keep in addition to what sampling always needs. */
struct privileges {
	bool admin; /* CAP_SYS_ADMIN: the run time of BPF programs, perf events of a paranoid kernel */
	bool write_anywhere; /* CAP_DAC_OVERRIDE and CAP_CHOWN: folders and files of other users */
};

static uint64_t bit(unsigned int capability)
{
	return UINT64_C(1) << capability;
}

/*
 * BPF and PERFMON load the programs, and load them again after SIGHUP. SYS_PTRACE and DAC_READ_SEARCH
 * open the files that processes of all users run, and CHECKPOINT_RESTORE those of them that were
 * deleted or replaced. SYSLOG shows the kernel's addresses. Where BPF or PERFMON is not permitted, as in
 * a container of a docker that does not know them, SYS_ADMIN stands for both.
 */
static uint64_t needed(const struct privileges *keep, uint64_t permitted)
{
	uint64_t set = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE) |
		       bit(CAP_DAC_READ_SEARCH) | bit(CAP_CHECKPOINT_RESTORE) | bit(CAP_SYSLOG);

	if (keep->admin || ~permitted & (bit(CAP_BPF) | bit(CAP_PERFMON)))
		set |= bit(CAP_SYS_ADMIN);
	if (keep->write_anywhere)
		set |= bit(CAP_DAC_OVERRIDE) | bit(CAP_CHOWN);
	return set;
}

/* This needs CAP_SETPCAP. An agent that lacks it is not root, and has nothing to get back. */
static void bound(uint64_t keep)
{
	unsigned int capability;

	for (capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (!(keep & bit(capability)))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

/*
 * Gives up all other capabilities for good, of this thread, of the threads that it starts later, and
 * of the programs that they start. Call it before there is another thread.
 */
static int privileges_drop(const struct privileges *keep, struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint64_t set;
	unsigned int i;

	if (syscall(SYS_capget, &header, data))
		return error_errno(err, -errno, "agent: capabilities");
	set = needed(keep, data[0].permitted | (uint64_t)data[1].permitted << 32);
	bound(set);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_errno(err, -errno, "agent: capabilities");
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(set >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data))
		return error_errno(err, -errno, "agent: capabilities");
	return 0;
}

#define PATIENCE_NS (5 * SECOND_NS)
#define FIRST_NS (10 * SECOND_NS)

/* Sampling between two readings of the options. */
struct run {
	struct agent *agent;
	struct agent_options *options;
	struct targets targets;
	struct result result;
	struct sample_loop loop;
	struct phase_options phases; /* a single phase without end */
	struct watchdog watchdog;
	int timer_fd; /* for the watchdog */
	int watch_fd; /* of the folder that the file of options is in; -1: none */
	int wake_fd; /* readable when a timer expires or a scrape has something to do */
	struct wall_clock clock; /* as of the last profile that was delivered */
	struct scrapes scrapes;
	bool has_scrapes;
	bool ended; /* nothing is sampled any more */
	int note_fd; /* expires when to note what the next agent goes on with; -1: never */
	struct listener *listener; /* NULL: no address to listen on */
	_Atomic uint64_t cut_ns; /* when the last part of a profile was made */
	struct sink **sinks; /* those of the options, until the agent has them */
	size_t nr_sinks;
};

/* A cgroup whose name kubelet is about to give would be counted as another service until then. */
static void leave_out_nameless(struct identities *identities, struct profile *times)
{
	size_t from, to = 0;

	for (from = 0; from < times->nr_splits; from++) {
		struct profile_split *split = &times->splits[from];

		if (identities_find(identities, split->cgroup)->complete) {
			times->splits[to++] = *split;
			continue;
		}
		times->targets[split->target].cpu_ns -= split->cpu_ns;
		profile_split_free(split);
	}
	times->nr_splits = to;
}

/* Brings the counters of CPU time up to date. Returns how many ticks the next part will have at least. */
static uint64_t read_times(struct run *run)
{
	struct profile *times = NULL;
	struct error ignored;
	uint64_t ticks = 0;

	if (session_times(run->loop.session, &times, &ticks, &ignored))
		return 0;
	leave_out_nameless(run->agent->identities, times);
	if (!choice_label(&run->options->choice, times))
		figures_read(&run->agent->figures, times);
	profile_free(times);
	return ticks;
}

/*
 * Brings the counters up to date, and keeps them for the next agent before anybody reads them: one that began
 * with less would look like a new one. What cgroups have spent is read first, as it is when a session begins,
 * so that what lies between the two readings cancels out.
 */
static void note_state(struct run *run)
{
	struct agent *agent = run->agent;
	struct state *state = &agent->state;

	if (state->fd >= 0)
		usages_read(&state->usages, &agent->cgroups);
	state->ticks = read_times(run);
	state->parts_ticks = agent->parts_ticks;
	state->until_ns = monotonic_ns();
	state->has_duty = true;
	state->duty_percent = run->loop.spending.duty_percent;
	state_count_sinks(state, agent->sinks, agent->nr_sinks);
	state_save(state, &agent->figures);
}

static void deliver(void *context, const struct profile *profile)
{
	struct run *run = context;
	struct agent *agent = run->agent;
	size_t i;

	pthread_mutex_lock(&agent->figures.shown);
	agent->state.cut_ns = session_since_ns(run->loop.session);
	if (run->ended)
		agent->state.until_ns = agent->state.cut_ns;
	agent->parts_ticks = 0;
	figures_end_interval(&agent->figures);
	/* One without ticks is not sent, and the next has what was noted in it. */
	if (profile->ticks.total) {
		run->clock = session_clock(run->loop.session);
	} else {
		agent->hole_ns = profile->sampling.unsampled_ns;
		session_set_clock(run->loop.session, &run->clock);
	}
	agent->state.parts_ticks = 0;
	for (i = 0; i < agent->nr_sinks && profile->ticks.total; i++)
		sink_put(agent->sinks[i], profile);
	state_count_sinks(&agent->state, agent->sinks, agent->nr_sinks);
	state_save(&agent->state, &agent->figures);
	pthread_mutex_unlock(&agent->figures.shown);
}

static void observe(void *context, struct profile *part)
{
	struct run *run = context;
	struct session_live live;
	struct session_cost cost;

	run->cut_ns = monotonic_ns();
	if (choice_label(&run->options->choice, part))
		print_message(NULL, "agent: out of memory: some labels are missing");
	identities_turn(run->agent->identities);
	part->sampling.unsampled_ns = run->agent->hole_ns;
	run->agent->hole_ns = 0;
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
		note_state(run);
	pthread_mutex_unlock(&run->agent->figures.shown);
	if (run->has_scrapes)
		scrapes_give(&run->scrapes, part);
}

static void close_sinks(struct sink **sinks, size_t nr, uint64_t patience_ns)
{
	uint64_t until = monotonic_ns() + patience_ns, now;
	size_t i;

	/* All at once, so that none has to wait for another that hangs. */
	for (i = 0; i < nr; i++)
		sink_end(sinks[i], patience_ns);
	for (i = 0; i < nr; i++) {
		now = monotonic_ns();
		sink_close(sinks[i], until > now ? until - now : 0);
	}
	free(sinks);
}

/* Where a sink of this kind and place is among others; nr: nowhere. */
static size_t find_same(struct sink *const *sinks, size_t nr, const struct sink *sink)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (sinks[i] && sink_is_same(sinks[i], sink))
			break;
	return i;
}

/* Metrics and messages must tell it from those before it. */
static int name_apart(const struct run *run, struct sink *sink, struct error *err)
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
	if (!ret && !agent->ready && state_find_sink(&agent->state, sink_name(sink)))
		sink_restore(sink, state_find_sink(&agent->state, sink_name(sink)));
	if (!ret && find_same(run->sinks, run->nr_sinks, sink) < run->nr_sinks)
		ret = error_set(err, -EINVAL, "agent: %s: it is there twice", sink_name(sink));
	if (!ret)
		ret = name_apart(run, sink, err);
	run->nr_sinks += sink != NULL;
	if (ret)
		return ret;
	/* A spool that another sink has is loaded when that one has ended. */
	return find_same(agent->sinks, agent->nr_sinks, sink) < agent->nr_sinks ?
		       0 :
		       sink_load(sink, err);
}

/* Opens all of them. Nothing is delivered yet, and earlier ones go on. */
static int open_sinks(struct run *run, struct error *err)
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

/* From here on there are the new ones. Each takes over from an earlier one of its kind and place. */
static int replace_sinks(struct run *run, struct error *err)
{
	struct agent *agent = run->agent;
	struct sink *before;
	size_t i, at;
	int ret = 0, code;

	for (i = 0; i < run->nr_sinks; i++) {
		at = find_same(agent->sinks, agent->nr_sinks, run->sinks[i]);
		before = at < agent->nr_sinks ? agent->sinks[at] : NULL;
		if (before)
			agent->sinks[at] = NULL;
		code = sink_start(run->sinks[i], before, err);
		ret = ret ? ret : code;
	}
	close_sinks(agent->sinks, agent->nr_sinks, 0);
	agent->sinks = run->sinks;
	agent->nr_sinks = run->nr_sinks;
	run->sinks = NULL;
	return ret;
}

/*
 * Uses the scheduler's tick if there is one, else what the budget allows. A part of perf's clock is a lower
 * rate, as the interrupts of ticks that are passed over would take most of what all take.
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

/* Readable as often as the watchdog wants a notification. */
static int open_timer(struct run *run, struct error *err)
{
	struct itimerspec every = { 0 };

	watchdog_init(&run->watchdog);
	run->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->timer_fd < 0)
		return error_errno(err, -errno, "agent: timer");
	if (run->watchdog.period_ms > 0) {
		every.it_interval.tv_sec = run->watchdog.period_ms / 2 / 1000;
		every.it_interval.tv_nsec = run->watchdog.period_ms / 2 % 1000 * 1000000L + 1;
		every.it_value = every.it_interval;
	}
	timerfd_settime(run->timer_fd, 0, &every, NULL);
	return 0;
}

/*
 * The folder is watched, because a file is replaced by another of its name, and a ConfigMap's by another
 * target of a link beside it. Without a watch there is SIGHUP.
 */
static void open_watch(struct run *run)
{
	char *folder = run->options->config ? strdup(run->options->config) : NULL;

	run->watch_fd = folder ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
	if (run->watch_fd >= 0 && inotify_add_watch(run->watch_fd, dirname(folder),
						    IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO) < 0)
		close_fd(&run->watch_fd);
	free(folder);
}

static int add_wake(const struct run *run, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 ? 0 : epoll_ctl(run->wake_fd, EPOLL_CTL_ADD, fd, &event);
}

/* At most so much is lost with an agent that is killed. */
#define NOTE_SECONDS 5

static void open_note(struct run *run)
{
	const struct itimerspec every = { { NOTE_SECONDS, 0 }, { NOTE_SECONDS, 0 } };

	if (run->agent->state.fd < 0)
		return;
	run->note_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(run->note_fd, 0, &every, NULL);
}

/* Sets up what wakes the loop, besides what it knows itself. */
static int open_wake(struct run *run, struct error *err)
{
	int ret = open_timer(run, err);

	if (ret)
		return ret;
	open_watch(run);
	open_note(run);
	if (run->options->listen.address) {
		ret = scrapes_open(&run->scrapes, err);
		run->has_scrapes = true;
	}
	if (ret)
		return ret;
	run->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (run->wake_fd < 0 || add_wake(run, run->timer_fd) || add_wake(run, run->watch_fd) ||
	    add_wake(run, run->note_fd) || add_wake(run, identities_fd(run->agent->identities)) ||
	    (run->has_scrapes && add_wake(run, run->scrapes.fd)))
		return error_errno(err, -errno, "agent: epoll");
	run->loop.ended_fd = run->wake_fd;
	return 0;
}

/* One interval may be late on a busy host. */
enum { LATE_INTERVALS = 3 };

/* Opened only when there is something to serve. */
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

/* Without cgroups to tell apart, a host can still be profiled as one service, but not chosen from. */
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

/* What cgroups have spent since the last reading, and before this session; NULL: it is not known. */
static struct profile *spent_meanwhile(struct run *run)
{
	struct agent *agent = run->agent;
	struct profile *times = NULL;
	struct usages now = { 0 };
	struct error ignored;
	uint64_t ticks;

	/* Only version 2 keeps this account. */
	if (!agent->state.usages.nr || run->targets.controller ||
	    run->options->sampling.split != SPLIT_CGROUP)
		return NULL;
	usages_read(&now, &agent->cgroups);
	if (!session_times(run->loop.session, &times, &ticks, &ignored) &&
	    (usages_spent(&agent->state.usages, &now, &run->options->choice, times) ||
	     choice_label(&run->options->choice, times))) {
		profile_free(times);
		times = NULL;
	}
	usages_free(&now);
	return times;
}

/* What was not sampled since an earlier session, which may have been another agent's. */
static void find_hole(struct run *run)
{
	uint64_t begin_ns = session_since_ns(run->loop.session);
	struct agent *agent = run->agent;
	struct state *state = &agent->state;
	struct profile *spent;

	if (state->until_ns && state->until_ns < begin_ns) {
		spent = spent_meanwhile(run);
		agent->hole_ns += begin_ns - state->cut_ns;
		figures_add_hole(&agent->figures, begin_ns - state->until_ns, spent);
		profile_free(spent);
	}
}

/* Ticks of an agent that had no time for its last profile. */
static void count_killed(struct agent *agent)
{
	const struct state *state = &agent->state;
	uint64_t all = state->ticks + state->parts_ticks;
	size_t i;

	if (!all)
		return;
	figures_lose(&agent->figures, state->ticks);
	for (i = 0; i < agent->nr_sinks; i++)
		sink_lose(agent->sinks[i], all);
	print_message(NULL,
		      "agent: the last one was killed: %" PRIu64 " ticks of %.1f s are in no "
		      "profile",
		      all, (double)(state->until_ns - state->cut_ns) / 1e9);
}

/*
 * Times are random, so that hosts that were started together do not deliver together. Only the first
 * profile comes early, because who rolls this out wants to know soon whether a sink takes it.
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

static enum told judge(void *context, const char *cgroup)
{
	struct run *run = context;

	return choice_judge(&run->options->choice, cgroup);
}

/* A profile that is made before there is a link to the container's log does not have its name. */
static void meet(void *context, const char *cgroup)
{
	struct run *run = context;

	if (choice_meet(&run->options->choice, cgroup))
		run->loop.named_ns = monotonic_ns() + IDENTITIES_AGAIN_NS;
}

static int prepare(struct run *run, struct error *err)
{
	struct sampling_options *sampling = &run->options->sampling;
	int ret;

	run->options->choice.identities = run->agent->identities;
	sampling->judge_context = run;
	sampling->meet = meet;
	if (run->options->choice.nr_rules)
		sampling->judge = judge;
	choose_source(sampling);
	ret = spending_choose(sampling, "agent", err);
	if (ret)
		return sample_explain(ret, err);
	/* Without a last agent it begins with all ticks, and the first profile shows what they take. */
	sampling->adapt_duty = sampling->source == SOURCE_TICK && !sampling->has_duty;
	if (sampling->adapt_duty && run->agent->state.has_duty)
		sampling->duty_percent = run->agent->state.duty_percent;
	run->result.options = sampling;
	run->result.deliver = deliver;
	run->result.observe = observe;
	run->result.context = run;
	ret = find_targets(run, err);
	if (!ret)
		ret = open_wake(run, err);
	if (!ret)
		ret = open_sinks(run, err);
	if (ret)
		return ret;
	ret = sample_start(&run->loop, run->targets.list, run->targets.nr, run->targets.controller,
			   err);
	if (ret)
		return ret;
	find_hole(run);
	run->clock = session_clock(run->loop.session);
	choose_cuts(&run->loop);
	return open_listener(run, err);
}

/* kubelet cuts a host's name to 63 bytes, and then what it may not end in. */
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

/* It would be another host after each restart, and whoever groups by hosts would not see which it is. */
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
			"agent: one cgroup is all that is seen here: the host is one service; in a "
			"container, --cgroupns=host and -v /sys/fs/cgroup:/sys/fs/cgroup:ro show all");
	for (i = 0; i < run->agent->nr_sinks; i++)
		print_message(NULL, "agent: to %s every %.6g s", sink_name(run->agent->sinks[i]),
			      (double)run->options->sampling.interval_ns / 1e9);
	if (run->listener)
		print_message(NULL, "agent: listening at port %u", listener_port(run->listener));
}

/* A copy of one that is not in force is not wanted. */
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

static void feed_watchdog(struct run *run)
{
	uint64_t expired;
	bool due = false;

	if (read(run->timer_fd, &expired, sizeof(expired)) != sizeof(expired))
		return;
	watchdog_feed(&run->watchdog, &due);
	if (due)
		notify(NOTIFY_WATCHDOG);
}

/* It is known a second after the first pod was met, and would else be seen in a backend alone. */
static void say_nameless(struct run *run)
{
	struct agent *agent = run->agent;

	if (agent->said_nameless || run->options->sampling.verbosity < 0 ||
	    !identities_lack_logs(agent->identities))
		return;
	print_message("-v /var/log:/var/log:ro, or the hostPath /var/log",
		      "agent: pods run here, but have no names: there is no " LOGS_OF_PODS);
	agent->said_nameless = true;
}

static void note_shown(struct run *run)
{
	pthread_mutex_lock(&run->agent->figures.shown);
	note_state(run);
	pthread_mutex_unlock(&run->agent->figures.shown);
}

static void wake(struct run *run)
{
	uint64_t expired;

	feed_watchdog(run);
	if (run->note_fd >= 0 && read(run->note_fd, &expired, sizeof(expired)) > 0)
		note_shown(run);
	identities_look_again(run->agent->identities);
	say_nameless(run);
	if (!run->has_scrapes)
		return;
	/* A failure is reported, and its ticks go into the next part. */
	if (scrapes_due(&run->scrapes))
		result_put_aside(&run->result, run->loop.session);
	scrapes_turn(&run->scrapes);
	if (scrapes_want_times(&run->scrapes)) {
		note_shown(run);
		scrapes_have_times(&run->scrapes);
	}
}

/*
 * Whatever else happens in the folder changes nothing. A file that is being replaced is not there, or is
 * empty until whoever has made it writes: with --listen that would be options without a sink.
 */
static bool is_reconfigured(const struct run *run)
{
	char news[4096];
	struct stat now;

	if (run->watch_fd < 0)
		return false;
	while (read(run->watch_fd, news, sizeof(news)) > 0)
		;
	return !stat(run->options->config, &now) && now.st_size &&
	       !regular_file_is_same(&now, &run->options->config_read);
}

static enum agent_end sample(struct run *run)
{
	enum sample_event event;

	do {
		if (is_reconfigured(run))
			return AGENT_RELOAD;
		event = sample_run(&run->loop);
		if (event == SAMPLE_ENDED)
			wake(run);
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
		close_sinks(run->sinks, run->nr_sinks, 0);
	if (run->timer_fd >= 0)
		close(run->timer_fd);
	close_fd(&run->watch_fd);
	close_fd(&run->note_fd);
	if (run->wake_fd >= 0)
		close(run->wake_fd);
	result_free(&run->result);
	targets_free(&run->targets);
}

/* timeout(1) sends a signal twice, and so may a service manager. The one after that is impatience. */
static void count_signal(int signal_number)
{
	static const char text[] =
		"bpfprofil: agent: ended by a third signal: what was counted since the last profile "
		"and what waits is lost, but for what is in a spool\n";
	static volatile sig_atomic_t ignored;

	if (!ignored) {
		ignored = 1;
		return;
	}
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		ignored = 1;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* While the last profile is made and delivered, a second signal changes nothing. */
static void expect_signals(void)
{
	const struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sample_let_signals_through();
}

static enum agent_end stop(struct run *run, enum agent_end end, struct error *err)
{
	if (end == AGENT_STOPPED)
		expect_signals();
	/* In the order of note_state(). */
	usages_read(&run->agent->state.usages, &run->agent->cgroups);
	if (session_stop(run->loop.session, err)) {
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
			   .note_fd = -1,
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
	run.loop.signal_fd = sample_open_signals(err);
	ret = run.loop.signal_fd < 0 ? run.loop.signal_fd : prepare(&run, err);
	if (ret)
		end = AGENT_NOT_BEGUN;
	else
		ret = replace_sinks(&run, err);
	if (ret) {
		print_error(err);
	} else {
		count_killed(agent);
		agent->state.ticks = agent->state.parts_ticks = 0;
		agent->state.cut_ns = session_since_ns(run.loop.session);
		say_ready(&run);
		end = sample(&run);
		end = stop(&run, end, err);
	}
	finish(&run);
	return end;
}

static bool is_others(const char *folder)
{
	struct stat st;

	return folder && !stat(folder, &st) && st.st_uid != geteuid();
}

/* Above 2 the kernels of some distributions refuse perf events to who has only CAP_PERFMON. */
static bool is_paranoid(void)
{
	char line[16];

	return !read_first_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)) &&
	       atoi(line) > 2;
}

static struct privileges privileges_for(const struct agent_options *options)
{
	struct privileges keep = { .admin = options->listen.address };
	const struct sink_options *sink = options->sinks, *end = sink + options->nr_sinks;
	struct sched_tick found;
	struct error ignored;

	if (options->sampling.source == SOURCE_CLOCK || sched_tick_find(&found, &ignored) ||
	    is_paranoid())
		keep.admin = true;
	for (; sink < end; sink++)
		if (is_others(sink->spool) || (sink->kind == SINK_DIR && is_others(sink->where)))
			keep.write_anywhere = true;
	/* A file of whoever called sudo is given to them. */
	if (getenv("SUDO_UID"))
		keep.write_anywhere = true;
	return keep;
}

int agent_open(struct agent *agent, const struct agent_options *options, struct error *err)
{
	const struct privileges keep = privileges_for(options);
	int ret;

	memory_keep_little();
	*agent = (struct agent){ .state.fd = -1 };
	figures_open(&agent->figures);
	if (cgroups_read(&agent->cgroups, "/proc", err))
		return -EIO;
	ret = targets_check_namespace("agent", err);
	if (!ret)
		ret = privileges_drop(&keep, err);
	if (!ret && options->spool)
		state_open(&agent->state, options->spool, options->nr_sinks, &agent->figures);
	return ret ? ret : identities_open("/var/log", &agent->identities, err);
}

void agent_close(struct agent *agent)
{
	close_sinks(agent->sinks, agent->nr_sinks, PATIENCE_NS);
	state_close(&agent->state);
	cgroups_free(&agent->cgroups);
	figures_close(&agent->figures);
	identities_close(agent->identities);
	*agent = (struct agent){ 0 };
}
