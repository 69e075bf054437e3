// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * handler [ROUNDS]: what a tick costs on this host, at six rates, as JSON. Each figure is a median
 * with the interval that holds the true one 95 times in 100; see cost.h. As root.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/json_text.h"
#include "bench/handler/cost.h"
#include "bpfprofil/version.h"

#define ROUNDS_DEFAULT 12
#define ROUNDS_MAX 1000

static void key(FILE *out, const char *name)
{
	fprintf(out, ", \"%s\": ", name);
}

static void put_figure(FILE *out, const char *name, double value)
{
	key(out, name);
	json_text_double(out, value);
}

/* A value that no round measured is null. */
static void spread_members(FILE *out, const struct spread *spread)
{
	if (!spread->nr) {
		fputs("\"median\": null, \"low\": null, \"high\": null, \"rounds\": 0", out);
		return;
	}
	fputs("\"median\": ", out);
	json_text_double(out, spread->median);
	put_figure(out, "low", spread->low);
	put_figure(out, "high", spread->high);
	fprintf(out, ", \"rounds\": %zu", spread->nr);
}

static void write_spread(FILE *out, const char *name, const struct spread *spread)
{
	fprintf(out, "\"%s\": { ", name);
	spread_members(out, spread);
	fputs(" }", out);
}

static void write_change(FILE *out, const char *name, const struct change *change)
{
	fprintf(out, ",\n      \"%s\": { ", name);
	spread_members(out, &change->value);
	fprintf(out, ", \"resolved\": %s", change->resolved ? "true" : "false");
	put_figure(out, "limit", change->limit);
	fputs(" }", out);
}

static void write_handler(FILE *out, const char *name, const struct cost_handler *handler)
{
	fprintf(out, ",\n      \"%s\": { ", name);
	write_spread(out, "gross_ns", &handler->gross_ns);
	fputs(",\n        ", out);
	write_spread(out, "empty_ns", &handler->empty_ns);
	fputs(",\n        ", out);
	write_spread(out, "net_ns", &handler->net_ns);
	fputs(" }", out);
}

static void write_measured(FILE *out, const struct cost_row *row)
{
	fprintf(out,
		",\n      \"ticks\": %" PRIu64 ", \"held_ns\": %" PRIu64
		", \"kernel_memory_bytes\": %" PRIu64,
		row->ticks, row->held_ns, row->kernel_bytes);
	put_figure(out, "delivered_hz", row->delivered_hz);
	put_figure(out, "delivered_percent", 100 * row->delivered_hz / row->requested_hz);
	write_change(out, "interrupt_ns", &row->empty_ns);
	write_change(out, "tick_ns", &row->taken_ns);
	write_handler(out, "handler_warm", &row->handler[COST_WARM]);
	write_handler(out, "handler_cold", &row->handler[COST_COLD]);
	write_change(out, "interrupt_percent", &row->empty_percent);
	write_change(out, "tick_percent", &row->taken_percent);
	write_change(out, "slower_warm_percent", &row->slower_percent[COST_WARM]);
	write_change(out, "slower_cold_percent", &row->slower_percent[COST_COLD]);
}

static void write_row(FILE *out, const struct cost_row *row)
{
	const char *skipped = row->skipped.text[0] ? row->skipped.text : NULL;

	fprintf(out, "    { \"source\": \"%s\"", tick_source_words[row->source]);
	put_figure(out, "requested_hz", row->requested_hz);
	fprintf(out, ", \"period_ns\": %" PRIu64, row->period_ns);
	key(out, "skipped");
	json_text_string_or_null(out, skipped);
	if (!skipped)
		write_measured(out, row);
	fputs(" }", out);
}

static void write_report(FILE *out, const struct cost_report *report)
{
	struct utsname host = { 0 };
	size_t i;

	uname(&host);
	fprintf(out, "{ \"tool\": \"%s\", \"rounds\": %u, \"duration_ns\": %" PRIu64,
		BPFPROFIL_VERSION, report->rounds, report->duration_ns);
	fprintf(out, ",\n  \"kernel\": ");
	json_text_string(out, host.release);
	fprintf(out, ", \"machine\": ");
	json_text_string(out, host.machine);
	fprintf(out, ", \"cpus\": %u, \"resident_bytes\": %" PRIu64 ",\n  \"rates\": [\n",
		report->cpus, report->peak_bytes);
	for (i = 0; i < COST_ROWS; i++) {
		fputs(i ? ",\n" : "", out);
		write_row(out, &report->rows[i]);
	}
	fputs("\n  ] }\n", out);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : ROUNDS_DEFAULT;
	const struct cost_options options = { .rounds = (uint32_t)rounds, .stop_fd = -1 };
	struct cost_report report;
	struct error err = { 0 };

	if (argc > 2 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage, as root: handler [ROUNDS]\n");
		return 2;
	}
	if (cost_measure(&options, &report, &err)) {
		fprintf(stderr, "handler: %s\n", err.text);
		return 1;
	}
	write_report(stdout, &report);
	return fflush(stdout) ? 1 : 0;
}
