// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/top_loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "base/output.h"
#include "host/record/sample_loop.h"
#include "base/text.h"
#include "host/top/page.h"
#include "report/report.h"

#define LAST_ROWS 10 /* of the table after the screen has closed */
#define FILE_DEFAULT "bpfprofil-top-%t.json"

/* Limits for a function's callers, as in report. */
#define CALLERS_ROWS 40
#define CALLERS_MIN 0.5
#define WAITS_ROWS 100

struct top_report {
	struct top_loop *loop;
	const struct report_options *options;
	FILE *out;
};

/* Leave ^Z to ncurses, which restores the terminal while we are stopped. */
static int open_resizes(struct error *err)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGWINCH);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_errno(err, -errno, "signalfd") : fd;
}

int top_loop_init(struct top_loop *loop, const struct sampling_options *options, enum top_by by,
		  const char *file, struct error *err)
{
	int ret = kept_init(&loop->kept, file ? file : FILE_DEFAULT, err);

	loop->options = options;
	loop->ended_fd = -1;
	loop->plain.choice.by = by;
	loop->screen.processes = options->split == SPLIT_PROCESS || options->split == SPLIT_THREAD;
	loop->screen.cgroups = options->split == SPLIT_CGROUP;
	top_model_init(&loop->model);
	top_ui_init(&loop->ui, by);
	loop->plain.choice.threads = loop->ui.choice.threads = options->split == SPLIT_THREAD;
	loop->plain.choice.callers = loop->ui.choice.callers = options->callers;
	loop->plain.width = terminal_width(stdout);
	loop->save = file;
	/* Check at the start, so that users learn at once if their file cannot be written. */
	if (!ret && file)
		ret = output_check(loop->kept.files.path, err);
	if (ret)
		return ret;
	loop->signal_fd = sample_open_signals(err);
	if (loop->signal_fd < 0)
		return loop->signal_fd;
	loop->resize_fd = open_resizes(err);
	return loop->resize_fd < 0 ? loop->resize_fd : 0;
}

/* Takes the counts since the last call, and starts to find their names. */
static int begin_top_interval(struct top_loop *loop, struct error *err)
{
	struct profile *profile;
	int ret = session_take(loop->session, &profile, err);

	loop->ended = time(NULL);
	if (!ret && cgroup_labels_add(&loop->labels, profile, false)) {
		profile_free(profile);
		return error_no_memory(err, "top");
	}
	return ret ? ret : symbolizer_begin(&loop->symbolizer, profile, err);
}

/* Adds the profile with its names to the model. */
static int end_interval(struct top_loop *loop, struct error *err)
{
	struct profile *before = symbolizer_detach_profile(&loop->symbolizer);
	int ret = before ? kept_add(&loop->kept, before, err) : 0;

	if (!ret)
		ret = symbolizer_end(&loop->symbolizer, err);
	if (!ret && top_model_add(&loop->model, loop->symbolizer.last.profile))
		ret = error_no_memory(err, "top");
	return ret;
}

static int draw(struct top_loop *loop, struct error *err)
{
	cleanup_free char *picture = NULL;
	size_t size;
	FILE *memory;

	terminal_size(loop->terminal, &loop->screen.rows, &loop->screen.columns);
	if (top_ui_update(&loop->ui, &loop->model, top_screen_rows(&loop->screen, &loop->model)))
		return error_no_memory(err, "top");
	loop->ui.page.rows = top_screen_page_rows(&loop->screen);
	memory = open_memstream(&picture, &size);
	if (!memory)
		return error_no_memory(err, "top");
	top_screen_draw(&loop->screen, &loop->model, &loop->ui, memory);
	if (fclose(memory))
		return error_no_memory(err, "top");
	terminal_show(loop->terminal, picture);
	return 0;
}

/*
 * Returns 1 if stdout cannot be written; -EPIPE: the reader of the tables has left. This ends the
 * sampling like a signal, so that the file of -o is still written.
 */
static int flush(struct top_loop *loop)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	loop->out_ret = error_errno(&loop->out_err, errno ? -errno : -EIO, "top: standard output");
	return 1;
}

/* Writes where threads waited, below the other table. */
static int put_plain_waits(struct profile *profile, void *of, struct error *err)
{
	const struct top_loop *loop = of;
	const struct report_options options = { .target = REPORT_ALL_TARGETS,
						.limit = loop->plain.limit,
						.width = (unsigned int)loop->plain.width };

	return profile->waits ? report_waits(profile, &options, stdout, err) : 0;
}

/* Returns 1 at the end. */
static int show_interval(struct top_loop *loop, struct error *err)
{
	if (loop->terminal)
		return draw(loop, err);
	if (top_plain_interval(&loop->plain, &loop->model, loop->ended, stdout))
		return error_no_memory(err, "top");
	if (put_plain_waits(loop->symbolizer.last.profile, loop, err))
		return error_no_memory(err, "top");
	if (loop->symbolizer.last.profile->waits)
		putchar('\n');
	return flush(loop);
}

/* Whether the next interval must wait: the display is frozen, or names are being found. */
static bool is_waiting(const struct top_loop *loop)
{
	return loop->ui.frozen || loop->symbolizer.work.profile;
}

static int timeout_ms(const struct top_loop *loop)
{
	uint64_t now = monotonic_ns(), ms;

	if (is_waiting(loop))
		return -1;
	ms = loop->due_ns > now ? (loop->due_ns - now) / 1000000 + 1 : 0;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static int read_when_due(struct top_loop *loop, struct error *err)
{
	uint64_t now = monotonic_ns();

	if (is_waiting(loop) || now < loop->due_ns)
		return 0;
	/* If an interval took longer than planned, skip some. */
	loop->due_ns += ((now - loop->due_ns) / loop->delay_ns + 1) * loop->delay_ns;
	return begin_top_interval(loop, err);
}

/* Returns 1 at the end. */
static int show_when_named(struct top_loop *loop, struct error *err)
{
	int ret;

	if (loop->ui.frozen || !loop->symbolizer.work.profile)
		return 0;
	ret = end_interval(loop, err);
	return ret ? ret : show_interval(loop, err);
}

enum { FD_SESSION, FD_SIGNAL, FD_RESIZE, FD_ENDED, FD_SYMBOLIZED, FD_KEYS, FD_NR };

static int put_callers(struct profile *profile, void *of, struct error *err)
{
	const struct top_report *page = of;

	return report_tree(profile, page->options, page->out, err);
}

static int put_waits(struct profile *profile, void *of, struct error *err)
{
	const struct top_report *page = of;

	return report_waits(profile, page->options, page->out, err);
}

/* Opens a page with a report of all counts. */
static int open_report(struct top_loop *loop, const struct report_options *options,
		       int (*put)(struct profile *profile, void *of, struct error *err),
		       struct error *err)
{
	struct top_report page = { .loop = loop, .options = options };
	struct error why = { 0 };
	char *text = NULL;
	size_t size;

	page.out = open_memstream(&text, &size);
	if (!page.out)
		return error_no_memory(err, "top");
	if (kept_show(&loop->kept, &loop->symbolizer.last.profile, put, &page, &why))
		text_write(page.out, why.text, 0);
	if (fclose(page.out)) {
		free(text);
		return error_no_memory(err, "top");
	}
	top_page_open(&loop->ui.page, text, size);
	return 0;
}

static int put_annotation(struct profile *profile, void *of, struct error *err)
{
	const struct top_report *page = of;
	struct symbolizer *symbolizer = &page->loop->symbolizer;
	const struct object_opener opener = symbolizer_opener(symbolizer);
	const struct top_annotate_options options = {
		.last = symbolizer->last.profile,
		.opener = &opener,
		.color = true,
		.width = (unsigned int)page->loop->screen.columns
	};

	return top_annotate(profile, top_ui_row(&page->loop->ui), &options, page->out, err);
}

/* Shows the instructions of a function, like report --annotate. */
static int open_annotation(struct top_loop *loop, struct error *err)
{
	loop->ui.wants_page = false;
	if (!top_ui_row(&loop->ui) || !loop->symbolizer.last.profile)
		return 0;
	return open_report(loop, NULL, put_annotation, err);
}

/* Shows where threads waited so far, like report --waits. */
static int open_waits(struct top_loop *loop, struct error *err)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS,
						.limit = WAITS_ROWS,
						.color = true,
						.width = (unsigned int)loop->screen.columns };

	loop->ui.wants_waits = false;
	if (!loop->symbolizer.last.profile || !loop->symbolizer.last.profile->waits) {
		snprintf(loop->ui.message, sizeof(loop->ui.message),
			 "No waits were counted: start top with --waits.");
		return 0;
	}
	return open_report(loop, &options, put_waits, err);
}

/* Shows the callers in all counts, like report --callers. */
static int open_callers(struct top_loop *loop, struct error *err)
{
	const struct top_row *row = top_ui_row(&loop->ui);
	const char *object = row ? row->object : NULL;
	const struct report_options options = { .callers = true,
						.tree = TREE_CALLERS,
						.function = row ? row->name : NULL,
						.objects = &object,
						.nr_objects = object ? 1 : 0,
						.target = REPORT_ALL_TARGETS,
						.min = CALLERS_MIN,
						.limit = CALLERS_ROWS,
						.color = true,
						.width = (unsigned int)loop->screen.columns };

	loop->ui.wants_callers = false;
	if (!loop->options->callers || !row || !loop->symbolizer.last.profile) {
		snprintf(loop->ui.message, sizeof(loop->ui.message), "No callers were counted%s.",
			 loop->options->callers ? " yet" : ": start top with --callers");
		return 0;
	}
	return open_report(loop, &options, put_callers, err);
}

static void save_file(struct top_loop *loop)
{
	struct profile **last = &loop->symbolizer.last.profile;
	char *message = loop->ui.message;
	size_t size = sizeof(loop->ui.message);
	struct error why;

	loop->ui.wants_file = false;
	if (!*last)
		snprintf(message, size, "Nothing to write: the first interval is not over yet.");
	else if (kept_save(&loop->kept, last, time(NULL), &why))
		snprintf(message, size, "%s", why.text);
	else
		snprintf(message, size, "written: %s", kept_name(&loop->kept));
}

/* Returns 1 if the user wants to quit. */
static int read_keys(struct top_loop *loop, struct error *err)
{
	uint32_t key;

	while (terminal_key(loop->terminal, &key)) {
		if (top_ui_key(&loop->ui, key))
			return 1;
		if (loop->ui.wants_page && open_annotation(loop, err))
			return -ENOMEM;
		if (loop->ui.wants_callers && open_callers(loop, err))
			return -ENOMEM;
		if (loop->ui.wants_waits && open_waits(loop, err))
			return -ENOMEM;
		if (loop->ui.wants_file)
			save_file(loop);
	}
	return draw(loop, err);
}

/*
 * Returns 1 at the end. The signal must be read, or it would kill us once signals are let through.
 */
static int read_top_signal(struct top_loop *loop)
{
	struct signalfd_siginfo info;

	return read(loop->signal_fd, &info, sizeof(info)) == sizeof(info);
}

static int resize(struct top_loop *loop, struct error *err)
{
	struct signalfd_siginfo info;

	if (read(loop->resize_fd, &info, sizeof(info)) != sizeof(info) || !loop->terminal)
		return 0;
	terminal_resized(loop->terminal);
	return draw(loop, err);
}

/* Returns 1 at the end. */
static int handle_events(struct top_loop *loop, const struct pollfd *fds, struct error *err)
{
	int ret = 0;

	/* Poll the session first, while the process of a new file may still exist. */
	if (fds[FD_SESSION].revents) {
		ret = session_poll(loop->session, err);
		cgroup_labels_look(&loop->labels, loop->session);
	}
	if (!ret && fds[FD_SIGNAL].revents)
		ret = read_top_signal(loop);
	if (!ret && fds[FD_RESIZE].revents)
		ret = resize(loop, err);
	if (!ret && fds[FD_ENDED].revents)
		ret = loop->is_over(loop->targets);
	if (!ret && fds[FD_SYMBOLIZED].revents)
		ret = show_when_named(loop, err);
	if (!ret && fds[FD_KEYS].revents & POLLIN)
		ret = read_keys(loop, err);
	else if (!ret && fds[FD_KEYS].revents)
		ret = 1;
	return ret;
}

/* Returns 0 at the end. */
static int watch_top(struct top_loop *loop, struct error *err)
{
	struct pollfd fds[FD_NR] = {
		[FD_SESSION] = { .fd = session_fd(loop->session), .events = POLLIN },
		[FD_SIGNAL] = { .fd = loop->signal_fd, .events = POLLIN },
		[FD_RESIZE] = { .fd = loop->resize_fd, .events = POLLIN },
		[FD_ENDED] = { .fd = loop->ended_fd, .events = POLLIN },
		[FD_SYMBOLIZED] = { .events = POLLIN },
		[FD_KEYS] = { .fd = loop->terminal ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int ret = 0;

	loop->due_ns = monotonic_ns() + loop->delay_ns;
	/* Find a target that ended before it was watched. */
	if (loop->is_over(loop->targets))
		return 0;
	if (loop->terminal)
		ret = draw(loop, err);
	while (!ret && !(loop->iterations && loop->model.intervals >= loop->iterations)) {
		fds[FD_SYMBOLIZED].fd = loop->ui.frozen ? -1 : loop->symbolizer.done_fd;
		if (poll(fds, FD_NR, timeout_ms(loop)) > 0)
			ret = handle_events(loop, fds, err);
		if (!ret)
			ret = read_when_due(loop, err);
	}
	return ret < 0 ? ret : 0;
}

/* Shows the remaining counts. */
static int end_intervals(struct top_loop *loop, struct error *err)
{
	int ret = session_stop(loop->session, err);

	if (!ret && loop->symbolizer.work.profile)
		ret = end_interval(loop, err);
	if (!ret)
		ret = begin_top_interval(loop, err);
	return ret ? ret : end_interval(loop, err);
}

static int show_overall(struct top_loop *loop, struct error *err)
{
	if (top_plain_overall(&loop->plain, &loop->model, stdout))
		return error_no_memory(err, "top");
	if (loop->symbolizer.last.profile && loop->symbolizer.last.profile->waits) {
		putchar('\n');
		if (kept_show(&loop->kept, &loop->symbolizer.last.profile, put_plain_waits, loop,
			      err))
			return error_no_memory(err, "top");
	}
	flush(loop);
	return 0;
}

static int show_end(struct top_loop *loop, struct error *err)
{
	int ret = loop->out_ret ? 0 : show_overall(loop, err);

	if (!ret && loop->save)
		ret = kept_save(&loop->kept, &loop->symbolizer.last.profile, time(NULL), err);
	series_print(&loop->kept.files, stderr);
	if (ret || !loop->out_ret)
		return ret;
	*err = loop->out_err;
	return loop->out_ret;
}

static void close_terminal(struct top_loop *loop)
{
	if (!loop->terminal)
		return;
	terminal_close(loop->terminal);
	loop->terminal = NULL;
	loop->plain.choice.by = loop->ui.choice.by;
	loop->plain.limit = LAST_ROWS;
}

/* Opens a terminal if stdout can be drawn on, and keys can be read. */
static int open_terminal(struct top_loop *loop, struct error *err)
{
	const char *type = getenv("TERM");
	int ret;

	if (!type || !*type || !strcmp(type, "dumb") || !terminal_attached(stdout) ||
	    !terminal_attached(stdin))
		return 0;
	ret = terminal_open(type, stdout, stdin, color_enabled(stdout), &loop->terminal, err);
	return ret == -ENOTTY ? 0 : ret;
}

int top_loop_run(struct top_loop *loop, struct error *err)
{
	int ret;

	stdout_begin();
	ret = symbolizer_init(&loop->symbolizer, loop->session, loop->options, err);
	if (!ret)
		ret = cgroup_labels_begin(&loop->labels, loop->options, err);
	if (!ret)
		ret = open_terminal(loop, err);
	if (!ret)
		ret = watch_top(loop, err);
	close_terminal(loop);
	sample_let_signals_through("");
	if (!ret)
		ret = end_intervals(loop, err);
	return ret ? ret : show_end(loop, err);
}

void top_loop_free(struct top_loop *loop)
{
	close_terminal(loop);
	cgroup_labels_end(&loop->labels);
	symbolizer_free(&loop->symbolizer);
	kept_free(&loop->kept);
	top_ui_free(&loop->ui);
	top_plain_free(&loop->plain);
	top_model_free(&loop->model);
	if (loop->signal_fd > 0)
		close(loop->signal_fd);
	if (loop->resize_fd > 0)
		close(loop->resize_fd);
}
