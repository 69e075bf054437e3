// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/figures.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "bpfprofil/version.h"

#define OTHER "[other]"
#define OTHER_LABELS "service=\"" OTHER "\""

void figures_open(struct figures *figures)
{
	*figures = (struct figures){ .begun = time(NULL) };
	figures->counted_since = figures->begun;
	figures->times.read_ms = (uint64_t)figures->begun * 1000;
	pthread_mutex_init(&figures->lock, NULL);
	pthread_mutex_init(&figures->shown, NULL);
}

void figures_free_counts(struct figures *figures)
{
	profile_account_free(&figures->ticks);
	service_times_free(&figures->times);
}

void figures_replace_counts(struct figures *figures, const struct figures *earlier)
{
	const uint64_t read_ms = figures->times.read_ms;

	LOCK_SCOPE(&figures->lock);
	figures_free_counts(figures);
	figures->counted_since = earlier->counted_since;
	figures->ticks = earlier->ticks;
	figures->sampled_ns = earlier->sampled_ns;
	figures->former_ns = earlier->former_ns;
	figures->unsampled = earlier->unsampled;
	figures->times = earlier->times;
	figures->times.read_ms = read_ms;
	figures->scrapes = earlier->scrapes;
}

void figures_close(struct figures *figures)
{
	figures_free_counts(figures);
	pthread_mutex_destroy(&figures->lock);
	pthread_mutex_destroy(&figures->shown);
}

void figures_add(struct figures *figures, const struct profile *part,
		 const struct figures_session *session)
{
	uint64_t cpu_ns = 0;

	LOCK_SCOPE(&figures->lock);
	/* Without memory for a cause, its count is missing; the others are right. */
	profile_account_add(&figures->ticks, &part->ticks);
	if (profile_cpu_time(part, &cpu_ns))
		service_times_add(&figures->times, part, cpu_ns, true);
	figures->duty_percent = part->sampling.duty_percent;
	figures->sampled_ns += profile_sampled_ns(part);
	figures->session = *session;
}

void figures_read(struct figures *figures, const struct profile *times)
{
	LOCK_SCOPE(&figures->lock);
	service_times_add(&figures->times, times, 0, false);
}

void figures_lose(struct figures *figures, uint64_t ticks)
{
	struct profile_lost killed = { .cause = (char *)sink_losses[LOST_KILLED], .ticks = ticks };
	const struct profile_account lost = { .total = ticks, .lost = &killed, .nr_lost = 1 };

	LOCK_SCOPE(&figures->lock);
	profile_account_add(&figures->ticks, &lost);
}

void figures_add_unsampled(struct figures *figures, uint64_t ns, const struct profile *spent)
{
	uint64_t cpu_ns = 0;

	LOCK_SCOPE(&figures->lock);
	/* A killed agent may have shown more than it saved. */
	if (figures->times.scrapes > figures->unsampled.scrapes_before)
		figures->unsampled.scraped = figures->unsampled.ns;
	figures->unsampled.ns += ns;
	figures->unsampled.scrapes_before = figures->times.scrapes;
	if (spent && profile_cpu_time(spent, &cpu_ns))
		service_times_add(&figures->times, spent, cpu_ns, true);
}

void figures_end_interval(struct figures *figures)
{
	LOCK_SCOPE(&figures->lock);
	service_times_end_interval(&figures->times);
}

void figures_count_scrape(struct figures *figures)
{
	LOCK_SCOPE(&figures->lock);
	figures->scrapes++;
}

void figures_note_old_spools(struct figures *figures, uint64_t bytes)
{
	LOCK_SCOPE(&figures->lock);
	figures->old_spool_bytes = bytes;
}

void figures_new_session(struct figures *figures, bool listening, size_t functions)
{
	LOCK_SCOPE(&figures->lock);
	service_times_choose(&figures->times, listening, functions);
	figures->former_ns += figures->session.handler_ns;
	figures->session.handler_ns = 0;
}

struct page {
	FILE *out;
	struct figures_form form;
	uint64_t last; /* the previous scrape by the same scraper */
	uint64_t begun_ms;
};

/* OpenMetrics drops _total from a counter's name in HELP and TYPE. */
static void put_whole_head(const struct page *page, const char *name, const char *type,
			   const char *help)
{
	const char *suffix = !strcmp(type, "counter") && !page->form.openmetrics ? "_total" : "";

	fprintf(page->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
		type);
}

static void put_head(const struct page *page, const char *name, const char *type, const char *help)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "bpfprofil_%s", name);
	put_whole_head(page, whole, type, help);
}

static void put_plain(const struct page *page, const char *name, uint64_t value)
{
	fprintf(page->out, "bpfprofil_%s %" PRIu64 "\n", name, value);
}

/* The time when a counter was 0, for a scraper that can use it. */
static void put_created(const struct page *page, const char *name, uint64_t ms)
{
	if (page->form.openmetrics)
		fprintf(page->out, "bpfprofil_%s_created %" PRIu64 ".%03" PRIu64 "\n", name,
			ms / 1000, ms % 1000);
}

/* Ends the labels and writes the value. */
static void put_value(const struct page *page, uint64_t ns)
{
	fprintf(page->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

static void put_seconds(const struct page *page, const char *name, uint64_t ns)
{
	fprintf(page->out, "bpfprofil_%s_total %" PRIu64 ".%09" PRIu64 "\n", name, ns / 1000000000,
		ns % 1000000000);
	put_created(page, name, page->begun_ms);
}

static void put_outcome(const struct page *page, const char *outcome, const char *cause,
			uint64_t ticks)
{
	fprintf(page->out, "bpfprofil_ticks_total{outcome=\"%s\",cause=\"", outcome);
	service_label_write(page->out, cause);
	fprintf(page->out, "\"} %" PRIu64 "\n", ticks);
}

static void put_ticks(const struct page *page, const struct profile_account *ticks)
{
	size_t i;

	put_head(page, "ticks", "counter", "Ticks by outcome, and lost ticks by cause.");
	put_outcome(page, "binned", "", ticks->binned);
	put_outcome(page, "overflow", "", ticks->overflow);
	put_outcome(page, "outside", "", ticks->outside);
	put_outcome(page, "filtered", "", ticks->filtered);
	for (i = 0; i < ticks->nr_lost; i++)
		put_outcome(page, "lost", ticks->lost[i].cause, ticks->lost[i].ticks);
	put_head(page, "ticks_seen", "counter", "All ticks: the sum of bpfprofil_ticks_total.");
	put_plain(page, "ticks_seen_total", ticks->total);
	put_created(page, "ticks_seen", page->begun_ms);
}

static void put_service(const struct page *page, const char *labels, uint64_t ns,
			uint64_t created_ms)
{
	fprintf(page->out, "bpfprofil_service_cpu_seconds_total{%s", labels);
	put_value(page, ns);
	if (page->form.openmetrics)
		fprintf(page->out,
			"bpfprofil_service_cpu_seconds_created{%s} %" PRIu64 ".%03" PRIu64 "\n",
			labels, created_ms / 1000, created_ms % 1000);
}

static void put_function(const struct page *page, const char *labels, const char *name,
			 const char *object, uint64_t ns)
{
	fprintf(page->out, "bpfprofil_function_cpu_seconds_total{%s,function=\"", labels);
	service_label_write(page->out, name);
	fputs("\",object=\"", page->out);
	service_label_write(page->out, object);
	fputc('"', page->out);
	put_value(page, ns);
}

static void put_functions(const struct page *page, const struct service_times *times)
{
	const struct service_time *service, *end = times->nr ? times->list + times->nr : NULL;
	size_t i;

	put_head(page, "function_cpu_seconds", "counter",
		 "CPU time of the hottest functions of each service.");
	for (service = times->list; service < end; service++) {
		for (i = 0; i < service->nr; i++)
			put_function(page, service->labels, service->list[i].name,
				     service->list[i].object,
				     service_times_value(&service->list[i].time, page->last));
		put_function(page, service->labels, OTHER, "",
			     service_times_value(&service->other, page->last));
	}
	put_function(page, OTHER_LABELS, OTHER, "", times->other_functions);
}

static void put_services(const struct page *page, const struct service_times *times)
{
	size_t i;

	put_head(page, "service_cpu_seconds", "counter", "CPU time by service and pod.");
	for (i = 0; i < times->nr; i++)
		put_service(page, times->list[i].labels,
			    service_times_value(&times->list[i].time, page->last),
			    times->list[i].time.created_ms);
	put_service(page, OTHER_LABELS, times->other, page->begun_ms);
	if (times->most && page->form.functions)
		put_functions(page, times);
}

static void put_ratio(const struct page *page, const char *name, const char *help, double percent)
{
	put_head(page, name, "gauge", help);
	fprintf(page->out, "bpfprofil_%s %.6g\n", name, percent / 100);
}

/*
 * Without CAP_SYS_ADMIN the cost is not measured. Write nothing, because 0 would look like a
 * measurement.
 */
static void put_cost(const struct page *page, const struct profile_cost *cost, uint64_t handler_ns)
{
	put_ratio(page, "budget_ratio", "Allowed cost of sampling, as a share of busy CPU time.",
		  cost->budget_percent);
	if (cost->handler_ns > 0) {
		put_ratio(page, "cost_ratio",
			  "Last measured cost of sampling, as a share of busy CPU time.",
			  cost->percent);
		put_ratio(page, "fixed_cost_ratio",
			  "Part of bpfprofil_cost_ratio that no duty can lower.",
			  cost->fixed_percent);
	}
	if (handler_ns) {
		put_head(page, "handler_seconds", "counter", "CPU time of the BPF programs.");
		put_seconds(page, "handler_seconds", handler_ns);
	}
}

static void put_host(const struct page *page, const struct figures *figures)
{
	const struct figures_session *session = &figures->session;

	put_ticks(page, &figures->ticks);
	put_head(page, "cpu_seconds", "counter", "CPU time of all processes, by the scheduler.");
	put_seconds(page, "cpu_seconds", service_times_sum(&figures->times, page->last));
	put_head(page, "sampled_seconds", "counter",
		 "Sampled time, times the share of the ticks that count.");
	put_seconds(page, "sampled_seconds", figures->sampled_ns);
	put_head(page, "unsampled_seconds", "counter",
		 "Time in which nothing was sampled, between agents and sessions.");
	put_seconds(page, "unsampled_seconds",
		    page->last > figures->unsampled.scrapes_before ? figures->unsampled.ns :
								     figures->unsampled.scraped);
	put_ratio(page, "duty_ratio", "Share of the ticks that count.",
		  figures->duty_percent > 0 ? figures->duty_percent : 100);
	put_cost(page, &session->cost, figures->former_ns + session->handler_ns);
	put_head(page, "map_bytes", "gauge", "Kernel memory of histograms.");
	put_plain(page, "map_bytes", session->memory);
	put_head(page, "map_limit_bytes", "gauge", "Limit of bpfprofil_map_bytes.");
	put_plain(page, "map_limit_bytes", session->memory_limit);
}

static uint64_t resident_bytes(void)
{
	cleanup_file FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!file || fscanf(file, "%*u %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* These names are the same for every process, and dashboards know them. */
static void put_process(const struct page *page, const struct figures *figures)
{
	uint64_t resident = resident_bytes();
	struct timespec cpu = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	put_whole_head(page, "process_cpu_seconds", "counter", "CPU time of the agent itself.");
	fprintf(page->out, "process_cpu_seconds_total %" PRId64 ".%09ld\n", (int64_t)cpu.tv_sec,
		cpu.tv_nsec);
	put_whole_head(page, "process_start_time_seconds", "gauge", "Start time of the agent.");
	fprintf(page->out, "process_start_time_seconds %" PRId64 "\n", (int64_t)figures->begun);
	if (!resident)
		return;
	put_whole_head(page, "process_resident_memory_bytes", "gauge",
		       "Resident memory of the agent.");
	fprintf(page->out, "process_resident_memory_bytes %" PRIu64 "\n", resident);
}

/* A figure that every sink has. */
struct sink_figure {
	const char *name;
	const char *type;
	const char *help;
	size_t offset; /* offset of a uint64_t in struct sink_counts */
};

#define COUNT(member) offsetof(struct sink_counts, member)

static const struct sink_figure sink_figures[] = {
	{ "export_requests", "counter", "Requests to a sink, or files written.", COUNT(requests) },
	{ "export_retries", "counter", "Requests to a sink that are retried.", COUNT(retries) },
	{ "export_profiles", "counter", "Profiles that were delivered.", COUNT(profiles) },
	{ "export_ticks", "counter", "Ticks that were delivered.", COUNT(ticks) },
	{ "export_bytes", "counter", "Bytes that were sent.", COUNT(bytes) },
	{ "rejected_profiles", "counter",
	  "Profiles that a sink rejected in a request that it accepted.", COUNT(rejected) },
	{ "pending_merges", "counter", "Merges of two waiting profiles.", COUNT(merged) },
	{ "pending_profiles", "gauge", "Profiles that wait for a sink.", COUNT(pending) },
	{ "pending_ticks", "gauge", "Ticks that wait for a sink.", COUNT(pending_ticks) },
	{ "pending_bytes", "gauge", "Bytes of profiles that wait for a sink.",
	  COUNT(pending_bytes) },
	{ "spool_bytes", "gauge", "Bytes of profiles that wait on disk.", COUNT(spool_bytes) },
	{ "spool_ok", "gauge", "0 if the disk has no room for profiles that wait.",
	  COUNT(spool_ok) },
	{ "last_success_timestamp_seconds", "gauge", "Time of the last delivery.",
	  COUNT(last_success) },
};

/* Starts the labels with the sink. More labels may follow. */
static void put_which(const struct page *page, struct sink *sink)
{
	fprintf(page->out, "{kind=\"%s\",url=\"", sink_kind(sink));
	service_label_write(page->out, sink_place(sink));
	fputc('"', page->out);
}

static void put_sink(const struct page *page, const struct sink_figure *figure, struct sink *sink)
{
	struct sink_counts counts;
	uint64_t value;

	sink_shown(sink, &counts);
	memcpy(&value, (const char *)&counts + figure->offset, sizeof(value));
	fprintf(page->out, "bpfprofil_%s%s", figure->name,
		!strcmp(figure->type, "counter") ? "_total" : "");
	put_which(page, sink);
	fprintf(page->out, "} %" PRIu64 "\n", value);
}

/* A sink's counter with one more label. */
static void put_by(const struct page *page, const char *name, struct sink *sink, const char *label,
		   const char *word, uint64_t value)
{
	fprintf(page->out, "bpfprofil_%s_total", name);
	put_which(page, sink);
	fprintf(page->out, ",%s=\"%s\"} %" PRIu64 "\n", label, word, value);
}

static void put_losses(const struct page *page, const struct figures_of_sinks *of)
{
	struct sink_counts counts;
	size_t i, j;

	put_head(page, "undelivered_ticks", "counter", "Ticks that will not be delivered.");
	for (i = 0; i < of->nr; i++) {
		sink_shown(of->sinks[i], &counts);
		for (j = 0; j < NR_LOSSES; j++)
			put_by(page, "undelivered_ticks", of->sinks[i], "cause", sink_losses[j],
			       counts.losses[j]);
	}
}

/* Only codes that occurred. Folders have none. */
static void put_codes(const struct page *page, const struct figures_of_sinks *of)
{
	struct sink_counts counts;
	bool begun = false;
	size_t i, j;

	for (i = 0; i < of->nr; i++) {
		sink_shown(of->sinks[i], &counts);
		for (j = 0; j < CODES_NR; j++) {
			if (!counts.codes[j])
				continue;
			if (!begun)
				put_head(page, "exports", "counter",
					 "Requests to a sink by the code of the answer.");
			begun = true;
			put_by(page, "exports", of->sinks[i], "code", code_label(j),
			       counts.codes[j]);
		}
	}
}

static void mark_scraped(struct figures *figures, uint64_t last)
{
	service_times_mark_scraped(&figures->times, last);
	if (last > figures->unsampled.scrapes_before)
		figures->unsampled.scraped = figures->unsampled.ns;
}

void figures_write(struct figures *figures, const struct figures_of_sinks *of,
		   const struct figures_form *form, FILE *out)
{
	struct page page = { .out = out,
			     .form = *form,
			     .last = TIMES_ALL,
			     .begun_ms = (uint64_t)figures->counted_since * 1000 };
	size_t i, j;

	put_head(&page, "build_info", "gauge", "Version of the agent.");
	fprintf(out, "bpfprofil_build_info{version=\"%s\"} 1\n", BPFPROFIL_VERSION);
	put_head(&page, "config_ok", "gauge", "Whether the file of options is in force.");
	put_plain(&page, "config_ok", form->config_ok);
	pthread_mutex_lock(&figures->shown);
	pthread_mutex_lock(&figures->lock);
	if (form->scraper)
		page.last = service_times_scrape(&figures->times, form->scraper);
	put_host(&page, figures);
	put_services(&page, &figures->times);
	if (form->scraper)
		mark_scraped(figures, page.last);
	put_head(&page, "scrapes", "counter", "Profiles returned by /debug/pprof/profile.");
	put_plain(&page, "scrapes_total", figures->scrapes);
	put_head(&page, "old_spool_bytes", "gauge",
		 "Bytes on disk that wait for sinks that are not configured any more.");
	put_plain(&page, "old_spool_bytes", figures->old_spool_bytes);
	pthread_mutex_unlock(&figures->lock);
	for (i = 0; i < sizeof(sink_figures) / sizeof(sink_figures[0]) && of->nr; i++) {
		put_head(&page, sink_figures[i].name, sink_figures[i].type, sink_figures[i].help);
		for (j = 0; j < of->nr; j++)
			put_sink(&page, &sink_figures[i], of->sinks[j]);
	}
	if (of->nr) {
		put_losses(&page, of);
		put_codes(&page, of);
	}
	pthread_mutex_unlock(&figures->shown);
	put_process(&page, figures);
	if (form->openmetrics)
		fputs("# EOF\n", out);
}
