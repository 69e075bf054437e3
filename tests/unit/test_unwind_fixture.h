/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_UNWIND_FIXTURE_H
#define TEST_UNWIND_FIXTURE_H

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi_file.h"
#include "unwind_find.h"

/* A table's rows must be in order, with rules that it has, and be those that are found. */
void unwind_check(const struct unwind_table *table);

/* The offset of a row of a granule. */
uint64_t unwind_row_offset(const struct unwind_table *table, size_t granule, size_t row);

/*
 * A rule as a text: "none", "sp+8", "bp+16", "plt+8@11", "[bp-8]+0", "[sp+8]+16", "signal", "end" or
 * "register"; behind it, unless the frame pointer is the same, " fp[cfa-16]", " fp[bp+0]" or " fp?"; then where
 * the return address is, " ra in di" or on arm64 " ra[cfa-8]", unless it is in its usual place, which is x30
 * there; and then " go" or " frameless".
 */
void unwind_rule_text(const struct unwind_rule *rule, char *text, size_t size);

/* --- call-frame information made by hand ------------------------------------------------------ */

#define START CFI_FILE_ADDRESS
#define BYTES(...)                                                                                 \
	((const struct cfi_bytes){ (const uint8_t[]){ __VA_ARGS__ },                               \
				   sizeof((const uint8_t[]){ __VA_ARGS__ }) })
#define NOTHING ((const struct cfi_bytes){ NULL, 0 })

#define PCREL_4 (DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* CFA = SP + 8, and the return address below it. */
#define AT_CALL BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1)

/* A section while it is made. */
struct sheet {
	uint8_t *bytes;
	size_t size;
	size_t room;
	bool is_eh;
	bool wide; /* lengths in 64 bits */
	size_t cie; /* the last one */
	uint8_t encoding; /* of the functions */
};

/* .eh_frame and .debug_frame, the part of the text that is Go's, and what all was read as. */
extern struct sheet eh, debug;
extern struct unwind_go go;
extern struct unwind_table unwound;

/* The files are for x86-64, unless cfi_machine is set to another. */
void unwind_begin(void);
void unwind_end(void);

void put_bytes(struct sheet *sheet, const void *bytes, size_t size);
void put(struct sheet *sheet, uint64_t value, size_t size);
void put_address(struct sheet *sheet, uint64_t address);

/* A CIE up to the factors; the caller adds the rest, and ends it. */
size_t begin_cie(struct sheet *sheet, unsigned int version, const char *augmentation);
void put_factors(struct sheet *sheet);
void end_entry(struct sheet *sheet, size_t begin);

void put_cie(struct sheet *sheet, struct cfi_bytes program);
void put_function(struct sheet *sheet, uint64_t address, uint64_t size, struct cfi_bytes program);

/* The text of the file has these bytes at an offset in it. */
void put_text(uint64_t at, struct cfi_bytes bytes);

/* Reads a file with the two sections into the table, and checks that. */
void read_sheets(uint64_t bytes_max);

/*
 * The table's rows, each with where it begins in the text, and behind that "early" if the function begins a
 * byte later.
 */
const char *rows_text(void);
void check_rows(const char *want);

#endif
