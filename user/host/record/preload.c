// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/preload.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/util.h"
#include "base/output.h"

#define LIBRARY "libbpfprofil-preload.so"
#define VARIABLE "LD_PRELOAD"

/* Beside the program in a build tree, or below lib/ if it is installed. */
static const char *const places[] = { "%s/" LIBRARY, "%s/../lib/bpfprofil/" LIBRARY };

static int find_preload_library(char **result, struct error *err)
{
	char program[4096], *slash;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	size_t i;

	if (length < 0)
		return error_errno(err, -errno, "/proc/self/exe");
	program[length] = '\0';
	slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (asprintf(result, places[i], program) < 0)
			return error_no_memory(err, "--preload");
		if (!access(*result, R_OK))
			return 0;
		free(*result);
		*result = NULL;
	}
	return error_with_hint(err, -ENOENT, "make install, as a whole",
			       "--preload: " LIBRARY ": neither beside the program nor installed");
}

static int find_preload_user(const char *user, uid_t *result, struct error *err)
{
	struct passwd *entry = user ? getpwnam(user) : NULL;

	if (user && !entry)
		return error_set(err, -EINVAL, "-u %s: no such user", user);
	*result = entry ? entry->pw_uid : geteuid();
	return 0;
}

/*
 * An abstract name leaves no file behind, however we end. It has no permissions either. Therefore
 * the server checks its clients, and clients check the server: client/exchange.c recognises the
 * beginning of this name.
 */
static int make_name(struct preload *preload, struct error *err)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, -errno, "--preload: getrandom");
	preload->socket =
		format_text("@bpfprofil-run-%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	return preload->socket ? 0 : error_no_memory(err, "--preload");
}

/* Put our library before other preloaded ones, so that programs find ours first. */
static int set_environment(const struct preload *preload, const char *library, struct error *err)
{
	const char *before = getenv(VARIABLE);
	cleanup_free char *all = NULL;

	all = format_text("%s%s%s", library, before && *before ? ":" : "", before ? before : "");
	if (!all || setenv(VARIABLE, all, 1) || setenv(CALL_SOCKET_ENV, preload->socket, 1))
		return error_no_memory(err, "--preload");
	return 0;
}

static void say_user_stuck(uid_t uid)
{
	print_message(NULL,
		      "--preload: user %u: a process keeps us waiting at its memory or files: its "
		      "user's calls have ended, and this process may not end before it does",
		      uid);
}

int preload_open(struct preload *preload, const char *user, struct error *err)
{
	struct server_options options = { .listen_fd = -1 };
	struct calls_options calls;
	cleanup_free char *library = NULL;
	int ret;

	calls_options_init(&calls);
	calls.record = true;
	calls.stuck = say_user_stuck;
	ret = find_preload_library(&library, err);
	if (!ret)
		ret = find_preload_user(user, &options.only, err);
	if (!ret)
		ret = calls_open(&calls, &preload->calls, err);
	if (!ret)
		ret = make_name(preload, err);
	if (ret)
		return ret;
	options.path = preload->socket;
	ret = server_open(&options, preload->calls, &preload->server, err);
	return ret ? ret : set_environment(preload, library, err);
}

void preload_started(const struct preload *preload)
{
	const char *mine = getenv(VARIABLE), *rest;

	if (!preload->calls || !mine)
		return;
	rest = strchr(mine, ':');
	if (rest)
		setenv(VARIABLE, rest + 1, 1);
	else
		unsetenv(VARIABLE);
	unsetenv(CALL_SOCKET_ENV);
}

void preload_watch(const struct preload *preload, struct pollfd fds[PRELOAD_FDS])
{
	fds[0] = (struct pollfd){ .fd = preload->calls ? calls_fd(preload->calls) : -1,
				  .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = preload->server ? server_fd(preload->server) : -1,
				  .events = POLLIN };
}

int preload_poll(struct preload *preload, const struct pollfd fds[PRELOAD_FDS], struct error *err)
{
	int ret = 0;

	if (fds[0].revents)
		ret = calls_poll(preload->calls, err);
	if (!ret && fds[1].revents)
		ret = server_poll(preload->server, err);
	return ret;
}

int preload_finish(struct preload *preload, struct profile **result, struct error *err)
{
	*result = NULL;
	if (!preload->calls)
		return 0;
	server_close(preload->server);
	preload->server = NULL;
	return calls_finish(preload->calls, result, err);
}

void preload_close(struct preload *preload)
{
	server_close(preload->server);
	calls_close(preload->calls);
	free(preload->socket);
}
