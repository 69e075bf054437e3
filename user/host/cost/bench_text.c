// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>

#include "bpfprofil/version.h"
#include "host/cost/bench_report.h"
#include "base/text.h"

#define CELL 64

void bench_time(time_t when, char *text)
{
	struct tm tm;

	if (!gmtime_r(&when, &tm) || !strftime(text, BENCH_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm))
		*text = '\0';
}

static void print_interval(FILE *out, const struct spread *spread, double unit, int decimals,
			   int width)
{
	char text[CELL];

	snprintf(text, sizeof(text), "(%.*f..%.*f)", decimals, spread->low / unit, decimals,
		 spread->high / unit);
	fprintf(out, " %-*s", width, spread->nr ? text : "");
}

static void print_median(FILE *out, const struct spread *spread, double unit, int decimals,
			 int width)
{
	if (spread->nr)
		fprintf(out, " %*.*f", width, decimals, spread->median / unit);
	else
		fprintf(out, " %*s", width, "-");
}

/* Prints with two decimals if the column has room. An upper bound is rounded up. */
static void print_change(FILE *out, const struct change *change, double unit, int width, int rest)
{
	double most = change->value.high / unit;
	int decimals = most < 99.995 ? 2 : most < 999.95 ? 1 : 0;
	char text[CELL];

	if (change->resolved || !change->value.nr) {
		print_median(out, &change->value, unit, decimals, width);
		print_interval(out, &change->value, unit, decimals, rest);
		return;
	}
	if (change->limit / unit < 1000)
		snprintf(text, sizeof(text), "<%.2f", ceil(change->limit / unit * 100) / 100);
	else
		snprintf(text, sizeof(text), "<%.0f", ceil(change->limit / unit));
	fprintf(out, " %*s %-*s", width, text, rest, "");
}

/* True: the row is complete, because it says why nothing was measured. */
static bool print_row_head(FILE *out, const struct cost_row *row)
{
	fprintf(out, "%-5s %6.0f", tick_source_words[row->source], row->requested_hz);
	if (!row->skipped.text[0])
		return false;
	fputs("  not measured: ", out);
	text_write(out, row->skipped.text, 0);
	fputc('\n', out);
	return true;
}

static void print_ticks(FILE *out, const struct cost_report *report)
{
	const struct cost_row *row;
	enum cost_kind kind;

	fputs("A tick:\n\n"
	      "       asked  delivered  interrupt            handler, warm              handler, cold\n"
	      "          Hz         Hz  us                   gross  net, ns             gross  net, ns\n",
	      out);
	for (row = report->rows; row < report->rows + COST_ROWS; row++) {
		if (print_row_head(out, row))
			continue;
		fprintf(out, " %10.1f", row->delivered_hz);
		print_change(out, &row->empty_ns, 1000, 6, 14);
		for (kind = 0; kind < COST_KINDS; kind++) {
			print_median(out, &row->handler[kind].gross_ns, 1, 0, 5);
			print_median(out, &row->handler[kind].net_ns, 1, 0, 5);
			print_interval(out, &row->handler[kind].net_ns, 1, 0,
				       kind == COST_COLD ? 0 : 14);
		}
		fputc('\n', out);
	}
}

static void print_shares(FILE *out, const struct cost_report *report)
{
	const struct cost_row *row;

	fputs("\nOf each busy CPU:\n\n"
	      "       asked  taken from a spinning program, %             the program is       "
	      "kernel\n"
	      "          Hz  by the interrupt     with the handler        slower, %            "
	      "memory, MiB\n",
	      out);
	for (row = report->rows; row < report->rows + COST_ROWS; row++) {
		if (print_row_head(out, row))
			continue;
		print_change(out, &row->empty_percent, 1, 6, 14);
		print_change(out, &row->taken_percent, 1, 6, 14);
		print_change(out, &row->slower_percent[COST_WARM], 1, 6, 14);
		fprintf(out, " %11.1f\n", (double)row->kernel_bytes / (1 << 20));
	}
}

static void print_bursts(FILE *out, const struct lateness *lateness)
{
	size_t i;

	fputs("\nThe clock at 997 Hz:\n\n", out);
	if (lateness->ticks)
		fprintf(out, "served late by %.0f us (median), %.0f us (1 in 100)\n",
			lateness->median_ns / 1000, lateness->p99_ns / 1000);
	fputs("bursts of", out);
	for (i = 0; i < BURST_KINDS; i++)
		fprintf(out, "%s %u", i ? "," : "", lateness->bursts[i].on_us);
	fputs(" us: samples see", out);
	for (i = 0; i < BURST_KINDS; i++)
		fprintf(out, "%s %.0f", i ? "," : "", 100 * lateness->bursts[i].seen);
	fputs(" % of their CPU time, and are weighed\n", out);
}

/*
 * The row with the highest measured rate, for the empty program's cost, which net does not include.
 */
static const struct cost_row *highest(const struct cost_report *report)
{
	const struct cost_row *row, *found = NULL;

	for (row = report->rows; row < report->rows + COST_ROWS; row++)
		if (row->source == SOURCE_CLOCK && row->handler[COST_WARM].empty_ns.nr)
			found = row;
	return found;
}

static void print_notes(FILE *out, const struct cost_report *report)
{
	const struct cost_row *row = highest(report);

	fprintf(out,
		"\nMedian of %u rounds (%s). \"<\": cannot be told from "
		"nothing, which by\nthe same measure is below that here. The program calls small "
		"functions, in random order, on each\nCPU. Interrupt: gaps that it sees in its time, "
		"with an empty BPF program on each tick. Handler: the\nkernel's BPF statistics, net "
		"of that empty program",
		report->rounds,
		report->rounds < SPREAD_LEAST ? "lowest to highest" :
						"95 % interval of the median");
	if (row)
		fprintf(out, " (%.0f ns at %.0f Hz)", row->handler[COST_WARM].empty_ns.median,
			row->requested_hz);
	fprintf(out,
		"; cold: while the program\nreads more memory than the CPU's own caches hold. "
		"Resident memory of this process: %.1f MiB.\n",
		(double)report->peak_bytes / (1 << 20));
}

static void print_host(FILE *out, const struct bench_host *host, const struct cost_report *report)
{
	static const char *const machines[] = {
		[MACHINE_UNKNOWN] = "",
		[MACHINE_METAL] = ", no virtual machine",
		[MACHINE_VIRTUAL] = ", a virtual machine",
	};
	char started[BENCH_TIME_SIZE];

	bench_time(host->started, started);
	fprintf(out, "bpfprofil %s bench, %s, %.0f s\n", BPFPROFIL_VERSION, started,
		(double)report->duration_ns / 1e9);
	fprintf(out, "%s %s %s, HZ %.0f%s\n", host->system.sysname, host->system.release,
		host->system.machine, host->tick_hz, machines[host->machine]);
	fprintf(out, "%u of %ld CPUs", report->cpus, host->cpus);
	if (host->model[0]) {
		fputs(", ", out);
		text_write(out, host->model, 0);
	}
	fputs("\n\n", out);
}

void bench_report_text(FILE *out, const struct bench_host *host, const struct cost_report *report)
{
	print_host(out, host, report);
	print_ticks(out, report);
	print_shares(out, report);
	print_bursts(out, &report->lateness);
	print_notes(out, report);
}
