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

struct escaped {
	FILE *stream; /* writes into text */
	char *text;
	size_t size;
};

static int append_text(struct texts *texts, const char *text)
{
	if (GROW(texts->all, texts->room, texts->nr + 1))
		return texts->error = -ENOMEM;
	texts->all[texts->nr++] = text;
	return 0;
}

int texts_begin(struct texts *texts)
{
	*texts = (struct texts){ 0 };
	texts->escaped = calloc(1, sizeof(*texts->escaped));
	if (!texts->escaped)
		return texts->error = -ENOMEM;
	texts->escaped->stream = open_memstream(&texts->escaped->text, &texts->escaped->size);
	if (!texts->escaped->stream)
		return texts->error = -ENOMEM;
	return append_text(texts, "");
}

void texts_end(struct texts *texts)
{
	if (texts->escaped && texts->escaped->stream)
		fclose(texts->escaped->stream);
	if (texts->escaped)
		free(texts->escaped->text);
	free(texts->escaped);
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

static int escape_text(struct texts *texts, const char *text)
{
	FILE *stream = texts->escaped->stream;

	rewind(stream);
	export_text(stream, text, 0, NULL);
	fputc('\0', stream);
	if (fflush(stream) || ferror(stream))
		return texts->error = -ENOMEM;
	if (texts->labels)
		shorten_label(texts->escaped->text);
	else
		shorten_text(texts->escaped->text);
	return 0;
}

/* Most names are, and each place of a profile has one. */
static bool is_short_ascii(const char *text)
{
	size_t length = export_plain_length(text, 0);

	return !text[length] && length < TEXT_LABEL;
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	uint32_t number;

	if (!text || !*text || texts->error)
		return 0;
	if (!is_short_ascii(text)) {
		if (escape_text(texts, text))
			return 0;
		text = texts->escaped->text;
	}
	number = string_set_number(&texts->set, text);
	if (!number || (number == texts->nr && append_text(texts, texts->set.all[number - 1]))) {
		texts->error = -ENOMEM;
		return 0;
	}
	return number;
}
