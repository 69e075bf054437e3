// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "agent/body.h"
#include "agent/library.h"
#include "base/util.h"
#include "export/resource.h"

#define CONNECTIONS_MAX 64
#define IDLE_SECONDS 10u /* for a connection that is silent or too slow */
#define REQUEST_BYTES ((size_t)16 << 10)
#define STACK_BYTES ((size_t)1 << 20)
#define SECONDS_DEFAULT 30

#define MHD_CALLS(X)                                                                               \
	X(MHD_start_daemon)                                                                        \
	X(MHD_stop_daemon)                                                                         \
	X(MHD_create_response_from_buffer)                                                         \
	X(MHD_add_response_header)                                                                 \
	X(MHD_queue_response)                                                                      \
	X(MHD_destroy_response)                                                                    \
	X(MHD_lookup_connection_value)                                                             \
	X(MHD_get_daemon_info)

static struct {
	MHD_CALLS(LIBRARY_POINTER)
} lib;
static const char *const call_names[] = { MHD_CALLS(LIBRARY_NAME) };

struct listener {
	struct listen_options options;
	struct listen_sources sources;
	struct MHD_Daemon *daemon;
};

static bool is_loopback(const struct addrinfo *address)
{
	const struct sockaddr_in *v4 = (const void *)address->ai_addr;
	const struct sockaddr_in6 *v6 = (const void *)address->ai_addr;

	if (address->ai_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* [HOST:]PORT; the host is a number, in brackets for IPv6; without a host it is this one. */
static int find_address(const char *text, struct addrinfo **ret)
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
	if (length >= sizeof(host) || !*port)
		return -EINVAL;
	if (length)
		snprintf(host, sizeof(host), "%.*s", (int)length, text);
	return getaddrinfo(host, port, &hints, ret) ? -EINVAL : 0;
}

/* --- answers --- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, struct bytes *body)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	/* From here on the response owns the body. */
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

static enum MHD_Result get_metrics(const struct listener *listener,
				   struct MHD_Connection *connection)
{
	const char *accept = lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	const struct figures_of_sinks of = { .sinks = listener->sources.sinks,
					     .nr = listener->sources.nr_sinks,
					     .scrapes = listener->sources.scrapes->done };
	struct bytes body = { 0 };
	FILE *out = open_memstream(&body.data, &body.size);

	if (!out)
		return MHD_NO;
	figures_write(listener->sources.figures, &of, openmetrics, out);
	if (fclose(out)) {
		bytes_free(&body);
		return MHD_NO;
	}
	return answer(connection, MHD_HTTP_OK,
		      openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
				    "text/plain; version=0.0.4; charset=utf-8",
		      &body);
}

/* The agent is ready if what is counted is delivered. */
static enum MHD_Result get_ready(const struct listener *listener, struct MHD_Connection *connection)
{
	struct bytes body = { 0 };
	FILE *out = open_memstream(&body.data, &body.size);
	struct sink_counts counts;
	bool failing = false;
	size_t i;

	if (!out)
		return MHD_NO;
	for (i = 0; i < listener->sources.nr_sinks; i++) {
		sink_count(listener->sources.sinks[i], &counts);
		failing = failing || counts.failing;
		fprintf(out, "%s: %s\n", sink_name(listener->sources.sinks[i]),
			counts.failing ? "away" : "ok");
	}
	if (fclose(out)) {
		bytes_free(&body);
		return MHD_NO;
	}
	return answer(connection, failing ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
		      "text/plain; charset=utf-8", &body);
}

/*
 * Finds the service with that name or cgroup; *ret is NULL, for all services, if no name is given.
 * False: there is none.
 */
static bool find_service(const struct samples *samples, const char *target,
			 const struct sample_service **ret)
{
	struct resource resource;
	bool found = false;
	size_t i;

	*ret = NULL;
	for (i = 1; target && !found && i < samples->nr_services; i++) {
		if (!resource_of(&resource, samples, &samples->services[i]))
			found = !strcmp(resource.texts.all[resource.all[0].value], target);
		found = found || (samples->services[i].cgroup &&
				  !strcmp(samples->services[i].cgroup, target));
		resource_free(&resource);
		*ret = found ? &samples->services[i] : NULL;
	}
	return found || !target;
}

static enum MHD_Result send_profile(const struct listener *listener,
				    struct MHD_Connection *connection,
				    const struct profile *profile, const char *target)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS,
						.detail = listener->options.detail };
	const struct sample_service *service;
	struct bytes body = { 0 };
	struct samples samples;
	struct error err;
	bool found = true;
	int code = samples_build(&samples, profile, &options, &err);

	if (!code)
		found = find_service(&samples, target, &service);
	if (!code && found)
		code = body_pprof(&samples, service, &body);
	samples_free(&samples);
	if (code) {
		bytes_free(&body);
		return say(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	}
	if (!found)
		return say(connection, MHD_HTTP_NOT_FOUND,
			   "no service of that name or cgroup had a tick\n");
	return answer(connection, MHD_HTTP_OK, "application/octet-stream", &body);
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
	int code;

	if (typed && (parse_u64(typed, &seconds) || !seconds || seconds > SCRAPE_SECONDS_MAX))
		return say(connection, MHD_HTTP_BAD_REQUEST,
			   "seconds: must be a whole number from 1 to 300\n");
	code = scrapes_wait(listener->sources.scrapes, (unsigned int)seconds, &profile, &err);
	if (code == -EBUSY)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "as many are being profiled for as may\n");
	if (code)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the agent ends\n");
	result = send_profile(listener, connection, profile, target);
	profile_free(profile);
	return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	const struct listener *listener = context;

	(void)version, (void)upload, (void)request;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		*upload_size = 0;
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	}
	if (!strcmp(url, "/metrics"))
		return get_metrics(listener, connection);
	if (!strcmp(url, "/healthz"))
		return say(connection, MHD_HTTP_OK, "ok\n");
	if (!strcmp(url, "/readyz"))
		return get_ready(listener, connection);
	/* A HEAD request need not wait for a profile. */
	if (!strcmp(url, "/debug/pprof/profile") && !strcmp(method, "HEAD"))
		return say(connection, MHD_HTTP_OK, "");
	if (!strcmp(url, "/debug/pprof/profile"))
		return get_profile(listener, connection);
	return say(connection, MHD_HTTP_NOT_FOUND,
		   "here are /metrics, /debug/pprof/profile?seconds=N, /healthz and /readyz\n");
}

/* --- its life --- */

static int start(struct listener *listener, const struct addrinfo *address, struct error *err)
{
	unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION;

	if (address->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	listener->daemon = lib.MHD_start_daemon(
		flags, 0, NULL, NULL, handle, listener, MHD_OPTION_SOCK_ADDR, address->ai_addr,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_END);
	if (listener->daemon)
		return 0;
	return error_errno(err, errno ? -errno : -EIO, "agent: --listen %s",
			   listener->options.address);
}

/* The caller frees *ret with freeaddrinfo(). */
static int resolve(const struct listen_options *options, struct addrinfo **ret, struct error *err)
{
	const char *text = options->address;

	if (find_address(text, ret))
		return error_set(err, -EINVAL,
				 "agent: --listen '%.100s': must be [HOST:]PORT, like "
				 "127.0.0.1:9464",
				 text);
	if (is_loopback(*ret) || options->insecure)
		return 0;
	freeaddrinfo(*ret);
	error_set(err, -EINVAL,
		  "agent: --listen %.100s: others than this host could ask, and anyone there",
		  text);
	error_hint(err, "--insecure-listen, or an address like 127.0.0.1:9464");
	return -EINVAL;
}

int listener_check(const struct listen_options *options, struct error *err)
{
	struct addrinfo *address;
	int code = resolve(options, &address, err);

	if (!code)
		freeaddrinfo(address);
	return code;
}

static int open_at(struct listener *listener, struct error *err)
{
	struct addrinfo *address;
	int code = resolve(&listener->options, &address, err);

	if (code)
		return code;
	code = library_load("libmicrohttpd.so.12", "libmicrohttpd12", call_names,
			    sizeof(call_names) / sizeof(call_names[0]), &lib, err);
	if (!code)
		code = start(listener, address, err);
	freeaddrinfo(address);
	return code;
}

int listener_open(const struct listen_options *options, const struct listen_sources *sources,
		  struct listener **ret, struct error *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int code;

	if (!listener)
		return error_errno(err, -ENOMEM, "agent");
	listener->options = *options;
	listener->sources = *sources;
	code = open_at(listener, err);
	if (code)
		free(listener);
	else
		*ret = listener;
	return code;
}

unsigned int listener_port(const struct listener *listener)
{
	const union MHD_DaemonInfo *info =
		lib.MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}

void listener_close(struct listener *listener)
{
	if (!listener)
		return;
	lib.MHD_stop_daemon(listener->daemon);
	free(listener);
}
