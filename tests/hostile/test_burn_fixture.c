// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_burn_fixture.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>

#include "base/util.h"
#include "symbol/symbol.h"

void burn_offset(char *ret, size_t size)
{
	cleanup_fd int fd = open(BURN, O_RDONLY | O_CLOEXEC);
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_elf(fd, BURN, "", NULL, NULL, &table, &err), 0, "%s",
		     err.text);
	snprintf(ret, size, "%#lx", (unsigned long)symbol_table_named(table, "burn")->offset);
	symbol_table_free(table);
}
