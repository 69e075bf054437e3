// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* C that calls Go that calls C, in one program. */
#include <stdint.h>
#include <stdlib.h>

uint64_t GoOuter(uint64_t n);
uint64_t c_leaf(uint64_t n);
uint64_t c_middle(uint64_t n);
uint64_t c_back(uint64_t n);
uint64_t c_calls_go(uint64_t n);

__attribute__((noipa)) uint64_t c_leaf(uint64_t n)
{
	volatile uint64_t sum = 0;

	while (n--)
		sum += n;
	return sum;
}

__attribute__((noipa)) uint64_t c_middle(uint64_t n)
{
	volatile uint64_t room[7] = { n };

	return c_leaf(n) + room[0];
}

__attribute__((noipa)) uint64_t c_back(uint64_t n)
{
	volatile uint64_t room[3] = { n };

	return c_middle(n) + room[0];
}

__attribute__((noipa)) uint64_t c_calls_go(uint64_t n)
{
	volatile uint64_t room[5] = { n };

	return GoOuter(n) + room[0];
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, sum = 0;

	while (rounds--)
		sum += c_calls_go(300000);
	return sum == 1;
}
