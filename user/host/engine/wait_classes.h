/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAIT_CLASSES_H
#define BPFPROFIL_WAIT_CLASSES_H

#include <stddef.h>
#include <stdint.h>

enum { WAIT_CLASS_BYTES = 32 };

/*
 * Writes the name of a class of waits (enum wait_state without WAIT_IO) into the text: that of a
 * system call, from the kernel's headers of the build, or a reason to wait. Returns the text.
 */
const char *wait_class_name(uint32_t state, char text[WAIT_CLASS_BYTES]);

#endif
