// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/control.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_file_fixture.h"

#define STRANGER 65534
#define COMMANDS (64 << 10)

static struct control control;
static struct error err;

static void setup(void)
{
	folder_enter();
	cr_assert_eq(mkfifo("fifo", 0600), 0);
}

static void teardown(void)
{
	control_close(&control);
	folder_remove();
}

TestSuite(control, .init = setup, .fini = teardown);

/* Commands of somebody who writes without pause are handled some at a time. */
Test(control, without_pause)
{
	unsigned int reads = CONTROL_READS, nr = 0;
	int left = 0;

	cr_assert_eq(control_open(&control, "fifo", &err), 0, "%s", err.text);
	while (write(control.fd, "start\n", 6) == 6)
		;
	while (control_read(&control, &reads) == CONTROL_START)
		nr++;
	cr_assert_eq(ioctl(control.fd, FIONREAD, &left), 0);
	cr_assert_gt(left, COMMANDS / 2);
	cr_assert_gt(nr, CONTROL_READS);
	/* Nothing is left over of what was read. */
	cr_assert_lt(control.length, strlen("start\n"));
	for (reads = CONTROL_READS; control_read(&control, &reads); reads = CONTROL_READS)
		nr++;
	cr_assert_gt(nr, COMMANDS / 8);
}

Test(control, of_another_user)
{
	if (geteuid()) {
		cr_skip_test("root alone can give a file away");
		return;
	}
	cr_assert_eq(chown("fifo", STRANGER, STRANGER), 0);
	cr_assert_eq(control_open(&control, "fifo", &err), -EPERM);
	cr_assert_str_eq(err.text, "--control: fifo: a fifo that another user made");
	/* The user who called us through sudo is trusted like ourselves. */
	setenv("SUDO_UID", "65534", 1);
	cr_assert_eq(control_open(&control, "fifo", &err), 0, "%s", err.text);
}

/* A fifo has one file under several names. */
Test(control, answers_in_the_same_fifo)
{
	cr_assert_eq(link("fifo", "other"), 0);
	cr_assert_eq(control_open(&control, "fifo,other", &err), -EINVAL);
	cr_assert_str_eq(err.text, "--control: FIFO and ANSWERS are one file");
	control_close(&control);
	cr_assert_eq(mkfifo("answers", 0600), 0);
	cr_assert_eq(control_open(&control, "fifo,answers", &err), 0, "%s", err.text);
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text++)
		nr++;
	return nr;
}

/* How many commands there are in so many writes of some lines. */
static unsigned int commands(const char *lines, unsigned int times)
{
	unsigned int found = 0, reads, i;

	for (i = 0; i < times; i++) {
		cr_assert_eq(write(control.fd, lines, strlen(lines)), (ssize_t)strlen(lines));
		reads = CONTROL_READS;
		while (control_read(&control, &reads) != CONTROL_NONE)
			found++;
	}
	return found;
}

/* Whoever writes other lines without end gets a bounded number of lines into a log. */
Test(control, flood_of_other_lines)
{
	char text[8192];
	size_t size;

	cr_redirect_stderr();
	cr_assert_eq(control_open(&control, "fifo", &err), 0, "%s", err.text);
	cr_expect_eq(commands("nothing\n", 5000), 0);
	cr_expect_eq(commands("start\nwhat\nstop\n", 2), 4);
	control_close(&control);
	control = CONTROL_CLOSED;
	fflush(stderr);
	size = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[size] = '\0';
	cr_expect_eq(count(text, "'nothing': no such command"), CONTROL_REFUSALS, "%s", text);
	cr_expect_not_null(strstr(text, ": 4992 more lines were no command"), "%s", text);
}
