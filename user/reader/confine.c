// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/library.h"
#include "base/util.h"
#include "reader/call.h"

#define SECCOMP_CALLS(call) call(seccomp_init) call(seccomp_rule_add) call(seccomp_load)

LIBRARY(SECCOMP_CALLS, "libseccomp.so.2", "libseccomp2")

/* System calls for reading open files and for memory. None of them can open a file. */
static const int allowed[] = {
	SCMP_SYS(read),		SCMP_SYS(pread64),
	SCMP_SYS(write),	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),	SCMP_SYS(recvfrom),
	SCMP_SYS(sendto),	SCMP_SYS(close),
	SCMP_SYS(fstat),	SCMP_SYS(lseek),
	SCMP_SYS(munmap),	SCMP_SYS(mremap),
	SCMP_SYS(madvise),	SCMP_SYS(brk),
	SCMP_SYS(futex),	SCMP_SYS(clock_gettime),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(getrandom),
	SCMP_SYS(gettid),	SCMP_SYS(getpid),
	SCMP_SYS(geteuid),	SCMP_SYS(exit),
	SCMP_SYS(exit_group),	SCMP_SYS(restart_syscall),
	SCMP_SYS(sched_yield),	SCMP_SYS(sysinfo),
};

/* Memory must not become code. */
static int allow_memory(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code) ?:
		       lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
}

/*
 * Today's libc needs this for fstat(). The filter cannot check the path, but this call cannot open
 * it.
 */
static int allow_stat(scmp_filter_ctx filter)
{
	return lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				    SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
}

/* libdw opens the files that debug information names. For an untrusted file, deny all of them. */
static int rule_open(scmp_filter_ctx filter, bool trusted)
{
	const unsigned int writes = O_ACCMODE | O_CREAT | O_TRUNC | __O_TMPFILE;
	const int calls[] = { SCMP_SYS(open), SCMP_SYS(openat) };
	const int of_paths[] = { SCMP_SYS(newfstatat), SCMP_SYS(readlink), SCMP_SYS(getcwd),
				 SCMP_SYS(fstatfs),    SCMP_SYS(statx),	   SCMP_SYS(openat2),
				 SCMP_SYS(fcntl) };
	const struct scmp_arg_cmp reads[] = { SCMP_A1(SCMP_CMP_MASKED_EQ, writes, O_RDONLY),
					      SCMP_A2(SCMP_CMP_MASKED_EQ, writes, O_RDONLY) };
	size_t i;
	int ret = 0;

	for (i = 0; i < 2 && !ret; i++)
		ret = trusted ?
			      lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 1, reads[i]) :
			      lib.seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), calls[i], 0);
	/* is_firm() of symbol/line_job.c checks the files that libdw may open. */
	for (i = 0; trusted && i < sizeof(of_paths) / sizeof(of_paths[0]) && !ret; i++)
		ret = lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, of_paths[i], 0);
	return ret;
}

static int filter_calls(bool trusted)
{
	scmp_filter_ctx filter = lib.seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret = filter ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && !ret; i++)
		ret = lib.seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!ret)
		ret = allow_memory(filter);
	if (!ret && !trusted)
		ret = allow_stat(filter);
	if (!ret)
		ret = rule_open(filter, trusted);
	return ret ? ret : lib.seccomp_load(filter);
}

int reader_confine(bool trusted, struct error *err)
{
	int ret = load_library(err);

	if (ret)
		return ret;
	ret = filter_calls(trusted);
	return ret ? error_errno(err, ret, "a process with few system calls (seccomp)") : 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Limit for reading: a file's lines, and its unpacked sections. */
#define MEMORY_MAX (3UL << 29)
#define MEMORY_MIN (16UL << 20)

/* The host's, from /proc/meminfo. */
static uint64_t available(void)
{
	cleanup_file FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			return kib << 10;
	return UINT64_MAX;
}

static uint64_t number_in(const char *folder, const char *file, uint64_t otherwise)
{
	char path[PATH_MAX], line[32];
	uint64_t value;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", folder, file);
	return read_first_line(path, line, sizeof(line)) || parse_u64(line, &value) ? otherwise :
										      value;
}

/* In a container, the cgroup that limits us looks like the root. */
static uint64_t memory_room(void)
{
	uint64_t most = available(), limit, used;
	char line[PATH_MAX], *folder, *slash;

	if (read_first_line("/proc/self/cgroup", line, sizeof(line)) ||
	    strncmp(line, "0::", 3) != 0)
		return most;
	folder = line + 3;
	do {
		limit = number_in(folder, "memory.max", UINT64_MAX);
		used = number_in(folder, "memory.current", 0);
		if (limit != UINT64_MAX && (limit > used ? limit - used : 0) < most)
			most = limit > used ? limit - used : 0;
		slash = strrchr(folder, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return most;
}

uint64_t reader_memory(void)
{
	static uint64_t known;
	uint64_t room;

	if (known)
		return known;
	room = memory_room() / 4 * 3;
	room = room < MEMORY_MAX ? room : MEMORY_MAX;
	known = room > MEMORY_MIN ? room : MEMORY_MIN;
	return known;
}
