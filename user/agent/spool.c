// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define NEW_NAME ".new"
#define SINK_NAME "sink"
#define SUFFIX ".json.gz"
#define NAME_BYTES 160
#define NUMBER_MAX (UINT64_MAX >> 8) /* limit in names, so that sums do not overflow */

struct spool {
	char *path;
	int fd; /* the folder, locked */
	uint64_t next;
};

/* The name says what was delivered, because renaming is atomic and needs no disk space. */
static void name_entry(const struct spool_entry *entry, char ret[NAME_BYTES])
{
	const struct delivered *done = &entry->done;
	char more[64] = "";

	if (delivered_any(done))
		snprintf(more, sizeof(more), "-%" PRIu32 "-%" PRIu32 "-%" PRIu32 "-%" PRIu64,
			 done->services, done->pieces, done->piece, done->ticks);
	snprintf(ret, NAME_BYTES, "%016" PRIx64 "-%016" PRIx64 "-%" PRIu64 "-%" PRIu64 "%s" SUFFIX,
		 entry->first, entry->last, entry->ticks, entry->duration_ns, more);
}

static bool is_sane(const struct spool_entry *entry)
{
	const struct delivered *done = &entry->done;

	return entry->first && entry->first <= entry->last && entry->last <= NUMBER_MAX &&
	       entry->ticks <= NUMBER_MAX && entry->duration_ns <= NUMBER_MAX &&
	       done->ticks <= entry->ticks && done->pieces <= PIECES_MAX &&
	       (done->pieces ? done->piece < done->pieces : !done->piece);
}

/* Accepts only names that the agent would write itself, so that other files stay untouched. */
static bool parse_name(const char *name, struct spool_entry *result)
{
	char again[NAME_BYTES];

	struct delivered *done = &result->done;
	int nr;

	*result = (struct spool_entry){ 0 };
	nr = sscanf(name,
		    "%16" SCNx64 "-%16" SCNx64 "-%" SCNu64 "-%" SCNu64 "-%" SCNu32 "-%" SCNu32
		    "-%" SCNu32 "-%" SCNu64,
		    &result->first, &result->last, &result->ticks, &result->duration_ns,
		    &done->services, &done->pieces, &done->piece, &done->ticks);
	if (nr != 4 && nr != 8)
		return false;
	name_entry(result, again);
	return !strcmp(name, again) && is_sane(result);
}

/*
 * A sink's name has slashes and any length. Therefore the folder has a hash of it, after its first
 * word for human readers.
 */
char *spool_folder(const char *dir, const char *sink)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, sink, strlen(sink));
	const int word = (int)min_size(strcspn(sink, " "), 32);

	return format_text("%s/%.*s-%016" PRIx64, dir, word, sink, hash);
}

bool spool_is_own_file(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

/* Anybody else who can write there could send any data as this host's profiles. */
static int check_folder(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_errno(err, -errno, "agent: --spool %.200s", path);
	if (spool_is_own_file(&st) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return error_with_hint(
		err, -EPERM, "--spool with another folder, or chown and chmod go-w on this one",
		"agent: --spool %.200s: belongs to user %u and has mode %04o, so that others "
		"can put profiles there",
		path, st.st_uid, st.st_mode & 07777);
}

static int open_path(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret;

	if (fd < 0)
		return error_errno(err, -errno, "agent: --spool %.200s", path);
	ret = check_folder(fd, path, err);
	if (!ret && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		ret = error_errno(err, -errno, "agent: --spool %.200s", path);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int open_folder(const char *dir, const char *sink, char **ret_path, struct error *err)
{
	*ret_path = spool_folder(dir, sink);
	if (!*ret_path)
		return error_errno(err, -ENOMEM, "agent");
	if ((mkdir(dir, 0700) && errno != EEXIST) || (mkdir(*ret_path, 0700) && errno != EEXIST))
		return error_errno(err, -errno, "agent: --spool %.200s", dir);
	return open_path(*ret_path, err);
}

int spool_open_folder(const char *path, struct error *err)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(err, -errno, "agent: --spool %.200s", path);
	return open_path(path, err);
}

int spool_check(const char *dir, const char *sink, struct error *err)
{
	cleanup_free char *path = NULL;
	int fd = open_folder(dir, sink, &path, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int write_new(int folder, const struct bytes *bytes, bool sync)
{
	cleanup_fd int fd = openat(folder, NEW_NAME,
				   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret = fd < 0 ? -errno : write_fully(fd, bytes->data, bytes->size);

	return !ret && sync && fdatasync(fd) ? -errno : ret;
}

int spool_replace(int folder, const char *name, const struct bytes *bytes, bool sync)
{
	int ret = write_new(folder, bytes, sync);

	if (!ret && renameat(folder, NEW_NAME, folder, name))
		ret = -errno;
	if (ret)
		unlinkat(folder, NEW_NAME, 0);
	else if (sync)
		fsync(folder);
	return ret;
}

static int lock_folder(const struct spool *spool, struct error *err)
{
	if (!flock(spool->fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno != EWOULDBLOCK)
		return error_errno(err, -errno, "agent: --spool %.200s", spool->path);
	return error_set(err, -EBUSY, "agent: --spool %.200s: another agent has it", spool->path);
}

int spool_open(const char *dir, const char *sink, struct spool **result, struct error *err)
{
	struct spool *spool = *result = calloc(1, sizeof(*spool));
	const struct bytes name = { .data = (char *)sink, .size = strlen(sink) };
	int ret;

	if (!spool)
		return error_errno(err, -ENOMEM, "agent");
	spool->next = 1;
	spool->fd = open_folder(dir, sink, &spool->path, err);
	if (spool->fd < 0)
		return spool->fd;
	ret = lock_folder(spool, err);
	/*
	 * This file is only for people who wonder whose folder it is. Therefore ignore a full disk.
	 */
	if (!ret)
		spool_replace(spool->fd, SINK_NAME, &name, true);
	return ret;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	close_fd(&spool->fd);
	free(spool->path);
	free(spool);
}

const char *spool_path(const struct spool *spool)
{
	return spool->path;
}

uint64_t spool_number(struct spool *spool)
{
	return spool->next++;
}

/* A sum sorts before its parts, as remove_parts() needs. */
DEFINE_COMPARE_AS(compare, struct spool_entry,
		  compare_u64(a->first, b->first) ?: compare_u64(b->last, a->last))

static size_t remove_parts(const struct spool *spool, struct spool_entry *list, size_t nr)
{
	size_t from, to = 0;

	for (from = 0; from < nr; from++) {
		if (to && list[from].last <= list[to - 1].last)
			spool_remove(spool, &list[from]);
		else
			list[to++] = list[from];
	}
	return to;
}

static int add_file(const struct spool *spool, const char *name, struct spool_entry **list,
		    size_t *nr, size_t *room)
{
	struct spool_entry entry;
	struct stat st;

	if (!parse_name(name, &entry) || fstatat(spool->fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || !spool_is_own_file(&st))
		return 0;
	entry.size = (size_t)st.st_size;
	return PUSH(*list, *room, *nr, entry);
}

static int read_folder(const struct spool *spool, struct spool_entry **list, size_t *nr)
{
	int fd = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t room = 0;

	if (!folder) {
		code = -errno;
		close_fd(&fd);
		return code;
	}
	while (!code && (entry = readdir(folder)))
		code = add_file(spool, entry->d_name, list, nr, &room);
	closedir(folder);
	return code;
}

int spool_list(struct spool *spool, struct spool_entry **result, size_t *ret_nr, struct error *err)
{
	size_t nr = 0;
	int ret;

	*result = NULL;
	unlinkat(spool->fd, NEW_NAME, 0);
	ret = read_folder(spool, result, &nr);
	if (ret) {
		free(*result);
		*result = NULL;
		return error_errno(err, ret, "agent: --spool %.200s", spool->path);
	}
	SORT(*result, nr, compare);
	*ret_nr = nr = remove_parts(spool, *result, nr);
	if (nr)
		spool->next = (*result)[nr - 1].last + 1;
	return 0;
}

int spool_write(struct spool *spool, const struct spool_entry *entry, const struct bytes *bytes,
		struct error *err)
{
	char name[NAME_BYTES];
	int ret;

	name_entry(entry, name);
	ret = spool_replace(spool->fd, name, bytes, true);
	return ret ? error_errno(err, ret, "--spool %.200s", spool->path) : 0;
}

int spool_advance(struct spool *spool, struct spool_entry *entry, const struct delivered *done)
{
	struct spool_entry advanced = *entry;
	char before[NAME_BYTES], name[NAME_BYTES];

	advanced.done = *done;
	name_entry(entry, before);
	name_entry(&advanced, name);
	if (renameat(spool->fd, before, spool->fd, name))
		return -errno;
	fsync(spool->fd);
	*entry = advanced;
	return 0;
}

int spool_read(const struct spool *spool, const struct spool_entry *entry)
{
	char name[NAME_BYTES];
	int fd;

	name_entry(entry, name);
	fd = openat(spool->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void spool_remove(const struct spool *spool, const struct spool_entry *entry)
{
	char name[NAME_BYTES];

	name_entry(entry, name);
	unlinkat(spool->fd, name, 0);
}

void spool_set_aside(const struct spool *spool, const struct spool_entry *entry)
{
	char name[NAME_BYTES], aside[NAME_BYTES + sizeof(".bad")];

	name_entry(entry, name);
	snprintf(aside, sizeof(aside), "%s.bad", name);
	renameat(spool->fd, name, spool->fd, aside);
}

/* --- spools of sinks that no longer exist --- */

bool spool_is_folder(const char *name)
{
	size_t word = strspn(name, "abcdefghijklmnopqrstuvwxyz");

	return word && name[word] == '-' && strlen(name + word) == 17 &&
	       strspn(name + word + 1, "0123456789abcdef") == 16;
}

struct spool *spool_open_old(const char *path)
{
	struct spool *old = calloc(1, sizeof(*old));

	if (!old)
		return NULL;
	*old = (struct spool){ .path = strdup(path), .fd = open_path(path, NULL), .next = 1 };
	if (old->path && old->fd >= 0 && !lock_folder(old, NULL))
		return old;
	spool_close(old);
	return NULL;
}

void spool_sink(const struct spool *spool, char *name, size_t room)
{
	cleanup_fd int fd =
		openat(spool->fd, SINK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, name, room - 1);

	name[got > 0 ? got : 0] = '\0';
}

void spool_import(struct spool *spool, const char *folder, struct spool_entry **result,
		  size_t *ret_nr)
{
	struct spool *old = spool_open_old(folder);
	char before[NAME_BYTES], name[NAME_BYTES];
	struct error ignored;
	size_t i, nr = 0, moved = 0;

	*result = NULL;
	if (old)
		spool_list(old, result, &nr, &ignored);
	for (i = 0; i < nr; i++) {
		struct spool_entry one = (*result)[i];

		name_entry(&one, before);
		one.first = one.last = spool_number(spool);
		name_entry(&one, name);
		if (!renameat(old->fd, before, spool->fd, name))
			(*result)[moved++] = one;
	}
	*ret_nr = moved;
	if (moved)
		fsync(spool->fd);
	if (old && moved == nr)
		spool_empty(old);
	spool_close(old);
}

void spool_empty(struct spool *spool)
{
	cleanup_free struct spool_entry *list = NULL;
	struct error ignored;
	size_t i, nr = 0;

	if (spool_list(spool, &list, &nr, &ignored))
		return;
	for (i = 0; i < nr; i++)
		spool_remove(spool, &list[i]);
	unlinkat(spool->fd, NEW_NAME, 0);
	unlinkat(spool->fd, SINK_NAME, 0);
	rmdir(spool->path);
}
