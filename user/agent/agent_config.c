// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The agent's file of options, which are read as if they had been typed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "agent/agent_options.h"

#define LINE_BYTES 4096 /* of the longest line */

/* A name has no blank, so what is behind one must be a value. */
static int check_equals(char *line, struct error *err)
{
	size_t name = strcspn(line, "= \t");
	const char *value = line + name + strspn(line + name, " \t");

	if (!*value || *value == '=')
		return 0;
	error_set(err, -EINVAL, "'%.200s': = is missing between name and value", line);
	error_hint(err, "%.*s = %.160s", name < 64 ? (int)name : 64, line, value);
	return -EINVAL;
}

/* Handles "name = value" or "name" like an option on the command line. */
static int read_line(const struct command *command, struct agent_arguments *arguments, char *line,
		     struct error *err)
{
	char *equals = strchr(line, '='), *typed = NULL, *kept;
	char *argv[] = { (char *)command->name, NULL, NULL };
	struct opts_parsed parsed;
	int ret = check_equals(line, err);

	if (ret)
		return ret;
	if (equals)
		*equals = '\0';
	ret = equals ? asprintf(&typed, "--%s=%s", agent_trim(line), agent_trim(equals + 1)) :
		       asprintf(&typed, "--%s", agent_trim(line));
	kept = ret < 0 ? NULL : agent_keep(arguments, typed);
	if (ret >= 0)
		free(typed);
	if (!kept)
		return error_errno(err, -ENOMEM, "agent");
	argv[1] = kept;
	ret = opts_parse(command, 2, argv, arguments, &parsed, err);
	if (!ret && (parsed.help || parsed.version || parsed.first != 2))
		ret = error_set(err, -EINVAL, "'%.200s': no option", line);
	return ret;
}

/* False at the end of the file, and where *ret says what is wrong. */
static bool next_line(FILE *file, char line[LINE_BYTES + 2], struct error *err, int *ret)
{
	*ret = 0;
	errno = 0;
	if (!fgets(line, LINE_BYTES + 2, file)) {
		if (ferror(file))
			*ret = error_set(err, -(errno ? errno : EIO), "%s", strerror(errno));
		return false;
	}
	if (strlen(line) > LINE_BYTES && line[LINE_BYTES] != '\n')
		*ret = error_set(err, -EINVAL, "longer than %d bytes", LINE_BYTES);
	return !*ret;
}

/* Says where in the file it is wrong. */
static int wrong_line(const char *path, unsigned int number, const struct error *why, int code,
		      struct error *err)
{
	const char *text = why->text;

	if (!strncmp(text, "agent: ", 7))
		text += 7;
	error_set(err, code, "agent: %.200s:%u: %.280s", path, number, text);
	if (why->hint[0])
		error_hint(err, "%s", why->hint);
	return code;
}

int agent_config_read(const struct command *command, struct agent_arguments *arguments,
		      struct error *err)
{
	const char *path = agent_keep(arguments, arguments->config);
	const char *trouble = NULL;
	cleanup_file FILE *file = path ? regular_file_stream(path, &trouble) : NULL;
	struct error why = { 0 };
	char line[LINE_BYTES + 2], *text;
	unsigned int number = 1;
	int ret;

	if (!path)
		return error_no_memory(err, "agent");
	if (!file)
		return error_set(err, -EIO, "agent: --config: %.256s: %s", path, trouble);
	for (; next_line(file, line, &why, &ret); number++) {
		text = agent_trim(line);
		if (!*text || *text == '#')
			continue;
		ret = read_line(command, arguments, text, &why);
		if (!ret && arguments->config != path && strcmp(arguments->config, path) != 0)
			ret = error_set(&why, -EINVAL, "--config: not in a file that is one");
		if (ret)
			break;
	}
	return ret ? wrong_line(path, number, &why, ret, err) : 0;
}
