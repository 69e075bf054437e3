// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/key.h"

size_t top_moved(size_t at, uint32_t key, size_t page, size_t last)
{
	if (key == TOP_KEY_UP || key == 'k')
		at -= at > 0;
	else if (key == TOP_KEY_DOWN || key == 'j')
		at++;
	else if (key == TOP_KEY_PAGE_UP)
		at -= at < page ? at : page;
	else if (key == TOP_KEY_PAGE_DOWN)
		at += page;
	else if (key == TOP_KEY_HOME)
		at = 0;
	else if (key == TOP_KEY_END)
		at = last;
	return at < last ? at : last;
}
