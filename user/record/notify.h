/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOTIFY_H
#define BPFPROFIL_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_READY "READY=1"
#define NOTIFY_WATCHDOG "WATCHDOG=1"

/* sd_notify(3) without its library: what systemd is told that started us, if it wants to know. */
void notify(const char *state);

struct watchdog {
	int period_ms; /* -1: nobody waits for a sign of life */
	uint64_t last_ns; /* when the last one was sent */
};

/* sd_watchdog_enabled(3): twice in the time that is given. */
void watchdog_init(struct watchdog *watchdog);

/* Whether it is time to send one. How many ms there are until the next; -1: there is none. */
int watchdog_feed(struct watchdog *watchdog, bool *due);

#endif
