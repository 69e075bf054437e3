/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_SETTINGS_H
#define BPFPROFIL_CLIENT_SETTINGS_H

#include <stdint.h>

/*
 * What the environment says, as it was when the program started: getenv() is no call for a signal
 * handler, which may have interrupted a setenv(). A set-user-ID program's says nothing but the
 * dialect.
 */
struct settings {
	const char *socket; /* NULL: not set */
	const char *server; /* what is run as a private server */
	int dialect; /* enum dialect, or -EINVAL: no such name */
	uint32_t flags; /* CALL_USER_ONLY */
	int verbose;
	int secure; /* set-user-ID and the like */
	int read;
};

/* The constructor reads it; a call of an earlier constructor comes here first. */
const struct settings *client_settings(void);
void client_settings_read(void);

/* The dialect of the process or -EINVAL; setting takes -1 for the environment's. */
int client_dialect(void);
void client_dialect_set(int dialect);

/* -EINVAL: no such name. NULL: no such number. */
int client_dialect_find(const char *name);
const char *client_dialect_name(uint32_t dialect);

#endif
