/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOTIFY_H
#define BPFPROFIL_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_READY "READY=1"
#define NOTIFY_WATCHDOG "WATCHDOG=1"

/*
 * Replaces sd_notify(3) without its library: reports a state to systemd if it started us and asked
 * for that.
 */
void notify(const char *state);

struct watchdog {
	int period_ms; /* -1: no watchdog is waiting */
	uint64_t last_ns; /* when the last notification was sent */
};

/* As sd_watchdog_enabled(3). Notifications are sent twice per period. */
void watchdog_init(struct watchdog *watchdog);

/*
 * Sets *due if a notification must be sent now. Returns the ms until the next one; -1: there is
 * none.
 */
int watchdog_feed(struct watchdog *watchdog, bool *due);

#endif
