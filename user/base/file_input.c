// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_SIZE (256 * 1024)

struct input {
	char *name;
	gzFile gz; /* also reads uncompressed data */
	uint64_t read; /* unpacked bytes so far */
};

static int open_gz_input(struct input *in, int fd)
{
	struct stat st;

	int ret = 0;

	if (fstat(fd, &st))
		ret = -errno;
	else if (S_ISDIR(st.st_mode))
		ret = -EISDIR;
	if (!ret) {
		in->gz = gzdopen(fd, "rb");
		ret = in->gz ? 0 : -ENOMEM;
	}
	if (ret) {
		close(fd);
		return ret;
	}
	return gzbuffer(in->gz, BUFFER_SIZE) ? -ENOMEM : 0;
}

int input_open_fd(int fd, const char *name, struct input **result, struct error *err)
{
	struct input *in;
	int ret = -ENOMEM;

	in = calloc(1, sizeof(*in));
	if (in)
		in->name = strdup(name);
	if (in && in->name)
		ret = open_gz_input(in, fd);
	else
		close(fd);
	if (ret) {
		input_close(in);
		return error_errno(err, ret, "%s", name);
	}
	*result = in;
	return 0;
}

int input_open(const char *path, struct input **result, struct error *err)
{
	const char *name = path;
	int fd;

	if (!strcmp(path, "-")) {
		name = "standard input";
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0)
		return error_errno(err, -errno, "%s", name);
	return input_open_fd(fd, name, result, err);
}

static int read_failed(const struct input *in, int zlib_error, int saved, struct error *err)
{
	switch (zlib_error) {
	case Z_BUF_ERROR:
		return error_set(err, -ENODATA, "%s: truncated", in->name);
	case Z_DATA_ERROR:
		return error_set(err, -EIO, "%s: damaged gzip data", in->name);
	case Z_MEM_ERROR:
		return error_errno(err, -ENOMEM, "%s", in->name);
	default:
		return error_errno(err, saved ? -saved : -EIO, "%s", in->name);
	}
}

/* Another user's file may be one repeated byte, which unpacks to a thousand times its size. */
static int check_unpacked(const struct input *in, struct error *err)
{
	z_off_t packed;

	if (in->read <= INPUT_UNPACKED_FREE || gzdirect(in->gz))
		return 0;
	packed = gzoffset(in->gz);
	if (packed < 0 && in->read > INPUT_UNPACKED_PIPE)
		return error_set(err, -EFBIG, "%s: unpacks to more than %d MiB, which a file may",
				 in->name, INPUT_UNPACKED_PIPE >> 20);
	if (packed < 0 || in->read - INPUT_UNPACKED_FREE <= (uint64_t)packed * INPUT_PACKING_MAX)
		return 0;
	return error_set(err, -EFBIG, "%s: unpacks to more than %d times its size", in->name,
			 INPUT_PACKING_MAX);
}

ssize_t input_read(struct input *in, void *buffer, size_t size, struct error *err)
{
	int zlib_error = Z_OK;
	int saved;
	int done;

	errno = 0;
	done = gzread(in->gz, buffer, size > INT_MAX ? INT_MAX : (unsigned int)size);
	saved = errno;
	if (done > 0) {
		in->read += (uint64_t)done;
		return check_unpacked(in, err) ?: done;
	}
	/* If data is truncated, gzread() first returns what there is, and then the error. */
	gzerror(in->gz, &zlib_error);
	if (zlib_error == Z_OK || (!done && zlib_error == Z_STREAM_END))
		return 0;
	return read_failed(in, zlib_error, saved, err);
}

const char *input_name(const struct input *in)
{
	return in->name;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->gz)
		gzclose(in->gz);
	free(in->name);
	free(in);
}
