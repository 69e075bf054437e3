// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/helper_process.h"
#include "base/regular_file.h"
#include "base/util.h"

enum { SOCKET = STDIN_FILENO, OPENERS_MAX = 32, PATIENCE_SHARE = 4 };

#define PATIENCE_NS (3 * (uint64_t)SECOND_NS)

/* The original of a copy: its user, device and inode. */
#define COPY_FORMAT "bpfprofil-copy:%u:%" PRIx64 ":%" PRIx64
#define COPY_SCAN "/memfd:bpfprofil-copy:%u:%" SCNx64 ":%" SCNx64

enum { COPY_NAME = 128 };

/* A root that stands for another process: @OWNER/DIRECTORY. */
#define ROOT_MARK '@'

struct question {
	struct regular_file_rule rule;
	bool has_rule;
	uid_t user; /* owner of the copy; NO_UID: the file's owner */
	char path[PATH_MAX]; /* sent completely, with its NUL */
};

static bool send_with(int fd, void *bytes, size_t size, const int fds[HELPER_FDS])
{
	return helper_send(fd, &(struct iovec){ bytes, size }, 1, fds, MSG_DONTWAIT) >= 0;
}

/*
 * --- the helper process -------------------------------------------------------------------------
 */

/* The copy's name is what opener_copy_of() parses. */
static int make_copy(const struct stat *stat, uid_t user)
{
	char name[COPY_NAME];

	snprintf(name, sizeof(name), COPY_FORMAT, user == NO_UID ? stat->st_uid : user,
		 (uint64_t)stat->st_dev, (uint64_t)stat->st_ino);
	return memfd_create(name, MFD_CLOEXEC);
}

/* Returns a descriptor of the copy, or -errno. */
static int copy_file(int fd, uid_t user)
{
	struct stat stat;
	off_t left;
	int copy;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size > OPENER_COPY_MAX)
		return -EFBIG;
	copy = make_copy(&stat, user);
	for (left = stat.st_size; copy >= 0 && left > 0;) {
		ssize_t got = sendfile(copy, fd, NULL, (size_t)left);

		if (got <= 0) {
			int ret = got ? -errno : -EIO;

			close(copy);
			return ret;
		}
		left -= got;
	}
	return copy < 0 ? -errno : copy;
}

/* Close the file only after sending the copy, because close() may block for ever too. */
static void answer(const struct question *question, const int *fds)
{
	const struct regular_file_rule *rule = question->has_rule ? &question->rule : NULL;
	cleanup_fd int fd = *question->path ?
				    regular_file_open_below(fds[1], question->path, rule) :
				    regular_file_reopen(fds[1], rule);
	cleanup_fd int copy = fd < 0 ? fd : copy_file(fd, question->user);
	int code = copy < 0 ? copy : 0;

	send_with(fds[0], &code, sizeof(code), (int[HELPER_FDS]){ copy, -1 });
}

int opener_serve(void)
{
	static struct question question;
	char done = 0;
	int fds[HELPER_FDS];

	if (helper_prepare("bpfprofil-open", HELPER_RIGHTS))
		return EXIT_FAILURE;
	while (helper_receive(SOCKET, &question, sizeof(question), fds) == sizeof(question)) {
		answer(&question, fds);
		close_fd(&fds[0]);
		close_fd(&fds[1]);
		if (send(SOCKET, &done, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	return EXIT_SUCCESS;
}

/*
 * --- its callers --------------------------------------------------------------------------------
 */

struct opener {
	uint64_t owner;
	pid_t pid; /* 0: there is none */
	int fd;
	unsigned int waiting; /* unanswered questions */
	bool late; /* one of these has timed out */
	uint64_t waited_ns; /* how long callers have waited, less a share of the time since, */
	uint64_t at_ns; /* as of this time */
	uint64_t used; /* number of its last question */
};

static bool enabled;

void opener_enable(void)
{
	enabled = true;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects these: */
static struct opener openers[OPENERS_MAX];
static uint64_t nr_questions;

static bool start(struct opener *opener, uint64_t owner)
{
	*opener = (struct opener){ .owner = owner };
	opener->fd = helper_start(OPENER_COMMAND, NULL, SOCK_SEQPACKET, &opener->pid);
	return opener->pid;
}

static void abandon(struct opener *opener)
{
	helper_abandon(opener->pid);
	close_fd(&opener->fd);
	*opener = (struct opener){ .fd = -1 };
}

/* Counts its finished questions. False: it has ended. */
static bool look_after(struct opener *opener)
{
	ssize_t got;
	char done;

	while ((got = recv(opener->fd, &done, 1, MSG_DONTWAIT)) > 0)
		opener->waiting--;
	opener->late = opener->late && opener->waiting;
	return got < 0 && errno == EAGAIN;
}

/*
 * Returns the owner's opener. If there is none, uses an empty place, or that of the longest idle
 * one.
 */
static struct opener *find_opener(uint64_t owner)
{
	struct opener *place = NULL;
	size_t i;

	for (i = 0; i < OPENERS_MAX; i++) {
		struct opener *opener = &openers[i];

		if (opener->pid && !look_after(opener))
			abandon(opener);
		if (opener->pid && opener->owner == owner)
			return opener;
		if (!opener->waiting && (!place || opener->used < place->used))
			place = opener;
	}
	if (!place)
		return NULL;
	if (place->pid)
		abandon(place);
	return helpers_abandoned() < ABANDONED_MAX && start(place, owner) ? place : NULL;
}

/*
 * Limits waiting for a slow owner, because others wait too: a few seconds, plus a share of the
 * time.
 */
static uint64_t waited(struct opener *opener)
{
	const uint64_t now = monotonic_ns(), back = (now - opener->at_ns) / PATIENCE_SHARE;

	opener->waited_ns -= back < opener->waited_ns ? back : opener->waited_ns;
	opener->at_ns = now;
	return opener->waited_ns;
}

/* Returns the descriptor for the answer, or -errno. */
static int send_question(uint64_t owner, int place, struct question *question)
{
	struct opener *opener;
	int ends[2], ret = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pthread_mutex_lock(&lock);
	opener = find_opener(owner);
	if (!opener || opener->late || waited(opener) > PATIENCE_NS)
		ret = -ETIMEDOUT;
	else if (!send_with(opener->fd, question, sizeof(*question), (int[]){ ends[1], place }))
		ret = errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (!ret) {
		opener->waiting++;
		opener->used = ++nr_questions;
	}
	pthread_mutex_unlock(&lock);
	close(ends[1]);
	if (!ret)
		return ends[0];
	close(ends[0]);
	return ret;
}

static void note_wait(uint64_t owner, uint64_t ns, bool late)
{
	size_t i;

	LOCK_SCOPE(&lock);
	for (i = 0; i < OPENERS_MAX; i++) {
		if (!openers[i].pid || openers[i].owner != owner || !look_after(&openers[i]))
			continue;
		openers[i].waited_ns = waited(&openers[i]) + ns;
		openers[i].late = late && openers[i].waiting;
	}
}

static bool is_late(uint64_t owner)
{
	bool late = false;
	size_t i;

	LOCK_SCOPE(&lock);
	for (i = 0; i < OPENERS_MAX; i++)
		late = late || (openers[i].pid && openers[i].owner == owner && openers[i].late);
	return late;
}

static bool await(int fd, unsigned int ms)
{
	const uint64_t until = monotonic_ns() + ms * 1000000ULL;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now;
	int ready;

	while ((ready = poll(&poll_fd, 1, (int)ms)) < 0 && errno == EINTR) {
		now = monotonic_ns();
		ms = now < until ? (unsigned int)((until - now) / 1000000) : 0;
	}
	return ready > 0;
}

int opener_ask(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule)
{
	struct question question = { .has_rule = rule,
				     .user = owner < NO_UID ? (uid_t)owner : NO_UID };

	if (!enabled)
		return -ENOSYS;
	if (rule)
		question.rule = *rule;
	if (strlen(path) >= sizeof(question.path))
		return -ENAMETOOLONG;
	strcpy(question.path, path);
	return send_question(owner, place, &question);
}

int opener_answer(uint64_t owner, int *asked, unsigned int ms)
{
	const uint64_t began = monotonic_ns();
	const bool came = await(*asked, ms && is_late(owner) ? 0 : ms);
	int code, fds[HELPER_FDS];

	if (ms)
		note_wait(owner, monotonic_ns() - began, !came);
	if (!came)
		return -EAGAIN;
	if (helper_receive(*asked, &code, sizeof(code), fds) != sizeof(code))
		code = -EIO; /* the process has ended */
	close_fd(asked);
	close_fd(&fds[1]);
	return code ? code : fds[0];
}

int opener_open(uint64_t owner, int place, const char *path, const struct regular_file_rule *rule)
{
	int asked = opener_ask(owner, place, path, rule), ret;

	if (asked < 0)
		return asked;
	ret = opener_answer(owner, &asked, OPENER_WAIT_MS);
	close_fd(&asked);
	return ret == -EAGAIN ? -ETIMEDOUT : ret;
}

void opener_copy_of(int fd, struct stat *stat)
{
	char path[FD_PATH], name[COPY_NAME] = "";
	uint64_t device, inode;
	uid_t user;

	/* Nobody else can make a nameless file with our uid. */
	if (stat->st_nlink || stat->st_uid != geteuid() ||
	    readlink(fd_path(fd, path), name, sizeof(name) - 1) < 0 ||
	    sscanf(name, COPY_SCAN, &user, &device, &inode) != 3)
		return;
	stat->st_uid = user;
	stat->st_dev = device;
	stat->st_ino = inode;
}

void opener_root(uint64_t owner, const char *dir, char *root, size_t root_size)
{
	snprintf(root, root_size, "%c%" PRIx64 "%s", ROOT_MARK, owner, dir);
}

const char *opener_root_dir(const char *root, uint64_t *owner)
{
	char *dir;

	if (*root != ROOT_MARK)
		return NULL;
	*owner = strtoull(root + 1, &dir, 16);
	return dir;
}
