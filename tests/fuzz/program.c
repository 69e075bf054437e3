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

#ifdef PCLNTAB
/* The table of a Go program of 1.20, with one function; where the text starts is relocated. */
__asm__(".pushsection .gopclntab, \"aw\"\n"
	".balign 32\n"
	"table: .long 0xfffffff1\n"
	".byte 0, 0, 1, 8\n"
	".quad 1, 1, text, names - table, units - table, files - table, values - table\n"
	".quad functions - table\n"
	"names: .asciz \"main.(*T).loop\"\n"
	"units: .long 0\n"
	"files: .asciz \"/main.go\"\n"
	"values: .byte 0\n"
	"file_values: .byte 2, 0xff, 1, 0\n"
	"line_values: .byte 8, 9, 2, 3, 3, 0xf3, 1, 0\n"
	"functions: .long 0, function - functions, 0xff\n"
	"function: .long 0, 0, 0, 0, 0, file_values - values, line_values - values, 0, 0, 0, 0\n"
	".popsection\n"
	".pushsection .text\n"
	"text:\n"
	".popsection\n");
#endif
