// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Commands from a FIFO, whoever writes to it. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/record/control.h"
#include "test_file_fixture.h"

static void begin(void)
{
	folder_enter();
	cr_redirect_stderr();
}

TestSuite(control, .init = begin, .fini = folder_remove);

/* How many commands there are; a writer never waits, because the reader has the FIFO open. */
static unsigned int commands(struct control *control, const char *line, unsigned int times)
{
	int fd = open("fifo", O_WRONLY | O_CLOEXEC);
	unsigned int found = 0, reads, i;

	for (i = 0; i < times; i++) {
		cr_assert_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
		reads = CONTROL_READS;
		while (control_read(control, &reads) != CONTROL_NONE)
			found++;
	}
	close(fd);
	return found;
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text++)
		nr++;
	return nr;
}

Test(control, flood_of_other_lines)
{
	struct control control;
	struct error err;
	char text[8192];
	size_t size;
	FILE *said;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	cr_assert_eq(control_open(&control, "fifo", &err), 0, "%s", err.text);
	cr_expect_eq(commands(&control, "nothing\n", 5000), 0);
	cr_expect_eq(commands(&control, "start\nwhat\nstop\n", 2), 4);
	control_close(&control);
	fflush(stderr);
	said = cr_get_redirected_stderr();
	size = fread(text, 1, sizeof(text) - 1, said);
	text[size] = '\0';
	cr_expect_eq(count(text, "'nothing': no such command"), CONTROL_REFUSALS, "%s", text);
	cr_expect_not_null(strstr(text, ": 4992 more lines were no command"), "%s", text);
}
