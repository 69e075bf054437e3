// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/target_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "option/command.h"

static const struct opt_group groups[] = { TARGET_GROUP(0), { 0 } };
static const struct command command = { .name = "attach", .description = "", .groups = groups };

#define MAX_WORDS 12

struct typed {
	struct targets targets;
	struct error err;
	int result;
};

static struct typed parse(char *line)
{
	char *argv[MAX_WORDS + 1] = { "attach" }, *word;
	struct target_options options;
	struct opts_parsed parsed = { 0 };
	struct typed typed = { 0 };
	int argc = 1;

	for (word = strtok(line, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	target_options_init(&options);
	typed.result = opts_parse(&command, argc, argv, &options, &parsed, &typed.err);
	if (!typed.result)
		typed.result =
			target_options_resolve(&options, "attach", &typed.targets, &typed.err);
	target_options_free(&options);
	return typed;
}

Test(target_options, several)
{
	char line[128];
	struct typed typed;

	snprintf(line, sizeof(line), "--pid %d --all --pid %d --no-children", getpid(), getppid());
	typed = parse(line);
	cr_assert_eq(typed.result, 0, "%s", typed.err.text);
	cr_assert_eq(typed.targets.nr, 3);
	cr_expect_eq(typed.targets.list[0].pid, getpid());
	cr_expect(typed.targets.list[0].no_children);
	cr_expect_eq(typed.targets.list[1].kind, TARGET_SYSTEM);
	cr_expect_eq(typed.targets.list[2].pid, getppid());
	cr_expect(typed.targets.list[2].no_children);
	targets_free(&typed.targets);
}

static void check_refused(char *line, int result, const char *text, const char *hint)
{
	struct typed typed = parse(line);

	cr_expect_eq(typed.result, result, "%d", typed.result);
	cr_expect_str_eq(typed.err.text, text);
	cr_expect_str_eq(typed.err.hint, hint);
	targets_free(&typed.targets);
}

#define REFUSED(line, ...) check_refused((char[]){ line }, __VA_ARGS__)

Test(target_options, refused)
{
	REFUSED("", -EINVAL, "attach: no target given",
		"--pid PID, --name PATTERN, --container NAME, --unit NAME, --cgroup PATH or --all");
	REFUSED("--all --no-children", -EINVAL,
		"attach: --no-children: says how --pid and --name count, and none is given",
		"leaving it out");
	REFUSED("--name a --pid 1 --wait", -EINVAL,
		"attach: --wait: for a container, unit, name or cgroup, not for --pid",
		"leaving it out");
	REFUSED("--wait --all --name a", -EINVAL,
		"attach: --wait: for a container, unit, name or cgroup, not for --all",
		"leaving it out");
	REFUSED("--all --pid 1x", -EINVAL,
		"--pid '1x': must be a process's number, or several like 12,345", "");
	REFUSED("--pid 2147483647", -ESRCH, "--pid 2147483647: no such process", "");
	REFUSED("--container a/b", -EINVAL,
		"--container 'a/b': must be a name, or an id or its beginning", "");
}
