// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Files that appear complete or not at all: their folder, name and owner. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/util.h"

/* The place where an output is written. */
struct file_place {
	int dir; /* O_PATH; -1 when written directly */
	char *name; /* in dir; the whole path when written directly */
	int special; /* O_PATH, when written directly; -1: open it by name */
	bool direct; /* not a regular file: write to it instead of replacing it */
	bool exists;
	bool ours; /* the existing file belongs to us */
	struct stat stat; /* of the file, if it exists */
};

#define MAX_LINKS 40 /* the kernel's limit */

static void file_place_free(struct file_place *place);

/* Joins the folder of path with a relative target; copies an absolute one. */
static char *join_link(const char *path, const char *target)
{
	const char *slash = strrchr(path, '/');

	if (target[0] == '/' || !slash)
		return strdup(target);
	return format_text("%.*s/%s", (int)(slash - path), path, target);
}

/* The folder with a path's last part, including "/" and ".". */
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
 * readlink(). In a sticky, world-writable folder, such as /tmp, a link is followed only if it
 * belongs to us or to the folder's owner. Otherwise anybody could point root's profile at any file.
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
 * the link which is checked is also the one which is read.
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

/* realpath() does not work: it fails for a link to a file that does not exist yet. */
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

/* For /dev/stdout or /dev/fd/3 the caller opened the file. It must not be replaced. */
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

/* Reads the facts of a path without links; it may be missing. */
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

/* The path has no links. Pin the folder, so that renaming it does no harm. */
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
	/* Do not give data to another user's fifo. */
	if (S_ISFIFO(place->stat.st_mode) && !place->ours && place->stat.st_uid)
		return -EPERM;
	return place_direct(target, place);
}

/* Follows symbolic links to the file that would be replaced. Fills in *result, or fails. */
static int file_place_find(const char *path, struct file_place *result, struct error *err)
{
	struct file_place place = { .dir = -1, .special = -1 };
	bool fifo;
	int ret = find_place(path, &place);

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

/* Opens a place that is written directly. Returns a descriptor or -errno. */
static int file_place_open(const struct file_place *place)
{
	char path[FD_PATH];
	int fd;

	fd = open(place->special < 0 ? place->name : fd_path(place->special, path),
		  O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void file_place_free(struct file_place *place)
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

/* Stops at the first unknown %. */
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
	/* Skip the character after each %, so that %%t is not %t. */
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
	/* glibc's fclose() does not report that the last growth failed. */
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

#define BUFFER_SIZE (64 * 1024)
#define TEMP_TRIES 100
#define TEMP_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789"
#define TEMP_RANDOM 6

struct output {
	char *path; /* as given by the user */
	struct file_place place;
	char *temp; /* in place.dir; NULL: the file has no name, or is written directly */
	bool keep_old;
	int fd;
	gzFile gz; /* NULL: not compressed */
	int gz_fd; /* the compressor's own descriptor */
	FILE *stream;
	int error; /* the first failed write, as a negative errno */
	char buffer[BUFFER_SIZE];
};

bool output_is_compressed(const char *path)
{
	return text_ends_in(path, ".gz");
}

/* Sets out->temp to a new name beside FILE. */
static int name_temp(struct output *out)
{
	unsigned char random[TEMP_RANDOM];
	char letters[TEMP_RANDOM + 1] = "";
	size_t i;

	free(out->temp);
	out->temp = NULL;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (i = 0; i < sizeof(random); i++)
		letters[i] = TEMP_LETTERS[random[i] % (sizeof(TEMP_LETTERS) - 1)];
	out->temp = format_text(".%s.%s", out->place.name, letters);
	return out->temp ? 0 : -ENOMEM;
}

static bool is_temp_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	if (entry[0] != '.' || strncmp(entry + 1, name, len) || entry[len + 1] != '.')
		return false;
	entry += len + 2;
	return strlen(entry) == TEMP_RANDOM && strspn(entry, TEMP_LETTERS) == TEMP_RANDOM;
}

/*
 * A writer locks its temporary file as long as that has a name. A file without a lock is left over.
 */
static void remove_if_left(int dir, const char *name)
{
	cleanup_fd int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
}

/* Removes files of killed writers. Errors do not matter, because FILE can be written anyway. */
static void remove_left_temps(const struct output *out)
{
	int fd = openat(out->place.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		close_fd(&fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (is_temp_of(entry->d_name, out->place.name))
			remove_if_left(out->place.dir, entry->d_name);
	closedir(dir);
}

/* Fails if another writer removed the new file as a left-over. */
static bool lock_temp(int fd)
{
	struct stat st;

	return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && st.st_nlink;
}

/*
 * mkstemp() makes files of mode 0600. Correcting that needs the umask, which cannot be read without
 * changing it for all threads.
 */
static int create_named(struct output *out, mode_t mode)
{
	int tries, ret;

	for (tries = 0; tries < TEMP_TRIES; tries++) {
		ret = name_temp(out);
		if (ret)
			return ret;
		out->fd = openat(out->place.dir, out->temp,
				 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (out->fd < 0 && errno != EEXIST)
			return -errno;
		if (out->fd >= 0 && lock_temp(out->fd))
			return 0;
		close_fd(&out->fd);
	}
	return -EEXIST;
}

/*
 * A file without a name disappears with its writer, even if that is killed. It gets its name
 * through /proc. NFS, vfat, and overlayfs of old kernels have no such files.
 */
static bool create_unnamed(struct output *out, mode_t mode)
{
	char path[FD_PATH];

	out->fd = openat(out->place.dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (out->fd >= 0 && !access(fd_path(out->fd, path), F_OK) &&
	    !flock(out->fd, LOCK_EX | LOCK_NB))
		return true;
	close_fd(&out->fd);
	return false;
}

static int create_temp(struct output *out, mode_t mode)
{
	remove_left_temps(out);
	return create_unnamed(out, mode) ? 0 : create_named(out, mode);
}

/*
 * Keeps the mode of a replaced file if it was ours. If somebody else made that file, it may be a
 * trap. Therefore its mode can only remove permissions.
 */
static int open_beside(struct output *out, bool confidential)
{
	mode_t fresh = confidential ? 0600 : 0644, mode = out->place.stat.st_mode & 0777;
	int ret;

	if (out->place.exists && !out->place.ours)
		mode &= fresh;
	ret = create_temp(out, out->place.exists ? mode & 0600 : fresh);
	if (ret) {
		free(out->temp);
		out->temp = NULL;
		return ret;
	}
	if (out->place.exists && fchmod(out->fd, mode))
		return -errno;
	return 0;
}

static int gz_error_code(int zlib_error)
{
	if (zlib_error == Z_ERRNO)
		return errno ? -errno : -EIO;
	return zlib_error == Z_MEM_ERROR ? -ENOMEM : -EIO;
}

static int gz_write_all(gzFile gz, const char *data, size_t size)
{
	int zlib_error = Z_OK;

	errno = 0;
	if (gzfwrite(data, 1, size, gz) == size)
		return 0;
	gzerror(gz, &zlib_error);
	return gz_error_code(zlib_error);
}

static ssize_t cookie_write(void *cookie, const char *data, size_t size)
{
	struct output *out = cookie;
	int ret;

	/*
	 * Do not write after a failure: a full disk may have room again, but the file would have a
	 * hole.
	 */
	if (!out->error) {
		ret = out->gz ? gz_write_all(out->gz, data, size) :
				write_fully(out->fd, data, size);
		out->error = ret;
	}
	if (!out->error)
		return (ssize_t)size;
	errno = -out->error;
	return 0;
}

static int open_gz_output(struct output *out)
{
	out->gz_fd = fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
	if (out->gz_fd < 0)
		return -errno;
	errno = 0;
	out->gz = gzdopen(out->gz_fd, "wb");
	if (!out->gz) {
		close(out->gz_fd);
		return -ENOMEM;
	}
	return gzbuffer(out->gz, BUFFER_SIZE) ? -ENOMEM : 0;
}

static int open_stream(struct output *out, bool gz)
{
	static const cookie_io_functions_t functions = { .write = cookie_write };

	if (gz) {
		int ret = open_gz_output(out);

		if (ret)
			return ret;
	}
	out->stream = fopencookie(out, "w", functions);
	if (!out->stream)
		return errno ? -errno : -ENOMEM;
	if (setvbuf(out->stream, out->buffer, _IOFBF, sizeof(out->buffer)))
		return -ENOMEM;
	return 0;
}

/* main() fills the place of a closed stream with an O_PATH descriptor. */
static bool stdout_is_closed(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	return flags < 0 || flags & O_PATH;
}

static int open_place(struct output *out, const char *path, bool confidential, struct error *err)
{
	int ret;

	if (!strcmp(path, "-")) {
		out->place.direct = true;
		if (stdout_is_closed())
			return error_errno(err, -EBADF, "%s", out->path);
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return out->fd < 0 ? error_errno(err, -errno, "%s", out->path) : 0;
	}
	ret = file_place_find(path, &out->place, err);
	if (ret)
		return ret;
	if (out->place.direct) {
		ret = file_place_open(&out->place);
		out->fd = ret < 0 ? -1 : ret;
		ret = ret < 0 ? ret : 0;
	} else {
		ret = open_beside(out, confidential);
	}
	return ret ? error_errno(err, ret, "%s", out->path) : 0;
}

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * At RLIMIT_FSIZE, let the write fail, so that the file is removed. Catch the signal rather than
 * ignore it, because programs that we start would inherit SIG_IGN.
 */
static void survive_limit(void)
{
	struct sigaction old, ours = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };

	if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &ours, NULL);
}

int output_open(const char *path, unsigned int flags, struct output **result, struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct output *out;
	int ret;

	pthread_once(&once, survive_limit);

	out = calloc(1, sizeof(*out));
	if (!out)
		return error_errno(err, -ENOMEM, "%s", path);
	out->fd = -1;
	out->place.dir = -1;
	out->place.special = -1;
	out->path = strdup(strcmp(path, "-") ? path : "standard output");
	if (!out->path) {
		ret = error_errno(err, -ENOMEM, "%s", path);
		goto fail;
	}
	out->keep_old = flags & OUTPUT_KEEP_OLD;
	ret = open_place(out, path, flags & OUTPUT_CONFIDENTIAL, err);
	if (ret)
		goto fail;
	ret = open_stream(out, flags & OUTPUT_GZ || output_is_compressed(path));
	if (ret) {
		error_errno(err, ret, "%s", out->path);
		goto fail;
	}
	*result = out;
	return 0;
fail:
	output_abort(out);
	return ret;
}

FILE *output_stream(struct output *out)
{
	return out->stream;
}

/* Writes all buffers to the descriptor. */
static int drain(struct output *out)
{
	bool failed = fclose(out->stream);
	int ret = out->error ? out->error : failed ? -errno : 0;
	int zlib_error;

	out->stream = NULL;
	if (!out->gz)
		return ret;
	errno = 0;
	zlib_error = gzclose(out->gz);
	out->gz = NULL;
	if (!ret && zlib_error != Z_OK)
		ret = gz_error_code(zlib_error);
	return ret;
}

/*
 * Only root can give files away. If that fails (vfat, a user namespace without that user), it is
 * not an error: the profile is worth more than its owner.
 */
static void give_to_user(const struct output *out)
{
	uint32_t uid = out->place.stat.st_uid;
	uint32_t gid = out->place.stat.st_gid;

	if (geteuid())
		return;
	/* Do not give the new file to somebody who placed a file under that name before. */
	if (!sudo_caller(&uid, &gid) && !(out->place.exists && out->place.ours))
		return;
	if (fchown(out->fd, uid, gid))
		return;
}

/*
 * Swaps the two, so that FILE exists at every moment. If the file system cannot swap, or FILE.old
 * cannot be replaced, drop the old file, because the new one is worth more.
 */
static bool swap_with_old(const struct output *out)
{
	cleanup_free char *old = NULL;
	int dir = out->place.dir;

	if (!out->keep_old || !out->place.exists || !out->place.ours ||
	    !(old = format_text("%s.old", out->place.name)) ||
	    renameat2(dir, out->temp, dir, out->place.name, RENAME_EXCHANGE))
		return false;
	if (renameat(dir, out->temp, dir, old))
		unlinkat(dir, out->temp, 0);
	return true;
}

/*
 * Links a nameless file as FILE; then *done is true. link() cannot replace a file. Therefore, if
 * FILE exists, it links a temporary name, which is then renamed.
 */
static int link_temp(struct output *out, bool *done)
{
	const char *name = out->place.name;
	char path[FD_PATH];
	int tries, ret;

	fd_path(out->fd, path);
	for (tries = 0; tries < TEMP_TRIES; tries++) {
		if (!linkat(AT_FDCWD, path, out->place.dir, name, AT_SYMLINK_FOLLOW)) {
			*done = name == out->place.name;
			return 0;
		}
		if (errno != EEXIST)
			break;
		ret = name_temp(out);
		if (ret)
			return ret;
		name = out->temp;
	}
	ret = -errno;
	free(out->temp);
	out->temp = NULL;
	return ret;
}

static int publish(struct output *out)
{
	bool done = false;
	int ret = out->temp ? 0 : link_temp(out, &done);

	if (ret || done)
		return ret;
	if (!swap_with_old(out) &&
	    renameat(out->place.dir, out->temp, out->place.dir, out->place.name))
		return -errno;
	free(out->temp);
	out->temp = NULL;
	return 0;
}

/*
 * With delayed allocation and network file systems, a full disk shows only at fsync(), or at
 * close() if written directly. A temporary file stays open, and thus locked, until it has FILE's
 * name.
 */
static int finish_place(struct output *out)
{
	int fd = out->fd;

	if (out->place.direct) {
		out->fd = -1;
		return close(fd) ? -errno : 0;
	}
	if (fsync(fd))
		return -errno;
	give_to_user(out);
	return publish(out);
}

int output_commit(struct output *out, struct error *err)
{
	int ret = drain(out);

	if (!ret)
		ret = finish_place(out);
	if (ret)
		error_errno(err, ret, "%s", out->path);
	output_abort(out);
	return ret;
}

/*
 * gzclose() would write a trailer, and then the reader of a pipe would think that half a text is
 * complete. zlib has no other way to close. Therefore redirect its descriptor first.
 */
static void abort_gz(const struct output *out)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0) {
		dup3(null, out->gz_fd, O_CLOEXEC);
		close(null);
	}
	gzclose(out->gz);
}

void output_abort(struct output *out)
{
	if (!out)
		return;
	/* Marks the buffered rest as failed, so that it is not written. */
	if (!out->error)
		out->error = -ECANCELED;
	if (out->stream)
		fclose(out->stream);
	if (out->gz)
		abort_gz(out);
	close_fd(&out->fd);
	if (out->temp)
		unlinkat(out->place.dir, out->temp, 0);
	free(out->temp);
	file_place_free(&out->place);
	free(out->path);
	free(out);
}

int output_finish(struct output *out, int result, struct error *err)
{
	if (!result)
		return output_commit(out, err);
	if (out->error)
		result = error_errno(err, out->error, "%s", out->path);
	output_abort(out);
	return result;
}

/*
 * In a sticky folder the new file could be created, but not replace another user's file. Root may
 * replace it. So may CAP_FOWNER alone, which this test ignores.
 */
static bool is_stuck(const struct file_place *place)
{
	struct stat dir;

	if (!geteuid() || !place->exists || fstat(place->dir, &dir))
		return false;
	return (dir.st_mode & S_ISVTX) && dir.st_uid != geteuid() &&
	       place->stat.st_uid != geteuid();
}

/* access() claims success to root for /proc, an immutable folder, and a full quota. */
static int try_to_create(const char *path, const struct file_place *place, struct error *err)
{
	struct output *out = NULL;
	int ret;

	if (is_stuck(place))
		return error_errno(err, -EPERM, "%s", path);
	ret = output_open(path, 0, &out, err);
	output_abort(out);
	return ret;
}

int output_check(const char *path, struct error *err)
{
	struct file_place place;
	int ret;

	if (!strcmp(path, "-"))
		return stdout_is_closed() ? error_errno(err, -EBADF, "standard output") : 0;
	ret = file_place_find(path, &place, err);
	if (ret)
		return ret;
	/* Opening a fifo would wait for its reader. Therefore only check it. */
	if (place.direct)
		ret = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ?
			      error_errno(err, -errno, "%s", path) :
			      0;
	else
		ret = try_to_create(path, &place, err);
	file_place_free(&place);
	return ret;
}
