// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_server.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/output.h"
#include "base/util.h"

#define URLS "DEBUGINFOD_URLS"

struct client;
typedef int (*client_watch)(struct client *client, long done, long all);

/* Load the library only for the first request: it brings an HTTP client with its libraries. */
static struct {
	struct client *(*begin)(void);
	void (*watch)(struct client *client, client_watch watch);
	int (*find)(struct client *client, const unsigned char *build_id, int length, char **path);
	void (*end)(struct client *client);
} lib;
static const char *const call_names[] = { "debuginfod_begin", "debuginfod_set_progressfn",
					  "debuginfod_find_debuginfo", "debuginfod_end" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects these */
static bool is_quiet;
static uint64_t span_ns; /* when the current span began */
static uint64_t spent_ns; /* time for requests in this span */
static uint64_t until_ns; /* when the current request times out */

/* Reports once why requests are impossible. Call it with the lock held. */
static bool load_library(void)
{
	static struct error err;

	if (!*err.text && library_load("libdebuginfod.so.1", "libdebuginfod1", call_names,
				       sizeof(call_names) / sizeof(call_names[0]), &lib, &err))
		print_message(err.hint, "%s: %s", URLS, err.text);
	return lib.end != NULL;
}

static int is_too_long(struct client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return monotonic_ns() > until_ns;
}

/* False: the time for requests is used up. */
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

static int ask_debuginfod(const char *build_id, char *found, size_t found_size)
{
	struct client *client = lib.begin();
	char *path = NULL;
	int fd;

	if (!client)
		return -ENOMEM;
	lib.watch(client, is_too_long);
	fd = lib.find(client, (const unsigned char *)build_id, 0, &path);
	if (found && path)
		snprintf(found, found_size, "%s", path);
	free(path);
	lib.end(client);
	return fd;
}

int debug_server_open(const char *build_id, char *found, size_t found_size)
{
	const char *urls = getenv(URLS);
	uint64_t now = monotonic_ns();
	int fd = -ENOENT;

	if (is_quiet || !urls || !*urls)
		return -ENOENT;
	LOCK_SCOPE(&lock);
	if (load_library() && begin_question(now)) {
		fd = ask_debuginfod(build_id, found, found_size);
		spent_ns += monotonic_ns() - now;
	}
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
