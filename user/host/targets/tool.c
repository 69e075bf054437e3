// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/runtimes_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

enum { STATUS_NOT_FOUND = 127, STATUS_NOT_EXECUTABLE = 126 };

#define ERRORS_MAX (64 << 10) /* a write beyond this size fails */

/*
 * Captures output in a memory file instead of a pipe: nobody has to read it while the program runs,
 * and processes that the program leaves running cannot hold it open. It is sealed at its size, so a
 * program gone wild gets an error from write(), and we do not run out of memory.
 */
static int open_capture(size_t size)
{
	int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret;

	if (fd >= 0 && !ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW))
		return fd;
	ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The program wrote up to the file position, which it shares with us. */
static int close_capture(int fd)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (end < 0 || ftruncate(fd, end) || lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static void execute(const char *const *argv, int out, int said)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(said, 2) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	execvp(argv[0], (char *const *)argv);
	_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* Waits in milliseconds, which is precise enough although a signal restarts the wait. */
static bool ended_in_time(int pid_fd)
{
	struct pollfd fd = { .fd = pid_fd, .events = POLLIN };
	int ret;

	do {
		ret = poll(&fd, 1, TOOL_PATIENCE_MS);
	} while (ret < 0 && errno == EINTR);
	return ret > 0;
}

static int wait_for(pid_t pid, struct tool_answer *answer)
{
	int status = 0;
	cleanup_fd int pid_fd = process_fd(pid);
	int ret = pid_fd < 0 ? -errno : 0;

	answer->late = !ret && !ended_in_time(pid_fd);
	if (ret || answer->late) {
		/*
		 * The first kill is for what it has started, the second in case it has not made its
		 * group yet.
		 */
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	answer->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return ret;
}

/* Reads the last line that is not empty, because warnings may come before it. */
static void read_said(int fd, char *result, size_t size)
{
	cleanup_free char *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	*result = '\0';
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	while (file && getline(&line, &room, file) > 0)
		if (*line != '\n')
			snprintf(result, size, "%.*s", (int)strcspn(line, "\n"), line);
}

static int run_tool(const char *const *argv, int out, int said, struct tool_answer *answer)
{
	pid_t pid = fork();
	int ret;

	if (pid < 0)
		return -errno;
	if (!pid)
		execute(argv, out, said);
	ret = wait_for(pid, answer);
	ret = ret ? ret : close_capture(out);
	ret = ret ? ret : close_capture(said);
	if (!ret)
		read_said(said, answer->said, sizeof(answer->said));
	return ret;
}

int tool_ask(const char *const *argv, struct tool_answer *result, struct error *err)
{
	cleanup_fd int said = open_capture(ERRORS_MAX);
	int out = open_capture(TOOL_OUTPUT_MAX), ret;

	*result = (struct tool_answer){ .out = -1 };
	ret = said < 0 ? said : out < 0 ? out : run_tool(argv, out, said, result);
	if (!ret && result->status != STATUS_NOT_FOUND) {
		result->out = out;
		return 0;
	}
	if (out >= 0)
		close(out);
	return ret ? error_errno(err, ret, "%s", argv[0]) : 0;
}

void tool_answer_free(struct tool_answer *answer)
{
	close_fd(&answer->out);
}
