// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <time.h>

#include "export/export_impl.h"

/* Converts "2026-01-31T23:59:59.5+01:00", which was checked when it was read, to ns since 1970. */
int64_t export_start_ns(const struct profile *profile)
{
	const char *text = profile->started;
	struct tm tm = { 0 };
	const char *at = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	uint64_t ns = 0, unit = 100000000;
	int hours = 0, minutes = 0;
	int64_t seconds;

	if (!at)
		return 0;
	seconds = timegm(&tm);
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
			ns += (uint64_t)(*at - '0') * unit;
	}
	if ((*at == '+' || *at == '-') && sscanf(at + 1, "%2d:%2d", &hours, &minutes) == 2)
		seconds -= (*at == '-' ? -60 : 60) * (hours * 60 + minutes);
	return seconds < 0 || seconds > INT64_MAX / 1000000000 - 1 ?
		       0 :
		       seconds * 1000000000 + (int64_t)ns;
}
