// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "trials.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "kernel.h"
#include "libraries.h"

#define MAX_JOBS 4 /* a run mostly waits for grace periods in the kernel */
#define MAX_PLANS 2048
#define MAX_PROGRAMS 65536
#define MAX_TRIED 8192
#define MAX_WRONG 10 /* an error that is everywhere need not be printed a thousand times */
#define MAX_ARGS 64
#define MAX_TRIES 5
#define HANG_S 240
#define OLD "old\n"

const char trials_no_tick[] = "success, but no tick";

struct plan {
	char text[64]; /* FAULT; "": nothing fails */
	int error;
};

/* What this test has tried already. */
static struct {
	const char *program;
	struct plan plan;
} tried[MAX_TRIED];
static size_t nr_tried;

struct job {
	const struct plan *plan; /* NULL: no job is running here */
	pid_t pid;
	time_t started;
	int tries; /* how often this plan had no tick */
	char dir[PATH_MAX / 4]; /* it runs in dir/work; out, err and report are in dir */
};

struct trials {
	const struct subject *subject;
	char dir[64];
	struct plan plans[MAX_PLANS];
	size_t nr_plans;
	size_t missed; /* number of plans whose call never came */
	size_t wrong;
	struct job jobs[MAX_JOBS];
	size_t running;
	char *good_out;
	size_t good_out_len;
	uint32_t programs[MAX_PROGRAMS];
	size_t nr_programs;
};

/* Never fails: a missing file is empty. */
static char *slurp(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "re");
	struct stat stat = { 0 };
	char *text;

	if (file)
		fstat(fileno(file), &stat);
	text = calloc(1, (size_t)stat.st_size + 1);
	cr_assert_not_null(text);
	*ret_len = file ? fread(text, 1, (size_t)stat.st_size, file) : 0;
	if (file)
		fclose(file);
	return text;
}

static void write_old(const char *path)
{
	FILE *file = fopen(path, "we");

	cr_assert(file && fputs(OLD, file) >= 0 && !fclose(file), "%s", path);
}

static const char *in_job(const struct job *job, const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", job->dir, name);
	return path;
}

static const char *work_file(const struct trials *trials, const struct job *job)
{
	char name[NAME_MAX];

	snprintf(name, sizeof(name), "work/%s", trials->subject->file ?: "");
	return in_job(job, name);
}

static void redirect(const char *path, int fd)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(125);
}

static void set_fault(const struct job *job)
{
	char number[16];

	setenv("LD_PRELOAD", FAULT_SHIM, 1);
	/* The shim comes before the sanitizer, whose functions are the next ones for it. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=1", 1);
	setenv("UBSAN_OPTIONS", "print_stacktrace=1:suppressions=" FAULT_UBSAN_SUPP, 1);
	/* With another locale glibc leaks a name when setlocale() runs out of memory. */
	setenv("LC_ALL", "C", 1);
	setenv("FAULT_REPORT", in_job(job, "report"), 1);
	setenv("FAULT", job->plan->text, 1);
	snprintf(number, sizeof(number), "%d", job->plan->error);
	setenv("FAULT_ERRNO", number, 1);
}

static void execute(const struct trials *trials, const struct job *job)
{
	const char *argv[MAX_ARGS] = { trials->subject->program };
	size_t i;

	for (i = 0; trials->subject->arguments[i] && i + 2 < MAX_ARGS; i++)
		argv[i + 1] = trials->subject->arguments[i];
	if (trials->subject->arguments[i])
		_exit(125);
	setpgid(0, 0);
	redirect(in_job(job, "out"), 1);
	redirect(in_job(job, "err"), 2);
	if (chdir(in_job(job, "work")))
		_exit(125);
	set_fault(job);
	execv(argv[0], (char *const *)argv);
	_exit(125);
}

static void start(struct trials *trials, struct job *job, const struct plan *plan)
{
	unlink(in_job(job, "report"));
	if (trials->subject->file)
		write_old(work_file(trials, job));
	job->plan = plan;
	job->started = time(NULL);
	fflush(NULL);
	job->pid = fork();
	cr_assert_geq(job->pid, 0);
	if (!job->pid)
		execute(trials, job);
	trials->running++;
}

/* --- judging one run ------------------------------------------------------------------------- */

static void wrong(struct trials *trials, const struct job *job, int status, const char *why)
{
	size_t length;
	char *err = slurp(in_job(job, "err"), &length), *report, *stack, *fds;

	report = slurp(in_job(job, "report"), &length);
	stack = strstr(report, "\nat ");
	fds = strstr(report, "\nfd ");
	if (stack && strstr(stack, "\nprogram "))
		*strstr(stack, "\nprogram ") = '\0';
	trials->wrong++;
	cr_expect(false, "%s, %s, FAULT=%s FAULT_ERRNO=%d, exit %d after %ld s: %s\n%s%.2000s%s",
		  trials->subject->name, trials->subject->program, job->plan->text,
		  job->plan->error, status, (long)(time(NULL) - job->started), why, err,
		  stack ?: "", fds ?: "");
	free(err);
	free(report);
}

/*
 * Checks for "bpfprofil: what: why", perhaps followed by one "try: "; returns what follows, or
 * NULL.
 */
static const char *clear_line(const char *text)
{
	static const char start[] = "bpfprofil: ", hint[] = "try: ";
	const char *end = strchr(text, '\n'), *why;

	if (strncmp(text, start, strlen(start)) || !end)
		return NULL;
	why = strstr(text + strlen(start), ": ");
	if (!why || why > end || why[2] == '\n')
		return NULL;
	if (!strncmp(++end, hint, strlen(hint)))
		end = strchr(end, '\n') + 1;
	return end;
}

/*
 * A sanitizer's messages are not clear lines. A line may be repeated if something fails repeatedly.
 */
static bool clear_lines(const struct job *job, const char *text)
{
	bool again = strchr(job->plan->text, '+');

	do
		text = clear_line(text);
	while (again && text && *text);
	return text && !*text;
}

/* Whether the folder contains only FILE. */
static bool holds_old(const char *path)
{
	size_t length;
	char *text = slurp(path, &length);
	bool old = !strcmp(text, OLD);

	free(text);
	return old;
}

/* FILE, and the previous one under the name by which run and attach keep it. */
static bool belongs(const struct trials *trials, const struct job *job, const char *name)
{
	const char *file = trials->subject->file;
	size_t length = file ? strlen(file) : 0;
	char path[PATH_MAX];

	if (!file || strncmp(name, file, length) != 0)
		return false;
	if (!name[length])
		return true;
	snprintf(path, sizeof(path), "%s/work/%s", job->dir, name);
	return !strcmp(name + length, ".old") && holds_old(path);
}

static bool folder_clean(const struct trials *trials, const struct job *job)
{
	DIR *dir = opendir(in_job(job, "work"));
	struct dirent *entry;
	bool clean = dir;

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		clean = clean && belongs(trials, job, entry->d_name);
		if (!trials->subject->file || strcmp(entry->d_name, trials->subject->file) != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return clean;
}

static bool group_is_gone(void *argument)
{
	return kill(-*(pid_t *)argument, 0) && errno == ESRCH;
}

static bool still_old(const struct outcome *outcome)
{
	return holds_old(outcome->file);
}

static const char *judge_failure(const struct trials *trials, const struct job *job,
				 const struct outcome *outcome)
{
	if (outcome->status != 1)
		return "the exit status is neither that of success nor 1";
	if (trials->subject->judge_failure && !outcome->err_len)
		return trials->subject->judge_failure(outcome);
	if (!clear_lines(job, outcome->err))
		return "there is not one clear line";
	if (trials->subject->file && !still_old(outcome))
		return "FILE has changed although it failed";
	if (trials->subject->out_varies)
		return NULL;
	if (outcome->out_len > outcome->good_out_len ||
	    memcmp(outcome->out, outcome->good_out, outcome->out_len))
		return "standard output is not a part of what it should be";
	return NULL;
}

static bool ended(const char *report)
{
	return !strncmp(report, "fired ", 6);
}

static const char *judge_traces(const struct trials *trials, struct job *job, const char *report,
				const char *err)
{
	if (!folder_clean(trials, job))
		return "a temporary file is left";
	if (strstr(report, "\nfd "))
		return "a descriptor is left open";
	if (!eventually(group_is_gone, &job->pid))
		return "a child is left";
	return ended(report) || library_gave_up(report, err) ? NULL : "it did not end by itself";
}

static const char *judge_success(const struct trials *trials, const struct job *job,
				 const struct outcome *outcome)
{
	if (outcome->err_len && !clear_lines(job, outcome->err))
		return "what it says on stderr is not one clear line";
	return trials->subject->judge(outcome);
}

static const char *judge_end(const struct trials *trials, const struct job *job,
			     const struct outcome *outcome, const char *report)
{
	if (!ended(report))
		return trials->subject->file && !still_old(outcome) ? "FILE has changed" : NULL;
	if (only_libdw_leaks(report, outcome->err))
		return NULL;
	if (outcome->status == trials->subject->good)
		return judge_success(trials, job, outcome);
	return judge_failure(trials, job, outcome);
}

/* False: it must be repeated. */
static bool judge(struct trials *trials, struct job *job, int status, const char *report)
{
	struct outcome outcome = { .status = status,
				   .file = work_file(trials, job),
				   .good_out = trials->good_out,
				   .good_out_len = trials->good_out_len };
	const char *why;
	bool again;

	outcome.out = slurp(in_job(job, "out"), &outcome.out_len);
	outcome.err = slurp(in_job(job, "err"), &outcome.err_len);
	why = judge_traces(trials, job, report, outcome.err);
	if (!why)
		why = judge_end(trials, job, &outcome, report);
	again = why == trials_no_tick && ++job->tries < MAX_TRIES;
	if (why && !again)
		wrong(trials, job, status, why);
	free(outcome.out);
	free(outcome.err);
	return !again;
}

/* Remembers the BPF programs, and whether the fault came at all. */
static void take_report(struct trials *trials, const char *report)
{
	const char *line;

	for (line = report; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "program ", 8) && trials->nr_programs < MAX_PROGRAMS)
			trials->programs[trials->nr_programs++] = (uint32_t)atoi(line + 8);
		else if (!strncmp(line, "fired 0\n", 8))
			trials->missed++;
	}
}

/* A program that writes JIT text puts its pid into the file "jit", and leaves its map. */
static void remove_map(const struct job *job)
{
	size_t length;
	char *pid = slurp(in_job(job, "jit"), &length), map[64];

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(pid));
	unlink(map);
	unlink(in_job(job, "jit"));
	free(pid);
}

/* False: it had no tick, and must be repeated. */
static bool end_job(struct trials *trials, struct job *job, int status)
{
	size_t length;
	char *report = slurp(in_job(job, "report"), &length);
	bool judged;

	take_report(trials, report);
	judged = judge(trials, job, status, report);
	remove_map(job);
	free(report);
	job->plan = NULL;
	trials->running--;
	if (judged)
		job->tries = 0;
	return judged;
}

/* --- running them ---------------------------------------------------------------------------- */

/* Ends jobs that hang: their process groups are killed, and the trials are judged by that. */
static void end_hanging(struct trials *trials)
{
	time_t now = time(NULL);
	size_t i;

	for (i = 0; i < MAX_JOBS; i++) {
		if (trials->jobs[i].plan && now - trials->jobs[i].started > HANG_S)
			kill(-trials->jobs[i].pid, SIGKILL);
	}
}

static void wait_one(struct trials *trials)
{
	const struct plan *plan;
	pid_t pid;
	int status;
	size_t i;

	while (!(pid = waitpid(-1, &status, WNOHANG))) {
		end_hanging(trials);
		usleep(2000);
	}
	for (i = 0; i < MAX_JOBS; i++) {
		plan = trials->jobs[i].plan;
		if (plan && trials->jobs[i].pid == pid &&
		    !end_job(trials, &trials->jobs[i], child_shell_status(status)))
			start(trials, &trials->jobs[i], plan);
	}
}

static void start_next(struct trials *trials, const struct plan *plan)
{
	size_t i;

	while (trials->running == MAX_JOBS)
		wait_one(trials);
	for (i = 0; i < MAX_JOBS; i++) {
		if (!trials->jobs[i].plan) {
			start(trials, &trials->jobs[i], plan);
			return;
		}
	}
}

static bool wanted(const char *const classes[], const char *class)
{
	while (*classes && strcmp(*classes, class) != 0)
		classes++;
	return *classes;
}

static bool try_first_time(const char *program, const struct plan *plan)
{
	size_t i;

	for (i = 0; i < nr_tried; i++) {
		if (!strcmp(tried[i].plan.text, plan->text) && tried[i].plan.error == plan->error &&
		    !strcmp(tried[i].program, program))
			return false;
	}
	cr_assert_lt(nr_tried, MAX_TRIED);
	tried[nr_tried].program = program;
	tried[nr_tried++].plan = *plan;
	return true;
}

static void add_plan(struct trials *trials, const struct trial_kind *kind, const char *class,
		     const char *hash, int nth)
{
	struct plan *plan = &trials->plans[trials->nr_plans];

	cr_assert_lt(trials->nr_plans, MAX_PLANS);
	snprintf(plan->text, sizeof(plan->text), "%s:%s:%d%s", class, hash, nth,
		 kind->from_then_on ? "+" : "");
	plan->error = kind->error;
	trials->nr_plans += try_first_time(trials->subject->program, plan);
}

/* For these classes the second call of a stack is for another CPU, map or file. */
static bool second_differs(const char *class)
{
	return wanted((const char *const[]){ "open", "perf", "bpf", NULL }, class);
}

/* How often the report has this entry before the line: the library's earlier stacks. */
static int earlier_stacks(const char *report, const char *line, const char *entry)
{
	int nr;

	for (nr = 0; (report = strstr(report, entry)) && report < line; nr++)
		report += strlen(entry);
	return nr;
}

/*
 * What a library does when it lacks memory is the library's, and the program sees but the result.
 * So of the stacks within one call of a library the first, second, fourth, eighth and so on are
 * tried: libbpf has forty in which it loads a program.
 */
static bool seen_by_others(const char *report, const char *line, const char *class,
			   const char *hash, const char *entry)
{
	int nr;

	if (strcmp(class, "memory") != 0 || !strcmp(hash, entry))
		return false;
	nr = earlier_stacks(report, line, entry) + 1;
	return nr & (nr - 1);
}

/*
 * One in so many, by the stack, so that it is the same ones for each subject of a test. Which ones depends on the day:
 * FAULT_DAY is another one than today, in days since 1970.
 */
static bool passed_over(const struct trial_kind *kind, const char *hash)
{
	const char *day = getenv("FAULT_DAY");
	const uint64_t part = day ? strtoull(day, NULL, 10) : (uint64_t)time(NULL) / 86400;

	return ((strtoull(hash, NULL, 16) >> 32) + part) % (unsigned int)kind->every;
}

static void make_plans(struct trials *trials, const char *report, const struct trial_kind *kind)
{
	char class[16], hash[24], entry[24];
	const char *line;
	int calls;

	for (line = report; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "site %15s %23s %d %23s", class, hash, &calls, entry) != 4 ||
		    !wanted(kind->classes, class) || passed_over(kind, hash) ||
		    seen_by_others(report, line, class, hash, entry))
			continue;
		add_plan(trials, kind, class, hash, 1);
		if (calls > 1 && second_differs(class) && !kind->from_then_on)
			add_plan(trials, kind, class, hash, 2);
	}
}

/* The undisturbed run shows what it should write, and which calls there are. */
static void learn(struct trials *trials, const struct trial_kind *kind)
{
	static const struct plan nothing;
	struct job *job = &trials->jobs[0];
	char *report = NULL;
	size_t length;
	int status;

	do {
		free(trials->good_out);
		free(report);
		start(trials, job, &nothing);
		cr_assert_eq(waitpid(job->pid, &status, 0), job->pid);
		status = child_shell_status(status);
		trials->good_out = slurp(in_job(job, "out"), &trials->good_out_len);
		report = slurp(in_job(job, "report"), &length);
		if (status != trials->subject->good)
			wrong(trials, job, status, "it does not work undisturbed");
	} while (!end_job(trials, job, status));
	if (!trials->wrong)
		make_plans(trials, report, kind);
	trials->missed = 0;
	free(report);
}

static void make_folders(struct trials *trials)
{
	size_t i;

	snprintf(trials->dir, sizeof(trials->dir), "/tmp/bpfprofil-fault-XXXXXX");
	cr_assert_not_null(mkdtemp(trials->dir));
	for (i = 0; i < MAX_JOBS; i++) {
		struct job *job = &trials->jobs[i];

		snprintf(job->dir, sizeof(job->dir), "%s/%zu", trials->dir, i);
		cr_assert(!mkdir(job->dir, 0700) && !mkdir(in_job(job, "work"), 0700));
	}
}

void trials_run(const struct subject *subject, const struct trial_kind *kind)
{
	struct trials *trials = calloc(1, sizeof(*trials));
	size_t i;

	cr_assert_not_null(trials);
	trials->subject = subject;
	make_folders(trials);
	learn(trials, kind);
	for (i = 0; i < trials->nr_plans && trials->wrong < MAX_WRONG; i++)
		start_next(trials, &trials->plans[i]);
	while (trials->running)
		wait_one(trials);
	/* Which files are hit depends on the clock: some calls occur in one run only, or there is but one. */
	cr_expect_leq(trials->missed, (trials->nr_plans + 1) / 2,
		      "%s: %zu of %zu faults never came", subject->name, trials->missed,
		      trials->nr_plans);
	cr_expect(bpf_programs_gone(trials->programs, trials->nr_programs),
		  "%s: BPF programs stay loaded", subject->name);
	child_do(ARGS("rm", "-rf", trials->dir));
	free(trials->good_out);
	free(trials);
}
