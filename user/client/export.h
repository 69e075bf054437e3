/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_EXPORT_H
#define BPFPROFIL_CLIENT_EXPORT_H

/* All else is built with -fvisibility=hidden. Exported names must also be listed in a map. */
#define EXPORT __attribute__((visibility("default")))

#endif
