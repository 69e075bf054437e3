/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_EXCHANGE_H
#define BPFPROFIL_CLIENT_EXCHANGE_H

#include "shared/call_protocol.h"

/*
 * A request to the server that listens on path, and its reply: a file, or with a leading '@' a name
 * that is none; where that begins with "bpfprofil-", root or this user must listen. entries: the request's nr_entries of them, read by the kernel alone.
 *
 * 0 when there is a reply, whatever it says, else -errno: -EFAULT for the entries, -ETIMEDOUT for a
 * server that stays silent, -EPROTO for one that talks nonsense, and what connect() says.
 */
int client_exchange(const char *path, const struct call_request *request,
		    const struct call_entry *entries, struct call_reply *reply);

#endif
