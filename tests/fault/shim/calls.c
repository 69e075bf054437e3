// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * The functions that replace the C library's. Each fails when due, and otherwise calls the real
 * one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

/*
 * The next definition: the sanitizer's if there is one, or else the C library's. It is looked up
 * when first needed, which for malloc is before any constructor has run.
 */
#define REAL(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) real_function;                                            \
		if (!real_function)                                                                \
			real_function = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                \
		real_function;                                                                     \
	})

/* A function whose arguments are passed on unchanged. */
#define STAND_IN(class, error, failed, type, name, parameters, arguments)                          \
	type name parameters                                                                       \
	{                                                                                          \
		return fault_due(class, error) ? (failed) : REAL(name) arguments;                  \
	}

#define MEMORY(type, name, parameters, arguments)                                                  \
	STAND_IN(FAULT_MEMORY, ENOMEM, NULL, type, name, parameters, arguments)
#define CALL(error, type, name, parameters, arguments)                                             \
	STAND_IN(FAULT_CALL, error, -1, type, name, parameters, arguments)
#define FILE_CALL(error, type, name, parameters, arguments)                                        \
	STAND_IN(FAULT_FILE, error, -1, type, name, parameters, arguments)
#define OPEN(type, name, parameters, arguments)                                                    \
	STAND_IN(FAULT_OPEN, EMFILE, NULL, type, name, parameters, arguments)

MEMORY(void *, malloc, (size_t size), (size))
MEMORY(void *, calloc, (size_t nr, size_t size), (nr, size))
MEMORY(void *, realloc, (void *old, size_t size), (old, size))
MEMORY(void *, reallocarray, (void *old, size_t nr, size_t size), (old, nr, size))

/* These do not call our malloc(): under a sanitizer they have their own way to memory. */
char *strdup(const char *text)
{
	char *copy;

	if (fault_due(FAULT_MEMORY, ENOMEM))
		return NULL;
	fault_pause();
	copy = REAL(strdup)(text);
	fault_resume();
	return copy;
}

char *strndup(const char *text, size_t size)
{
	char *copy;

	if (fault_due(FAULT_MEMORY, ENOMEM))
		return NULL;
	fault_pause();
	copy = REAL(strndup)(text, size);
	fault_resume();
	return copy;
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	return fault_due(FAULT_MEMORY, ENOMEM) ? ENOMEM :
						 REAL(posix_memalign)(result, alignment, size);
}

OPEN(FILE *, fopen, (const char *path, const char *mode), (path, mode))
OPEN(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
OPEN(DIR *, opendir, (const char *path), (path))

#define OPEN_MODE(flags)                                                                           \
	({                                                                                         \
		mode_t mode_argument = 0;                                                          \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		if (__OPEN_NEEDS_MODE(flags))                                                      \
			mode_argument = va_arg(args, mode_t);                                      \
		va_end(args);                                                                      \
		mode_argument;                                                                     \
	})

int open(const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags);

	return fault_due(FAULT_OPEN, EMFILE) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags);

	return fault_due(FAULT_OPEN, EMFILE) ? -1 : REAL(open64)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = OPEN_MODE(flags);

	return fault_due(FAULT_OPEN, EMFILE) ? -1 : REAL(openat)(dir, path, flags, mode);
}

FILE_CALL(ENOSPC, ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
FILE_CALL(EIO, int, fsync, (int fd), (fd))
FILE_CALL(EPERM, int, fchmod, (int fd, mode_t mode), (fd, mode))
FILE_CALL(EPERM, int, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
FILE_CALL(EXDEV, int, renameat, (int old_dir, const char *old, int new_dir, const char *new),
	  (old_dir, old, new_dir, new))
FILE_CALL(EINTR, ssize_t, getrandom, (void *buffer, size_t size, unsigned int flags),
	  (buffer, size, flags))

/* A close can only lose what was written; even if it fails it has closed the descriptor. */
int close(int fd)
{
	struct stat st;
	bool written = !REAL(fstat)(fd, &st) && S_ISREG(st.st_mode) &&
		       (REAL(fcntl)(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
	bool due = written && fault_due(FAULT_FILE, EIO);
	int error = errno, ret = REAL(close)(fd);

	if (!due)
		return ret;
	errno = error;
	return -1;
}

CALL(EMFILE, int, dup, (int fd), (fd))
CALL(EMFILE, int, dup3, (int old, int new, int flags), (old, new, flags))
CALL(EMFILE, int, epoll_create1, (int flags), (flags))
CALL(ENOMEM, int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *event),
     (epoll, op, fd, event))
CALL(EINTR, int, epoll_wait, (int epoll, struct epoll_event *events, int nr, int timeout),
     (epoll, events, nr, timeout))
CALL(EMFILE, int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
CALL(EMFILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL(EADDRINUSE, int, bind, (int fd, const struct sockaddr *address, socklen_t length),
     (fd, address, length))
CALL(EMFILE, int, pipe2, (int fds[2], int flags), (fds, flags))
CALL(ENOMEM, int, poll, (struct pollfd * fds, nfds_t nr, int timeout), (fds, nr, timeout))
CALL(EIO, ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size))
CALL(EIO, ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at))
CALL(ENOBUFS, ssize_t, recv, (int fd, void *buffer, size_t size, int flags),
     (fd, buffer, size, flags))
CALL(EIO, int, fstat, (int fd, struct stat *st), (fd, st))
CALL(EIO, int, stat, (const char *path, struct stat *st), (path, st))
CALL(EIO, ssize_t, readlink, (const char *path, char *buffer, size_t size), (path, buffer, size))
CALL(EIO, ssize_t, readlinkat, (int dir, const char *path, char *buffer, size_t size),
     (dir, path, buffer, size))
CALL(EINTR, pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))

#define MAP(name, offset_type)                                                                     \
	void *name(void *at, size_t size, int protection, int flags, int fd, offset_type offset)   \
	{                                                                                          \
		return fault_due(FAULT_CALL, ENOMEM) ?                                             \
			       MAP_FAILED :                                                        \
			       REAL(name)(at, size, protection, flags, fd, offset);                \
	}

MAP(mmap, off_t)
MAP(mmap64, off64_t)

pid_t fork(void)
{
	pid_t pid;

	if (fault_due(FAULT_CALL, EAGAIN))
		return -1;
	pid = REAL(fork)();
	if (!pid)
		fault_end();
	return pid;
}

#define LAST_ARGUMENT(last, type)                                                                  \
	({                                                                                         \
		type last_argument;                                                                \
		va_list args;                                                                      \
		va_start(args, last);                                                              \
		last_argument = va_arg(args, type);                                                \
		va_end(args);                                                                      \
		last_argument;                                                                     \
	})

int ioctl(int fd, unsigned long request, ...)
{
	void *argument = LAST_ARGUMENT(request, void *);

	return fault_due(FAULT_CALL, EINVAL) ? -1 : REAL(ioctl)(fd, request, argument);
}

int fcntl(int fd, int command, ...)
{
	void *argument = LAST_ARGUMENT(command, void *);

	return fault_due(FAULT_CALL, EMFILE) ? -1 : REAL(fcntl)(fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
	void *argument = LAST_ARGUMENT(command, void *);

	return fault_due(FAULT_CALL, EMFILE) ? -1 : REAL(fcntl64)(fd, command, argument);
}

static bool syscall_due(long number)
{
	switch (number) {
	case SYS_perf_event_open:
		return fault_due(FAULT_PERF, EACCES);
	case SYS_bpf:
		return fault_due(FAULT_BPF, ENOMEM);
	default:
		return fault_due(FAULT_CALL, ENOMEM);
	}
}

long syscall(long number, ...)
{
	long a[6], ret;
	va_list args;
	int i;

	if (syscall_due(number))
		return -1;
	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	ret = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD && ret >= 0)
		fault_program((int)ret);
	return ret;
}
