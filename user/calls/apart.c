// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/notify.h"
#include "base/output.h"

enum { STATE_MAX = 64 };

struct apart {
	int fd;
	pid_t pid;
	int signal_fd;
	bool leaves;
};

/* The last message of the child. */
struct last {
	char nul; /* a state never begins with NUL */
	bool leaves;
	unsigned char status;
};

void apart_tell(struct apart *apart, const char *state)
{
	send(apart->fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void block_ends(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

void apart_leave(struct apart *apart)
{
	apart->leaves = true;
}

static void keep_only(int fd, unsigned int from)
{
	close_range(from, (unsigned int)fd - 1, 0);
	close_range((unsigned int)fd + 1, ~0U, 0);
}

static void live(struct apart *apart, pid_t parent, int (*body)(void *, struct apart *),
		 void *argument)
{
	struct last last = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	last.status = (unsigned char)body(argument, apart);
	last.leaves = apart->leaves;
	/*
	 * Output is flushed before the message, which ends the parent. Descriptors are closed too,
	 * because the stuck thread would keep them open.
	 */
	if (last.leaves) {
		fflush(NULL);
		keep_only(apart->fd, STDIN_FILENO);
	}
	send(apart->fd, &last, sizeof(last), MSG_NOSIGNAL);
	if (!last.leaves)
		exit(last.status);
	_exit(last.status);
}

/* The child may have got the signal itself, if it came from a terminal; twice does no harm. */
static void pass_signal(const struct apart *apart)
{
	struct signalfd_siginfo info;

	if (read(apart->signal_fd, &info, sizeof(info)) == sizeof(info))
		kill(apart->pid, (int)info.ssi_signo);
}

/* False: the child ended without a last message. */
static bool listen_to(const struct apart *apart, struct last *last)
{
	struct pollfd fds[] = { { .fd = apart->fd, .events = POLLIN },
				{ .fd = apart->signal_fd, .events = POLLIN } };
	char state[STATE_MAX + 1];
	ssize_t got;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			pass_signal(apart);
		if (!fds[0].revents)
			continue;
		got = recv(apart->fd, state, STATE_MAX, 0);
		if (got <= 0)
			return false;
		state[got] = '\0';
		if (!state[0] && got == sizeof(*last)) {
			memcpy(last, state, sizeof(*last));
			return true;
		}
		notify(state);
	}
}

static int await_end(const struct apart *apart)
{
	int status;

	while (waitpid(apart->pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	print_message(NULL, "the server was ended by signal %d", WTERMSIG(status));
	return EXIT_FAILURE;
}

int apart_run(int (*body)(void *, struct apart *), void *argument)
{
	pid_t parent = getpid();
	struct apart apart = { 0 };
	sigset_t signals;
	struct last last;
	int pair[2];

	block_ends(&signals);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		print_message(NULL, "socketpair: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	apart.pid = fork();
	apart.fd = pair[!apart.pid];
	close(pair[!!apart.pid]);
	if (!apart.pid)
		live(&apart, parent, body, argument);
	/*
	 * Descriptors that were passed to us belong to the child now, so that whoever waits for
	 * them to be closed waits for the child.
	 */
	if (apart.pid > 0)
		keep_only(apart.fd, STDERR_FILENO + 1);
	apart.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (apart.pid < 0 || apart.signal_fd < 0) {
		print_message(NULL, "fork: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	return listen_to(&apart, &last) && last.leaves ? last.status : await_end(&apart);
}
