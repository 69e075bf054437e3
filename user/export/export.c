// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <string.h>

const struct export_format export_formats[] = {
	{ "json", "the profile itself, as its JSON Schema has it", export_json },
	{ "csv", "a row for each bin, with a header", export_csv },
	{ NULL, NULL, NULL },
};

const struct export_format *export_find(const char *name)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
