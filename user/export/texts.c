// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export_impl.h"

/* Shorter than what the string set cuts, because that cuts without regard to UTF-8. */
#define TEXT_MAX 4000

struct escaped {
	FILE *stream; /* written into text */
	char *text;
	size_t size;
};

static int append_text(struct texts *texts, const char *text)
{
	if (grow((void **)&texts->all, &texts->room, texts->nr + 1, sizeof(*texts->all)))
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
	pointer_map_clear(&texts->numbers);
}

/* Cuts between two characters, and what was cut not again. */
static void shorten_text(char *text)
{
	size_t length = strlen(text);

	if (length <= TEXT_MAX + strlen("..."))
		return;
	for (length = TEXT_MAX; ((unsigned char)text[length] & 0xc0) == 0x80; length--)
		;
	memcpy(text + length, "...", 4);
}

static int escape_text(struct texts *texts, const char *text)
{
	FILE *stream = texts->escaped->stream;

	rewind(stream);
	export_text(stream, text, 0, NULL);
	fputc('\0', stream);
	if (fflush(stream) || ferror(stream))
		return texts->error = -ENOMEM;
	shorten_text(texts->escaped->text);
	return 0;
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	const char *kept;
	uint64_t *number;

	if (!text || !*text || escape_text(texts, text))
		return 0;
	kept = string_set_add(&texts->set, texts->escaped->text);
	number = kept ? pointer_map_at(&texts->numbers, kept, NULL) : NULL;
	if (!number || (!*number && append_text(texts, kept))) {
		texts->error = -ENOMEM;
		return 0;
	}
	if (!*number)
		*number = texts->nr - 1;
	return (uint32_t)*number;
}
