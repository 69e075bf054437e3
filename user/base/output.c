// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/output.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

/* Columns of a table in a file or pipe: some C++ names have thousands of characters. */
#define PIPE_COLUMNS 200

static enum color_when color_when;
static const char *speaker;

void print_as(const char *command)
{
	speaker = command;
}

/* Many messages begin with the command's name already. */
static bool names_speaker(const char *text)
{
	size_t length = strlen(speaker);

	return !strncmp(text, speaker, length) && !strncmp(text + length, ": ", 2);
}

void print_error(const struct error *err)
{
	fputs("bpfprofil: ", stderr);
	if (speaker && !names_speaker(err->text))
		fprintf(stderr, "%s: ", speaker);
	/* The text may quote input or a file name. Escape it, so that it stays on one line. */
	text_write(stderr, err->text, 0);
	fputc('\n', stderr);
	if (!err->hint[0])
		return;
	fputs("try: ", stderr);
	text_write(stderr, err->hint, 0);
	fputc('\n', stderr);
}

void print_message(const char *hint, const char *format, ...)
{
	struct error err = { 0 };
	va_list args;

	va_start(args, format);
	vsnprintf(err.text, sizeof(err.text), format, args);
	va_end(args);
	if (hint)
		snprintf(err.hint, sizeof(err.hint), "%s", hint);
	print_error(&err);
}

void color_choose(enum color_when when)
{
	color_when = when;
}

bool terminal_attached(FILE *stream)
{
	return isatty(fileno(stream)) == 1;
}

bool color_enabled(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	/* An empty NO_COLOR does not count: no-color.org. */
	if (color_when == COLOR_NEVER || (no_color && *no_color))
		return false;
	if (color_when == COLOR_ALWAYS)
		return true;
	return terminal_attached(stream) && term && strcmp(term, "dumb");
}

unsigned int terminal_width(FILE *stream)
{
	struct winsize size;

	if (!terminal_attached(stream))
		return 0;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

unsigned int table_width(FILE *stream, bool wide)
{
	if (wide)
		return 0;
	return terminal_attached(stream) ? terminal_width(stream) : PIPE_COLUMNS;
}

void stdout_begin(void)
{
	signal(SIGPIPE, SIG_IGN);
}

int stdout_end(const char *name)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) || failed) {
		/* Without errno, an earlier write failed, and stdio forgot why. */
		if (errno != EPIPE)
			print_message(NULL, "%s: %s", name,
				      errno ? strerror(errno) : "write error");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
