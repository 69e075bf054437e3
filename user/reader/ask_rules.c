// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Questions on call-frame information. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "reader/call.h"
#include "symbol/pclntab.h"

/* --- rules ------------------------------------------------------------------------------------ */

int answer_rules(struct reader_call *call, struct error *err)
{
	struct unwind_table table = { 0 };
	struct unwind_go go = { 0 };
	struct elf_image image;
	int ret = elf_image_open(call->fds[0], &image, err);

	if (ret)
		return ret;
	if (!pclntab_text(&image, &go.offset, &go.size))
		go = (struct unwind_go){ 0 };
	ret = unwind_table_read(&image, UNWIND_BYTES_MAX, &go, &table, err);
	elf_image_close(&image);
	wire_put_u64(&call->answer, go.offset);
	wire_put_u64(&call->answer, go.size);
	/* For another processor there are no rules, but Go's text is known. */
	if (!ret || ret == -ENOTSUP) {
		wire_put_u64(&call->answer, table.first_granule);
		wire_put_array(&call->answer, table.rules, table.rule_count, sizeof(*table.rules));
		wire_put_array(&call->answer, table.rows, table.row_count, sizeof(*table.rows));
		wire_put_array(&call->answer, table.index,
			       table.row_count ? table.granule_count + 1 : 0, sizeof(*table.index));
	}
	unwind_table_free(&table);
	return ret == -ENOTSUP ? 0 : ret;
}

static bool is_known(const struct unwind_rule *rule, size_t number)
{
	return rule->ra <= UNWIND_RA_SCRATCH && rule->cfa <= UNWIND_REGISTER &&
	       rule->fp <= UNWIND_FP_LOST && rule->call <= UNWIND_CALL_FRAMELESS &&
	       !number == (rule->cfa == UNWIND_NONE) &&
	       (rule->cfa != UNWIND_PLT || (rule->post >= 0 && rule->post < UNWIND_PLT_BYTES));
}

/* The kernel searches between one index and the next, and finds a rule by its row's number. */
static bool is_sound(const struct unwind_table *table)
{
	size_t i;

	for (i = 0; i < table->rule_count; i++)
		if (!is_known(&table->rules[i], i))
			return false;
	if (table->row_count > UNWIND_ROWS_MAX || table->rule_count > UNWIND_RULES_MAX ||
	    table->granule_count > UNWIND_GRANULES_MAX ||
	    table->granule_count > UINT32_MAX - table->first_granule)
		return false;
	for (i = 0; i < table->row_count; i++)
		if (unwind_row_rule(table->rows[i]) >= table->rule_count)
			return false;
	for (i = 0; i < table->granule_count; i++)
		if (table->index[i] > table->index[i + 1])
			return false;
	return !table->row_count ||
	       (!table->index[0] && table->rule_count && !(table->rows[0] >> UNWIND_RULE_BITS) &&
		table->index[table->granule_count] == table->row_count);
}

static bool get_rules(struct wire *wire, struct unwind_table *result, struct unwind_go *go)
{
	struct unwind_table table = { 0 };
	size_t nr;

	go->offset = wire_get_u64(wire);
	go->size = wire_get_u64(wire);
	table.first_granule = (uint32_t)wire_get_u64(wire);
	table.rules = wire_get_array(wire, &table.rule_count, sizeof(*table.rules));
	table.rows = wire_get_array(wire, &table.row_count, sizeof(*table.rows));
	table.index = wire_get_array(wire, &nr, sizeof(*table.index));
	table.granule_count = nr ? nr - 1 : 0;
	if (wire->bad || go->offset > UINT64_MAX - go->size || !nr != !table.row_count ||
	    !is_sound(&table)) {
		unwind_table_free(&table);
		return false;
	}
	*result = table;
	return true;
}

int reader_rules(int fd, struct unwind_table *result, struct unwind_go *go, struct error *err)
{
	struct reader_call call = { .kind = READ_RULES, .fds = { fd, -1 } };
	int ret = reader_call(&call, err);

	if (!ret && !get_rules(&call.answer, result, go))
		ret = reader_bad_answer(&call, err);
	reader_call_end(&call);
	return ret;
}

/*
 * --- the compiler -------------------------------------------------------------------------------
 */

enum { COMMENT_BYTES = 1024 };

/* Compilers name themselves in .comment. */
static bool is_made_by(const struct elf_image *image, int fd, const char *compiler)
{
	GElf_Shdr header;
	char text[COMMENT_BYTES];
	ssize_t got;

	if (!elf_image_section(image, ".comment", &header) || header.sh_type == SHT_NOBITS)
		return false;
	got = pread(fd, text, min_size(sizeof(text), header.sh_size), (off_t)header.sh_offset);
	return got > 0 && memmem(text, (size_t)got, compiler, strlen(compiler));
}

int answer_maker(struct reader_call *call, struct error *err)
{
	enum reader_maker maker = MADE_BY_OTHERS;
	struct elf_image image;
	GElf_Shdr header;
	int ret = elf_image_open(call->fds[0], &image, err);

	if (ret)
		return ret;
	if (elf_image_section(&image, ".gopclntab", &header))
		maker = MADE_BY_GO;
	else if (is_made_by(&image, call->fds[0], "rustc version"))
		maker = MADE_BY_RUST;
	elf_image_close(&image);
	wire_put_u64(&call->answer, maker);
	return 0;
}

enum reader_maker reader_maker(int fd)
{
	struct reader_call call = { .kind = READ_MAKER, .fds = { fd, -1 } };
	enum reader_maker maker = MADE_BY_OTHERS;
	struct error ignored;

	if (!reader_call(&call, &ignored))
		maker = (enum reader_maker)wire_get_u64(&call.answer);
	reader_call_end(&call);
	return maker;
}
