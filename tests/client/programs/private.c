// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Takes the place of a private `bpfprofil serve`, with the same command line. Each reply tells how
 * it was started, in the figures of a status:
 *
 *	total	this process
 *	binned	its parent
 *	overflow	descriptors that were open at the start, including the standard ones and FD
 *	outside	its session
 *	filtered	the number of environment variables, plus 1,000 outside the root directory
 *	lost	requests so far
 */
#include <dirent.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/call_protocol.h"

enum { ARGUMENTS = 9 };

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 3; /* without ".", ".." and dir's own */
}

static unsigned int surroundings(void)
{
	char directory[16] = "";
	unsigned int n = 0;

	while (environ[n])
		n++;
	return getcwd(directory, sizeof(directory)) && !strcmp(directory, "/") ? n : n + 1000;
}

static int listen_on(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	size_t size = offsetof(struct sockaddr_un, sun_path) + strlen(name);

	if (name[0] != '@' || strlen(name) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, name, strlen(name));
	address.sun_path[0] = '\0';
	if (bind(fd, (struct sockaddr *)&address, (socklen_t)size) || listen(fd, 64))
		return -1;
	return fd;
}

static void serve_one(int listen_fd, struct call_reply *reply)
{
	int fd = accept(listen_fd, NULL, NULL);
	char request[4096];

	if (recv(fd, request, sizeof(request), 0) > 0) {
		reply->state.lost++;
		send(fd, reply, sizeof(*reply), MSG_NOSIGNAL);
	}
	close(fd);
}

static int well_formed(int argc, char **argv)
{
	return argc == ARGUMENTS && !strcmp(argv[1], "serve") && !strcmp(argv[2], "--private") &&
	       !strcmp(argv[3], "--socket") && !strcmp(argv[5], "--ready-fd") &&
	       !strcmp(argv[7], "--for");
}

int main(int argc, char **argv)
{
	struct call_reply reply = { .magic = CALL_MAGIC, .version = CALL_VERSION };
	struct pollfd events[2];
	int ready;

	if (!well_formed(argc, argv))
		return 2;
	reply.state.total = (uint64_t)getpid();
	reply.state.overflow = open_descriptors();
	reply.state.outside = (uint64_t)getsid(0);
	reply.state.filtered = surroundings();
	events[0] = (struct pollfd){ .fd = listen_on(argv[4]), .events = POLLIN };
	events[1] = (struct pollfd){ .events = POLLIN };
	events[1].fd = (int)syscall(SYS_pidfd_open, atoi(argv[8]), 0);
	ready = atoi(argv[6]);
	if (events[0].fd < 0 || events[1].fd < 0 || write(ready, "", 1) != 1)
		return 1;
	close(ready);
	while (poll(events, 2, -1) > 0 && !events[1].revents) {
		reply.state.binned = (uint64_t)getppid();
		serve_one(events[0].fd, &reply);
	}
	return 0;
}
