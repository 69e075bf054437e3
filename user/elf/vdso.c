// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "elf/vdso.h"

#include <link.h>
#include <sys/auxv.h>

const void *vdso_image(size_t *ret_size)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);

	/*
	 * The section headers come last in the image, so they give its size without the mapping's
	 * padding.
	 */
	if (image)
		*ret_size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	return image;
}
