// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_annotate_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "naming/object_file.h"
#include "symbol/symbol.h"
#include "test_symbol_fixture.h"

static const char assembly[] = ".text\n"
			       ".globl f\n"
			       ".type f, @function\n"
			       "f:\n"
			       "	xorl %eax, %eax\n"
			       "	nop\n"
			       "1:	addl $1, %eax\n"
			       "	cmpl %edi, %eax\n"
			       "	jne 1b\n"
			       "	call g\n"
			       "	ret\n"
			       ".size f, . - f\n"
			       ".hidden g\n"
			       ".type g, @function\n"
			       "g:	ret\n"
			       ".size g, . - g\n";

static void *need(void *pointer)
{
	cr_assert(pointer);
	return pointer;
}

/* Named by the target, because the host may be another machine. */
void annotate_assemble(const char *flags)
{
	fixture_shell("clang --target=x86_64-linux-gnu -c %s f.s && "
		      "x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id -o program f.o",
		      flags);
}

void annotate_program(const char *flags)
{
	fixture_write("f.s", assembly);
	annotate_assemble(flags);
}

static void add_object(struct profile *profile, const char *name)
{
	struct profile_object *object = need(calloc(1, sizeof(*object)));
	struct elf_facts facts;
	int fd = fixture_open(name);

	cr_assert_eq(elf_facts_read(fd, &facts, NULL), 0);
	close(fd);
	object->kind = PROFILE_FILE;
	object->path = need(strdup(fixture_path(name)));
	object->build_id = facts.build_id;
	object->text = facts.text;
	object->nr_text = facts.nr_text;
	profile->objects = object;
	profile->nr_objects = 1;
}

struct profile *annotate_profile(uint64_t bytes, const struct tick *ticks, size_t nr)
{
	struct profile *profile = need(profile_new());
	struct profile_histogram *histogram = need(calloc(1, sizeof(*histogram)));
	struct path_opener paths = { profile, "" };
	const struct object_opener opener = path_opener(&paths);
	size_t i;

	add_object(profile, "program");
	profile->sampling.period_ns = 1000000;
	histogram->pid = -1;
	histogram->offset = TEXT;
	histogram->size = bytes * 64;
	histogram->width = 4;
	histogram->bytes_per_bin = bytes;
	histogram->bins = need(calloc(nr, sizeof(*histogram->bins)));
	histogram->nr_bins = nr;
	profile->targets = need(calloc(1, sizeof(*profile->targets)));
	profile->targets->kind = need(strdup("command"));
	profile->targets->name = need(strdup("program"));
	profile->nr_targets = 1;
	for (i = 0; i < nr; i++) {
		histogram->bins[i] =
			(struct profile_bin){ ticks[i].offset / bytes, ticks[i].ticks };
		profile->ticks.total += ticks[i].ticks;
	}
	profile->ticks.binned = profile->ticks.total;
	profile->targets->ticks = profile->ticks;
	profile->histograms = histogram;
	profile->nr_histograms = 1;
	cr_assert_eq(functions_resolve(profile, &opener, NULL), 0);
	return profile;
}

int annotate_try(const struct profile *profile, const char *place, const char *source,
		 struct annotation **result, struct error *err)
{
	struct path_opener paths = { profile, "" };
	const struct object_opener opener = path_opener(&paths);
	const struct annotation_request request = { .place = place,
						    .target = REPORT_ALL_TARGETS,
						    .opener = &opener,
						    .source = source,
						    .lanes = ANNOTATION_LANES };

	return annotation_build(profile, &request, result, err);
}

struct annotation *annotate(const struct profile *profile, const char *place)
{
	struct annotation *annotation;
	struct error err = { 0 };

	cr_assert_eq(annotate_try(profile, place, NULL, &annotation, &err), 0, "%s", err.text);
	return annotation;
}

char *annotate_write(const struct annotation *annotation, const struct annotation_view *view)
{
	char *text = NULL;
	size_t size;
	FILE *out = need(open_memstream(&text, &size));

	cr_assert_eq(annotation_write(annotation, view, out), 0);
	fclose(out);
	return text;
}
