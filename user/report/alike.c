// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/alike.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "symbol/string_set.h"

#define ALIKE_NAMED 5

int alike_add(struct alike_names *alike, const char *name)
{
	return name ? PUSH(alike->names, alike->room, alike->nr, name) : 0;
}

void alike_free(struct alike_names *alike)
{
	free(alike->names);
	*alike = (struct alike_names){ 0 };
}

/* How similar a name is to the one searched for, best first. */
enum likeness { LIKE_WORD, LIKE_BEGINNING, LIKE_PART, LIKE_ANY };

static enum likeness likeness_of(const char *name, size_t length, const char *asked)
{
	enum likeness best = LIKE_ANY, found;
	const char *part;
	size_t end;

	for (part = name; (part = strcasestr(part, asked)) && part < name + length; part++) {
		end = (size_t)(part - name) + strlen(asked);
		if (part > name && isalnum((unsigned char)part[-1]))
			found = LIKE_PART;
		else
			found = isalnum((unsigned char)name[end]) ? LIKE_BEGINNING : LIKE_WORD;
		best = found < best ? found : best;
	}
	return best;
}

/* Names to suggest, terminated by NULL as for nearest_word(). */
struct suggested {
	const char **names;
	size_t nr;
	size_t room;
	struct string_set strings; /* owns them */
};

/* Adds the name as users would type it, without arguments and parameters. */
static int suggest(struct suggested *names, const char *name, size_t length)
{
	cleanup_free char *typed = strndup(name, length);
	const char *kept = typed ? string_set_add(&names->strings, typed) : NULL;
	size_t i;

	if (!kept || GROW(names->names, names->room, names->nr + 2))
		return -ENOMEM;
	for (i = 0; i < names->nr && i < ALIKE_NAMED; i++)
		if (!strcmp(names->names[i], kept))
			return 0;
	names->names[names->nr++] = kept;
	names->names[names->nr] = NULL;
	return 0;
}

/* If names are only near, compare the last component, and the plain name of a variant. */
static int consider(const char *name, const char *asked, enum likeness like,
		    struct suggested *names)
{
	size_t length = name_length(name), from, plain_length;
	const char *plain;

	if (like != LIKE_ANY)
		return names->nr < ALIKE_NAMED && likeness_of(name, length, asked) == like ?
			       suggest(names, name, length) :
			       0;
	plain = name_of_variant(name, &plain_length);
	if (plain)
		return suggest(names, plain, plain_length);
	from = name_last_component(name);
	return suggest(names, name + from, length - from);
}

static int gather(const struct alike_names *alike, const char *asked, enum likeness like,
		  struct suggested *names)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < alike->nr; i++)
		ret = consider(alike->names[i], asked, like, names);
	return ret;
}

static int find_alike(const struct alike_names *alike, const char *asked, struct suggested *names)
{
	enum likeness like;
	const char *near;
	int ret = gather(alike, asked, LIKE_WORD, names);

	/* Accept a match inside a word only if there is no better one. */
	for (like = LIKE_BEGINNING; !ret && like < LIKE_ANY; like++)
		if (like == LIKE_BEGINNING || !names->nr)
			ret = gather(alike, asked, like, names);
	if (ret || names->nr)
		return ret;
	ret = gather(alike, asked, LIKE_ANY, names);
	near = names->nr ? nearest_word(asked, names->names) : NULL;
	names->nr = 0;
	return ret || !near ? ret : suggest(names, near, strlen(near));
}

int alike_write(const struct alike_names *alike, const char *asked, char text[ALIKE_BYTES])
{
	struct suggested names = { 0 };
	int ret = find_alike(alike, asked, &names);
	size_t i, used = 0;

	*text = '\0';
	for (i = 0; !ret && i < names.nr && used + strlen(names.names[i]) + 24 < ALIKE_BYTES; i++)
		used += (size_t)snprintf(text + used, ALIKE_BYTES - used, "%s%s",
					 used ? ", " : "; much like it: ", names.names[i]);
	string_set_free(&names.strings);
	free(names.names);
	return ret;
}
