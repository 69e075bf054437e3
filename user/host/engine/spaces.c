// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"
#include "reader/reader.h"
#include "shared/share.h"

/* How many lines of /proc/PID/maps are read: the default of vm.max_map_count. */
#define MAPPINGS_MAX 65530

/* Sixteenths of the descriptors: see spaces_may_keep(). */
enum { SHARE_LENT = 12, SHARE_RESERVED = 1 };

/*
 * A file is tried in at most this many processes. Each needs a record, and a process may end too
 * early on purpose.
 */
#define TRIES_MAX 64

char *record_path(const struct record *record)
{
	const char *name = record->path, *end = record->path + record->path_len;
	char *path, *at;

	if (record->path_len > sizeof(record->path))
		return NULL;
	path = malloc(record->path_len + 2);
	if (!path)
		return NULL;
	at = path + record->path_len + 1;
	*at = '\0';
	while (name < end) {
		size_t length = strnlen(name, end - name);

		at -= length;
		memcpy(at, name, length);
		*--at = '/';
		name += length + 1;
	}
	if (!*at)
		*--at = '/';
	memmove(path, at, strlen(at) + 1);
	return path;
}

/* Only uses facts that the kernel has already, because a user's file system may not answer. */
static int known_facts(int fd, struct statx *facts)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID,
		     facts);
}

/*
 * Keeps an O_PATH descriptor if it is of the file with the tick: the process may have executed
 * another image at the same addresses. The inode shows that, except in stacked file systems such as
 * overlayfs, whose inodes differ from those of their files; there the size must match. If the file
 * is in the mount that the programs have seen, it is opened for reading here.
 */
static int keep_pinned(int place, const struct record *record, struct space_info *info)
{
	struct statx facts;
	int fd;

	if (known_facts(place, &facts) || !S_ISREG(facts.stx_mode) ||
	    facts.stx_size != record->size ||
	    (!(record->flags & RECORD_STACKED) && facts.stx_ino != record->space.b))
		return -ENOENT;
	info->far = record->flags & RECORD_MAY_BLOCK || facts.stx_mnt_id != record->mount;
	if (info->far)
		return place;
	fd = regular_file_reopen(place, NULL);
	close(place);
	return fd;
}

static int pin_if_same(int place, const struct record *record, struct space_info *info)
{
	int fd = place < 0 ? -errno : keep_pinned(place, record, info);

	if (fd == -ENOENT)
		close_fd(&place);
	return fd;
}

/* Opens any file by the mapping itself, even a deleted or hidden one. */
static int open_mapped(const struct record *record, struct space_info *info)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", record->tgid,
		 (unsigned long long)record->start, (unsigned long long)record->end);
	return pin_if_same(open(path, O_PATH | O_CLOEXEC), record, info);
}

/* A file that ran just now is in the kernel's cache, where no lookup waits for a file system. */
static int open_cached(const char *root, const char *path, const struct record *record,
		       struct space_info *info)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED };
	cleanup_fd int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	return pin_if_same((int)syscall(SYS_openat2, dir, path, &how, sizeof(how)), record, info);
}

/*
 * Opens a file by name, because the process is gone or its mapping changed: below the root of the
 * process, of its parent, or ours. A shell that starts many short programs still exists, and has
 * the same root.
 */
static int open_named(const struct record *record, struct space_info *info)
{
	const uint32_t pids[] = { record->tgid, record->parent };
	char root[32];
	int fd = -ENOENT;
	size_t i;

	for (i = 0; fd < 0 && i < sizeof(pids) / sizeof(pids[0]); i++) {
		snprintf(root, sizeof(root), "/proc/%u/root", pids[i]);
		fd = open_cached(root, info->path, record, info);
	}
	return fd < 0 ? open_cached("/", info->path, record, info) : fd;
}

/*
 * Any program can make us open files. Three quarters of all descriptors are for anyone. Beyond
 * that, no owner may have more than stay free for others.
 */
bool spaces_may_keep(const struct spaces *spaces, const struct space_info *info, int fd)
{
	const uint32_t size = fd_most_that_stay(), part = size / 16;
	uint32_t held = 0;
	size_t i;

	if (fd < 0 || (uint32_t)fd < SHARE_LENT * part)
		return true;
	for (i = 0; i < spaces->nr; i++)
		held += spaces->list[i].fd >= 0 && spaces->list[i].owner == info->owner;
	/* The kernel gives the lowest free number. Therefore all numbers below fd are in use. */
	return share_admits(size, SHARE_LENT * part, SHARE_RESERVED * part, (uint32_t)fd, held, 1);
}

void spaces_keep(const struct spaces *spaces, struct space_info *info)
{
	if (!spaces_may_keep(spaces, info, info->fd))
		close_fd(&info->fd);
}

static void keep(int *fd)
{
	if (!fd_may_stay(*fd))
		close_fd(fd);
}

static bool differs(int fd, const char *ours)
{
	struct statx there;
	struct stat here;

	if (known_facts(fd, &there) || stat(ours, &here))
		return false;
	return here.st_dev != makedev(there.stx_dev_major, there.stx_dev_minor) ||
	       here.st_ino != there.stx_ino;
}

/*
 * Pins the root and the mounts of a process if they are not ours, as in a container or a chroot.
 * The mounts vanish with the last process of their namespace, unless a descriptor holds them.
 */
static void open_root(uint32_t tgid, struct space_info *info)
{
	char root[32], ns[32];

	snprintf(root, sizeof(root), "/proc/%u/root", tgid);
	snprintf(ns, sizeof(ns), "/proc/%u/ns/mnt", tgid);
	info->ns_fd = open(ns, O_RDONLY | O_CLOEXEC);
	info->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (differs(info->root_fd, "/") || differs(info->ns_fd, "/proc/self/ns/mnt")) {
		keep(&info->ns_fd);
		keep(&info->root_fd);
		return;
	}
	close_fd(&info->ns_fd);
	close_fd(&info->root_fd);
}

/*
 * Reads its pid in its own namespace, the last number of the NSpid line, and the uid of its files.
 */
static void read_status(uint32_t tgid, struct space_info *info)
{
	char path[32], line[256], *last;
	cleanup_file FILE *file = NULL;

	info->ns_pid = tgid;
	info->uid = NO_UID;
	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		last = strrchr(line, '\t');
		if (last && !strncmp(line, "NSpid:", 6))
			info->ns_pid = strtoul(last, NULL, 10);
		if (last && !strncmp(line, "Uid:", 4))
			info->uid = strtoul(last, NULL, 10);
	}
}

static bool is_gone(uint32_t tgid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/ns", tgid);
	return access(path, F_OK) != 0;
}

/* Returns 1 if another process may be tried. */
static int open_file(const struct record *record, struct space_info *info)
{
	open_root(is_gone(record->tgid) ? record->parent : record->tgid, info);
	info->fd = open_mapped(record, info);
	if (info->fd < 0)
		info->fd = open_named(record, info);
	if (info->fd < 0)
		return info->tries < TRIES_MAX && ++info->tries;
	return 0;
}

/* The space that is announced again; NULL: it is new. */
static struct space_info *find_announced(const struct spaces *spaces, const struct space *space)
{
	struct space_info *info = spaces_find(spaces, space);

	return info && (info->tries || info->dropped) ? info : NULL;
}

/*
 * A closed file may have been replaced by another one with the same numbers. Therefore its path is
 * read again.
 */
int spaces_add(struct spaces *spaces, const struct record *record, struct error *err)
{
	struct space_info *info = find_announced(spaces, &record->space);
	char *path;

	if (!info) {
		if (GROW(spaces->list, spaces->capacity, spaces->nr + 1))
			return error_no_memory(err, "files");
		info = &spaces->list[spaces->nr++];
		*info = (struct space_info){ .space = record->space,
					     .far = record->flags & RECORD_MAY_BLOCK,
					     .fd = -1,
					     .root_fd = -1,
					     .ns_fd = -1 };
	} else {
		info->dropped = false;
		if (info->fd >= 0 || info->space.kind != SPACE_FILE)
			return 0;
	}
	close_fd(&info->root_fd);
	close_fd(&info->ns_fd);
	info->tgid = record->tgid;
	info->owner = record->owner;
	memcpy(info->comm, record->comm, sizeof(info->comm) - 1);
	info->idle = 0;
	if (record->space.kind != SPACE_FILE) {
		open_root(record->tgid, info);
		read_status(record->tgid, info);
		return 0;
	}
	reader_prepare();
	path = record_path(record);
	if (!path)
		return error_no_memory(err, "files");
	free(info->path);
	info->path = path;
	return open_file(record, info);
}

DEFINE_COMPARE_AS(compare_infos, struct space_info, memcmp(&a->space, &b->space, sizeof(a->space)))

void spaces_sort(struct spaces *spaces)
{
	if (spaces->sorted < spaces->nr)
		SORT(spaces->list, spaces->nr, compare_infos);
	spaces->sorted = spaces->nr;
}

struct space_info *spaces_find(const struct spaces *spaces, const struct space *space)
{
	const struct space_info key = { .space = *space };
	size_t i;

	for (i = spaces->nr; i-- > spaces->sorted;)
		if (!memcmp(&spaces->list[i].space, space, sizeof(*space)))
			return &spaces->list[i];
	/* bsearch() must not be given NULL, not even for no elements. */
	if (!spaces->sorted)
		return NULL;
	return bsearch(&key, spaces->list, spaces->sorted, sizeof(key), compare_infos);
}

static void close_all(struct space_info *info)
{
	close_fd(&info->fd);
	close_fd(&info->root_fd);
	close_fd(&info->ns_fd);
}

bool space_runs(const struct space_info *info)
{
	return info->space.kind != SPACE_FILE && !is_gone(info->tgid);
}

bool space_let_go(struct space_info *info)
{
	bool held = info->fd >= 0 || info->root_fd >= 0 || info->ns_fd >= 0;

	if (space_runs(info))
		return false;
	close_all(info);
	if (info->space.kind == SPACE_FILE && (held || !info->tries))
		info->tries = 1;
	return held;
}

void space_info_free(struct space_info *info)
{
	close_all(info);
	free(info->path);
}

/* Anybody can create a file of that name in /tmp, to name another user's text. */
static struct regular_file_rule may_name_text(const struct space_info *info)
{
	return (struct regular_file_rule){ .is_owned = true, .user = info->uid };
}

int space_open_perf_map(const struct space_info *info)
{
	const struct regular_file_rule rule = may_name_text(info);
	cleanup_fd int ours = -1;
	int root = info->root_fd;
	char path[64];

	if (root < 0)
		root = ours = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "tmp/perf-%u.map",
		 info->root_fd < 0 ? info->tgid : info->ns_pid);
	return info->far ? opener_ask(info->owner, root, path, &rule) :
			   regular_file_open_at(root, path, &rule);
}

/*
 * START-END PERMISSIONS OFFSET DEVICE INODE PATH. Cuts line down to START-END if it is the dump's
 * mapping.
 */
static bool is_dump_line(char *line, const char *name)
{
	char *permissions = strchr(line, ' '), *slash = strrchr(line, '/');

	if (!permissions || !slash || strncmp(slash + 1, name, strlen(name)) != 0)
		return false;
	*permissions++ = '\0';
	return permissions[2] == 'x';
}

int space_open_jit_dump(const struct space_info *info)
{
	const struct regular_file_rule rule = may_name_text(info);
	cleanup_file FILE *maps = NULL;
	cleanup_fd int place = -1;
	char path[PATH_MAX + 128], line[PATH_MAX + 128], name[32];
	unsigned int left = MAPPINGS_MAX;

	snprintf(name, sizeof(name), "jit-%u.dump", info->ns_pid);
	snprintf(path, sizeof(path), "/proc/%u/maps", info->tgid);
	maps = fopen(path, "re");
	while (maps && left-- && fgets(line, sizeof(line), maps)) {
		if (!is_dump_line(line, name))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/map_files/%.64s", info->tgid, line);
		place = open(path, O_PATH | O_CLOEXEC);
		if (place < 0)
			break;
		return info->far ? opener_ask(info->owner, place, "", &rule) :
				   regular_file_reopen(place, &rule);
	}
	return -ENOENT;
}

void spaces_free(struct spaces *spaces)
{
	size_t i;

	for (i = 0; i < spaces->nr; i++)
		space_info_free(&spaces->list[i]);
	free(spaces->list);
	memset(spaces, 0, sizeof(*spaces));
}

/* The kernel's dev_t has 12 bits of major and 20 of minor. */
#define KERNEL_MAJOR(dev) ((dev) >> 20)
#define KERNEL_MINOR(dev) ((dev)&0xfffff)

static char *unnamed_file(const struct space *space)
{
	return format_text("[file %u:%u %llu]", KERNEL_MAJOR(space->dev), KERNEL_MINOR(space->dev),
			   (unsigned long long)space->b);
}

static char *anon_name(const struct space *space, const struct space_info *info)
{
	if (!space->b)
		return strdup("[anon]");
	return format_text("[%s:%llu]", info ? info->comm : "anon", (unsigned long long)space->b);
}

static void set_facts(struct elf_facts *facts, struct profile_object *object)
{
	object->build_id = facts->build_id;
	object->text = facts->text;
	object->nr_text = facts->nr_text;
}

void object_describe_file(int fd, struct profile_object *object)
{
	struct elf_facts facts;

	if (fd >= 0 && !reader_facts(fd, &facts, NULL))
		set_facts(&facts, object);
}

static void describe_vdso(struct profile_object *object)
{
	struct elf_facts facts;
	size_t size;
	const void *image = vdso_image(&size);

	if (image && !elf_facts_read_memory(image, size, &facts, NULL))
		set_facts(&facts, object);
}

int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *result, struct error *err)
{
	struct profile_object object = { .kind = PROFILE_FILE };

	switch (space->kind) {
	case SPACE_KERNEL:
		object.kind = PROFILE_KERNEL;
		object.path = strdup("[kernel]");
		break;
	case SPACE_ANON:
		object.kind = PROFILE_JIT;
		object.path = anon_name(space, info);
		break;
	case SPACE_VDSO:
		/* Ours has 64 bits. The other has no file, and no process that we may read. */
		object.path = strdup(space->a ? "[vdso32]" : "[vdso]");
		if (!space->a)
			describe_vdso(&object);
		break;
	default:
		object.path = info && info->path ? strdup(info->path) : unnamed_file(space);
	}
	*result = object;
	return object.path ? 0 : error_no_memory(err, "objects");
}
