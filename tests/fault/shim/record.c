// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Identifies calls, decides which one fails, and writes the report. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "fault.h"

#define MAX_DEPTH 64
#define OWN_FRAMES 3 /* walk(), fault_due() and the function that replaces the real one */
#define MAX_SITES 4096
#define MAX_PROGRAMS 256
#define MAX_FDS 1024

struct stack {
	uintptr_t pcs[MAX_DEPTH];
	int depth;
};

struct site {
	enum fault_class class;
	uint64_t hash;
	uint64_t entry; /* the same for all calls that a library makes in one call of the program's */
	unsigned long calls;
};

static const char *const class_names[FAULT_CLASSES] = {
	[FAULT_MEMORY] = "memory", [FAULT_OPEN] = "open", [FAULT_PERF] = "perf",
	[FAULT_BPF] = "bpf",	   [FAULT_FILE] = "file", [FAULT_CALL] = "call",
};

static struct {
	bool any;
	bool on; /* also all calls after the first one that fails */
	enum fault_class class;
	uint64_t hash;
	unsigned long nth; /* counted among the calls with this stack */
	int error; /* 0: the class's */
} plan;

static bool begun; /* the constructor has run, and the end has not come yet */
/* Kept with the thread, because other ways to a thread variable would allocate. */
static __thread __attribute__((tls_model("initial-exec"))) int paused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for everything below */
static unsigned long fired;
static struct stack fired_at;
static struct site sites[MAX_SITES];
static size_t nr_sites;
static uint32_t programs[MAX_PROGRAMS];
static size_t nr_programs;
static bool inherited[MAX_FDS];
static char report_path[PATH_MAX];

void fault_pause(void)
{
	paused++;
}

void fault_resume(void)
{
	paused--;
}

void fault_end(void)
{
	__atomic_store_n(&begun, false, __ATOMIC_RELAXED);
}

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
	struct stack *stack = argument;

	if (stack->depth == MAX_DEPTH)
		return _URC_END_OF_STACK;
	stack->pcs[stack->depth++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static const struct link_map *module_of(uintptr_t pc)
{
	struct dl_find_object found;

	return _dl_find_object((void *)pc, &found) ? NULL : found.dlfo_link_map;
}

/* FNV-1a of the stack, by addresses in the files, which are the same in every run. */
static uint64_t hash_stack(const struct stack *stack, int from)
{
	uint64_t hash = 0xcbf29ce484222325;
	const struct link_map *module;
	int i;

	for (i = from; i < stack->depth; i++) {
		module = module_of(stack->pcs[i]);
		hash = (hash ^ (stack->pcs[i] - (module ? module->l_addr : 0))) * 0x100000001b3;
	}
	return hash;
}

/* The innermost frame of the program itself, which has no name among the modules. */
static int program_frame(const struct stack *stack)
{
	const struct link_map *module;
	int i;

	for (i = OWN_FRAMES; i < stack->depth; i++) {
		module = module_of(stack->pcs[i]);
		if (module && !module->l_name[0])
			return i;
	}
	return OWN_FRAMES;
}

static __attribute__((noinline)) uint64_t walk(struct stack *stack)
{
	stack->depth = 0;
	_Unwind_Backtrace(take_frame, stack);
	return hash_stack(stack, OWN_FRAMES);
}

/* Returns how many calls with this stack there were so far, including this one. */
static unsigned long take_site(enum fault_class class, uint64_t hash, const struct stack *stack)
{
	size_t i;

	for (i = 0; i < nr_sites; i++) {
		if (sites[i].class == class && sites[i].hash == hash)
			return ++sites[i].calls;
	}
	if (nr_sites == MAX_SITES)
		return 0;
	sites[nr_sites++] = (struct site){ .class = class,
					   .hash = hash,
					   .entry = hash_stack(stack, program_frame(stack)),
					   .calls = 1 };
	return 1;
}

static bool planned(enum fault_class class, uint64_t hash, unsigned long nth)
{
	if (!plan.any || class != plan.class)
		return false;
	return fired ? plan.on : hash == plan.hash && nth == plan.nth;
}

/* Written before the call fails, because the program may crash. */
static void report_stack(FILE *out, const struct stack *stack)
{
	Dl_info info;
	int i;

	for (i = OWN_FRAMES; i < stack->depth; i++) {
		if (dladdr((void *)stack->pcs[i], &info))
			fprintf(out, "at %s+0x%tx %s\n", info.dli_fname,
				(char *)stack->pcs[i] - (char *)info.dli_fbase,
				info.dli_sname ? info.dli_sname : "");
	}
}

static void report_fired(void)
{
	FILE *out = fopen(report_path, "we");

	if (!out)
		return;
	report_stack(out, &fired_at);
	fclose(out);
}

/*
 * Calls that no plan asks about are not looked at: walking the stack of each is a fifth of what a
 * trial takes.
 */
static bool matters(enum fault_class class)
{
	if (!__atomic_load_n(&begun, __ATOMIC_RELAXED) || paused)
		return false;
	if (!plan.any)
		return true;
	return class == plan.class && (plan.on || !__atomic_load_n(&fired, __ATOMIC_RELAXED));
}

__attribute__((noinline)) bool fault_due(enum fault_class class, int error)
{
	struct stack stack;
	uint64_t hash;
	bool due;

	if (!matters(class))
		return false;
	fault_pause();
	hash = walk(&stack);
	pthread_mutex_lock(&lock);
	due = planned(class, hash, take_site(class, hash, &stack));
	if (due && !fired++) {
		fired_at = stack;
		report_fired();
	}
	pthread_mutex_unlock(&lock);
	fault_resume();
	if (due)
		errno = plan.error ? plan.error : error;
	return due;
}

void fault_program(int fd)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { .info = { .bpf_fd = (uint32_t)fd,
					  .info_len = sizeof(info),
					  .info = (uintptr_t)&info } };

	fault_pause();
	pthread_mutex_lock(&lock);
	if (!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) &&
	    nr_programs < MAX_PROGRAMS)
		programs[nr_programs++] = info.id;
	pthread_mutex_unlock(&lock);
	fault_resume();
}

/* Calls take(fd) for each descriptor of this process except the one it reads them with. */
static void each_fd(void (*take)(int fd, void *argument), void *argument)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			take(atoi(entry->d_name), argument);
	}
	if (dir)
		closedir(dir);
}

static void mark_inherited(int fd, void *argument)
{
	(void)argument;
	if (fd < MAX_FDS)
		inherited[fd] = true;
}

static void report_fd(int fd, void *argument)
{
	char path[64], name[PATH_MAX];
	ssize_t length;
	FILE *out = argument;

	if (fd == fileno(out) || (fd < MAX_FDS && inherited[fd]))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	fprintf(out, "fd %d %s\n", fd, name);
}

static void plan_read(const char *text)
{
	size_t length = text ? strcspn(text, ":") : 0;
	char *end;
	int i;

	for (i = 0; text && i < FAULT_CLASSES; i++) {
		if (strlen(class_names[i]) != length || strncmp(class_names[i], text, length))
			continue;
		plan.class = (enum fault_class)i;
		plan.hash = strtoull(text + length + 1, &end, 16);
		plan.nth = strtoul(end + (*end == ':'), &end, 10);
		plan.on = *end == '+';
		plan.any = true;
	}
}

static __attribute__((constructor)) void begin(void)
{
	const char *path = getenv("FAULT_REPORT"), *error = getenv("FAULT_ERRNO");

	plan_read(getenv("FAULT"));
	plan.error = error ? atoi(error) : 0;
	if (path)
		snprintf(report_path, sizeof(report_path), "%s", path);
	unsetenv("LD_PRELOAD");
	unsetenv("FAULT");
	unsetenv("FAULT_ERRNO");
	unsetenv("FAULT_REPORT");
	each_fd(mark_inherited, NULL);
	begun = true;
}

static __attribute__((destructor)) void end(void)
{
	FILE *out;
	size_t i;

	if (!begun || !report_path[0])
		return;
	fault_end();
	out = fopen(report_path, "we");
	if (!out)
		return;
	fprintf(out, "fired %lu\n", fired);
	for (i = 0; i < nr_sites; i++)
		fprintf(out, "site %s %016llx %lu %016llx\n", class_names[sites[i].class],
			(unsigned long long)sites[i].hash, sites[i].calls,
			(unsigned long long)sites[i].entry);
	if (fired)
		report_stack(out, &fired_at);
	for (i = 0; i < nr_programs; i++)
		fprintf(out, "program %u\n", programs[i]);
	each_fd(report_fd, out);
	fclose(out);
}
