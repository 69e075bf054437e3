// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/sample_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/util.h"
#include "host/feature/features.h"
#include "host/record/symbolizer.h"
#include "report/name_fit.h"

/*
 * Several threads use a profile in turn: one finds names, one for each sink sends it, others answer
 * scrapes. glibc gives each thread an arena, which keeps its peak of memory, so that several arenas
 * would soon keep the peak of naming each. In a single arena, threads reuse each other's memory.
 */
#define ARENAS 1

/*
 * Map larger blocks, so that they return to the kernel when freed. A fixed limit also stops glibc
 * from raising it to the largest freed block, up to 32 MiB.
 */
#define MAPPED_BYTES (128 << 10)

void memory_keep_little(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, ARENAS);
#endif
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}

#define PROGRESS_MS 1000

/*
 * Names need symbol tables, which take some ms each time. Therefore show them at 1 s, 2 s, 4 s ...
 */
static bool name_now(unsigned int updates)
{
	return !(updates & (updates - 1));
}

static void find_hottest_function(struct progress *progress)
{
	static const struct sampling_options all_text;
	struct profile *profile;
	struct error err;

	if (session_peek(progress->session, &profile, &err))
		return;
	if (!symbolizer_once(progress->session, &all_text, NULL, profile, &err) &&
	    profile->nr_functions)
		snprintf(progress->hottest, sizeof(progress->hottest), "%s",
			 profile->functions[0].name);
	profile_free(profile);
}

static void progress_begin(struct progress *progress, struct session *session, bool wanted)
{
	memset(progress, 0, sizeof(*progress));
	progress->session = session;
	progress->shown = wanted && terminal_attached(stderr);
}

static void progress_update(struct progress *progress, bool paused)
{
	struct session_live live;
	double seconds;

	if (!progress->shown)
		return;
	if (name_now(++progress->updates))
		find_hottest_function(progress);
	session_live(progress->session, &live);
	seconds = live.elapsed_ns / 1e9;
	fprintf(stderr, "\r\033[K%s%.0f s  %" PRIu64 " ticks  %.0f/s  %" PRIu64 " lost  ",
		paused ? "paused  " : "", seconds, live.total,
		seconds > 0 ? live.total / seconds : 0, live.lost);
	name_write(stderr, progress->hottest, 40);
	fflush(stderr);
}

/* Signals that end sampling. */
enum { NR_ENDING = 3 };
static const int ending[NR_ENDING] = { SIGINT, SIGTERM, SIGHUP };

/*
 * nohup(1) has SIGHUP ignored. A script's background jobs have SIGINT ignored, but kill -INT shall
 * still end them.
 */
static bool is_ending(int number)
{
	struct sigaction action;

	return number != SIGHUP || sigaction(number, NULL, &action) || action.sa_handler != SIG_IGN;
}

static sigset_t ending_signals(void)
{
	sigset_t signals;
	size_t i;

	sigemptyset(&signals);
	for (i = 0; i < NR_ENDING; i++)
		if (is_ending(ending[i]))
			sigaddset(&signals, ending[i]);
	return signals;
}

static int open_loop_signals(const sigset_t *signals, struct error *err)
{
	sigset_t ignored;
	int fd;

	sigemptyset(&ignored);
	sigaddset(&ignored, SIGPIPE);
	sigprocmask(SIG_BLOCK, &ignored, NULL);
	sigprocmask(SIG_BLOCK, signals, NULL);
	fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_errno(err, -errno, "signalfd") : fd;
}

int sample_open_signals(struct error *err)
{
	sigset_t signals = ending_signals();

	return open_loop_signals(&signals, err);
}

int sample_open_phase_signals(struct error *err)
{
	sigset_t signals = ending_signals();

	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	return open_loop_signals(&signals, err);
}

/* timeout(1) sends its signal to the process, and then to its group, so that it arrives twice. */
#define SAME_SIGNAL_NS (SECOND_NS / 5)

static uint64_t let_through_ns;
static const char *last_words;

static void end_at_once(int number)
{
	if (monotonic_ns() - let_through_ns < SAME_SIGNAL_NS)
		return;
	signal(number, SIG_DFL);
	if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
		let_through_ns = 0; /* nothing can be done */
	raise(number);
}

void sample_let_signals_through(const char *loss)
{
	const struct sigaction action = { .sa_handler = end_at_once, .sa_flags = SA_RESTART };
	sigset_t signals = ending_signals();
	size_t i;

	last_words = loss;
	let_through_ns = monotonic_ns();
	for (i = 0; i < NR_ENDING; i++)
		if (is_ending(ending[i]))
			sigaction(ending[i], &action, NULL);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

void sample_hold_signals(void)
{
	sigset_t signals = ending_signals();

	sigprocmask(SIG_BLOCK, &signals, NULL);
}

int sample_explain(int failure, struct error *err)
{
	struct error lack;

	if (failure != -EINVAL && features_require(&lack))
		*err = lack;
	return failure;
}

int sample_start(struct sample_loop *loop, const struct target *targets, size_t nr_targets,
		 const char *controller, struct error *err)
{
	struct session_options options = sampling_session_options(loop->options);
	int ret = control_open(&loop->control, loop->phases->control, err);

	if (ret)
		return ret;
	options.targets = targets;
	options.nr_targets = nr_targets;
	options.cgroup_controller = controller;
	ret = sampling_check_cost(loop->options, err);
	if (!ret)
		ret = session_open(&options, &loop->session, err);
	loop->paused = loop->phases->paused || loop->phases->delay_ns;
	if (!ret && loop->paused)
		session_start_paused(loop->session);
	else if (!ret)
		ret = session_start(loop->session, err);
	if (!ret)
		ret = result_started(loop->result, loop->session, err);
	return ret ? sample_explain(ret, err) : 0;
}

static int resume(struct sample_loop *loop)
{
	struct error err;
	int ret = session_resume(loop->session, loop->spending.period_ns, &err);

	/* Name the first file by the time of its first tick. */
	if (!ret && !loop->result->sum.total && !loop->result->series.written)
		ret = result_started(loop->result, loop->session, &err);
	if (ret) {
		print_error(&err);
		loop->result->failed = true;
		return ret;
	}
	spending_skip(&loop->spending, loop->session);
	if (loop->left_ns)
		loop->end_ns = monotonic_ns() + loop->left_ns;
	return 0;
}

static void hold(struct sample_loop *loop)
{
	uint64_t now = monotonic_ns();

	session_pause(loop->session);
	if (!loop->end_ns)
		return;
	loop->left_ns = loop->end_ns > now ? loop->end_ns - now : 1;
	loop->end_ns = 0;
}

/* Starts or ends a phase, unless that is done already. */
static int change_phase(struct sample_loop *loop, bool sample)
{
	int ret = 0;

	if (loop->over)
		return -ESRCH;
	loop->begin_ns = 0;
	if (loop->paused != sample)
		return 0;
	if (sample)
		ret = resume(loop);
	else
		hold(loop);
	if (!ret)
		loop->paused = !sample;
	return ret;
}

static void obey(struct sample_loop *loop)
{
	unsigned int reads = CONTROL_READS;
	enum control_command command;

	while ((command = control_read(&loop->control, &reads)))
		control_answer(&loop->control, change_phase(loop, command == CONTROL_START));
}

static enum sample_event read_loop_signal(struct sample_loop *loop)
{
	struct signalfd_siginfo signal;

	if (read(loop->signal_fd, &signal, sizeof(signal)) != sizeof(signal))
		return SAMPLE_NONE;
	if (signal.ssi_signo == SIGUSR1 || signal.ssi_signo == SIGUSR2) {
		change_phase(loop, signal.ssi_signo == SIGUSR1);
		return SAMPLE_NONE;
	}
	loop->signal = signal;
	return SAMPLE_SIGNAL;
}

/*
 * Check signals first, because ended_fd can stay readable. After sampling has ended, the caller
 * waits for ended_fd.
 */
static enum sample_event what_happened(struct sample_loop *loop, bool ended, bool signalled)
{
	enum sample_event event = SAMPLE_NONE;

	if (signalled && !(loop->over && ended))
		event = read_loop_signal(loop);
	return event == SAMPLE_NONE && ended ? SAMPLE_ENDED : event;
}

/* Sleeps until an event. Ticks do not wake it. */
static enum sample_event wait_event(struct sample_loop *loop, int timeout)
{
	struct pollfd fds[4 + PRELOAD_FDS] = {
		{ .fd = loop->ended_fd, .events = POLLIN },
		{ .fd = loop->signal_fd, .events = POLLIN },
		{ .fd = session_fd(loop->session), .events = POLLIN },
		{ .fd = loop->control.fd, .events = POLLIN },
	};
	nfds_t nr = loop->preload ? 4 + PRELOAD_FDS : 4;
	struct error err;

	if (loop->preload)
		preload_watch(loop->preload, fds + 4);
	if (poll(fds, nr, timeout) <= 0)
		return SAMPLE_NONE;
	if (loop->preload && preload_poll(loop->preload, fds + 4, &err))
		print_error(&err);
	/* Poll the session first, while the process of a new file may still exist. */
	if (fds[2].revents && session_poll(loop->session, &err))
		print_error(&err);
	if (fds[2].revents)
		cgroup_labels_look(&loop->result->labels, loop->session);
	if (fds[3].revents)
		obey(loop);
	return what_happened(loop, fds[0].revents, fds[1].revents);
}

enum sample_event sample_wait(struct sample_loop *loop)
{
	enum sample_event event;

	loop->over = true;
	do
		event = wait_event(loop, -1);
	while (event == SAMPLE_NONE);
	return event;
}

void sample_forget_signals(struct sample_loop *loop)
{
	struct pollfd fd = { .fd = loop->signal_fd, .events = POLLIN };
	struct signalfd_siginfo signal;

	while (poll(&fd, 1, 0) > 0 && read(loop->signal_fd, &signal, sizeof(signal)) > 0)
		;
}

static int sooner(int timeout, uint64_t due_ns, uint64_t now)
{
	uint64_t ms;

	if (!due_ns)
		return timeout;
	ms = due_ns > now ? (due_ns - now) / 1000000 + 1 : 0;
	if (timeout >= 0 && (uint64_t)timeout <= ms)
		return timeout;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* A file waits for names no longer than this, or a tenth of the interval. */
#define NAMES_NS (2 * SECOND_NS)

uint64_t sample_due(const struct sample_loop *loop)
{
	uint64_t wait = loop->options->interval_ns / 10, due = loop->named_ns, last;

	last = loop->cut_ns + (wait < NAMES_NS ? wait : NAMES_NS);
	if (due > last)
		due = last;
	return loop->cut_ns && due > loop->cut_ns ? due : loop->cut_ns;
}

/* The timeout for poll() until the next file, progress line or end. */
static int timeout_of(const struct sample_loop *loop)
{
	uint64_t now = monotonic_ns();
	int timeout = loop->progress.shown ? PROGRESS_MS : -1;

	timeout = sooner(timeout, loop->begin_ns, now);
	if (!loop->paused)
		timeout = sooner(timeout, loop->spending.due_ns, now);
	return sooner(sooner(timeout, sample_due(loop), now), loop->end_ns, now);
}

/* Copies the cost to the result, if it is known. */
static void copy_cost(struct sample_loop *loop)
{
	if (loop->spending.cost.handler_ns > 0)
		loop->result->cost = loop->spending.cost;
}

static void continue_ticks(void *context)
{
	struct sample_loop *loop = context;

	session_start_ticks(loop->session, loop->next_duty);
	loop->ticks_stopped = false;
}

/*
 * Reads a profile, and continues with the duty that the budget then allows. No tick may come in
 * between, because it would have the weight of another duty. Ticks continue before names are looked
 * up, which may take seconds on a busy host.
 */
static void cut(struct sample_loop *loop)
{
	const double before = loop->spending.duty_percent;

	loop->next_duty = spending_next_duty(&loop->spending);
	if (loop->next_duty == before) {
		result_cut(loop->result, loop->session);
		return;
	}
	session_stop_ticks(loop->session);
	loop->ticks_stopped = true;
	loop->result->taken = continue_ticks;
	loop->result->loop = loop;
	result_cut(loop->result, loop->session);
	loop->result->taken = NULL;
	/* After a failure the session still counts the old ticks, and the old duty must stay. */
	if (loop->ticks_stopped) {
		loop->next_duty = before;
		continue_ticks(loop);
		return;
	}
	spending_change_duty(&loop->spending, loop->next_duty);
	copy_cost(loop);
}

/* Files are due at multiples of the interval. If writing one took longer, some are skipped. */
static void cut_when_due(struct sample_loop *loop)
{
	uint64_t interval = loop->options->interval_ns, now = monotonic_ns();

	if (!loop->cut_ns || now < sample_due(loop))
		return;
	/* Ticks from before a pause go into the same file as those after it. */
	if (!loop->paused)
		cut(loop);
	if (loop->then_ns)
		loop->cut_ns = loop->then_ns;
	loop->then_ns = 0;
	now = monotonic_ns();
	if (now >= loop->cut_ns)
		loop->cut_ns += ((now - loop->cut_ns) / interval + 1) * interval;
}

/* If the budget requires it, puts the counts of the old period aside, and changes the period. */
static enum sample_event spend(struct sample_loop *loop)
{
	uint64_t before = loop->spending.period_ns, period;
	struct error err;

	if (loop->paused)
		return SAMPLE_NONE;
	period = spending_look(&loop->spending, loop->session);
	copy_cost(loop);
	if (period == before)
		return SAMPLE_NONE;
	if (loop->options->verbosity > 0)
		fprintf(stderr,
			"%sbudget: %.4g Hz from here on: the programs take %.2f us a tick\n",
			loop->progress.shown ? "\r\033[K" : "", 1e9 / (double)period,
			loop->spending.cost.handler_ns / 1000);
	session_pause(loop->session);
	/* If it could not be put aside, it is still counted. Therefore the old period must stay. */
	if (result_put_aside(loop->result, loop->session))
		period = before;
	spending_change(&loop->spending, period);
	copy_cost(loop);
	if (!session_resume(loop->session, period, &err))
		return SAMPLE_NONE;
	print_error(&err);
	loop->result->failed = true;
	return SAMPLE_OVER;
}

static void begin_sampling(struct sample_loop *loop)
{
	const struct phase_options *phases = loop->phases;
	uint64_t now = monotonic_ns();

	loop->begun = true;
	/* The agent sets its first due time itself. */
	if (loop->options->interval_ns && !loop->cut_ns)
		loop->cut_ns = now + loop->options->interval_ns;
	loop->left_ns = phases->duration_ns;
	if (!loop->paused && phases->duration_ns)
		loop->end_ns = now + phases->duration_ns;
	if (phases->delay_ns && !phases->paused)
		loop->begin_ns = now + phases->delay_ns;
	if (!loop->spending.options)
		spending_begin(&loop->spending, loop->options, loop->session);
	if (phases->paused && loop->options->verbosity >= 0)
		fprintf(stderr, "paused until kill -USR1 %d%s\n", getpid(),
			phases->control ? ", or start in --control" : "");
}

/* Handles everything that is due. */
static enum sample_event look_at_clock(struct sample_loop *loop)
{
	uint64_t now = monotonic_ns();

	if (loop->end_ns && now >= loop->end_ns)
		return SAMPLE_OVER;
	if (loop->begin_ns && now >= loop->begin_ns && change_phase(loop, true))
		return SAMPLE_OVER;
	cut_when_due(loop);
	return spend(loop);
}

/* COMMAND uses the same terminal, and a line that is redrawn would overwrite its output. */
static bool wants_progress(const struct sample_loop *loop)
{
	return loop->options->verbosity >= (loop->result->argv ? 1 : 0);
}

enum sample_event sample_run(struct sample_loop *loop)
{
	enum sample_event event = SAMPLE_NONE;

	/* Between two calls, the caller may have used some time. */
	if (loop->begun)
		event = look_at_clock(loop);
	else
		begin_sampling(loop);
	progress_begin(&loop->progress, loop->session, wants_progress(loop));
	while (event == SAMPLE_NONE) {
		event = wait_event(loop, timeout_of(loop));
		if (event == SAMPLE_NONE)
			event = look_at_clock(loop);
		progress_update(&loop->progress, loop->paused);
	}
	if (loop->progress.shown)
		fputs("\r\033[K", stderr); /* clears the line */
	spending_finish(&loop->spending, loop->session);
	copy_cost(loop);
	return event;
}

void sample_close(struct sample_loop *loop)
{
	session_close(loop->session);
	close_fd(&loop->signal_fd);
	control_close(&loop->control);
}
