// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Compressed input and output, and errors of inputs. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_file_fixture.h"

TestSuite(file_input, .init = folder_enter, .fini = folder_remove);

/* Reads all of a file with input_read(). */
static ssize_t read_file(const char *path, char *buffer, size_t size, struct error *err)
{
	struct input *in;
	size_t filled = 0;
	ssize_t done = input_open(path, &in, err);

	if (done)
		return done;
	while ((done = input_read(in, buffer + filled, size - filled, err)) > 0)
		filled += (size_t)done;
	input_close(in);
	return done < 0 ? done : (ssize_t)filled;
}

/* Reads until it fails. */
static uint64_t read_away(const char *command, int wanted)
{
	static char buffer[1 << 20];
	FILE *pipe = popen(command, "r");
	struct input *in;
	struct error err;
	uint64_t bytes = 0;
	ssize_t done;

	cr_assert_not_null(pipe);
	cr_assert_eq(input_open_fd(dup(fileno(pipe)), "in", &in, &err), 0, "%s", err.text);
	while ((done = input_read(in, buffer, sizeof(buffer), &err)) > 0)
		bytes += (uint64_t)done;
	cr_assert_eq(done, wanted, "%s", err.text);
	input_close(in);
	pclose(pipe);
	return bytes;
}

Test(file_input, bombs)
{
	static char buffer[1 << 20];
	struct input *in;
	struct error err;
	uint64_t bytes = 0;
	ssize_t done;

	cr_assert_eq(system("head -c 200000000 /dev/zero | gzip -1 >bomb.gz"), 0);
	cr_assert_eq(input_open("bomb.gz", &in, &err), 0, "%s", err.text);
	while ((done = input_read(in, buffer, sizeof(buffer), &err)) > 0)
		bytes += (uint64_t)done;
	cr_assert_eq(done, -EFBIG);
	cr_assert_str_eq(err.text, "bomb.gz: unpacks to more than 100 times its size");
	cr_assert_lt(bytes, 180000000);
	input_close(in);
	/* The size of a pipe is unknown; data that is not compressed may have any size. */
	cr_assert_eq(read_away("cat bomb.gz", 0), 200000000);
	cr_assert_eq(read_away("cat bomb.gz bomb.gz bomb.gz bomb.gz bomb.gz bomb.gz", -EFBIG),
		     1UL << 30);
	cr_assert_eq(read_away("head -c 200000000 /dev/zero", 0), 200000000);
}

Test(file_input, compressed)
{
	static char buffer[200000];
	struct output *out;
	struct error err;
	int i;

	cr_assert_eq(output_open("a.gz", 0, &out, &err), 0);
	for (i = 0; i < 20000; i++)
		fprintf(output_stream(out), "%08d\n", i);
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	cr_assert_eq(system("gzip -t a.gz"), 0);
	cr_assert_eq(read_file("a.gz", buffer, sizeof(buffer), &err), 180000, "%s", err.text);
	cr_assert_eq(memcmp(buffer + 9 * 12345, "00012345\n", 9), 0);

	cr_assert_eq(system("head -c 20000 a.gz >cut.gz"), 0);
	cr_assert_eq(read_file("cut.gz", buffer, sizeof(buffer), &err), -ENODATA);
	cr_assert_str_eq(err.text, "cut.gz: truncated");
	cr_assert_eq(system("head -c 9 a.gz >cut.gz"), 0);
	cr_assert_eq(read_file("cut.gz", buffer, sizeof(buffer), &err), -ENODATA);
	cr_assert_eq(system("{ head -c -8 a.gz; printf 12345678; } >bad.gz"), 0);
	cr_assert_eq(read_file("bad.gz", buffer, sizeof(buffer), &err), -EIO);
	cr_assert_str_eq(err.text, "bad.gz: damaged gzip data");
}

Test(file_input, compressed_whatever_its_name)
{
	struct output *out;
	struct error err;

	cr_assert_eq(output_open("file.pb", OUTPUT_GZ, &out, &err), 0, "%s", err.text);
	fputs("text", output_stream(out));
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	cr_assert_eq(system("test \"$(gzip -dc <file.pb)\" = text"), 0);
	cr_assert_eq(output_open("file.gz", OUTPUT_GZ, &out, &err), 0, "%s", err.text);
	fputs("text", output_stream(out));
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	cr_assert_eq(system("test \"$(gzip -dc file.gz)\" = text"), 0);
}

/* A reader that gets half of a text must not believe that it is complete. */
Test(file_input, abort_does_not_end_what_is_compressed)
{
	struct output *out;
	struct error err;
	char path[32], byte;
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	cr_assert_eq(output_open(path, OUTPUT_GZ, &out, &err), 0, "%s", err.text);
	fputs("text", output_stream(out));
	fflush(output_stream(out));
	output_abort(out);
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

Test(file_input, input)
{
	char buffer[16] = "";
	struct input *in;
	struct error err;

	folder_put("a", "text");
	folder_put("empty", "");
	cr_assert_eq(read_file("a", buffer, sizeof(buffer), &err), 4);
	cr_assert_str_eq(buffer, "text");
	cr_assert_eq(read_file("empty", buffer, sizeof(buffer), &err), 0);
	cr_assert_eq(read_file("missing", buffer, sizeof(buffer), &err), -ENOENT);
	cr_assert_str_eq(err.text, "missing: No such file or directory");
	cr_assert_eq(read_file(".", buffer, sizeof(buffer), &err), -EISDIR);
	cr_assert_str_eq(err.text, ".: Is a directory");
	cr_assert_not_null(freopen("a", "r", stdin));
	cr_assert_eq(read_file("-", buffer, sizeof(buffer), &err), 4);
	cr_assert_eq(input_open("a", &in, &err), 0);
	cr_assert_str_eq(input_name(in), "a");
	input_close(in);
	input_close(NULL);
}
