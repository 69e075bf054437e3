/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_SETTINGS_H
#define BPFPROFIL_CLIENT_SETTINGS_H

#include <stdint.h>

/*
 * The environment at the program's start. A signal handler must not call getenv(), because the
 * signal may have interrupted a setenv(). In a set-user-ID program only the dialect is read.
 */
struct settings {
	const char *socket; /* NULL: not set */
	const char *server; /* the program to run as a private server */
	int dialect; /* enum dialect, or -EINVAL: no such name */
	uint32_t flags; /* CALL_USER_ONLY */
	int verbose; /* whether to report that libc counts; -1: once */
	int secure; /* set-user-ID or the like */
	int read;
};

/* The constructor reads the settings. A call from an earlier constructor reads them here. */
const struct settings *client_settings(void);
void client_settings_read(void);

/* The dialect of the process, or -EINVAL. Setting -1 restores that of the environment. */
int client_dialect(void);
void client_dialect_set(int dialect);

/* -EINVAL: no such name. NULL: no such number. */
int client_dialect_find(const char *name);
const char *client_dialect_name(uint32_t dialect);

#endif
