/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_KEY_H
#define BPFPROFIL_TOP_KEY_H

#include <stddef.h>
#include <stdint.h>

/* A key that was pressed: a character, or one of these. */
enum top_key {
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = 0x1b,
	TOP_KEY_BACKSPACE = 0x7f,
	TOP_KEY_UP = 0x110000, /* above all characters */
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACK_TAB,
	TOP_KEY_HELP,
	TOP_KEY_QUIT,
	TOP_KEY_OTHER
};

/* The position to which a key moves in a list, by `page` rows or less, up to the last one. */
size_t top_moved(size_t at, uint32_t key, size_t page, size_t last);

#endif
