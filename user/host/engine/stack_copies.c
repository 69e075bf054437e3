// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/stack_copies.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/helper_process.h"
#include "base/util.h"

/* After so many helpers that did not answer, no stacks are read any more. */
enum { SOCKET = STDIN_FILENO, HUNG_MAX = 8 };

#define PATIENCE_NS (3 * (uint64_t)SECOND_NS)

struct piece_request {
	uint64_t at;
	uint32_t tid;
	uint32_t size;
};

struct piece_copy {
	uint64_t ns;
	uint64_t words[PIECE_WORDS]; /* those that were read */
};

#define COPY_HEAD offsetof(struct piece_copy, words)

/* --- the helper ---------------------------------------------------------------------------------- */

static bool send_copy(const struct piece_request *request)
{
	struct piece_copy copy = { .ns = monotonic_ns() };
	struct iovec to = { copy.words, request->size };
	struct iovec from = { (void *)(uintptr_t)request->at, request->size };
	ssize_t got = 0;

	if (request->size <= sizeof(copy.words))
		got = process_vm_readv((pid_t)request->tid, &to, 1, &from, 1, 0);
	copy.ns = monotonic_ns() - copy.ns;
	return send(SOCKET, &copy, COPY_HEAD + (size_t)(got > 0 ? got : 0), MSG_NOSIGNAL) > 0;
}

int stack_copies_serve(void)
{
	static struct piece_request requests[STACK_PIECES];
	size_t i, nr = 1;
	ssize_t got;

	if (helper_prepare("bpfprofil-stack", HELPER_RIGHTS))
		return EXIT_FAILURE;
	while (nr && (got = recv(SOCKET, requests, sizeof(requests), 0)) > 0) {
		nr = (size_t)got / sizeof(*requests);
		for (i = 0; i < nr; i++)
			if (!send_copy(&requests[i]))
				return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* --- the session --------------------------------------------------------------------------------- */

void stack_copies_init(struct stack_copies *copies)
{
	*copies = (struct stack_copies){ .fd = -1 };
}

/* Gives up what was asked for. */
void stack_copies_end(struct stack_copies *copies)
{
	if (copies->pid)
		helper_abandon(copies->pid);
	close_fd(&copies->fd);
	copies->pid = 0;
	copies->nr_answered = copies->nr_asked;
}

static bool start(struct stack_copies *copies)
{
	if (copies->hung == HUNG_MAX || helpers_abandoned() == ABANDONED_MAX)
		return false;
	copies->fd = helper_start(STACKS_COMMAND, NULL, SOCK_SEQPACKET, &copies->pid);
	return copies->pid;
}

void stack_copies_ask(struct stack_copies *copies, uint32_t nr)
{
	static struct piece_request requests[STACK_PIECES];
	size_t size = 0;

	if (!nr)
		copies->nr_asked = copies->nr_answered = 0;
	if (nr <= copies->nr_asked || nr > STACK_PIECES || (!copies->pid && !start(copies)))
		return;
	for (; copies->nr_asked < nr; copies->nr_asked++) {
		const struct stack_piece *piece = &copies->pieces[copies->nr_asked];

		requests[size++] = (struct piece_request){ piece->at, piece->tid, piece->wanted };
	}
	copies->since_ns = monotonic_ns();
	if (send(copies->fd, requests, size * sizeof(*requests), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		stack_copies_end(copies);
}

bool stack_copies_wait(const struct stack_copies *copies)
{
	return copies->nr_answered < copies->nr_asked;
}

uint64_t stack_copies_until(const struct stack_copies *copies)
{
	return copies->since_ns + PATIENCE_NS;
}

void stack_copies_receive(struct stack_copies *copies)
{
	struct stack_piece *piece;
	struct piece_copy copy;
	ssize_t got = 0;

	while (stack_copies_wait(copies) &&
	       (got = recv(copies->fd, &copy, sizeof(copy), MSG_DONTWAIT)) >= (ssize_t)COPY_HEAD) {
		piece = &copies->pieces[copies->nr_answered++];
		got -= COPY_HEAD;
		memcpy(piece->words, copy.words, (size_t)got);
		piece->ns = copy.ns;
		__atomic_store_n(&piece->size, got & -(ssize_t)sizeof(uint64_t), __ATOMIC_RELEASE);
		copies->since_ns = monotonic_ns();
	}
	if (!stack_copies_wait(copies))
		return;
	if (got < 0 && errno == EAGAIN) {
		if (monotonic_ns() < stack_copies_until(copies))
			return;
		copies->owners[copies->pieces[copies->nr_answered].owner % OWNERS_MAX].unread++;
	}
	copies->hung++;
	stack_copies_end(copies);
}
