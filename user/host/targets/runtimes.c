// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/runtimes.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/util.h"

enum { STATUS_NOT_FOUND = 127, STATUS_NOT_EXECUTABLE = 126 };

#define ERRORS_MAX (64 << 10) /* a larger write fails */

/* How a command ended. */
struct tool_answer {
	int out; /* its output, from the beginning; -1: not in PATH */
	int status; /* exit status as in a shell */
	bool late; /* killed after TOOL_PATIENCE_MS */
	char last_line[160]; /* last line of its standard error: the reason */
};

#define TOOL_PATIENCE_MS 5000
#define TOOL_OUTPUT_MAX (16 << 20)

/*
 * Captures output in a memory file instead of a pipe: nobody has to read while the command runs,
 * and processes that it leaves behind cannot hold it open. It is sealed at its size, so that a
 * command with endless output gets an error from write(), and we do not run out of memory.
 */
static int open_capture(size_t size)
{
	int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret;

	if (fd >= 0 && !ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW))
		return fd;
	ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The command shares the file position with us. Therefore its output ends there. */
static int close_capture(int fd)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	if (end < 0 || ftruncate(fd, end) || lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static void execute(const char *const *argv, int out, int errors)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	execvp(argv[0], (char *const *)argv);
	_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* Waits in milliseconds, which is precise enough although a signal restarts the wait. */
static bool ended_in_time(int pid_fd)
{
	struct pollfd fd = { .fd = pid_fd, .events = POLLIN };
	int ret;

	do {
		ret = poll(&fd, 1, TOOL_PATIENCE_MS);
	} while (ret < 0 && errno == EINTR);
	return ret > 0;
}

static int wait_for(pid_t pid, struct tool_answer *answer)
{
	int status = 0;
	cleanup_fd int pid_fd = process_fd(pid);
	int ret = pid_fd < 0 ? -errno : 0;

	answer->late = !ret && !ended_in_time(pid_fd);
	if (ret || answer->late) {
		/*
		 * First kill the command's process group. Then kill the command itself, in case it
		 * has not made its group yet.
		 */
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	answer->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return ret;
}

/* Reads the last line that is not empty, because warnings may come before it. */
static void read_last_line(int fd, char *result, size_t size)
{
	cleanup_free char *line = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	*result = '\0';
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	while (file && getline(&line, &room, file) > 0)
		if (*line != '\n')
			snprintf(result, size, "%.*s", (int)strcspn(line, "\n"), line);
}

static int run_tool(const char *const *argv, int out, int errors, struct tool_answer *answer)
{
	pid_t pid = fork();
	int ret;

	if (pid < 0)
		return -errno;
	if (!pid)
		execute(argv, out, errors);
	ret = wait_for(pid, answer) ?: close_capture(out) ?: close_capture(errors);
	if (!ret)
		read_last_line(errors, answer->last_line, sizeof(answer->last_line));
	return ret;
}

/*
 * Runs a command from PATH, without a shell, in our environment, and waits for it. If it is late,
 * it is killed with everything that it started. Fails only without memory or processes.
 */
static int tool_ask(const char *const *argv, struct tool_answer *result, struct error *err)
{
	cleanup_fd int errors = open_capture(ERRORS_MAX);
	int out = open_capture(TOOL_OUTPUT_MAX), ret;

	*result = (struct tool_answer){ .out = -1 };
	ret = errors < 0 ? errors : out < 0 ? out : run_tool(argv, out, errors, result);
	if (!ret && result->status != STATUS_NOT_FOUND) {
		result->out = out;
		return 0;
	}
	if (out >= 0)
		close(out);
	return ret ? error_errno(err, ret, "%s", argv[0]) : 0;
}

static void tool_answer_free(struct tool_answer *answer)
{
	close_fd(&answer->out);
}

/* A container that is being read, and the names that locate it. */
struct container_reading {
	struct runtime_container container;
	char *name;
	char *pod;
	char *namespace;
};

static void free_reading(struct container_reading *reading)
{
	free(reading->container.id);
	free(reading->container.where);
	free(reading->name);
	free(reading->pod);
	free(reading->namespace);
	*reading = (struct container_reading){ 0 };
}

int runtime_read_string(struct json_reader *json, char **result)
{
	free(*result);
	*result = NULL;
	return json_reader_string(json, result);
}

static int read_json_pid(struct json_reader *json, pid_t *result)
{
	uint64_t pid;
	int ret = json_reader_u64(json, &pid);

	if (ret)
		return ret;
	if (pid > INT_MAX)
		return json_reader_fail(json, "no pid");
	*result = (pid_t)pid;
	return 0;
}

/* Owns the strings of reading. */
static int keep_container(struct runtime_parse *parse, struct container_reading *reading)
{
	struct runtime_containers *containers = parse->containers;
	int ret = GROW(containers->list, containers->capacity, containers->nr + 1);

	if (ret)
		return ret;
	reading->container.runtime = parse->runtime;
	containers->list[containers->nr++] = reading->container;
	reading->container = (struct runtime_container){ 0 };
	return 0;
}

typedef int (*read_member)(struct json_reader *json, const char *key,
			   struct container_reading *reading);

static int read_json_object(struct json_reader *json, read_member member,
			    struct container_reading *reading)
{
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) > 0)
		ret = member(json, key, reading);
	return ret;
}

static int docker_state(struct json_reader *json, const char *key,
			struct container_reading *reading)
{
	bool running;
	int ret;

	if (!strcmp(key, "Pid"))
		return read_json_pid(json, &reading->container.pid);
	if (strcmp(key, "Running") != 0)
		return json_reader_skip(json);
	ret = json_reader_bool(json, &running);
	if (!ret)
		reading->container.stopped = !running;
	return ret;
}

static int docker_member(struct json_reader *json, const char *key,
			 struct container_reading *reading)
{
	if (!strcmp(key, "Id"))
		return runtime_read_string(json, &reading->container.id);
	if (!strcmp(key, "State"))
		return read_json_object(json, docker_state, reading);
	return json_reader_skip(json);
}

int runtime_parse_docker(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = json_reader_array(json);

	while (!ret && (ret = json_reader_element(json)) > 0) {
		ret = read_json_object(json, docker_member, &reading);
		if (!ret && reading.container.id)
			ret = keep_container(parse, &reading);
		free_reading(&reading);
	}
	return ret;
}

static int oci_member(struct json_reader *json, const char *key, struct container_reading *reading)
{
	char *status = NULL;
	int ret;

	if (!strcmp(key, "id"))
		return runtime_read_string(json, &reading->container.id);
	if (!strcmp(key, "pid"))
		return read_json_pid(json, &reading->container.pid);
	if (strcmp(key, "status") != 0)
		return json_reader_skip(json);
	ret = json_reader_string(json, &status);
	if (!ret)
		reading->container.stopped = !strcmp(status, "stopped");
	free(status);
	return ret;
}

int runtime_parse_oci(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = read_json_object(json, oci_member, &reading);

	if (!ret && reading.container.id)
		ret = keep_container(parse, &reading);
	free_reading(&reading);
	return ret;
}

static int cri_metadata(struct json_reader *json, const char *key,
			struct container_reading *reading)
{
	if (!strcmp(key, "name"))
		return runtime_read_string(json, &reading->name);
	return json_reader_skip(json);
}

static int cri_label(struct json_reader *json, const char *key, struct container_reading *reading)
{
	if (!strcmp(key, "io.kubernetes.pod.name"))
		return runtime_read_string(json, &reading->pod);
	if (!strcmp(key, "io.kubernetes.pod.namespace"))
		return runtime_read_string(json, &reading->namespace);
	return json_reader_skip(json);
}

static int cri_member(struct json_reader *json, const char *key, struct container_reading *reading)
{
	if (!strcmp(key, "id"))
		return runtime_read_string(json, &reading->container.id);
	if (!strcmp(key, "metadata"))
		return read_json_object(json, cri_metadata, reading);
	if (!strcmp(key, "labels"))
		return read_json_object(json, cri_label, reading);
	return json_reader_skip(json);
}

static int keep_named(struct runtime_parse *parse, struct container_reading *reading)
{
	if (!reading->name || !reading->container.id)
		return 0;
	if (parse->names)
		return names_add(parse->names, reading->name, SIZE_MAX);
	if (strcmp(reading->name, parse->name) != 0)
		return 0;
	if (reading->pod) {
		reading->container.where = format_text("%s/%s/%s", reading->namespace ?: "default",
						       reading->pod, reading->name);
		if (!reading->container.where)
			return -ENOMEM;
	}
	return keep_container(parse, reading);
}

static int cri_containers(struct json_reader *json, struct runtime_parse *parse)
{
	struct container_reading reading = { 0 };
	int ret = json_reader_array(json);

	while (!ret && (ret = json_reader_element(json)) > 0) {
		ret = read_json_object(json, cri_member, &reading);
		if (!ret)
			ret = keep_named(parse, &reading);
		free_reading(&reading);
	}
	return ret;
}

int runtime_parse_cri(struct json_reader *json, struct runtime_parse *parse)
{
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) > 0)
		ret = strcmp(key, "containers") ? json_reader_skip(json) :
						  cri_containers(json, parse);
	return ret;
}

#define MAX_WORDS 8

struct container_runtime {
	const char *inspect[MAX_WORDS]; /* the name is appended, unless this lists all */
	const char *list[MAX_WORDS]; /* prints a name per line; empty: inspect lists all as JSON */
	const char *identify[MAX_WORDS]; /* prints an id and a name per line; empty: not possible */
	const char *processes[MAX_WORDS]; /* prints an id and a pid per line; empty: not possible */
	int (*parse)(struct json_reader *json, struct runtime_parse *parse);
	bool lists_all;
};

/*
 * "--" ends the options in all option parsers of these commands: cobra's, urfave/cli's and argp's.
 */
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
	 * List all, because crictl's filter by name is a regular expression, and suggestions need
	 * the list.
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

/* Whether a runtime says that it has no such container. */
static bool is_no_such(const char *last_line)
{
	return strcasestr(last_line, "no such") || strcasestr(last_line, "does not exist") ||
	       strcasestr(last_line, "not found");
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
	else if (answer->status && is_no_such(answer->last_line))
		note_none(containers, program);
	else if (answer->status)
		note_trouble(containers, "%s: %s", program,
			     answer->last_line[0] ? answer->last_line : "failed without a word");
	return !answer->late && !answer->status;
}

/*
 * If the output is not the expected JSON, the runtime has a problem. Only a lack of memory is our
 * error.
 */
static int parse(const struct container_runtime *runtime, struct tool_answer *answer,
		 struct runtime_parse *parsed, struct error *err)
{
	const char *program = runtime->inspect[0];
	struct error wrong = { 0 };
	struct json_reader *json;
	struct input *in;
	int ret = input_open_fd(answer->out, program, &in, err);

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

/*
 * containerd has a folder for each task: TASKS/NAMESPACE/ID/init.pid. No other command lists ctr's
 * containers, whose ids are chosen by users.
 */
#define TASKS "/run/containerd/io.containerd.runtime.v2.task/"

static int add_task(struct runtime_parse *parsed, const char *path)
{
	struct container_reading reading = { 0 };
	cleanup_file FILE *file = fopen(path, "re");
	int ret;

	if (!file || fscanf(file, "%d", &reading.container.pid) != 1 || reading.container.pid <= 0)
		return 0;
	reading.container.id = strdup(parsed->name);
	reading.container.where = strndup(path + strlen(TASKS), strcspn(path + strlen(TASKS), "/"));
	ret = reading.container.id && reading.container.where ? keep_container(parsed, &reading) :
								-ENOMEM;
	free_reading(&reading);
	return ret;
}

/* The name only has letters, digits, dots, underscores and minus signs. */
static int add_tasks(struct runtime_parse *parsed, struct error *err)
{
	cleanup_free char *pattern = format_text(TASKS "*/%s/init.pid", parsed->name);
	glob_t files = { 0 };
	size_t i;
	int ret = 0;

	if (!pattern)
		return error_no_memory(err, "containerd");
	parsed->runtime = "containerd";
	if (!glob(pattern, 0, NULL, &files))
		for (i = 0; !ret && i < files.gl_pathc; i++)
			ret = add_task(parsed, files.gl_pathv[i]);
	globfree(&files);
	return ret ? error_no_memory(err, "containerd") : 0;
}

static int add_task_names(struct names *names)
{
	glob_t folders = { 0 };
	size_t i;
	int ret = 0;

	if (!glob(TASKS "*/*/init.pid", 0, NULL, &folders))
		for (i = 0; !ret && i < folders.gl_pathc; i++) {
			char *end = strrchr(folders.gl_pathv[i], '/');

			*end = '\0';
			ret = names_add(names, strrchr(folders.gl_pathv[i], '/') + 1, SIZE_MAX);
		}
	globfree(&folders);
	return ret;
}

int runtimes_ask(const char *name, struct runtime_containers *result, struct error *err)
{
	struct runtime_parse parsed = { .name = name, .containers = result };
	int ret = 0;
	size_t i;

	*result = (struct runtime_containers){ 0 };
	for (i = 0; !ret && i < NR_RUNTIMES; i++)
		ret = ask_runtime(&runtimes[i], &parsed, err);
	if (!ret && !result->nr)
		ret = add_tasks(&parsed, err);
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
	if (!ret && add_task_names(result))
		ret = error_no_memory(err, "containerd");
	return ret;
}

bool runtime_list(size_t number, struct names *ids, struct names *processes)
{
	if (number >= NR_RUNTIMES)
		return false;
	if (runtimes[number].identify[0])
		ask_for_lines(runtimes[number].identify, ids, NULL);
	if (processes && runtimes[number].processes[0])
		ask_for_lines(runtimes[number].processes, processes, NULL);
	return true;
}
