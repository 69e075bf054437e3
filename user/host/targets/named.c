// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "base/nearest.h"
#include "host/targets/proc_stat.h"
#include "host/targets/targets_impl.h"

enum { CHOSEN_MAX = 20 }; /* this many processes are listed one by one */

/* The processes that match a pattern, while they are searched for. */
struct name_search {
	const char *pattern;
	pid_t *pids;
	size_t nr;
	size_t capacity;
	struct target_origin origin;
	struct names names; /* all process names, to suggest one if the pattern was mistyped */
	bool numbered; /* names are of the form "PID<tab>NAME" */
	FILE *chosen; /* writes to origin.chosen */
};

/* Compares the last component of the first argument, if that can be read. */
static bool argument_matches(const struct name_search *search, pid_t pid)
{
	char path[64], line[PATH_MAX];
	cleanup_file FILE *file = NULL;
	const char *slash;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	length = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	line[length] = '\0';
	slash = strrchr(line, '/');
	return length && !fnmatch(search->pattern, slash ? slash + 1 : line, 0);
}

static bool matches_process(const struct name_search *search, pid_t pid, const char *name)
{
	return !fnmatch(search->pattern, name, 0) || argument_matches(search, pid);
}

static int add_pid_named(struct name_search *search, pid_t pid, int fd, const char *name,
			 struct error *err)
{
	int ret = grow((void **)&search->pids, &search->capacity, search->nr + 1,
		       sizeof(*search->pids));

	if (ret) {
		close(fd);
		return error_errno(err, ret, "--name");
	}
	search->pids[search->nr++] = pid;
	if (search->nr <= CHOSEN_MAX)
		fprintf(search->chosen, "%s%s (%d)", search->nr > 1 ? ", " : " ", name, pid);
	return target_origin_add_process(&search->origin, fd, err);
}

static int add_name(struct name_search *search, pid_t pid, const char *name)
{
	char line[sizeof(((struct proc_stat *)0)->name) + 16];

	snprintf(line, sizeof(line), "%d\t%s", pid, name);
	if (!search->numbered)
		return names_add(&search->names, name, strlen(name));
	return names_add(&search->names, line, strlen(line));
}

/* A process that ends meanwhile is skipped. */
static int look_at_process(struct name_search *search, pid_t pid, struct error *err)
{
	int fd = process_fd(pid);
	struct proc_stat process;
	int ret = 0;

	if (fd < 0)
		return errno == EMFILE ? error_errno(err, -errno, "--name") : 0;
	if (!proc_stat_read(pid, &process) && process_has_ended(fd) <= 0 &&
	    !(process.flags & PROCESS_OF_KERNEL)) {
		if (matches_process(search, pid, process.name))
			return add_pid_named(search, pid, fd, process.name, err);
		ret = add_name(search, pid, process.name);
	}
	close(fd);
	return ret ? error_errno(err, ret, "--name") : 0;
}

static int look_at_processes(struct name_search *search, struct error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;
	int ret = 0;

	if (!proc)
		return error_errno(err, -errno, "/proc");
	while (!ret && (entry = readdir(proc)))
		if (!parse_u64(entry->d_name, &pid) && (pid_t)pid != getpid())
			ret = look_at_process(search, (pid_t)pid, err);
	closedir(proc);
	return ret;
}

int process_names(bool numbered, struct names *names, struct error *err)
{
	struct name_search search = { .pattern = "", .numbered = numbered };
	int ret = look_at_processes(&search, err);

	*names = search.names;
	return ret;
}

static int refuse_nobody(struct name_search *search, struct error *err)
{
	const char *nearest = names_nearest(&search->names, search->pattern);

	const char *pattern = search->pattern, *before, *behind;

	before = *pattern == '*' ? "" : "*";
	behind = pattern[strlen(pattern) - 1] == '*' ? "" : "*";
	error_set(err, -ESRCH, "--name '%s': no process has this name", pattern);
	if (nearest)
		error_hint(err, "--name %s", nearest);
	else if (*before || *behind)
		error_hint(err, "a pattern like '%s%s%s'", before, pattern, behind);
	return -ESRCH;
}

static int add_named_target(struct targets *targets, struct name_search *search, bool no_children,
			    struct error *err)
{
	struct target target = { .kind = TARGET_PID,
				 .pid = search->pids[0],
				 .no_children = no_children };
	char *name;
	int length;

	if (search->nr == 1)
		length = asprintf(&name, "%s (%d)", search->pattern, target.pid);
	else
		length = asprintf(&name, "%s (%zu processes)", search->pattern, search->nr);
	target.name = length < 0 ? NULL : name;
	target.nr_others = search->nr - 1;
	target.others = search->pids;
	/* The target takes over the list, without its first element, which is target.pid. */
	memmove(search->pids, search->pids + 1, target.nr_others * sizeof(*search->pids));
	search->pids = NULL;
	return targets_add(targets, &target, &search->origin, err);
}

static int finish_search(struct name_search *search, struct error *err)
{
	if (search->nr > CHOSEN_MAX)
		fprintf(search->chosen, " and %zu more", search->nr - CHOSEN_MAX);
	if (fclose(search->chosen))
		return error_errno(err, -ENOMEM, "--name");
	return search->nr ? 0 : refuse_nobody(search, err);
}

int targets_add_named(struct targets *targets, const char *pattern, bool no_children,
		      struct error *err)
{
	struct name_search search = { .pattern = pattern, .origin = { .member_fd = -1 } };
	size_t size;
	int ret, finished;

	if (!*pattern)
		return error_set(err, -EINVAL, "--name '': must be a process's name or a pattern");
	search.chosen = open_memstream(&search.origin.chosen, &size);
	if (!search.chosen || asprintf(&search.origin.typed, "--name '%s'", pattern) < 0)
		return error_errno(err, -ENOMEM, "--name");
	fprintf(search.chosen, "--name '%s':", pattern);
	ret = look_at_processes(&search, err);
	finished = finish_search(&search, ret ? &(struct error){ 0 } : err);
	names_free(&search.names);
	if (!ret && !finished)
		return add_named_target(targets, &search, no_children, err);
	free(search.pids);
	target_origin_free(&search.origin);
	return ret ? ret : finished;
}
