// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "export/export_impl.h"

/* Below the string set's limit, because that would cut through UTF-8. */
#define TEXT_MAX 4000

static int append_text(struct texts *texts, const char *text)
{
	return PUSH(texts->all, texts->room, texts->nr, text) ? texts->error = -ENOMEM : 0;
}

int texts_begin(struct texts *texts)
{
	*texts = (struct texts){ 0 };
	return append_text(texts, "");
}

void texts_end(struct texts *texts)
{
	free(texts->all);
	string_set_free(&texts->set);
}

/* Cuts between two characters, but does not cut twice. */
static void shorten_text(char *text)
{
	size_t length = strlen(text);

	if (length <= TEXT_MAX + strlen("..."))
		return;
	for (length = TEXT_MAX; ((unsigned char)text[length] & 0xc0) == 0x80; length--)
		;
	memcpy(text + length, "...", 4);
}

/* Escapes have four bytes for one. Therefore cut a label after escaping. */
static void shorten_label(char *text)
{
	char cut[TEXT_LABEL];

	if (text_label(text, cut) == cut)
		strcpy(text, cut);
}

/* Returns the text as backends accept it; the caller frees it. NULL: out of memory. */
static char *escape_text(const struct texts *texts, const char *text)
{
	char *escaped = NULL;
	size_t size;
	FILE *stream = open_memstream(&escaped, &size);

	if (!stream)
		return NULL;
	export_text(stream, text, 0, NULL);
	if (fclose(stream)) {
		free(escaped);
		return NULL;
	}
	(texts->labels ? shorten_label : shorten_text)(escaped);
	return escaped;
}

/* Most names are, and each place of a profile has one. */
static bool is_short_ascii(const struct texts *texts, const char *text)
{
	size_t length = export_plain_length(text, 0);

	return !text[length] && length < (texts->labels ? TEXT_LABEL : TEXT_MAX);
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	cleanup_free char *escaped = NULL;
	uint32_t number = 0;

	if (!text || !*text || texts->error)
		return 0;
	if (!is_short_ascii(texts, text))
		text = escaped = escape_text(texts, text);
	if (text)
		number = string_set_number(&texts->set, text);
	if (!number || (number == texts->nr && append_text(texts, texts->set.all[number - 1]))) {
		texts->error = -ENOMEM;
		return 0;
	}
	return number;
}
