// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/util.h"
#include "host/targets/targets_impl.h"

/* Reads /proc to find processes. First pin a process by a descriptor, then read its files. */

#define PROCESS_OF_KERNEL 0x00200000 /* include/linux/sched.h: PF_KTHREAD */

/* Values from /proc/PID/stat. */
struct proc_stat {
	char name[64]; /* kernel workers have names longer than the usual 15 bytes */
	pid_t parent;
	unsigned int flags;
};

static int proc_stat_read(pid_t pid, struct proc_stat *process)
{
	char path[64], line[512], *name, *end;
	cleanup_file FILE *file = NULL;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	length = fread(line, 1, sizeof(line) - 1, file);
	line[length] = '\0';
	name = strchr(line, '(');
	/* The name may contain anything. Therefore it ends at the last parenthesis. */
	end = strrchr(line, ')');
	/* The file is also empty if the process ended after it was opened. */
	if (!name || !end)
		return -ESRCH;
	*end = '\0';
	snprintf(process->name, sizeof(process->name), "%s", name + 1);
	if (sscanf(end + 1, " %*c %d %*d %*d %*d %*d %u", &process->parent, &process->flags) != 2)
		return -ESRCH;
	return 0;
}

pid_t proc_status_pid(const char *proc, pid_t pid, const char *name)
{
	cleanup_file FILE *file = NULL;
	size_t length = strlen(name);
	char path[128], line[128];

	snprintf(path, sizeof(path), "%s/%d/status", proc, pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			return (pid_t)strtol(line + length + 1, NULL, 10);
	return 0;
}

static int no_process(pid_t pid, struct error *err)
{
	struct proc_stat process;
	pid_t leader = proc_status_pid("/proc", pid, "Tgid");

	if (!leader || leader == pid)
		return error_set(err, -ESRCH, "--pid %d: no such process", pid);
	if (proc_stat_read(leader, &process))
		snprintf(process.name, sizeof(process.name), "?");
	error_set(err, -ESRCH, "--pid %d: a thread of process %d (%s), not a process", pid, leader,
		  process.name);
	error_hint(err, "--pid %d", leader);
	return -ESRCH;
}

static int ended(pid_t pid, const struct proc_stat *process, struct error *err)
{
	struct proc_stat parent;

	if (proc_stat_read(process->parent, &parent))
		return error_set(err, -ESRCH, "--pid %d (%s): has ended", pid, process->name);
	return error_set(err, -ESRCH,
			 "--pid %d (%s): has ended; its parent %d (%s) has not yet waited for it",
			 pid, process->name, process->parent, parent.name);
}

static int cannot_open(pid_t pid, int why, struct error *err)
{
	error_errno(err, why, "--pid %d", pid);
	if (why == -EMFILE)
		error_hint(err, "ulimit -n 8192");
	return why;
}

/*
 * Checks a process by its files. The descriptor pins the pid. Therefore the files belong to the
 * process.
 */
static int check_process(pid_t pid, int fd, struct proc_stat *process, struct error *err)
{
	int ret = proc_stat_read(pid, process);

	if (ret && ret != -ENOENT && ret != -ESRCH)
		return cannot_open(pid, ret, err);
	if (ret && process_has_ended(fd) > 0)
		return no_process(pid, err);
	if (ret)
		return error_set(err, -EACCES,
				 "--pid %d: hidden from us in /proc (hidepid); root can see it",
				 pid);
	if (process->flags & PROCESS_OF_KERNEL)
		return error_set(err, -EOPNOTSUPP,
				 "--pid %d (%s): a kernel thread, which has no text of its own",
				 pid, process->name);
	return process_has_ended(fd) > 0 ? ended(pid, process, err) : 0;
}

/* Returns a descriptor of the process, or an error with the reason. */
static int open_process(pid_t pid, struct proc_stat *process, struct error *err)
{
	int fd = process_fd(pid), ret;

	/* A thread that is not a process gives EINVAL, or ENOENT in newer kernels. */
	if (fd < 0 && errno != ESRCH && errno != EINVAL && errno != ENOENT)
		return cannot_open(pid, -errno, err);
	if (fd < 0)
		return no_process(pid, err);
	ret = check_process(pid, fd, process, err);
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

/* Owns the descriptor, even on failure. */
static int add_process(struct target_origin *origin, int fd, struct error *err)
{
	int *grown = reallocarray(origin->pid_fds, origin->nr_pid_fds + 1, sizeof(*grown));

	if (!grown) {
		close(fd);
		return error_errno(err, -ENOMEM, "targets");
	}
	origin->pid_fds = grown;
	grown[origin->nr_pid_fds++] = fd;
	return 0;
}

static int add_pid(struct targets *targets, pid_t pid, bool no_children, struct error *err)
{
	struct target target = { .kind = TARGET_PID, .pid = pid, .no_children = no_children };
	struct target_origin origin = { .member_fd = -1 };
	struct proc_stat process;
	int fd, ret;

	fd = open_process(pid, &process, err);
	if (fd < 0)
		return fd;
	ret = add_process(&origin, fd, err);
	if (ret)
		return ret;
	target.name = format_text("%s (%d)", process.name, pid);
	origin.typed = format_text("--pid %d", pid);
	return targets_add(targets, &target, &origin, err);
}

int targets_add_pids(struct targets *targets, const char *list, bool no_children, struct error *err)
{
	cleanup_free char *copy = strdup(list);
	char *rest = copy, *word;
	uint64_t pid;
	int ret = 0;

	if (!copy)
		return error_errno(err, -ENOMEM, "--pid");
	while (!ret && (word = strsep(&rest, ","))) {
		if (parse_u64(word, &pid) || !pid || pid > INT_MAX)
			return error_set(err, -EINVAL,
					 "--pid '%s': must be a process's number, or several like "
					 "12,345",
					 list);
		ret = add_pid(targets, (pid_t)pid, no_children, err);
	}
	return ret;
}

enum { CHOSEN_MAX = 20 }; /* limit of processes to list */

/* A search for processes that match a pattern. */
struct name_search {
	const char *pattern;
	pid_t *pids;
	size_t nr;
	size_t capacity;
	struct target_origin origin;
	struct names names; /* all process names, to suggest one after a typing error */
	pid_t mentions; /* one with the name elsewhere in its command line, as scripts; 0: none */
	bool numbered; /* names are "PID<tab>NAME" */
	FILE *chosen; /* writes to origin.chosen */
};

#define MENTION_BYTES 3 /* shorter words are in too many command lines */

/* Whether a command line contains the name, which must not be a pattern. */
static bool mentions(const char *line, size_t size, const char *name)
{
	size_t length = strlen(name);

	return length >= MENTION_BYTES && !strpbrk(name, "*?[\\") &&
	       memmem(line, size, name, length);
}

/* Whether we are that process or its descendant. Our own command line contains the name. */
static bool may_be_above_us(pid_t pid)
{
	struct proc_stat process = { .parent = getpid() };

	while (process.parent > 0 && process.parent != pid)
		if (proc_stat_read(process.parent, &process))
			return true;
	return process.parent == pid;
}

/* Compares the last component of the first argument, if that can be read. */
static bool argument_matches(struct name_search *search, pid_t pid)
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
	if (length && !fnmatch(search->pattern, slash ? slash + 1 : line, 0))
		return true;
	if (!search->mentions && mentions(line, length, search->pattern) && !may_be_above_us(pid))
		search->mentions = pid;
	return false;
}

static bool matches_process(struct name_search *search, pid_t pid, const char *name)
{
	return !fnmatch(search->pattern, name, 0) || argument_matches(search, pid);
}

static int add_pid_named(struct name_search *search, pid_t pid, int fd, const char *name,
			 struct error *err)
{
	int ret = GROW(search->pids, search->capacity, search->nr + 1);

	if (ret) {
		close(fd);
		return error_errno(err, ret, "--name");
	}
	search->pids[search->nr++] = pid;
	if (search->nr <= CHOSEN_MAX)
		fprintf(search->chosen, "%s%s (%d)", search->nr > 1 ? ", " : " ", name, pid);
	return add_process(&search->origin, fd, err);
}

static int add_name(struct name_search *search, pid_t pid, const char *name)
{
	char line[sizeof(((struct proc_stat *)0)->name) + 16];

	snprintf(line, sizeof(line), "%d\t%s", pid, name);
	if (!search->numbered)
		return names_add(&search->names, name, strlen(name));
	return names_add(&search->names, line, strlen(line));
}

/* Skips a process that ends meanwhile. */
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

static bool names_match(const struct names *names, const char *pattern)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		if (!fnmatch(pattern, names->list[i], 0))
			return true;
	return false;
}

static void hint_at_mention(pid_t pid, struct error *err)
{
	struct proc_stat process;

	if (!proc_stat_read(pid, &process))
		error_hint(err, "--pid %d (%s), which has it in its command line", pid,
			   process.name);
}

static int refuse_nobody(struct name_search *search, struct error *err)
{
	const char *nearest = names_nearest(&search->names, search->pattern);
	char wide[264];
	const char *pattern = search->pattern, *before, *behind;

	before = *pattern == '*' ? "" : "*";
	behind = pattern[strlen(pattern) - 1] == '*' ? "" : "*";
	snprintf(wide, sizeof(wide), "%s%.256s%s", before, pattern, behind);
	error_set(err, -ESRCH, "--name '%s': no process has this name", pattern);
	if (nearest)
		error_hint(err, "--name %s", nearest);
	else if (names_match(&search->names, wide))
		error_hint(err, "a pattern like '%s'", wide);
	else if (search->mentions)
		hint_at_mention(search->mentions, err);
	return -ESRCH;
}

static int add_named_target(struct targets *targets, struct name_search *search, bool no_children,
			    struct error *err)
{
	struct target target = { .kind = TARGET_PID,
				 .pid = search->pids[0],
				 .no_children = no_children };

	if (search->nr == 1)
		target.name = format_text("%s (%d)", search->pattern, target.pid);
	else
		target.name = format_text("%s (%zu processes)", search->pattern, search->nr);
	target.nr_others = search->nr - 1;
	target.others = search->pids;
	/* The target owns the list, without its first element, which is target.pid. */
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
	search.origin.typed = format_text("--name '%s'", pattern);
	if (!search.chosen || !search.origin.typed)
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
