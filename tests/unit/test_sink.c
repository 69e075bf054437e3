// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a sink does on a backend's answers: each tick is delivered, waits, or is counted as lost. */
#include "agent/sink.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/pending.h"
#include "otlp.pb-c.h"
#include "profile/profile_io.h"
#include "sample.h"

#define MS UINT64_C(1000000)
#define WAIT_MS 20000

/*
 * A backend that gives its answers one after the other, one per connection; the last one is
 * repeated.
 */
struct backend {
	const char *const
		*answers; /* "" closes without an answer, "slow" never answers; ends with NULL */
	int fd;
	char url[64];
	pthread_t thread;
	unsigned int requests;
	int64_t ticks; /* in requests that were answered with 200 */
	char head[4096]; /* of the last request */
};

static size_t content_length(const char *head)
{
	const char *at = strcasestr(head, "\r\nContent-Length:");

	return at ? strtoul(at + 17, NULL, 10) : 0;
}

static int64_t ticks_of(const unsigned char *body, size_t size)
{
	static unsigned char plain[1 << 20];
	z_stream gz = { .next_in = (unsigned char *)body,
			.avail_in = (unsigned int)size,
			.next_out = plain,
			.avail_out = sizeof(plain) };
	Otlp__Request *request;
	int64_t ticks = 0;
	size_t i, j;

	cr_assert_eq(inflateInit2(&gz, MAX_WBITS + 16), Z_OK);
	cr_assert_eq(inflate(&gz, Z_FINISH), Z_STREAM_END);
	inflateEnd(&gz);
	request = otlp__request__unpack(NULL, gz.total_out, plain);
	cr_assert_not_null(request);
	for (i = 0; i < request->n_resource_profiles; i++) {
		const Otlp__Profile *counts =
			request->resource_profiles[i]->scope_profiles[0]->profiles[0];

		for (j = 0; j < counts->n_samples; j++)
			ticks += counts->samples[j]->values[0];
	}
	otlp__request__free_unpacked(request, NULL);
	return ticks;
}

/* The size of the body, whose beginning is stored in body. */
static size_t read_request(int fd, char *head, unsigned char *body, size_t room)
{
	static char buffer[1 << 20];
	size_t size = 0, wanted;
	char *end = NULL;
	ssize_t got;

	while (!end) {
		got = read(fd, buffer + size, sizeof(buffer) - 1 - size);
		cr_assert_gt(got, 0);
		size += (size_t)got;
		buffer[size] = '\0';
		end = strstr(buffer, "\r\n\r\n");
	}
	snprintf(head, 4096, "%.*s", (int)(end - buffer + 2), buffer);
	wanted = (size_t)(end + 4 - buffer) + content_length(head);
	while (size < wanted) {
		got = read(fd, buffer + size, sizeof(buffer) - size);
		cr_assert_gt(got, 0);
		size += (size_t)got;
	}
	size = content_length(head);
	cr_assert_leq(size, room);
	memcpy(body, end + 4, size);
	return size;
}

static void answer(struct backend *backend, int fd, const char *text)
{
	static unsigned char body[1 << 20];
	size_t size = read_request(fd, backend->head, body, sizeof(body));
	char byte;

	__atomic_add_fetch(&backend->requests, 1, __ATOMIC_SEQ_CST);
	if (!strncmp(text, "HTTP/1.1 200", 12))
		__atomic_add_fetch(&backend->ticks, ticks_of(body, size), __ATOMIC_SEQ_CST);
	if (!strcmp(text, "slow"))
		(void)!read(fd, &byte, 1);
	else
		(void)!write(fd, text, strlen(text));
}

static void *serve(void *context)
{
	struct backend *backend = context;
	size_t next = 0;
	int fd;

	while ((fd = accept(backend->fd, NULL, NULL)) >= 0) {
		answer(backend, fd, backend->answers[next]);
		if (backend->answers[next + 1])
			next++;
		close(fd);
	}
	return NULL;
}

static void start(struct backend *backend, const char *const *answers)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);

	*backend = (struct backend){ .answers = answers };
	backend->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(backend->fd, (struct sockaddr *)&address, length), 0);
	cr_assert_eq(listen(backend->fd, 8), 0);
	getsockname(backend->fd, (struct sockaddr *)&address, &length);
	snprintf(backend->url, sizeof(backend->url), "http://127.0.0.1:%u",
		 ntohs(address.sin_port));
	cr_assert_eq(pthread_create(&backend->thread, NULL, serve, backend), 0);
}

static void stop(struct backend *backend)
{
	shutdown(backend->fd, SHUT_RDWR);
	pthread_join(backend->thread, NULL);
	close(backend->fd);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
#define SAY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static struct sink *open_with_cap(const char *url, size_t cap)
{
	const struct sink_options options = { .kind = SINK_OTLP,
					      .where = url,
					      .http.timeout_ms = 1000,
					      .detail = EXPORT_ADDRESS,
					      .cap = cap,
					      .retry_ns = 10 * MS,
					      .retry_most_ns = 30 * MS };
	struct error err = { 0 };
	struct sink *sink;

	cr_assert_eq(sink_open(&options, &sink, &err), 0, "%s", err.text);
	return sink;
}

static struct sink *open_to(const char *url)
{
	return open_with_cap(url, 8 << 20);
}

/* Waits until nothing is pending. */
static struct sink_counts settle(struct sink *sink)
{
	struct sink_counts counts;
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms += 5) {
		sink_count(sink, &counts);
		if (!counts.pending)
			return counts;
		usleep(5000);
	}
	cr_assert_fail("%lu profiles wait", counts.pending);
	return counts;
}

static struct sink_counts deliver(const char *const *answers, struct backend *backend, size_t times)
{
	struct profile *profile = sample_profile();
	struct sink_counts counts;
	struct sink *sink;
	size_t i;

	start(backend, answers);
	sink = open_to(backend->url);
	for (i = 0; i < times; i++)
		sink_put(sink, profile);
	counts = settle(sink);
	sink_close(sink, 0);
	stop(backend);
	profile_free(profile);
	return counts;
}

static const uint64_t total = 1060;

Test(sink, delivers)
{
	const char *const answers[] = { OK, NULL };
	struct backend backend;
	struct sink_counts counts = deliver(answers, &backend, 3);

	cr_assert_eq(counts.ticks, 3 * total);
	cr_assert_eq(backend.ticks, (int64_t)(3 * total));
	cr_assert_eq(counts.lost, 0);
	cr_assert_eq(counts.retries, 0);
	cr_assert_gt(counts.last_success, 0);
	cr_assert_not_null(strstr(backend.head, "POST /v1development/profiles HTTP"));
	cr_assert_not_null(strstr(backend.head, "Content-Type: application/x-protobuf"));
	cr_assert_not_null(strstr(backend.head, "Content-Encoding: gzip"));
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
	struct sink_counts counts = deliver(answers, &backend, 1);

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
	counts = deliver(answers, &backend, 1);
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_eq(counts.ticks, total);
	cr_assert_geq((after.tv_sec - before.tv_sec) * 1000 +
			      (after.tv_nsec - before.tv_nsec) / 1000000,
		      1000);
}

/* An answer that means never is not tried again, and later profiles are delivered. */
Test(sink, gives_up_what_is_refused)
{
	static const char *const refusals[] = {
		SAY("400 Bad Request"),
		SAY("401 Unauthorized"),
		SAY("404 Not Found"),
		SAY("500 Internal Server Error"),
		"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n"
		"Connection: close\r\n\r\n",
	};
	struct sink_counts counts;
	struct backend backend;
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *const answers[] = { refusals[i], OK, NULL };

		counts = deliver(answers, &backend, 2);
		cr_assert_eq(counts.ticks, total, "%s", refusals[i]);
		cr_assert_eq(counts.lost, total);
		cr_assert_eq(counts.requests, 2);
		cr_assert_eq(counts.retries, 0);
	}
}

/* 413: the same ticks by function. */
Test(sink, coarser_where_it_is_too_much)
{
	const char *const answers[] = { SAY("413 Too Large"), OK, NULL };
	struct backend backend;
	struct sink_counts counts = deliver(answers, &backend, 1);

	cr_assert_eq(counts.ticks, total);
	cr_assert_eq(backend.ticks, (int64_t)total);
	cr_assert_eq(backend.requests, 2);
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
	struct sink_counts counts = deliver(answers, &backend, 1);

	cr_assert_eq(counts.requests, 1);
	cr_assert_eq(counts.rejected, 2);
}

Test(sink, garbage_is_an_answer)
{
	static const char *const answers[] = { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
					       "Connection: close\r\n\r\n\xff\xff\xff\xff\xff",
					       NULL };
	struct backend backend;
	struct sink_counts counts = deliver(answers, &backend, 2);

	cr_assert_eq(counts.ticks, 2 * total);
}

/* Without a backend it starts all the same, and what is not delivered at the end is known. */
Test(sink, nobody_there)
{
	struct profile *profile = sample_profile();
	struct sink *sink = open_to("http://127.0.0.1:1");
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
	profile_free(profile);
}

/* A new sink for the same place continues where the old one was. */
Test(sink, inherits)
{
	const char *const answers[] = { SAY("503 Later"), NULL };
	struct profile *profile = sample_profile();
	struct sink *before, *sink, *other = open_to("http://127.0.0.1:1");
	struct sink_counts counts;
	struct backend backend;

	start(&backend, answers);
	before = open_to(backend.url);
	sink_put(before, profile);
	sink_put(before, profile);
	sink = open_to(backend.url);
	cr_assert(!sink_inherit(other, before));
	cr_assert(sink_inherit(sink, before));
	sink_close(before, 0);
	do {
		usleep(5000);
		sink_count(sink, &counts);
	} while (counts.retries < 2);
	cr_assert_eq(counts.pending_ticks, 2 * total);
	sink_close(sink, 0);
	sink_close(other, 0);
	stop(&backend);
	profile_free(profile);
}

Test(sink, bad_places)
{
	static const struct {
		enum sink_kind kind;
		const char *where;
	} bad[] = { { SINK_OTLP, "localhost:4318" },   { SINK_OTLP, "ftp://localhost" },
		    { SINK_OTLP, "http://" },	       { SINK_PARCA, "grpc://localhost:7070" },
		    { SINK_PYROSCOPE, "file:///etc" }, { SINK_DIR, "/nonexistent/folder" },
		    { SINK_OTLP, "http://a b/" } };
	struct error err;
	struct sink *sink;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct sink_options options = { .kind = bad[i].kind, .where = bad[i].where };

		err.text[0] = '\0';
		cr_assert_lt(sink_open(&options, &sink, &err), 0, "%s", bad[i].where);
		cr_assert_gt(strlen(err.text), 0);
		sink_close(sink, 0);
	}
}

/* No message may show the password. */
Test(sink, names_have_no_password)
{
	struct sink *sink = open_to("https://user:secret@127.0.0.1:1/path?token=secret");

	cr_assert_str_eq(sink_name(sink), "otlp https://127.0.0.1:1/path");
	sink_close(sink, 0);
}

/* Files of the same second have different names, and add up. */
Test(sink, folder)
{
	char folder[] = "/tmp/bpfprofil-sink-XXXXXX", path[512];
	struct sink_options options = { .kind = SINK_DIR,
					.cap = 8 << 20,
					.retry_ns = MS,
					.retry_most_ns = MS };
	struct profile *profile = sample_profile(), *read;
	struct error err = { 0 };
	struct dirent *entry;
	struct sink *sink;
	uint64_t sum = 0;
	DIR *dir;

	options.where = mkdtemp(folder);
	cr_assert_eq(sink_open(&options, &sink, &err), 0, "%s", err.text);
	sink_put(sink, profile);
	sink_put(sink, profile);
	settle(sink);
	sink_close(sink, 0);
	dir = opendir(folder);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		cr_assert_eq(profile_load(path, &read, &err), 0, "%s", err.text);
		sum += read->ticks.total;
		profile_free(read);
		unlink(path);
	}
	closedir(dir);
	rmdir(folder);
	cr_assert_eq(sum, 2 * total);
	profile_free(profile);
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
	start(&backend, answers);
	sink = open_with_cap(backend.url, 16 << 10);
	for (i = 0; i < minutes; i++) {
		sink_put(sink, profile);
		sink_count(sink, &counts);
		cr_assert_eq(counts.pending_ticks + counts.ticks, (i + 1) * ticks);
		/* The cap, and what is being sent. */
		cr_assert_leq(counts.pending_bytes, 24 << 10);
		/* What libraries never free, and one profile that is being handled. */
		cr_assert_leq(mallinfo2().uordblks, heap + (4 << 20));
	}
	counts = settle(sink);
	sink_close(sink, 0);
	stop(&backend);
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
		part = pending_take(&pending);
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
	struct profile *profile = sample_profile_of_bins(500);
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
	profile_free(profile);
}
