// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as requests to the agent's port: each is answered properly or not at all, and the next
 * request is still answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/listen.h"
#include "bytes.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct figures figures;
static struct scrapes scrapes;
static struct listener *listener;
static char reply[1 << 16];

/* A request for a profile is told at once that there will be none, because nobody samples here. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct listen_sources sources = { .figures = &figures, .scrapes = &scrapes };
	const struct listen_options options = { .address = "127.0.0.1:0" };
	struct error err = { "", "" };

	(void)argc;
	(void)argv;
	figures_open(&figures);
	fuzz_check(!scrapes_open(&scrapes, &err), "scrapes");
	scrapes_cancel(&scrapes);
	fuzz_check(!listener_open(&options, &sources, &listener, &err), err.text);
	return 0;
}

/*
 * Closes by a reset, so that a million connections leave few ports in a waiting state. libFuzzer's alarm
 * may interrupt a connection that is being made; then there is another.
 */
static int open_connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)listener_port(listener)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger linger = { .l_onoff = 1 };
	int fd = -1;

	do {
		if (fd >= 0)
			close(fd);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		fuzz_check(fd >= 0, "a socket");
		errno = 0;
	} while (connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno == EINTR);
	fuzz_check(!errno, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return fd;
}

/* All that is answered, NUL-terminated. */
static size_t ask(const void *data, size_t size)
{
	int fd = open_connection();
	size_t got = 0;
	ssize_t more;

	/* It may have closed the connection before all of it was sent. */
	(void)!send(fd, data, size, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	/* Here too libFuzzer's alarm may come. */
	while (got < sizeof(reply) - 1 &&
	       ((more = recv(fd, reply + got, sizeof(reply) - 1 - got, 0)) > 0 ||
		(more < 0 && errno == EINTR)))
		got += more > 0 ? (size_t)more : 0;
	close(fd);
	reply[got] = '\0';
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char healthy[] =
		"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
	static unsigned int runs;
	size_t got = ask(data, size);

	fuzz_check(!got || !strncmp(reply, "HTTP/1.", 7), "an answer is HTTP's");
	fuzz_check(!strstr(reply, "500 Internal"), "it finds its way through a request");
	if (++runs % 64)
		return 0;
	ask(healthy, sizeof(healthy) - 1);
	fuzz_check(!strncmp(reply, "HTTP/1.1 200 ", 13) && strstr(reply, "\r\n\r\nok\n"), reply);
	return 0;
}
