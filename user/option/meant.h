/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MEANT_H
#define BPFPROFIL_MEANT_H

/*
 * What people type who know other tools: a hint that says what is meant here, or NULL. Such words
 * are not accepted, because each thing has one name.
 */
const char *meant_by_command(const char *typed);

/* Of an option without its dashes. A hint that begins with -- is right only if there is that one. */
const char *meant_by_option(const char *typed);

/* Of a value of the option. */
const char *meant_by_word(const char *option, const char *typed);

#endif
