/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CFI_H
#define BPFPROFIL_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/unwind.h"

/*
 * Call-frame information as DWARF 5 (6.4) and the Linux Standard Base (.eh_frame) have it. libdw
 * reads it too, but runs a function's instructions from its start for each pc, which takes 0.5 to 2
 * us. A table needs all rows of a file, and running the instructions once gives those of a function.
 *
 * The bytes may be any, and their owner may change them meanwhile: none is read twice and believed
 * the second time.
 */
struct cfi_cursor {
	const unsigned char *at; /* NULL: no bytes at all */
	const unsigned char *end;
	bool bad; /* it was to go beyond the end, or what it read is malformed; all numbers are 0 */
};

/* Here, because a call for each byte would take a quarter of the time. */
static inline uint64_t cfi_number(struct cfi_cursor *cursor, unsigned int bytes)
{
	uint64_t value = 0;

	if (cursor->bad || (size_t)(cursor->end - cursor->at) < bytes) {
		cursor->bad = true;
		return 0;
	}
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	return value;
}

uint64_t cfi_leb(struct cfi_cursor *cursor, bool is_signed);

/* Where a register of the caller is. */
enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT_CFA, /* stored at CFA + offset */
	CFI_EXPRESSION, /* stored where the expression says */
	CFI_REGISTER, /* in another register, whose number is the offset */
	CFI_ELSEWHERE,
};

struct cfi_place {
	enum cfi_how how;
	int64_t offset;
	struct cfi_cursor expression;
};

/* What holds at a pc, for the registers that are followed. */
struct cfi_frame {
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_cursor cfa_expression; /* counts before the two, unless its `at` is NULL */
	struct cfi_place fp;
	struct cfi_place ra;
};

enum {
	CFI_CIES = 256, /* that are kept; functions with the same one follow each other */
	CFI_REMEMBERED_MAX = 16, /* DW_CFA_remember_state in each other; compilers write one */
};

/* What several functions have in common (common information entry). */
struct cfi_cie {
	uint64_t key; /* where it is in the section, + 1; 0: nothing was read yet */
	bool usable;
	bool is_signal;
	bool has_augmentation;
	uint8_t encoding; /* of addresses: DW_EH_PE_... */
	uint64_t code_factor;
	uint64_t data_factor;
	uint64_t ra;
	struct cfi_frame initial;
};

struct cfi_section {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	bool is_eh;
	size_t next;
	uint64_t budget; /* so many bytes may still be read; a CIE counts each time that it is read */
	bool is_exhausted;
	size_t malformed; /* entries that were left out, and nobody knows what they describe */
	struct cfi_cie cies[CFI_CIES];
};

/* A function's description (FDE); valid until the next one is asked for. */
struct cfi_function {
	const struct cfi_cie *cie;
	uint64_t address;
	uint64_t size;
	struct cfi_cursor program;
};

/* The next function; false: there is none, or the budget is exhausted. */
bool cfi_next(struct cfi_section *section, struct cfi_function *result);

/* Instructions while they are run. */
struct cfi_run {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	bool is_function; /* or those of the CIE itself */
	struct cfi_cursor program;
	uint64_t address;
	uint64_t pc; /* from the address on, as `end` and `row` */
	uint64_t end;
	uint64_t row; /* the frame holds from here to pc */
	struct cfi_frame frame;
	struct cfi_place ignored; /* of registers that are not followed */
	struct cfi_frame remembered[CFI_REMEMBERED_MAX];
	unsigned int nr_remembered;
};

void cfi_run_begin(struct cfi_run *run, const struct cfi_section *section,
		   const struct cfi_function *function);

/* The next row; false: there is none, or, if program.bad, none of them is to be believed. */
bool cfi_run_next(struct cfi_run *run);

/* The instructions of a CIE, which say what holds at the start of its functions. */
bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie,
		     struct cfi_cursor program);

enum cfi_kind {
	CFI_PLAIN,
	CFI_SIGNAL, /* a signal handler returns to it */
	CFI_FIRST, /* it has no caller */
	CFI_GO, /* one of Go's, which have frame pointers */
};

/* What lies between two functions. */
enum cfi_gap {
	CFI_GAP_PADDING, /* nops and traps, which compilers and linkers align functions with */
	CFI_GAP_STILL, /* instructions that leave the stack as it is and call nothing */
	CFI_GAP_CODE, /* others, perhaps */
};

/* What depends on the processor, each in a file of its own: unwind_x86_64.c and unwind_aarch64.c. */
struct cfi_machine {
	uint16_t elf; /* e_machine of files for it */
	uint64_t fp; /* the number of the frame pointer */
	void (*rule)(const struct cfi_frame *frame, enum cfi_kind kind, struct unwind_rule *result);
	/* What a function is by its code, because its description does not say that. */
	enum cfi_kind (*kind_of_code)(const unsigned char *bytes, size_t size, bool is_go);
	enum cfi_gap (*gap)(const unsigned char *bytes, size_t size);
};

extern const struct cfi_machine cfi_x86_64, cfi_aarch64;

/* This host's; tests read files of the other one too. */
extern const struct cfi_machine *cfi_machine;

/* The bits that an address of code has on this host. Those above them may sign a return address. */
uint64_t cfi_code_mask(void);

#endif
