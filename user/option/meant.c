// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "option/meant.h"

#include <stddef.h>
#include <string.h>

#define NO_STACKS "leaving it out: there are no call stacks"

struct meant {
	const char *option; /* whose value it is; NULL in the other tables */
	const char *typed;
	const char *hint;
};

static const struct meant commands[] = {
	{ NULL, "record", "bpfprofil run" },
	{ NULL, "stat", "bpfprofil run" },
	{ NULL, "script", "bpfprofil export" },
	{ NULL, "list", "bpfprofil doctor" },
	{ NULL, "annotate", "bpfprofil report --annotate PLACE" },
	{ 0 },
};

static const struct meant options[] = {
	{ NULL, "hz", "--frequency" },
	{ NULL, "rate", "--frequency" },
	{ NULL, "p", "--pid" },
	{ NULL, "a", "--all" },
	{ NULL, "all-cpus", "--all" },
	{ NULL, "d", "--duration" },
	{ NULL, "time", "--duration" },
	{ NULL, "g", NO_STACKS },
	{ NULL, "call-graph", NO_STACKS },
	{ NULL, "sort", "--by" },
	{ NULL, "top", "--limit" },
	{ NULL, "n", "--limit" },
	{ NULL, "tid", "--by thread" },
	{ NULL, "comms", "--comm" },
	{ NULL, "dsos", "--object" },
	{ NULL, "dso", "--object" },
	{ NULL, "symbol", "--function" },
	{ NULL, "symbols", "--function" },
	{ 0 },
};

static const struct meant words[] = {
	{ "by", "symbol", "--by functions" },
	{ "by", "sym", "--by functions" },
	{ "by", "dso", "--by objects" },
	{ "by", "srcline", "--by lines" },
	{ "by", "pid", "--by process" },
	{ "by", "tid", "--by thread" },
	{ "by", "container", "--by cgroup" },
	{ "format", "html", "bpfprofil report --html FILE" },
	{ "format", "flamegraph", "bpfprofil export --format folded" },
	{ "format", "gprof", "bpfprofil export --format gmon" },
	{ 0 },
};

static const char *find(const struct meant *table, const char *option, const char *typed)
{
	for (; table->typed; table++)
		if (!strcmp(table->typed, typed) && (!option || !strcmp(table->option, option)))
			return table->hint;
	return NULL;
}

const char *meant_by_command(const char *typed)
{
	return find(commands, NULL, typed);
}

const char *meant_by_option(const char *typed)
{
	return find(options, NULL, typed);
}

const char *meant_by_word(const char *option, const char *typed)
{
	return find(words, option, typed);
}
