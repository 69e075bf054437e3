// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The libraries as they are installed, with programs of other languages, linkers and C libraries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "client.h"
#include "need.h"

static void assert_caller(struct fixture *fixture, const char *name)
{
	char path[256];
	struct child_end end;

	snprintf(path, sizeof(path), CLIENT_PROGRAMS "/%s", name);
	fixture->shared->requests = 0;
	child_run(&end, NULL, ARGS(path));
	cr_expect_str_eq(end.out, "good\n", "%s: %s%s", name, end.out, end.err);
	cr_expect_eq(fixture->shared->requests, 5, "%s asked %u times", name,
		     fixture->shared->requests);
	cr_expect_eq(fake_request(&fixture->server)->dialect, (uint32_t)DIALECT_IRIX);
	child_end_free(&end);
}

static void begin(struct fixture *fixture)
{
	fixture_begin(fixture);
	fixture->shared->reply.state.on = CALL_PROFIL;
	fixture->shared->reply.state.period_ns = 10000000;
	setenv("LD_LIBRARY_PATH", CLIENT_LIBDIR, 1);
}

FIXTURE_TEST(fixture, begin, client_programs, c_and_cxx)
{
	assert_caller(fixture, "caller_c89");
	assert_caller(fixture, "caller_c99");
	assert_caller(fixture, "caller_c11");
	assert_caller(fixture, "caller_cxx98");
	assert_caller(fixture, "caller_cxx17");
}

FIXTURE_TEST(fixture, begin, client_programs, static_glibc)
{
	assert_caller(fixture, "caller_static");
}

FIXTURE_TEST(fixture, begin, client_programs, musl)
{
	NEED(!access(CLIENT_PROGRAMS "/caller_musl", X_OK),
	     "a musl to build with for this processor");
	assert_caller(fixture, "caller_musl");
	assert_caller(fixture, "caller_musl_static");
	setenv("LD_LIBRARY_PATH", CLIENT_PROGRAMS, 1);
	assert_caller(fixture, "caller_musl_so");
}

/* A program linked with libbpfprofil may also run with the drop-in; both share one dialect. */
FIXTURE_TEST(fixture, begin, client_programs, preloaded)
{
	setenv("LD_PRELOAD", CLIENT_PRELOAD, 1);
	assert_caller(fixture, "caller_c99");
	unsetenv("LD_PRELOAD");
}

static void assert_says(const char *expected, const char *of_libc)
{
	struct child_end end;

	child_run(&end, NULL, ARGS(CLIENT_PROGRAMS "/fallback"));
	cr_expect_eq(end.status, 0);
	cr_expect_str_eq(end.out, expected, "%s%s", end.out, end.err);
	cr_expect_str_eq(end.err, of_libc);
	child_end_free(&end);
}

/* libc's timer runs if, and only if, there is no server. */
FIXTURE_TEST(fixture, begin, client_programs, drop_in_and_libc)
{
	setenv("LD_PRELOAD", CLIENT_PRELOAD, 1);
	assert_says("profil quiet\nsprofil quiet\nprofil quiet\noff quiet\n"
		    "profil quiet\nstarved on\noff quiet\n",
		    "");
	cr_assert_eq(fixture->shared->requests, 8);
	fake_kill(&fixture->server);
	assert_says("profil timer\nsprofil timer\nprofil timer\noff quiet\n"
		    "profil timer\nstarved off\noff quiet\n",
		    "bpfprofil: profil: no server: Connection refused; libc counts\n");
	setenv("BPFPROFIL_VERBOSE", "0", 1);
	assert_says("profil timer\nsprofil timer\nprofil timer\noff quiet\n"
		    "profil timer\nstarved off\noff quiet\n",
		    "");
	unsetenv("BPFPROFIL_VERBOSE");
	unsetenv("LD_PRELOAD");
}

/* The caller sets the environment of a set-user-ID program, and must not choose its server. */
FIXTURE_TEST(fixture, begin, client_programs, secure)
{
	struct child_end end;

	NEED_ROOT();
	child_run(&end, NULL,
		  ARGS("sh", "-c",
		       "d=$(mktemp -d) && chmod 755 $d && cp " CLIENT_PROGRAMS
		       "/caller_static $d/suid "
		       "&& chown 65534 $d/suid && chmod 4755 $d/suid && $d/suid; rm -r $d"));
	cr_assert_eq(fixture->shared->requests, 0, "%s%s", end.out, end.err);
	cr_assert_not_null(strstr(end.out, "bad"), "%s%s", end.out, end.err);
	child_end_free(&end);
}
