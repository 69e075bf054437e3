/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * ELF files that anybody may map as text and that make a reader of their headers pay: each has the
 * text of a real program, unmoved and runnable, with other headers.
 */
enum hostile_kind {
	HOSTILE_SEGMENTS, /* a hundred million program headers, in a hole */
	HOSTILE_TABLES, /* 60,000 symbol tables, all the same */
	HOSTILE_SYMBOLS, /* two hundred million symbols, in a hole */
	HOSTILE_NAMES, /* four thousand names of 16 MiB, each inside another */
	HOSTILE_LINK, /* a debug file of terabytes, all of it a hole */
	HOSTILE_PACKED, /* sections that unpack to a terabyte */
	HOSTILE_ENDLESS, /* names of sections without a final NUL */
	HOSTILE_NOTES, /* a thousand notes of half a gigabyte */
	HOSTILE_CUT, /* no section headers where they should be */
	HOSTILE_FRAMES, /* two million descriptions of frames, each in the last of a thousand segments */
	HOSTILE_ROWS, /* 60 MiB of instructions, each of which makes a row with a rule of its own */
	HOSTILE_COPIED, /* 12 KB on the disk: holes of 1,200 MB as relocations that are not aligned */
	HOSTILE_FUNCTIONS, /* two million descriptions of functions, all over 2 GiB of text */
	HOSTILE_CIRCLE, /* descriptions of frames that are their own common entries, or lead nowhere */
	HOSTILE_BEYOND, /* a segment of text whose addresses end above 2^64 */
	HOSTILE_KINDS,
};

const char *hostile_name(enum hostile_kind kind);

/*
 * Makes folder/NAME from the 64-bit ELF file base, in a child of the test. Fails the test on error.
 */
void hostile_make(const char *base, const char *folder, enum hostile_kind kind);

/*
 * Makes path from base with a hole for the content of one section, which is added if base has none of
 * the name: of a type, of so many bytes, and so many bytes behind the start of a page.
 */
void hostile_make_hole(const char *base, const char *path, const char *section, uint32_t type,
		       size_t size, size_t behind);

/*
 * Makes a file whose text runs and is described as it is, and which also has so many rows of frames elsewhere,
 * with so many rules that no file of another seed has.
 */
struct hostile_rules {
	unsigned int seed;
	unsigned int rules;
	unsigned int rows;
};

void hostile_make_rules(const char *base, const char *path, struct hostile_rules wanted);

#endif
