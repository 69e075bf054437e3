// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* diff by lines of a program whose lines may be gone. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "sample.h"
#include "test_annotate_fixture.h"
#include "test_symbol_fixture.h"

TestSuite(diff_lines, .init = fixture_begin, .fini = fixture_end);

static const struct diff_options by_lines = { .by = REPORT_LINES };

/* The same program with another build id, at the same path. */
static void build_anew(void)
{
	fixture_shell(
		"cp program before && "
		"x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id=0x11223344 -o program f.o");
}

static size_t with_line(const struct diff *diff)
{
	size_t i, nr = 0;

	for (i = 0; i < diff->nr; i++)
		nr += diff->rows[i].file != NULL;
	return nr;
}

static bool has_note(const struct diff *diff, const char *text)
{
	size_t i;

	for (i = 0; i < diff->nr_notes; i++)
		if (strstr(diff->notes[i], text))
			return true;
	return false;
}

static struct profile *profiled(void)
{
	return PROFILE(1, { 0, 400 }, { 3, 500 }, { 16, 100 });
}

Test(diff_lines, both_have_them)
{
	cleanup_profile struct profile *profile = NULL;
	struct error err = { 0 };
	struct diff diff;

	annotate_program("-g");
	profile = profiled();
	cr_assert_eq(diff_build(profile, profile, &by_lines, &diff, &err), 0, "%s", err.text);
	cr_expect_eq(diff.nr, 3);
	cr_expect_eq(with_line(&diff), 3);
	cr_expect_eq(diff.nr_notes, 0);
	diff_free(&diff);
}

static void check_functions(const struct diff *diff)
{
	size_t i, spared;

	cr_expect_eq(diff->nr, 2);
	cr_expect_eq(with_line(diff), 0);
	for (i = 0; i < diff->nr; i++) {
		cr_expect_eq(diff->rows[i].change, 0, "%s", diff->rows[i].name);
		cr_expect_gt(diff->rows[i].old.sum.ticks, 0);
	}
	cr_expect_eq(diff_above(diff, 0, &spared), 0);
	cr_expect(has_note(diff, "program: compared by function, because only one of the "
				 "profiles has lines"));
}

/* The file of the old profile was built anew, so its functions stand for its lines on both sides. */
Test(diff_lines, the_old_program_is_gone)
{
	struct profile *old, *new;
	struct error err = { 0 };
	struct diff diff;

	annotate_program("-g");
	old = profiled();
	build_anew();
	new = profiled();
	cr_assert_eq(diff_build(old, new, &by_lines, &diff, &err), 0, "%s", err.text);
	check_functions(&diff);
	cr_expect(has_note(&diff, "old: no source lines of "));
	cr_expect(has_note(&diff, "not the file that was profiled"));
	diff_free(&diff);
	cr_assert_eq(diff_build(new, old, &by_lines, &diff, &err), 0, "%s", err.text);
	check_functions(&diff);
	cr_expect(has_note(&diff, "new: no source lines of "));
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
}

/* What is missing on both sides is said once, and changes nothing. */
Test(diff_lines, both_programs_are_gone)
{
	cleanup_profile struct profile *profile = NULL;
	struct error err = { 0 };
	struct diff diff;

	annotate_program("-g");
	profile = profiled();
	build_anew();
	cr_assert_eq(diff_build(profile, profile, &by_lines, &diff, &err), 0, "%s", err.text);
	cr_expect_eq(diff.nr, 2);
	cr_assert_eq(diff.nr_notes, 1);
	cr_expect_eq(strncmp(diff.notes[0], "no source lines of ", 19), 0);
	diff_free(&diff);
}
