// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The setters that option tables share. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"
#include "option/meant.h"
#include "option/opts.h"

int opt_bad(const struct opt *opt, const char *value, struct error *err, const char *why, ...)
{
	char reason[256];
	va_list args;

	va_start(args, why);
	vsnprintf(reason, sizeof(reason), why, args);
	va_end(args);
	return error_set(err, -EINVAL, "--%s '%.128s': %s", opt->name, value, reason);
}

int opt_set_flag(const struct opt *opt, const char *value, void *field, struct error *err)
{
	bool *flag = field;

	(void)opt;
	(void)value;
	(void)err;
	*flag = true;
	return 0;
}

int opt_set_string(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char **string = field;

	if (!*value)
		return opt_bad(opt, value, err, "must not be empty");
	*string = value;
	return 0;
}

/*
 * Accepts both "process" and "processes", so that nobody has to know which of them an option has.
 */
static bool is_word(const char *word, const char *typed)
{
	size_t length = strlen(word), other = strlen(typed);
	const char *more = length < other ? typed + length : word + other;

	return !strncmp(word, typed, length < other ? length : other) &&
	       (!*more || !strcmp(more, "s") || !strcmp(more, "es"));
}

int opt_set_word(const struct opt *opt, const char *value, void *field, struct error *err)
{
	unsigned int *choice = field, i;
	char list[160];
	const char *nearest;
	size_t length = 0;

	for (i = 0; opt->words[i]; i++) {
		if (is_word(opt->words[i], value)) {
			*choice = i;
			return 0;
		}
	}
	for (i = 0; opt->words[i] && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i ? ", " : "", opt->words[i]);
	opt_bad(opt, value, err, "must be one of %s", list);
	nearest = nearest_word(value, opt->words);
	if (meant_by_word(opt->name, value))
		error_hint(err, "%s", meant_by_word(opt->name, value));
	else if (nearest)
		error_hint(err, "--%s %s", opt->name, nearest);
	return -EINVAL;
}

int opt_set_u64(const struct opt *opt, const char *value, void *field, struct error *err)
{
	uint64_t *number = field, parsed = 0;

	if (parse_u64(value, &parsed) || parsed < opt->min || parsed > opt->max) {
		if (opt->max == UINT64_MAX)
			return opt_bad(opt, value, err, "must be a whole number, at least %" PRIu64,
				       opt->min);
		return opt_bad(opt, value, err,
			       "must be a whole number from %" PRIu64 " to %" PRIu64, opt->min,
			       opt->max);
	}
	*number = parsed;
	return 0;
}
