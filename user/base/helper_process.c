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
#include <sys/socket.h>
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

static int spawn(const char *command, const char *argument, int socket, pid_t *pid)
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

int helper_start(const char *command, const char *argument, int type, pid_t *pid)
{
	int ends[2], ret;

	*pid = 0;
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ret = spawn(command, argument, ends[1], pid);
	close(ends[1]);
	if (!ret)
		return ends[0];
	*pid = 0;
	close(ends[0]);
	return ret;
}

union passed_fds {
	struct cmsghdr head;
	char room[CMSG_SPACE(HELPER_FDS * sizeof(int))];
};

ssize_t helper_send(int socket, struct iovec *parts, size_t nr, const int fds[HELPER_FDS],
		    int flags)
{
	union passed_fds passed = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = nr };
	size_t nr_fds = 0;

	while (nr_fds < HELPER_FDS && fds[nr_fds] >= 0)
		nr_fds++;
	if (nr_fds) {
		passed.head.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(&passed.head), fds, nr_fds * sizeof(int));
		message.msg_control = &passed;
		message.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

ssize_t helper_receive(int socket, void *bytes, size_t size, int fds[HELPER_FDS])
{
	union passed_fds passed = { 0 };
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t got;

	if (fds) {
		memset(fds, -1, HELPER_FDS * sizeof(int));
		message.msg_control = &passed;
		message.msg_controllen = sizeof(passed);
	}
	got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	if (got >= 0 && CMSG_FIRSTHDR(&message) && passed.head.cmsg_level == SOL_SOCKET &&
	    passed.head.cmsg_type == SCM_RIGHTS && passed.head.cmsg_len <= sizeof(passed))
		memcpy(fds, CMSG_DATA(&passed.head), passed.head.cmsg_len - CMSG_LEN(0));
	return got;
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
