// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rules of files that come and go, against a count of each file's. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "host/engine/callers_interned.h"

enum { OWNERS = 3, FILES = 12, RULES = 400, OF_FILE = 100, ROUNDS = 3000 };

static struct interned *interned;
static struct unwind_rule *all;

static void begin(void)
{
	interned = calloc(1, sizeof(*interned));
	all = calloc(RULES_MAX, sizeof(*all));
	cr_assert(interned && all);
	interned_init(interned, all);
}

static void end(void)
{
	interned_free(interned);
	free(interned);
	free(all);
}

TestSuite(callers_interned, .init = begin, .fini = end);

static struct unwind_rule rule(uint32_t i)
{
	return (struct unwind_rule){ .cfa = UNWIND_SP, .cfa_offset = (int32_t)i };
}

static uint32_t hold(uint32_t owner, uint32_t i)
{
	const struct unwind_rule wanted = rule(i);

	return interned_hold(interned, owner, &wanted);
}

struct file {
	uint32_t numbers[OF_FILE];
	uint32_t rules[OF_FILE];
	uint32_t owner;
	bool is_there;
};

/* How many rules the files of an owner have, or of all. */
static uint32_t count(const struct file *files, uint32_t owner)
{
	bool has[RULES] = { 0 };
	uint32_t i, j, nr = 0;

	for (i = 0; i < FILES; i++)
		for (j = 0; files[i].is_there && j < OF_FILE; j++)
			if (owner == OWNERS || files[i].owner == owner)
				has[files[i].rules[j]] = true;
	for (i = 0; i < RULES; i++)
		nr += has[i];
	return nr;
}

static void come_or_go(struct file *file)
{
	uint32_t first = (uint32_t)rand() % (RULES - OF_FILE), i;

	file->owner = file->is_there ? file->owner : (uint32_t)rand() % OWNERS;
	for (i = 0; i < OF_FILE; i++) {
		if (file->is_there) {
			interned_release(interned, file->owner, file->numbers[i]);
			continue;
		}
		file->rules[i] = first + i;
		file->numbers[i] = hold(file->owner, first + i);
		cr_assert(file->numbers[i]);
	}
	file->is_there = !file->is_there;
}

static uint32_t numbers_in_use(void)
{
	return interned->next - 1 - interned->nr_unused;
}

Test(callers_interned, files_come_and_go)
{
	struct file files[FILES] = { 0 };
	uint32_t round, i, j;

	for (round = 0; round < ROUNDS; round++) {
		come_or_go(&files[rand() % FILES]);
		for (i = 0; i < FILES; i++)
			for (j = 0; files[i].is_there && j < OF_FILE; j++) {
				const struct unwind_rule wanted = rule(files[i].rules[j]);

				cr_assert(!memcmp(&all[files[i].numbers[j]], &wanted,
						  sizeof(wanted)));
			}
		for (i = 0; i < OWNERS; i++)
			cr_assert_eq(interned->owners[i].nr, count(files, i));
		cr_assert_eq(numbers_in_use(), count(files, OWNERS));
	}
}

/* Numbers that are given back are enough for as many other rules, and equal rules need no other one. */
Test(callers_interned, all_numbers)
{
	uint32_t i, numbers[RULES_MAX] = { 0 };

	for (i = 1; i < RULES_MAX; i++) {
		numbers[i] = hold(1, i);
		cr_assert(numbers[i]);
	}
	cr_expect_eq(hold(2, 0), 0);
	cr_expect_eq(hold(2, 7), numbers[7]);
	interned_release(interned, 1, numbers[7]);
	cr_expect_eq(hold(2, 0), 0, "another owner has it still");
	interned_release(interned, 2, numbers[7]);
	cr_expect_eq(hold(2, 0), numbers[7]);
	for (i = 1; i < RULES_MAX; i++)
		if (i != 7)
			interned_release(interned, 1, numbers[i]);
	cr_expect_eq(numbers_in_use(), 1);
	for (i = 1; i < RULES_MAX - 1; i++)
		cr_assert(hold(2, 2 * RULES_MAX + i));
}
