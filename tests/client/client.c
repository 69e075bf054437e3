// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client/settings.h"

unsigned short test_counters[64];
struct prof test_region = { test_counters, sizeof(test_counters), 0x1000, 0x10000 };

int stop_profiling(void)
{
	int (*any)(unsigned short *, size_t, size_t, unsigned int) = profil;

	return any(NULL, 0, 0, 0);
}

size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void fixture_environment(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	client_settings_read();
}

void fixture_begin(struct fixture *fixture)
{
	fake_start(&fixture->server);
	fixture->shared = fixture->server.shared;
	fixture_environment("BPFPROFIL_DIALECT", NULL);
	fixture_environment("BPFPROFIL_USER_ONLY", NULL);
	fixture_environment("BPFPROFIL_SOCKET", fixture->server.path);
	fixture->descriptors = open_descriptors();
}

void fixture_end(struct fixture *fixture)
{
	cr_assert_eq(open_descriptors(), fixture->descriptors, "a descriptor was left open");
	fake_stop(&fixture->server);
}
