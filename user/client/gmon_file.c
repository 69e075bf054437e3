// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BIN_MAX = 65535,
	CHUNK = 4096, /* bins at a time */
	BYTES_PER_BIN = 4,
};

/* As glibc writes it: with the program's own word size and byte order, and without alignment. */
struct gmon_header {
	char magic[4];
	uint32_t version;
	char spare[12];
} __attribute__((packed));

struct gmon_record {
	uint8_t tag; /* 0: a histogram */
	uintptr_t low;
	uintptr_t high;
	uint32_t bins;
	uint32_t rate;
	char dimension[16];
} __attribute__((packed));

int gmon_open(void)
{
	/* O_RDWR, because we also read the histogram's shape. Like glibc, follow no link. */
	int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC, fd = -1;
	const char *prefix = secure_getenv("GMON_OUT_PREFIX");
	struct stat status;
	char *name;

	if (prefix && asprintf(&name, "%s.%u", prefix, (unsigned int)getpid()) >= 0) {
		fd = open(name, flags);
		free(name);
	}
	if (fd < 0)
		fd = open("gmon.out", flags);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int read_at(int fd, void *to, size_t size, off_t at)
{
	ssize_t got;

	do {
		got = pread(fd, to, size, at);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return (size_t)got == size ? 0 : -EINVAL;
}

static int write_at(int fd, const void *from, size_t size, off_t at)
{
	const char *rest = from;
	ssize_t put;

	while (size) {
		put = pwrite(fd, rest, size, at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -ENOSPC;
		rest += put;
		size -= (size_t)put;
		at += put;
	}
	return 0;
}

static int check_shape(int fd, const struct gmon_counts *histogram, struct gmon_record *record)
{
	struct gmon_header header;
	int ret = read_at(fd, &header, sizeof(header), 0);

	if (!ret)
		ret = read_at(fd, record, sizeof(*record), sizeof(header));
	if (ret)
		return ret;
	if (memcmp(header.magic, "gmon", 4) || header.version != 1 || record->tag != 0 ||
	    record->bins != histogram->bins ||
	    record->high - record->low != (uintptr_t)histogram->bins * BYTES_PER_BIN)
		return -EINVAL;
	return 0;
}

/* Moves as much as a bin can hold from counts to bins. Returns true if something is left. */
static int move_counts(uint32_t *counts, uint16_t *bins, uint32_t n)
{
	int left = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t room = BIN_MAX - bins[i], part = counts[i] < room ? counts[i] : room;

		bins[i] = (uint16_t)(bins[i] + part);
		counts[i] -= part;
		left |= counts[i] != 0;
	}
	return left;
}

/*
 * Fills the bins of the record at this offset. fresh: the record has no bins yet. Returns 1 if some
 * counts are left.
 */
static int fill_record(int fd, const struct gmon_counts *histogram, off_t at, int fresh)
{
	uint16_t bins[CHUNK] = { 0 };
	uint32_t done, n;
	int ret, left = 0;

	for (done = 0; done < histogram->bins; done += n) {
		off_t here = at + (off_t)done * (off_t)sizeof(bins[0]);

		n = histogram->bins - done < CHUNK ? histogram->bins - done : CHUNK;
		if (fresh)
			memset(bins, 0, sizeof(bins));
		ret = fresh ? 0 : read_at(fd, bins, n * sizeof(bins[0]), here);
		left |= move_counts(histogram->counts + done, bins, n);
		if (!ret)
			ret = write_at(fd, bins, n * sizeof(bins[0]), here);
		if (ret)
			return ret;
	}
	return left;
}

/*
 * gprof rejects a file that ends within a record. Therefore remove a record that could not be
 * written.
 */
static int append_record(int fd, const struct gmon_counts *histogram,
			 const struct gmon_record *record)
{
	off_t end = lseek(fd, 0, SEEK_END);
	int ret;

	if (end < 0)
		return -errno;
	ret = write_at(fd, record, sizeof(*record), end);
	if (!ret)
		ret = fill_record(fd, histogram, end + (off_t)sizeof(*record), 1);
	if (ret < 0 && ftruncate(fd, end))
		return -errno;
	return ret;
}

int gmon_add(int fd, struct gmon_counts *histogram)
{
	struct gmon_record record;
	int ret = check_shape(fd, histogram, &record);

	if (ret)
		return ret;
	/* gprof uses the rate of the first record for all records. */
	if (histogram->rate)
		record.rate = histogram->rate;
	ret = write_at(fd, &record, sizeof(record), sizeof(struct gmon_header));
	if (!ret)
		ret = fill_record(fd, histogram, sizeof(struct gmon_header) + sizeof(record), 0);
	while (ret > 0)
		ret = append_record(fd, histogram, &record);
	return ret;
}
