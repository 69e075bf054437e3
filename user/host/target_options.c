// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/target_options.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "host/engine/session.h"
#include "base/output.h"
#include "base/text.h"
#include "symbol/debug_server.h"

enum target_word_kind { WORD_PID, WORD_NAME, WORD_CGROUP, WORD_CONTAINER, WORD_UNIT, WORD_ALL };

static const char *const word_options[] = { "pid", "name", "cgroup", "container", "unit", "all" };

struct target_word {
	enum target_word_kind kind;
	const char *text;
};

static int add_target(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct target_options *options = field;
	int ret = GROW(options->list, options->capacity, options->nr + 1);
	enum target_word_kind kind = WORD_PID;

	if (ret)
		return error_errno(err, ret, "--%s", opt->name);
	while (strcmp(word_options[kind], opt->name) != 0)
		kind++;
	options->list[options->nr++] = (struct target_word){ kind, value };
	return 0;
}

/* All may be repeated: each target is counted separately. */
const struct opt target_opts[] = {
	OPT_SETTER("pid", "PID[,PID...]", add_target,
		   "these processes, with all threads and descendants, running and future ones; "
		   "repeatable, like the other targets",
		   .value = VALUE_PIDS),
	OPT_SETTER("name", "PATTERN", add_target,
		   "all processes with this name that run now, as one target; a pattern like "
		   "'postgres*'",
		   .value = VALUE_NAME),
	OPT_FLAG("no-children", offsetof(struct target_options, no_children),
		 "do not count descendants of these processes"),
	OPT_SETTER("cgroup", "PATH", add_target,
		   "all processes in this cgroup or below; a directory, or a path below the mount",
		   .value = VALUE_CGROUP),
	OPT_SETTER("container", "NAME|ID", add_target,
		   "a Docker, Podman, containerd, CRI-O, runc, crun or LXC container; a prefix of "
		   "its id is enough",
		   .value = VALUE_CONTAINER),
	OPT_SETTER("unit", "NAME", add_target, "a systemd unit, like nginx or user.slice",
		   .value = VALUE_UNIT),
	OPT_SETTER("all", NULL, add_target, "every process of this host"),
	OPT_FLAG("wait", offsetof(struct target_options, wait),
		 "wait for a container, unit, name or cgroup that does not exist yet"),
	{ 0 }
};

void target_options_init(struct target_options *options)
{
	*options = (struct target_options){ .interrupt_fd = -1 };
}

void target_options_free(struct target_options *options)
{
	free(options->list);
	target_options_init(options);
}

/*
 * A process that is not there yet has no known pid. If its pid were waited for after its end, another
 * process could get it.
 */
static bool may_come(enum target_word_kind kind)
{
	return kind != WORD_PID && kind != WORD_ALL;
}

static int refuse_wait(const char *command, enum target_word_kind kind, struct error *err)
{
	return error_with_hint(err, -EINVAL, "leaving it out",
			       "%s: --wait: for a container, unit, name or cgroup, not for --%s",
			       command, word_options[kind]);
}

static int check(const struct target_options *options, const char *command, struct error *err)
{
	size_t i;

	if (!options->nr)
		return error_with_hint(
			err, -EINVAL,
			"--pid PID, --name PATTERN, --container NAME, --unit NAME, --cgroup PATH or --all",
			"%s: no target given", command);
	for (i = 0; options->wait && i < options->nr; i++)
		if (!may_come(options->list[i].kind))
			return refuse_wait(command, options->list[i].kind, err);
	for (i = 0; i < options->nr && options->list[i].kind > WORD_NAME;)
		i++;
	if (!options->no_children || i < options->nr)
		return 0;
	return error_with_hint(
		err, -EINVAL, "leaving it out",
		"%s: --no-children: says how --pid and --name count, and none is given", command);
}

static int resolve(const struct target_options *options, const struct target_word *word,
		   struct targets *targets, struct error *err)
{
	char option[32];
	int ret;

	snprintf(option, sizeof(option), "--%s", word_options[word->kind]);
	ret = targets_check_namespace(option, err);
	if (ret)
		return ret;
	switch (word->kind) {
	case WORD_PID:
	case WORD_NAME:
		/* A descriptor is held of each process, and a name may have thousands. */
		raise_file_limit(0);
		if (word->kind == WORD_NAME)
			return targets_add_named(targets, word->text, options->no_children, err);
		return targets_add_pids(targets, word->text, options->no_children, err);
	case WORD_CGROUP:
		return targets_add_cgroup(targets, word->text, err);
	case WORD_CONTAINER:
		return targets_add_container(targets, word->text, err);
	case WORD_UNIT:
		return targets_add_unit(targets, word->text, err);
	case WORD_ALL:
		/*
		 * The programs of a whole host may be anyone's. Therefore no server may learn of
		 * them.
		 */
		debug_server_forbid();
		return targets_add_all(targets, err);
	}
	return -EINVAL;
}

#define LOOK_MS 300

/*
 * Looks again and again, because no event reports that a runtime or a unit has begun something in
 * all of the hierarchies. Reports once which targets were not found, and why.
 */
static int wait_for(struct target_options *options, const struct target_word *word,
		    struct targets *targets, struct error *err)
{
	struct pollfd interrupt = { .fd = options->interrupt_fd, .events = POLLIN };
	const uint64_t began = monotonic_ns();
	bool said = false;
	uint64_t waited;
	int ret;

	while ((ret = resolve(options, word, targets, err)) == -ENOENT || ret == -ESRCH) {
		if (!options->wait)
			return ret;
		if (!said)
			print_message(NULL, "waiting for %s", err->text);
		said = true;
		waited = monotonic_ns() - began;
		if (options->patience_ns && waited >= options->patience_ns)
			return error_set(err, -ETIMEDOUT, "--%s '%s': did not come within %.3g s",
					 word_options[word->kind], word->text,
					 (double)waited / 1e9);
		if (poll(&interrupt, 1, LOOK_MS) > 0)
			return -EINTR;
	}
	waited = monotonic_ns() - began;
	/* Something is left of the time in any case, because 0 has no end. */
	if (said && options->patience_ns)
		options->patience_ns -= waited < options->patience_ns ? waited :
									options->patience_ns - 1;
	return ret;
}

int target_options_resolve(struct target_options *options, const char *command,
			   struct targets *result, struct error *err)
{
	int ret = check(options, command, err);
	size_t i;

	*result = (struct targets){ 0 };
	if (ret)
		return ret;
	for (i = 0; !ret && i < options->nr; i++)
		ret = wait_for(options, &options->list[i], result, err);
	return ret ? ret : targets_finish(result, err);
}

void target_options_say(const struct targets *targets, FILE *out)
{
	size_t i;

	for (i = 0; i < targets->nr; i++) {
		const char *chosen = targets_chosen(targets, i);

		if (!chosen)
			continue;
		text_write(out, chosen, 0);
		fputc('\n', out);
	}
}

int target_options_choose_hierarchy(struct targets *targets, unsigned int split, struct error *err)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->list[i].kind == TARGET_CGROUP)
			return 0;
	return split == SPLIT_CGROUP ? targets_split_hierarchy(&targets->controller, err) : 0;
}

/* Users of `perf record -a sleep 1` mean a time by it, or a command that is to be profiled. */
static int refuse_command(const char *command, char **operands, struct error *err)
{
	const char *time = !strcmp(operands[0], "sleep") && operands[1] ? operands[1] : "T";
	const char *first = operands[1] ? operands[1] : "";
	const char *more = operands[1] && operands[2] ? " ..." : "";
	char other[80] = "leaving it out";
	uint64_t ns;

	error_set(err, -EINVAL, "%s: '%.128s': samples running processes, and accepts no command",
		  command, operands[0]);
	if (!strcmp(command, "attach"))
		snprintf(other, sizeof(other), "--duration %.64s",
			 parse_duration(time, &ns) ? "T" : time);
	error_hint(err, "%s, or bpfprofil run -- %.64s%s%.64s%s", other, operands[0],
		   *first ? " " : "", first, more);
	return -EINVAL;
}

int target_options_refuse(const char *command, char **operands, struct error *err)
{
	const char *operand = operands[0];

	/* More than one word is rather a command. */
	if (operands[1] && operand[strspn(operand, "0123456789")])
		return refuse_command(command, operands, err);
	error_set(err, -EINVAL, "%s: '%.128s': a target is named by an option", command, operand);
	error_hint(err, "--pid %.64s, --name %.64s, --container %.64s or --unit %.64s", operand,
		   operand, operand, operand);
	return -EINVAL;
}
