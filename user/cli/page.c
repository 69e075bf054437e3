// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "report/profile_file.h"
#include "base/output.h"

const struct opt page_opts[] = {
	{ .name = "html",
	  .arg = "FILE",
	  .help = "write a page for a browser instead, in one file that needs nothing else; - is "
		  "stdout",
	  .value = VALUE_FILE,
	  .set = opt_set_string,
	  .field = offsetof(struct page_arguments, file) },
	{ .name = "open",
	  .help = "and show it in the desktop's browser, by xdg-open",
	  .field = offsetof(struct page_arguments, open) },
	{ 0 }
};

bool page_check(const char *command, const struct page_arguments *arguments)
{
	size_t length = arguments->file ? strlen(arguments->file) : 0;

	if (!arguments->open)
		return true;
	if (!length) {
		print_message("--html FILE", "%s: --open: only with --html", command);
		return false;
	}
	if (strcmp(arguments->file, "-") != 0 &&
	    (length < 3 || strcmp(arguments->file + length - 3, ".gz") != 0))
		return true;
	print_message("--html page.html", "%s: --open: a browser does not show '%.256s'", command,
		      arguments->file);
	return false;
}

/*
 * A browser started by root would read and write files as root, and without a display there is none
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

/* Starts the browser as a grandchild, so that nobody has to wait for it. */
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
	/* The pipe delivers an errno if there is no xdg-open; a successful exec closes it. */
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
		ret = output_open_as(file, confidential ? OUTPUT_CONFIDENTIAL : 0, &out, &err);
	if (!ret)
		ret = output_finish(out, put(of, output_stream(out), &err), &err);
	if (!ret && arguments->open)
		ret = open_page(file, &err);
	/* With EPIPE the reader has left and needs no message. */
	if (ret && ret != -EPIPE)
		print_error(&err);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
