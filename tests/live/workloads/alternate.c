// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Sleeps for a millisecond 300 times, twice below left() and then once below right(). Their frames have one layout. */
#include <time.h>

__attribute__((noipa)) static int rest(void)
{
	const struct timespec time = { .tv_nsec = 1100000 };

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

__attribute__((noipa)) static int left(int more)
{
	return rest() + more;
}

__attribute__((noipa)) static int right(int more)
{
	return rest() + more;
}

int main(void)
{
	static int (*const sides[])(int) = { left, left, right };
	int i, sum = 0;

	for (i = 0; i < 300; i++)
		sum += sides[i % 3](i);
	return !sum;
}
