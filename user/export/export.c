// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <string.h>

const struct export_format export_formats[] = {
	{ "json", "the profile itself, as its JSON Schema has it", false, export_json },
	{ "csv", "a row for each bin, with a header", false, export_csv },
	{ "raw", "the buffer that a call of profil() would have left", true, export_raw },
	{ NULL, NULL, false, NULL },
};

const struct export_format *export_find(const char *name)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
