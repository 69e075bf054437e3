// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/region_table.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "calls/call_options.h"
#include "oracle.h"

static struct region_call asked(const struct oracle_call *call)
{
	return (struct region_call){
		.dialect = call->dialect,
		.width = call->width,
		.sprofil = call->sprofil,
		.entries = call->entries,
		.nr = call->nr,
	};
}

static bool same(const struct oracle_answer *a, const struct oracle_answer *b)
{
	return a->outcome == b->outcome && a->region == b->region && a->bin == b->bin;
}

/* Both ends are in the same counter, and their neighbours outside are not. */
static bool shares(const struct oracle_call *call, const struct oracle_answer *answer, uint64_t pc,
		   uint64_t low, uint64_t high)
{
	struct oracle_answer there;

	if (low > pc || high < pc)
		return false;
	there = oracle_find(call, low);
	if (!same(&there, answer))
		return false;
	there = oracle_find(call, high);
	if (!same(&there, answer))
		return false;
	there = oracle_find(call, low - 1);
	if (low && same(&there, answer))
		return false;
	there = oracle_find(call, high + 1);
	return high == UINT64_MAX || !same(&there, answer);
}

static bool right(const struct oracle_call *call, uint64_t pc, const char *line)
{
	static const char *const words[] = {
		[ORACLE_OVERFLOW] = "overflow", [ORACLE_OFF] = "off",
		[ORACLE_BELOW] = "below",	[ORACLE_BEYOND] = "beyond",
		[ORACLE_OUTSIDE] = "outside",
	};
	struct oracle_answer answer = oracle_find(call, pc);
	uint64_t numbers[5], *number = numbers;
	size_t i, nr = call->sprofil ? 5 : 4;
	char text[64], *end;

	if (answer.outcome != ORACLE_BIN) {
		snprintf(text, sizeof(text), "0x%" PRIx64 " %s\n", pc, words[answer.outcome]);
		return !strncmp(line, text, strlen(text));
	}
	for (i = 0; i < nr; i++, line = end + 1) {
		numbers[i] = strtoull(line, &end, 0);
		if (*end != (i + 1 < nr ? ' ' : '\n'))
			return false;
	}
	if (*number++ != pc || (call->sprofil && *number++ != answer.region))
		return false;
	return number[0] == answer.bin && shares(call, &answer, pc, number[1], number[2]);
}

static void check_call(struct dice *dice, const struct oracle_call *call, size_t pcs)
{
	struct region_call typed = asked(call);
	struct region_table table;
	char *text = NULL, *line;
	FILE *stream;
	size_t size, i;
	uint64_t *pc;

	if (region_table_compile(&typed, &table)) {
		cr_assert(oracle_check(call));
		return;
	}
	pc = calloc(pcs, sizeof(*pc));
	stream = open_memstream(&text, &size);
	for (i = 0; i < pcs; i++) {
		pc[i] = dice_pc(dice, call);
		bin_text_print(stream, &typed, &table, pc[i]);
	}
	fclose(stream);
	for (i = 0, line = text; i < pcs; i++, line = strchr(line, '\n') + 1) {
		if (right(call, pc[i], line))
			continue;
		oracle_print(call, pc[i]);
		cr_assert_fail("%.*s", (int)strcspn(line, "\n"), line);
	}
	cr_assert_eq(*line, '\0');
	free(text);
	free(pc);
	region_table_free(&table);
}

static void check_calls(uint64_t seed, bool sprofil, size_t most, size_t calls, size_t pcs)
{
	cleanup_free struct call_entry *entries = calloc(most, sizeof(*entries));
	struct dice dice = { seed };
	size_t i;

	for (i = 0; i < calls; i++) {
		struct oracle_call call = {
			.dialect = i % DIALECT_COUNT,
			.sprofil = sprofil,
			.width = 2U << dice_below(&dice, 3),
			.entries = entries,
			.nr = 1 + dice_below(&dice, most),
		};

		dice_entries(&dice, entries, call.nr);
		check_call(&dice, &call, pcs);
	}
}

Test(bin, profil, .timeout = 120)
{
	check_calls(0x5eee1, false, 1, 32000, 20);
}

Test(bin, sprofil, .timeout = 120)
{
	check_calls(0x5eee2, true, 6, 32000, 20);
}

Test(bin, many_regions, .timeout = 120)
{
	check_calls(0x5eee3, true, 300, 80, 100);
}

Test(bin, numbers)
{
	uint64_t value = 7;

	cr_expect(!call_number_parse("0", &value) && value == 0);
	cr_expect(!call_number_parse("0177777", &value) && value == 65535);
	cr_expect(!call_number_parse("0x10000", &value) && value == 65536);
	cr_expect(!call_number_parse("0XfF", &value) && value == 255);
	cr_expect(!call_number_parse("18446744073709551615", &value) && value == UINT64_MAX);
	value = 7;
	cr_expect(call_number_parse("18446744073709551616", &value));
	cr_expect(call_number_parse("", &value));
	cr_expect(call_number_parse("-1", &value));
	cr_expect(call_number_parse("+1", &value));
	cr_expect(call_number_parse(" 1", &value));
	cr_expect(call_number_parse("1 ", &value));
	cr_expect(call_number_parse("08", &value));
	cr_expect(call_number_parse("0x", &value));
	cr_expect(call_number_parse("ten", &value));
	cr_expect_eq(value, 7);
}
