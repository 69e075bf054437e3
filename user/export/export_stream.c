// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "export/export_impl.h"

size_t export_plain_length(const char *text, char special)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] < 0x7f && text[length] != special)
		length++;
	return length;
}

void export_text(FILE *stream, const char *text, char special, const char *instead)
{
	size_t plain;

	for (;;) {
		plain = export_plain_length(text, special);
		fwrite_unlocked(text, 1, plain, stream);
		text += plain;
		if (!*text)
			break;
		if (*text == special) {
			fputs(instead, stream);
			text++;
		} else {
			text += text_put_character(stream, text);
		}
	}
}

struct message_buffer {
	ProtobufCBuffer base;
	FILE *stream;
};

static void append_to_stream(ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
	fwrite_unlocked(data, 1, size, ((struct message_buffer *)base)->stream);
}

void export_message(const ProtobufCMessage *message, FILE *stream)
{
	struct message_buffer buffer = { .base.append = append_to_stream, .stream = stream };

	protobuf_c_message_pack_to_buffer(message, &buffer.base);
}

void export_add_note(char *note, const char *format, ...)
{
	size_t used = strlen(note);
	va_list arguments;

	if (used)
		used += (size_t)snprintf(note + used, EXPORT_NOTE_BYTES - used, "; ");
	if (used >= EXPORT_NOTE_BYTES)
		return;
	va_start(arguments, format);
	vsnprintf(note + used, EXPORT_NOTE_BYTES - used, format, arguments);
	va_end(arguments);
}

int export_end(FILE *stream, const char *format, struct error *err)
{
	if (!fflush(stream) && !ferror(stream))
		return 0;
	return error_errno(err, errno ? -errno : -EIO, "writing %s", format);
}
