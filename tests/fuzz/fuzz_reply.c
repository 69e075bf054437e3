// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as a backend's reply: each tick is delivered, waits or is counted as lost, and the
 * message about it is harmless on a terminal. If the first byte is odd it is gRPC: the bytes up to
 * a newline are the status and its message, and the rest is the contents of its frame. The next
 * three bits are how many replies more are this one.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/sink.h"
#include "bytes.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

#define GIVE_UP_MS 50 /* a backend may ask for an hour */

/* The first replies are the input, and all others are good. */
struct backend {
	int fd;
	char url[64];
	pthread_mutex_t lock;
	const uint8_t *reply;
	size_t size;
	unsigned int more;
};

static struct backend backends[2]; /* for HTTP, for gRPC */
static struct sink *sinks[2];
static struct profile *profile;

static void send_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t sent = 0;

	for (; size && sent >= 0; at += sent, size -= (size_t)sent)
		sent = send(fd, at, size, MSG_NOSIGNAL);
}

/* Sends a frame of HTTP/2 on stream 1, or on no stream. */
static void send_frame(int fd, uint8_t type, uint8_t flags, const void *data, size_t size)
{
	uint8_t head[9] = { (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size, type,
			    flags };

	head[8] = type != 4;
	send_all(fd, head, sizeof(head));
	send_all(fd, data, size);
}

/* Writes a header that is in no table: its lengths are bytes below 127. */
static size_t put_header(uint8_t *to, const char *name, const void *value, size_t size)
{
	size_t of = strlen(name);

	to[0] = 0;
	to[1] = (uint8_t)of;
	memcpy(to + 2, name, of);
	to[2 + of] = (uint8_t)size;
	memcpy(to + 3 + of, value, size);
	return 3 + of + size;
}

static void answer_grpc(int fd, const uint8_t *data, size_t size)
{
	enum { SETTINGS = 4, HEADERS = 1, DATA = 0, END_HEADERS = 4, END_STREAM = 1 };
	static const uint8_t ok[] = { 0x88 }; /* :status 200, from the static table */
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t said = end ? (size_t)(end - data) : size, rest = end ? size - said - 1 : 0;
	uint8_t trailers[512];
	size_t used;

	said = said < 120 ? said : 120;
	send_frame(fd, SETTINGS, 0, NULL, 0);
	send_frame(fd, HEADERS, END_HEADERS, ok, sizeof(ok));
	send_frame(fd, DATA, 0, end ? end + 1 : data, rest < 16000 ? rest : 16000);
	used = put_header(trailers, "grpc-status", data, said < 2 ? said : 2);
	used += put_header(trailers + used, "grpc-message", data, said);
	send_frame(fd, HEADERS, END_HEADERS | END_STREAM, trailers, used);
}

static void answer(struct backend *backend, int fd)
{
	static const char good[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	const uint8_t *reply;
	size_t size;

	pthread_mutex_lock(&backend->lock);
	reply = backend->reply;
	size = backend->size;
	if (!backend->more--)
		backend->reply = NULL;
	pthread_mutex_unlock(&backend->lock);
	if (backend == &backends[1])
		answer_grpc(fd, reply ? reply : (const uint8_t *)"0", reply ? size : 1);
	else if (reply)
		send_all(fd, reply, size);
	else
		send_all(fd, good, sizeof(good) - 1);
}

/* It answers once it has received something, and reads on until the other end closes. */
static void *serve(void *context)
{
	const struct timeval limit = { .tv_usec = 2000 };
	struct backend *backend = context;
	static __thread char heard[1 << 16];
	int fd;

	while ((fd = accept(backend->fd, NULL, NULL)) >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (recv(fd, heard, sizeof(heard), 0) > 0)
			answer(backend, fd);
		shutdown(fd, SHUT_WR);
		while (recv(fd, heard, sizeof(heard), 0) > 0)
			;
		close(fd);
	}
	return NULL;
}

static void start(struct backend *backend, const char *scheme)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	pthread_t thread;

	pthread_mutex_init(&backend->lock, NULL);
	backend->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fuzz_check(!bind(backend->fd, (struct sockaddr *)&address, length) &&
			   !listen(backend->fd, 8) &&
			   !getsockname(backend->fd, (struct sockaddr *)&address, &length) &&
			   !pthread_create(&thread, NULL, serve, backend),
		   "a backend");
	snprintf(backend->url, sizeof(backend->url), "%s://127.0.0.1:%u", scheme,
		 ntohs(address.sin_port));
}

static struct sink *open_sink(const char *url)
{
	const struct sink_options options = { .kind = SINK_OTLP,
					      .where = url,
					      .http.timeout_ms = 1000,
					      .detail = EXPORT_FUNCTION,
					      .cap = 1 << 20,
					      .retry_ns = 1,
					      .retry_most_ns = 1,
					      .retry_denied_ns = 1 };
	struct error err = { "", "" };
	struct sink *sink;

	fuzz_check(!sink_open(&options, &sink, &err) && !sink_start(sink, NULL, &err), err.text);
	return sink;
}

static void read_profile(void)
{
	static char text[1 << 20];
	int fd = open("tests/fuzz/seeds/profile/sample.json", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, text, sizeof(text));

	fuzz_check(size > 0, "tests/fuzz/seeds/profile/sample.json");
	close(fd);
	profile = fuzz_profile(text, (size_t)size);
	fuzz_check(profile != NULL, "a profile");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	read_profile();
	start(&backends[0], "http");
	start(&backends[1], "grpc");
	return 0;
}

/* Waits until nothing is pending, or until it asks for more patience than there is. */
static void settle(struct sink *sink, struct sink_counts *counts)
{
	unsigned int us;

	for (us = 0; us < GIVE_UP_MS * 1000; us += 100) {
		sink_count(sink, counts);
		if (!counts->pending)
			return;
		usleep(100);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy, because the backend may still be sending it when this returns. */
	static uint8_t replies[2][1 << 16];
	static uint64_t put[2];
	FILE *terminal = stderr;
	struct fuzz_text said;
	struct sink_counts counts;
	size_t i = size && *data & 1;

	if (size > sizeof(replies[0]))
		return 0;
	pthread_mutex_lock(&backends[i].lock);
	backends[i].size = size ? size - 1 : 0;
	memcpy(replies[i], data + 1, backends[i].size);
	backends[i].reply = replies[i];
	backends[i].more = size ? *data >> 1 & 7 : 0;
	pthread_mutex_unlock(&backends[i].lock);
	stderr = fuzz_text_begin(&said);
	if (!sinks[i]) {
		sinks[i] = open_sink(backends[i].url);
		put[i] = 0;
	}
	sink_put(sinks[i], profile);
	put[i] += profile->ticks.total;
	settle(sinks[i], &counts);
	if (counts.pending) {
		sink_close(sinks[i], 0);
		sinks[i] = NULL;
	}
	stderr = terminal;
	fuzz_text_end(&said);
	fuzz_check(counts.ticks + counts.lost + counts.pending_ticks == put[i],
		   "each tick is somewhere");
	fuzz_check_plain(&said);
	fuzz_text_free(&said);
	return 0;
}
