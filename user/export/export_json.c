// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"
#include "profile/profile_io.h"

int export_json(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err)
{
	(void)options;
	return profile_write(profile, stream, err);
}
