// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/preload.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/sampling.h"
#include "engine/child.h"
#include "engine/features.h"
#include "engine/session.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct run_arguments {
	struct sampling_options sampling;
	bool preload;
};

/* One `run`, from arguments to exit status. */
struct run {
	const struct sampling_options *options;
	bool wants_preload;
	char **argv; /* COMMAND */
	struct preload preload;
	struct result result;
	struct session *session;
	struct child child;
	int signal_fd;
	uint64_t cut_ns; /* when the next file of a series is due; 0: there is no series */
	int status; /* COMMAND's, once it has ended */
};

static int open_signals(struct error *err)
{
	sigset_t signals, ignored;
	int fd;

	/* A closed pipe is an error of write, with a message. COMMAND is forked by now. */
	sigemptyset(&ignored);
	sigaddset(&ignored, SIGPIPE);
	sigprocmask(SIG_BLOCK, &ignored, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_errno(err, -errno, "signalfd") : fd;
}

/* Asked only when it failed: a lack of this host, if there is one, says more than a step's errno. */
static int explain(int failure, struct error *err)
{
	struct error lack;

	if (failure != -EINVAL && features_require(&lack))
		*err = lack;
	return failure;
}

static int open_session(struct run *run, struct error *err)
{
	const struct session_options options = sampling_session_options(run->options);
	int ret;

	ret = session_open(&options, &run->session, err);
	if (!ret)
		ret = session_follow(run->session, run->child.pid, "command", run->argv[0], err);
	if (!ret)
		ret = session_start(run->session, err);
	if (!ret)
		ret = result_started(&run->result, run->session, err);
	return ret ? explain(ret, err) : 0;
}

/* All that can fail before COMMAND runs, so that it does not run in vain. */
static int prepare(struct run *run, struct error *err)
{
	int ret;

	ret = run->wants_preload ? preload_open(&run->preload, run->options->user, err) : 0;
	if (ret)
		return explain(ret, err);
	ret = child_fork(run->argv, run->options->user, &run->child, err);
	preload_started(&run->preload);
	if (!ret)
		ret = result_begin_files(&run->result, run->options, run->argv, run->child.pid,
					 err);
	if (ret)
		return ret;
	run->signal_fd = open_signals(err);
	if (run->signal_fd < 0)
		return run->signal_fd;
	return open_session(run, err);
}

/* A signal of the terminal has reached COMMAND too; one that somebody sent has not. */
static void pass_on(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_code != SI_KERNEL && run->child.pid > 0)
		kill(run->child.pid, info.ssi_signo);
}

enum event { EVENT_NONE, EVENT_ENDED, EVENT_SIGNAL };

/* Sleeps until something happens. Ticks wake nobody. */
static enum event wait_event(struct run *run, int timeout, struct error *err)
{
	struct pollfd fds[3 + PRELOAD_FDS] = {
		{ .fd = run->child.pid_fd, .events = POLLIN },
		{ .fd = run->signal_fd, .events = POLLIN },
		{ .fd = session_fd(run->session), .events = POLLIN },
	};

	preload_watch(&run->preload, fds + 3);
	if (poll(fds, 3 + PRELOAD_FDS, timeout) <= 0)
		return EVENT_NONE;
	if (preload_poll(&run->preload, fds + 3, err))
		print_error(err);
	/* First, while the process that a new file belongs to may still be there. */
	if (fds[2].revents && session_poll(run->session, err))
		print_error(err);
	if (fds[0].revents)
		return EVENT_ENDED;
	if (fds[1].revents) {
		pass_on(run);
		return EVENT_SIGNAL;
	}
	return EVENT_NONE;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* poll's timeout until the next file or the next line of progress. */
static int sample_timeout(const struct run *run, const struct progress *progress)
{
	int timeout = progress_timeout(progress);
	uint64_t now, ms;

	if (!run->cut_ns)
		return timeout;
	now = now_ns();
	ms = run->cut_ns > now ? (run->cut_ns - now) / 1000000 + 1 : 0;
	if (timeout >= 0 && (uint64_t)timeout <= ms)
		return timeout;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Files are due at multiples of the interval; one that took longer leaves some out. */
static void cut_when_due(struct run *run)
{
	uint64_t interval = run->options->interval_ns, now = now_ns();

	if (!run->cut_ns || now < run->cut_ns)
		return;
	result_cut(&run->result, run->session);
	now = now_ns();
	if (now >= run->cut_ns)
		run->cut_ns += ((now - run->cut_ns) / interval + 1) * interval;
}

/* Until COMMAND ends or the first signal. */
static enum event sample(struct run *run, struct error *err)
{
	struct progress progress;
	enum event event;

	if (run->options->interval_ns)
		run->cut_ns = now_ns() + run->options->interval_ns;
	progress_begin(&progress, run->session, run->options->verbosity >= 0);
	do {
		event = wait_event(run, sample_timeout(run, &progress), err);
		if (event == EVENT_NONE)
			cut_when_due(run);
		progress_update(&progress);
	} while (event == EVENT_NONE);
	progress_end(&progress);
	return event;
}

/* COMMAND may go on after the first signal; the second leaves it alone. */
static int await_command(struct run *run, struct error *err)
{
	enum event event;

	do
		event = wait_event(run, -1, err);
	while (event == EVENT_NONE);
	return event == EVENT_SIGNAL ? 128 + SIGINT : child_wait(&run->child);
}

static int exec_status(int failure)
{
	if (failure == -ECHILD)
		return EXIT_FAILURE;
	return failure == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int run_command(struct run *run, struct error *err)
{
	enum event event;
	int ret, status;

	ret = prepare(run, err);
	if (ret)
		goto failed;
	ret = child_exec(&run->child, run->argv[0], err);
	if (ret) {
		print_error(err);
		return exec_status(ret);
	}
	event = sample(run, err);
	ret = session_stop(run->session, err);
	if (!ret)
		ret = preload_finish(&run->preload, &run->result.calls, err);
	status = event == EVENT_ENDED ? child_wait(&run->child) : 0;
	if (ret)
		print_error(err);
	else
		result_finish(&run->result, run->session, run->child.cpu_ns);
	if (event != EVENT_ENDED)
		status = await_command(run, err);
	return ret || run->result.failed ? EXIT_FAILURE : status;
failed:
	print_error(err);
	return EXIT_FAILURE;
}

static int cmd_run(int argc, char **argv)
{
	struct run_arguments arguments = { 0 };
	struct run run = { .signal_fd = -1, .child = { .pid = -1, -1, -1, -1 } };
	struct error err = { 0 };
	int first, status;

	sampling_options_init(&arguments.sampling);
	if (!command_parse(&command_run, argc, argv, &arguments, &first, &status))
		goto out;
	status = EXIT_USAGE;
	if (first == argc)
		print_message("bpfprofil run -- COMMAND", "run: COMMAND is missing");
	else if (sampling_options_check(&arguments.sampling, "run", &err))
		print_error(&err);
	else {
		run.options = &arguments.sampling;
		run.wants_preload = arguments.preload;
		run.argv = argv + first;
		status = run_command(&run, &err);
	}
out:
	child_free(&run.child);
	session_close(run.session);
	preload_close(&run.preload);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	result_free(&run.result);
	sampling_options_free(&arguments.sampling);
	return status;
}

static const struct opt preload_opts[] = {
	{ .name = "preload",
	  .help = "serve COMMAND's own profil(), sprofil(), pcsample() and -pg start-up",
	  .set = opt_set_flag,
	  .field = offsetof(struct run_arguments, preload) },
	{ 0 }
};

static const struct opt_group run_groups[] = { SAMPLING_GROUPS(
						       offsetof(struct run_arguments, sampling)),
					       { .title = "Command",
						 .opts = sampling_command_opts,
						 .base = offsetof(struct run_arguments, sampling) },
					       { .title = "Calls", .opts = preload_opts },
					       { 0 } };

static const struct command_example run_examples[] = {
	{ "Where does it spend its time?", "sudo bpfprofil run -- gzip -9 -k big.tar" },
	{ "User and kernel time apart, ten times a millisecond and CPU",
	  "sudo bpfprofil run -F 10000 --mode split -- ./server --once" },
	{ "One library only, into a compressed file, as another user",
	  "sudo bpfprofil run --region libz.so.1 -o prof-%t.json.gz -u www-data -- ./serve" },
	{ "A profile a minute, the last day of them",
	  "sudo bpfprofil run --interval 60 --keep 1440 -o 'prof-%t.json.gz' -- ./server" },
	{ "A program built with gcc -pg, with our ticks in its gmon.out",
	  "sudo bpfprofil run --preload -- ./prog" },
	{ NULL, NULL }
};

const struct command command_run = {
	.name = "run",
	.summary = "run a command and profile it with all its descendants",
	.operands = "[--] COMMAND [ARG...]",
	.description =
		"Runs COMMAND and counts, in the kernel, where it and all its descendants spend their "
		"time, from the first instruction to the last. Leaves a profile that report and "
		"export read, and exits as COMMAND did: 128+n for a signal, 127 when there is no such "
		"command, 126 when it cannot be executed, 1 when the profile cannot be written.",
	.groups = run_groups,
	.examples = run_examples,
	.operands_end_options = true,
	.run = cmd_run,
};
