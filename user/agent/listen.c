// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The HTTP server: its answers, and its access checks. */
#include "agent/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/body.h"
#include "agent/deadlines.h"
#include "base/library.h"
#include "base/error.h"
#include "base/output.h"
#include "base/regular_file.h"
#include "base/text.h"
#include "base/util.h"

/*
 * If there are CONNECTIONS_FULL, each new connection ends the oldest without a request, and uses
 * the remaining room until that has ended. From CONNECTIONS_SLOW on, connections are accepted
 * later. At CONNECTIONS_MAX libmicrohttpd would reset new ones.
 */
#define CONNECTIONS_FULL 56u
#define CONNECTIONS_SLOW 96u
#define CONNECTIONS_MAX 128u
#define IDLE_SECONDS 10u /* without any data */
#define REQUEST_MS 10000 /* for a request to arrive */
#define ANSWER_MS 60000 /* for a client to read its answer */
#define LAST_MS 1000 /* the same when the listener closes */
#define REQUEST_BYTES ((size_t)16 << 10)
#define STACK_BYTES ((size_t)1 << 20)
#define SECONDS_DEFAULT 30
#define PPROF "/debug/pprof/"

#define MHD_CALLS(X)                                                                               \
	X(MHD_start_daemon)                                                                        \
	X(MHD_stop_daemon)                                                                         \
	X(MHD_create_response_from_buffer)                                                         \
	X(MHD_add_response_header)                                                                 \
	X(MHD_queue_response)                                                                      \
	X(MHD_destroy_response)                                                                    \
	X(MHD_lookup_connection_value)                                                             \
	X(MHD_get_daemon_info)                                                                     \
	X(MHD_get_connection_info)                                                                 \
	X(MHD_is_feature_supported)

LIBRARY(MHD_CALLS, "libmicrohttpd.so.12", "libmicrohttpd12")

/* A PEM file has a few KiB. */
#define PEM_MAX 65536

struct listener {
	struct listen_options options; /* its strings belong to the caller */
	atomic_bool token_failed; /* at the last read */
	struct listen_sources sources;
	struct MHD_Daemon *daemon;
	struct deadlines *deadlines;
	atomic_uint answering; /* requests that are not answered in full */
};

static bool is_loopback(const struct addrinfo *address)
{
	const struct sockaddr_in *v4 = (const void *)address->ai_addr;
	const struct sockaddr_in6 *v6 = (const void *)address->ai_addr;

	if (address->ai_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* getaddrinfo() wraps a port number that is too high. */
static bool is_port(const char *text)
{
	uint64_t port;

	return !parse_u64(text, &port) && port <= UINT16_MAX;
}

static bool has_ipv6(void)
{
	cleanup_fd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0;
}

/*
 * text is [HOST:]PORT. The host is an address, in brackets for IPv6, and defaults to 127.0.0.1.
 * [::] also accepts IPv4, so that a pod can be reached at either of its addresses and by
 * port-forward.
 */
static int find_address(const char *text, struct addrinfo **result)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICSERV };
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char host[64] = "127.0.0.1";
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (length && *text == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (length >= sizeof(host) || !is_port(port))
		return -EINVAL;
	if (length)
		snprintf(host, sizeof(host), "%.*s", (int)length, text);
	if (!strcmp(host, "::") && !has_ipv6())
		snprintf(host, sizeof(host), "0.0.0.0");
	return getaddrinfo(host, port, &hints, result) ? -EINVAL : 0;
}

/* --- time limits --- */

static struct deadline *deadline_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		lib.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int descriptor_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		lib.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **deadline,
			    enum MHD_ConnectionNotificationCode code)
{
	const struct listener *listener = context;
	int fd = descriptor_of(connection);
	unsigned int nr;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED)
		deadline_free(*deadline);
	else if (fd >= 0) {
		nr = deadlines_make_room(listener->deadlines, CONNECTIONS_FULL);
		*deadline = deadline_new(listener->deadlines, fd, listener->options.request_ms);
		/*
		 * Delay the thread that accepts, for half a second at most, so that ended
		 * connections get a CPU.
		 */
		if (nr > CONNECTIONS_SLOW)
			usleep((nr - CONNECTIONS_SLOW) * 1000);
	}
}

/* --- answers --- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, struct bytes *body)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	/* The response owns the body from here on. */
	response =
		lib.MHD_create_response_from_buffer(body->size, body->data, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		bytes_free(body);
		return MHD_NO;
	}
	lib.MHD_add_response_header(response, "Content-Type", type);
	lib.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		lib.MHD_add_response_header(response, "Retry-After", "5");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		lib.MHD_add_response_header(response, "Allow", "GET, HEAD");
	deadline_set(deadline_of(connection), ANSWER_MS);
	result = lib.MHD_queue_response(connection, status, response);
	lib.MHD_destroy_response(response);
	return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	struct bytes body = { .data = strdup(text), .size = strlen(text) };

	if (!body.data)
		return MHD_NO;
	return answer(connection, status, "text/plain; charset=utf-8", &body);
}

/*
 * Whether functions are shown. Without a token, every user of this host could see what other users'
 * programs and the kernel are doing. Files with this are only for root.
 */
static bool shows_code(const struct listener *listener)
{
	return listener->options.token_file || listener->options.insecure;
}

static bool is_config_ok(const struct listener *listener)
{
	return !listener->sources.config_error || !listener->sources.config_error[0];
}

/*
 * The address of a scraper, which has a header that Prometheus and compatible scrapers send; NULL:
 * another client. Counters start at 0 for scrapers only.
 */
static const char *scraper_of(struct MHD_Connection *connection, char ret[SCRAPER_BYTES])
{
	const union MHD_ConnectionInfo *info =
		lib.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (!info || !lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						      "X-Prometheus-Scrape-Timeout-Seconds"))
		return NULL;
	return getnameinfo(info->client_addr,
			   info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
								      sizeof(struct sockaddr_in),
			   ret, SCRAPER_BYTES, NULL, 0, NI_NUMERICHOST) ?
		       NULL :
		       ret;
}

static enum MHD_Result get_metrics(const struct listener *listener,
				   struct MHD_Connection *connection)
{
	const char *accept = lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	const struct figures_of_sinks of = { .sinks = listener->sources.sinks,
					     .nr = listener->sources.nr_sinks };
	char address[SCRAPER_BYTES];
	struct bytes body;
	FILE *out = bytes_begin(&body);

	if (!out)
		return MHD_NO;
	if (listener->sources.scrapes)
		scrapes_read_times(listener->sources.scrapes);
	figures_write(listener->sources.figures, &of,
		      &(struct figures_form){ .openmetrics = openmetrics,
					      .functions = shows_code(listener),
					      .config_ok = is_config_ok(listener),
					      .scraper = scraper_of(connection, address) },
		      out);
	if (bytes_end(&body, out, 0, false))
		return MHD_NO;
	return answer(connection, MHD_HTTP_OK,
		      openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
				    "text/plain; version=0.0.4; charset=utf-8",
		      &body);
}

/* Writes the line of a sink. Returns whether the sink accepts what it is sent. */
static bool say_sink(FILE *out, struct sink *sink)
{
	struct sink_counts counts;
	bool ready;

	sink_count(sink, &counts);
	ready = counts.last_success && !counts.refusing;
	fprintf(out, "%s: %s", sink_name(sink),
		counts.refusing	     ? "refuses" :
		!counts.last_success ? "has accepted nothing yet" :
		counts.failing	     ? "away" :
				       "ok");
	if (counts.why[0]) {
		fputs(": ", out);
		text_write(out, counts.why, 0);
	}
	if (counts.failing && counts.pending)
		fprintf(out, "; profiles that wait: %" PRIu64 ", of %" PRIu64 " ticks",
			counts.pending, counts.pending_ticks);
	fputs(counts.spool_ok ? "\n" : "; the spool is full: they wait in memory\n", out);
	return ready;
}

/*
 * Ready if the options are in force and each sink accepts profiles. A sink that did so before and
 * is now unreachable does not count: nothing is lost, and another pod could not reach it either.
 */
static enum MHD_Result get_ready(const struct listener *listener, struct MHD_Connection *connection)
{
	const struct listen_sources *sources = &listener->sources;
	struct bytes body;
	FILE *out = bytes_begin(&body);
	bool ready = is_config_ok(listener);
	size_t i;

	if (!out)
		return MHD_NO;
	if (!ready) {
		fputs("config: ", out);
		text_write(out, sources->config_error, 0);
		fputs("; the former options are in force\n", out);
	}
	for (i = 0; i < sources->nr_sinks; i++)
		ready = say_sink(out, sources->sinks[i]) && ready;
	if (sources->identities && identities_lack_logs(sources->identities))
		fputs("names: pods have none, because " LOGS_OF_PODS " is not here\n", out);
	if (bytes_end(&body, out, 0, false))
		return MHD_NO;
	return answer(connection, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
		      "text/plain; charset=utf-8", &body);
}

/* target: a name or a cgroup; NULL: all services. Returns 0, -ENOENT or -ENOMEM. */
static int make_pprof(const struct samples *samples, const char *target, struct bytes *body)
{
	struct samples part;
	int ret;

	if (!target)
		return body_pprof(samples, NULL, body);
	ret = samples_named(&part, samples, target);
	part.hides_kernel = samples->hides_kernel;
	if (!ret)
		ret = body_pprof(&part, NULL, body);
	samples_free(&part);
	return ret;
}

static enum MHD_Result send_profile(const struct listener *listener,
				    struct MHD_Connection *connection,
				    const struct profile *profile, const char *target)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS,
						.detail = listener->options.detail,
						.waits = true };
	struct bytes body = { 0 };
	struct samples samples;
	struct error err;
	int ret = samples_build(&samples, profile, &options, &err);

	samples.hides_kernel = true;
	if (!ret)
		ret = make_pprof(&samples, target, &body);
	samples_free(&samples);
	if (!ret)
		return answer(connection, MHD_HTTP_OK, "application/octet-stream", &body);
	bytes_free(&body);
	if (ret == -ENOENT)
		return say(connection, MHD_HTTP_NOT_FOUND,
			   "no service of that name or cgroup had a tick\n");
	return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
}

static enum MHD_Result get_profile(const struct listener *listener,
				   struct MHD_Connection *connection)
{
	const char *typed =
		lib.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds");
	const char *target =
		lib.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "target");
	uint64_t seconds = SECONDS_DEFAULT;
	struct profile *profile = NULL;
	struct error err = { 0 };
	enum MHD_Result result;
	int ret;

	if (typed && (parse_u64(typed, &seconds) || !seconds || seconds > SCRAPE_SECONDS_MAX))
		return say(connection, MHD_HTTP_BAD_REQUEST,
			   "seconds: must be a whole number from 1 to 300\n");
	ret = scrapes_wait(listener->sources.scrapes, (unsigned int)seconds,
			   descriptor_of(connection), &profile, &err);
	/* The client has gone. */
	if (ret == -EPIPE)
		return MHD_NO;
	if (ret == -EBUSY)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "as many are being profiled for as may\n");
	if (ret == -ENODATA || ret == -ENOMEM)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "the agent has no memory for this profile\n");
	if (ret)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "the agent ends, or reads its options again\n");
	figures_count_scrape(listener->sources.figures);
	result = send_profile(listener, connection, profile, target);
	profile_free(profile);
	return result;
}

/* --- access --- */

/* Tokens are compared with padding, so that the time of a comparison reveals nothing about them. */
#define TOKEN_BYTES 512

/* Reads the file for each request, because the token may change. False: there is no token. */
static bool read_token(struct listener *listener, char token[TOKEN_BYTES])
{
	const char *why = NULL;
	cleanup_file FILE *file = regular_file_stream(listener->options.token_file, &why);
	bool failed;

	memset(token, 0, TOKEN_BYTES);
	if (file && fgets(token, TOKEN_BYTES, file))
		token[strcspn(token, "\r\n")] = '\0';
	failed = !token[0];
	if (failed && !atomic_exchange(&listener->token_failed, failed))
		print_message(NULL,
			      "agent: --listen-token-file %s: no token can be read; "
			      "requests are refused",
			      listener->options.token_file);
	else if (!failed)
		atomic_store(&listener->token_failed, false);
	return !failed;
}

static bool is_same(const char a[TOKEN_BYTES], const char b[TOKEN_BYTES])
{
	volatile unsigned char difference = 0;
	size_t i;

	for (i = 0; i < TOKEN_BYTES; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return !difference;
}

static bool is_authorized(struct listener *listener, struct MHD_Connection *connection)
{
	static const char scheme[] = "Bearer ";
	const char *authorization;
	char token[TOKEN_BYTES], given[TOKEN_BYTES] = "";
	bool may;

	if (!listener->options.token_file)
		return true;
	authorization =
		lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
	if (authorization && !strncasecmp(authorization, scheme, strlen(scheme)) &&
	    strlen(authorization) - strlen(scheme) < sizeof(given))
		memcpy(given, authorization + strlen(scheme),
		       strlen(authorization) - strlen(scheme));
	may = read_token(listener, token) && is_same(token, given);
	explicit_bzero(token, sizeof(token));
	explicit_bzero(given, sizeof(given));
	return may;
}

static enum MHD_Result get_health(const struct listener *listener,
				  struct MHD_Connection *connection)
{
	const struct listen_sources *from = &listener->sources;
	/* Read before the clock, which a cut meanwhile would be ahead of. */
	const uint64_t cut_ns = from->cut_ns ? *from->cut_ns : 0;

	if (cut_ns && monotonic_ns() - cut_ns > from->late_ns)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "no profile was made in the last three intervals\n");
	return say(connection, MHD_HTTP_OK, "ok\n");
}

static enum MHD_Result get(const struct listener *listener, struct MHD_Connection *connection,
			   const char *url, bool head)
{
	if (!strcmp(url, "/metrics"))
		return get_metrics(listener, connection);
	if (!strcmp(url, "/readyz"))
		return get_ready(listener, connection);
	/* Answer HEAD without waiting for a profile. */
	if (!strncmp(url, PPROF, strlen(PPROF)) && !shows_code(listener))
		return say(connection, MHD_HTTP_UNAUTHORIZED,
			   "profiles are for those who send a token: --listen-token-file FILE, "
			   "or --insecure-listen for anybody\n");
	if (!strcmp(url, PPROF "profile"))
		return head ? say(connection, MHD_HTTP_OK, "") : get_profile(listener, connection);
	return say(connection, MHD_HTTP_NOT_FOUND,
		   "here are /metrics, /debug/pprof/profile?seconds=N, /healthz and /readyz\n");
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct listener *listener = context;

	(void)version, (void)upload;
	if (!*request)
		atomic_fetch_add(&listener->answering, 1);
	*request = listener;
	/*
	 * The request is complete, because bodies are not read. Therefore libmicrohttpd closes the
	 * connection after the answer. A profile may take minutes from here on.
	 */
	deadline_request_arrived(deadline_of(connection));
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		*upload_size = 0;
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	}
	if (!strcmp(url, "/healthz"))
		return get_health(listener, connection);
	if (!is_authorized(listener, connection))
		return say(connection, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong\n");
	return get(listener, connection, url, !strcmp(method, "HEAD"));
}

static void note_answered(void *context, struct MHD_Connection *connection, void **request,
			  enum MHD_RequestTerminationCode code)
{
	struct listener *listener = context;

	(void)connection, (void)code;
	if (*request)
		atomic_fetch_sub(&listener->answering, 1);
	*request = NULL;
}

/* --- open and close --- */

static char *read_pem(const char *option, const char *path, struct error *err)
{
	const char *why = "no text in it";
	cleanup_file FILE *file = regular_file_stream(path, &why);
	char *text = file ? calloc(1, PEM_MAX) : NULL;

	if (text && fread(text, 1, PEM_MAX - 1, file) && !ferror(file))
		return text;
	error_set(err, -EINVAL, "agent: --%s: %.200s: %s", option, path, why);
	free(text);
	return NULL;
}

static int refuse_tls(const struct listen_options *options, struct error *err)
{
	return error_set(err, -EINVAL,
			 "agent: --listen-cert %.200s: no certificate that fits %.200s",
			 options->certificate, options->key);
}

/*
 * Returns why nobody can listen at the address, as -errno, or 0. With libmicrohttpd 1.0, errno is
 * that of another call.
 */
static int listen_error(const struct addrinfo *address)
{
	const int on = 1;
	cleanup_fd int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
			       bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, 1) ?
		       -errno :
		       0;
}

/* certificate and key are PEM texts; NULL: plain HTTP. */
static int start(struct listener *listener, const struct addrinfo *address, const char *certificate,
		 const char *key, struct error *err)
{
	/* Use poll(): select() has a limit of 1,024 descriptors, and profiled files stay open. */
	unsigned int flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION;
	struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate },
					{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key },
					{ MHD_OPTION_END, 0, NULL } };
	int ret;

	if (!certificate)
		tls[0].option = MHD_OPTION_END;
	else
		flags |= MHD_USE_TLS;
	/* Only [::] accepts IPv4 as well. */
	if (address->ai_family == AF_INET6)
		flags |= MHD_USE_DUAL_STACK;
	listener->daemon = lib.MHD_start_daemon(
		flags, 0, NULL, NULL, handle, listener, MHD_OPTION_SOCK_ADDR, address->ai_addr,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_NOTIFY_CONNECTION, note_connection, listener,
		MHD_OPTION_NOTIFY_COMPLETED, note_answered, listener,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
		STACK_BYTES, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (listener->daemon)
		return 0;
	ret = listen_error(address);
	if (certificate && !ret)
		return refuse_tls(&listener->options, err);
	return error_errno(err, ret ?: -EIO, "agent: --listen %s", listener->options.address);
}

static int start_tls(struct listener *listener, const struct addrinfo *address, struct error *err)
{
	const struct listen_options *options = &listener->options;
	cleanup_free char *certificate = NULL;
	char *key;
	int ret = -EINVAL;

	if (!lib.MHD_is_feature_supported(MHD_FEATURE_TLS))
		return error_set(err, -ENOTSUP,
				 "agent: --listen-cert: this libmicrohttpd knows no TLS");
	certificate = read_pem("listen-cert", options->certificate, err);
	key = certificate ? read_pem("listen-key", options->key, err) : NULL;
	if (!key)
		return ret;
	ret = start(listener, address, certificate, key, err);
	explicit_bzero(key, PEM_MAX);
	free(key);
	return ret;
}

/* The caller frees *result with freeaddrinfo(). */
static int resolve(const struct listen_options *options, struct addrinfo **result,
		   struct error *err)
{
	const char *text = options->address;

	if (find_address(text, result))
		return error_set(err, -EINVAL,
				 "agent: --listen '%.100s': must be [HOST:]PORT, like "
				 "127.0.0.1:9464",
				 text);
	if (is_loopback(*result) || options->insecure ||
	    (options->certificate && options->token_file))
		return 0;
	freeaddrinfo(*result);
	return error_with_hint(
		err, -EINVAL,
		"--listen-cert, --listen-key and --listen-token-file, or an address like "
		"127.0.0.1:9464, or --insecure-listen",
		"agent: --listen %.100s: other hosts, and anyone there, could read profiles", text);
}

int listener_check(const struct listen_options *options, struct error *err)
{
	struct addrinfo *address;
	int ret;

	if (!options->certificate != !options->key)
		return error_set(err, -EINVAL,
				 "agent: --listen-cert and --listen-key: both or none");
	ret = resolve(options, &address, err);
	if (!ret)
		freeaddrinfo(address);
	return ret;
}

static int open_at(struct listener *listener, struct error *err)
{
	struct addrinfo *address;
	int ret = resolve(&listener->options, &address, err);

	if (ret)
		return ret;
	ret = load_library(err);
	if (!ret)
		ret = listener->options.certificate ? start_tls(listener, address, err) :
						      start(listener, address, NULL, NULL, err);
	freeaddrinfo(address);
	return ret;
}

int listener_open(const struct listen_options *options, const struct listen_sources *sources,
		  struct listener **result, struct error *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int ret;

	if (!listener)
		return error_errno(err, -ENOMEM, "agent");
	listener->options = *options;
	listener->sources = *sources;
	if (!listener->options.request_ms)
		listener->options.request_ms = REQUEST_MS;
	ret = deadlines_open(&listener->deadlines, err);
	if (!ret)
		ret = open_at(listener, err);
	if (!ret) {
		if (options->functions && !shows_code(listener))
			print_message(NULL, "agent: --top-functions: /metrics has none without "
					    "--listen-token-file or --insecure-listen");
		*result = listener;
		return 0;
	}
	deadlines_close(listener->deadlines);
	free(listener);
	return ret;
}

unsigned int listener_port(const struct listener *listener)
{
	const union MHD_DaemonInfo *info =
		lib.MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}

/* Wait until the answers to cancelled scrapes have been sent. */
static void let_answer(struct listener *listener)
{
	uint64_t until = monotonic_ns() + LAST_MS * UINT64_C(1000000);

	while (atomic_load(&listener->answering) && monotonic_ns() < until)
		usleep(10000);
}

void listener_close(struct listener *listener)
{
	if (!listener)
		return;
	let_answer(listener);
	lib.MHD_stop_daemon(listener->daemon);
	deadlines_close(listener->deadlines);
	free(listener);
}
