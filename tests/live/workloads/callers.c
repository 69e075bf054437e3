// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * callers WHAT [UNITS]: one function, leaf, burns for several callers in known shares.
 *
 *   plain      by first, second and third, 5 : 3 : 2
 *   deep       by first at a depth of 100 calls of itself, and by second at one of 10; 6 : 4
 *   deeper     by first at a depth of 3,000, and by second at one of 400; 5 : 5
 *   mutual     by first and second, which call each other 20 deep, and by third; 7 : 3
 *   tail       by first, which ends in a jump to it, and second; 6 : 4
 *   signal     in a handler of SIGUSR1 that first is interrupted by, and by second; 5 : 5
 *   threads    by first in one thread and second in another; 5 : 5
 *   forks      by first in children and by second in their parent; 5 : 5
 *   pointer    by first, which keeps its frame in rbp and moves its stack by alloca(), and second; 6 : 4
 *   wide       by chains of 12 calls, of which there are 4,096
 *   library    by a function of the C library (qsort's comparison) and by second; 5 : 5
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(leaf)

#define NOT_LAST __asm__ volatile("" ::: "memory")
#define CALLER(name)                                                                               \
	void name(unsigned long units, int depth);                                                 \
	__attribute__((noinline, noclone)) void name(unsigned long units, int depth)               \
	{                                                                                          \
		if (depth > 1)                                                                     \
			name(units, depth - 1);                                                    \
		else                                                                               \
			leaf(units);                                                               \
		NOT_LAST;                                                                          \
	}

CALLER(first)
CALLER(second)
CALLER(third)

void ping(unsigned long units, int depth);
void pong(unsigned long units, int depth);

__attribute__((noinline, noclone)) void ping(unsigned long units, int depth)
{
	if (depth)
		pong(units, depth - 1);
	else
		leaf(units);
	NOT_LAST;
}

__attribute__((noinline, noclone)) void pong(unsigned long units, int depth)
{
	if (depth)
		ping(units, depth - 1);
	else
		leaf(units);
	NOT_LAST;
}

void left(unsigned long units, unsigned int turns, int depth);
void right(unsigned long units, unsigned int turns, int depth);

static void turn(unsigned long units, unsigned int turns, int depth)
{
	if (!depth)
		leaf(units);
	else if (turns & 1)
		left(units, turns >> 1, depth - 1);
	else
		right(units, turns >> 1, depth - 1);
}

__attribute__((noinline, noclone)) void left(unsigned long units, unsigned int turns, int depth)
{
	turn(units, turns, depth);
	NOT_LAST;
}

__attribute__((noinline, noclone)) void right(unsigned long units, unsigned int turns, int depth)
{
	turn(units, turns, depth);
	NOT_LAST;
}

void jumps(unsigned long units);
__attribute__((noinline, noclone)) void jumps(unsigned long units)
{
	leaf(units);
}

void calls_jumps(unsigned long units);
__attribute__((noinline, noclone)) void calls_jumps(unsigned long units)
{
	jumps(units);
	NOT_LAST;
}

void moves(unsigned long units, size_t bytes);
__attribute__((noinline, noclone)) void moves(unsigned long units, size_t bytes)
{
	char *room = alloca(bytes);

	memset(room, 1, bytes);
	leaf(units);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static unsigned long handled;

static void handler(int signal)
{
	(void)signal;
	leaf(handled);
	NOT_LAST;
}

void raises(unsigned long units);
__attribute__((noinline, noclone)) void raises(unsigned long units)
{
	handled = units;
	raise(SIGUSR1);
	NOT_LAST;
}

static unsigned long sorted;

static int compares(const void *a, const void *b)
{
	leaf(sorted);
	NOT_LAST;
	return *(const int *)a - *(const int *)b;
}

void sorts(unsigned long units);
__attribute__((noinline, noclone)) void sorts(unsigned long units)
{
	int two[2] = { 1, 2 };

	sorted = units;
	qsort(two, 2, sizeof(two[0]), compares);
	NOT_LAST;
}

static void *in_thread(void *units)
{
	unsigned long rest = (unsigned long)units;

	for (; rest >= SPIN_ROUND / 2; rest -= SPIN_ROUND / 2)
		first(SPIN_ROUND / 2, 1);
	return NULL;
}

static void threads(unsigned long units)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, (void *)(units / 2));
	for (units /= 2; units >= SPIN_ROUND / 2; units -= SPIN_ROUND / 2)
		second(SPIN_ROUND / 2, 1);
	pthread_join(thread, NULL);
}

static void in_child(unsigned long units)
{
	pid_t child = fork();

	if (!child) {
		first(units, 2);
		_exit(0);
	}
	second(units, 2);
	waitpid(child, NULL, 0);
}

static void round_of(const char *what, unsigned long units)
{
	unsigned long tenth = units / 10;
	static unsigned int path;

	if (!strcmp(what, "plain")) {
		first(5 * tenth, 1);
		second(3 * tenth, 1);
		third(2 * tenth, 1);
	} else if (!strcmp(what, "deep")) {
		first(6 * tenth, 100);
		second(4 * tenth, 10);
	} else if (!strcmp(what, "deeper")) {
		first(5 * tenth, 3000);
		second(5 * tenth, 400);
	} else if (!strcmp(what, "mutual")) {
		ping(7 * tenth, 20);
		third(3 * tenth, 1);
	} else if (!strcmp(what, "tail")) {
		calls_jumps(6 * tenth);
		second(4 * tenth, 1);
	} else if (!strcmp(what, "signal")) {
		raises(5 * tenth);
		second(5 * tenth, 1);
	} else if (!strcmp(what, "forks")) {
		in_child(5 * tenth);
	} else if (!strcmp(what, "wide")) {
		for (; units; units--)
			turn(1, ++path * 0x9e3779b1U >> 20, 12);
	} else if (!strcmp(what, "pointer")) {
		moves(6 * tenth, 1000 + units % 7 * 64);
		second(4 * tenth, 1);
	} else {
		sorts(5 * tenth);
		second(5 * tenth, 1);
	}
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 2, 1000);
	const char *what = argc > 1 ? argv[1] : "plain";

	signal(SIGUSR1, handler);
	if (!strcmp(what, "threads")) {
		threads(units);
		return 0;
	}
	for (; units >= SPIN_ROUND; units -= SPIN_ROUND)
		round_of(what, SPIN_ROUND);
	return 0;
}
