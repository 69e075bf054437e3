// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The profile reader. What it accepts must pass the promised checks, and be unchanged after it is
 * written and read again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/profile_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_bytes(const void *data, size_t size, struct profile **result, struct error *err)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct input *in;
	int ret;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	if (input_open_fd(fd, "fuzz", &in, err))
		abort();
	ret = profile_read(in, result, err);
	input_close(in);
	return ret;
}

static char *write_text(const struct profile *profile, size_t *size)
{
	struct error err;
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	if (!stream || profile_write(profile, stream, &err) || fclose(stream))
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { "", "" };
	struct profile *profile;
	struct profile *again;
	char *text;
	char *text_again;
	size_t size_again;

	if (read_bytes(data, size, &profile, &err)) {
		if (!err.text[0] || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	text = write_text(profile, &size);
	if (read_bytes(text, size, &again, &err))
		abort();
	text_again = write_text(again, &size_again);
	if (size != size_again || memcmp(text, text_again, size) != 0)
		abort();
	free(text);
	free(text_again);
	profile_free(profile);
	profile_free(again);
	return 0;
}
