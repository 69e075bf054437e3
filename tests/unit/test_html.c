// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The contents of a page cannot break out of their element, whatever names are in it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_io.h"
#include "report/html.h"
#include "sample.h"

static char *page_of(const struct profile *profile)
{
	const struct html_options options = { .functions = 40 };
	struct error err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(html_report(profile, &options, out, &err), 0, "%s", err.text);
	cr_assert_eq(fclose(out), 0);
	cr_assert_eq(strlen(text), size);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t nr = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		nr++;
	return nr;
}

/* The text between the tags of the data at `at`, and what follows. */
static char *data_of(const char *at, const char **rest)
{
	const char *start = strchr(at, '>') + 1, *end = strchr(start, '<');

	cr_assert_eq(strncmp(end, "</script>", strlen("</script>")), 0, "%.80s", end);
	*rest = end;
	return strndup(start, (size_t)(end - start));
}

static void check_page(const char *page, size_t data)
{
	static const char tag[] = "<script type=\"application/json\"";
	const char *at = strstr(page, tag);
	char *text;

	for (; at; at = strstr(at, tag), data--) {
		text = data_of(at, &at);
		cr_assert(*text == '{' && text[strlen(text) - 1] == '}', "%.80s", text);
		free(text);
	}
	cr_assert_eq(data, 0, "%zu more", data);
	cr_assert_eq(count_of(page, "</html>"), 1);
}

static void check_bytes(const char *page)
{
	size_t length;

	for (; *page; page += length) {
		length = utf8_sequence(page, strnlen(page, 4));
		cr_assert(length, "no UTF-8: %.40s", page);
		cr_assert(*page == '\n' || *page == '\t' || !utf8_is_control(page, length),
			  "a control character: %.40s", page);
	}
}

Test(html, names_stay_in_their_place)
{
	static const char *const markup[] = { "</script><script>x()</script>", "<!--<script>",
					      "]]></SCRIPT >", "@DATA@", NULL };
	const char *const *lists[] = { sample_names, markup };
	struct profile *profile;
	size_t i, j;
	char *page;

	for (i = 0; i < 2; i++) {
		for (j = 0; lists[i][j]; j++) {
			profile = sample_profile_of_names(lists[i][j]);
			page = page_of(profile);
			/* The profile, and each of its three functions. */
			check_page(page, 4);
			check_bytes(page);
			free(page);
			profile_free(profile);
		}
	}
}

/* For a function the page has what annotate shows, or the reason why there is nothing. */
Test(html, says_why_there_is_no_code)
{
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_free char *page = page_of(profile);

	cr_assert_eq(count_of(page, "id=\"code-0\">{ \"notes\": [\""), 1);
	cr_assert_eq(count_of(page, "id=\"code-2\">{ \"notes\": [\""), 1);
}

Test(html, counts_kernel_offsets_from_a_base)
{
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_free char *page = page_of(profile);

	cr_assert_eq(count_of(page, "\"base\": \"0xffffffff81000000\""), 1);
	cr_assert_eq(count_of(page, "18446744071"), 0, "a number that JavaScript would round");
}

/* A call may be made below all ticks, from text in no function. */
Test(html, counts_places_of_calls_from_a_base)
{
	struct error err = { 0 };
	cleanup_profile struct profile *profile = NULL;
	cleanup_free char *page = NULL;

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	cr_assert_eq(profile->callers->sites[8].object, 4);
	profile->callers->sites[8].offset = 139999999999000;
	page = page_of(profile);
	cr_assert_eq(count_of(page, "\"places\": [[4,0,1]]"), 1);
	cr_assert_eq(count_of(page, "18446744"), 0, "a number that JavaScript would round");
}
