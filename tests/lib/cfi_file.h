/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef CFI_FILE_H
#define CFI_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The smallest ELF files with call-frame information. Of their text only the beginning is in them: nops. */
enum {
	CFI_FILE_TEXT = 0x1000, /* offset of the text */
	CFI_FILE_TEXT_BYTES = 0x1000, /* of it, that are in the file */
	CFI_FILE_TEXT_SIZE = 8 << 20,
	CFI_FILE_ADDRESS = 0x401000, /* of the text */
	CFI_FILE_EH_ADDRESS = 0x500000, /* of .eh_frame */
};

struct cfi_bytes {
	const void *bytes;
	size_t size;
};

/* For the processor of cfi_machine. The caller frees the file. */
uint8_t *cfi_file(struct cfi_bytes eh, struct cfi_bytes debug, size_t *size);

#endif
