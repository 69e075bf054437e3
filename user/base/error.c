// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_with_hint(struct error *err, int code, const char *hint, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	snprintf(err->hint, sizeof(err->hint), "%s", hint);
	return code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;
	int len;

	if (!err)
		return code;
	va_start(args, format);
	len = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(err->text))
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(-code));
	err->hint[0] = '\0';
	return code;
}

int error_no_memory(struct error *err, const char *what)
{
	return error_set(err, -ENOMEM, "%s: out of memory", what);
}

void error_hint(struct error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}
