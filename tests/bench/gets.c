// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * gets SOCKET SECONDS THREADS: sets and gets values of 100 bytes on the memcached that listens on
 * this UNIX socket; each thread has its own connection and one request at a time. Debian has no
 * load generator for this that runs for a given time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 1000, VALUE = 100, MAX_THREADS = 64 };

static const char *path;
static time_t end;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int connect_to(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(path);
	return fd;
}

/* Reads until the answer has its proper end. */
static void ask(int fd, const char *request, int len, const char *last)
{
	size_t have = 0, wanted = strlen(last);
	char answer[4 * VALUE];
	ssize_t got;

	if (write(fd, request, (size_t)len) != len)
		die("write");
	while (have < wanted || memcmp(answer + have - wanted, last, wanted)) {
		got = read(fd, answer + have, sizeof(answer) - have);
		if (got <= 0)
			die("read");
		have += (size_t)got;
	}
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* One set for every nine gets. */
static void *client(void *argument)
{
	unsigned int seed = (unsigned int)(size_t)argument, n;
	char request[2 * VALUE], value[VALUE + 1];
	int fd = connect_to(), len;

	memset(value, 'v', VALUE);
	value[VALUE] = '\0';
	for (n = 0; n % 1000 || now() < end; n++) {
		unsigned int key = (unsigned int)rand_r(&seed) % KEYS;

		if (n % 10 == 0) {
			len = snprintf(request, sizeof(request), "set key%u 0 0 %d\r\n%s\r\n", key,
				       VALUE, value);
			ask(fd, request, len, "STORED\r\n");
		} else {
			len = snprintf(request, sizeof(request), "get key%u\r\n", key);
			ask(fd, request, len, "END\r\n");
		}
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	long nr, i;

	nr = argc == 4 ? atol(argv[3]) : 0;
	if (nr < 1 || nr > MAX_THREADS) {
		fputs("usage: gets SOCKET SECONDS THREADS\n", stderr);
		return 2;
	}
	path = argv[1];
	end = now() + atol(argv[2]);
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, client, (void *)(i + 1)))
			die("pthread_create");
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
