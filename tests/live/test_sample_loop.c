// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* What wakes the loop again and again, as those do who scrape the agent, delays nothing else. */
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/engine/child.h"
#include "need.h"
#include "host/record/sample_loop.h"

TestSuite(live_sample_loop, .init = need_root, .timeout = 60);

struct run {
	struct sampling_options options;
	struct phase_options phases;
	struct result result;
	struct sample_loop loop;
	struct child child;
};

/* ended_fd is readable all the time. */
static void begin(struct run *run)
{
	char *argv[] = { "/bin/sleep", "1000", NULL };
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0] };
	struct error err = { 0 };

	*run = (struct run){ .phases = { .duration_ns = UINT64_C(1000000000) } };
	run->loop = (struct sample_loop){ .options = &run->options,
					  .phases = &run->phases,
					  .result = &run->result,
					  .signal_fd = -1,
					  .ended_fd = eventfd(1, EFD_CLOEXEC),
					  .control = CONTROL_CLOSED };
	sampling_options_init(&run->options);
	run->options.verbosity = -1;
	run->options.source = SOURCE_CLOCK;
	run->options.output = "/dev/null";
	cr_assert_eq(child_fork(argv, NULL, NULL, &run->child, &err), 0, "%s", err.text);
	target.pid = run->child.pid;
	run->loop.signal_fd = sample_open_signals(&err);
	cr_assert_eq(result_begin_files(&run->result, &run->options, argv, target.pid, &err), 0);
	cr_assert_eq(sample_start(&run->loop, &target, 1, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&run->child, argv[0], NULL, &err), 0, "%s", err.text);
}

static void end(struct run *run)
{
	kill(run->child.pid, SIGKILL);
	child_wait(&run->child);
	result_free(&run->result);
	close(run->loop.ended_fd);
	sample_close(&run->loop);
	child_free(&run->child);
}

Test(live_sample_loop, a_signal_comes_first)
{
	struct run run;

	begin(&run);
	cr_assert_eq(sample_run(&run.loop), SAMPLE_ENDED);
	raise(SIGTERM);
	cr_assert_eq(sample_run(&run.loop), SAMPLE_SIGNAL);
	cr_assert_eq(run.loop.signal.ssi_signo, SIGTERM);
	cr_assert_eq(sample_run(&run.loop), SAMPLE_ENDED);
	end(&run);
}

Test(live_sample_loop, the_clock_is_looked_at)
{
	enum sample_event event;
	struct run run;

	begin(&run);
	do
		event = sample_run(&run.loop);
	while (event == SAMPLE_ENDED);
	cr_assert_eq(event, SAMPLE_OVER);
	end(&run);
}
