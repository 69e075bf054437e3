// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The life of a session. The path of a tick:
 *
 *     clock ─► BPF program ─► half of the kernel's table ─► the session's own table ─► profile
 *     sampler.c host.bpf.c    halves.c, session_swap.c      store.c               session_take.c
 *
 * session_open() loads the programs and maps, and follows the targets, without a clock.
 * session_start() starts the clock. From then on the caller waits for session_fd() and calls
 * session_poll(), which reads announced files and cgroups (session_records.c), perf maps
 * (session_jit.c), and swaps the halves if one fills up. session_take() makes a profile at any
 * time. session_stop() ends sampling, waits for threads that exit, and detaches the programs. The
 * last profile checks the account.
 *
 * All state is in struct session (session_impl.h). Each of these files only uses files further down:
 *
 *     session_take      profiles, with session_profile and counted
 *     session_forget    frees what no tick needs
 *     session_swap      the halves, and the limit of memory
 *     session_waits     time of waits, and session_splits: of CPUs
 *     session_records   what the programs announce
 *     session_callers   and session_jit, session_targets, session_texts
 *     session_cost      the time that the programs take
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/kernel_btf.h"
#include "host/engine/programs.h"
#include "host/engine/sampler.h"
#include "host/engine/sched_tick.h"
#include "host/engine/session.h"
#include "host/engine/session_impl.h"
#include "host/engine/spaces.h"
#include "unwind/cfi.h"

/* Sets the sizes of maps and the programs' knobs, between open and load. */
static int configure_session(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	struct host_bpf *skel = session->skel;
	int ret;

	skel->rodata->mode = options->mode;
	skel->rodata->split = options->split;
	skel->rodata->bin_shift = options->bin_shift;
	skel->rodata->filter_cgroups = options->choose != NULL;
	skel->rodata->unweighted = options->unweighted;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	skel->rodata->code_mask = cfi_code_mask();
	skel->rodata->runtime_lag = 2 * sched_tick_period_ns();
	ret = session_configure_targets(session, err);
	if (ret)
		return ret;
	session_size_halves(session);
	session_size_texts(session);
	map_set_entries(skel->maps.ranges, session->nr_cpus * RANGES);
	map_set_entries(skel->maps.known_files, session->nr_cpus * KNOWN_FILES);
	map_set_entries(skel->maps.known_owners, session->nr_cpus);
	map_set_entries(skel->maps.cpu_accounts, session->nr_cpus);
	/* These two set larger sizes for ranges, walks and known_rules. They must come last. */
	session_configure_callers(session);
	return session_configure_waits(session, err);
}

static int bind_maps(struct session *session, struct error *err)
{
	struct host_bpf *skel = session->skel;
	int ret;

	ret = mapped_array_open(skel->maps.ranges, PROT_READ, &session->ranges, err);
	if (!ret)
		ret = mapped_array_open(skel->maps.cpu_accounts, PROT_READ, &session->cpu_accounts,
					err);
	if (!ret)
		ret = mapped_array_open(skel->maps.target_accounts, PROT_READ | PROT_WRITE,
					&session->target_accounts, err);
	if (!ret)
		ret = session_bind_halves(session, err);
	if (!ret)
		ret = session_bind_texts(session, err);
	if (!ret)
		ret = session_bind_callers(session, err);
	return ret ? ret : session_bind_waits(session, err);
}

static int watch_session_fd(struct session *session, int fd, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0)
		return 0;
	if (epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(err, -errno, "epoll");
	return 0;
}

static int open_session_watches(struct session *session, struct error *err)
{
	int ret = session_open_records(session, err);

	if (ret)
		return ret;
	session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	session->wake_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (session->epoll_fd < 0 || session->wake_fd < 0)
		return error_errno(err, -errno, "epoll");
	ret = watch_session_fd(session, ring_buffer__epoll_fd(session->records), err);
	if (!ret)
		ret = watch_session_fd(session, session->wake_fd, err);
	if (!ret)
		ret = watch_session_fd(session, session->sampler.changes_fd, err);
	return ret ? ret : session_open_jit(session, err);
}

/* Loads one of the two programs for the exit of a thread: the kernel decides which hook exists. */
static int choose_exit_hook(struct session *session, struct error *err)
{
	struct host_bpf *skel = session->skel;
	int hook = exit_hook_find(err);

	if (hook < 0)
		return hook;
	bpf_program__set_autoload(skel->progs.profil_exit, hook != EXIT_HOOK_FUNCTION);
	bpf_program__set_autoload(skel->progs.profil_exit_mm, hook == EXIT_HOOK_FUNCTION);
	return 0;
}

static void set_tickless(struct session *session, uint32_t cpu)
{
	if (cpu >= TICKLESS_CPUS)
		return;
	session->skel->rodata->tickless[cpu / 64] |= 1ULL << cpu % 64;
	session->skel->rodata->some_tickless = true;
}

/* CPUs that are left out are treated like CPUs without a tick. */
static void exclude_cpus(struct session *session)
{
	uint32_t cpu;

	for (cpu = 0; cpu < session->nr_cpus; cpu++)
		if (session->sampler.left_out[cpu])
			set_tickless(session, cpu);
}

static void find_tickless(struct session *session)
{
	char text[8192];
	struct cpu_list list = { .rest = text };
	uint32_t cpu;

	sched_tick_list_tickless(text, sizeof(text));
	while (cpu_list_next(&list, &cpu))
		set_tickless(session, cpu);
}

static int choose_source(struct session *session, struct error *err)
{
	struct bpf_program *program = session_tick_program(session);
	struct sched_tick tick;
	int ret;

	bpf_program__set_autoload(session_clock_program(session), true);
	if (session->options.source == SOURCE_CLOCK)
		return 0;
	ret = sched_tick_find(&tick, err);
	if (ret)
		return ret;
	if (session->options.cpus)
		exclude_cpus(session);
	session->skel->rodata->tick_distance = tick.tick_distance;
	session->skel->rodata->regs_distance = tick.regs_distance;
	bpf_program__set_autoload(program, true);
	/* It is attached when the session starts. */
	bpf_program__set_autoattach(program, false);
	return 0;
}

static int load_programs(struct session *session, struct programs_file *file, struct error *err)
{
	int ret;

	session->skel = host_bpf__open_opts(&file->opts);
	if (!session->skel)
		return error_errno(err, -errno, "opening the BPF programs");
	ret = programs_find_types(file, session->skel->obj, err);
	if (!ret)
		ret = configure_session(session, err);
	if (!ret)
		ret = choose_exit_hook(session, err);
	if (ret)
		return ret;
	find_tickless(session);
	ret = choose_source(session, err);
	return ret ? ret : programs_load(file, session->skel->skeleton, err);
}

static int load_session(struct session *session, struct error *err)
{
	struct programs_file file;
	int ret = programs_open(&file, err);

	if (!ret)
		ret = load_programs(session, &file, err);
	programs_close(&file);
	if (ret)
		return ret;
	/* libbpf ignores a failure to map .bss. */
	if (!session->skel->bss)
		return error_errno(err, -ENOMEM, "the map of variables shared with the programs");
	ret = bind_maps(session, err);
	if (!ret)
		ret = session_enter_cgroups(session, err);
	if (ret)
		return ret;
	ret = programs_attach(session->skel->skeleton);
	return ret ? error_errno(err, ret, "attaching to fork, exec and exit") : 0;
}

/* Allocates an empty session. NULL: out of memory. */
static struct session *new_session(const struct session_options *options, uint32_t cpus)
{
	struct session *session = calloc(1, sizeof(*session));
	uint64_t *delivered = calloc(cpus, sizeof(*delivered));

	if (!session || !delivered) {
		free(session);
		free(delivered);
		return NULL;
	}
	session->options = *options;
	session->options.unweighted = options->unweighted || options->cpus;
	session->nr_cpus = cpus;
	session->delivered = delivered;
	session->epoll_fd = session->wake_fd = -1;
	session->cost.stats_fd = -1;
	halves_init(&session->halves);
	grace_period_init(&session->grace);
	return session;
}

static int open_session(struct session *session, struct error *err)
{
	const struct session_options *options = &session->options;
	int ret = session_add_targets(session, err);

	if (!ret)
		ret = sampler_init(&session->sampler, options->period_ns, session->nr_cpus, err);
	if (!ret && options->cpus)
		ret = sampler_choose_cpus(&session->sampler, options->cpus, err);
	if (!ret && options->source == SOURCE_CLOCK)
		ret = sampler_check_rate(options->requested_hz, err);
	if (!ret)
		ret = session_plan(session, err);
	if (!ret)
		ret = load_session(session, err);
	if (!ret && options->measure)
		ret = session_open_cost(session, err);
	if (!ret)
		ret = open_session_watches(session, err);
	if (!ret)
		ret = session_follow_targets(session, err);
	return ret ? ret : session_announce_texts(session, err);
}

int session_open(const struct session_options *options, struct session **result, struct error *err)
{
	struct session *session;
	int ret, cpus;

	libbpf_set_print(NULL);
	cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return error_errno(err, cpus, "/sys/devices/system/cpu/possible");
	/* Files with ticks stay open. */
	raise_file_limit(0);
	session = new_session(options, cpus);
	if (!session)
		return error_errno(err, -ENOMEM, "session");
	ret = open_session(session, err);
	/* The caller's list may go away. */
	session->options.targets = NULL;
	if (ret) {
		session_close(session);
		return ret;
	}
	*result = session;
	return 0;
}

static int start_sampler(struct session *session, struct error *err)
{
	struct sampler_programs programs = { .clock_fd = bpf_program__fd(
						     session_clock_program(session)),
					     .tick_fd = -1,
					     .tickless = session->skel->rodata->tickless };

	if (session->options.source == SOURCE_TICK)
		programs.tick_fd = bpf_program__fd(session_tick_program(session));
	return sampler_start(&session->sampler, &programs, err);
}

static void start_times(struct session *session)
{
	session->times.clock = wall_clock_read();
	session->times.start_ns = session->times.since_ns = monotonic_ns();
}

void session_start_paused(struct session *session)
{
	start_times(session);
	session->times.paused_ns = session->times.start_ns;
}

int session_start(struct session *session, struct error *err)
{
	int ret;

	start_times(session);
	ret = session_begin_runtime(session, err);
	return ret ? ret : start_sampler(session, err);
}

void session_pause(struct session *session)
{
	struct error ignored;

	sampler_stop(&session->sampler);
	/* If this fails, the CPU time is that of the last pass over all threads. */
	session_pause_runtime(session, &ignored);
	session->times.paused_ns = monotonic_ns();
}

/* If a profile would begin with the pause, it begins at the end of the pause. */
static void end_pause(struct session *session)
{
	uint64_t now = monotonic_ns(), idle = now - session->times.paused_ns;

	if (session->times.since_ns == session->times.paused_ns)
		session->times.since_ns = now;
	else
		session->times.since_idle_ns += idle;
	session->times.idle_ns += idle;
	session->times.paused_ns = 0;
}

int session_resume(struct session *session, uint64_t period_ns, struct error *err)
{
	int ret;

	if (session->options.source == SOURCE_CLOCK && period_ns != session->options.period_ns) {
		session->options.period_ns = session->sampler.period_ns = period_ns;
		session->options.requested_hz = 1e9 / (double)period_ns;
	}
	end_pause(session);
	ret = session_begin_runtime(session, err);
	/* Threads that the pass did not come to would be billed for the pause. */
	if (ret) {
		session_stay_paused(session);
		session->times.paused_ns = monotonic_ns();
		return ret;
	}
	ret = start_sampler(session, err);
	if (ret)
		session_pause(session);
	return ret;
}

/* If the pass over all threads fails, threads get a few ticks too many or too few. */
void session_stop_ticks(struct session *session)
{
	struct error ignored;

	session_switch_ticks(session, PASS_TICKS_OFF, &ignored);
}

void session_start_ticks(struct session *session, double duty_percent)
{
	struct error ignored;

	session->options.duty_percent = duty_percent;
	session_set_period(session);
	session_switch_ticks(session, PASS_TICKS_ON, &ignored);
}

int session_fd(const struct session *session)
{
	return session->epoll_fd;
}

static void clear_expired_timer(struct session *session)
{
	const struct itimerspec never = { 0 };

	if (!session->wake_ns || monotonic_ns() < session->wake_ns)
		return;
	session->wake_ns = 0;
	timerfd_settime(session->wake_fd, 0, &never, NULL);
}

int session_poll(struct session *session, struct error *err)
{
	int ret;

	clear_expired_timer(session);
	ret = session_read_records(session, err);
	if (ret)
		return ret;
	session_poll_starting(session);
	session_poll_swap(session);
	session_reclaim_texts(session);
	session_poll_waits(session);
	if (session->sampler.changes_fd < 0)
		return 0;
	return sampler_follow_cpus(&session->sampler, err);
}

int session_stop(struct session *session, struct error *err)
{
	int ret;

	if (!session->times.start_ns || session->times.stop_ns)
		return 0;
	sampler_stop(&session->sampler);
	session->times.stop_ns = session_until_ns(session);
	ret = session->times.paused_ns ? 0 : session_finish_runtime(session, err);
	/* If they stayed attached, tasks would count deferred ticks at their next exec or exit. */
	host_bpf__detach(session->skel);
	return ret ? ret : session_read_records(session, err);
}

size_t session_nr_splits(const struct session *session)
{
	return session->splits.nr_added;
}

void session_close(struct session *session)
{
	uint32_t i;

	if (!session)
		return;
	sampler_free(&session->sampler);
	ring_buffer__free(session->records);
	mapped_array_close(&session->ranges);
	mapped_array_close(&session->cpu_accounts);
	mapped_array_close(&session->target_accounts);
	callers_rules_end(session->callers.rules);
	session_free_texts(session);
	halves_free(&session->halves);
	grace_period_free(&session->grace);
	host_bpf__destroy(session->skel);
	for (i = 0; i < session->spaces.nr; i++)
		session_free_text(session, &session->spaces.list[i]);
	session_close_jit(session);
	spaces_free(&session->spaces);
	split_names_free(&session->splits);
	store_free(session->store);
	session_free_waits(session);
	runtime_free(&session->runtime);
	free(session->carries.list);
	for (i = 0; i < session->nr_targets; i++) {
		free(session->targets[i].name);
		free(session->targets[i].cgroup);
	}
	free(session->targets);
	free(session->controller);
	free(session->delivered);
	free(session->sources);
	close_fd(&session->epoll_fd);
	close_fd(&session->wake_fd);
	close_fd(&session->cost.stats_fd);
	free(session);
}
