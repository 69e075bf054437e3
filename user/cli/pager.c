// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"

#define NOT_FOUND 127 /* the exit status that the shell uses */

/* Returns the command, or NULL if no pager is wanted. */
static const char *chosen(void)
{
	const char *pager = getenv("BPFPROFIL_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		return "less";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static bool is_capable(void)
{
	const char *type = getenv("TERM");

	return terminal_attached(stdout) && type && *type && strcmp(type, "dumb") != 0;
}

static bool fits(const char *text)
{
	struct winsize size;
	size_t lines = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row)
		return true;
	while ((text = strchr(text, '\n'))) {
		lines++;
		text++;
	}
	return lines < size.ws_row;
}

static void run_pager(const char *pager, int from)
{
	signal(SIGPIPE, SIG_DFL);
	/* These options keep colours, leave the text on the screen and quit if it fits. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (dup2(from, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(NOT_FOUND);
}

static void feed(int to, const char *text, size_t size)
{
	ssize_t wrote;

	for (; size; text += wrote, size -= (size_t)wrote) {
		wrote = write(to, text, size);
		if (wrote < 0 && errno != EINTR)
			return;
		wrote = wrote < 0 ? 0 : wrote;
	}
}

/* Returns false if the pager could not be run. */
static bool show(const struct pager *pager, const char *command)
{
	int ends[2], status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		run_pager(command, ends[0]);
	close(ends[0]);
	if (child > 0) {
		/* ^C is for the pager, which would lose the terminal if we ended before it. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		feed(ends[1], pager->text, pager->size);
	}
	close(ends[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

FILE *pager_begin(struct pager *pager)
{
	FILE *memory = NULL;

	stdout_begin();
	if (!pager->off && is_capable() && chosen())
		memory = open_memstream(&pager->text, &pager->size);
	return memory ? memory : stdout;
}

int pager_end(struct pager *pager, FILE *out, int result, const char *name)
{
	int status = EXIT_SUCCESS;

	if (out == stdout)
		return result ? EXIT_FAILURE : stdout_end(name);
	if (fclose(out) && !result) {
		print_message(NULL, "%s: %s", name, strerror(ENOMEM));
		status = EXIT_FAILURE;
	} else if (!result && (fits(pager->text) || !show(pager, chosen()))) {
		fwrite(pager->text, 1, pager->size, stdout);
		status = stdout_end(name);
	}
	free(pager->text);
	return result ? EXIT_FAILURE : status;
}
