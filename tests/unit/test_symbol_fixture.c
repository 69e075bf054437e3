// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_symbol_fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_VALUE 0x5ca1ab1e00000000

static char folder[] = "/tmp/bpfprofil-symbol-XXXXXX";

void fixture_begin(void)
{
	cr_assert(mkdtemp(folder), "%s", folder);
	fixture_write("mark.h",
		      "#define MARK(n) __asm__ volatile(\".quad 0x5ca1ab1e00000000 + \" #n)\n");
}

void fixture_end(void)
{
	fixture_shell("rm -rf %s", folder);
}

const char *fixture_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

void fixture_write(const char *name, const char *text)
{
	FILE *file = fopen(fixture_path(name), "w");

	cr_assert(file, "%s", name);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0, "%s", name);
}

void fixture_shell(const char *format, ...)
{
	char *command, *whole;
	va_list args;

	va_start(args, format);
	cr_assert_geq(vasprintf(&command, format, args), 0);
	va_end(args);
	cr_assert_geq(asprintf(&whole, "cd %s && { %s; }", folder, command), 0);
	cr_assert_eq(system(whole), 0, "%s", whole);
	free(whole);
	free(command);
}

int fixture_open(const char *name)
{
	int fd = open(fixture_path(name), O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", name);
	return fd;
}

char *fixture_read(const char *name, size_t *size)
{
	int fd = fixture_open(name);
	struct stat stat;
	char *bytes;

	cr_assert_eq(fstat(fd, &stat), 0);
	*size = (size_t)stat.st_size;
	bytes = malloc(*size + 1);
	cr_assert(bytes);
	cr_assert_eq(read(fd, bytes, *size), stat.st_size);
	close(fd);
	return bytes;
}

uint64_t fixture_mark(const char *name, uint32_t n)
{
	uint64_t value = MARK_VALUE + n, offset;
	size_t size;
	char *bytes = fixture_read(name, &size), *found;

	found = memmem(bytes, size, &value, sizeof(value));
	cr_assert(found, "%s has no MARK(%u)", name, n);
	offset = (uint64_t)(found - bytes);
	cr_assert_not(memmem(found + 1, size - offset - 1, &value, sizeof(value)),
		      "%s has MARK(%u) twice", name, n);
	free(bytes);
	return offset;
}
