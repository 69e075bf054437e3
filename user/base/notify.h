/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOTIFY_H
#define BPFPROFIL_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_READY "READY=1"
#define NOTIFY_WATCHDOG "WATCHDOG=1"

/*
 * Does what sd_notify(3) does without its library: tells systemd the state if it started us and
 * wants to know.
 */
void notify(const char *state);

struct watchdog {
	int period_ms; /* -1: no watchdog is waiting */
	uint64_t last_ns; /* when the last notification was sent */
};

/* As sd_watchdog_enabled(3); notifications are sent twice in the time that it gives. */
void watchdog_init(struct watchdog *watchdog);

/*
 * Sets *due if a notification must be sent now. Returns the ms until the next one; -1: there is
 * none.
 */
int watchdog_feed(struct watchdog *watchdog, bool *due);

#endif
