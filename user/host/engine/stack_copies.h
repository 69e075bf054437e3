/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STACK_COPIES_H
#define BPFPROFIL_STACK_COPIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/waits_abi.h"

/*
 * Copies pieces of the stacks of sleeping threads, for walks: see bpf/sleepers.bpf.h.
 *
 * Reading another process's memory can block for ever, because its owner can hold the lock of its
 * address space, or replace the stack by a file that never answers. Therefore a helper process
 * reads, and nobody waits for it. If it does not answer, it is killed or left behind, and soon
 * no more stacks of that owner are read. It copies into memory of its own first, so that a read that ends
 * late changes nothing.
 */

/* The hidden command of the helper. */
#define STACKS_COMMAND "__stacks"
int stack_copies_serve(void);

struct stack_copies {
	struct stack_piece *pieces;
	struct owner *owners;
	pid_t pid; /* of the helper; 0: there is none */
	int fd;
	uint32_t nr_asked; /* pieces */
	uint32_t nr_answered; /* the first of these */
	uint32_t hung; /* helpers that did not answer */
	uint64_t since_ns; /* when the helper last answered, or was asked */
};

void stack_copies_init(struct stack_copies *copies);
void stack_copies_end(struct stack_copies *copies);

/* Asks for the pieces up to a number that were not asked for yet. 0: begins anew. */
void stack_copies_ask(struct stack_copies *copies, uint32_t nr);

/* Whether answers are missing. Their descriptor, -1 without a helper, becomes readable. */
bool stack_copies_wait(const struct stack_copies *copies);

/* Receives answers. Pieces that cannot be read stay empty. */
void stack_copies_receive(struct stack_copies *copies);

/* When stack_copies_receive() gives up. */
uint64_t stack_copies_until(const struct stack_copies *copies);

#endif
