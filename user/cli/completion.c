// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the scripts of all shells share. */
#include "cli/completion.h"

#include <string.h>

void completion_escaped(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

void completion_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			completion_escaped(out, (const char[]){ *text, '\0' }, special);
	}
}
