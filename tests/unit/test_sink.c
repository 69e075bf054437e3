// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a sink does on a backend's answers: each tick is delivered, waits, or is counted as lost. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/pending.h"
#include "base/util.h"
#include "profile/profile_io.h"
#include "sample.h"
#include "test_sink_fixture.h"

static const uint64_t total = 1060;

Test(sink, delivers)
{
	const char *const answers[] = { OK, NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 3);

	cr_assert_eq(counts.ticks, 3 * total);
	cr_assert_eq(backend.ticks, (int64_t)(3 * total));
	cr_assert_eq(counts.lost, 0);
	cr_assert_eq(counts.retries, 0);
	cr_assert_gt(counts.last_success, 0);
	cr_assert_not_null(strstr(backend.head, "POST /v1development/profiles HTTP"));
	cr_assert_not_null(strstr(backend.head, "Content-Type: application/x-protobuf"));
	cr_assert_not_null(strstr(backend.head, "Content-Encoding: gzip"));
}

/* What is shown is what the next agent goes on with, and no more, so that no counter steps back with it. */
Test(sink, shows_what_is_noted)
{
	const char *const answers[] = { OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_counts noted, shown;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 1 << 20, NULL);
	sink_put(sink, profile);
	cr_assert_eq(sink_settle(sink).ticks, total);
	sink_shown(sink, &shown);
	cr_expect_eq(shown.ticks, total);
	sink_publish(sink, &noted);
	cr_expect_eq(noted.ticks, total);
	sink_put(sink, profile);
	cr_assert_eq(sink_settle(sink).ticks, 2 * total);
	sink_shown(sink, &shown);
	cr_expect_eq(memcmp(&shown, &noted, sizeof(shown)), 0);
	sink_publish(sink, &noted);
	sink_shown(sink, &shown);
	cr_expect_eq(shown.ticks, 2 * total);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* An answer that means later is tried again as often as it takes, and so is a lost connection. */
Test(sink, retries)
{
	const char *const answers[] = { SAY("503 Service Unavailable"),
					SAY("429 Too Many Requests"),
					"",
					SAY("502 Bad Gateway"),
					SAY("504 Gateway Timeout"),
					"slow",
					"HTTP/9 what\r\n\r\n",
					OK,
					NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 1);

	cr_assert_eq(counts.ticks, total);
	cr_assert_eq(backend.ticks, (int64_t)total);
	cr_assert_eq(counts.retries, 7);
	cr_assert_eq(counts.requests, 8);
	cr_assert_eq(counts.lost, 0);
}

Test(sink, waits_as_long_as_it_is_asked)
{
	const char *const answers[] = {
		"HTTP/1.1 503 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
		"Connection: close\r\n\r\n",
		OK, NULL
	};
	struct timespec before, after;
	struct backend backend;
	struct sink_counts counts;

	clock_gettime(CLOCK_MONOTONIC, &before);
	counts = sink_deliver(answers, &backend, 1);
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_eq(counts.ticks, total);
	cr_assert_geq((after.tv_sec - before.tv_sec) * 1000 +
			      (after.tv_nsec - before.tv_nsec) / 1000000,
		      1000);
}

Test(sink, waits_until_the_date_that_it_is_told)
{
	time_t date = time(NULL) + 2;
	const char *answers[] = { NULL, OK, NULL };
	struct backend backend;
	struct sink_counts counts;
	struct tm parts;
	char text[64], answer[256];

	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&date, &parts));
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 429 Later\r\nRetry-After: %s\r\nContent-Length: 0\r\n"
		 "Connection: close\r\n\r\n",
		 text);
	answers[0] = answer;
	counts = sink_deliver(answers, &backend, 1);
	cr_assert_eq(counts.ticks, total);
	cr_assert_eq(counts.retries, 1);
	cr_assert_geq(time(NULL), date);
}

/* An answer that means never is not tried again, and later profiles are delivered. */
Test(sink, gives_up_what_is_refused)
{
	static const char *const refusals[] = {
		SAY("400 Bad Request"),
		SAY("405 Method Not Allowed"),
		SAY("500 Internal Server Error"),
		"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n"
		"Connection: close\r\n\r\n",
	};
	struct sink_counts counts;
	struct backend backend;
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *const answers[] = { refusals[i], OK, NULL };

		counts = sink_deliver(answers, &backend, 2);
		cr_assert_eq(counts.ticks, total, "%s", refusals[i]);
		cr_assert_eq(counts.lost, total);
		cr_assert_eq(counts.requests, 2);
		cr_assert_eq(counts.retries, 0);
	}
}

/* Whether a backend would ever take what it is asked, which is not so of one that is merely away. */
Test(sink, refuses_for_good)
{
	static const struct {
		const char *answer;
		bool refusing;
	} all[] = { { SAY("200 OK"), false },	 { SAY("400 Bad Request"), true },
		    { SAY("301 Moved"), true },	 { SAY("413 Too Large"), true },
		    { SAY("500 Error"), false }, { SAY("501 Not Implemented"), false } };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *const answers[] = { all[i].answer, NULL };
		struct backend backend;
		struct sink_counts counts = sink_deliver(answers, &backend, 1);

		cr_expect_eq(counts.refusing, all[i].refusing, "%s", all[i].answer);
		cr_expect_eq(counts.last_success != 0, !i, "%s", all[i].answer);
		cr_expect_eq(counts.failing, i != 0, "%s", all[i].answer);
	}
}

/* As when a Collector restarts: it took things before and does so again. */
Test(sink, refuses_until_it_takes_one)
{
	const char *const answers[] = {
		OK, SAY("503 Later"), OK, SAY("400 No"), SAY("400 No"), SAY("503 Later"), OK, NULL
	};
	cleanup_profile struct profile *profile = sample_profile();
	struct backend backend;
	struct sink_counts counts;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	sink_put(sink, profile);
	sink_settle(sink);
	sink_put(sink, profile);
	counts = sink_settle(sink);
	cr_expect_not(counts.refusing);
	sink_put(sink, profile);
	cr_expect(sink_settle(sink).refusing);
	sink_put(sink, profile);
	cr_expect(sink_settle(sink).refusing);
	sink_put(sink, profile);
	cr_expect_not(sink_settle(sink).refusing);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* The other side mends these, so that profiles wait as in an outage, whatever is tried how often. */
Test(sink, holds_what_is_denied)
{
	static const char *const denials[] = { SAY("401 Unauthorized"), SAY("403 Forbidden"),
					       SAY("404 Not Found") };
	struct sink_counts counts;
	struct backend backend;
	size_t i;

	for (i = 0; i < sizeof(denials) / sizeof(denials[0]); i++) {
		const char *const answers[] = { denials[i], denials[i], SAY("503 Later"),
						denials[i], OK,		NULL };

		counts = sink_deliver(answers, &backend, 3);
		cr_expect_eq(counts.ticks, 3 * total, "%s", denials[i]);
		cr_expect_eq(backend.ticks, (int64_t)(3 * total));
		cr_expect_eq(counts.lost, 0, "%s", denials[i]);
		cr_expect_eq(counts.retries, 4);
		cr_expect_not(counts.refusing || counts.failing);
		cr_expect_str_empty(counts.why);
	}
}

/* Each step is twice the one before, to a limit that is not an outage's. */
Test(sink, asks_seldom_while_it_is_denied)
{
	const char *const answers[] = { SAY("401 No"), SAY("401 No"), SAY("401 No"),
					SAY("401 No"), SAY("401 No"), OK,
					NULL };
	uint64_t before = monotonic_ns();
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 1);

	cr_assert_eq(counts.retries, 5);
	cr_assert_geq(monotonic_ns() - before, (10 + 20 + 40 + 80 + 160) * MS);
}

/* The backlog has a limit, says why it waits, and is sent at once when the token's file is another one. */
Test(sink, a_new_token_ends_a_denial)
{
	const char *const answers[] = { SAY("401 expired"), OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	char path[] = "/tmp/bpfprofil-token-XXXXXX";
	int fd = mkstemp(path);
	/* A minute: nothing but the token ends it in time. */
	struct sink_options options = { .kind = SINK_OTLP,
					.http = { .token_file = path, .timeout_ms = 4000 },
					.cap = 2000,
					.retry_ns = 60000 * MS,
					.retry_most_ns = 60000 * MS,
					.retry_denied_ns = 60000 * MS };
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;
	size_t nr;

	cr_assert_eq(write(fd, "old\n", 4), 4);
	sink_backend_start(&backend, answers);
	options.where = backend.url;
	sink = sink_open_as(&options, NULL);
	for (nr = 0; nr < 20; nr++)
		sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (!counts.refusing);
	cr_expect_str_eq(counts.why, "HTTP 401");
	/* What was under way is put back once, and the next profile makes room for it. */
	do {
		sink_put(sink, profile);
		sink_count(sink, &counts);
	} while (++nr < 22 && counts.pending_bytes > options.cap);
	cr_expect_eq(counts.pending_ticks, nr * total);
	cr_expect_leq(counts.pending_bytes, options.cap);
	cr_expect_gt(counts.merged, 0);
	cr_assert_eq(pwrite(fd, "new token\n", 10, 0), 10);
	counts = sink_settle(sink);
	cr_expect_eq(counts.ticks, nr * total);
	cr_expect_eq(counts.lost, 0);
	cr_expect_not_null(strstr(backend.head, "Authorization: Bearer new token\r\n"));
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	unlink(path);
	close(fd);
}

/* Options that were read again may be what was missing, as a password in the URL. */
Test(sink, new_options_end_a_denial)
{
	const char *const answers[] = { SAY("403 No"), OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_options options = { .kind = SINK_OTLP,
					.http.timeout_ms = 4000,
					.cap = 8 << 20,
					.retry_ns = 60000 * MS,
					.retry_most_ns = 60000 * MS,
					.retry_denied_ns = 60000 * MS };
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	options.where = backend.url;
	sink = sink_open_as(&options, NULL);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (!counts.refusing);
	sink = sink_open_as(&options, sink);
	counts = sink_settle(sink);
	cr_expect_eq(counts.ticks, total);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* A part was accepted: it is not sent again, and is reported as lost. */
Test(sink, partial_success)
{
	/* partial_success { rejected_profiles: 2 error_message: "no" } */
	static const char *const answers[] = { "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n"
					       "Connection: close\r\n\r\n"
					       "\x0a\x06\x08\x02\x12\x02no",
					       NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 1);

	cr_assert_eq(counts.requests, 1);
	cr_assert_eq(counts.rejected, 2);
}

Test(sink, garbage_is_an_answer)
{
	static const char *const answers[] = { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
					       "Connection: close\r\n\r\n\xff\xff\xff\xff\xff",
					       NULL };
	struct backend backend;
	struct sink_counts counts = sink_deliver(answers, &backend, 2);

	cr_assert_eq(counts.ticks, 2 * total);
}

/* Without a backend it starts all the same, and what is not delivered at the end is known. */
Test(sink, nobody_there)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct sink *sink = sink_open_to("http://127.0.0.1:1", 8 << 20, NULL);
	struct sink_counts counts;

	sink_put(sink, profile);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (counts.retries < 3);
	cr_assert_eq(counts.pending_ticks, 2 * total);
	cr_assert_eq(counts.ticks + counts.lost, 0);
	sink_close(sink, 0);
}

/* A new sink for the same place continues where the old one was. */
Test(sink, takes_over)
{
	const char *const answers[] = { SAY("503 Later"), NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_counts counts, former;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	sink_put(sink, profile);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &former);
	} while (!former.retries);
	sink = sink_open_after(sink, backend.url, 8 << 20, NULL);
	do {
		sink_count(sink, &counts);
		cr_assert_geq(counts.requests, former.requests);
		cr_assert_eq(counts.pending_ticks, 2 * total);
		former = counts;
		usleep(1000);
	} while (counts.retries < 10);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* While the former sink waits for an answer, the new one takes profiles, and counts what both have. */
Test(sink, takes_over_from_one_that_hangs)
{
	const char *const answers[] = { "slow", OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	sink_put(sink, profile);
	sink_backend_wait(&backend);
	sink = sink_open_after(sink, backend.url, 8 << 20, NULL);
	sink_put(sink, profile);
	sink_count(sink, &counts);
	cr_assert_eq(counts.pending_ticks + counts.ticks, 2 * total);
	counts = sink_settle(sink);
	cr_assert_eq(counts.retries, 1);
	cr_assert_eq(counts.ticks, 2 * total);
	cr_assert_eq(backend.ticks, (int64_t)(2 * total));
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* Tenants of one backend differ in the user alone, or in the query, and must not get each other's. */
Test(sink, is_told_from_others)
{
	static const char *const urls[] = {
		"http://one:x@127.0.0.1:1/path", "http://two:x@127.0.0.1:1/path",
		"http://127.0.0.1:1/path?as=1",	 "http://127.0.0.1:1/path?as=2",
		"http://127.0.0.1:1/path",	 "http://one:y@127.0.0.1:1/path",
	};
	struct sink *sinks[6];
	size_t i, j;

	for (i = 0; i < 6; i++)
		sinks[i] = sink_open_to(urls[i], 8 << 20, NULL);
	/* A password may be a new one. */
	for (i = 0; i < 6; i++)
		for (j = 0; j < i; j++)
			cr_assert_eq(sink_is_same(sinks[i], sinks[j]), i == 5 && !j, "%s %s",
				     urls[i], urls[j]);
	for (i = 0; i < 6; i++)
		sink_close(sinks[i], 0);
}

/* One that hangs must not use up the time in which others would still be delivered. */
Test(sink, ends_beside_one_that_hangs)
{
	const char *const hangs[] = { "slow", NULL };
	const char *const later[] = {
		"HTTP/1.1 503 Later\r\nRetry-After: 60\r\nContent-Length: 0\r\n"
		"Connection: close\r\n\r\n",
		OK, NULL
	};
	cleanup_profile struct profile *profile = sample_profile();
	struct backend backends[2];
	struct sink *sinks[2];
	struct sink_counts counts;
	size_t i;

	sink_backend_start(&backends[0], hangs);
	sink_backend_start(&backends[1], later);
	for (i = 0; i < 2; i++) {
		sinks[i] = sink_open_to(backends[i].url, 8 << 20, NULL);
		sink_put(sinks[i], profile);
	}
	do {
		usleep(5000);
		sink_count(sinks[1], &counts);
	} while (!counts.retries);
	for (i = 0; i < 2; i++)
		sink_begin_closing(sinks[i], 10000 * MS);
	counts = sink_settle(sinks[1]);
	cr_assert_eq(counts.ticks, total);
	for (i = 0; i < 2; i++) {
		sink_close(sinks[i], 0);
		sink_backend_stop(&backends[i]);
	}
}

static const struct sink_options pyroscope_options = { .kind = SINK_PYROSCOPE,
						       .http.timeout_ms = SINK_TIMEOUT_MS,
						       .detail = EXPORT_FUNCTION,
						       .cap = 8 << 20,
						       .retry_ns = MS,
						       .retry_most_ns = MS };

/* Pyroscope takes each series by itself, so a request must have no second one. */
Test(sink, pyroscope_gets_one_service_at_a_time)
{
	const char *const answers[] = { SAY("204 No Content"), SAY("429 Too Many Requests"),
					SAY("204 No Content"), NULL };
	cleanup_profile struct profile *profile = sample_profile_of_services(3, 2);
	struct sink_options options = pyroscope_options;
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	options.where = backend.url;
	sink = sink_open_as(&options, NULL);
	sink_put(sink, profile);
	counts = sink_settle(sink);
	cr_assert_eq(counts.ticks, profile->ticks.total);
	cr_assert_eq(counts.retries, 1);
	/* Each of its services once, what is in none of them, and one of these again. */
	cr_assert_eq(counts.requests, 3 + 1 + 1);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

/* Waits are no ticks: a message says so when a request with them is refused. */
Test(sink, waits_are_refused)
{
	const char *const answers[] = { SAY("400 Bad Request"), NULL };
	struct sink_options options = pyroscope_options;
	struct profile *profile = NULL;
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;
	char text[4096];
	size_t size;

	cr_assert_eq(profile_load("tests/golden/waits.json", &profile, NULL), 0);
	cr_redirect_stderr();
	sink_backend_start(&backend, answers);
	options.where = backend.url;
	sink = sink_open_as(&options, NULL);
	sink_put(sink, profile);
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	fflush(stderr);
	size = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[size] = '\0';
	cr_expect_eq(counts.lost, profile->ticks.total);
	cr_expect_not_null(strstr(text, "; 930 ticks are not delivered"), "%s", text);
	cr_expect_not_null(strstr(text, "; waits are not delivered"), "%s", text);
	cr_expect_null(strstr(text, " 0 ticks"), "%s", text);
	profile_free(profile);
}

Test(sink, bad_places)
{
	static const struct {
		enum sink_kind kind;
		const char *where;
	} bad[] = { { SINK_OTLP, "localhost:4318" },   { SINK_OTLP, "ftp://me:secret@localhost" },
		    { SINK_OTLP, "http://" },	       { SINK_PARCA, "grpc://me:secret@localhost" },
		    { SINK_PYROSCOPE, "file:///etc" }, { SINK_DIR, "/nonexistent/folder" },
		    { SINK_OTLP, "http://a b/" } };
	struct error err;
	struct sink *sink;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct sink_options options = { .kind = bad[i].kind,
						      .where = bad[i].where,
						      .spool = "/tmp" };

		err.text[0] = '\0';
		cr_assert_lt(sink_open(&options, &sink, &err), 0, "%s", bad[i].where);
		cr_assert_gt(strlen(err.text), 0);
		cr_assert_null(strstr(err.text, "secret"), "%s", err.text);
		sink_close(sink, 0);
	}
}

/* No message may show the password. */
Test(sink, names_have_no_password)
{
	struct sink *sink =
		sink_open_to("https://user:secret@127.0.0.1:1/path?token=secret", 8 << 20, NULL);

	cr_assert_str_eq(sink_name(sink), "otlp https://127.0.0.1:1/path");
	sink_close(sink, 0);
}

/* Whoever writes a new token has emptied the file first: nothing is sent until there is one. */
Test(sink, token_that_is_being_written)
{
	const char *const answers[] = { OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	char path[] = "/tmp/bpfprofil-token-XXXXXX";
	int fd = mkstemp(path);
	struct sink_options options = { .kind = SINK_OTLP,
					.http = { .token_file = path, .timeout_ms = 4000 },
					.cap = 8 << 20,
					.retry_ns = MS,
					.retry_most_ns = MS };
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	options.where = backend.url;
	sink = sink_open_as(&options, NULL);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (counts.retries < 2 && counts.pending);
	cr_assert_eq(counts.pending, 1);
	cr_assert_eq(write(fd, " \n# new\n", 8), 8);
	usleep(20000);
	cr_assert_eq(backend.requests, 0);
	cr_assert_eq(write(fd, "abc\n", 4), 4);
	counts = sink_settle(sink);
	cr_assert_eq(counts.ticks, total);
	cr_assert_not_null(strstr(backend.head, "Authorization: Bearer abc\r\n"));
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	unlink(path);
	close(fd);
}

/* What waits cannot be read without a descriptor; that is no refusal of the backend's. */
Test(sink, short_of_descriptors)
{
	const char *const answers[] = { OK, NULL };
	cleanup_profile struct profile *profile = sample_profile();
	struct rlimit limit, none = { 0 };
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	sink_put(sink, profile);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (counts.retries < 2 && counts.pending);
	cr_expect_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	counts = sink_settle(sink);
	cr_expect_eq(counts.ticks, total);
	cr_expect_eq(counts.lost, 0);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
}

static void set_started(struct profile *profile, const char *started)
{
	free(profile->started);
	profile->started = strdup(started);
}

/* Files sort as their times do, those of the same millisecond as they came, and they add up. */
Test(sink, folder)
{
	static const char *const times[][2] = {
		{ "2026-11-26T12:00:01Z", "bpfprofil-2026-11-26T12:00:01.000Z.json.gz" },
		{ "2026-11-26T12:00:01.04Z", "bpfprofil-2026-11-26T12:00:01.040Z.json.gz" },
		{ "2026-11-26T12:00:01.123Z", "bpfprofil-2026-11-26T12:00:01.123Z.json.gz" },
		{ "2026-11-26T12:00:01.123Z", "bpfprofil-2026-11-26T12:00:01.123Z_1.json.gz" },
		{ "2026-11-26T12:00:01.1239Z", "bpfprofil-2026-11-26T12:00:01.123Z_2.json.gz" },
	};
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", path[512];
	struct sink_options options = { .kind = SINK_DIR,
					.cap = 8 << 20,
					.retry_ns = MS,
					.retry_most_ns = MS };
	struct profile *profile = sample_profile(), *read;
	const size_t nr = sizeof(times) / sizeof(times[0]);
	struct error err = { 0 };
	struct sink_counts counts;
	struct sink *sink;
	struct stat file;
	uint64_t sum = 0, bytes = 0;
	size_t i;

	options.where = mkdtemp(folder);
	sink = sink_open_as(&options, NULL);
	for (i = 0; i < nr; i++) {
		set_started(profile, times[i][0]);
		sink_put(sink, profile);
	}
	counts = sink_settle(sink);
	sink_close(sink, 0);
	for (i = 0; i < nr; i++) {
		cr_assert(!i || strcmp(times[i - 1][1], times[i][1]) < 0);
		snprintf(path, sizeof(path), "%s/%s", folder, times[i][1]);
		cr_assert_eq(profile_load(path, &read, &err), 0, "%s", err.text);
		cr_assert_str_eq(read->started, times[i][0]);
		sum += read->ticks.total;
		cr_assert_eq(stat(path, &file), 0);
		bytes += (uint64_t)file.st_size;
		profile_free(read);
		unlink(path);
	}
	cr_assert_eq(rmdir(folder), 0);
	cr_assert_eq(sum, nr * total);
	cr_assert_eq(counts.bytes, bytes);
	profile_free(profile);
}

/* However many profiles of one millisecond there are, none replaces another. */
Test(sink, folder_with_many_of_a_millisecond)
{
	enum { BEFORE = 150 };
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", paths[BEFORE + 1][512];
	struct sink_options options = { .kind = SINK_DIR, .cap = 8 << 20 };
	struct profile *profile = sample_profile();
	struct sink *sink;
	struct stat file;
	int i;

	options.where = mkdtemp(folder);
	for (i = 0; i <= BEFORE; i++) {
		snprintf(paths[i], sizeof(paths[i]),
			 "%s/bpfprofil-2026-11-26T12:00:01.123Z%s%.0d.json.gz", folder,
			 i ? "_" : "", i);
		if (i < BEFORE)
			fclose(fopen(paths[i], "wx"));
	}
	set_started(profile, "2026-11-26T12:00:01.123Z");
	sink = sink_open_as(&options, NULL);
	sink_put(sink, profile);
	sink_settle(sink);
	sink_close(sink, 0);
	profile_free(profile);
	for (i = 0; i <= BEFORE; i++) {
		cr_assert_eq(stat(paths[i], &file), 0);
		cr_assert_eq(file.st_size > 0, i == BEFORE, "%s", paths[i]);
		unlink(paths[i]);
	}
	rmdir(folder);
}

/* A profile a minute for a backend that is away all the time: what waits, and then arrives. */
static void be_away(size_t minutes, const char *how)
{
	const char *answers[32];
	struct profile *profile = sample_profile_of_bins(500);
	const uint64_t ticks = profile->ticks.total;
	const size_t heap = mallinfo2().uordblks;
	struct sink_counts counts;
	struct backend backend;
	struct sink *sink;
	size_t i;

	for (i = 0; i < 30; i++)
		answers[i] = how;
	answers[30] = OK;
	answers[31] = NULL;
	profile->duration_ns = 60000000000;
	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 16 << 10, NULL);
	for (i = 0; i < minutes; i++) {
		sink_put(sink, profile);
		sink_count(sink, &counts);
		cr_assert_eq(counts.pending_ticks + counts.ticks, (i + 1) * ticks);
		/* The cap, and what is being sent. */
		cr_assert_leq(counts.pending_bytes, 24 << 10);
		/* What libraries never free, and one profile that is being handled. */
		cr_assert_leq(mallinfo2().uordblks, heap + (4 << 20));
	}
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(&backend);
	profile_free(profile);
	cr_assert_eq(counts.ticks, minutes * ticks);
	cr_assert_eq(backend.ticks, (int64_t)(minutes * ticks));
	cr_assert_eq(counts.lost, 0);
	cr_assert_gt(counts.retries, 0);
}

Test(sink, ten_minutes_away)
{
	be_away(10, "");
}

Test(sink, an_hour_away)
{
	be_away(60, "");
}

Test(sink, a_day_full)
{
	be_away(1440, SAY("503 Service Unavailable"));
}

/*
 * However long the backend is away, no tick is lost, and memory stays below the cap and one part.
 */
Test(sink, pending_is_bounded)
{
	struct pending pending = { .cap = 8 << 10 };
	struct profile *profile = sample_profile_of_bins(500), *read;
	uint64_t ticks = profile->ticks.total, sum = 0;
	struct pending_part part;
	struct error err = { 0 };
	size_t i;

	profile->duration_ns = 60000000000;
	for (i = 0; i < 200; i++) {
		cr_assert_eq(pending_add(&pending, profile, &err), 0, "%s", err.text);
		cr_assert_leq(pending.bytes, pending.cap);
		cr_assert_eq(pending.ticks, (i + 1) * ticks);
	}
	cr_assert_gt(pending.merged, 100);
	cr_assert_eq(pending.lost, 0);
	/* The newest are still separate. */
	cr_assert_gt(pending.nr, 1);
	cr_assert_eq(pending.parts[pending.nr - 1].entry.ticks, ticks);
	while (pending.nr) {
		part = pending_pop(&pending);
		cr_assert_eq(pending_read(&pending, &part, &read, &err), 0, "%s", err.text);
		cr_assert_eq(read->ticks.total, part.entry.ticks);
		sum += read->ticks.total;
		profile_free(read);
		bytes_free(&part.bytes);
	}
	cr_assert_eq(sum, 200 * ticks);
	pending_free(&pending);
	profile_free(profile);
}

/* Ticks of another mode cannot be added up: at the cap the oldest are lost, and counted. */
Test(sink, pending_of_two_modes)
{
	struct pending pending = { .cap = 3 << 10 };
	cleanup_profile struct profile *profile = sample_profile_of_bins(500);
	struct error err = { 0 };
	size_t i;

	for (i = 0; i < 10; i++) {
		free(profile->sampling.mode);
		profile->sampling.mode = strdup(i % 2 ? "user" : "charged");
		pending_add(&pending, profile, &err);
		cr_assert_leq(pending.bytes, pending.cap);
		cr_assert_eq(pending.ticks + pending.lost, (i + 1) * profile->ticks.total);
	}
	cr_assert_gt(pending.lost, 0);
	pending_free(&pending);
}
