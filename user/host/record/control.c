// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "base/output.h"

/*
 * Opens the FIFO for reading and writing, so that it never reports end of file, and writers need
 * not wait for us.
 */
static int open_fifo(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int ret = -errno;
	struct stat status;

	if (fd < 0) {
		error_errno(err, ret, "--control: %s", path);
		if (ret == -ENOENT)
			error_hint(err, "mkfifo %s", path);
		return ret;
	}
	if (!fstat(fd, &status) && S_ISFIFO(status.st_mode)) {
		if (!status.st_uid || is_our_user(status.st_uid))
			return fd;
		close(fd);
		return error_set(err, -EPERM, "--control: %s: a fifo that another user made", path);
	}
	close(fd);
	return error_with_hint(err, -EINVAL, "mkfifo, and a name that is not taken",
			       "--control: %s: is no FIFO", path);
}

/* We would read our own answers as commands, and answer those. */
static bool is_one_fifo(const struct control *control)
{
	struct stat commands, answers;

	return !fstat(control->fd, &commands) && !fstat(control->answer_fd, &answers) &&
	       commands.st_dev == answers.st_dev && commands.st_ino == answers.st_ino;
}

int control_open(struct control *control, const char *names, struct error *err)
{
	cleanup_free char *fifo = names ? strdup(names) : NULL;
	char *answers = fifo ? strchr(fifo, ',') : NULL;

	*control = CONTROL_CLOSED;
	if (!names)
		return 0;
	if (!fifo)
		return error_errno(err, -ENOMEM, "--control");
	if (answers)
		*answers++ = '\0';
	control->fd = open_fifo(fifo, err);
	if (control->fd < 0)
		return control->fd;
	if (!answers)
		return 0;
	control->answer_fd = open_fifo(answers, err);
	if (control->answer_fd < 0)
		return control->answer_fd;
	return is_one_fifo(control) ?
		       error_set(err, -EINVAL, "--control: FIFO and ANSWERS are one file") :
		       0;
}

/* True: a line was read, without its newline. A line that is too long is skipped. */
static bool next_line(struct control *control, unsigned int *reads, char *result)
{
	char *end;

	for (;;) {
		ssize_t got;

		end = memchr(control->line, '\n', control->length);
		if (end)
			break;
		if (control->length == sizeof(control->line))
			control->length = 0;
		if (!*reads)
			return false;
		--*reads;
		got = read(control->fd, control->line + control->length,
			   sizeof(control->line) - control->length);
		if (got <= 0)
			return false;
		control->length += (size_t)got;
	}
	*end++ = '\0';
	strcpy(result, control->line);
	control->length -= (size_t)(end - control->line);
	memmove(control->line, end, control->length);
	return true;
}

void control_answer(const struct control *control, int failed)
{
	const char *answer = failed ? "error\n" : "ok\n";

	/* The FIFO is full: the last few thousand answers were not read. */
	if (control->answer_fd >= 0 &&
	    write(control->answer_fd, answer, strlen(answer)) != (ssize_t)strlen(answer))
		return;
}

/* Limit messages, because a writer to the FIFO could fill a log. */
static void refuse(struct control *control, const char *line)
{
	if (control->refused++ < CONTROL_REFUSALS)
		print_message("start or stop, one a line", "--control: '%s': no such command",
			      line);
	control_answer(control, -EINVAL);
}

enum control_command control_read(struct control *control, unsigned int *reads)
{
	char line[sizeof(control->line)];

	while (control->fd >= 0 && next_line(control, reads, line)) {
		if (!strcmp(line, "start"))
			return CONTROL_START;
		if (!strcmp(line, "stop"))
			return CONTROL_STOP;
		refuse(control, line);
	}
	return CONTROL_NONE;
}

void control_close(struct control *control)
{
	if (control->refused > CONTROL_REFUSALS)
		print_message(NULL, "--control: %" PRIu64 " more lines were no command",
			      control->refused - CONTROL_REFUSALS);
	close_fd(&control->fd);
	close_fd(&control->answer_fd);
}
