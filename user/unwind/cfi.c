// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unwind/cfi.h"

#include <dwarf.h>

#define LENGTH_64BIT 0xffffffff /* behind it is the length, in 8 bytes */
#define LEB_BYTES_MAX 10 /* those that 64 bits take */

/* Of an encoding of addresses. */
#define ENCODING_FORMAT 0x0f
#define ENCODING_SIGNED 0x08
#define ENCODING_BASE 0xf0

/* Bits from the 64th on are ignored. */
uint64_t cfi_leb(struct cfi_cursor *cursor, bool is_signed)
{
	unsigned int bits = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cfi_number(cursor, 1);
		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80 && bits < 7 * LEB_BYTES_MAX);
	if (is_signed && byte & 0x40 && bits < 64)
		value |= UINT64_MAX << bits;
	cursor->bad = cursor->bad || byte & 0x80;
	return cursor->bad ? 0 : value;
}

struct cfi_cursor cfi_block(struct cfi_cursor *cursor)
{
	uint64_t size = cfi_leb(cursor, false);
	struct cfi_cursor block = { cursor->at, cursor->at, false };

	if (size > (uint64_t)(cursor->end - cursor->at))
		cursor->bad = block.bad = true;
	else
		block.end = cursor->at += size;
	return block;
}

/* Numbers of fixed size, which linkers write; the standard has others. */
static uint64_t formatted(struct cfi_cursor *cursor, uint8_t encoding)
{
	static const uint8_t sizes[ENCODING_FORMAT + 1] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};
	unsigned int size = sizes[encoding & ENCODING_FORMAT];
	uint64_t value = cfi_number(cursor, size), sign = 1ULL << (8 * size - 1) % 64;

	cursor->bad = cursor->bad || !size;
	return encoding & ENCODING_SIGNED ? (value ^ sign) - sign : value;
}

uint64_t cfi_address(struct cfi_cursor *cursor, const struct cfi_section *section, uint8_t encoding)
{
	uint64_t here = section->address + (uint64_t)(cursor->at - section->bytes);
	uint64_t value = formatted(cursor, encoding);

	if ((encoding & ENCODING_BASE) == DW_EH_PE_pcrel)
		return value + here;
	cursor->bad = cursor->bad || encoding & ENCODING_BASE;
	return value;
}

/* What all entries begin with. */
struct cfi_head {
	bool is_cie;
	uint64_t cie; /* else where its CIE is */
	struct cfi_cursor rest; /* nothing in those that are empty, and end a linker's part */
};

/* False: nothing can be read from there on. */
static bool read_head(const struct cfi_section *section, uint64_t at, struct cfi_head *result)
{
	struct cfi_cursor cursor = { .end = section->bytes + section->size };
	uint64_t length, id, id_at;
	bool is_wide;

	if (at >= section->size)
		return false;
	cursor.at = section->bytes + at;
	length = cfi_number(&cursor, 4);
	is_wide = length == LENGTH_64BIT;
	if (is_wide)
		length = cfi_number(&cursor, 8);
	if (cursor.bad || length > (uint64_t)(cursor.end - cursor.at))
		return false;
	cursor.end = cursor.at + length;
	*result = (struct cfi_head){ .rest = cursor };
	if (!length)
		return true;
	id_at = (uint64_t)(cursor.at - section->bytes);
	id = cfi_number(&result->rest, is_wide && !section->is_eh ? 8 : 4);
	if (section->is_eh)
		result->is_cie = !id;
	else
		result->is_cie = id == (is_wide ? DW_CIE_ID_64 : DW_CIE_ID_32);
	result->cie = section->is_eh ? id_at - id : id;
	return true;
}

/* What the data have, in turn. Behind an unknown letter nothing can be read. */
static void read_letter(unsigned int letter, struct cfi_cursor *data, struct cfi_cie *cie)
{
	switch (letter) {
	case 'R':
		cie->encoding = (uint8_t)cfi_number(data, 1);
		break;
	case 'L':
		cfi_number(data, 1);
		break;
	case 'P':
		formatted(data, (uint8_t)cfi_number(data, 1));
		break;
	case 'S':
		cie->is_signal = true;
		break;
	default:
		data->bad = true;
	}
}

/* Versions 1 and 3 are .eh_frame's; 4 came with DWARF 4, with sizes of addresses and of segments. */
static bool read_factors(struct cfi_cursor *cursor, unsigned int version, struct cfi_cie *cie)
{
	if (version == 4 && (cfi_number(cursor, 1) != 8 || cfi_number(cursor, 1)))
		return false;
	cie->code_factor = cfi_leb(cursor, false);
	cie->data_factor = cfi_leb(cursor, true);
	cie->ra = version == 1 ? cfi_number(cursor, 1) : cfi_leb(cursor, false);
	return version == 1 || version == 3 || version == 4;
}

static bool read_cie(const struct cfi_section *section, struct cfi_cursor cursor,
		     struct cfi_cie *cie)
{
	unsigned int version = (unsigned int)cfi_number(&cursor, 1);
	struct cfi_cursor letters = cursor, data = { 0 };
	unsigned int letter = (unsigned int)cfi_number(&letters, 1);

	while (cfi_number(&cursor, 1))
		;
	letters.end = cursor.at;
	cie->has_augmentation = letter == 'z';
	if ((letter && letter != 'z') || !read_factors(&cursor, version, cie))
		return false;
	if (letter)
		data = cfi_block(&cursor);
	while (letter && (letter = (unsigned int)cfi_number(&letters, 1)))
		read_letter(letter, &data, cie);
	return !letters.bad && !data.bad && cfi_run_initial(section, cie, cursor);
}

/* Counts what an entry takes of the budget; false: there is too little left. */
static bool spend(struct cfi_section *section, const struct cfi_cursor *rest)
{
	uint64_t bytes = 8 + (uint64_t)(rest->end - rest->at);

	section->is_exhausted = section->is_exhausted || bytes > section->budget;
	if (!section->is_exhausted)
		section->budget -= bytes;
	return !section->is_exhausted;
}

static const struct cfi_cie *find_cie(struct cfi_section *section, uint64_t at)
{
	struct cfi_cie *cie = &section->cies[(at >> 2) % CFI_CIES];
	struct cfi_head head;

	if (cie->key == at + 1)
		return cie;
	*cie = (struct cfi_cie){ 0 };
	if (!read_head(section, at, &head) || !head.is_cie || !spend(section, &head.rest))
		return cie;
	cie->key = at + 1;
	cie->usable = read_cie(section, head.rest, cie);
	return cie;
}

static bool read_function(struct cfi_section *section, const struct cfi_head *head,
			  struct cfi_function *result)
{
	const struct cfi_cie *cie = find_cie(section, head->cie);

	*result = (struct cfi_function){ .cie = cie, .program = head->rest };
	if (!cie->usable)
		return false;
	result->address = cfi_address(&result->program, section, cie->encoding);
	result->size = formatted(&result->program, cie->encoding);
	if (cie->has_augmentation)
		cfi_block(&result->program);
	return !result->program.bad;
}

bool cfi_next(struct cfi_section *section, struct cfi_function *result)
{
	struct cfi_head head;

	while (section->next < section->size) {
		if (!read_head(section, section->next, &head)) {
			section->malformed++;
			return false;
		}
		if (!spend(section, &head.rest))
			return false;
		section->next = (size_t)(head.rest.end - section->bytes);
		if (head.is_cie || head.rest.at == head.rest.end)
			continue;
		if (read_function(section, &head, result))
			return true;
		if (section->is_exhausted)
			return false;
		section->malformed++;
	}
	return false;
}
