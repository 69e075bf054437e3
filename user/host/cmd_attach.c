// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "option/command.h"
#include "host/sampling.h"
#include "host/target_options.h"
#include "base/output.h"
#include "host/record/result.h"
#include "host/record/sample_loop.h"
#include "host/targets/targets.h"

struct attach_arguments {
	struct sampling_options sampling;
	struct target_options targets;
	struct phase_options phases;
};

/* One `attach`, from arguments to exit status. */
struct attach {
	struct attach_arguments arguments;
	struct targets targets;
	struct result result;
	struct sample_loop loop;
};

/* The watch comes last, because its first look finds targets that ended before it. */
static int start(struct attach *attach, struct error *err)
{
	struct sample_loop *loop = &attach->loop;
	int ret = target_options_choose_hierarchy(&attach->targets, loop->options->split, err);

	if (!ret)
		ret = sample_start(loop, attach->targets.list, attach->targets.nr,
				   attach->targets.controller, err);
	return ret ?: targets_watch(&attach->targets, &loop->ended_fd, err);
}

static int prepare(struct attach *attach, struct error *err)
{
	struct sample_loop *loop = &attach->loop;
	int ret;

	if (loop->options->verbosity >= 0)
		target_options_say(&attach->targets, stderr);
	ret = spending_choose(&attach->arguments.sampling, "attach", err);
	if (ret)
		return sample_explain(ret, err);
	ret = result_begin_files(&attach->result, loop->options, NULL, getpid(), err);
	/*
	 * A user who may not profile at all shall learn that first, before a problem with the
	 * folder.
	 */
	if (ret)
		return sample_explain(ret, err);
	loop->signal_fd = sample_open_phase_signals(err);
	return loop->signal_fd < 0 ? loop->signal_fd : start(attach, err);
}

/* Reports why the time was shorter than requested: a container that is restarted has ended, too. */
static void say_ended(const struct attach *attach)
{
	const struct targets *targets = &attach->targets;

	if (attach->loop.options->verbosity < 0)
		return;
	if (targets->nr == 1)
		print_message(NULL, "%s: has ended", targets_typed(targets, 0));
	else
		print_message(NULL, "all %zu targets have ended", targets->nr);
}

/* With --wait: a user would expect that a restarted target is sampled again. */
static void say_not_awaited(struct attach *attach)
{
	const char *typed;

	while ((typed = targets_next_ended(&attach->targets)))
		if (attach->loop.options->verbosity >= 0)
			print_message("a bpfprofil for each target",
				      "%s: has ended, and is not waited for while others run",
				      typed);
}

/*
 * Samples until the duration is over, the last target has ended, or the first signal comes. Whether
 * it was the target's end.
 */
static bool sample(struct attach *attach)
{
	enum sample_event event = SAMPLE_NONE;

	while (event != SAMPLE_SIGNAL && event != SAMPLE_OVER) {
		if (!targets_left(&attach->targets)) {
			say_ended(attach);
			return true;
		}
		if (attach->arguments.targets.wait)
			say_not_awaited(attach);
		event = sample_run(&attach->loop);
	}
	return false;
}

/*
 * Resolves the targets again, until a signal that ends sampling comes. It is read here, because it
 * would kill us as soon as signals are let through; those of phases wait for the next session.
 */
static int resolve_again(struct attach *attach, struct error *err)
{
	struct target_options *typed = &attach->arguments.targets;
	struct signalfd_siginfo signal;
	int ret;

	typed->interrupt_fd = sample_open_signals(err);
	if (typed->interrupt_fd < 0)
		return typed->interrupt_fd;
	ret = target_options_resolve(typed, "attach", &attach->targets, err);
	if (ret == -EINTR && read(typed->interrupt_fd, &signal, sizeof(signal)) < 0)
		ret = error_errno(err, -errno, "signalfd");
	close_fd(&typed->interrupt_fd);
	return ret;
}

/* With --wait: puts the counts aside until the targets are there again, as after a restart. */
static int wait_again(struct attach *attach, struct error *err)
{
	const uint64_t now = monotonic_ns(), end = attach->loop.end_ns;
	int ret = session_stop(attach->loop.session, err);

	if (!ret && result_put_aside(&attach->result, attach->loop.session))
		ret = error_set(err, -EIO, "attach: cannot go on");
	if (ret)
		return ret;
	if (end && now >= end)
		return -ETIMEDOUT;
	attach->arguments.targets.patience_ns = end ? end - now : 0;
	targets_free(&attach->targets);
	attach->loop.ended_fd = -1;
	return resolve_again(attach, err);
}

/* The next session begins in the phase in which the last one ended. */
static void continue_phases(struct attach *attach, const struct sample_loop *last)
{
	struct phase_options *phases = &attach->arguments.phases;
	const uint64_t now = monotonic_ns();

	phases->duration_ns = last->paused ? last->left_ns : attach->arguments.targets.patience_ns;
	phases->paused = last->paused && !last->begin_ns;
	/* A delay that has passed meanwhile is as short as it can be: 0 would be none. */
	phases->delay_ns = last->begin_ns > now ? last->begin_ns - now : last->begin_ns != 0;
}

/*
 * Begins another session on the same files, for the rest of the time; if it fails, the last one
 * stays.
 */
static int begin_again(struct attach *attach, struct error *err)
{
	struct sample_loop *loop = &attach->loop, last = *loop;
	int ret;

	if (last.begun)
		continue_phases(attach, &last);
	*loop = (struct sample_loop){ .options = last.options,
				      .result = last.result,
				      .phases = last.phases,
				      .signal_fd = last.signal_fd,
				      .cut_ns = last.cut_ns,
				      .control = CONTROL_CLOSED,
				      .ended_fd = -1 };
	ret = start(attach, err);
	session_close(ret ? loop->session : last.session);
	control_close(ret ? &loop->control : &last.control);
	if (ret)
		*loop = last;
	return ret;
}

/* A failure is reported, and earlier counts are still written. */
static void sample_all(struct attach *attach)
{
	struct error err = { 0 };
	int ret = 0;

	while (!ret && sample(attach) && attach->arguments.targets.wait) {
		ret = wait_again(attach, &err);
		if (!ret)
			ret = begin_again(attach, &err);
	}
	if (!ret || ret == -ETIMEDOUT || ret == -EINTR)
		return;
	print_error(&err);
	attach->result.failed = true;
}

static int attach_to(struct attach *attach, struct error *err)
{
	int ret = prepare(attach, err);

	if (ret)
		goto failed;
	sample_all(attach);
	sample_let_signals_through("");
	ret = session_stop(attach->loop.session, err);
	if (ret)
		goto failed;
	result_finish(&attach->result, attach->loop.session);
	return attach->result.failed ? EXIT_FAILURE : EXIT_SUCCESS;
failed:
	print_error(err);
	return EXIT_FAILURE;
}

/* Signals that come while we wait for the targets are read when sampling begins. */
static void hold_phase_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static int check_and_attach(struct attach *attach, int argc, char **argv, int first)
{
	struct attach_arguments *arguments = &attach->arguments;
	struct error err = { 0 };
	int ret = 0;

	if (first < argc)
		ret = target_options_refuse("attach", argv + first, &err);
	if (!ret)
		ret = sampling_options_check(&arguments->sampling, "attach", &err);
	if (!ret)
		ret = phase_options_check(&arguments->phases, "attach", &err);
	arguments->targets.patience_ns = arguments->phases.duration_ns;
	hold_phase_signals();
	if (!ret)
		ret = target_options_resolve(&arguments->targets, "attach", &attach->targets, &err);
	arguments->phases.duration_ns = arguments->targets.patience_ns;
	if (!ret)
		return attach_to(attach, &err);
	print_error(&err);
	return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
}

static int cmd_attach(int argc, char **argv)
{
	struct attach attach = { 0 };
	int first, status;

	attach.loop = (struct sample_loop){ .options = &attach.arguments.sampling,
					    .result = &attach.result,
					    .phases = &attach.arguments.phases,
					    .signal_fd = -1,
					    .control = CONTROL_CLOSED,
					    .ended_fd = -1 };
	sampling_options_init(&attach.arguments.sampling);
	target_options_init(&attach.arguments.targets);
	if (command_parse(&command_attach, argc, argv, &attach.arguments, &first, &status))
		status = check_and_attach(&attach, argc, argv, first);
	sample_close(&attach.loop);
	result_free(&attach.result);
	targets_free(&attach.targets);
	target_options_free(&attach.arguments.targets);
	sampling_options_free(&attach.arguments.sampling);
	return status;
}

static const struct opt_group attach_groups[] = {
	TARGET_GROUP(offsetof(struct attach_arguments, targets)),
	PHASE_GROUP(offsetof(struct attach_arguments, phases)),
	SAMPLING_GROUPS(offsetof(struct attach_arguments, sampling)),
	{ 0 }
};

static const struct command_example attach_examples[] = {
	{ "A running process and what it starts, for ten seconds",
	  "sudo bpfprofil attach --pid 1234 --duration 10" },
	{ "Call stacks of all processes whose name begins with postgres",
	  "sudo bpfprofil attach --name 'postgres*' --callers --duration 30" },
	{ "A container, until ^C or its end", "sudo bpfprofil attach --container web" },
	{ "A container that is started later", "sudo bpfprofil attach --container web --wait" },
	{ "Two services, each with its own histograms",
	  "sudo bpfprofil attach --unit nginx --unit postgresql --duration 1m" },
	{ "The whole host and its kernel, a new file every minute, and the files of the last day kept",
	  "sudo bpfprofil attach --all --mode split --interval 60 --keep 1440 -o "
	  "'prof-%t.json.gz'" },
	{ NULL, NULL }
};

const struct command command_attach = {
	.name = "attach",
	.summary = "profile running processes, containers or the whole host",
	.operands = "--pid PID | --name PATTERN | --all | ...",
	.description =
		"Counts, in the kernel, where running processes spend their CPU time, until --duration, "
		"^C, SIGTERM or the end of the last target. --waits also counts wall time. Writes a "
		"profile for report and export. A second ^C quits at once and writes none.",
	.groups = attach_groups,
	.examples = attach_examples,
	.run = cmd_attach,
};
