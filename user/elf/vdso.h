/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VDSO_H
#define BPFPROFIL_VDSO_H

#include <stddef.h>

/* The ELF image of this process's vdso, which all 64-bit processes share. NULL: there is none. */
const void *vdso_image(size_t *ret_size);

#endif
