// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * exceptions WHAT [UNITS]: leaf burns while an exception of C++ is handled, and plain in between; 6 : 4.
 *
 *   handler      in the catch block of handles
 *   destructor   in the destructor of an object of passes, which an exception leaves on its way to catches
 *   array        in the destructor of an object of passes_array, as before
 *   end          in the destructor of the exception, which the C++ library calls at the end of a catch block
 *   terminate    in the handler that the library calls because nobody catches
 *   throws       no leaf: exceptions leave ten frames of deeper and are caught by catches
 */
#include <exception>
#include <string.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(leaf)
SPIN_FUNCTION(plain)

#define NOT_LAST __asm__ volatile("" ::: "memory")
#define FRAME __attribute__((noinline, noclone))

/* The throw is its last instruction, so that the address to which it would return is another function's. */
FRAME static void deeper(int depth)
{
	if (!depth)
		throw depth;
	deeper(depth - 1);
	NOT_LAST;
}

FRAME static void handles(unsigned long units)
{
	try {
		deeper(1);
	} catch (int) {
		leaf(units);
		NOT_LAST;
	}
	NOT_LAST;
}

struct object {
	unsigned long units;

	FRAME ~object()
	{
		leaf(units);
		NOT_LAST;
	}
};

FRAME static void passes(unsigned long units)
{
	object local = { units };

	deeper(1);
	NOT_LAST;
}

/* What gcc splits off to call the destructor begins by giving back the array. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvla"
FRAME __attribute__((optimize("no-schedule-insns2"))) static void passes_array(unsigned long units)
{
	object local = { units };

	for (unsigned long i = 1; i < 3; i++) {
		char array[units % 100 + i];

		__asm__ volatile("" ::"r"(array) : "memory");
		deeper(1);
	}
	NOT_LAST;
}
#pragma GCC diagnostic pop

FRAME static void catches(void (*throws)(unsigned long), unsigned long argument)
{
	try {
		throws(argument);
	} catch (...) {
		NOT_LAST;
	}
	NOT_LAST;
}

FRAME static void ends(unsigned long units)
{
	try {
		throw object{ units };
	} catch (const object &) {
		NOT_LAST;
	}
	NOT_LAST;
}

static unsigned long at_the_end;

FRAME static void terminates()
{
	leaf(at_the_end);
	_exit(0);
}

FRAME static void uncaught(unsigned long units)
{
	at_the_end = units;
	std::set_terminate(terminates);
	deeper(1);
	NOT_LAST;
}

static void ten_frames(unsigned long depth)
{
	deeper((int)depth);
}

/* Each takes about half as long as a tenth of a unit. */
static void throw_often(unsigned long units)
{
	for (unsigned long n = units * SPIN_UNIT / 5000; n; n--)
		catches(ten_frames, 9);
}

FRAME static void round_of(const char *what, unsigned long units)
{
	unsigned long tenth = units / 10;

	plain(4 * tenth);
	if (!strcmp(what, "handler"))
		handles(6 * tenth);
	else if (!strcmp(what, "destructor"))
		catches(passes, 6 * tenth);
	else if (!strcmp(what, "array"))
		catches(passes_array, 6 * tenth);
	else if (!strcmp(what, "end"))
		ends(6 * tenth);
	else
		uncaught(6 * tenth);
	NOT_LAST;
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 2, 1000);
	const char *what = argc > 1 ? argv[1] : "handler";

	if (!strcmp(what, "throws"))
		throw_often(units);
	else if (!strcmp(what, "terminate"))
		round_of(what, units);
	else
		for (; units >= SPIN_ROUND; units -= SPIN_ROUND)
			round_of(what, SPIN_ROUND);
	return 0;
}
