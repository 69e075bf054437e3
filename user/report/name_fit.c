// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/name_fit.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/text.h"

#define ANONYMOUS "(anonymous namespace)"

/* Whether compilers append this to the name of a function's copy or part. */
static bool is_suffix(const char *rest)
{
	static const char *const suffixes[] = {
		".constprop.", ".isra.", ".part.",	".cold",
		".lto_priv.",  ".llvm.", ".localalias", " [clone ."
	};
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strncmp(rest, suffixes[i], strlen(suffixes[i])))
			return true;
	return false;
}

/* Whether the source place follows: V8 has "JS:*f /a/b.js:1:2", CPython a colon and a path. */
static bool is_place(const char *rest)
{
	return !strncmp(rest, " /", 2) || !strncmp(rest, " file:", 6) ||
	       !strncmp(rest, " node:", 6) || !strncmp(rest, ":/", 2);
}

static bool is_operator(const char *function, const char *at)
{
	static const char word[] = "operator";
	size_t length = strlen(word);

	return (size_t)(at - function) >= length && !strncmp(at - length, word, length);
}

/* Returns the text after the matching bracket; NULL: there is none, as in operator<. */
static const char *behind_bracket(const char *text)
{
	size_t depth = 0;

	for (; *text; text++) {
		if (!strncmp(text, "->", 2))
			text++;
		else if (strchr("<([{", *text))
			depth++;
		else if (strchr(">)]}", *text) && !--depth)
			return text + 1;
	}
	return NULL;
}

static enum name_fit fit_from_start(const char *function, const char *name)
{
	size_t length = strlen(name);
	const char *rest = function + length;

	if (!length || strncmp(function, name, length) != 0)
		return NAME_OTHER;
	if (!*rest)
		return NAME_EXACT;
	if (*rest == '(')
		return NAME_WITHOUT_PARAMETERS;
	if (is_suffix(rest) || is_place(rest))
		return NAME_WITHOUT_SUFFIX;
	/* Go's type arguments are in square brackets. */
	if ((*rest != '<' && *rest != '[') || is_operator(function, rest))
		return NAME_OTHER;
	rest = behind_bracket(rest);
	return rest && (!*rest || *rest == '(' || is_suffix(rest)) ? NAME_WITHOUT_ARGUMENTS :
								     NAME_OTHER;
}

/*
 * Returns the text after the next separator outside of brackets, or NULL. Separators are "::", a
 * dot (Go, Java), and a space (after the return type of a template or of Java's method). Go's
 * receivers are in parentheses too.
 */
static const char *next_component(const char *text)
{
	const char *start = text;

	while (text && *text && !is_suffix(text)) {
		if (text[0] == ':' && text[1] == ':')
			return text + 2;
		/* V8's mark for how the function was compiled. */
		if (text[0] == ':' && text[1] && strchr("*~^+", text[1]))
			return text + 2;
		if (is_place(text))
			return NULL;
		if (*text == '.' || *text == ' ')
			return text + 1;
		if (!strncmp(text, ANONYMOUS, strlen(ANONYMOUS)))
			text += strlen(ANONYMOUS);
		else if (*text == '(' && strncmp(text, "(*", 2) != 0)
			return NULL;
		else if (strchr("(<[{", *text) && !is_operator(start, text))
			text = behind_bracket(text);
		else
			text++;
	}
	return NULL;
}

/*
 * --- variants of glibc's functions: it chooses one when a program starts
 * --------------------------
 */

#define HIDDEN "__" /* begins the name of each */

/*
 * Removes the last word that names a processor feature or a property of the variant. Returns the
 * new length.
 */
static size_t without_need(const char *name, size_t length)
{
	static const char *const needs[] = {
		"_sse2",    "_sse3",   "_ssse3", "_sse4_1",	   "_sse4_2", "_sse41",
		"_sse42",   "_avx",    "_avx2",	 "_avx512",	   "_evex",   "_evex256",
		"_evex512", "_fma",    "_fma4",	 "_no_vzeroupper", "_erms",   "_unaligned",
		"_aligned", "_rtm",    "_movbe", "_no_bsf",	   "_back",   "_generic",
		"_c",	    "_x86_64",
	};
	size_t i, need;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		need = strlen(needs[i]);
		if (length > need && !strncmp(name + length - need, needs[i], need))
			return length - need;
	}
	return length;
}

const char *name_of_variant(const char *function, size_t *length)
{
	const char *plain = function + strlen(HIDDEN);
	size_t whole, shorter;

	if (strncmp(function, HIDDEN, strlen(HIDDEN)) != 0)
		return NULL;
	*length = shorter = whole = strlen(plain);
	while ((shorter = without_need(plain, *length)) < *length)
		*length = shorter;
	return *length < whole ? plain : NULL;
}

/* Functions that share code: one name is an alias of another, or another entry to it. */
#define SHARERS 3
static const char *const sharers[][SHARERS] = {
	{ "memcpy", "memmove", "mempcpy" },
	{ "memcpy_chk", "memmove_chk", "mempcpy_chk" },
	{ "memcmp", "bcmp" },
	{ "strchr", "index" },
	{ "strrchr", "rindex" },
	{ "strcasecmp", "strcasecmp_l" },
	{ "strncasecmp", "strncasecmp_l" },
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return word && length == strlen(word) && !strncmp(text, word, length);
}

static bool is_among(const char *text, size_t length, const char *const words[SHARERS])
{
	size_t i;

	for (i = 0; i < SHARERS; i++)
		if (is_word(text, length, words[i]))
			return true;
	return false;
}

/* Whether the function is a variant of the named one, or of one that shares its code. */
static bool is_variant(const char *function, const char *name)
{
	size_t length, i;
	const char *plain = name_of_variant(function, &length);

	if (!plain)
		return false;
	if (!strncmp(name, HIDDEN, strlen(HIDDEN)))
		name += strlen(HIDDEN);
	if (is_word(plain, length, name))
		return true;
	for (i = 0; i < sizeof(sharers) / sizeof(sharers[0]); i++)
		if (is_among(plain, length, sharers[i]) && is_among(name, strlen(name), sharers[i]))
			return true;
	return false;
}

enum name_fit name_fit(const char *function, const char *name)
{
	enum name_fit fit = fit_from_start(function, name);
	const char *component = function;

	while (!fit && (component = next_component(component)))
		if (fit_from_start(component, name))
			fit = NAME_UNQUALIFIED;
	return fit || !is_variant(function, name) ? fit : NAME_VARIANT;
}

size_t name_last_component(const char *function)
{
	const char *last = function, *next;

	while ((next = next_component(last)))
		last = next;
	return (size_t)(last - function);
}

size_t name_length(const char *function)
{
	const char *last = function + name_last_component(function);
	size_t length;

	for (length = 0; last[length]; length++) {
		bool bracket = strchr("<([", last[length]) && !is_operator(last, last + length);

		if (length && (bracket || is_suffix(last + length) || is_place(last + length)))
			break;
	}
	return (size_t)(last - function) + length;
}

size_t name_stem(const char *function)
{
	size_t length = 0;

	while (function[length] && !(length && is_suffix(function + length)))
		length++;
	return length;
}

/* --- names that are too long ------------------------------------------------------------------ */

/* C++'s and Rust's f<T>, Rust's f::<T>, Go's f[T]. Not Rust's <T as U>::f nor gcc's " [clone". */
static bool begins_arguments(const char *name, const char *at)
{
	if ((*at != '<' && *at != '[') || at == name || is_operator(name, at))
		return false;
	return isalnum((unsigned char)at[-1]) || at[-1] == '_' || (*at == '<' && at[-1] == ':');
}

/* Not Go's main.(*T).f, C++'s operator(), nor its anonymous namespace. */
static bool begins_parameters(const char *name, const char *at)
{
	if (*at != '(' || at == name || is_operator(name, at))
		return false;
	return at[-1] != '.' && strncmp(at, ANONYMOUS, strlen(ANONYMOUS)) != 0;
}

/* Copies the name with an ellipsis in each such bracket. The result is never longer. */
static void empty_brackets(const char *name, bool (*begins)(const char *name, const char *at),
			   char *to)
{
	const char *mark = text_glyph("\u2026"), *at = name, *end;

	while (*at) {
		if (!begins(name, at)) {
			*to++ = *at++;
			continue;
		}
		end = behind_bracket(at);
		if (!end)
			break;
		if ((size_t)(end - at) > 2 + strlen(mark))
			to += sprintf(to, "%c%s%c", *at, mark, end[-1]);
		else
			to = mempcpy(to, at, (size_t)(end - at));
		at = end;
	}
	strcpy(to, at);
}

size_t name_write(FILE *out, const char *name, size_t width)
{
	cleanup_free char *plain = NULL, *bare = NULL;

	if (!width || text_columns(name) <= width)
		return text_write(out, name, 0);
	plain = strdup(name);
	bare = strdup(name);
	if (!plain || !bare)
		return text_write_ends(out, name, width);
	empty_brackets(name, begins_arguments, plain);
	if (text_columns(plain) <= width)
		return text_write(out, plain, 0);
	empty_brackets(plain, begins_parameters, bare);
	return text_write_ends(out, bare, width);
}
