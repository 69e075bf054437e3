// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fake_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* The first region of the call in force; one program at a time may ask for counts. */
static struct call_entry region;

static void count(struct fake_shared *shared, uint64_t at, uint32_t n)
{
	off_t where = (off_t)(region.base + at / 4 * sizeof(n));
	uint32_t value;
	char path[64];
	int fd;

	if (!n)
		return;
	snprintf(path, sizeof(path), "/proc/%d/mem", shared->sender.pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, &value, sizeof(value), where) != sizeof(value)) {
		shared->uncounted++;
	} else {
		value += n;
		if (pwrite(fd, &value, sizeof(value), where) != sizeof(value))
			shared->uncounted++;
	}
	if (fd >= 0)
		close(fd);
}

/* The region is remembered, because a child that stops has its parent's. */
static void carry_out(struct fake_shared *shared)
{
	const struct call_request *request = (const void *)shared->message;

	if (request->op == CALL_SPROFIL && request->nr_entries) {
		region = request->entries[0];
		count(shared, shared->at_start.at, shared->at_start.n);
	} else if (request->op == CALL_PROFIL && !request->entries[0].base && region.base) {
		count(shared, shared->at_stop.at, shared->at_stop.n);
	}
}

static ssize_t take_request(struct fake_shared *shared, int fd)
{
	struct iovec space = { shared->message, sizeof(shared->message) };
	char control[CMSG_SPACE(sizeof(struct ucred))];
	struct msghdr message = { .msg_iov = &space,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(fd, &message, 0);
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);

	if (got < (ssize_t)sizeof(struct call_request))
		return -1;
	if (part && part->cmsg_type == SCM_CREDENTIALS)
		memcpy(&shared->sender, CMSG_DATA(part), sizeof(shared->sender));
	shared->size = (size_t)got;
	shared->requests++;
	shared->by_op[((struct call_request *)(void *)shared->message)->op % FAKE_OPS]++;
	return got;
}

static void wait_until_left(struct fake_shared *shared, int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLRDHUP };

	poll(&event, 1, -1);
	if (send(fd, &shared->reply, sizeof(shared->reply), MSG_NOSIGNAL) < 0 && errno == EPIPE)
		shared->left++;
}

static void answer(struct fake_shared *shared, int fd)
{
	char bytes[sizeof(struct call_reply) + 8];

	memset(bytes, 0x5a, sizeof(bytes));
	switch (shared->how) {
	case FAKE_SLOW:
		usleep(FAKE_SLOW_MS * 1000);
		__attribute__((fallthrough));
	case FAKE_REPLIES:
		send(fd, &shared->reply, sizeof(shared->reply), MSG_NOSIGNAL);
		break;
	case FAKE_LONG:
		memcpy(bytes, &shared->reply, sizeof(shared->reply));
		send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
		break;
	case FAKE_SHORT:
		send(fd, &shared->reply, sizeof(shared->reply) - 1, MSG_NOSIGNAL);
		break;
	case FAKE_GARBAGE:
		send(fd, bytes, sizeof(struct call_reply), MSG_NOSIGNAL);
		break;
	case FAKE_SILENT:
		wait_until_left(shared, fd);
		break;
	case FAKE_HANGS_UP:
		break;
	}
}

static void serve(struct fake_shared *shared, int listen_fd)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((fd = accept(listen_fd, NULL, NULL)) >= 0) {
		if (take_request(shared, fd) >= 0) {
			shared->in_hand++;
			carry_out(shared);
			answer(shared, fd);
			shared->in_hand--;
		}
		close(fd);
	}
	_exit(1);
}

static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), on = 1;

	strcpy(address.sun_path, path);
	cr_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
			  !setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
			  !chmod(path, 0666) && !listen(fd, SOMAXCONN),
		  "%s: %s", path, strerror(errno));
	return fd;
}

void fake_start(struct fake_server *server)
{
	int fd;

	memset(server, 0, sizeof(*server));
	snprintf(server->dir, sizeof(server->dir), "/tmp/bpfprofil-fake-XXXXXX");
	cr_assert_not_null(mkdtemp(server->dir));
	chmod(server->dir, 0755);
	snprintf(server->path, sizeof(server->path), "%s/socket", server->dir);
	server->shared = mmap(NULL, sizeof(*server->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(server->shared, MAP_FAILED);
	server->shared->reply.magic = CALL_MAGIC;
	server->shared->reply.version = CALL_VERSION;
	fd = open_socket(server->path);
	fflush(NULL);
	server->pid = fork();
	cr_assert(server->pid >= 0);
	if (!server->pid)
		serve(server->shared, fd);
	close(fd);
}

void fake_kill(struct fake_server *server)
{
	if (server->pid <= 0)
		return;
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	server->pid = 0;
}

void fake_stop(struct fake_server *server)
{
	fake_kill(server);
	unlink(server->path);
	rmdir(server->dir);
	munmap(server->shared, sizeof(*server->shared));
}

const struct call_request *fake_request(const struct fake_server *server)
{
	return (const struct call_request *)(const void *)server->shared->message;
}
