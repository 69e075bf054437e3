// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A comparison as a page: the JSON that --format json has, and a table to sort and search it. */
#include <errno.h>

#include "report/html_impl.h"

int html_diff(const struct diff *diff, FILE *out, struct error *err)
{
	const struct report_options options = { .format = REPORT_JSON };
	const char *rest;
	FILE *data;
	int result = -ENOMEM;

	html_page_begin(html_diff_page, out, &rest);
	data = html_data_begin("diff", HTML_NO_NUMBER, out);
	if (data) {
		diff_write(diff, &options, data);
		result = html_data_end(data, out);
	}
	fputs(rest, out);
	return result ? error_errno(err, result, "html") : 0;
}
