// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/refusal.h"

#include <string.h>

static bool has_words(const struct bytes *text, const char *words)
{
	size_t length = strlen(words), i;

	for (i = 0; i + length <= text->size; i++)
		if (!strncasecmp(text->data + i, words, length))
			return true;
	return false;
}

static bool has_any(const struct bytes *text, const char *const *words)
{
	for (; *words; words++)
		if (has_words(text, *words))
			return true;
	return false;
}

/*
 * Words by which a refusal is about size. gRPC has no status for that: most libraries give one that
 * means later and that is refused again for ever, so that only the words tell. The collector answers
 * over HTTP with 400 and words too.
 */
static const char *const size_words[] = { "larger than", /* Go, C++, Python, JavaScript */
					  "exceeds maximum size", /* Java */
					  "too large", /* Rust; HTTP in Go */
					  NULL };

static const char *const pyroscope_words[] = {
	"exceeds limit of", "exceeds the samples count limit", "exceeds the size limit",
	"uncompressed profile payload size exceeds limit", NULL
};

/*
 * gRPC's status 8 becomes 429 where a gateway or connect translates it. Other words of size are not
 * enough there: a backend that is short of memory or has a limit of bytes in a second says them too.
 */
static const char *const message_words[] = { "message larger than", "is larger than configured max",
					     "message exceeds maximum size",
					     "message length too large", NULL };

bool refusal_for_size(long code, const struct bytes *body)
{
	if (code == 400)
		return has_any(body, size_words) || has_any(body, pyroscope_words);
	return code == 413 || (code == 429 && has_any(body, message_words));
}

bool refusal_for_size_grpc(long status, const struct bytes *message)
{
	return (status == 8 || status == 11) && has_any(message, size_words);
}
