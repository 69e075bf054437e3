// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * stacks KIND: sleeps for ever with its stack pointer in memory that is not there yet: "userfaultfd", or a "file",
 * which is its descriptor 3. Exits with 77 if the machine does not let it, and with 1 if somebody reads the first one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 1 << 20, SKIPPED = 77 };

static int faults;

static void *await_reader(void *unused)
{
	struct pollfd fault = { .fd = faults, .events = POLLIN };

	if (poll(&fault, 1, -1) == 1)
		_exit(1);
	return unused;
}

static void *silent_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	range.range.start = (unsigned long)at;
	range.range.len = BYTES;
	if (at == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range) ||
	    pthread_create(&thread, NULL, await_reader, NULL))
		_exit(SKIPPED);
	return at;
}

static void *file_memory(void)
{
	int fd = memfd_create("stack", MFD_CLOEXEC);
	void *at;

	if (fd < 0 || ftruncate(fd, BYTES))
		_exit(SKIPPED);
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		_exit(SKIPPED);
	return at;
}

/* ppoll() without an end. */
__attribute__((noipa)) static void sleep_at(char *stack)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;

	__asm__ volatile("mov %0, %%rsp\n\tsyscall\n\thlt"
			 :
			 : "r"(stack), "a"(SYS_ppoll), "D"(0), "S"(0), "d"(0), "r"(r10)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_ppoll, x0 __asm__("x0") = 0, x1 __asm__("x1") = 0,
			     x2 __asm__("x2") = 0, x3 __asm__("x3") = 0;

	__asm__ volatile("mov sp, %0\n\tsvc #0\n\tbrk #0"
			 :
			 : "r"(stack), "r"(number), "r"(x0), "r"(x1), "r"(x2), "r"(x3)
			 : "memory");
#endif
}

int main(int argc, char **argv)
{
	char *at;

	if (argc != 2)
		return SKIPPED;
	at = strcmp(argv[1], "file") ? silent_memory() : file_memory();
	sleep_at(at + BYTES / 2);
	return 0;
}
