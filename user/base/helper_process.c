// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define PROGRAM "/proc/self/exe"

enum { KEPT_MAX = 8 };

static char **environment(char *kept[KEPT_MAX])
{
	/* The last one is for programs of tests, see reader/call.h. */
	static const char *const names[] = { "SUDO_UID=", "LD_LIBRARY_PATH=", "ASAN_OPTIONS=",
					     "UBSAN_OPTIONS=", "BPFPROFIL_READER_FAULT=" };
	size_t i, j, nr = 0;

	for (i = 0; environ && environ[i]; i++)
		for (j = 0; j < sizeof(names) / sizeof(names[0]) && nr < KEPT_MAX - 1; j++)
			if (!strncmp(environ[i], names[j], strlen(names[j])))
				kept[nr++] = environ[i];
	kept[nr] = NULL;
	return kept;
}

int helper_start(const char *command, const char *argument, int socket, pid_t *pid)
{
	char *const argv[] = { (char[]){ "bpfprofil" }, (char *)(uintptr_t)command,
			       (char *)(uintptr_t)argument, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char *kept[KEPT_MAX];
	sigset_t none;
	int ret;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
	/* Nothing can be written there, and unlike /dev/null it always exists. */
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, PROGRAM, O_PATH, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, PROGRAM, O_PATH, 0);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	/* In its own process group, so that ^C for the command does not end the helper. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	ret = -posix_spawn(pid, PROGRAM, &files, &attributes, argv, environment(kept));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return ret;
}

static struct {
	pthread_mutex_t lock;
	pid_t all[ABANDONED_MAX];
	size_t nr;
} abandoned = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Call it with the lock held. */
static void reap(void)
{
	size_t i, kept = 0;

	for (i = 0; i < abandoned.nr; i++)
		if (!waitpid(abandoned.all[i], NULL, WNOHANG))
			abandoned.all[kept++] = abandoned.all[i];
	abandoned.nr = kept;
}

void helper_abandon(pid_t pid)
{
	kill(pid, SIGKILL);
	LOCK_SCOPE(&abandoned.lock);
	reap();
	if (abandoned.nr < ABANDONED_MAX)
		abandoned.all[abandoned.nr++] = pid;
}

size_t helpers_abandoned(void)
{
	LOCK_SCOPE(&abandoned.lock);

	reap();
	return abandoned.nr;
}

/*
 * The helper ends with its socket. It ignores signals that end other processes of the group,
 * because they may still want an answer.
 */
int helper_prepare(const char *name, uint64_t few)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (fd >= 0 && write(fd, "1000", 4) < 0)
		errno = 0;
	close_fd(&fd);
	prctl(PR_SET_NAME, name);
	return keep_rights(few);
}
