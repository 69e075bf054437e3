// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Text that needs nothing else, so it runs wherever it is mapped. */
unsigned long burn(unsigned long n);

unsigned long burn(unsigned long n)
{
	unsigned long x = 1;

	for (; n; n--) {
		x = x * 0x5851f42dUL + n;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
