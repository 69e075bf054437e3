/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRESS_H
#define BPFPROFIL_PROGRESS_H

#include <stdbool.h>

#include "engine/session.h"

/* The line on a terminal while a session runs. Without a terminal nothing wakes up for it. */
struct progress {
	struct session *session;
	bool shown;
	unsigned int updates;
	char hottest[64];
};

void progress_begin(struct progress *progress, struct session *session, bool wanted);

/* Milliseconds to the next update, -1 for none: poll's timeout. */
int progress_timeout(const struct progress *progress);

void progress_update(struct progress *progress, bool paused);

/* Clears the line. */
void progress_end(struct progress *progress);

#endif
