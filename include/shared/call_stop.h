/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_STOP_H
#define BPFPROFIL_CALL_STOP_H

/* Why counting ended. The numbers are those of bpfprofil_status(). */
enum call_stop {
	CALL_STOP_NONE,
	CALL_STOP_ASKED, /* by a call */
	CALL_STOP_LIMIT, /* a counter reached the dialect's limit */
	CALL_STOP_FULL, /* pcsample: no room left */
	CALL_STOP_FAULT, /* the buffer cannot be written */
};

#endif
