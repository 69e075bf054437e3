// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

/* Why the child could not start COMMAND, as it reports through a pipe. */
struct child_failure {
	int code; /* negative errno */
	bool of_user; /* it could not become the user */
};

static int become_passwd(const struct passwd *user)
{
	if (!user)
		return 0;
	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
		return -errno;
	if (setenv("HOME", user->pw_dir, 1) || setenv("USER", user->pw_name, 1) ||
	    setenv("LOGNAME", user->pw_name, 1) || setenv("SHELL", user->pw_shell, 1))
		return -errno;
	return 0;
}

__attribute__((noreturn)) static void child_main(char *const *argv, const struct passwd *user,
						 const struct rlimit *files, int go_fd,
						 int failed_fd)
{
	struct child_failure failure;
	char go;

	if (read(go_fd, &go, 1) != 1)
		_exit(125); /* the parent gave up */
	if (files)
		setrlimit(RLIMIT_NOFILE, files);
	failure.code = become_passwd(user);
	failure.of_user = failure.code;
	if (!failure.code) {
		execvp(argv[0], argv);
		failure.code = -errno;
	}
	while (write(failed_fd, &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int find_passwd(const char *name, struct passwd **result, struct error *err)
{
	*result = NULL;
	if (!name)
		return 0;
	errno = 0;
	*result = getpwnam(name);
	if (*result)
		return 0;
	/* Other values of errno may mean "not found" too: getpwnam(3). */
	if (errno == ENOMEM || errno == EIO || errno == EMFILE || errno == ENFILE)
		return error_errno(err, -errno, "--user '%s'", name);
	return error_set(err, -EINVAL, "--user '%s': no such user", name);
}

int child_check_user(const char *user, struct error *err)
{
	struct passwd *passwd;

	return find_passwd(user, &passwd, err) == -EINVAL ? -EINVAL : 0;
}

int child_fork(char *const *argv, const char *user, const struct rlimit *files,
	       struct child *result, struct error *err)
{
	int go[2] = { -1, -1 }, failure[2] = { -1, -1 }, ret;
	struct passwd *passwd;

	*result = (struct child){ .pid = -1, .pid_fd = -1, .go_fd = -1, .failed_fd = -1 };
	ret = find_passwd(user, &passwd, err);
	if (ret)
		return ret;
	if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
		goto failed;
	result->pid = fork();
	if (result->pid < 0)
		goto failed;
	if (!result->pid) {
		close(go[1]); /* otherwise the child would not see its parent die */
		child_main(argv, passwd, files, go[0], failure[1]);
	}
	close_fd(&go[0]);
	close_fd(&failure[1]);
	result->go_fd = go[1];
	result->failed_fd = failure[0];
	result->pid_fd = process_fd(result->pid);
	if (result->pid_fd >= 0)
		return 0;
	ret = error_errno(err, -errno, "pidfd_open");
	child_free(result);
	return ret;
failed:
	ret = error_errno(err, -errno, "fork");
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&failure[0]);
	close_fd(&failure[1]);
	return ret;
}

int child_exec(struct child *child, const char *command, const char *user, struct error *err)
{
	struct child_failure failure;
	ssize_t got;

	/* EPIPE: a signal has ended the child while it waited, which its status will say. */
	if (write(child->go_fd, "", 1) != 1 && errno != EPIPE)
		return error_set(err, -ECHILD, "%s: cannot be started: %s", command,
				 strerror(errno));
	close_fd(&child->go_fd);
	do
		got = read(child->failed_fd, &failure, sizeof(failure));
	while (got < 0 && errno == EINTR);
	close_fd(&child->failed_fd);
	if (got != sizeof(failure))
		return 0;
	child_wait(child);
	if (failure.of_user)
		return error_with_hint(err, -ECHILD, "sudo", "--user '%s': %s", user,
				       strerror(-failure.code));
	if (failure.code == -ENOENT)
		return error_set(err, failure.code, "%s: command not found", command);
	return error_errno(err, failure.code, "%s: cannot be executed", command);
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	uint64_t seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
	uint64_t us = usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;

	return seconds * 1000000000 + us * 1000;
}

int child_wait(struct child *child)
{
	struct rusage usage;
	int status;

	while (wait4(child->pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	child->pid = -1;
	child->cpu_ns = cpu_ns(&usage);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_free(struct child *child)
{
	bool waiting = child->go_fd >= 0;

	/* End of file on the pipe ends a child that still waits. */
	close_fd(&child->go_fd);
	close_fd(&child->failed_fd);
	if (waiting && child->pid > 0)
		child_wait(child);
	close_fd(&child->pid_fd);
}
