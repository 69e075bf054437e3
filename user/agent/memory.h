/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MEMORY_H
#define BPFPROFIL_MEMORY_H

/*
 * Makes the C library keep little of what is freed, for the agent is left on each host, and needs
 * most of its memory only while a profile is made or sent. Call it before there is another thread.
 */
void memory_keep_little(void);

#endif
