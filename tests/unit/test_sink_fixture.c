// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_sink_fixture.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "otlp.pb-c.h"
#include "sample.h"

#define WAIT_MS 20000

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
	const bool late = !strcmp(text, LATE);
	char byte;

	if (late)
		text = OK;
	__atomic_add_fetch(&backend->requests, 1, __ATOMIC_SEQ_CST);
	if (backend->limit && size > backend->limit && !strcmp(text, OK)) {
		__atomic_add_fetch(&backend->refused, 1, __ATOMIC_SEQ_CST);
		text = SAY("413 Content Too Large");
	}
	if (!strncmp(text, "HTTP/1.1 200", 12))
		__atomic_add_fetch(&backend->ticks, ticks_of(body, size), __ATOMIC_SEQ_CST);
	if (late)
		usleep(1500000);
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

	/* accept() takes a descriptor before it waits, and a test may leave none for a while. */
	while ((fd = accept(backend->fd, NULL, NULL)) >= 0 || errno == EMFILE) {
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		answer(backend, fd, backend->answers[next]);
		if (backend->answers[next + 1])
			next++;
		close(fd);
	}
	return NULL;
}

void sink_backend_start_at(struct backend *backend, const char *const *answers, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	unsigned int waited = 0;
	int on = 1;

	*backend = (struct backend){ .answers = answers };
	backend->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(backend->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* A test beside this one may have got the port meanwhile, and gives it back. */
	while (bind(backend->fd, (struct sockaddr *)&address, length)) {
		cr_assert(port && errno == EADDRINUSE && waited < WAIT_MS, "port %u: %s", port,
			  strerror(errno));
		usleep(5000);
		waited += 5;
	}
	cr_assert_eq(listen(backend->fd, 8), 0);
	getsockname(backend->fd, (struct sockaddr *)&address, &length);
	backend->port = ntohs(address.sin_port);
	snprintf(backend->url, sizeof(backend->url), "http://127.0.0.1:%u",
		 ntohs(address.sin_port));
	cr_assert_eq(pthread_create(&backend->thread, NULL, serve, backend), 0);
}

void sink_backend_start(struct backend *backend, const char *const *answers)
{
	sink_backend_start_at(backend, answers, 0);
}

void sink_backend_stop(struct backend *backend)
{
	shutdown(backend->fd, SHUT_RDWR);
	pthread_join(backend->thread, NULL);
	close(backend->fd);
}

struct sink *sink_open_as(const struct sink_options *options, struct sink *before)
{
	struct error err = { 0 };
	struct sink *sink;

	cr_assert_eq(sink_open(options, &sink, &err), 0, "%s", err.text);
	if (before)
		cr_assert(sink_is_same(sink, before));
	else
		cr_assert_eq(sink_load(sink, &err), 0, "%s", err.text);
	cr_assert_eq(sink_start(sink, before, &err), 0, "%s", err.text);
	return sink;
}

struct sink *sink_open_after(struct sink *before, const char *url, size_t cap, const char *spool)
{
	const struct sink_options options = { .kind = SINK_OTLP,
					      .where = url,
					      .http.timeout_ms = SINK_TIMEOUT_MS,
					      .detail = EXPORT_ADDRESS,
					      .cap = cap,
					      .spool = spool,
					      .spool_cap = 8 << 20,
					      .retry_ns = 10 * MS,
					      .retry_most_ns = 30 * MS,
					      .retry_denied_ns = 300 * MS,
					      .unreadable_ns = 3600000 * MS };

	return sink_open_as(&options, before);
}

struct sink *sink_open_to(const char *url, size_t cap, const char *spool)
{
	return sink_open_after(NULL, url, cap, spool);
}

void sink_backend_wait(struct backend *backend)
{
	while (!__atomic_load_n(&backend->requests, __ATOMIC_SEQ_CST))
		usleep(1000);
}

struct sink_counts sink_settle(struct sink *sink)
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

struct sink_counts sink_deliver(const char *const *answers, struct backend *backend, size_t times)
{
	struct profile *profile = sample_profile();
	struct sink_counts counts;
	struct sink *sink;
	size_t i;

	sink_backend_start(backend, answers);
	sink = sink_open_to(backend->url, 8 << 20, NULL);
	for (i = 0; i < times; i++)
		sink_put(sink, profile);
	counts = sink_settle(sink);
	sink_close(sink, 0);
	sink_backend_stop(backend);
	profile_free(profile);
	return counts;
}
