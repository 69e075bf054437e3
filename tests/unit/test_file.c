// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "test_file_fixture.h"

TestSuite(file, .init = folder_enter, .fini = folder_remove);

Test(file, new_file_follows_the_umask)
{
	struct error err;

	cr_assert_eq(folder_write("a", "text", &err), 0, "%s", err.text);
	folder_assert_holds("a", "text");
	cr_assert_eq(folder_mode_of("a"), 0644);
	umask(077);
	cr_assert_eq(folder_write("./b", "text", &err), 0);
	cr_assert_eq(folder_mode_of("b"), 0600);
	cr_assert_eq(folder_entries("."), 2);
}

Test(file, old_file_stays_until_the_end)
{
	struct output *out;
	struct error err;

	folder_put("a", "old");
	cr_assert_eq(chmod("a", 0640), 0);
	cr_assert_eq(output_open("a", 0, &out, &err), 0);
	fputs("new", output_stream(out));
	fflush(output_stream(out));
	folder_assert_holds("a", "old");
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	folder_assert_holds("a", "new");
	cr_assert_eq(folder_mode_of("a"), 0640);
	cr_assert_eq(folder_entries("."), 1);
}

Test(file, abort_leaves_nothing)
{
	struct output *out;
	struct error err;

	folder_put("a", "old");
	cr_assert_eq(output_open("a", 0, &out, &err), 0);
	fputs("new", output_stream(out));
	output_abort(out);
	cr_assert_eq(output_open("b.gz", 0, &out, &err), 0);
	fputs("new", output_stream(out));
	output_abort(out);
	output_abort(NULL);
	folder_assert_holds("a", "old");
	cr_assert_eq(folder_entries("."), 1);
}

Test(file, link_stays_and_its_target_is_replaced)
{
	struct error err;
	char target[32] = "";

	cr_assert_eq(mkdir("sub", 0755), 0);
	folder_put("sub/real", "old");
	cr_assert_eq(symlink("real", "sub/second"), 0);
	cr_assert_eq(symlink("sub/second", "first"), 0);
	cr_assert_eq(folder_write("first", "new", &err), 0, "%s", err.text);
	folder_assert_holds("sub/real", "new");
	cr_assert_geq(readlink("first", target, sizeof(target) - 1), 0);
	cr_assert_str_eq(target, "sub/second");
	cr_assert_eq(folder_entries("sub"), 2);
}

Test(file, link_to_a_file_not_yet_there)
{
	struct stat st;
	struct error err;

	cr_assert_eq(mkdir("sub", 0755), 0);
	cr_assert_eq(symlink("sub/later", "a"), 0);
	cr_assert_eq(folder_write("a", "new", &err), 0, "%s", err.text);
	folder_assert_holds("sub/later", "new");
	cr_assert_eq(lstat("a", &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
}

Test(file, link_that_leads_nowhere)
{
	struct error err;

	cr_assert_eq(symlink("b", "a"), 0);
	cr_assert_eq(symlink("a", "b"), 0);
	cr_assert_eq(folder_write("a", "new", &err), -ELOOP);
	cr_assert_str_eq(err.text, "a: Too many levels of symbolic links");
	cr_assert_eq(symlink("missing/file", "c"), 0);
	cr_assert_eq(folder_write("c", "new", &err), -ENOENT);
	cr_assert_eq(folder_entries("."), 3);
}

/*
 * A link /tmp/bpfprofil.json -> /etc/passwd that somebody else made must not redirect root's
 * profile.
 */
Test(file, foreign_link_in_a_shared_folder_is_refused)
{
	struct error err;

	if (geteuid()) {
		cr_skip_test("needs root, to make a link that is somebody else's");
		return;
	}
	folder_put("victim", "old");
	cr_assert_eq(mkdir("shared", 0777), 0);
	cr_assert_eq(chmod("shared", 01777), 0);
	cr_assert_eq(symlink("../victim", "shared/a"), 0);
	cr_assert_eq(lchown("shared/a", 12345, 12345), 0);
	cr_assert_eq(folder_write("shared/a", "new", &err), -EACCES);
	cr_assert_eq(symlink("../missing", "shared/b"), 0);
	cr_assert_eq(lchown("shared/b", 12345, 12345), 0);
	cr_assert_eq(folder_write("shared/b", "new", &err), -EACCES);
	folder_assert_holds("victim", "old");
	cr_assert_eq(lchown("shared/a", 0, 0), 0);
	cr_assert_eq(folder_write("shared/a", "new", &err), 0, "%s", err.text);
	folder_assert_holds("victim", "new");
}

Test(file, devices_are_written_directly)
{
	struct stat before;
	struct stat after;
	struct error err;

	cr_assert_eq(stat("/dev/null", &before), 0);
	cr_assert_eq(folder_write("/dev/null", "text", &err), 0, "%s", err.text);
	cr_assert_eq(symlink("/dev/null", "a"), 0);
	cr_assert_eq(folder_write("a", "text", &err), 0, "%s", err.text);
	cr_assert_eq(stat("/dev/null", &after), 0);
	cr_assert_eq(before.st_ino, after.st_ino);
	cr_assert_eq(folder_entries("."), 1);
}

Test(file, fifo_is_written_directly)
{
	struct error err;
	int status;
	pid_t pid;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	cr_assert_eq(output_check("fifo", &err), 0, "must not wait for a reader");
	pid = fork();
	if (!pid)
		_exit(system("test \"$(cat fifo)\" = text") != 0);
	cr_assert_eq(folder_write("fifo", "text", &err), 0, "%s", err.text);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(folder_entries("."), 1);
}

Test(file, standard_output)
{
	struct error err;
	int saved = dup(STDOUT_FILENO);
	int fd = open("a", O_RDWR | O_CREAT, 0600);

	cr_assert_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	cr_assert_eq(output_check("-", &err), 0);
	cr_assert_eq(folder_write("-", "text", &err), 0);
	cr_assert_eq(folder_write("-", " more", &err), 0);
	folder_assert_holds("a", "text more");
	cr_assert_eq(folder_write("/dev/stdout", "over", &err), 0, "%s", err.text);
	folder_assert_holds("a", "over more");
	close(STDOUT_FILENO);
	cr_assert_eq(folder_write("-", "text", &err), -EBADF);
	cr_assert_str_eq(err.text, "standard output: Bad file descriptor");
	cr_assert_eq(output_check("-", &err), -EBADF);
	/* What main() puts in the place of a closed stream. */
	cr_assert_eq(dup2(open("/", O_PATH), STDOUT_FILENO), STDOUT_FILENO);
	cr_assert_eq(output_check("-", &err), -EBADF);
	cr_assert_eq(folder_write("-", "text", &err), -EBADF);
	dup2(saved, STDOUT_FILENO);
}

Test(file, full_device_fails_by_name)
{
	cleanup_free char *large = calloc(1, 1 << 20);
	struct output *out;
	struct error err;

	memset(large, 'x', (1 << 20) - 1);
	cr_assert_eq(folder_write("/dev/full", "x", &err), -ENOSPC);
	cr_assert_str_eq(err.text, "/dev/full: No space left on device");
	cr_assert_eq(folder_write("/dev/full", large, &err), -ENOSPC);
	cr_assert_eq(symlink("/dev/full", "full.gz"), 0);
	cr_assert_eq(folder_write("full.gz", "x", &err), -ENOSPC);
	cr_assert_str_eq(err.text, "full.gz: No space left on device");

	cr_assert_eq(output_open("/dev/full", 0, &out, &err), 0);
	fputs(large, output_stream(out));
	cr_assert(ferror(output_stream(out)));
	error_set(&err, -EIO, "the writer's own words");
	cr_assert_eq(output_finish(out, -EIO, &err), -ENOSPC);
	cr_assert_str_eq(err.text, "/dev/full: No space left on device");
}

Test(file, finish_keeps_the_writers_words)
{
	struct output *out;
	struct error err;

	cr_assert_eq(output_open("a", 0, &out, &err), 0);
	error_set(&err, -EINVAL, "the writer's own words");
	cr_assert_eq(output_finish(out, -EINVAL, &err), -EINVAL);
	cr_assert_str_eq(err.text, "the writer's own words");
	cr_assert_eq(folder_entries("."), 0);
	cr_assert_eq(output_open("a", 0, &out, &err), 0);
	cr_assert_eq(output_finish(out, 0, &err), 0);
	folder_assert_holds("a", "");
}

/* Mounts it in this test's own mount namespace. */
static bool mount_small(const char *path)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", path, "tmpfs", 0, "size=64k");
}

static void fill_disk(const char *path)
{
	struct output *out;
	struct error err;
	uint32_t noise = 1;
	int i;

	cr_assert_eq(output_open(path, 0, &out, &err), 0, "%s", err.text);
	for (i = 0; i < 200000; i++) {
		noise = noise * 1664525 + 1013904223;
		fputc((int)(noise >> 24), output_stream(out));
	}
	cr_assert_eq(output_commit(out, &err), -ENOSPC);
	cr_assert_str_eq(strstr(err.text, ": "), ": No space left on device");
}

static void be_killed_writing(const char *path)
{
	pid_t child = fork();
	struct output *out;
	struct error err;

	if (!child) {
		cr_assert_eq(output_open(path, 0, &out, &err), 0);
		fputs("half", output_stream(out));
		fflush(output_stream(out));
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
}

Test(file, killed_writer_leaves_nothing)
{
	folder_put("a", "old");
	be_killed_writing("a");
	be_killed_writing("b.gz");
	folder_assert_holds("a", "old");
	cr_assert_eq(folder_entries("."), 1);
}

/* Without /proc a file must have a name from the start, as on file systems that have no other files. */
Test(file, killed_writer_of_a_file_with_a_name)
{
	struct output *out;
	struct error err;

	cr_assert_eq(mkdir("none", 0755), 0);
	if (!mount_small("none") || mount("none", "/proc", NULL, MS_BIND, NULL)) {
		cr_skip_test("needs root or user namespaces, to hide /proc");
		return;
	}
	be_killed_writing("a");
	be_killed_writing("b");
	cr_assert_eq(folder_entries("."), 3);
	cr_assert_eq(output_open("a", 0, &out, &err), 0, "%s", err.text);
	fputs("first", output_stream(out));
	cr_assert_eq(folder_entries("."), 3);
	cr_assert_eq(folder_write("a", "second", &err), 0, "%s", err.text);
	folder_assert_holds("a", "second");
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	folder_assert_holds("a", "first");
	cr_assert_eq(folder_entries("."), 3);
	cr_assert_eq(umount2("/proc", MNT_DETACH), 0);
	cr_assert_eq(umount2("none", MNT_DETACH), 0);
}

Test(file, only_a_temporary_without_a_writer_goes)
{
	struct error err;
	int fd;

	folder_put(".a.0left0", "dead");
	folder_put(".a.0live0", "alive");
	folder_put(".a.OTHERS", "a name we would not give");
	folder_put(".ab.0left", "of another FILE");
	cr_assert_eq(symlink("nowhere", ".a.0link0"), 0);
	fd = open(".a.0live0", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(folder_write("a", "text", &err), 0, "%s", err.text);
	cr_assert_eq(folder_entries("."), 5);
	cr_assert_eq(access(".a.0left0", F_OK), -1);
	close(fd);
}

Test(file, full_disk_leaves_the_old_file)
{
	cr_assert_eq(mkdir("small", 0755), 0);
	if (!mount_small("small")) {
		cr_skip_test("needs root or user namespaces, to mount a small disk");
		return;
	}
	folder_put("small/a", "old");
	folder_put("small/b.gz", "old");
	fill_disk("small/a");
	fill_disk("small/b.gz");
	folder_assert_holds("small/a", "old");
	folder_assert_holds("small/b.gz", "old");
	cr_assert_eq(folder_entries("small"), 2);
	cr_assert_eq(umount2("small", MNT_DETACH), 0);
}

Test(file, size_limit_leaves_the_old_file)
{
	struct rlimit limit = { 3, RLIM_INFINITY };
	struct error err;

	folder_put("a", "old");
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(folder_write("a", "longer", &err), -EFBIG);
	cr_assert_str_eq(err.text, "a: File too large");
	limit.rlim_cur = RLIM_INFINITY;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	folder_assert_holds("a", "old");
	cr_assert_eq(folder_entries("."), 1);
}

Test(file, owner)
{
	struct error err;

	if (geteuid()) {
		cr_skip_test("needs root, to give files away");
		return;
	}
	folder_put("old", "text");
	cr_assert_eq(chown("old", 0, 23456), 0);
	cr_assert_eq(folder_write("old", "new", &err), 0);
	folder_assert_owner("old", 0, 23456);
	setenv("SUDO_UID", "1111", 1);
	setenv("SUDO_GID", "2222", 1);
	cr_assert_eq(chown("old", 1111, 23456) | chmod("old", 0664), 0);
	cr_assert_eq(folder_write("old", "new", &err), 0);
	folder_assert_owner("old", 1111, 2222);
	cr_assert_eq(folder_mode_of("old"), 0664);
	cr_assert_eq(folder_write("new", "text", &err), 0);
	folder_assert_owner("new", 1111, 2222);
	setenv("SUDO_UID", "-1", 1);
	cr_assert_eq(folder_write("junk", "text", &err), 0);
	folder_assert_owner("junk", 0, getegid());
	setenv("SUDO_UID", "4294967295", 1);
	cr_assert_eq(folder_write("none", "text", &err), 0);
	folder_assert_owner("none", 0, getegid());
}

Test(file, check_finds_what_would_fail)
{
	struct error err;

	cr_assert_eq(output_check("a", &err), 0, "%s", err.text);
	folder_put("a", "old");
	cr_assert_eq(output_check("a", &err), 0);
	folder_assert_holds("a", "old");
	cr_assert_eq(folder_entries("."), 1);
	cr_assert_eq(output_check("/dev/null", &err), 0);
	cr_assert_eq(output_check("missing/a", &err), -ENOENT);
	cr_assert_str_eq(err.text, "missing/a: No such file or directory");
	cr_assert_eq(output_check("a/b", &err), -ENOTDIR);
	cr_assert_eq(output_check(".", &err), -EISDIR);
	cr_assert_eq(output_check("/", &err), -EISDIR);
	cr_assert_eq(output_check("b/", &err), -EISDIR);
	cr_assert_eq(output_check("", &err), -ENOENT);
	/* Not even root can make files there. */
	cr_assert_neq(output_check("/proc/a", &err), 0);
	cr_assert_eq(strncmp(err.text, "/proc/a: ", 9), 0);
}

Test(file, check_of_a_folder_that_is_not_ours)
{
	struct error err;

	if (!geteuid())
		cr_assert_eq(chown(".", 12345, 12345) | seteuid(23456), 0);
	else
		cr_assert_eq(chmod(".", 0555), 0);
	cr_assert_eq(output_check("a", &err), -EACCES);
	cr_assert_str_eq(err.text, "a: Permission denied");
	if (seteuid(0))
		cr_assert_eq(chmod(".", 0755), 0);
}

Test(file, check_of_a_file_stuck_in_a_shared_folder)
{
	struct error err;

	if (geteuid()) {
		cr_skip_test("needs root, to make a file that is somebody else's");
		return;
	}
	folder_put("a", "old");
	cr_assert_eq(chmod(".", 01777) | chown("a", 12345, 12345) | seteuid(23456), 0);
	cr_assert_eq(output_check("b", &err), 0);
	cr_assert_eq(output_check("a", &err), -EPERM);
	cr_assert_eq(seteuid(0), 0);
}

static void assert_expands(const char *pattern, const char *wanted)
{
	const time_t started = 1000000000;
	struct error err;
	cleanup_free char *text = NULL;
	struct tm tm;

	cr_assert(localtime_r(&started, &tm));
	cr_assert_eq(output_expand(pattern, 4711, &tm, &text, &err), 0, "%s", err.text);
	cr_assert_str_eq(text, wanted);
}

Test(file, expand)
{
	char host[256] = "";
	char wanted[300];
	char *text = NULL;
	struct error err;

	setenv("TZ", "UTC-1", 1);
	tzset();
	assert_expands("", "");
	assert_expands("-", "-");
	assert_expands("plain.json", "plain.json");
	assert_expands("%p-%t.json.gz", "4711-20010909-024640.json.gz");
	assert_expands("100%%p", "100%p");
	cr_assert_eq(gethostname(host, sizeof(host) - 1), 0);
	snprintf(wanted, sizeof(wanted), "a/%s", host);
	assert_expands("a/%h", wanted);
	cr_assert_eq(output_expand("a%x", 1, NULL, &text, &err), -EINVAL);
	cr_assert_str_eq(err.text, "a%x: a % stands only in %p, %t, %h and %%");
	cr_assert_eq(output_expand("a%", 1, NULL, &text, &err), -EINVAL);
	cr_assert_null(text);
}
