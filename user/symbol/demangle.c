// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/*
 * Both manglings have back references, so that a few hundred hostile bytes can expand to terabytes.
 * The demanglers cannot be interrupted, but they own no memory during a callback. Therefore the
 * callback leaves by longjmp() when the buffer is full, and the text so far is kept.
 */
#define NAME_MAX_LENGTH 4096

struct demangled {
	jmp_buf full;
	size_t length;
	char text[NAME_MAX_LENGTH];
};

static void collect_piece(const char *piece, size_t length, void *opaque)
{
	struct demangled *output = opaque;
	size_t room = sizeof(output->text) - output->length;

	/* An empty name comes as NULL. */
	if (!length)
		return;
	if (length > room) {
		memcpy(output->text + output->length, piece, room);
		longjmp(output->full, 1);
	}
	memcpy(output->text + output->length, piece, length);
	output->length += length;
}

typedef int (*demangler)(const char *name, int options, demangle_callbackref callback,
			 void *opaque);

static char *demangle_by(demangler by, const char *name, struct demangled *output)
{
	output->length = 0;
	if (setjmp(output->full)) {
		memcpy(output->text + sizeof(output->text) - 3, "...", 3);
		return strndup(output->text, sizeof(output->text));
	}
	/*
	 * Drop the return type: only templates have one, and it would come first in a column of
	 * names.
	 */
	if (!by(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, collect_piece, output) ||
	    !output->length)
		return NULL;
	return strndup(output->text, output->length);
}

char *demangle(const char *name)
{
	struct demangled output;
	char *plain;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	/* Rust's old scheme looks like a C++ name with a hash. Therefore try Rust first. */
	plain = demangle_by(rust_demangle_callback, name, &output);
	return plain ? plain : demangle_by(cplus_demangle_v3_callback, name, &output);
}
