// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "symbol/disasm.h"

struct finding {
	const struct code *code;
	uint64_t address;
	struct block_instruction *all;
	size_t nr;
	size_t room;
	bool *leaders; /* for each byte: a block begins here, if an instruction does */
};

static int disassemble_blocks(struct finding *finding, struct disasm *disasm)
{
	const struct code *code = finding->code;
	struct instruction instruction;
	size_t at;
	int ret;

	for (at = 0; at < code->size; at += instruction.size) {
		ret = grow((void **)&finding->all, &finding->room, finding->nr + 1,
			   sizeof(*finding->all));
		if (!ret)
			ret = disasm_next(disasm, code->bytes + at, code->size - at,
					  finding->address + at, &instruction);
		if (ret)
			return ret;
		finding->all[finding->nr++] = (struct block_instruction){ .at = (uint32_t)at };
		if (!instruction.is_jump && !instruction.is_return)
			continue;
		/* There is room for the end of the code, because leaders has size + 1 elements. */
		finding->leaders[at + instruction.size] = true;
		if (instruction.has_target && instruction.target - finding->address < code->size)
			finding->leaders[instruction.target - finding->address] = true;
	}
	return 0;
}

int blocks_find(const struct code *code, uint64_t address, struct block_instruction **result,
		size_t *nr, struct error *err)
{
	struct finding finding = { .code = code, .address = address };
	struct disasm *disasm;
	size_t i;
	int ret;

	ret = disasm_open(code->machine, DISASM_ATT, &disasm, err);
	if (ret)
		return ret;
	finding.leaders = calloc(code->size + 1, sizeof(*finding.leaders));
	ret = finding.leaders ? disassemble_blocks(&finding, disasm) : -ENOMEM;
	disasm_close(disasm);
	for (i = 0; !ret && i < finding.nr; i++)
		finding.all[i].first = !i || finding.leaders[finding.all[i].at];
	free(finding.leaders);
	if (ret) {
		free(finding.all);
		return error_errno(err, ret, "instructions");
	}
	*result = finding.all;
	*nr = finding.nr;
	return 0;
}
