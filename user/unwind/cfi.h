/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CFI_H
#define BPFPROFIL_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/unwind.h"

/*
 * Reads call-frame information of DWARF 5 (6.4) and of the Linux Standard Base (.eh_frame); see
 * cfi.c. libdw runs a function's instructions from its start for each pc, which takes 0.5 to 2 us.
 * A table needs all rows of a file, and running the instructions once gives all rows of a function.
 *
 * The bytes may be anything, and their owner may change them meanwhile. No byte is checked in one
 * read and used from another.
 */
struct cfi_cursor {
	const unsigned char *at; /* NULL: there are no bytes */
	const unsigned char *end;
	bool bad; /* malformed, or too short; all numbers are 0 from then on */
};

/* Inline, because a call for each byte would take a quarter of the time. */
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

/* Where the caller's value of a register is. */
enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT_CFA, /* stored at CFA + offset */
	CFI_EXPRESSION, /* stored at the expression's address */
	CFI_REGISTER, /* in another register; `offset` is its number */
	CFI_VALUE, /* computed and not stored, which is not supported */
};

struct cfi_place {
	enum cfi_how how;
	int64_t offset;
	struct cfi_cursor expression;
};

/* The state at a pc, for the tracked registers. */
struct cfi_frame {
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_cursor cfa_expression; /* overrides the two, unless `at` is NULL */
	struct cfi_place fp;
	struct cfi_place ra;
};

enum {
	CFI_CIES = 256, /* in the cache; functions with the same CIE follow each other */
	CFI_REMEMBERED_MAX = 16, /* nested DW_CFA_remember_state; compilers write one */
};

/* Common information entry: the part that functions share. */
struct cfi_cie {
	uint64_t at; /* its offset in the section */
	bool is_used; /* of the cache's element */
	bool usable;
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
	uint64_t budget; /* bytes that may still be read; a CIE counts each time */
	bool is_exhausted;
	size_t malformed; /* entries that were skipped; their functions are unknown */
	struct cfi_cie cies[CFI_CIES];
};

/* Frame description entry: a function. It is valid until the next call. */
struct cfi_function {
	const struct cfi_cie *cie;
	uint64_t address;
	uint64_t size;
	struct cfi_cursor program;
};

/* Reads the next function; false: there is none, or the budget is exhausted. */
bool cfi_next(struct cfi_section *section, struct cfi_function *result);

/* Running instructions. */
struct cfi_run {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	bool is_function; /* false: those of the CIE */
	struct cfi_cursor program;
	uint64_t address;
	uint64_t pc; /* relative to address, like end and row */
	uint64_t end;
	uint64_t row; /* the frame applies from here to pc */
	struct cfi_frame frame;
	struct cfi_place ignored; /* for registers that are not tracked */
	struct cfi_frame remembered[CFI_REMEMBERED_MAX];
	unsigned int nr_remembered;
};

void cfi_run_begin(struct cfi_run *run, const struct cfi_section *section,
		   const struct cfi_function *function);

/* Runs to the next row; false: there is none, or, if program.bad, all rows are invalid. */
bool cfi_run_next(struct cfi_run *run);

/* Runs the instructions of a CIE, which give the state at the start of its functions. */
bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie,
		     struct cfi_cursor program);

enum cfi_kind {
	CFI_PLAIN,
	CFI_SIGNAL, /* signal handlers return to it */
	CFI_FIRST, /* has no caller */
	CFI_GO, /* compiled by Go, with frame pointers */
};

/* The bytes between two functions. */
enum cfi_gap {
	CFI_GAP_PADDING, /* nops and traps, with which compilers and linkers align functions */
	CFI_GAP_STILL, /* instructions that neither change the stack nor call */
	CFI_GAP_CODE, /* possibly other code */
};

/* The parts for each processor, in unwind_x86_64.c and unwind_aarch64.c. */
struct cfi_machine {
	uint16_t elf; /* e_machine of files for it */
	uint64_t fp; /* the number of the frame pointer */
	void (*rule)(const struct cfi_frame *frame, enum cfi_kind kind, struct unwind_rule *result);
	/* Classifies a function by its code, because its description lacks that. */
	enum cfi_kind (*kind_of_code)(const unsigned char *bytes, size_t size, bool is_go);
	enum cfi_gap (*gap)(const unsigned char *bytes, size_t size);
	/*
	 * Whether a function keeps its caller's stack pointer and return address in their registers.
	 * NULL: the vDSO has call-frame information.
	 */
	bool (*is_leaf)(const unsigned char *bytes, size_t size);
};

extern const struct cfi_machine cfi_x86_64, cfi_aarch64;

/* This host's; tests read files of the other one too. */
extern const struct cfi_machine *cfi_machine;

/* The bits that an address of code has on this host. Those above them may sign a return address. */
uint64_t cfi_code_mask(void);

#endif
