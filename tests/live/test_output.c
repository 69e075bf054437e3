// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Where the profile goes, who owns it, and what is there if it cannot be written. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

TestSuite(live_output, .init = need_root, .timeout = 60);

/*
 * The old FILE is unchanged, no other file is left, and the exit status shows the failure; what was
 * counted is kept where there is room.
 */
Test(live_output, disk_full)
{
	struct child_end end;

	NEED(have_mounts(), "no mount namespaces");
	child_run(&end, NULL,
		  ARGS("unshare", "-m", "sh", "-c",
		       "mount -t tmpfs -o size=16k tmpfs /mnt || exit 77; cd /mnt;"
		       "echo old > p.json; head -c 20000 /dev/zero > filler 2>/dev/null;"
		       "mkdir /tmp/bpfprofil-full-$$; export TMPDIR=/tmp/bpfprofil-full-$$;"
		       "\"$0\" run -q -o p.json -- \"$1\" 2000; echo exit $?; cat p.json; ls -A;"
		       "\"$0\" report $TMPDIR/bpfprofil-*.json | grep -c alpha; rm -r $TMPDIR",
		       BPFPROFIL_BIN, WORKLOAD("three")));
	cr_expect_str_eq(end.out, "exit 1\nold\nfiller\np.json\n1\n");
	cr_expect(strstr(end.err, "; the profile is kept as /tmp/bpfprofil-full-"), "%s", end.err);
	cr_expect_eq(strncmp(end.err, "bpfprofil: ", 11), 0, "%s", end.err);
	cr_expect_not_null(strstr(end.err, "No space left"), "%s", end.err);
	child_end_free(&end);
}

/* An old profile is replaced as a whole; a reader of the old one continues to read that. */
LIVE_TEST(live_output, replaces_the_old_file)
{
	char line[16] = "";
	FILE *old;

	old = fopen(live->profile, "w+e");
	cr_assert_not_null(old);
	fputs("old\n", old);
	fflush(old);
	live_run(live, ARGS("-q"), ARGS(WORKLOAD("three"), "500"));
	rewind(old);
	cr_assert_not_null(fgets(line, sizeof(line), old));
	cr_expect_str_eq(line, "old\n");
	fclose(old);
}

/* The previous profile is kept too, but no older ones. */
LIVE_TEST(live_output, keeps_the_old_file)
{
	struct stat first, second, old;
	char name[sizeof(live->profile) + 4];

	snprintf(name, sizeof(name), "%s.old", live->profile);
	live_run(live, ARGS("-q"), ARGS(WORKLOAD("three"), "500"));
	cr_assert_eq(stat(live->profile, &first), 0);
	cr_expect_neq(access(name, F_OK), 0, "an old file of the first run");
	live_run(live, ARGS("-q"), ARGS(WORKLOAD("three"), "500"));
	cr_assert_eq(stat(live->profile, &second), 0);
	cr_assert_eq(stat(name, &old), 0);
	cr_expect_eq(old.st_ino, first.st_ino);
	live_run(live, ARGS("-q"), ARGS(WORKLOAD("three"), "500"));
	cr_assert_eq(stat(name, &old), 0);
	cr_expect_eq(old.st_ino, second.st_ino);
}

/* What COMMAND writes does not mix with the profile. */
Test(live_output, to_stdout_beside_command)
{
	struct json_object *doc;
	struct child_end end;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "run", FAST, "-q", "-o", "-", "--", "sh", "-c",
		       "echo hello; \"$0\" 2000", WORKLOAD("three")));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_expect_str_eq(end.err, "hello\n");
	doc = doc_parse(end.out);
	doc_assert_sound(doc);
	json_object_put(doc);
	child_end_free(&end);
}

Test(live_output, to_stdout)
{
	struct json_object *doc;
	struct child_end end;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "run", FAST, "-o", "-", "--", WORKLOAD("three"), "3000"));
	cr_assert_eq(end.status, 0, "%s", end.err);
	doc = doc_parse(end.out);
	doc_assert_sound(doc);
	cr_expect_gt(doc_function(doc, "alpha", NULL), 0);
	json_object_put(doc);
	child_end_free(&end);
}

LIVE_TEST(live_output, default_name)
{
	struct child_end end;

	child_run(&end, NULL,
		  ARGS("sh", "-c", "cd \"$0\" && \"$1\" run -q true && ls -A", live->dir,
		       BPFPROFIL_BIN));
	cr_expect_str_eq(end.out, "bpfprofil.json\n", "%s%s", end.out, end.err);
	child_end_free(&end);
}

LIVE_TEST(live_output, compressed)
{
	struct child_end end;
	struct json_object *doc;
	const char *file;

	file = live_path(live, "p.json.gz");
	child_do(ARGS(BPFPROFIL_BIN, "run", "-q", "-o", file, "--", WORKLOAD("three"), "1000"));
	child_run(&end, NULL, ARGS("gzip", "-dc", file));
	cr_assert_eq(end.status, 0, "%s", end.err);
	doc = doc_parse(end.out);
	doc_assert_sound(doc);
	json_object_put(doc);
	child_end_free(&end);
}

/* %h is the host's name, %% a percent sign, %p a number; the form of %t is not checked here. */
LIVE_TEST(live_output, name_expands)
{
	char host[65] = "", wanted[128], got[128];
	struct child_end end;
	int pid = 0;

	gethostname(host, sizeof(host) - 1);
	child_do(ARGS(BPFPROFIL_BIN, "run", "-q", "-o", live_path(live, "%h.%p.json"), "true"));
	child_run(&end, NULL, ARGS("ls", live->dir));
	snprintf(wanted, sizeof(wanted), "%s.%%d.json", host);
	cr_assert_eq(sscanf(end.out, wanted, &pid), 1, "%s", end.out);
	snprintf(got, sizeof(got), "%s.%d.json\n", host, pid);
	cr_expect_str_eq(end.out, got);
	child_end_free(&end);
}

/* Under sudo the file belongs to the invoking user. */
LIVE_TEST(live_output, belongs_to_the_invoking_user)
{
	struct child_end end;
	struct stat st;

	child_run(&end, NULL,
		  ARGS("env", "SUDO_UID=65534", "SUDO_GID=65533", BPFPROFIL_BIN, "run", "-q", "-o",
		       live->profile, "true"));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert_eq(stat(live->profile, &st), 0);
	cr_expect_eq(st.st_uid, 65534);
	cr_expect_eq(st.st_gid, 65533);
	child_end_free(&end);
}

/* Removes thousands separators and spaces, so that a figure can be searched for. */
static void only_figures(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != ',' && *text != '\'')
			*to++ = *text;
	}
	*to = '\0';
}

/* The exit message and `report` have the figures of the file. */
LIVE_TEST(live_output, figures_stand_everywhere)
{
	char total[32], alpha[32];
	struct child_end report;

	live_run(live, ARGS(FAST), ARGS(WORKLOAD("three"), "5000"));
	snprintf(total, sizeof(total), "%lu", doc_number(live->doc, "ticks.total"));
	snprintf(alpha, sizeof(alpha), "%lu", doc_function(live->doc, "alpha", NULL));
	only_figures(live->end.err);
	cr_expect_not_null(strstr(live->end.err, total), "no %s in:\n%s", total, live->end.err);
	cr_expect_not_null(strstr(live->end.err, "alpha"), "%s", live->end.err);
	cr_expect_not_null(strstr(live->end.err, live->profile), "%s", live->end.err);
	child_run(&report, NULL, ARGS(BPFPROFIL_BIN, "report", live->profile));
	cr_expect_eq(report.status, 0, "%s", report.err);
	only_figures(report.out);
	cr_expect_not_null(strstr(report.out, total), "no %s in:\n%s", total, report.out);
	cr_expect_not_null(strstr(report.out, alpha), "no %s in:\n%s", alpha, report.out);
	child_end_free(&report);
}
