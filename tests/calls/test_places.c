// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Programs in another environment than the server: other pids, another root, another user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"
#include "others.h"

CALLER_SUITE(calls_places);

#define OWN CALLS_PROGRAMS "/own"

static void assert_good(const char *const command[])
{
	struct child_end end;

	child_run(&end, NULL, command);
	cr_assert_eq(end.status, 0, "status %d: %s", end.status, end.err);
	child_end_free(&end);
}

static bool can(const char *const command[])
{
	struct child_end end;
	bool good;

	child_run(&end, NULL, command);
	good = end.status == 0;
	child_end_free(&end);
	return good;
}

/* In its namespace it is process 1, and its child 2. */
Test(calls_places, pid_namespace)
{
	NEED(can(ARGS("unshare", "-p", "-f", "true")), "no pid namespace can be made");
	assert_good(ARGS("unshare", "-p", "-f", OWN, "100", "3"));
	assert_good(ARGS("unshare", "-p", "-f", "--mount-proc", "sh", "-c",
			 "sleep 0.1 & " OWN " 100 3"));
}

/* As in a container: its own pids, mounts and root, with the socket mounted into it. */
Test(calls_places, container)
{
	char script[512];

	NEED(have_mounts(), "no mount namespace can be made");
	NEED(can(ARGS("unshare", "-p", "-f", "true")), "no pid namespace can be made");
	snprintf(script, sizeof(script),
		 "set -e; cd %s; mkdir root; mount -t tmpfs none root; cp %s root/own; "
		 "touch root/socket; mount --bind socket root/socket; "
		 "BPFPROFIL_SOCKET=/socket exec chroot root /own 100 3",
		 serve.dir, OWN);
	assert_good(ARGS("unshare", "-m", "-p", "-f", "sh", "-c", script));
}

/* Root inside, and nobody outside. */
Test(calls_places, user_namespace)
{
	NEED(can(ARGS("setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-U", "-r", "-p",
		      "-f", "true")),
	     "an unprivileged user cannot make a user namespace");
	assert_good(ARGS("setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-U", "-r",
			 "-p", "-f", others_copy(serve.dir, OWN), "100", "3"));
}

/* The server itself is in a pid namespace, with its clients. */
Test(calls_places, server_in_a_namespace)
{
	char script[512];

	NEED(can(ARGS("unshare", "-p", "-f", "true")), "no pid namespace can be made");
	snprintf(script, sizeof(script),
		 "%s serve --socket %s/inside & "
		 /* It listens. */
		 "until grep -q ' 00010000 .* %s/inside$' /proc/net/unix; do sleep 0.05; done; "
		 "BPFPROFIL_SOCKET=%s/inside %s 100 3",
		 BPFPROFIL_BIN, serve.dir, serve.dir, serve.dir, OWN);
	assert_good(
		ARGS("unshare", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", script));
}
