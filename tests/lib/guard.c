// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

void guard_begin(struct guard *guard, void (*clean)(void *argument), void *argument)
{
	int ends[2];
	char nothing;

	/* Only the test holds the other end: programs that it starts do not inherit it. */
	cr_assert(!pipe2(ends, O_CLOEXEC), "pipe: %s", strerror(errno));
	guard->pid = fork();
	cr_assert(guard->pid >= 0, "fork: %s", strerror(errno));
	if (!guard->pid) {
		/* The guard must survive a signal to the test's process group. */
		setsid();
		close(ends[1]);
		while (read(ends[0], &nothing, 1) < 0 && errno == EINTR)
			;
		clean(argument);
		_exit(0);
	}
	close(ends[0]);
	guard->fd = ends[1];
}

void guard_end(struct guard *guard)
{
	close(guard->fd);
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
