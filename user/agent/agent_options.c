// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/agent_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/regular_file.h"
#include "base/util.h"

#define INTERVAL_NS UINT64_C(60000000000)
#define RETRY_NS UINT64_C(5000000000)
#define RETRY_MOST_NS UINT64_C(30000000000)
#define RETRY_DENIED_NS UINT64_C(300000000000)
#define UNREADABLE_NS UINT64_C(3600000000000)
#define TIMEOUT_MS 30000
#define PENDING (UINT64_C(8) << 20)
#define SPOOL (UINT64_C(64) << 20)
#define PENDING_MIN (64 << 10)

static int set_sink(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct agent_arguments *arguments = field;
	struct agent_options *agent = &arguments->agent;
	struct sink_options sink = { .where = value };

	while (strcmp(sink_names[sink.kind], opt->name) != 0)
		sink.kind++;
	if (!*value)
		return opt_bad(opt, value, err, "must not be empty");
	if (PUSH(agent->sinks, arguments->room_sinks, agent->nr_sinks, sink))
		return error_errno(err, -ENOMEM, "agent");
	return 0;
}

static int set_timeout(const struct opt *opt, const char *value, void *field, struct error *err)
{
	uint64_t *timeout_ms = field, ns;

	if (parse_duration(value, &ns) || ns < 1000000 || ns / 1000000 > INT_MAX)
		return opt_bad(opt, value, err, "must be a time like 10, 500ms or 1m");
	*timeout_ms = ns / 1000000;
	return 0;
}

/* KIND=GLOB */
static int set_rule(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct agent_arguments *arguments = field;
	struct agent_choice *choice = &arguments->agent.choice;
	const char *equals = strchr(value, '=');
	struct choice_rule rule = { .exclude = !strcmp(opt->name, "exclude") };
	size_t length = equals ? (size_t)(equals - value) : 0;

	while (rule.kind < NR_CHOICES && (strlen(choice_words[rule.kind]) != length ||
					  strncmp(choice_words[rule.kind], value, length) != 0))
		rule.kind++;
	if (rule.kind == NR_CHOICES || !equals[1])
		return opt_bad(opt, value, err,
			       "must be namespace=, pod=, container=, unit= or cgroup= and a "
			       "pattern, like 'namespace=shop-*'");
	rule.glob = equals + 1;
	if (PUSH(arguments->rules, arguments->room_rules, choice->nr_rules, rule))
		return error_errno(err, -ENOMEM, "agent");
	choice->rules = arguments->rules;
	return 0;
}

static bool is_label_key(const char *key)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
	size_t length = strlen(key);

	return length && length < 64 && strspn(key, letters) == length;
}

/* Trims blanks at both ends, in place. */
static char *agent_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Returns a copy that lives as long as the arguments and their sinks; NULL: out of memory. */
static char *agent_keep(struct agent_arguments *arguments, const char *text)
{
	return option_texts_keep(&arguments->texts, strdup(text));
}

/*
 * Pyroscope and Parca have underscores in place of other characters. Of two labels of a name, they
 * would get ours.
 */
static bool is_taken(const char *key, const char *taken)
{
	while (*key && (*key == *taken || (*taken == '_' && strchr(".-/", *key))))
		key++, taken++;
	return !*key && !*taken;
}

/* A later label replaces an earlier one of the same key: the command line overrides the file. */
static int set_label(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct agent_arguments *arguments = field;
	struct agent_choice *choice = &arguments->agent.choice;
	const char *equals = strchr(value, '=');
	char *key = agent_keep(arguments, value);
	size_t i;

	if (!key)
		return error_errno(err, -ENOMEM, "agent");
	if (equals)
		key[equals - value] = '\0';
	if (!equals || !equals[1] || strlen(equals + 1) > 255 || !is_label_key(key))
		return opt_bad(opt, value, err,
			       "must be KEY=VALUE, the key of letters, digits, _ . - and /");
	if (is_taken(key, "service_name"))
		return opt_bad(opt, value, err, "--service sets the name of a service");
	if (is_taken(key, "__name__"))
		return opt_bad(opt, value, err, "Pyroscope and Parca use this key themselves");
	for (i = 0; i < choice->nr_labels && strcmp(choice->labels[i].key, key) != 0;)
		i++;
	if (i == CHOICE_LABELS_MAX)
		return opt_bad(opt, value, err, "there are %d already, and backends take no more",
			       CHOICE_LABELS_MAX);
	choice->labels[i] = (struct choice_label){ .key = key, .value = equals + 1 };
	if (i == choice->nr_labels)
		choice->nr_labels++;
	return 0;
}

static int set_service(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char **service = field, *wrong;

	if (choice_check_template(value, &wrong))
		return opt_bad(opt, value, err, "%s", wrong);
	*service = value;
	return 0;
}

#define FIELD(member) offsetof(struct agent_arguments, member)

static const char *const details[] = { "address", "line", "function", NULL };

const struct opt agent_sink_opts[] = {
	OPT_SETTER(
		"dir", "DIR", set_sink,
		"write profiles, compressed, to this directory, which must exist; all sinks are repeatable",
		.value = VALUE_DIR),
	OPT_SETTER("otlp", "URL", set_sink, "OpenTelemetry's profiles: http, https, grpc or grpcs"),
	OPT_SETTER("pyroscope", "URL", set_sink, "Pyroscope: http or https"),
	OPT_SETTER("parca", "URL", set_sink, "Parca: http or https"),
	{ 0 }
};

const struct opt agent_delivery_opts[] = {
	OPT_WORD("detail", FIELD(all.detail), "WHAT", details,
		 "send places as address, line or function", .fallback = "function"),
	OPT_SIZE("pending", FIELD(all.cap), PENDING_MIN, "8M",
		 "limit the queue of each sink in memory; beyond it the oldest profiles are merged",
		 .fallback = "8M", .max = UINT64_C(1) << 40),
	OPT_DIR("spool", FIELD(agent.spool),
		"keep the queue of each URL in this directory, for the next agent too",
		.fallback = "in memory"),
	OPT_SIZE("spool-size", FIELD(all.spool_cap), PENDING_MIN, "8M",
		 "limit the queue of each URL there", .fallback = "64M", .max = UINT64_C(1) << 40),
	OPT_WORD("old-spools", FIELD(agent.old_spools), "WHAT", old_spools_words,
		 "keep, send or drop queued profiles of a sink that is no longer configured",
		 .fallback = "keep"),
	OPT_SETTER("timeout", "T", set_timeout, "give up a request after this time",
		   .fallback = "30", .field = FIELD(all.http.timeout_ms)),
	OPT_FILE("headers-file", FIELD(all.http.headers_file),
		 "additional headers, one \"Name: value\" a line; read for each request"),
	OPT_FILE("token-file", FIELD(all.http.token_file), "bearer token; read for each request"),
	OPT_FILE("ca", FIELD(all.http.ca), "CA certificates to verify backends with",
		 .fallback = "those of the host"),
	OPT_FILE("cert", FIELD(all.http.certificate), "client certificate"),
	OPT_FILE("key", FIELD(all.http.key), "client key"),
	{ 0 }
};

const struct opt agent_choice_opts[] = {
	OPT_SETTER("include", "KIND=GLOB", set_rule,
		   "sample only these cgroups, by namespace=, pod=, container=, unit= or cgroup=; "
		   "repeatable",
		   .fallback = "all"),
	OPT_SETTER("exclude", "KIND=GLOB", set_rule,
		   "do not sample these, even if --include matches; repeatable"),
	OPT_SETTER("label", "KEY=VALUE", set_label,
		   "add a label to everything that is sent; repeatable"),
	OPT_SETTER(
		"service", "TEMPLATE", set_service,
		"name of a service, from {unit}, {container}, {pod}, {namespace}, {cgroup} and {host}",
		.fallback =
			"{namespace}/{container}, else {namespace}/{pod}, {container}, {unit} or "
			"{cgroup}",
		.field = FIELD(agent.choice.service)),
	{ 0 }
};

const struct opt agent_listen_opts[] = {
	OPT_STRING("listen", FIELD(agent.listen.address), "[HOST:]PORT",
		   "answer /metrics, /debug/pprof/profile, /healthz and /readyz at this address",
		   .fallback = "do not listen"),
	OPT_NUMBER("top-functions", FIELD(agent.listen.functions), "N", 1, 1000,
		   "add a counter to /metrics for each of the N hottest functions of each service",
		   .fallback = "none"),
	OPT_FILE("listen-cert", FIELD(agent.listen.certificate), "serve TLS with this certificate"),
	OPT_FILE("listen-key", FIELD(agent.listen.key), "server key"),
	OPT_FILE("listen-token-file", FIELD(agent.listen.token_file),
		 "answer only requests with this bearer token; read for each request"),
	OPT_FLAG("insecure-listen", FIELD(agent.listen.insecure),
		 "serve profiles without TLS and token, even to other hosts"),
	{ 0 }
};

const struct opt agent_config_opts[] = {
	OPT_FILE(
		"config", FIELD(config),
		"read options from this file (\"name = value\" lines), and reread it when it changes"),
	{ 0 }
};

void agent_arguments_init(struct agent_arguments *arguments)
{
	struct sampling_options *sampling = &arguments->agent.sampling;

	*arguments = (struct agent_arguments){ .all = { .http.timeout_ms = TIMEOUT_MS,
							.detail = EXPORT_FUNCTION,
							.cap = PENDING,
							.spool_cap = SPOOL,
							.retry_ns = RETRY_NS,
							.retry_most_ns = RETRY_MOST_NS,
							.retry_denied_ns = RETRY_DENIED_NS,
							.unreadable_ns = UNREADABLE_NS } };
	sampling_options_init(sampling);
	sampling->interval_ns = INTERVAL_NS;
	sampling->mode = MODE_KERNEL_APART;
	sampling->split = SPLIT_CGROUP;
	sampling->budget_percent = 0.1;
}

void agent_arguments_free(struct agent_arguments *arguments)
{
	option_texts_release(arguments->texts);
	free(arguments->rules);
	free(arguments->agent.sinks);
	sampling_options_free(&arguments->agent.sampling);
}

/* --- the environment --- */

/* OTEL_EXPORTER_OTLP_PROFILES_NAME, else OTEL_EXPORTER_OTLP_NAME; "" counts as unset. */
static const char *variable(const char *name, bool *ret_general)
{
	char full[64];
	const char *value;

	snprintf(full, sizeof(full), "OTEL_EXPORTER_OTLP_PROFILES_%s", name);
	value = getenv(full);
	if (ret_general)
		*ret_general = !value || !*value;
	if (value && *value)
		return value;
	snprintf(full, sizeof(full), "OTEL_EXPORTER_OTLP_%s", name);
	value = getenv(full);
	return value && *value ? value : NULL;
}

static void fill_in(const char **field, const char *name)
{
	if (!*field)
		*field = variable(name, NULL);
}

/* Values may be percent-encoded. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '%' && hex_value(text[1]) >= 0 && hex_value(text[2]) >= 0) {
			*to++ = (char)(hex_value(text[1]) << 4 | hex_value(text[2]));
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static int add_header(struct agent_arguments *arguments, char *pair, struct error *err)
{
	char *equals = strchr(pair, '='), *header;

	if (!equals)
		return error_set(err, -EINVAL,
				 "OTEL_EXPORTER_OTLP_HEADERS: must be name=value,name=value");
	*equals = '\0';
	decode(equals + 1);
	/* A newline in a value would start another header. */
	if (strpbrk(equals + 1, "\r\n"))
		return error_set(err, -EINVAL, "OTEL_EXPORTER_OTLP_HEADERS: a value has two lines");
	header = format_text("%s: %s", agent_trim(pair), agent_trim(equals + 1));
	arguments->headers[arguments->nr_headers] = option_texts_keep(&arguments->texts, header);
	return arguments->headers[arguments->nr_headers++] ? 0 : error_errno(err, -ENOMEM, "agent");
}

static int read_headers(struct agent_arguments *arguments, struct error *err)
{
	const char *text = variable("HEADERS", NULL);
	char *list, *pair, *rest = NULL;
	size_t most = 2;
	int ret = 0;

	if (!text)
		return 0;
	list = agent_keep(arguments, text);
	for (; (text = strchr(text, ',')); text++)
		most++;
	arguments->headers =
		option_texts_keep(&arguments->texts, calloc(most, sizeof(*arguments->headers)));
	if (!list || !arguments->headers)
		return error_errno(err, -ENOMEM, "agent");
	for (pair = strtok_r(list, ",", &rest); pair && !ret; pair = strtok_r(NULL, ",", &rest))
		ret = add_header(arguments, pair, err);
	return ret;
}

/* The general endpoint is a base URL, to which the profiles' path is added. gRPC has no paths. */
static int read_endpoint(struct agent_arguments *arguments, struct error *err)
{
	const char *protocol = variable("PROTOCOL", NULL), *endpoint, *path = "";
	bool general, grpc = protocol && !strcmp(protocol, "grpc");
	size_t length;
	char *url;
	struct opt opt = { .name = "otlp" };

	endpoint = variable("ENDPOINT", &general);
	if (!endpoint)
		return 0;
	length = strlen(endpoint);
	while (length && endpoint[length - 1] == '/')
		length--;
	if (general && !grpc)
		path = "/v1development/profiles";
	if (grpc && !strncmp(endpoint, "http", 4)) {
		endpoint += 4;
		length -= 4;
	} else {
		grpc = false;
	}
	url = format_text("%s%.*s%s", grpc ? "grpc" : "", (int)length, endpoint, path);
	url = option_texts_keep(&arguments->texts, url);
	return url ? set_sink(&opt, url, arguments, err) : error_errno(err, -ENOMEM, "agent");
}

int agent_environment_read(struct agent_arguments *arguments, struct error *err)
{
	size_t i;
	int ret;

	fill_in(&arguments->all.http.ca, "CERTIFICATE");
	fill_in(&arguments->all.http.certificate, "CLIENT_CERTIFICATE");
	fill_in(&arguments->all.http.key, "CLIENT_KEY");
	ret = read_headers(arguments, err);
	for (i = 0; i < arguments->agent.nr_sinks; i++)
		if (arguments->agent.sinks[i].kind == SINK_OTLP)
			return ret;
	return ret ? ret : read_endpoint(arguments, err);
}

/* --- all together --- */

/* Rules match names of cgroups. Therefore they need --split cgroup. */
static int check_rules(const struct agent_options *agent, struct error *err)
{
	if (!agent->choice.nr_rules || agent->sampling.split == SPLIT_CGROUP)
		return 0;
	return error_with_hint(err, -EINVAL, "leaving --split out",
			       "agent: --%s: only cgroups can be chosen",
			       agent->choice.rules->exclude ? "exclude" : "include");
}

static int check_url(const struct sink_options *sink, struct error *err)
{
	struct error why;
	bool grpc;

	if (sink->kind != SINK_DIR && http_check(sink->where, &grpc, &why))
		return error_set(err, -EINVAL, "agent: %s", why.text);
	if (sink->kind == SINK_DIR || sink->kind == SINK_OTLP || !grpc)
		return 0;
	return error_set(err, -EINVAL, "agent: --%s: grpc is for --otlp", sink_names[sink->kind]);
}

int agent_arguments_settle(struct agent_arguments *arguments, struct error *err)
{
	struct agent_options *agent = &arguments->agent;
	size_t i;

	agent->listen.detail = arguments->all.detail;
	arguments->all.spool = agent->spool;
	arguments->all.texts = arguments->texts;
	if (!agent->nr_sinks && !agent->listen.address)
		return error_with_hint(
			err, -EINVAL,
			"--otlp http://localhost:4318, --dir /var/lib/bpfprofil or --listen 9464",
			"agent: no sink given");
	if (check_rules(agent, err) ||
	    (agent->listen.address && listener_check(&agent->listen, err)))
		return -EINVAL;
	for (i = 0; i < agent->nr_sinks; i++) {
		const struct sink_options given = agent->sinks[i];
		struct sink_options *sink = &agent->sinks[i];

		*sink = arguments->all;
		sink->kind = given.kind;
		sink->where = given.where;
		if (sink->kind == SINK_OTLP)
			sink->http.headers = arguments->headers;
		if (check_url(sink, err))
			return -EINVAL;
	}
	return 0;
}

/* The agent's file of options. Each line is parsed like an option on the command line. */

#define LINE_BYTES 4096 /* the longest line */
#define CONFIG_BYTES (1 << 20) /* the largest file: a sparse file could have any size */

/* A name has no blanks. Therefore text after a blank must be a value. */
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
	char *equals = strchr(line, '='), *typed;
	char *argv[] = { (char *)command->name, NULL, NULL };
	struct opts_parsed parsed = { 0 };
	int ret = check_equals(line, err);

	if (ret)
		return ret;
	if (equals)
		*equals = '\0';
	typed = equals ? format_text("--%s=%s", agent_trim(line), agent_trim(equals + 1)) :
			 format_text("--%s", agent_trim(line));
	argv[1] = option_texts_keep(&arguments->texts, typed);
	if (!argv[1])
		return error_errno(err, -ENOMEM, "agent");
	ret = opts_parse(command, 2, argv, arguments, &parsed, err);
	if (!ret && (parsed.help || parsed.version || parsed.first != 2))
		ret = error_set(err, -EINVAL, "'%.200s': no option", line);
	return ret;
}

/* Returns false at the end of the file, and on an error, which is then in *ret. */
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

/* Adds the file and the line to an error. */
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

/*
 * After a wrong line, search the rest of the file for the spool: that folder has the last good
 * file.
 */
static void find_spool(const struct command *command, struct agent_arguments *arguments, FILE *file)
{
	char line[LINE_BYTES + 2], *text;
	struct error ignored = { 0 };
	int ret;

	while (next_line(file, line, &ignored, &ret)) {
		text = agent_trim(line);
		if (strcspn(text, "= \t") == strlen("spool") && !strncmp(text, "spool", 5))
			read_line(command, arguments, text, &ignored);
	}
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
	struct stat st;
	int ret;

	if (!path)
		return error_no_memory(err, "agent");
	if (!file)
		return error_set(err, -EIO, "agent: --config: %.256s: %s", path, trouble);
	if (!fstat(fileno(file), &st) && st.st_size > CONFIG_BYTES)
		return error_set(err, -EFBIG, "agent: --config: %.256s: larger than %d KiB", path,
				 CONFIG_BYTES >> 10);
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
	if (!ret)
		return 0;
	find_spool(command, arguments, file);
	return wrong_line(path, number, &why, ret, err);
}

const char *agent_last_good(struct agent_arguments *arguments)
{
	char path[PATH_MAX];

	if (!arguments->agent.config || !arguments->agent.spool)
		return NULL;
	snprintf(path, sizeof(path), "%s/last-good.conf", arguments->agent.spool);
	return agent_keep(arguments, path);
}
