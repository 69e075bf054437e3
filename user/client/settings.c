// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "shared/call_protocol.h"

#define NAME(id, name) name,
static const char dialects[][12] = { DIALECT_NAMES(NAME) };
#undef NAME

static struct settings settings;
static int chosen_dialect = -1;

int client_dialect_find(const char *name)
{
	int i;

	for (i = 0; i < DIALECT_COUNT; i++)
		if (!strcmp(name, dialects[i]))
			return i;
	return -EINVAL;
}

const char *client_dialect_name(uint32_t dialect)
{
	return dialect < DIALECT_COUNT ? dialects[dialect] : NULL;
}

/* Returns NULL for an empty variable too. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int is_set(const char *name)
{
	const char *value = variable(name);

	return value && strcmp(value, "0");
}

__attribute__((constructor)) void client_settings_read(void)
{
	const char *dialect = variable("BPFPROFIL_DIALECT");
	struct settings now = { .secure = getauxval(AT_SECURE) != 0, .server = BPFPROFIL_PATH };

	now.dialect = dialect ? client_dialect_find(dialect) : 0;
	now.flags = is_set("BPFPROFIL_USER_ONLY") ? CALL_USER_ONLY : 0;
	now.verbose = variable("BPFPROFIL_VERBOSE") ? is_set("BPFPROFIL_VERBOSE") : -1;
	if (!now.secure) {
		const char *server = variable("BPFPROFIL_SERVER");

		now.socket = variable(CALL_SOCKET_ENV);
		if (server)
			now.server = server;
	}
	now.read = 1;
	settings = now;
}

const struct settings *client_settings(void)
{
	if (!settings.read)
		client_settings_read();
	return &settings;
}

int client_dialect(void)
{
	int dialect = __atomic_load_n(&chosen_dialect, __ATOMIC_RELAXED);

	return dialect >= 0 ? dialect : client_settings()->dialect;
}

void client_dialect_set(int dialect)
{
	__atomic_store_n(&chosen_dialect, dialect, __ATOMIC_RELAXED);
}
