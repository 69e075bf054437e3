// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* COMMAND sees nothing of being profiled, and its caller sees what COMMAND did. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

TestSuite(live_command, .init = need_root, .timeout = 60);

/* Profiles `sh -c SCRIPT`, without the measuring program in between. */
static void run_script(struct live *live, const char *input, const char *script)
{
	const char *argv[32];

	live_begin(live);
	live_command(live, argv, 32, ARGS(FAST), ARGS("sh", "-c", script), false);
	child_run(&live->end, input, argv);
	if (!access(live->profile, R_OK)) {
		live_load(live);
		doc_assert_sound(live->doc);
	}
}

static void expect_status(const char *script, int status)
{
	struct live live;

	run_script(&live, NULL, script);
	cr_expect_eq(live.end.status, status, "%s: %d, not %d: %s", script, live.end.status, status,
		     live.end.err);
	cr_expect_not_null(live.doc, "%s: no profile", script);
	live_end(&live);
}

Test(live_command, exit_status_is_the_commands)
{
	expect_status("exit 0", 0);
	expect_status("exit 1", 1);
	expect_status("exit 2", 2);
	expect_status("exit 255", 255);
}

Test(live_command, exit_status_of_a_signal)
{
	expect_status("kill -TERM $$", 128 + 15);
	expect_status("kill -KILL $$", 128 + 9);
	expect_status("ulimit -c 0; kill -SEGV $$", 128 + 11);
	expect_status("kill -HUP $$", 128 + 1);
}

/* Runs a program that cannot be run; the error is one line, with at most a hint. */
static void expect_no_start(const char *program, int status)
{
	const char *argv[32];
	struct live live;

	live_begin(&live);
	live_command(&live, argv, 32, ARGS(FAST), ARGS(program), false);
	child_run(&live.end, NULL, argv);
	cr_expect_eq(live.end.status, status, "%s: %d: %s", program, live.end.status, live.end.err);
	cr_expect_eq(strncmp(live.end.err, "bpfprofil: ", 11), 0, "%s", live.end.err);
	cr_expect_not_null(strstr(live.end.err, program), "%s", live.end.err);
	cr_expect_neq(access(live.profile, F_OK), 0, "a profile of nothing");
	cr_expect_eq(live.end.out_len, 0);
	live_end(&live);
}

Test(live_command, not_found)
{
	expect_no_start("/nonexistent/program", 127);
	expect_no_start("bpfprofil-test-no-such-program", 127);
}

Test(live_command, not_executable)
{
	expect_no_start("/etc/passwd", 126);
	expect_no_start("/etc", 126);
}

/* Exactly the same bytes pass, even if they are not text. */
Test(live_command, input_and_output_untouched)
{
	static char text[200001];
	struct live live;
	size_t i;

	for (i = 0; i + 1 < sizeof(text); i++)
		text[i] = (char)(1 + i * 7 % 255);
	run_script(&live, text, "cat; printf error >&2");
	cr_expect_eq(live.end.status, 0);
	cr_assert_eq(live.end.out_len, sizeof(text) - 1);
	cr_expect_eq(memcmp(live.end.out, text, sizeof(text) - 1), 0);
	cr_expect_not_null(strstr(live.end.err, "error"));
	live_end(&live);
}

LIVE_TEST(live_command, quiet_says_nothing)
{
	const char *argv[32];

	live_command(live, argv, 32, ARGS("-q"), ARGS("sh", "-c", "echo out; echo err >&2"), false);
	child_run(&live->end, NULL, argv);
	cr_expect_str_eq(live->end.out, "out\n");
	cr_expect_str_eq(live->end.err, "err\n");
}

/* Where the first line that differs begins in each text; the ends of both if they are equal. */
static void difference(const char *a, const char *b, const char **ret_a, const char **ret_b)
{
	size_t i, line = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++) {
		if (a[i] == '\n')
			line = i + 1;
	}
	*ret_a = a[i] == b[i] ? a + i : a + line;
	*ret_b = a[i] == b[i] ? b + i : b + line;
}

/*
 * Descriptors, signals, limits, environment, session, group, folder and niceness are as they would
 * be without us.
 */
Test(live_command, inherits_what_the_caller_has)
{
	static const char script[] =
		"ls -l /proc/self/fd | awk '{ print $9 }' | xargs;"
		"grep -E '^(Sig[BIC]|Cap|Seccomp|Umask|NoNewPrivs|TracerPid)' /proc/self/status;"
		"cat /proc/self/limits /proc/self/oom_score_adj /proc/self/cgroup /proc/self/uid_map;"
		"env | grep -v '^_=' | sort; pwd; nice; cut -d' ' -f6-8 /proc/$$/stat";
	const char *ours, *others;
	struct child_end plain;
	struct live live;

	child_run(&plain, NULL, ARGS("sh", "-c", script));
	run_script(&live, NULL, script);
	difference(live.end.out, plain.out, &ours, &others);
	cr_expect_str_eq(ours, others, "COMMAND sees %.*s, and without us %.*s",
			 (int)strcspn(ours, "\n"), ours, (int)strcspn(others, "\n"), others);
	child_end_free(&plain);
	live_end(&live);
}

/* We raise our own limit of open files for --preload. */
LIVE_TEST(live_command, inherits_the_limit_of_files)
{
	static const char script[] =
		"ulimit -Sn 300; ulimit -Hn 512;"
		"\"$0\" run -q -o \"$1\" --preload -- sh -c 'ulimit -n; ulimit -Hn'";

	child_run(&live->end, NULL, ARGS("sh", "-c", script, BPFPROFIL_BIN, live->profile));
	cr_expect_eq(live->end.status, 0, "%s", live->end.err);
	cr_expect_str_eq(live->end.out, "300\n512\n");
}

/* The sampler keeps its privileges, and COMMAND has only the user's. */
LIVE_TEST(live_command, as_another_user)
{
	const char *argv[32];

	/* The tree may be in a folder that only its owner may enter. */
	chmod(live->dir, 0755);
	live_command(live, argv, 32, ARGS(FAST, "-u", "nobody"),
		     ARGS("sh", "-c",
			  "id -u; id -g; id -G; grep CapEff /proc/self/status; exec \"$0\" 5000",
			  live_copy(live, WORKLOAD("three"), "three")),
		     false);
	child_run(&live->end, NULL, argv);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	cr_expect_str_eq(live->end.out, "65534\n65534\n65534\nCapEff:\t0000000000000000\n");
	live_load(live);
	doc_assert_sound(live->doc);
	cr_expect_gt(doc_function(live->doc, "alpha", NULL), 0);
}

static void expect_no_user(const char *const argv[], int status, const char *text)
{
	struct child_end end;

	child_run(&end, NULL, argv);
	cr_expect_eq(end.status, status, "exit %d: %s", end.status, end.err);
	cr_expect_str_eq(end.err, text);
	child_end_free(&end);
}

/* An unknown user is a wrong option, and a user that we cannot become is no fault of COMMAND. */
Test(live_command, user_that_cannot_be)
{
	expect_no_user(ARGS(BPFPROFIL_BIN, "run", "-u", "nosuch-user", "--", "true"), 2,
		       "bpfprofil: run: --user 'nosuch-user': no such user\n");
	expect_no_user(ARGS("setpriv", "--bounding-set=-setuid,-setgid", "--inh-caps=-all",
			    BPFPROFIL_BIN, "run", "-o", "/dev/null", "-u", "nobody", "--", "true"),
		       1, "bpfprofil: run: --user 'nobody': Operation not permitted\ntry: sudo\n");
}

/* COMMAND starts only if the profile can be written. */
static void expect_not_started(const char *file)
{
	const char *marker;
	struct live live;

	live_begin(&live);
	marker = live_path(&live, "marker");
	child_run(&live.end, NULL, ARGS(BPFPROFIL_BIN, "run", "-o", file, "--", "touch", marker));
	cr_expect_eq(live.end.status, 1, "-o %s: exit %d: %s", file, live.end.status, live.end.err);
	cr_expect_eq(strncmp(live.end.err, "bpfprofil: ", 11), 0, "%s", live.end.err);
	cr_expect_neq(access(marker, F_OK), 0, "-o %s: COMMAND ran", file);
	live_end(&live);
}

Test(live_command, not_started_without_a_place_for_the_profile)
{
	expect_not_started("/nonexistent/profile.json");
	expect_not_started("/etc/passwd/profile.json");
	expect_not_started("/proc/profile.json");
	expect_not_started("/tmp");
}

/* Without the other streams, it works as with them. */
Test(live_command, closed_streams)
{
	const char *script = "\"$0\" run -q -o \"$1\" -- sh -c 'echo it ran' <&- 2>&-";
	struct child_end end;
	struct live live;

	live_begin(&live);
	child_run(&live.end, NULL, ARGS("sh", "-c", script, BPFPROFIL_BIN, live.profile));
	cr_expect_eq(live.end.status, 0, "exit %d", live.end.status);
	cr_expect_str_eq(live.end.out, "it ran\n");
	live_load(&live);
	live_end(&live);
	script = "\"$0\" run -o - -- touch \"$1\" >&-";
	child_run(&end, NULL, ARGS("sh", "-c", script, BPFPROFIL_BIN, "/dev/null/it-ran"));
	cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
	cr_expect_str_eq(end.err, "bpfprofil: run: standard output: Bad file descriptor\n");
	child_end_free(&end);
}

Test(live_command, not_started_on_a_file_system_that_is_read_only)
{
	struct child_end end;

	NEED(have_mounts(), "no mount namespaces");
	child_run(&end, NULL,
		  ARGS("unshare", "-m", "sh", "-c",
		       "mount -t tmpfs -o ro tmpfs /mnt || exit 77;"
		       "\"$0\" run -o /mnt/profile.json -- echo it ran",
		       BPFPROFIL_BIN));
	cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
	cr_expect_eq(end.out_len, 0, "COMMAND ran");
	cr_expect_not_null(strstr(end.err, "/mnt"), "%s", end.err);
	child_end_free(&end);
}
