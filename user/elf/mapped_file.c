// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "elf/mapped_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough for an object, its debug file and a shared file, in each of a few threads. */
#define MAPPINGS_MAX 64

/* Ranges in which SIGBUS is handled: [start, end); 0: free. */
static struct {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end;
} mappings[MAPPINGS_MAX];

static size_t page_size;

static bool is_ours(uintptr_t address)
{
	size_t i;

	for (i = 0; i < MAPPINGS_MAX; i++)
		if (mappings[i].start && address >= mappings[i].start && address < mappings[i].end)
			return true;
	return false;
}

/* A signal handler: it may only make async-signal-safe calls. */
static void zero_missing_page(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);
	int saved = errno;

	(void)context;
	if (info->si_code <= 0 || !is_ours(page) ||
	    mmap((void *)page, page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		/*
		 * This fault is not in one of our files. A real fault recurs on return, with the
		 * default action; a signal that was sent is raised again.
		 */
		signal(number, SIG_DFL);
		if (info->si_code <= 0)
			raise(number);
	}
	errno = saved;
}

static void install(void)
{
	struct sigaction action = { .sa_sigaction = zero_missing_page, .sa_flags = SA_SIGINFO };

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

static bool guard(uintptr_t start, uintptr_t end)
{
	uintptr_t nothing;
	size_t i;

	for (i = 0; i < MAPPINGS_MAX; i++) {
		nothing = 0;
		if (!atomic_compare_exchange_strong(&mappings[i].end, &nothing, end))
			continue;
		mappings[i].start = start;
		return true;
	}
	return false;
}

static void unguard(uintptr_t start)
{
	size_t i;

	for (i = 0; i < MAPPINGS_MAX; i++) {
		if (mappings[i].start != start)
			continue;
		mappings[i].start = 0;
		mappings[i].end = 0;
		return;
	}
}

/* The file's pages and one zero page behind them, which ends any string. */
static size_t mapped_size(const struct mapped_file *file)
{
	return (file->size / page_size + 2) * page_size;
}

static int map(int fd, struct mapped_file *file)
{
	size_t whole = mapped_size(file);
	void *bytes;

	bytes = mmap(NULL, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	file->bytes = bytes;
	if (!guard((uintptr_t)bytes, (uintptr_t)bytes + whole)) {
		munmap(bytes, whole);
		return -EMFILE;
	}
	if (file->size &&
	    mmap(bytes, file->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int ret = -errno;

		mapped_file_close(file);
		return ret;
	}
	return 0;
}

int mapped_file_open(int fd, struct mapped_file *result)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct mapped_file file = { 0 };
	struct stat stat;
	int ret;

	pthread_once(&once, install);
	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -ENOEXEC;
	/* A process has 128 TiB of address space, and no real file needs more than a small part. */
	if ((uint64_t)stat.st_size > SIZE_MAX >> 20)
		return -EFBIG;
	file.size = (size_t)stat.st_size;
	ret = map(fd, &file);
	if (!ret)
		*result = file;
	return ret;
}

/*
 * Replaces pages by our own copy. Writing to the private mapping is not enough, because truncating
 * the file would remove such copies too.
 */
static int replace_pages(unsigned char *pages, size_t size)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, pages, size);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED) {
		int ret = -errno;

		munmap(copy, size);
		return ret;
	}
	return 0;
}

int mapped_file_own(const struct mapped_file *file, uint64_t offset, uint64_t size)
{
	size_t first, end;

	if (!size || offset >= file->size)
		return 0;
	if (size > file->size - offset)
		size = file->size - offset;
	first = offset & ~(page_size - 1);
	end = (offset + size + page_size - 1) & ~(page_size - 1);
	return replace_pages(file->bytes + first, end - first);
}

void mapped_file_close(struct mapped_file *file)
{
	if (!file->bytes)
		return;
	unguard((uintptr_t)file->bytes);
	munmap(file->bytes, mapped_size(file));
	*file = (struct mapped_file){ 0 };
}
