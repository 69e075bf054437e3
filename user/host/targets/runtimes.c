// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/runtimes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/util.h"
#include "base/nearest.h"
#include "host/targets/runtimes_impl.h"

#define MAX_WORDS 8

struct container_runtime {
	const char *inspect[MAX_WORDS]; /* the name is appended, unless it lists all of them */
	const char *list[MAX_WORDS]; /* prints a name per line; empty: inspect lists all as JSON */
	const char *identify[MAX_WORDS]; /* prints an id and a name per line; empty: it cannot */
	const char *processes[MAX_WORDS]; /* prints an id and a pid per line; empty: it cannot */
	int (*parse)(struct json_reader *json, struct runtime_parse *parse);
	bool lists_all;
};

/* "--" ends the options in all option parsers used here: cobra's, urfave/cli's and argp's. */
static const struct container_runtime runtimes[] = {
	{ .inspect = { "docker", "inspect", "--type", "container", "--" },
	  .list = { "docker", "ps", "--format", "{{.Names}}" },
	  .identify = { "docker", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}" },
	  .parse = runtime_parse_docker },
	{ .inspect = { "podman", "inspect", "--type", "container", "--" },
	  .list = { "podman", "ps", "--format", "{{.Names}}" },
	  .identify = { "podman", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}" },
	  .parse = runtime_parse_docker },
	{ .inspect = { "nerdctl", "inspect", "--type", "container", "--" },
	  .list = { "nerdctl", "ps", "--format", "{{.Names}}" },
	  .identify = { "nerdctl", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}" },
	  .parse = runtime_parse_docker },
	/*
	 * All are listed, because crictl's filter by name is a regular expression, and near names
	 * need the list.
	 */
	{ .inspect = { "crictl", "ps", "-o", "json" },
	  .parse = runtime_parse_cri,
	  .lists_all = true },
	{ .inspect = { "runc", "state", "--" },
	  .list = { "runc", "list", "--quiet" },
	  .processes = { "runc", "list" },
	  .parse = runtime_parse_oci },
	{ .inspect = { "crun", "state", "--" },
	  .list = { "crun", "list", "--quiet" },
	  .processes = { "crun", "list" },
	  .parse = runtime_parse_oci },
};

#define NR_RUNTIMES (sizeof(runtimes) / sizeof(*runtimes))

/* What each runtime says of a container that it does not have. */
static bool says_there_is_none(const char *said)
{
	return strcasestr(said, "no such") || strcasestr(said, "does not exist") ||
	       strcasestr(said, "not found");
}

__attribute__((format(printf, 2, 3))) static void
note_trouble(struct runtime_containers *containers, const char *format, ...)
{
	const size_t room = sizeof(containers->trouble);
	size_t used = strlen(containers->trouble);
	va_list args;

	used += (size_t)snprintf(containers->trouble + used, room - used, "%s", used ? "; " : "");
	if (used >= room)
		return;
	va_start(args, format);
	vsnprintf(containers->trouble + used, room - used, format, args);
	va_end(args);
}

static void note_none(struct runtime_containers *containers, const char *program)
{
	size_t used = strlen(containers->without);

	snprintf(containers->without + used, sizeof(containers->without) - used, "%s%s",
		 used ? ", " : "", program);
}

/* True: there is output to parse. */
static bool answered(const struct tool_answer *answer, const char *program,
		     struct runtime_containers *containers)
{
	if (answer->out < 0)
		return false;
	if (answer->late)
		note_trouble(containers, "%s: no answer within %d s", program,
			     TOOL_PATIENCE_MS / 1000);
	else if (answer->status && says_there_is_none(answer->said))
		note_none(containers, program);
	else if (answer->status)
		note_trouble(containers, "%s: %s", program,
			     answer->said[0] ? answer->said : "failed without a word");
	return !answer->late && !answer->status;
}

/*
 * If the answer is not the expected JSON, that is the runtime's problem; only lack of memory is an
 * error.
 */
static int parse(const struct container_runtime *runtime, struct tool_answer *answer,
		 struct runtime_parse *parsed, struct error *err)
{
	const char *program = runtime->inspect[0];
	struct error wrong = { 0 };
	struct json_reader *json;
	struct input *in;
	int ret;

	ret = input_open_fd(answer->out, program, &in, err);
	answer->out = -1;
	if (ret)
		return ret;
	json = json_reader_new(in, &wrong);
	parsed->runtime = program;
	ret = json ? runtime->parse(json, parsed) : -ENOMEM;
	if (!ret)
		ret = json_reader_end(json);
	json_reader_free(json);
	input_close(in);
	if (ret == -ENOMEM)
		return error_errno(err, ret, "%s", program);
	if (ret < 0)
		note_trouble(parsed->containers, "%s", wrong.text);
	else
		note_none(parsed->containers, program);
	return 0;
}

static int ask_runtime(const struct container_runtime *runtime, struct runtime_parse *parsed,
		       struct error *err)
{
	const char *words[MAX_WORDS + 2];
	struct tool_answer answer;
	size_t nr = 0;
	int ret = 0;

	for (; runtime->inspect[nr]; nr++)
		words[nr] = runtime->inspect[nr];
	if (!runtime->lists_all)
		words[nr++] = parsed->name;
	words[nr] = NULL;
	ret = tool_ask(words, &answer, err);
	if (!ret && answered(&answer, words[0], parsed->containers))
		ret = parse(runtime, &answer, parsed, err);
	tool_answer_free(&answer);
	return ret;
}

static void free_container(struct runtime_container *container)
{
	free(container->id);
	free(container->where);
}

static void leave_running(struct runtime_containers *containers)
{
	size_t i, kept = 0;

	for (i = 0; i < containers->nr && containers->list[i].stopped;)
		i++;
	if (i == containers->nr)
		return;
	for (i = 0; i < containers->nr; i++)
		if (containers->list[i].stopped)
			free_container(&containers->list[i]);
		else
			containers->list[kept++] = containers->list[i];
	containers->nr = kept;
}

int runtimes_ask(const char *name, struct runtime_containers *result, struct error *err)
{
	struct runtime_parse parsed = { .name = name, .containers = result };
	int ret = 0;
	size_t i;

	*result = (struct runtime_containers){ 0 };
	for (i = 0; !ret && i < NR_RUNTIMES; i++)
		ret = ask_runtime(&runtimes[i], &parsed, err);
	if (ret)
		runtime_containers_free(result);
	leave_running(result);
	return ret;
}

void runtime_containers_free(struct runtime_containers *containers)
{
	size_t i;

	for (i = 0; i < containers->nr; i++)
		free_container(&containers->list[i]);
	free(containers->list);
	*containers = (struct runtime_containers){ 0 };
}

static int add_listed(struct names *names, int *fd)
{
	cleanup_file FILE *file = fdopen(*fd, "r");
	cleanup_free char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!file)
		return -errno;
	*fd = -1;
	while (!ret && getline(&line, &room, file) > 0)
		ret = names_add(names, line, strcspn(line, "\n"));
	return ret;
}

static int ask_for_lines(const char *const *words, struct names *names, struct error *err)
{
	struct runtime_containers ignored = { 0 };
	struct tool_answer answer;
	int ret = tool_ask(words, &answer, err);

	if (!ret && answered(&answer, words[0], &ignored)) {
		ret = add_listed(names, &answer.out);
		if (ret)
			error_errno(err, ret, "%s", words[0]);
	}
	tool_answer_free(&answer);
	return ret;
}

static int list(const struct container_runtime *runtime, struct names *names, struct error *err)
{
	struct runtime_containers ignored = { 0 };
	struct runtime_parse parsed = { .names = names, .containers = &ignored };

	if (runtime->lists_all)
		return ask_runtime(runtime, &parsed, err);
	return ask_for_lines(runtime->list, names, err);
}

int runtimes_names(struct names *result, struct error *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < NR_RUNTIMES; i++)
		ret = list(&runtimes[i], result, err);
	return ret;
}

bool runtime_tell(size_t number, struct names *ids, struct names *processes)
{
	if (number >= NR_RUNTIMES)
		return false;
	if (runtimes[number].identify[0])
		ask_for_lines(runtimes[number].identify, ids, NULL);
	if (processes && runtimes[number].processes[0])
		ask_for_lines(runtimes[number].processes, processes, NULL);
	return true;
}
