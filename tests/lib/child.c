// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* A loaded machine may be slow, and only patience distinguishes that from a hang. */
#define PATIENCE_MS 30000
#define POLL_MS 10

int child_shell_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* An unnamed file with the input, because nobody would have to feed it, as with a pipe. */
static int input_fd(const char *input)
{
	FILE *file;
	int fd;

	if (!input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	file = tmpfile();
	if (!file)
		return -1;
	fputs(input, file);
	rewind(file);
	fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	fclose(file);
	return fd;
}

static void execute(int in, int out, int err, const char *const argv[])
{
	sigset_t none;

	/* A child that a failed test leaves behind must not burn on. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(125);
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

void child_start(struct child *child, const char *input, const char *const argv[])
{
	int out[2], err[2], in = input_fd(input);

	cr_assert(in >= 0 && !pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC), "pipes: %s",
		  strerror(errno));
	fflush(NULL);
	child->pid = fork();
	cr_assert(child->pid >= 0, "fork: %s", strerror(errno));
	if (!child->pid)
		execute(in, out[1], err[1], argv);
	close(in);
	close(out[1]);
	close(err[1]);
	child->out = out[0];
	child->err = err[0];
}

/* Appends what there is to read; false at the end. text always has room for a NUL. */
static bool take(int fd, char **text, size_t *len)
{
	char piece[65536];
	ssize_t got = read(fd, piece, sizeof(piece));

	if (got <= 0)
		return got < 0 && errno == EINTR;
	*text = realloc(*text, *len + (size_t)got + 1);
	cr_assert_not_null(*text);
	memcpy(*text + *len, piece, (size_t)got);
	*len += (size_t)got;
	(*text)[*len] = '\0';
	return true;
}

void child_finish(struct child *child, struct child_end *end)
{
	struct pollfd fds[2] = { { .fd = child->out, .events = POLLIN },
				 { .fd = child->err, .events = POLLIN } };
	int status = 0;

	memset(end, 0, sizeof(*end));
	end->out = calloc(1, 1);
	end->err = calloc(1, 1);
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents && !take(fds[0].fd, &end->out, &end->out_len))
			fds[0].fd = -1;
		if (fds[1].revents && !take(fds[1].fd, &end->err, &end->err_len))
			fds[1].fd = -1;
	}
	close(child->out);
	close(child->err);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	end->status = child_shell_status(status);
}

void child_run(struct child_end *end, const char *input, const char *const argv[])
{
	struct child child;

	child_start(&child, input, argv);
	child_finish(&child, end);
}

void child_end_free(struct child_end *end)
{
	free(end->out);
	free(end->err);
	memset(end, 0, sizeof(*end));
}

void child_do(const char *const argv[])
{
	struct child_end end;

	child_run(&end, NULL, argv);
	cr_assert_eq(end.status, 0, "%s: %s", argv[0], end.err);
	child_end_free(&end);
}

char process_state(pid_t pid)
{
	char path[64], line[512], *paren;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[len] = '\0';
	/* The name in parentheses may contain anything, so it ends at the last one. */
	paren = strrchr(line, ')');
	return paren && paren[1] ? paren[2] : 0;
}

bool process_is_called(pid_t pid, const char *name)
{
	char path[64], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%31s", comm) != 1)
		comm[0] = '\0';
	if (file)
		fclose(file);
	return !strcmp(comm, name);
}

double process_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	cr_assert(!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &used), "process %d",
		  pid);
	return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

void process_wait_cpu(pid_t pid, double seconds)
{
	double until = process_cpu_ns(pid) + seconds * 1e9;

	while (process_cpu_ns(pid) < until)
		usleep(POLL_MS * 1000);
}

bool eventually(bool (*condition)(void *argument), void *argument)
{
	int waited;

	for (waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
		if (condition(argument))
			return true;
		usleep(POLL_MS * 1000);
	}
	return condition(argument);
}

struct number {
	const char *path;
	long value;
};

static bool number_is_there(void *argument)
{
	struct number *number = argument;
	FILE *file = fopen(number->path, "re");
	char end = 0;
	bool whole;

	if (!file)
		return false;
	/* The newline shows that the line is complete. */
	whole = fscanf(file, "%ld%c", &number->value, &end) == 2 && end == '\n';
	fclose(file);
	return whole;
}

long number_in_file(const char *path)
{
	struct number number = { .path = path };

	cr_assert(eventually(number_is_there, &number), "nothing was written to %s", path);
	return number.value;
}
