// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How data is put into a page. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/util.h"
#include "report/html_impl.h"

/* Where the data goes in a page. */
#define DATA "@DATA@"

/* Writes a page up to its data; *ret_rest is what follows the data. */
static void begin_page(const char *page, FILE *out, const char **ret_rest)
{
	const char *data = strstr(page, DATA);

	fwrite(page, 1, (size_t)(data - page), out);
	*ret_rest = data + strlen(DATA);
}

/* JSON has '<' only in strings, where its escape means the same. */
static ssize_t write_script(void *cookie, const char *text, size_t size)
{
	const char *end = text + size, *mark;
	FILE *out = cookie;

	while (text < end) {
		mark = memchr(text, '<', (size_t)(end - text));
		fwrite(text, 1, (size_t)((mark ? mark : end) - text), out);
		if (mark)
			fputs("\\u003c", out);
		text = mark ? mark + 1 : end;
	}
	return ferror(out) ? 0 : (ssize_t)size;
}

FILE *html_data_begin(const char *name, uint64_t number, FILE *out)
{
	static const cookie_io_functions_t functions = { .write = write_script };
	FILE *data = fopencookie(out, "w", functions);

	if (!data)
		return NULL;
	fprintf(out, "<script type=\"application/json\" id=\"%s", name);
	if (number != HTML_NO_NUMBER)
		fprintf(out, "-%" PRIu64, number);
	fputs("\">", out);
	return data;
}

int html_data_end(FILE *data, FILE *out)
{
	int ret = fclose(data) && !ferror(out) ? -ENOMEM : 0;

	fputs("</script>\n", out);
	return ret;
}

static int put_profile(const struct profile *profile, const uint64_t *bases,
		       struct timeline *timeline, const struct html_inlined *inlined, FILE *out)
{
	FILE *data = html_data_begin("profile", HTML_NO_NUMBER, out);
	int ret, end;

	if (!data)
		return -ENOMEM;
	ret = html_profile(profile, bases, timeline, inlined, data);
	end = html_data_end(data, out);
	return ret ? ret : end;
}

int html_report(const struct profile *profile, const struct html_options *options, FILE *out,
		struct error *err)
{
	cleanup_free uint64_t *bases = html_object_bases(profile);
	struct html_inlined *inlined = NULL;
	const char *rest;
	int ret = bases ? 0 : error_errno(err, -ENOMEM, "html");

	if (!ret && options->inlined)
		ret = html_inlined_new(profile, options, &inlined, err);
	if (!ret) {
		begin_page(html_report_page, out, &rest);
		ret = put_profile(profile, bases, options->timeline, inlined, out);
		ret = ret ? error_errno(err, ret, "html") :
			    html_code(profile, options, bases, out, err);
		fputs(rest, out);
	}
	html_inlined_free(inlined);
	return ret;
}

/* Writes the JSON of --format json, and a table to sort and search it. */
int html_diff(const struct diff *diff, FILE *out, struct error *err)
{
	const struct report_options options = { .format = REPORT_JSON };
	const char *rest;
	FILE *data;
	int ret = -ENOMEM;

	begin_page(html_diff_page, out, &rest);
	data = html_data_begin("diff", HTML_NO_NUMBER, out);
	if (data) {
		diff_write(diff, &options, data);
		ret = html_data_end(data, out);
	}
	fputs(rest, out);
	return ret ? error_errno(err, ret, "html") : 0;
}
