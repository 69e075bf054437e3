// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Tests the file only: what is added, what is refused, and a full disk. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client/preload.h"

enum { HEADER = 20, RECORD = 41, BINS = 5000 };

/* As glibc leaves it: a histogram, followed by an arc of 21 bytes. */
static int make_file(uint16_t first_bin)
{
	char header[HEADER] = "gmon\1", record[RECORD] = "", arc[21] = "\1arc";
	uint64_t low = 0x1000, high = low + BINS * 4;
	uint32_t bins = BINS, rate = 100;
	FILE *file = tmpfile();
	uint16_t *none = calloc(BINS, sizeof(*none));

	memcpy(record + 1, &low, sizeof(low));
	memcpy(record + 9, &high, sizeof(high));
	memcpy(record + 17, &bins, sizeof(bins));
	memcpy(record + 21, &rate, sizeof(rate));
	memcpy(record + 25, "seconds", 7);
	record[40] = 's';
	none[0] = first_bin;
	fwrite(header, sizeof(header), 1, file);
	fwrite(record, sizeof(record), 1, file);
	fwrite(none, sizeof(*none), BINS, file);
	fwrite(arc, sizeof(arc), 1, file);
	free(none);
	cr_assert_eq(fflush(file), 0);
	return fileno(file);
}

static off_t size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

static uint32_t bin_at(int fd, off_t record, uint32_t bin)
{
	uint16_t value;

	cr_assert_eq(pread(fd, &value, sizeof(value), record + RECORD + bin * 2), 2);
	return value;
}

static uint32_t rate_at(int fd, off_t record)
{
	uint32_t value;

	cr_assert_eq(pread(fd, &value, sizeof(value), record + 21), 4);
	return value;
}

static const off_t size_of_one = HEADER + RECORD + BINS * 2 + 21;
static const off_t size_of_more = RECORD + BINS * 2;

TestSuite(client_gmon_file, .timeout = 300);

Test(client_gmon_file, sums_and_splits)
{
	struct gmon_counts histogram = { calloc(BINS, sizeof(uint32_t)), BINS, 250 };
	int fd = make_file(7);
	off_t more;

	histogram.counts[0] = 65528;
	histogram.counts[1] = 65536;
	histogram.counts[4095] = 65535 * 3;
	histogram.counts[4096] = 11;
	histogram.counts[BINS - 1] = 65535 + 3;
	cr_assert_eq(gmon_add(fd, &histogram), 0);
	cr_assert_eq(size_of(fd), size_of_one + 2 * size_of_more);
	cr_assert_eq(rate_at(fd, HEADER), 250);
	cr_assert_eq(bin_at(fd, HEADER, 0), 65535);
	cr_assert_eq(bin_at(fd, HEADER, 1), 65535);
	cr_assert_eq(bin_at(fd, HEADER, 2), 0);
	cr_assert_eq(bin_at(fd, HEADER, 4096), 11);
	more = size_of_one;
	cr_assert_eq(bin_at(fd, more, 0), 0);
	cr_assert_eq(bin_at(fd, more, 1), 1);
	cr_assert_eq(bin_at(fd, more, 4095), 65535);
	cr_assert_eq(bin_at(fd, more, BINS - 1), 3);
	cr_assert_eq(bin_at(fd, more + size_of_more, 4095), 65535);
	cr_assert_eq(bin_at(fd, more + size_of_more, 1), 0);
	cr_assert_eq(rate_at(fd, more), 250);
	free(histogram.counts);
}

Test(client_gmon_file, other_shapes_stay_as_they_are)
{
	static const struct {
		off_t at;
		char byte;
	} changes[] = { { 0, 'G' },	   { 4, 2 },	      { HEADER, 1 },
			{ HEADER + 1, 4 }, { HEADER + 9, 4 }, { HEADER + 17, 1 } };
	struct gmon_counts histogram = { calloc(BINS, sizeof(uint32_t)), BINS, 250 };
	size_t i;

	histogram.counts[3] = 5;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		int fd = make_file(0);

		cr_assert_eq(pwrite(fd, &changes[i].byte, 1, changes[i].at), 1);
		cr_assert_eq(gmon_add(fd, &histogram), -EINVAL, "change %zu", i);
		cr_assert_eq(bin_at(fd, HEADER, 3), 0);
		cr_assert_eq(size_of(fd), size_of_one);
		close(fd);
	}
	cr_assert_eq(histogram.counts[3], 5);
	free(histogram.counts);
}

Test(client_gmon_file, cut_short)
{
	struct gmon_counts histogram = { calloc(BINS, sizeof(uint32_t)), BINS, 250 };
	static const off_t sizes[] = { 0, 10, HEADER, HEADER + 40, HEADER + RECORD + 100 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = make_file(0);

		cr_assert_eq(ftruncate(fd, sizes[i]), 0);
		cr_assert_eq(gmon_add(fd, &histogram), -EINVAL, "%ld bytes", (long)sizes[i]);
		close(fd);
	}
	free(histogram.counts);
}

/* gprof rejects a file that ends within a record. */
Test(client_gmon_file, no_room_for_more)
{
	struct gmon_counts histogram = { calloc(BINS, sizeof(uint32_t)), BINS, 0 };
	struct rlimit limit = { (rlim_t)(size_of_one + size_of_more + 5000),
				(rlim_t)(size_of_one + size_of_more + 5000) };
	int fd = make_file(0);

	signal(SIGXFSZ, SIG_IGN);
	histogram.counts[9] = 3 * 65535;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(gmon_add(fd, &histogram), -EFBIG);
	cr_assert_eq(size_of(fd), size_of_one + size_of_more);
	cr_assert_eq(bin_at(fd, HEADER, 9) + bin_at(fd, size_of_one, 9), 2 * 65535);
	cr_assert_eq(rate_at(fd, HEADER), 100, "libc's rate is gone");
	free(histogram.counts);
}
