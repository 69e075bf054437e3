/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_EXPORT_H
#define BPFPROFIL_CLIENT_EXPORT_H

/*
 * Everything else is built with -fvisibility=hidden. The linker's map must list exported names too.
 */
#define EXPORT __attribute__((visibility("default")))

#endif
