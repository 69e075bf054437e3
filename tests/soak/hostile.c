// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* hostile FILE FOLDER: makes all kinds of hostile files from an ELF file. */
#include "hostile.h"

int main(int argc, char **argv)
{
	int kind;

	if (argc != 3)
		return 2;
	for (kind = 0; kind < HOSTILE_KINDS; kind++)
		hostile_make(argv[1], argv[2], (enum hostile_kind)kind);
	return 0;
}
