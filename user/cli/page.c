// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/profile_file.h"
#include "record/output.h"

const struct opt page_opts[] = {
	{ .name = "html",
	  .arg = "FILE",
	  .help = "write a page for a browser instead, in one file that needs nothing else; - is "
		  "stdout",
	  .value = VALUE_FILE,
	  .set = opt_set_string },
	{ 0 }
};

int write_page(const char *command, const char *file, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of)
{
	struct error err = { 0 };
	struct output *out;
	int result;

	result_begin();
	result = output_open_as(file, confidential ? OUTPUT_CONFIDENTIAL : 0, &out, &err);
	if (!result)
		result = output_finish(out, put(of, output_stream(out), &err), &err);
	/* The reader of a pipe has left: it knows. */
	if (result && result != -EPIPE)
		print_command_error(command, &err);
	return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
