// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "bpfprofil/profil.h"
#include "client/calls.h"
#include "client/settings.h"
#include "client/sys.h"

/* The numbers are passed from the server to the program unchanged. Therefore they must be equal. */
_Static_assert(BPFPROFIL_PROFIL == (int)CALL_PROFIL && BPFPROFIL_SPROFIL == (int)CALL_SPROFIL &&
		       BPFPROFIL_PCSAMPLE == (int)CALL_PCSAMPLE,
	       "on");
_Static_assert(BPFPROFIL_STOPPED_NOT == (int)CALL_STOP_NONE &&
		       BPFPROFIL_STOPPED_ASKED == (int)CALL_STOP_ASKED &&
		       BPFPROFIL_STOPPED_LIMIT == (int)CALL_STOP_LIMIT &&
		       BPFPROFIL_STOPPED_FULL == (int)CALL_STOP_FULL &&
		       BPFPROFIL_STOPPED_FAULT == (int)CALL_STOP_FAULT,
	       "stopped");

EXPORT int bpfprofil_dialect(const char *name)
{
	int dialect = name ? client_dialect_find(name) : DIALECT_CURRENT;

	if (name && dialect < 0) {
		errno = EINVAL;
		return -1;
	}
	client_dialect_set(dialect);
	return 0;
}

EXPORT int bpfprofil_sync(void)
{
	struct outcome outcome = client_ask(CALL_SYNC);

	return client_return(&outcome) < 0 ? -1 : 0;
}

static void fill_status(struct bpfprofil_status *status, const struct call_state *state)
{
	memset(status, 0, sizeof(*status));
	status->on = state->on;
	status->stopped = state->stopped;
	status->region = state->region;
	status->counter = state->counter;
	status->period_ns = state->period_ns;
	status->total = state->total;
	status->binned = state->binned;
	status->overflow = state->overflow;
	status->outside = state->outside;
	status->filtered = state->filtered;
	status->lost = state->lost;
	status->dialect = client_dialect_name(state->dialect);
}

EXPORT int bpfprofil_status(struct bpfprofil_status *status, size_t size)
{
	struct bpfprofil_status now;
	struct outcome outcome;
	int before = errno;
	size_t known = size < sizeof(now) ? size : sizeof(now);

	if (sys_writable(status, size)) {
		errno = EFAULT;
		return -1;
	}
	errno = before;
	outcome = client_ask(CALL_STATUS);
	if (client_return(&outcome) < 0)
		return -1;
	fill_status(&now, &outcome.state);
	memcpy(status, &now, known);
	memset((char *)status + known, 0, size - known);
	return 0;
}
