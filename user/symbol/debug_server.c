// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define URLS "DEBUGINFOD_URLS"

/*
 * libdebuginfod comes with an HTTP client and its libraries, which nobody needs who asks no server.
 * So it is loaded only when it is asked for.
 */
struct client;
typedef struct client *(*client_begin)(void);
typedef int (*client_find)(struct client *client, const unsigned char *build_id, int length,
			   char **path);
typedef void (*client_watch)(struct client *client, int (*progress)(struct client *, long, long));
typedef void (*client_end)(struct client *client);

struct library {
	client_begin begin;
	client_find find;
	client_watch watch;
	client_end end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these: a thread may look for names */
static bool is_quiet;
static uint64_t span_ns; /* when the current span began */
static uint64_t spent_ns; /* time spent on questions in it */
static uint64_t until_ns; /* when the current question will have taken too long */

static bool find_debuginfod(struct library *result)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library)
		return false;
	result->begin = (client_begin)dlsym(library, "debuginfod_begin");
	result->find = (client_find)dlsym(library, "debuginfod_find_debuginfo");
	result->watch = (client_watch)dlsym(library, "debuginfod_set_progressfn");
	result->end = (client_end)dlsym(library, "debuginfod_end");
	return result->begin && result->find && result->watch && result->end;
}

static int is_too_long(struct client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return monotonic_ns() > until_ns;
}

/* False: the time for questions is used up. */
static bool begin_question(uint64_t now)
{
	const uint64_t second = 1000000000;

	if (!span_ns || now - span_ns > DEBUG_SERVER_SPAN * second) {
		span_ns = now;
		spent_ns = 0;
	}
	if (spent_ns >= DEBUG_SERVER_SECONDS * second)
		return false;
	until_ns = now + DEBUG_SERVER_SECONDS * second - spent_ns;
	return true;
}

static int ask_debuginfod(const struct library *library, const char *build_id, char *found,
			  size_t found_size)
{
	struct client *client = library->begin();
	char *path = NULL;
	int fd;

	if (!client)
		return -ENOMEM;
	library->watch(client, is_too_long);
	fd = library->find(client, (const unsigned char *)build_id, 0, &path);
	if (found && path)
		snprintf(found, found_size, "%s", path);
	free(path);
	library->end(client);
	return fd;
}

int debug_server_open(const char *build_id, char *found, size_t found_size)
{
	const char *urls = getenv(URLS);
	uint64_t now = monotonic_ns();
	struct library library;
	int fd = -ENOENT;

	if (is_quiet || !urls || !*urls || !find_debuginfod(&library))
		return -ENOENT;
	pthread_mutex_lock(&lock);
	if (begin_question(now)) {
		fd = ask_debuginfod(&library, build_id, found, found_size);
		spent_ns += monotonic_ns() - now;
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

void debug_server_quiet(bool quiet)
{
	is_quiet = quiet;
}

void debug_server_forbid(void)
{
	unsetenv(URLS);
}
