// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * libpidfd.so, for LD_PRELOAD under valgrind: Debian 12's valgrind, 3.19, does not know
 * pidfd_open() and refuses it. So the process that started valgrind makes the descriptor and sends
 * it over the socket whose number is in PIDFD_SERVER.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long ask(int pid)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char text;
	struct iovec part = { .iov_base = &text, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	const char *server = getenv("PIDFD_SERVER");
	int fd, server_fd = server ? atoi(server) : -1;

	if (send(server_fd, &pid, sizeof(pid), 0) != sizeof(pid) ||
	    recvmsg(server_fd, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	if (!CMSG_FIRSTHDR(&message)) {
		errno = ESRCH;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_list args;
	long a[6];
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_pidfd_open)
		return ask((int)a[0]);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
