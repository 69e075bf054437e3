// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cfi_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"

enum { NONE, EH, DEBUG, NAMES, SECTIONS };

/* An instruction in as many bytes as they have on arm64. */
static const uint32_t nops_x86_64 = 0x90909090, nop_aarch64 = 0xd503201f;

static const char names[] = "\0.eh_frame\0.debug_frame\0.names";

struct cfi_file_head {
	Elf64_Ehdr elf;
	Elf64_Phdr text;
	Elf64_Shdr sections[SECTIONS];
	char names[sizeof(names)];
};

static const struct cfi_file_head template = {
	.elf = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			      EV_CURRENT },
		 .e_type = ET_DYN,
		 .e_version = EV_CURRENT,
		 .e_phoff = offsetof(struct cfi_file_head, text),
		 .e_shoff = offsetof(struct cfi_file_head, sections),
		 .e_ehsize = sizeof(Elf64_Ehdr),
		 .e_phentsize = sizeof(Elf64_Phdr),
		 .e_phnum = 1,
		 .e_shentsize = sizeof(Elf64_Shdr),
		 .e_shnum = SECTIONS,
		 .e_shstrndx = NAMES },
	.text = { .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = CFI_FILE_TEXT,
		  .p_vaddr = CFI_FILE_ADDRESS,
		  .p_filesz = CFI_FILE_TEXT_SIZE,
		  .p_memsz = CFI_FILE_TEXT_SIZE },
	.sections = { [EH] = { .sh_name = 1,
			       .sh_type = SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC,
			       .sh_addr = CFI_FILE_EH_ADDRESS,
			       .sh_addralign = 1 },
		      [DEBUG] = { .sh_name = sizeof("\0.eh_frame"),
				  .sh_type = SHT_PROGBITS,
				  .sh_addralign = 1 },
		      [NAMES] = { .sh_name = sizeof("\0.eh_frame\0.debug_frame"),
				  .sh_type = SHT_STRTAB,
				  .sh_offset = offsetof(struct cfi_file_head, names),
				  .sh_size = sizeof(names),
				  .sh_addralign = 1 } },
};

static void add(uint8_t *file, size_t *size, int section, struct cfi_bytes bytes)
{
	struct cfi_file_head *head = (struct cfi_file_head *)file;

	head->sections[section].sh_offset = *size;
	head->sections[section].sh_size = bytes.size;
	if (bytes.size)
		memcpy(file + *size, bytes.bytes, bytes.size);
	*size += bytes.size;
}

uint8_t *cfi_file(struct cfi_bytes eh, struct cfi_bytes debug, size_t *size)
{
	const size_t head = CFI_FILE_TEXT + CFI_FILE_TEXT_BYTES;
	const uint32_t nop = cfi_machine->elf == EM_AARCH64 ? nop_aarch64 : nops_x86_64;
	uint8_t *file = calloc(1, head + eh.size + debug.size);
	size_t i;

	if (!file)
		abort();
	memcpy(file, &template, sizeof(template));
	memcpy(((struct cfi_file_head *)file)->names, names, sizeof(names));
	((struct cfi_file_head *)file)->elf.e_machine = cfi_machine->elf;
	for (i = 0; i < CFI_FILE_TEXT_BYTES; i += sizeof(nop))
		memcpy(file + CFI_FILE_TEXT + i, &nop, sizeof(nop));
	*size = head;
	add(file, size, EH, eh);
	add(file, size, DEBUG, debug);
	return file;
}
