/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYS_PROFIL_H
#define BPFPROFIL_SYS_PROFIL_H

/*
 * <sys/profil.h> for C libraries that have none, such as musl. Programs can include it by the usual
 * name if they are compiled with -I.../include/bpfprofil too. With glibc it includes glibc's own
 * header.
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
