// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "attach.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kernel.h"

#define MAX_ARGS 32

/*
 * The clocks are opened last, one for each CPU; before that a single one may be opened as a trial.
 */
static bool is_sampling(void *argument)
{
	struct child *child = argument;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	return process_fds(child->pid, "perf_event") >= cpus || process_state(child->pid) == 'Z';
}

/* The scheduler's tick is attached last, after fork, exec and exit. */
static bool is_ticking(void *argument)
{
	struct child *child = argument;

	return process_fds(child->pid, "bpf_link") > 3 || process_state(child->pid) == 'Z';
}

static void start(struct child *child, const char *argv[MAX_ARGS], const char *const options[],
		  bool (*has_begun)(void *child))
{
	size_t n = 0;

	while (argv[n])
		n++;
	for (; *options; options++) {
		cr_assert_lt(n + 1, MAX_ARGS);
		argv[n++] = *options;
	}
	child_start(child, NULL, argv);
	cr_assert(eventually(has_begun, child), "attach does not begin");
}

void attach_start(struct live *live, struct child *child, const char *const options[])
{
	const char *argv[MAX_ARGS] = { BPFPROFIL_BIN, "attach", FAST, "-o", live->profile };

	start(child, argv, options, is_sampling);
}

void attach_start_tick(struct live *live, struct child *child, const char *const options[])
{
	const char *argv[MAX_ARGS] = { BPFPROFIL_BIN, "attach", "--source",
				       "tick",	      "-o",	live->profile };

	start(child, argv, options, is_ticking);
}

void attach_finish(struct live *live, struct child *child, int signal)
{
	if (signal)
		kill(child->pid, signal);
	child_end_free(&live->end);
	child_finish(child, &live->end);
	cr_assert_eq(live->end.status, 0, "exit %d: %s", live->end.status, live->end.err);
}

void attach_end(struct live *live, struct child *child, int signal)
{
	attach_finish(live, child, signal);
	live_load(live);
	doc_assert_sound(live->doc);
	doc_assert_delivered(live->doc);
	cr_assert(json_object_get_boolean(doc_get(live->doc, "complete")));
}

static double thread_turns(const char *path)
{
	FILE *file = fopen(path, "re");
	double turns = 0;
	char line[256];
	long n;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %ld", &n) == 1)
			turns += (double)n;
	if (file)
		fclose(file);
	return turns;
}

/* Counts the threads, and how many of them are stopped. */
static int look_at_threads(pid_t pid, int *stopped, double *turns)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int threads = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	cr_assert_not_null(dir, "%s: %s", path, strerror(errno));
	*stopped = 0;
	*turns = 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		threads++;
		*stopped += process_state((pid_t)atoi(entry->d_name)) == 'T';
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, entry->d_name);
		*turns += thread_turns(path);
	}
	closedir(dir);
	return threads;
}

static bool all_stopped(void *argument)
{
	struct burner *burner = argument;
	int stopped, threads = look_at_threads(burner->child.pid, &stopped, &burner->turns);

	return stopped == threads;
}

void burner_look(struct burner *burner)
{
	burner->cpu_ns = process_cpu_ns(burner->child.pid) - burner->from_ns;
}

void burner_hold(struct burner *burner)
{
	kill(burner->child.pid, SIGSTOP);
	cr_assert(eventually(all_stopped, burner), "%s cannot be stopped", burner->name);
	burner_look(burner);
}

struct ready {
	struct burner *burner;
	int threads;
};

static bool is_ready(void *argument)
{
	struct ready *ready = argument;
	char path[64], exe[PATH_MAX];
	double turns;
	ssize_t len;
	int stopped;

	snprintf(path, sizeof(path), "/proc/%d/exe", ready->burner->child.pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	cr_assert_gt(len, 0, "%s has ended", ready->burner->name);
	exe[len] = '\0';
	return !strcmp(strrchr(exe, '/') + 1, ready->burner->name) &&
	       look_at_threads(ready->burner->child.pid, &stopped, &turns) >= ready->threads;
}

void burner_start(struct burner *burner, struct live *live, const char *name, const char *workload,
		  int threads, const char *const arguments[])
{
	struct ready ready = { burner, threads };
	const char *argv[MAX_ARGS] = { live_copy(live, workload, name) };
	size_t n = 1;

	memset(burner, 0, sizeof(*burner));
	for (; *arguments; arguments++)
		argv[n++] = *arguments;
	burner->name = name;
	child_start(&burner->child, NULL, argv);
	cr_assert(eventually(is_ready, &ready), "%s does not start", name);
	burner_hold(burner);
	burner->from_ns = process_cpu_ns(burner->child.pid);
}

void burner_let(struct burner *burner)
{
	kill(burner->child.pid, SIGCONT);
}

struct goal {
	pid_t pid;
	double ns;
};

static bool is_reached(void *argument)
{
	struct goal *goal = argument;

	return process_cpu_ns(goal->pid) >= goal->ns;
}

void burner_wait(struct burner *burner, double seconds)
{
	struct goal goal = { burner->child.pid, burner->from_ns + seconds * 1e9 };

	cr_assert(eventually(is_reached, &goal), "%s is given no CPU", burner->name);
}

void burner_run(struct burner *burner, double seconds)
{
	burner_let(burner);
	burner_wait(burner, seconds);
	burner_hold(burner);
}

void burner_end(struct burner *burner)
{
	struct child_end end;

	kill(burner->child.pid, SIGKILL);
	child_finish(&burner->child, &end);
	child_end_free(&end);
}

struct json_object *doc_target(struct json_object *doc, const char *name)
{
	struct json_object *targets = doc_get(doc, "targets"), *found = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(targets); i++) {
		struct json_object *target = json_object_array_get_idx(targets, i);
		const char *its = json_object_get_string(doc_get(target, "name"));

		if (strcmp(its, name))
			continue;
		cr_assert_null(found, "two targets are named %s", name);
		found = target;
	}
	cr_assert_not_null(found, "no target %s", name);
	return found;
}

static bool is_in_file(struct json_object *doc, struct json_object *histogram, const char *name)
{
	struct json_object *object =
		json_object_array_get_idx(doc_get(doc, "objects"), doc_number(histogram, "object"));
	const char *path = json_object_get_string(doc_get(object, "path"));
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && !strcmp(slash + 1, name);
}

uint64_t doc_target_file(struct json_object *doc, struct json_object *target, const char *name)
{
	struct json_object *histograms = doc_get(doc, "histograms");
	uint64_t id = doc_number(target, "id"), sum = 0;
	size_t i, j;

	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *bins = doc_get(histogram, "bins");

		if (doc_number(histogram, "target") != id || !is_in_file(doc, histogram, name))
			continue;
		for (j = 0; j < json_object_array_length(bins); j++)
			sum += json_object_get_uint64(
				json_object_array_get_idx(json_object_array_get_idx(bins, j), 1));
	}
	return sum;
}

bool ticks_agree(struct json_object *doc, uint64_t ticks, double cpu_ns, double turns)
{
	double expected = cpu_ns / (double)doc_number(doc, "sampling.period_ns");
	double off = fabs((double)ticks / expected - 1);

	double allowed = live_allowed_part(expected, turns);

	cr_log_info("%.0f ticks for %.0f in %.0f turns: %.4f, allowed %.4f", (double)ticks,
		    expected, turns, off, allowed);
	return off <= allowed;
}
