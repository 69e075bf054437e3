// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a backend refuses for its size arrives in parts, each tick once. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/figures.h"
#include "base/util.h"
#include "sample.h"
#include "test_sink_fixture.h"

static const uint64_t total = 1060;

/* What is too much at once goes in parts: of the sample first one service, and then the other. */
static void divide(const char *how)
{
	const char *const answers[] = { how, OK, NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 1);

	cr_assert_eq(counts.ticks, total, "%s", how);
	cr_assert_eq(backend.ticks, (int64_t)total);
	cr_assert_eq(backend.requests, 3);
	cr_assert_eq(counts.requests, 3);
	cr_assert_eq(counts.profiles, 1);
	cr_assert_eq(counts.retries + counts.lost, 0);
}

/* An answer with this status and these words, which the caller frees. */
static char *answer_of(const char *status, const char *words)
{
	char *answer;

	cr_assert_geq(asprintf(&answer,
			       "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
			       status, strlen(words), words),
		      0);
	return answer;
}

Test(sink_parts, divides_what_is_too_much)
{
	static const char *const refusals[][2] = {
		{ "413 Too Large", "" },
		{ "400 Bad Request", "http: request body too large" },
		{ "400 Bad Request",
		  "{\"code\":\"invalid_argument\",\n\"message\":\"push series with index 0 and id  "
		  "failed: the profile with labels '{__name__=\\\"process_cpu\\\", container_id=\\\""
		  "0123456789012345678901234567890123456789012345678901234567890123\\\", "
		  "service_name=\\\"shop\\\"}' exceeds the samples count limit "
		  "(max_profile_stacktrace_samples, actual: 9, limit: 1)\"}" },
		{ "400 Bad Request", "the profile with labels '{}' exceeds the size limit "
				     "(max_profile_size_byte, actual: 9, limit: 1)" },
		{ "400 Bad Request", "uncompressed profile payload size exceeds limit of 4.2 MB" },
		{ "400 Bad Request",
		  "uncompressed batched profile payload size exceeds limit of 4.2 MB" },
		{ "429 Too Many Requests", "{\"code\":\"resource_exhausted\",\"message\":\"message "
					   "size 9 is larger than configured max 1\"}" },
		{ "429 Too Many Requests",
		  "{\"code\":8,\"message\":\"grpc: received message larger than max (9 vs. 1)\"}" },
	};
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		cleanup_free char *answer = answer_of(refusals[i][0], refusals[i][1]);

		divide(answer);
	}
}

Test(sink_parts, a_collector_without_profiles)
{
	cr_expect_not_null(
		strstr(sink_advice(SINK_OTLP, "HTTP 404: Not Found"), "profilesSupport"));
	cr_expect_not_null(strstr(sink_advice(SINK_OTLP, "gRPC status 12: unknown service"),
				  "pipeline of profiles"));
	cr_expect_null(sink_advice(SINK_OTLP, "HTTP 401"));
	cr_expect_null(sink_advice(SINK_PYROSCOPE, "HTTP 404: Not Found"));
}

/* A limit of a rate or of memory is over later, whatever sizes its words have. */
Test(sink_parts, what_is_too_much_now)
{
	static const char *const words[] = {
		"{\"code\":\"resource_exhausted\",\"message\":\"push series with index 0 and id  failed: "
		"push rate limit (4.0 MiB) exceeded while adding 5.0 MiB\"}",
		"limit of 1.0 GiB/hour reached, next reset at 2026-11-23T10:00:00Z",
		"ingestion rate limit (4 MB) exceeded",
		"rate of 9 MB/s exceeds limit of 4 MB/s",
		"[parent] Data too large, data for [<http_request>] would be [9/9b], which is larger "
		"than the limit of [1/1b]",
	};
	struct sink_counts counts;
	struct backend backend;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		cleanup_free char *later = answer_of("429 Too Many Requests", words[i]);
		const char *const answers[] = { later, later, OK, NULL };

		counts = sink_deliver(answers, &backend, 1);
		cr_assert_eq(counts.retries, 2, "%s", words[i]);
		cr_assert_eq(backend.requests, 3);
		cr_assert_eq(counts.ticks, total);
	}
}

/* Where the backend is away between two parts, what it has had is not sent again. */
Test(sink_parts, parts_and_retries)
{
	const char *const answers[] = { OK,  OK, OK, OK, OK, SAY("503 Later"), OK,
					OK,  "", OK, OK, OK, SAY("429 Later"), OK,
					NULL };
	cleanup_profile struct profile *profile = sample_profile_of_services(12, 2000);
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	backend.limit = 5000;
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	sink_put(sink, profile);
	sink_put(sink, profile);
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	cr_assert_eq(counts.ticks, 2 * profile->ticks.total);
	cr_assert_eq(backend.ticks, (int64_t)(2 * profile->ticks.total));
	cr_assert_eq(counts.profiles, 2);
	cr_assert_eq(counts.retries, 3);
	cr_assert_eq(counts.codes[code_index(413, false, 0)], backend.refused);
	cr_assert_eq(counts.lost, 0);
}

/* The next agent goes on where the last one was, because the spool knows what was delivered. */
Test(sink_parts, parts_and_the_next_agent)
{
	const char *const answers[] = { OK,  OK, OK, OK, OK, OK, OK, OK, OK, OK, SAY("503 Later"),
					NULL };
	const char *const others[] = { OK, NULL };
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", command[64];
	const char *spool = mkdtemp(folder);
	cleanup_profile struct profile *profile = sample_profile_of_services(12, 2000);
	struct sink_counts counts;
	struct backend backend, other;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	backend.limit = 5000;
	sink = sink_open_to(backend.url, 8 << 20, spool);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (counts.retries < 2);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	cr_assert_gt(backend.ticks, 0);
	cr_assert_lt(backend.ticks, (int64_t)profile->ticks.total);
	sink_backend_start_at(&other, others, backend.port);
	sink = sink_open_to(other.url, 8 << 20, spool);
	sink_count(sink, &counts);
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(&other);
	cr_assert_eq(counts.ticks + (uint64_t)backend.ticks, profile->ticks.total);
	cr_assert_eq(other.ticks + backend.ticks, (int64_t)profile->ticks.total);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

/* What a backend is about to answer when the agent ends is not sent again by the next one. */
Test(sink_parts, answer_at_the_end)
{
	const char *const answers[] = { LATE, NULL };
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", command[64];
	const char *spool = mkdtemp(folder);
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, spool);
	sink_put(sink, profile);
	sink_backend_wait(&backend);
	sink_close(sink, 5000 * MS);
	sink = sink_open_to(backend.url, 8 << 20, spool);
	sink_count(sink, &counts);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	cr_assert_eq(counts.pending, 0);
	cr_assert_eq(backend.requests, 1);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

/* Of a file that somebody else has renamed no account could be kept, and a hostile one must not crash it. */
Test(sink_parts, file_with_other_ticks)
{
	const char *const answers[] = { SAY("503 Later"), NULL };
	const char *const others[] = { OK, NULL };
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", command[256];
	const char *spool = mkdtemp(folder);
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_counts counts;
	struct backend backend, other;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, spool);
	sink_put(sink, profile);
	/* A request that is cut off when it closes would be none to the backend. */
	do
		sink_count(sink, &counts);
	while (!counts.failing);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	snprintf(command, sizeof(command),
		 "cd %s/* && for f in *-1060-*; do mv $f ${f%%%%-1060-*}-7-${f##*-1060-}; done",
		 folder);
	cr_assert_eq(system(command), 0);
	sink_backend_start_at(&other, others, backend.port);
	sink = sink_open_to(other.url, 8 << 20, spool);
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(&other);
	cr_assert_eq(other.ticks, 0);
	cr_assert_eq(counts.losses[LOST_REFUSED], 7);
	snprintf(command, sizeof(command), "rm %s/*/sink && rmdir %s/* %s", folder, folder, folder);
	cr_assert_eq(system(command), 0, "the file is gone");
}

/* Two profiles in the spool, of which the first is damaged, as a disk may give it back. */
static void spoil(const char *folder, const char *url, const struct profile *profile)
{
	struct sink *sink = sink_open_to(url, 8 << 20, folder);
	char command[256];

	sink_put(sink, profile);
	sink_put(sink, profile);
	sink_close(sink, 0);
	snprintf(command, sizeof(command),
		 "cd %s/* && f=$(ls | head -n 1) && "
		 "printf damage | dd of=$f bs=1 seek=100 conv=notrunc status=none",
		 folder);
	cr_assert_eq(system(command), 0);
}

/* It goes behind the other, and is tried again until its time is over; then it is kept aside, and counted. */
Test(sink_parts, file_that_cannot_be_read)
{
	static const uint64_t patience[] = { 3600000 * MS, 100 * MS };
	const char *const answers[] = { SAY("503 Later"), NULL }, *const others[] = { OK, NULL };
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", command[256];
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_options options = { .kind = SINK_OTLP,
					.http.timeout_ms = SINK_TIMEOUT_MS,
					.detail = EXPORT_ADDRESS,
					.cap = 8 << 20,
					.spool = mkdtemp(folder),
					.spool_cap = 8 << 20,
					.retry_ns = MS,
					.retry_most_ns = 2 * MS };
	struct sink_counts counts;
	struct backend backend, other;
	struct sink *sink;
	size_t i;

	sink_backend_start(&backend, answers);
	spoil(folder, backend.url, profile);
	sink_backend_stop(&backend);
	sink_backend_start_at(&other, others, backend.port);
	options.where = other.url;
	for (i = 0; i < 2; i++) {
		options.unreadable_ns = patience[i];
		sink = sink_open_as(&options, NULL);
		do {
			usleep(5000);
			sink_count(sink, &counts);
		} while (counts.pending &&
			 (counts.pending > 1 - i || counts.retries < 3 || !counts.failing));
		sink_close(sink, 0);
		cr_expect_eq(counts.ticks, i ? 0 : total);
		cr_expect_eq(counts.losses[LOST_UNREADABLE], i ? total : 0);
		cr_expect_eq(counts.lost, counts.losses[LOST_UNREADABLE]);
		cr_expect(counts.failing);
	}
	sink_backend_stop(&other);
	cr_expect_eq(other.ticks, (int64_t)total);
	snprintf(command, sizeof(command), "cd %s/* && ls && grep -q damage *.bad && rm -r %s",
		 folder, folder);
	cr_expect_eq(system(command), 0, "it is not kept aside");
}

/* A backend that takes no piece however small: counted as that, and later profiles are tried too. */
Test(sink_parts, nothing_is_small_enough)
{
	const char *const answers[] = { SAY("413 Too Large"), NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 2);

	cr_assert_eq(counts.lost, 2 * total);
	cr_assert_eq(counts.losses[LOST_TOO_LARGE], 2 * total);
	cr_assert_eq(counts.codes[code_index(413, false, 0)], counts.requests);
	cr_assert_eq(counts.ticks + counts.profiles, 0);
}

Test(sink_parts, codes)
{
	static const struct {
		long http;
		bool grpc;
		long status;
		const char *word;
	} codes[] = { { 0, false, 0, "none" },	    { 0, true, 2, "none" },
		      { 200, false, 0, "200" },	    { 200, true, 0, "grpc-0" },
		      { 200, true, 14, "grpc-14" }, { 200, true, 99, "grpc-xx" },
		      { 200, true, -1, "grpc-xx" }, { 503, true, 2, "503" },
		      { 418, false, 0, "4xx" },	    { 599, false, 0, "5xx" },
		      { 777, false, 0, "other" },   { -5, false, 0, "other" } };
	size_t i;

	for (i = 0; i < CODES_NR; i++)
		cr_assert_not_null(code_label(i));
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		cr_assert_str_eq(
			code_label(code_index(codes[i].http, codes[i].grpc, codes[i].status)),
			codes[i].word);
}

static void assert_line(const char *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void assert_line(const char *page, const char *format, ...)
{
	char line[512] = "\n";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + 1, sizeof(line) - 2, format, arguments);
	va_end(arguments);
	strcat(line, "\n");
	cr_assert_not_null(strstr(page, line), "no%sin: %s", line, page);
}

/* In /metrics each answer has its code, and what is lost its cause. */
Test(sink_parts, metrics)
{
	const char *const answers[] = { SAY("413 Too Large"),
					SAY("400 Bad Request"),
					SAY("418 Teapot"),
					SAY("503 Later"),
					OK,
					NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct figures figures;
	struct figures_of_sinks of = { .nr = 1 };
	struct backend backend;
	struct sink *sink;
	cleanup_free char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	of.sinks = &sink;
	sink_put(sink, profile);
	sink_put(sink, profile);
	sink_settle(sink);
	figures_open(&figures);
	figures_write(&figures, &of, &(struct figures_form){ .functions = true }, out);
	fclose(out);
	assert_line(page, "# TYPE bpfprofil_exports_total counter");
	assert_line(page, "bpfprofil_exports_total{kind=\"otlp\",url=\"%s\",code=\"413\"} 1",
		    sink_place(sink));
	assert_line(page, "bpfprofil_exports_total{kind=\"otlp\",url=\"%s\",code=\"400\"} 1",
		    sink_place(sink));
	assert_line(page, "bpfprofil_exports_total{kind=\"otlp\",url=\"%s\",code=\"4xx\"} 1",
		    sink_place(sink));
	assert_line(page, "bpfprofil_exports_total{kind=\"otlp\",url=\"%s\",code=\"503\"} 1",
		    sink_place(sink));
	assert_line(page, "bpfprofil_exports_total{kind=\"otlp\",url=\"%s\",code=\"200\"} 1",
		    sink_place(sink));
	assert_line(page, "bpfprofil_export_requests_total{kind=\"otlp\",url=\"%s\"} 5",
		    sink_place(sink));
	/* Both services of the first profile. */
	assert_line(
		page,
		"bpfprofil_undelivered_ticks_total{kind=\"otlp\",url=\"%s\",cause=\"refused\"} %lu",
		sink_place(sink), total);
	assert_line(
		page,
		"bpfprofil_undelivered_ticks_total{kind=\"otlp\",url=\"%s\",cause=\"too large\"} 0",
		sink_place(sink));
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	figures_close(&figures);
}
