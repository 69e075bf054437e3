// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/file_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

#define MAX_LINKS 40 /* as many as the kernel follows */

/*
 * Joins the folder of path with a relative target; an absolute target is copied. The arguments stay
 * the caller's.
 */
static char *join_link(const char *path, const char *target)
{
	const char *slash = strrchr(path, '/');
	char *joined;

	if (target[0] == '/' || !slash)
		return strdup(target);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - path), path, target) < 0)
		return NULL;
	return joined;
}

/* The folder that holds a path's last part, including "/" and ".". */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	if (slash == path)
		return strdup("/");
	return strndup(path, (size_t)(slash - path));
}

/*
 * Applies the rule of fs.protected_symlinks, which the kernel applies to open() but not to
 * readlink(): in a sticky folder that all may write to, such as /tmp, a link is followed only if it
 * is ours or the folder owner's. Otherwise anyone could point root's profile at a file of their
 * choice.
 */
static int check_link(const char *path, const struct stat *link)
{
	cleanup_free char *parent = folder_of(path);
	struct stat dir;

	if (!parent)
		return -ENOMEM;
	if (stat(parent, &dir))
		return -errno;
	if (!(dir.st_mode & S_ISVTX) || !(dir.st_mode & S_IWOTH))
		return 0;
	return link->st_uid == geteuid() || link->st_uid == dir.st_uid ? 0 : -EACCES;
}

/*
 * Reads the link at path; *result is NULL if there is none. The descriptor pins the link, so that
 * the link that is checked is the one that is read.
 */
static int read_link(const char *path, char **result)
{
	cleanup_fd int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;
	int ret;

	*result = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return 0;
	ret = check_link(path, &st);
	if (ret)
		return ret;
	len = readlinkat(fd, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	*result = join_link(path, target);
	return *result ? 0 : -ENOMEM;
}

/* realpath() is not used, because it fails for a link to a file that does not exist yet. */
static int follow_links(const char *path, char **result)
{
	char *current = strdup(path);
	char *next;
	int links;
	int ret;

	if (!current)
		return -ENOMEM;
	for (links = 0; links < MAX_LINKS; links++) {
		ret = read_link(current, &next);
		if (ret || !next)
			break;
		free(current);
		current = next;
	}
	if (links == MAX_LINKS)
		ret = -ELOOP;
	if (ret) {
		free(current);
		return ret;
	}
	*result = current;
	return 0;
}

/* /dev/stdout or /dev/fd/3: the caller opened the file behind it, and it is not to be replaced. */
static bool is_descriptor(const char *path)
{
	return !strncmp(path, "/dev/std", 8) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

static int place_direct(const char *path, struct file_place *place)
{
	place->direct = true;
	place->name = strdup(path);
	return place->name ? 0 : -ENOMEM;
}

/* Stats a path without links; it is no error if nothing is there. */
static int look_at_link(const char *path, struct file_place *place)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	place->special = fd;
	if (fstat(fd, &place->stat))
		return -errno;
	place->exists = true;
	place->ours = is_our_user(place->stat.st_uid);
	return S_ISDIR(place->stat.st_mode) ? -EISDIR : 0;
}

/* The path has no link in it any more. The folder is pinned, so that renaming it does no harm. */
static int place_in_folder(const char *path, struct file_place *place)
{
	cleanup_free char *parent = folder_of(path);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (!parent)
		return -ENOMEM;
	if (!*name)
		return -EISDIR;
	place->name = strdup(name);
	if (!place->name)
		return -ENOMEM;
	place->dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return place->dir < 0 ? -errno : 0;
}

static int find_place(const char *path, struct file_place *place)
{
	cleanup_free char *target = NULL;
	int ret;

	if (!*path)
		return -ENOENT;
	place->exists = !stat(path, &place->stat);
	if (place->exists && is_descriptor(path) && !S_ISDIR(place->stat.st_mode))
		return place_direct(path, place);
	ret = follow_links(path, &target);
	if (!ret)
		ret = look_at_link(target, place);
	if (ret)
		return ret;
	if (!place->exists || S_ISREG(place->stat.st_mode)) {
		close_fd(&place->special);
		return place_in_folder(target, place);
	}
	/* Whoever made the fifo may be waiting for data that is not meant for them. */
	if (S_ISFIFO(place->stat.st_mode) && !place->ours && place->stat.st_uid)
		return -EPERM;
	return place_direct(target, place);
}

int file_place_find(const char *path, struct file_place *result, struct error *err)
{
	struct file_place place = { .dir = -1, .special = -1 };
	bool fifo;
	int ret;

	ret = find_place(path, &place);
	if (!ret) {
		*result = place;
		return 0;
	}
	fifo = place.exists && S_ISFIFO(place.stat.st_mode);
	file_place_free(&place);
	if (ret == -EPERM && fifo)
		return error_set(err, ret, "%s: a fifo that another user made", path);
	return error_errno(err, ret, "%s", path);
}

int file_place_open(const struct file_place *place)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place->special);
	fd = open(place->special < 0 ? place->name : path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void file_place_free(struct file_place *place)
{
	close_fd(&place->dir);
	close_fd(&place->special);
	free(place->name);
	place->name = NULL;
}

static int expand_letter(FILE *stream, char letter, pid_t pid, const struct tm *started)
{
	char host[HOST_NAME_MAX + 1] = "";
	char stamp[32];

	switch (letter) {
	case '%':
		return fputc('%', stream) == EOF ? -ENOMEM : 0;
	case 'p':
		return fprintf(stream, "%d", pid) < 0 ? -ENOMEM : 0;
	case 't':
		if (!started || !strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", started))
			return -EOVERFLOW;
		return fputs(stamp, stream) < 0 ? -ENOMEM : 0;
	case 'h':
		if (gethostname(host, sizeof(host) - 1))
			return -errno;
		return fputs(host, stream) < 0 ? -ENOMEM : 0;
	default:
		return -EINVAL;
	}
}

/* Stops at the first % that it does not know. */
static int expand_name(const char *pattern, pid_t pid, const struct tm *started, FILE *stream)
{
	int ret;

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			if (fputc(*pattern, stream) == EOF)
				return -ENOMEM;
			continue;
		}
		ret = expand_letter(stream, *++pattern, pid, started);
		if (ret)
			return ret;
	}
	return 0;
}

bool output_has_time(const char *pattern)
{
	/*
	 * Steps over the character behind each %, so that in %% the second one does not begin
	 * another.
	 */
	for (; (pattern = strchr(pattern, '%')) && pattern[1]; pattern += 2)
		if (pattern[1] == 't')
			return true;
	return false;
}

int output_expand(const char *pattern, pid_t pid, const struct tm *started, char **result,
		  struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int ret;

	stream = open_memstream(&text, &size);
	if (!stream)
		return error_errno(err, -ENOMEM, "%s", pattern);
	ret = expand_name(pattern, pid, started, stream);
	/* glibc's fclose() does not report that the text could not grow at last. */
	if ((fclose(stream) || !text) && !ret)
		ret = -ENOMEM;
	if (!ret) {
		*result = text;
		return 0;
	}
	free(text);
	if (ret == -EINVAL)
		return error_set(err, ret, "%s: a %% stands only in %%p, %%t, %%h and %%%%",
				 pattern);
	return error_errno(err, ret, "%s", pattern);
}
