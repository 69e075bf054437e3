// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>

#include "base/json_text.h"
#include "bpfprofil/version.h"
#include "host/cost/bench_report.h"

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

static void write_host(FILE *out, const struct bench_host *host, const struct cost_report *report)
{
	static const char *const machines[] = {
		[MACHINE_UNKNOWN] = "null",
		[MACHINE_METAL] = "false",
		[MACHINE_VIRTUAL] = "true",
	};

	fputs("{ \"kernel\": ", out);
	json_text_string(out, host->system.release);
	key(out, "arch");
	json_text_string(out, host->system.machine);
	fprintf(out, ", \"cpus\": %ld, \"cpus_used\": %u", host->cpus, report->cpus);
	key(out, "model");
	json_text_string_or_null(out, host->model[0] ? host->model : NULL);
	fprintf(out, ", \"virtual\": %s", machines[host->machine]);
	put_figure(out, "tick_hz", host->tick_hz);
	fputs(" }", out);
}

/* How late the clock is served, if that is known, and how much of bursts the samples see. */
static void write_lateness(FILE *out, const struct lateness *lateness)
{
	size_t i;

	fputs("{ \"ticks\": ", out);
	json_text_u64(out, lateness->ticks);
	if (lateness->ticks) {
		put_figure(out, "median_ns", lateness->median_ns);
		put_figure(out, "p99_ns", lateness->p99_ns);
	}
	for (i = 0; i < BURST_KINDS; i++) {
		fprintf(out, "%s{ \"on_us\": %u, \"off_us\": %u", i ? ", " : ", \"bursts\": [",
			lateness->bursts[i].on_us, lateness->bursts[i].off_us);
		put_figure(out, "seen_percent", 100 * lateness->bursts[i].seen);
		fputs(" }", out);
	}
	fputs("] }", out);
}

void bench_report_json(FILE *out, const struct bench_host *host, const struct cost_report *report)
{
	char started[BENCH_TIME_SIZE];
	size_t i;

	bench_time(host->started, started);
	fprintf(out, "{ \"format\": \"bpfprofil-bench\", \"version\": 1, \"tool\": \"%s\",\n",
		BPFPROFIL_VERSION);
	fprintf(out, "  \"started\": \"%s\", \"duration_ns\": %" PRIu64 ", \"rounds\": %u,\n",
		started, report->duration_ns, report->rounds);
	fprintf(out, "  \"resident_bytes\": %" PRIu64 ",\n  \"host\": ", report->peak_bytes);
	write_host(out, host, report);
	fputs(",\n  \"rates\": [\n", out);
	for (i = 0; i < COST_ROWS; i++) {
		fputs(i ? ",\n" : "", out);
		write_row(out, &report->rows[i]);
	}
	fputs("\n  ],\n  \"lateness\": ", out);
	write_lateness(out, &report->lateness);
	fputs(" }\n", out);
}
