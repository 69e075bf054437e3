/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_ANNOUNCED_H
#define BPFPROFIL_SESSION_ANNOUNCED_H

struct session;
struct space;
struct split_name;

/*
 * The kernel's map of the files, processes and cgroups that were announced. Both functions have the
 * programs announce a space again: session_announce_again() at the next tick in a file, whichever
 * process that falls in; session_forget_announced() as if it had never been announced.
 */
void session_announce_again(struct session *session, const struct space *space);
void session_forget_announced(struct session *session, const struct space *space);

/* Decides whether the ticks of a cgroup are wanted, unless that was decided before. */
void session_classify(struct session *session, struct split_name *name);

#endif
