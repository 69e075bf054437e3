/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYS_PROFIL_H
#define BPFPROFIL_SYS_PROFIL_H

/*
 * <sys/profil.h> where the C library has none, as musl: for programs that include it by the name it
 * has everywhere else, compiled with -I.../include/bpfprofil too. With glibc it is glibc's own.
 */
#ifdef __GNUC__
#pragma GCC system_header
#endif

#include <features.h>

#ifdef __GLIBC__
#include_next <sys/profil.h>
#else
#include <bpfprofil/profil.h>
#endif

#endif
