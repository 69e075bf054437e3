// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <string.h>

#include "host/engine/kernel_modules.h"

static void parse(const char *text, struct kernel_modules *result)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct error err;

	*result = (struct kernel_modules){ 0 };
	cr_assert(file);
	cr_assert_eq(kernel_modules_parse(file, result, &err), 0);
	fclose(file);
}

/* Two adjacent modules, with sizes that reach beyond the next one's start, as since 6.4. */
static const char two[] = "overlay 196608 1 - Live 0xffffffffc0402000\n"
			  "virtiofs 65536 3 fuse,other, Live 0xffffffffc0400000 (OE)\n";

Test(kernel_modules, parse)
{
	struct kernel_modules modules;

	parse(two, &modules);
	cr_assert_eq(modules.nr, 2);
	cr_expect_str_eq(modules.list[0].name, "[virtiofs]");
	cr_expect_eq(modules.list[0].start, 0xffffffffc0400000);
	cr_expect_eq(modules.list[0].size, 65536);
	cr_expect_str_eq(modules.list[1].name, "[overlay]");
	kernel_modules_free(&modules);
}

/* Without privilege all addresses are 0. */
Test(kernel_modules, parse_nothing)
{
	struct kernel_modules modules;

	parse("overlay 196608 1 - Live 0x0000000000000000\n\nx\nx y z\n", &modules);
	cr_expect_eq(modules.nr, 0);
	kernel_modules_free(&modules);
}

Test(kernel_modules, find)
{
	struct kernel_modules modules;

	parse(two, &modules);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc03fffff), 2);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0400000), 0);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0401fff), 0);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0402000), 1);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0431fff), 1);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0432000), 2);
	kernel_modules_free(&modules);
	cr_expect_eq(kernel_modules_find(&modules, 0xffffffffc0400000), 0, "there are none");
}
