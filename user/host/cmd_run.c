// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "option/command.h"
#include "host/sampling.h"
#include "host/engine/child.h"
#include "host/engine/session.h"
#include "base/output.h"
#include "host/record/preload.h"
#include "host/record/result.h"
#include "host/record/sample_loop.h"
#include "host/targets/targets.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct run_arguments {
	struct sampling_options sampling;
	struct phase_options phases;
	bool preload;
};

/* One `run`, from arguments to exit status. */
struct command_run {
	const struct sampling_options *options;
	bool wants_preload;
	char **argv; /* COMMAND */
	struct rlimit files; /* COMMAND's: we raise our own */
	struct preload preload;
	struct result result;
	struct child child;
	struct sample_loop loop;
	char *controller; /* hierarchy for --split cgroup; NULL: version 2 */
};

/* If the profile goes to standard output, COMMAND's output goes where our messages go. */
static int fork_command(struct command_run *run, struct error *err)
{
	int out = -1, ret;

	if (!strcmp(run->options->output, "-"))
		out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	ret = child_fork(run->argv, run->options->user, &run->files, &run->child, err);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	return ret;
}

/* Does all that can fail before COMMAND runs, so that it does not run in vain. */
static int prepare(struct command_run *run, struct error *err)
{
	struct target target = { .kind = TARGET_COMMAND, .name = run->argv[0] };
	int ret = getrlimit(RLIMIT_NOFILE, &run->files) ? error_errno(err, -errno, "getrlimit") : 0;

	if (!ret && run->wants_preload)
		ret = preload_open(&run->preload, run->options->user, err);
	if (ret)
		return sample_explain(ret, err);
	ret = fork_command(run, err);
	preload_started(&run->preload);
	if (ret)
		return ret;
	ret = result_begin_files(&run->result, run->options, run->argv, run->child.pid, err);
	/*
	 * A user who may not profile at all shall learn that first, before a problem with the
	 * folder.
	 */
	if (ret)
		return sample_explain(ret, err);
	if (run->options->split == SPLIT_CGROUP) {
		ret = targets_split_hierarchy(&run->controller, err);
		if (ret)
			return ret;
	}
	run->loop.signal_fd = sample_open_phase_signals(err);
	if (run->loop.signal_fd < 0)
		return run->loop.signal_fd;
	run->loop.ended_fd = run->child.pid_fd;
	target.pid = run->child.pid;
	return sample_start(&run->loop, &target, 1, run->controller, err);
}

/* Passes a signal on unless it came from the terminal, which sends it to COMMAND too. */
static void pass_on(const struct command_run *run)
{
	if (run->loop.signal.ssi_code != SI_KERNEL && run->child.pid > 0)
		kill(run->child.pid, (int)run->loop.signal.ssi_signo);
}

/* A user who typed ^C expects that it is over. */
static void say_waiting(const struct command_run *run, enum sample_event event)
{
	struct pollfd ended = { .fd = run->child.pid_fd, .events = POLLIN };
	const char *way_out = "another signal, which leaves it alone";

	if (run->options->verbosity < 0 || poll(&ended, 1, 0) > 0)
		return;
	if (event == SAMPLE_OVER)
		way_out = "^C, which it gets too; a second one leaves it alone";
	else if (run->loop.signal.ssi_code == SI_KERNEL)
		way_out = "^C again, which leaves it alone";
	print_message(way_out, "run: waiting for %.256s, which goes on", run->argv[0]);
}

/* COMMAND may go on after --duration or the first signal; after the second we leave it alone. */
static int await_command(struct command_run *run, enum sample_event event)
{
	sample_hold_signals();
	sample_forget_signals(&run->loop);
	say_waiting(run, event);
	if (event == SAMPLE_OVER) {
		if (sample_wait(&run->loop) == SAMPLE_ENDED)
			return child_wait(&run->child);
		pass_on(run);
	}
	if (sample_wait(&run->loop) == SAMPLE_ENDED)
		return child_wait(&run->child);
	pass_on(run);
	return 128 + SIGINT;
}

static int exec_status(int failure)
{
	if (failure == -ECHILD)
		return EXIT_FAILURE;
	return failure == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int run_command(struct command_run *run, struct error *err)
{
	enum sample_event event;
	int ret, status;

	ret = prepare(run, err);
	if (ret)
		goto failed;
	ret = child_exec(&run->child, run->argv[0], run->options->user, err);
	if (ret) {
		print_error(err);
		return exec_status(ret);
	}
	event = sample_run(&run->loop);
	if (event == SAMPLE_SIGNAL)
		pass_on(run);
	ret = session_stop(run->loop.session, err);
	sample_let_signals_through("");
	if (!ret)
		ret = preload_finish(&run->preload, &run->result.calls, err);
	status = event == SAMPLE_ENDED ? child_wait(&run->child) : 0;
	if (ret)
		print_error(err);
	else
		result_finish(&run->result, run->loop.session);
	if (event != SAMPLE_ENDED)
		status = await_command(run, event);
	return ret || run->result.failed ? EXIT_FAILURE : status;
failed:
	print_error(err);
	return EXIT_FAILURE;
}

static int choose_and_run(struct command_run *run, struct sampling_options *options,
			  struct error *err)
{
	int ret = spending_choose(options, "run", err);

	if (!ret)
		return run_command(run, err);
	sample_explain(ret, err);
	print_error(err);
	return EXIT_FAILURE;
}

static int cmd_run(int argc, char **argv)
{
	struct run_arguments arguments = { 0 };
	struct command_run run = { .child = { .pid = -1, -1, -1, -1 } };
	struct error err = { 0 };
	int first, status;

	run.options = &arguments.sampling;
	run.loop = (struct sample_loop){ .options = run.options,
					 .result = &run.result,
					 .phases = &arguments.phases,
					 .preload = &run.preload,
					 .signal_fd = -1,
					 .control = CONTROL_CLOSED };
	sampling_options_init(&arguments.sampling);
	if (!command_parse(&command_run, argc, argv, &arguments, &first, &status))
		goto out;
	status = EXIT_USAGE;
	if (first == argc)
		print_message("bpfprofil run -- COMMAND", "run: COMMAND is missing");
	else if (sampling_options_check(&arguments.sampling, "run", &err) ||
		 phase_options_check(&arguments.phases, "run", &err) ||
		 child_check_user(arguments.sampling.user, &err))
		print_error(&err);
	else {
		run.wants_preload = arguments.preload;
		run.argv = argv + first;
		status = choose_and_run(&run, &arguments.sampling, &err);
	}
out:
	child_free(&run.child);
	sample_close(&run.loop);
	preload_close(&run.preload);
	result_free(&run.result);
	free(run.controller);
	sampling_options_free(&arguments.sampling);
	return status;
}

static const struct opt preload_opts[] = {
	OPT_FLAG("preload", offsetof(struct run_arguments, preload),
		 "make profil(), sprofil(), pcsample() and gcc -pg work in COMMAND"),
	{ 0 }
};

static const struct opt_group run_groups[] = { SAMPLING_GROUPS(
						       offsetof(struct run_arguments, sampling)),
					       { .title = "Command",
						 .opts = sampling_command_opts,
						 .base = offsetof(struct run_arguments, sampling) },
					       PHASE_GROUP(offsetof(struct run_arguments, phases)),
					       { .title = "Calls", .opts = preload_opts },
					       { 0 } };

static const struct command_example run_examples[] = {
	{ "Where does it spend its time?", "sudo bpfprofil run -- gzip -9 -k big.tar" },
	{ "Record call stacks and waits, and show both",
	  "sudo bpfprofil run --callers --waits -- ./server --once" },
	{ "Separate user and kernel time, at 10,000 samples per second on each CPU",
	  "sudo bpfprofil run -F 10000 --mode split -- ./server --once" },
	{ "One library only, into a compressed file, as another user",
	  "sudo bpfprofil run --region libz.so.1 -o prof-%t.json.gz -u www-data -- ./serve" },
	{ "A new file every minute, and the files of the last day kept",
	  "sudo bpfprofil run --interval 60 --keep 1440 -o 'prof-%t.json.gz' -- ./server" },
	{ "Ten seconds of a server, once it has started",
	  "sudo bpfprofil run --delay 30 --duration 10 -- ./server" },
	{ "bpfprofil's ticks in the gmon.out of a program built with gcc -pg",
	  "sudo bpfprofil run --preload -- ./prog" },
	{ NULL, NULL }
};

const struct command command_run = {
	.name = "run",
	.summary = "run a command and profile it with all its descendants",
	.operands = "[--] COMMAND [ARG...]",
	.operand = VALUE_COMMAND,
	.description =
		"Starts COMMAND and counts, in the kernel, where it and its descendants spend their CPU "
		"time, until it exits. --waits also counts wall time. Writes a "
		"profile for report and export, and exits as COMMAND did: 128+n for a signal, "
		"127 if there is no such command, 126 if it cannot be executed, 1 if the profile "
		"cannot be written.",
	.groups = run_groups,
	.examples = run_examples,
	.operands_end_options = true,
	.run = cmd_run,
};
