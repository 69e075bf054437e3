// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"

#define MS 1000000ULL

void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	cleanup_fd int fd = -1;

	if (!length || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

void watchdog_init(struct watchdog *watchdog)
{
	const char *pid = getenv("WATCHDOG_PID"), *period = getenv("WATCHDOG_USEC");
	long long us = period ? strtoll(period, NULL, 10) : 0;

	*watchdog = (struct watchdog){ .period_ms = -1, .last_ns = monotonic_ns() };
	if (us < 2000 || us / 2000 > INT32_MAX || (pid && strtol(pid, NULL, 10) != getpid()))
		return;
	watchdog->period_ms = (int)(us / 2000);
}

int watchdog_feed(struct watchdog *watchdog, bool *due)
{
	uint64_t now = monotonic_ns(), period = (uint64_t)watchdog->period_ms * MS;

	*due = false;
	if (watchdog->period_ms < 0)
		return -1;
	if (now - watchdog->last_ns >= period) {
		*due = true;
		watchdog->last_ns = now;
	}
	return (int)((watchdog->last_ns + period - now) / MS) + 1;
}
