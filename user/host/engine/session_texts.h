/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_TEXTS_H
#define BPFPROFIL_SESSION_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_node;
struct error;
struct jit_code;
struct session;
struct space;
struct space_info;

/*
 * The numbers of texts. Each text gets one when it is announced, and with --callers also its table
 * of rules. session_age_texts() runs in each swap, while the closed half is mapped.
 */
uint32_t session_max_texts(const struct session *session);
void session_size_texts(struct session *session);
int session_bind_texts(struct session *session, struct error *err);
void session_free_texts(struct session *session);
void session_new_number(struct session *session, const struct space *space);
int session_read_texts(struct session *session); /* -ENOMEM */
void session_age_texts(struct session *session, const struct table_node *nodes, uint32_t nr);
bool session_texts_are_short(const struct session *session);

/*
 * Other code is in these places now, perhaps since late_ns ago. If they have ticks, later ticks are
 * counted apart.
 */
void session_replace_code(struct session *session, struct space_info *info, struct jit_code *codes,
			  size_t nr, uint64_t late_ns);

#endif
