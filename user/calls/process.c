// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/util.h"

/* From linux/fs.h of 6.11; Debian 12 has older headers. */
struct mapping_query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start;
	uint64_t end;
	uint64_t mapping_flags;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	uint32_t name_size;
	uint32_t build_id_size;
	uint64_t name;
	uint64_t build_id;
};
#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)
#define MAPPING_WRITABLE 2
#define COVERING_OR_NEXT 16

enum { AUXV_MAX = 64 };

static int open_proc_file(pid_t pid, pid_t thread, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, thread, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Opens both before any check, because they are bound to the current image. */
static int open_space(struct process *process, pid_t pid, pid_t thread)
{
	*process = (struct process){ .pid = pid, .mem_fd = -1, .maps_fd = -1 };
	process->mem_fd = open_proc_file(pid, thread, "mem", O_RDWR);
	if (process->mem_fd < 0)
		return process->mem_fd;
	process->maps_fd = open_proc_file(pid, thread, "maps", O_RDONLY);
	return process->maps_fd < 0 ? process->maps_fd : 0;
}

static int find_random(pid_t pid, pid_t thread, uint32_t pointer, uint64_t *result)
{
	union {
		uint64_t wide[AUXV_MAX * 2];
		uint32_t narrow[AUXV_MAX * 4];
	} auxv;
	size_t i, n;
	ssize_t got;
	cleanup_fd int fd = open_proc_file(pid, thread, "auxv", O_RDONLY);

	if (fd < 0)
		return fd;
	got = read(fd, &auxv, sizeof(auxv));
	if (got <= 0)
		return got < 0 ? -errno : -ESRCH;
	n = (size_t)got / (2 * (size_t)pointer);
	for (i = 0; i < n; i++) {
		uint64_t type = pointer == 8 ? auxv.wide[2 * i] : auxv.narrow[2 * i];

		*result = pointer == 8 ? auxv.wide[2 * i + 1] : auxv.narrow[2 * i + 1];
		if (type == AT_RANDOM)
			return 0;
	}
	return -EPERM;
}

static int check_proof(const struct process *process, const uint8_t proof[PROCESS_PROOF])
{
	uint8_t found[PROCESS_PROOF];
	int ret = process_read(process, process->random_at, found, sizeof(found));

	if (ret)
		return ret == -ESRCH ? ret : -EPERM;
	return memcmp(found, proof, sizeof(found)) ? -EPERM : 0;
}

/* random_at 0: it is found by the size of a pointer. */
static int open_by(struct process *process, pid_t pid, pid_t thread, uint32_t pointer,
		   uint64_t random_at, const uint8_t proof[PROCESS_PROOF])
{
	int ret = open_space(process, pid, thread);

	process->random_at = random_at;
	if (!ret && !random_at)
		ret = find_random(pid, thread, pointer, &process->random_at);
	if (!ret)
		ret = check_proof(process, proof);
	if (ret)
		process_close(process);
	return ret;
}

/* If the main thread has ended, its files are empty. Therefore try another thread's. */
static int open_by_any(struct process *process, pid_t pid, uint32_t pointer, uint64_t random_at,
		       const uint8_t proof[PROCESS_PROOF])
{
	int ret = open_by(process, pid, pid, pointer, random_at, proof);
	struct dirent *entry;
	char path[64];
	DIR *threads;

	if (ret != -ESRCH)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && ret == -ESRCH && (entry = readdir(threads))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0 && thread != pid)
			ret = open_by(process, pid, thread, pointer, random_at, proof);
	}
	if (threads)
		closedir(threads);
	return ret;
}

int process_open(struct process *process, pid_t pid, uint32_t pointer,
		 const uint8_t proof[PROCESS_PROOF])
{
	return open_by_any(process, pid, pointer, 0, proof);
}

int process_open_forked(struct process *process, pid_t pid, uint64_t random_at,
			const uint8_t proof[PROCESS_PROOF])
{
	return open_by_any(process, pid, 0, random_at, proof);
}

bool process_may_stay(const struct process *process)
{
	return fd_may_stay(process->mem_fd) && fd_may_stay(process->maps_fd);
}

void process_close(struct process *process)
{
	close_fd(&process->mem_fd);
	close_fd(&process->maps_fd);
}

void process_look_anew(struct process *process)
{
	process->start = process->end = 0;
}

/* Stores the mapping, or the hole up to the next one, around an address. */
static void note_mapping(struct process *process, uint64_t address, uint64_t start, uint64_t end,
			 bool writable)
{
	bool hole = address < start;

	process->start = hole ? address : start;
	process->end = hole ? start : end;
	process->writable = !hole && writable;
}

static int query_mapping(struct process *process, uint64_t address)
{
	struct mapping_query query = {
		.size = sizeof(query),
		.flags = COVERING_OR_NEXT,
		.address = address,
	};

	if (!ioctl(process->maps_fd, MAPPING_QUERY, &query)) {
		note_mapping(process, address, query.start, query.end,
			     query.mapping_flags & MAPPING_WRITABLE);
		return 0;
	}
	if (errno != ENOENT)
		return errno == ESRCH ? -ESRCH : -ENOTTY;
	note_mapping(process, address, UINT64_MAX, UINT64_MAX, false);
	return 0;
}

FILE *process_maps(const struct process *process)
{
	int fd = dup(process->maps_fd);
	FILE *maps;

	if (fd < 0)
		return NULL;
	maps = lseek(fd, 0, SEEK_SET) < 0 ? NULL : fdopen(fd, "re");
	if (!maps)
		close(fd);
	return maps;
}

static int search_maps(struct process *process, uint64_t address)
{
	cleanup_file FILE *maps = process_maps(process);
	char line[512], write;
	uint64_t start, end;
	bool any = false;

	if (!maps)
		return -ENOMEM;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%c", &start, &end, &write) != 3)
			continue; /* skips the rest of a long path */
		any = true;
		if (address >= end)
			continue;
		note_mapping(process, address, start, end, write == 'w');
		return 0;
	}
	note_mapping(process, address, UINT64_MAX, UINT64_MAX, false);
	return any ? 0 : -ESRCH;
}

static int find_mapping(struct process *process, uint64_t address)
{
	int ret = -ENOTTY;

	if (address >= process->start && address < process->end)
		return 0;
	if (!process->no_query)
		ret = query_mapping(process, address);
	if (ret == -ENOTTY) {
		process->no_query = true;
		ret = search_maps(process, address);
	}
	if (ret)
		process_look_anew(process);
	return ret;
}

/*
 * Before 6.11, mappings can only be read for a process, which may end while others use its address
 * space. Then writes fail in holes, but not in read-only memory.
 */
static bool outlived(const struct process *process)
{
	char byte;

	return process->no_query && !process_read(process, process->random_at, &byte, 1);
}

int64_t process_writable(struct process *process, uint64_t address, uint64_t size)
{
	uint64_t end = address + size, at = address;
	int ret;

	if (end < address)
		return -EFAULT;
	while (at < end) {
		ret = find_mapping(process, at);
		if (ret == -ESRCH && outlived(process))
			return (int64_t)size;
		if (ret)
			return ret;
		if (!process->writable)
			break;
		at = process->end;
	}
	if (at == address && size)
		return -EFAULT;
	return (int64_t)((at < end ? at : end) - address);
}

int process_check(struct process *process, uint64_t address, uint64_t size)
{
	int64_t writable = size > INT64_MAX ? -EFAULT : process_writable(process, address, size);

	if (writable < 0)
		return (int)writable;
	return (uint64_t)writable == size ? 0 : -EFAULT;
}

int64_t process_read_some(const struct process *process, uint64_t address, void *to, size_t size)
{
	ssize_t got;

	if (address > INT64_MAX)
		return -EFAULT;
	got = pread(process->mem_fd, to, size, (off_t)address);
	if (got > 0)
		return got;
	/* 0: the address space is gone. */
	return got ? -EFAULT : -ESRCH;
}

int process_read(const struct process *process, uint64_t address, void *to, size_t size)
{
	int64_t got = process_read_some(process, address, to, size);

	if (got < 0)
		return (int)got;
	return got == (int64_t)size ? 0 : -EFAULT;
}

int64_t process_write_some(struct process *process, uint64_t address, const void *from, size_t size)
{
	int64_t writable = process_writable(process, address, size);
	ssize_t put;

	if (writable < 0)
		return writable;
	if (address > INT64_MAX)
		return -EFAULT;
	put = pwrite(process->mem_fd, from, (size_t)writable, (off_t)address);
	if (put > 0)
		return put;
	return put ? -EFAULT : -ESRCH;
}
