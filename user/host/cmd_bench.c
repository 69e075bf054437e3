// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "option/command.h"
#include "host/cost/bench_report.h"
#include "host/cost/cost.h"
#include "base/output.h"
#include "host/record/sample_loop.h"

#define ROUNDS_DEFAULT 12
#define ROUNDS_MAX 1000

struct bench_arguments {
	unsigned int format;
	uint64_t rounds;
	bool quiet;
};

enum { BENCH_TEXT, BENCH_JSON };

static const char *const format_words[] = { "text", "json", NULL };

#define FIELD(member) offsetof(struct bench_arguments, member)

static const struct opt bench_opts[] = {
	{ .name = "rounds",
	  .arg = "N",
	  .help = "how often each is measured; more take longer and tell smaller costs from none",
	  .fallback = "12",
	  .set = opt_set_u64,
	  .min = 1,
	  .max = ROUNDS_MAX,
	  .field = FIELD(rounds) },
	{ .name = "format",
	  .arg = "text|json",
	  .help = "how to write the result",
	  .fallback = "text",
	  .words = format_words,
	  .field = FIELD(format) },
	{ .name = "quiet", .letter = 'q', .help = "no progress", .field = FIELD(quiet) },
	{ 0 }
};

static const struct opt_group bench_groups[] = {
	{ .title = "Measurement", .opts = bench_opts },
	{ 0 },
};

static void show_progress(void *ctx, const struct cost_row *row, double done)
{
	(void)ctx;
	fprintf(stderr, "\r\033[K%3.0f %%  %s  %.0f Hz", 100 * done, tick_source_words[row->source],
		row->requested_hz);
	fflush(stderr);
}

static int explain(int failure, struct error *err)
{
	if (failure == -EINTR)
		return error_set(err, failure, "bench: interrupted, and nothing said of a part");
	return sample_explain(failure, err);
}

static int measure(const struct bench_arguments *arguments, struct cost_report *report,
		   struct error *err)
{
	bool shown = !arguments->quiet && terminal_attached(stderr);
	struct cost_options options = {
		.rounds = (uint32_t)arguments->rounds,
		.progress = shown ? show_progress : NULL,
	};
	struct signalfd_siginfo signal;
	int ret;

	options.stop_fd = sample_open_signals(err);
	if (options.stop_fd < 0)
		return options.stop_fd;
	if (!arguments->quiet)
		fprintf(stderr, "about %.0f s, with a program on each CPU\n",
			(double)cost_estimate_ns(options.rounds) / 1e9);
	ret = cost_measure(&options, report, err);
	/* The signal must be read, or it would end us once signals are let through. */
	while (read(options.stop_fd, &signal, sizeof(signal)) > 0)
		;
	if (shown)
		fputs("\r\033[K", stderr);
	close(options.stop_fd);
	sample_let_signals_through();
	return ret ? explain(ret, err) : 0;
}

static int bench(const struct bench_arguments *arguments)
{
	struct cost_report report;
	struct bench_host host;
	struct error err = { 0 };

	bench_host_read(&host);
	if (measure(arguments, &report, &err)) {
		print_error(&err);
		return EXIT_FAILURE;
	}
	stdout_begin();
	if (arguments->format == BENCH_JSON)
		bench_report_json(stdout, &host, &report);
	else
		bench_report_text(stdout, &host, &report);
	return stdout_end("bench: standard output");
}

static int run(int argc, char **argv)
{
	struct bench_arguments arguments = { .rounds = ROUNDS_DEFAULT };
	int first, status;

	if (!command_parse(&command_bench, argc, argv, &arguments, &first, &status))
		return status;
	if (first < argc) {
		print_message("bpfprofil bench", "bench: takes no operand, not '%.128s'",
			      argv[first]);
		return EXIT_USAGE;
	}
	return bench(&arguments);
}

static const struct command_example bench_examples[] = {
	{ "what does sampling cost on this host?", "sudo bpfprofil bench" },
	{ "a first look, in some seconds", "sudo bpfprofil bench --rounds 3" },
	{ "for a program, and more exactly",
	  "sudo bpfprofil bench --rounds 60 --format json >bench.json" },
	{ 0 },
};

const struct command command_bench = {
	.name = "bench",
	.summary = "measure what sampling costs on this host",
	.description =
		"Samples a program of its own, one thread on each CPU, at 49, 99, 997, 4000 and "
		"10000 Hz and by the scheduler's tick, off and on in turns, and says what the "
		"interrupt takes and what the handler, how many of the ticks asked for came, by "
		"how much work gets slower, and the memory. What cannot be told from the host's "
		"own unevenness is shown as what it is below.",
	.groups = bench_groups,
	.examples = bench_examples,
	.run = run,
};
