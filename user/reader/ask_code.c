// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Questions on machine code. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "reader/call.h"

int answer_code(struct reader_call *call, struct error *err)
{
	const uint64_t offset = wire_get_u64(&call->question);
	const size_t size = (size_t)wire_get_u64(&call->question);
	struct code code;
	int ret = code_read_file(call->fds[0], offset, size, &code, err);

	if (ret)
		return ret;
	wire_put_u64(&call->answer, code.machine);
	wire_put_array(&call->answer, code.bytes, code.size, 1);
	free(code.bytes);
	return 0;
}

int reader_code(int fd, uint64_t offset, size_t size, struct code *result, struct error *err)
{
	struct reader_call call = { .kind = READ_CODE, .fds = { fd, -1 } };
	struct code code;
	int ret;

	wire_put_u64(&call.question, offset);
	wire_put_u64(&call.question, size);
	ret = reader_call(&call, err);
	if (!ret) {
		code.machine = (uint16_t)wire_get_u64(&call.answer);
		code.bytes = wire_get_array(&call.answer, &code.size, 1);
		ret = code.bytes && code.size <= size ? 0 : reader_bad_answer(&call, err);
		if (ret)
			free(code.bytes);
		else
			*result = code;
	}
	reader_call_end(&call);
	return ret;
}

static void put_instruction(struct wire *wire, const struct instruction *instruction)
{
	wire_put_u64(wire, instruction->size);
	wire_put_u64(wire, instruction->is_jump);
	wire_put_u64(wire, instruction->is_return);
	wire_put_u64(wire, instruction->has_target);
	wire_put_u64(wire, instruction->target);
	wire_put_text(wire, instruction->text);
}

int answer_instructions(struct reader_call *call, struct error *err)
{
	struct wire *wire = &call->question;
	const uint16_t machine = (uint16_t)wire_get_u64(wire);
	const enum disasm_syntax syntax = (enum disasm_syntax)wire_get_u64(wire);
	const uint64_t address = wire_get_u64(wire);
	const size_t nr = wire_get_count(wire, 1);
	const uint8_t *bytes = wire_get(wire, nr);
	struct instruction instruction;
	struct disasm *disasm;
	size_t at = 0;
	int ret = disasm_open(machine, syntax, &disasm, err);

	if (ret)
		return ret;
	while (bytes && at < nr) {
		disasm_next(disasm, bytes + at, nr - at, address + at, &instruction);
		put_instruction(&call->answer, &instruction);
		at += instruction.size;
	}
	disasm_close(disasm);
	return 0;
}

static bool get_instruction(struct wire *wire, size_t left, struct instruction *result)
{
	const char *text;

	*result = (struct instruction){ .size = (uint32_t)wire_get_u64(wire) };
	result->is_jump = wire_get_u64(wire);
	result->is_return = wire_get_u64(wire);
	result->has_target = wire_get_u64(wire);
	result->target = wire_get_u64(wire);
	text = wire_get_text(wire);
	if (wire->bad || !result->size || result->size > left ||
	    strlen(text) >= sizeof(result->text))
		return false;
	memcpy(result->text, text, strlen(text) + 1);
	return true;
}

static int get_instructions(struct reader_call *call, size_t size, struct instruction **result,
			    size_t *nr, struct error *err)
{
	struct instruction *all = NULL;
	struct wire *wire = &call->answer;
	size_t room = 0;
	int ret = 0;

	*nr = 0;
	while (!ret && wire->at < wire->nr) {
		ret = GROW(all, room, *nr + 1);
		if (!ret && !get_instruction(wire, size, &all[*nr]))
			ret = -EIO;
		if (!ret)
			size -= all[(*nr)++].size;
	}
	*result = all;
	if (!ret)
		return 0;
	free(all);
	return ret == -EIO ? reader_bad_answer(call, err) : error_errno(err, ret, "instructions");
}

int reader_instructions(const struct code *code, uint64_t address, enum disasm_syntax syntax,
			struct instruction **result, size_t *nr, struct error *err)
{
	struct reader_call call = { .kind = READ_INSTRUCTIONS, .fds = { -1, -1 } };
	int ret;

	wire_put_u64(&call.question, code->machine);
	wire_put_u64(&call.question, syntax);
	wire_put_u64(&call.question, address);
	wire_put_array(&call.question, code->bytes, code->size, 1);
	ret = reader_call(&call, err);
	if (!ret)
		ret = get_instructions(&call, code->size, result, nr, err);
	reader_call_end(&call);
	return ret;
}
