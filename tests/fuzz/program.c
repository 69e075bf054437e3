// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Never run: fuzz.mk makes seeds from it for the targets that read programs. */
int outside(int n);
int loop(int n);
int first(int n);

static inline __attribute__((always_inline)) int half(int n)
{
	return n & 1 ? 3 * n + 1 : n / 2;
}

int loop(int n)
{
	int steps = 0;

	while (n > 1) {
		n = half(n);
		steps++;
	}
	return steps;
}

__attribute__((section(".text.startup"))) int first(int n)
{
#ifdef CALL_OUTSIDE
	return outside(n) + loop(n);
#else
	return loop(n);
#endif
}
