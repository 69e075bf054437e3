/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

/*
 * ELF files that anybody may map as text, and that a reader of their headers pays for: each is a
 * program's, whose text stays where it is and runs, with other headers.
 */
enum hostile_kind {
	HOSTILE_SEGMENTS, /* a hundred million program headers, in a hole */
	HOSTILE_TABLES, /* 60,000 symbol tables, all the same */
	HOSTILE_SYMBOLS, /* two hundred million symbols, in a hole */
	HOSTILE_NAMES, /* four thousand names of 16 MiB, in each other */
	HOSTILE_LINK, /* a debug file of terabytes, a hole */
	HOSTILE_PACKED, /* sections that unpack to a terabyte */
	HOSTILE_ENDLESS, /* names of sections without an end */
	HOSTILE_NOTES, /* a thousand notes of half a gigabyte */
	HOSTILE_CUT, /* no section headers where they should be */
	HOSTILE_KINDS,
};

const char *hostile_name(enum hostile_kind kind);

/* Makes folder/NAME out of the 64-bit ELF file base, as a child of the test. Fails the test. */
void hostile_make(const char *base, const char *folder, enum hostile_kind kind);

#endif
