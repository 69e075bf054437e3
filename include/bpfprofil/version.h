/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VERSION_H
#define BPFPROFIL_VERSION_H

/* The only place of the version. The Makefile, --version and profiles derive it from here. */
#define BPFPROFIL_VERSION "0.1.0"

#endif
