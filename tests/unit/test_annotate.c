// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rows, places, and what is missing; how they are written is in tests/unit/test_annotate_text.c. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "report/rows.h"
#include "base/text.h"
#include "sample.h"
#include "test_annotate_fixture.h"
#include "test_symbol_fixture.h"

static const uint64_t starts[] = { 0, 2, 3, 6, 8, 10, 15 };
#define NR_STARTS (sizeof(starts) / sizeof(starts[0]))

static void check_refused(const struct profile *profile, const char *place, int code,
			  const char *text)
{
	struct annotation *annotation;
	struct error err = { 0 };

	cr_assert_eq(annotate_try(profile, place, NULL, &annotation, &err), code);
	cr_assert(strstr(err.text, text), "%s", err.text);
	cr_assert(*err.hint);
}

static uint64_t sum(const struct annotation *annotation)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++)
		ticks += annotation->rows[i].ticks;
	return ticks;
}

static bool has_note(const struct annotation *annotation, const char *text)
{
	size_t i;

	for (i = 0; i < annotation->nr_notes; i++)
		if (strstr(annotation->notes[i], text))
			return true;
	return false;
}

TestSuite(annotate, .init = fixture_begin, .fini = fixture_end);

/* --- rows ------------------------------------------------------------------------------------------ */

static void check_rows(const struct annotation *annotation, const uint64_t *ticks,
		       const size_t *first)
{
	size_t i;

	cr_assert_eq(annotation->nr_rows, NR_STARTS);
	for (i = 0; i < NR_STARTS; i++) {
		const struct annotation_row *row = &annotation->rows[i];

		cr_expect_eq(row->offset, TEXT + starts[i], "row %zu", i);
		cr_expect_eq(row->address, TEXT + starts[i], "row %zu", i);
		cr_expect_eq(row->size, (i + 1 < NR_STARTS ? starts[i + 1] : 16) - starts[i]);
		cr_expect_eq(row->ticks, ticks[i], "row %zu: %lu ticks", i, row->ticks);
		cr_expect_eq(row->first, first[i], "row %zu: first is %zu", i, row->first);
	}
	cr_expect_eq(annotation->ticks, sum(annotation));
}

#define EACH_ITS_OWN ((const size_t[]){ 0, 1, 2, 3, 4, 5, 6 })

Test(annotate, rows)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	size_t i;

	annotate_program("-g");
	profile = PROFILE(1, { 0, 1 }, { 3, 20 }, { 8, 300 }, { 16, 5 });
	annotation = annotate(profile, "f");
	check_rows(annotation, (const uint64_t[]){ 1, 0, 20, 0, 300, 0, 0 }, EACH_ITS_OWN);
	cr_expect_eq(annotation->ticks, 321);
	cr_expect_eq(annotation->total, 326);
	cr_expect_eq(annotation->nr_notes, 0, "%s", *annotation->notes);
	cr_expect_str_eq(annotation->rows[2].text, "addl $1, %eax");
	cr_expect_eq(annotation->rows[4].jump, 2);
	cr_expect_null(annotation->rows[4].target);
	cr_expect_eq(annotation->rows[5].jump, ANNOTATION_NONE);
	cr_expect_str_eq(annotation->rows[5].target, "g");
	cr_assert_eq(annotation->nr_lines, NR_STARTS);
	for (i = 0; i < NR_STARTS; i++) {
		cr_expect_eq(annotation->rows[i].line, i);
		cr_expect_eq(annotation->lines[i].line, 5 + i);
		cr_expect_eq(annotation->lines[i].ticks, annotation->rows[i].ticks);
		cr_expect_str_eq(text_basename(annotation->lines[i].file), "f.s");
	}
	cr_expect_str_eq(annotation->lines[1].text, "\tnop");
	annotation_free(annotation);
}

/* Ticks of a pc inside an instruction, which no processor reports, stay in the sum. */
Test(annotate, odd_pcs)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("-g");
	profile = PROFILE(1, { 4, 7 }, { 5, 2 }, { 15, 1 });
	annotation = annotate(profile, "f");
	check_rows(annotation, (const uint64_t[]){ 0, 0, 9, 0, 0, 0, 1 }, EACH_ITS_OWN);
	annotation_free(annotation);
}

/* In [0, 4) three instructions begin, in [4, 8) one, in [8, 12) two, in [12, 16) one. */
Test(annotate, bins_of_4)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	char *text;

	annotate_program("-g");
	profile = PROFILE(4, { 0, 10 }, { 4, 200 }, { 8, 3000 }, { 12, 40000 });
	annotation = annotate(profile, "f");
	check_rows(annotation, (const uint64_t[]){ 10, 0, 0, 200, 3000, 0, 40000 },
		   (const size_t[]){ 0, 0, 0, 3, 4, 4, 6 });
	cr_expect_eq(annotation->rows[1].shared, 3);
	cr_expect_eq(annotation->rows[3].shared, 1);
	cr_expect_eq(annotation->bytes_per_bin, 4);
	/* Ticks that two lines share count for neither. */
	cr_expect_eq(annotation->lines[0].ticks, 0);
	cr_expect_eq(annotation->lines[3].ticks, 200);
	cr_expect_eq(annotation->lines[4].ticks, 0);
	cr_expect_eq(annotation->lines[6].ticks, 40000);
	cr_expect(has_note(annotation, "bins of 4 bytes: "));
	text = annotate_write(annotation, &(struct annotation_view){ .format = REPORT_CSV });
	cr_expect(strstr(text, "\n3000,6.9428,6.9428,2,"), "%s", text);
	cr_expect(strstr(text, "\n,,,2,"), "%s", text);
	free(text);
	annotation_free(annotation);
}

/*
 * A bin of 64 bytes contains both functions: no table says that it is f's, but there is nothing
 * better.
 */
Test(annotate, bins_of_64)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("-g");
	profile = PROFILE(64, { 0, 77 });
	check_refused(profile, "f", -EINVAL, "'f': no function of that name has a tick");
	annotation = annotate(profile, "program:0x1000");
	cr_expect_str_eq(annotation->name, "f");
	check_rows(annotation, (const uint64_t[]){ 77, 0, 0, 0, 0, 0, 0 },
		   (const size_t[NR_STARTS]){ 0 });
	cr_expect_eq(annotation->rows[6].shared, NR_STARTS);
	annotation_free(annotation);
	annotation = annotate(profile, "program+0x1000");
	cr_expect_eq(annotation->ticks, 77);
	annotation_free(annotation);
}

/* --- places ----------------------------------------------------------------------------------------- */

Test(annotate, places)
{
	static const char *const of_f[] = { "f",     "program:f", "program:0x1003", "program:4099",
					    "f.s:7", NULL };
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	char place[256];
	size_t i;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 }, { 16, 5 });
	for (i = 0; of_f[i]; i++) {
		annotation = annotate(profile, of_f[i]);
		cr_expect_str_eq(annotation->name, "f");
		cr_expect_eq(annotation->ticks, 20, "%s", of_f[i]);
		annotation_free(annotation);
	}
	snprintf(place, sizeof(place), "%s:g", fixture_path("program"));
	annotation = annotate(profile, place);
	cr_expect_eq(annotation->ticks, 5);
	annotation_free(annotation);
	check_refused(profile, "none", -EINVAL, "'none': no function of that name has a tick");
	check_refused(profile, "", -EINVAL, "'': no function of that name has a tick");
	check_refused(profile, "program:none", -EINVAL, "program: no function 'none' with a tick");
	check_refused(profile, "program:0x9000", -EINVAL, "no tick fell there");
	check_refused(profile, "f.s:5", -EINVAL, "f.s:5: no tick is known to be of that line");
	check_refused(profile, ".s:7", -EINVAL, ".s:7: no tick");
}

/* The hottest function of that name, and how to ask for the others. */
Test(annotate, ambiguous)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	size_t i;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 }, { 16, 500 });
	for (i = 0; i < profile->nr_functions; i++) {
		free(profile->functions[i].name);
		profile->functions[i].name = strdup(i ? "twin(int)" : "twin(char)");
	}
	annotation = annotate(profile, "twin");
	cr_expect_str_eq(annotation->name, "twin(char)");
	cr_expect_eq(annotation->ticks, 500);
	cr_expect(has_note(annotation, "the hottest of 2 functions of this name; the other: "
				       "twin(int) (program:0x1000, 20 ticks)"),
		  "%s", *annotation->notes);
	annotation_free(annotation);
	annotation = annotate(profile, "twin(int)");
	cr_expect_eq(annotation->ticks, 20);
	cr_expect_eq(annotation->nr_notes, 0);
	annotation_free(annotation);
	for (i = 0; i < profile->nr_functions; i++)
		strcpy(profile->functions[i].name, "twin()");
	annotation = annotate(profile, "twin");
	cr_expect(has_note(annotation, "the hottest of 2 functions of this name; the other: "
				       "program:0x1000 (20 ticks)"),
		  "%s", *annotation->notes);
	annotation_free(annotation);
}

/* --- what is missing -------------------------------------------------------------------------------- */

Test(annotate, another_build)
{
	cleanup_profile struct profile *profile = NULL;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 });
	profile->objects->build_id[0] ^= 1;
	check_refused(profile, "f", -ESTALE, "not the file that was profiled, whose build id is ");
	/* The file has a build id now, and the object had none. */
	free(profile->objects->build_id);
	profile->objects->build_id = NULL;
	check_refused(profile, "f", -ESTALE, "program: not the file that was profiled");
	/* Neither has one, so the segments are compared. */
	fixture_shell("x86_64-linux-gnu-objcopy --remove-section .note.gnu.build-id program bare "
		      "&& mv bare program");
	profile->objects->text[0].size++;
	check_refused(profile, "f", -ESTALE, "program: not the file that was profiled");
}

Test(annotate, no_source)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	struct error err = { 0 };

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 });
	fixture_shell("mkdir -p a%s && mv f.s a%s", fixture_path(""), fixture_path(""));
	annotation = annotate(profile, "f");
	cr_expect(has_note(annotation, "no source file "));
	cr_expect_eq(annotation->lines[2].line, 7);
	cr_expect_null(annotation->lines[2].text);
	annotation_free(annotation);
	cr_assert_eq(annotate_try(profile, "f", fixture_path("a"), &annotation, &err), 0);
	cr_expect_eq(annotation->nr_notes, 0);
	cr_expect_str_eq(annotation->lines[2].text, "1:\taddl $1, %eax");
	annotation_free(annotation);
}

/* A function with lines from six large files, all of which exist: 256 MiB of them are read. */
Test(annotate, large_sources)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	size_t i, shown = 0;

	fixture_shell("for i in 1 2 3 4 5 6; do echo \"v = $i;\" >s$i && "
		      "truncate -s 60M s$i && touch -d yesterday s$i && "
		      "printf '#line 1 \"%%s\"\\nv = %%d;\\n' $PWD/s$i $i; done >body");
	fixture_shell("{ echo 'volatile int v; __attribute__((aligned(64))) void f(void) {' && "
		      "cat body && echo '}'; } >f.c && "
		      "clang --target=x86_64-linux-gnu -O2 -g -ffreestanding -fPIC -c f.c && "
		      "x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id -o program f.o");
	profile = PROFILE(1, { 0, 20 });
	annotation = annotate(profile, "f");
	for (i = 0; i < annotation->nr_lines; i++)
		shown += annotation->lines[i].text != NULL;
	cr_expect_eq(shown, 5);
	cr_expect(has_note(annotation, " is not shown: more than 256 MiB of sources"));
	annotation_free(annotation);
}

Test(annotate, newer_source)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 });
	fixture_shell("touch -r program -d '+1 minute' f.s");
	annotation = annotate(profile, "f");
	cr_expect(has_note(annotation, "f.s was changed after the program was built"));
	annotation_free(annotation);
}

Test(annotate, no_debug_information)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("");
	profile = PROFILE(1, { 3, 20 });
	annotation = annotate(profile, "f");
	check_rows(annotation, (const uint64_t[]){ 0, 0, 20, 0, 0, 0, 0 }, EACH_ITS_OWN);
	cr_expect_eq(annotation->nr_lines, 0);
	cr_expect_eq(annotation->rows[0].line, ANNOTATION_NONE);
	cr_expect(has_note(annotation, "no debug information"));
	annotation_free(annotation);
}

/*
 * A pc is where an instruction begins, so the code can be read from there on. A row is shown with
 * all of its ticks, and a place with those around it.
 */
Test(annotate, no_symbols)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("");
	fixture_shell("x86_64-linux-gnu-ld -Ttext=0x1000 -e 0x1000 --build-id -s -o program f.o");
	profile = PROFILE(1, { 3, 20 }, { 8, 4 });
	annotation = annotate(profile, profile->functions[0].name);
	cr_expect_str_eq(annotation->name, "program+0x1000..0x1010");
	cr_expect_eq(annotation->ticks, 24);
	cr_expect_eq(annotation->offset, 0x1003);
	annotation_free(annotation);
	annotation = annotate(profile, "program:0x1008");
	cr_expect(has_note(annotation, "no symbol is known here"));
	cr_expect_str_eq(annotation->name, "0x1003..0x1008");
	cr_assert_gt(annotation->nr_rows, 3);
	cr_expect_str_eq(annotation->rows[0].text, "addl $1, %eax");
	cr_expect_eq(annotation->rows[0].ticks, 20);
	cr_expect_str_eq(annotation->rows[2].text, "jne 0x1003");
	cr_expect_eq(annotation->rows[2].ticks, 4);
	annotation_free(annotation);
}

/* Far apart in text without a symbol: the sum is the row's, and what is between is not read. */
Test(annotate, no_symbols_far_apart)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	size_t i;
	char *text;

	fixture_write("f.s", ".text\n nop\n incl %eax\n .fill 0x3000, 1, 0x90\n"
			     " addl $1, %eax\n.fill 0x100, 1, 0x90\n");
	annotate_assemble("");
	fixture_shell("x86_64-linux-gnu-strip program");
	profile = PROFILE(1, { 1, 20 }, { 0x3003, 300 });
	cr_assert_eq(profile->nr_functions, 1);
	annotation = annotate(profile, profile->functions[0].name);
	cr_expect_eq(annotation->ticks, 320);
	cr_expect_eq(sum(annotation), 320);
	cr_expect_lt(annotation->nr_rows, 300);
	for (i = 0; i < annotation->nr_rows; i++) {
		uint64_t expected = annotation->rows[i].offset == TEXT + 1	? 20 :
				    annotation->rows[i].offset == TEXT + 0x3003 ? 300 :
										  0;

		cr_expect_eq(annotation->rows[i].ticks, expected);
		if (expected == 300)
			cr_expect_str_eq(annotation->rows[i].text, "addl $1, %eax");
	}
	text = annotate_write(annotation, &(struct annotation_view){ .format = REPORT_TEXT });
	cr_expect(strstr(text, " bytes\n"), "%s", text);
	free(text);
	annotation_free(annotation);
	annotation = annotate(profile, "program:0x4003");
	cr_expect_eq(annotation->ticks, 300);
	annotation_free(annotation);
	/* As recorded before parts had their last byte in the name. */
	free(profile->functions[0].name);
	profile->functions[0].name = strdup("program+0x1000");
	annotation = annotate(profile, "program+0x1000");
	cr_expect_eq(sum(annotation), 320);
	annotation_free(annotation);
}

/* The share in the heading is the one in the table, of CPU time and not of ticks. */
Test(annotate, share_of_the_table)
{
	const struct report_options by_functions = { .target = REPORT_ALL_TARGETS };
	const struct annotation_request request = { .place = "aeMain",
						    .target = REPORT_ALL_TARGETS };
	struct annotation *annotation;
	struct report_rows rows;
	cleanup_profile struct profile *profile = NULL;

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, NULL), 0);
	cr_assert_eq(rows_build(profile, &by_functions, &rows, NULL), 0);
	cr_assert_str_eq(rows.rows[0].name, "aeMain");
	cr_assert_eq(annotation_build(profile, &request, &annotation, NULL), 0);
	cr_expect_float_eq(annotation->percent,
			   row_percent(rows_ns(profile, &by_functions), &rows.rows[0]), 1e-9);
	cr_expect_float_eq(annotation_of_profile(annotation, annotation->ticks),
			   annotation->percent, 1e-9);
	annotation_free(annotation);
	rows_free(&rows);
}

/* Of a function's aliases the table and the one of the source's functions have the same. */
Test(annotate, alias_in_both_tables)
{
	const struct report_options inlined = { .target = REPORT_ALL_TARGETS, .inlined = true };
	struct report_rows rows;
	cleanup_profile struct profile *profile = NULL;

	fixture_write("f.c", "int __f_impl(int x) { return x * 3; }\n"
			     "extern int f(int x) __attribute__((alias(\"__f_impl\")));\n");
	fixture_shell("clang --target=x86_64-linux-gnu -g -O1 -c f.c && "
		      "x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id -o program f.o");
	profile = PROFILE(1, { 0, 20 });
	cr_assert_str_eq(profile->functions[0].name, "f");
	cr_assert_eq(rows_build(profile, &inlined, &rows, NULL), 0);
	cr_assert_eq(rows.nr, 1);
	cr_expect_str_eq(rows.rows[0].name, "f");
	cr_expect(rows.rows[0].scattered);
	rows_free(&rows);
}

Test(annotate, no_file)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 }, { 8, 4 }, { 16, 1 });
	fixture_shell("rm program");
	annotation = annotate(profile, "f");
	cr_expect(has_note(annotation, "no instructions, a row is a bin: "));
	cr_expect(has_note(annotation, "program: No such file or directory"));
	cr_assert_eq(annotation->nr_rows, 2);
	cr_expect_eq(annotation->rows[0].offset, TEXT + 3);
	cr_expect_null(annotation->rows[0].text);
	cr_expect_null(annotation->rows[0].bytes);
	cr_expect_eq(sum(annotation), 24);
	annotation_free(annotation);
}

Test(annotate, other_machine)
{
	struct annotation *annotation;
	cleanup_profile struct profile *profile = NULL;
	const Elf64_Half machine = EM_S390;
	FILE *file;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 });
	file = fopen(fixture_path("program"), "r+");
	cr_assert(file);
	cr_assert_eq(fseek(file, offsetof(Elf64_Ehdr, e_machine), SEEK_SET), 0);
	cr_assert_eq(fwrite(&machine, sizeof(machine), 1, file), 1);
	fclose(file);
	annotation = annotate(profile, "f");
	cr_expect(has_note(annotation, "machine 22 of the ELF header"));
	cr_expect_eq(sum(annotation), 20);
	annotation_free(annotation);
}

Test(annotate, jit)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct annotation *annotation = annotate(profile, "late");

	cr_expect_eq(annotation->ticks, 300);
	cr_expect_eq(sum(annotation), 300);
	cr_expect(has_note(annotation, "whose code is gone"));
	annotation_free(annotation);
}

/* --- what was inlined ------------------------------------------------------------------------------ */

static const char inlining[] = "#define INLINE static inline __attribute__((always_inline))\n"
			       "INLINE int mix(int x)\n"
			       "{\n"
			       "	return x * 1664525 ^ x >> 3;\n"
			       "}\n"
			       "__attribute__((aligned(64))) int f(int x)\n"
			       "{\n"
			       "	return mix(x) + mix(x + 1);\n"
			       "}\n"
			       "__attribute__((aligned(64))) int g(int x)\n"
			       "{\n"
			       "	return mix(x) / 3;\n"
			       "}\n";

/* f and g, into both of which mix() is inlined; each byte has ticks, ten times as many in g. */
static struct profile *inlined_profile(void)
{
	struct tick ticks[128];
	size_t i;

	fixture_write("f.c", inlining);
	fixture_shell("clang --target=x86_64-linux-gnu -O2 -g -ffreestanding -c f.c && "
		      "x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id -o program f.o");
	for (i = 0; i < 128; i++)
		ticks[i] = (struct tick){ i, i < 64 ? 1 : 10 };
	return annotate_profile(1, ticks, 128);
}

Test(annotate, inlined_name)
{
	cleanup_profile struct profile *profile = inlined_profile();
	struct annotation *annotation = annotate(profile, "mix");

	cr_expect_str_eq(annotation->name, "g");
	cr_expect(has_note(annotation, "mix was inlined here ("), "%s", annotation->notes[0]);
	cr_expect(has_note(annotation, "), and in f ("), "%s", annotation->notes[0]);
	annotation_free(annotation);
	annotation = annotate(profile, "program:mix");
	cr_expect_str_eq(annotation->name, "g");
	annotation_free(annotation);
	check_refused(profile, "mux", -EINVAL,
		      "no function of that name has a tick; much like it: mix");
	check_refused(profile, "program:I", -EINVAL,
		      "no function 'I' with a tick; much like it: mix");
}

Test(annotate, inlined_rows)
{
	const struct report_options options = { .inlined = true, .target = REPORT_ALL_TARGETS };
	cleanup_profile struct profile *profile = inlined_profile();
	struct report_rows rows;
	struct error err = { 0 };
	uint64_t total = 0, mixed = 0;
	size_t i;

	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	for (i = 0; i < rows.nr; i++) {
		total += rows.rows[i].own.ticks;
		if (rows.rows[i].name && !strcmp(rows.rows[i].name, "mix")) {
			cr_expect_eq(mixed, 0, "one row of all copies");
			mixed = rows.rows[i].own.ticks;
			cr_expect_eq(rows.rows[i].inlined, mixed);
		} else {
			cr_expect_eq(rows.rows[i].inlined, 0);
		}
	}
	cr_expect_eq(total, profile->ticks.total);
	cr_expect_gt(mixed, 0);
	rows_free(&rows);
}
