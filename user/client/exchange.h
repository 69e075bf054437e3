/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_EXCHANGE_H
#define BPFPROFIL_CLIENT_EXCHANGE_H

#include "shared/call_protocol.h"

/*
 * Sends a request to the server that listens on path, and receives its reply. path is a file, or
 * with a leading '@' an abstract name; if that begins with "bpfprofil-", root or this user must be
 * listening. entries are the request's nr_entries; only the kernel reads them.
 *
 * Returns 0 if there is a reply, whatever it says, else -errno: -EFAULT for the entries, -ETIMEDOUT
 * for a server that does not answer, -EPROTO for a malformed reply, and errors of connect().
 */
int client_exchange(const char *path, const struct call_request *request,
		    const struct call_entry *entries, struct call_reply *reply);

#endif
