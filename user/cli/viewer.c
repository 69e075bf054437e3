// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "base/util.h"
#include "report/profile_file.h"

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

/*
 * A user may be allowed to run only bpfprofil as root through sudo. With a pager as root they could
 * start root's shell by a key of the pager, or name a shell as the pager. Therefore run the pager
 * as the user who called sudo.
 */
static bool become_caller(void)
{
	uid_t user;
	gid_t group;

	return !sudo_caller(&user, &group) ||
	       (!setgroups(0, NULL) && !setresgid(group, group, group) &&
		!setresuid(user, user, user));
}

static void run_pager(const char *pager, int from)
{
	signal(SIGPIPE, SIG_DFL);
	if (!become_caller())
		_exit(NOT_FOUND);
	/* These options keep colours, leave the text on the screen and quit if it fits. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	/*
	 * Tools other than sudo do not say who ran us. Therefore forbid root's less to start a
	 * shell.
	 */
	if (!geteuid())
		setenv("LESSSECURE", "1", 0);
	if (dup2(from, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(NOT_FOUND);
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
		/* ^C is for the pager, which would lose the terminal if we ended first. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		write_fully(ends[1], pager->text, pager->size);
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

const struct opt page_opts[] = {
	OPT_FILE("html", offsetof(struct page_arguments, file),
		 "write a page for a browser instead, in one file that needs nothing else; - is "
		 "stdout"),
	OPT_FLAG("open", offsetof(struct page_arguments, open),
		 "open the page of --html in the default browser"),
	{ 0 }
};

bool page_check(const char *command, const struct page_arguments *arguments)
{
	if (!arguments->open)
		return true;
	if (!arguments->file || !*arguments->file)
		return refuse("--html FILE", "%s: --open: only with --html", command);
	if (strcmp(arguments->file, "-") != 0 && !output_is_compressed(arguments->file))
		return true;
	return refuse("--html page.html", "%s: --open: a browser does not show '%.256s'", command,
		      arguments->file);
}

/*
 * A browser of root would read and write files as root, and without a display there is no browser
 * to start.
 */
static int check_desktop(const char *file, struct error *err)
{
	int ret = 0;

	if (!geteuid())
		ret = error_set(err, -EPERM, "--open: no browser is run as root");
	else if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		ret = error_set(
			err, -ENOTTY,
			"--open: no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set");
	if (ret)
		error_hint(err, "leaving it out, and xdg-open %.128s where there is one", file);
	return ret;
}

/* Starts the browser as a grandchild, so that no process must wait for it. */
static void run_opener(const char *file, int tell)
{
	int null = open("/dev/null", O_RDWR), why;

	if (setsid() < 0 || fork())
		_exit(0);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	execlp("xdg-open", "xdg-open", file, (char *)NULL);
	why = errno;
	_exit(write(tell, &why, sizeof(why)) != sizeof(why));
}

static int open_page(const char *file, struct error *err)
{
	int ends[2], why = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return error_errno(err, -errno, "--open");
	child = fork();
	if (!child)
		run_opener(file, ends[1]);
	why = child < 0 ? errno : 0;
	close(ends[1]);
	/* The pipe delivers an errno if there is no xdg-open. A successful exec closes it. */
	if (child > 0 && (read(ends[0], &why, sizeof(why)) < 0 || waitpid(child, NULL, 0) < 0))
		why = errno;
	close(ends[0]);
	if (!why)
		return 0;
	error_errno(err, -why, "--open: xdg-open");
	error_hint(err, "opening %.200s in a browser", file);
	return -why;
}

int write_page(const struct page_arguments *arguments, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of)
{
	const char *file = arguments->file;
	struct error err = { 0 };
	struct output *out;
	int ret;

	stdout_begin();
	ret = arguments->open ? check_desktop(file, &err) : 0;
	if (!ret)
		ret = output_open(file, confidential ? OUTPUT_CONFIDENTIAL : 0, &out, &err);
	if (!ret)
		ret = output_finish(out, put(of, output_stream(out), &err), &err);
	if (!ret && arguments->open)
		ret = open_page(file, &err);
	/* With EPIPE the reader has left, and nobody needs a message. */
	if (ret && ret != -EPIPE)
		print_error(&err);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
