// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Whoever is slow does not keep others from being answered. */
#include "agent/listen.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sample.h"
#include "test_scrape_fixture.h"
#include "test_sink_fixture.h"

#define REQUEST_MS 1000
#define BYTE_MS 20 /* less than any limit of silence */
#define PATIENCE 1000 /* bytes, of which a request of REQUEST_MS has a few */

static struct figures figures;
static struct scrapes scrapes;
static pthread_t sampler;
static atomic_bool sampler_ends;
static struct listener *listener;

/* What the agent does anew after SIGHUP. */
static void start_run_at(const char *address, bool insecure, uint64_t request_ms)
{
	const struct listen_sources sources = { .figures = &figures, .scrapes = &scrapes };
	const struct listen_options options = { .address = address,
						.insecure = insecure,
						.request_ms = request_ms };
	struct error err = { 0 };

	cr_assert_eq(scrapes_open(&scrapes, &err), 0, "%s", err.text);
	cr_assert_eq(listener_open(&options, &sources, &listener, &err), 0, "%s", err.text);
}

static void start_run(uint64_t request_ms)
{
	start_run_at("0.0.0.0:0", true, request_ms);
}

/* As by default: on this host, without a token. */
static void start_plain(void)
{
	figures_open(&figures);
	start_run_at("0", false, REQUEST_MS);
}

static void stop_run(void)
{
	scrapes_cancel(&scrapes);
	listener_close(listener);
	scrapes_close(&scrapes);
}

static void start_with(uint64_t request_ms)
{
	figures_open(&figures);
	start_run(request_ms);
}

static void start(void)
{
	start_with(REQUEST_MS);
}

/* As long as it is for others. */
static void start_patient(void)
{
	start_with(0);
}

static void stop(void)
{
	stop_run();
	figures_close(&figures);
}

TestSuite(listen, .init = start, .fini = stop);

/* host: the last byte of 127.0.0.N, from which it is asked. */
static int connect_from(uint8_t host)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(0x7f000000u | host) };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)listener_port(listener)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 60 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	cr_assert_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* What is answered, up to the connection's end. */
static size_t ask(int fd, const char *request, char *reply, size_t room)
{
	size_t got = 0;
	ssize_t more;

	(void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
	while (got < room - 1 && (more = recv(fd, reply + got, room - 1 - got, 0)) > 0)
		got += (size_t)more;
	reply[got] = '\0';
	return got;
}

static bool is_well(uint8_t host)
{
	char reply[4096];
	int fd = connect_from(host);

	ask(fd, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", reply,
	    sizeof(reply));
	close(fd);
	return !strncmp(reply, "HTTP/1.1 200 ", 13);
}

/* Gives a part to each scrape where it begins and where it ends, as the agent does. */
static void *sample(void *context)
{
	struct pollfd fds[] = { { .fd = scrapes.event_fd, .events = POLLIN },
				{ .fd = scrapes.timer_fd, .events = POLLIN } };
	cleanup_profile struct profile *part = sample_profile();

	(void)context;
	while (!sampler_ends) {
		if (poll(fds, 2, 10) > 0 && scrapes_due(&scrapes))
			scrapes_add_part(&scrapes, part);
		scrapes_update(&scrapes);
	}
	return NULL;
}

static void start_sampler(void)
{
	sampler_ends = false;
	cr_assert_eq(pthread_create(&sampler, NULL, sample, NULL), 0);
}

static void stop_sampler(void)
{
	sampler_ends = true;
	pthread_join(sampler, NULL);
}

/* The status that a GET of the path has. */
static int status_of(const char *path, char *reply, size_t room)
{
	char request[256];
	int fd = connect_from(1);

	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
	ask(fd, request, reply, room);
	close(fd);
	return strncmp(reply, "HTTP/1.1 ", 9) ? 0 : atoi(reply + 9);
}

/* How many bytes it takes, one by one, until the other end has enough. */
static unsigned int trickle(int fd, const char *begin)
{
	unsigned int i;
	char byte;

	cr_assert_eq(send(fd, begin, strlen(begin), MSG_NOSIGNAL), (ssize_t)strlen(begin));
	for (i = 0; i < PATIENCE; i++) {
		if (send(fd, "x", 1, MSG_NOSIGNAL) != 1 || !recv(fd, &byte, 1, MSG_DONTWAIT))
			break;
		usleep(BYTE_MS * 1000);
	}
	close(fd);
	return i;
}

Test(listen, a_slow_request_ends)
{
	cr_expect_lt(trickle(connect_from(1), "G"), PATIENCE);
	cr_expect_lt(trickle(connect_from(1), "GET /metrics HTTP/1.1\r\nHost: a\r\nX: "), PATIENCE);
	/* A body is never read, so that the answer is there before it. */
	cr_expect_lt(trickle(connect_from(1), "POST /metrics HTTP/1.1\r\nHost: a\r\n"
					      "Content-Length: 100000\r\n\r\n"),
		     PATIENCE);
	cr_assert(is_well(1));
}

/* So that nobody holds one by asking now and then. */
Test(listen, an_answer_ends_its_connection)
{
	char reply[4096];
	int fd = connect_from(1);

	ask(fd, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", reply, sizeof(reply));
	close(fd);
	cr_assert_eq(strncmp(reply, "HTTP/1.1 200 ", 13), 0);
	cr_assert_not_null(strstr(reply, "\r\nConnection: close\r\n"));
}

/* What was asked before SIGHUP is still counted after it. */
Test(listen, scrapes_are_counted, .init = start_sampler, .fini = stop_sampler)
{
	char reply[16384];

	cr_assert_eq(status_of("/debug/pprof/profile?seconds=1", reply, sizeof(reply)), 200);
	cr_assert_eq(status_of("/metrics", reply, sizeof(reply)), 200);
	cr_assert_not_null(strstr(reply, "\nbpfprofil_scrapes_total 1\n"));
	stop_sampler();
	stop_run();
	start_run(REQUEST_MS);
	start_sampler();
	cr_assert_eq(status_of("/metrics", reply, sizeof(reply)), 200);
	cr_assert_not_null(strstr(reply, "\nbpfprofil_scrapes_total 1\n"));
}

/* Who has left holds nothing that others wait for. */
Test(listen, those_who_leave, .init = start_sampler, .fini = stop_sampler)
{
	static const char request[] =
		"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char path[] = "/debug/pprof/profile?seconds=1";
	char reply[16384];
	int fds[SCRAPES_MAX];
	size_t i;

	for (i = 0; i < SCRAPES_MAX; i++) {
		fds[i] = connect_from(2);
		cr_assert_gt(send(fds[i], request, strlen(request), MSG_NOSIGNAL), 0);
	}
	while (scrapes_that_wait(&scrapes) < SCRAPES_MAX)
		usleep(BYTE_MS * 1000);
	cr_assert_eq(status_of(path, reply, sizeof(reply)), 503);
	for (i = 0; i < SCRAPES_MAX; i++)
		close(fds[i]);
	for (i = 0; i < PATIENCE && status_of(path, reply, sizeof(reply)) != 200; i++)
		usleep(BYTE_MS * 1000);
	cr_assert_lt(i, PATIENCE);
}

static void *cancel(void *context)
{
	(void)context;
	usleep(3 * REQUEST_MS * 1000);
	scrapes_cancel(&scrapes);
	return NULL;
}

/* The deadline is a request's and not that of the profile that it waits for. */
Test(listen, a_scrape_may_wait)
{
	char reply[4096];
	pthread_t thread;
	int fd = connect_from(1);

	cr_assert_eq(pthread_create(&thread, NULL, cancel, NULL), 0);
	ask(fd,
	    "GET /debug/pprof/profile?seconds=60 HTTP/1.1\r\nHost: a\r\n"
	    "Connection: close\r\n\r\n",
	    reply, sizeof(reply));
	pthread_join(thread, NULL);
	close(fd);
	cr_assert_eq(strncmp(reply, "HTTP/1.1 503 ", 13), 0, "%s", reply);
	cr_assert_not_null(strstr(reply, "the agent ends"));
}

static void *close_when_asked(void *context)
{
	(void)context;
	while (!scrapes_that_wait(&scrapes))
		usleep(BYTE_MS * 1000);
	stop_run();
	return NULL;
}

/* At SIGHUP who waits is told why there is no profile. */
Test(listen, a_scrape_is_told_of_the_end)
{
	char reply[4096];
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, close_when_asked, NULL), 0);
	cr_expect_eq(status_of("/debug/pprof/profile?seconds=60", reply, sizeof(reply)), 503);
	cr_expect_not_null(strstr(reply, "the agent ends, or reads its options again\n"));
	pthread_join(thread, NULL);
	start_run(REQUEST_MS);
}

/* An agent without memory, which adds none of its parts. */
static void *cut_without_parts(void *context)
{
	(void)context;
	while (!scrapes_that_wait(&scrapes))
		usleep(BYTE_MS * 1000);
	while (scrapes_that_wait(&scrapes)) {
		scrapes_due(&scrapes);
		scrapes_update(&scrapes);
		usleep(BYTE_MS * 1000);
	}
	return NULL;
}

Test(listen, a_scrape_without_memory)
{
	char reply[4096];
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, cut_without_parts, NULL), 0);
	cr_expect_eq(status_of("/debug/pprof/profile?seconds=1", reply, sizeof(reply)), 503);
	cr_expect_not_null(strstr(reply, "the agent has no memory for this profile\n"), "%s",
			   reply);
	pthread_join(thread, NULL);
}

/* A thousand connections that say a little each: they end, and who made them is heard too. */
Test(listen, a_thousand_connections)
{
	struct rlimit limit;
	int fds[1000];
	size_t i;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < 1000; i++) {
		fds[i] = connect_from(1);
		(void)!send(fds[i], "GET /he", 7, MSG_NOSIGNAL);
		if (i % 20 == 19)
			cr_assert(is_well(1), "%zu", i);
	}
	for (i = 0; i < 1000; i++)
		close(fds[i]);
}

static size_t count_closed(const int *fds, size_t nr)
{
	size_t i, closed = 0;
	char byte;

	for (i = 0; i < nr; i++)
		closed += recv(fds[i], &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0 ||
			  errno == ECONNRESET;
	return closed;
}

/* Those that say nothing make room for each other, so whoever asks is answered, also from there. */
Test(listen, patient_crowd, .init = start_patient)
{
	int fds[100];
	size_t i;

	for (i = 0; i < 100; i++)
		fds[i] = connect_from(1);
	while (count_closed(fds, 100) < 100 - 56)
		usleep(BYTE_MS * 1000);
	cr_assert(is_well(1));
	cr_assert(is_well(1));
	cr_assert_leq(count_closed(fds, 100), 100 - 56 + 2);
	for (i = 0; i < 100; i++)
		close(fds[i]);
}

static bool is_well_at(const char *address)
{
	const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = loopback };
	char reply[4096];
	bool well;
	int fd;

	stop_run();
	start_run_at(address, true, REQUEST_MS);
	to.sin6_port = htons((uint16_t)listener_port(listener));
	if (!is_well(1))
		return false;
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		well = errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL;
	else
		well = ask(fd, "GET /healthz HTTP/1.0\r\n\r\n", reply, sizeof(reply)) > 0;
	close(fd);
	return well;
}

/* As with the kernel's ipv6.disable=1. */
static void forbid_ipv6(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* A pod's own address is of either family, and `kubectl port-forward` asks at 127.0.0.1. */
Test(listen, at_all_addresses)
{
	cr_expect(is_well_at("[::]:0"));
	forbid_ipv6();
	cr_expect(is_well_at("[::]:0"));
}

/* Anybody on the host can ask there, and a file of the same content is root's. */
Test(listen, profiles_need_a_token, .init = start_plain)
{
	char reply[4096];

	cr_expect_eq(status_of("/debug/pprof/profile?seconds=1", reply, sizeof(reply)), 401);
	cr_expect_not_null(strstr(reply, "--listen-token-file"));
	cr_expect_eq(status_of("/debug/pprof/heap", reply, sizeof(reply)), 401);
	cr_expect_eq(status_of("/metrics", reply, sizeof(reply)), 200);
	cr_expect_eq(status_of("/readyz", reply, sizeof(reply)), 200);
}

static bool is_failing(struct sink *sink)
{
	struct sink_counts counts;

	sink_count(sink, &counts);
	return counts.failing;
}

static int ready(char reply[1024])
{
	return status_of("/readyz", reply, 1024);
}

/* Those who ask why are told of the file of options, and metrics show it. */
Test(listen, config_that_is_not_in_force)
{
	const struct listen_options options = { .address = "0", .request_ms = REQUEST_MS };
	const struct listen_sources sources = { .figures = &figures,
						.scrapes = &scrapes,
						.config_error = "agent.conf:3: unknown '\033'" };
	char reply[16384];
	struct error err = { 0 };

	cr_expect_eq(status_of("/metrics", reply, sizeof(reply)), 200);
	cr_expect_not_null(strstr(reply, "\nbpfprofil_config_ok 1\n"));
	stop_run();
	cr_assert_eq(scrapes_open(&scrapes, &err), 0, "%s", err.text);
	cr_assert_eq(listener_open(&options, &sources, &listener, &err), 0, "%s", err.text);
	cr_expect_eq(status_of("/readyz", reply, sizeof(reply)), 503);
	cr_expect(strstr(reply,
			 "\r\n\r\nconfig: agent.conf:3: unknown '\\x1b'; the former options are "
			 "in force\n"),
		  "%s", reply);
	cr_expect_eq(status_of("/metrics", reply, sizeof(reply)), 200);
	cr_expect_not_null(strstr(reply, "\nbpfprofil_config_ok 0\n"));
	stop_run();
	start_run(REQUEST_MS);
}

/* Kubelet restarts an agent that makes no profiles. */
Test(listen, health)
{
	_Atomic uint64_t cut_ns = monotonic_ns();
	const struct listen_options options = { .address = "0", .request_ms = REQUEST_MS };
	const struct listen_sources sources = { .figures = &figures,
						.scrapes = &scrapes,
						.cut_ns = &cut_ns,
						.late_ns = 1000 * SECOND_NS };
	struct error err = { 0 };
	char reply[1024];

	stop_run();
	cr_assert_eq(scrapes_open(&scrapes, &err), 0, "%s", err.text);
	cr_assert_eq(listener_open(&options, &sources, &listener, &err), 0, "%s", err.text);
	cr_expect_eq(status_of("/healthz", reply, sizeof(reply)), 200);
	cut_ns -= 1001 * SECOND_NS;
	cr_expect_eq(status_of("/healthz", reply, sizeof(reply)), 503);
	cut_ns = monotonic_ns();
	cr_expect_eq(status_of("/healthz", reply, sizeof(reply)), 200);
	stop_run();
	start_run(REQUEST_MS);
}

/* As kubelet asks: a wrong URL is never ready, and a backend that is away changes nothing. */
Test(listen, readiness)
{
	const char *const answers[] = { OK, SAY("503 Later"), OK, SAY("400 No"), OK, NULL };
	const struct listen_options options = { .address = "0", .request_ms = REQUEST_MS };
	struct listen_sources sources = { .figures = &figures, .scrapes = &scrapes, .nr_sinks = 1 };
	cleanup_profile struct profile *profile = sample_profile();
	char reply[1024];
	struct error err = { 0 };
	struct backend backend;
	struct sink *sink;
	size_t i;

	sink_backend_start(&backend, answers);
	sink = sink_open_to(backend.url, 8 << 20, NULL);
	sources.sinks = &sink;
	stop_run();
	cr_assert_eq(scrapes_open(&scrapes, &err), 0, "%s", err.text);
	cr_assert_eq(listener_open(&options, &sources, &listener, &err), 0, "%s", err.text);
	cr_expect_eq(ready(reply), 503);
	cr_expect(strstr(reply, "v1development/profiles: has accepted nothing yet\n"), "%s", reply);
	for (i = 0; i < 2; i++) {
		sink_put(sink, profile);
		sink_settle(sink);
		cr_expect_eq(ready(reply), 200);
		cr_expect(strstr(reply, "v1development/profiles: ok\n"), "%s", reply);
	}
	sink_put(sink, profile);
	sink_settle(sink);
	cr_expect_eq(ready(reply), 503);
	cr_expect(strstr(reply, "v1development/profiles: refuses: HTTP 400\n"), "%s", reply);
	sink_put(sink, profile);
	sink_settle(sink);
	cr_expect_eq(ready(reply), 200);
	sink_backend_stop(&backend);
	sink_put(sink, profile);
	do
		usleep(5000);
	while (!is_failing(sink));
	cr_expect_eq(ready(reply), 200);
	cr_expect(strstr(reply, "v1development/profiles: away: Failed to connect to 127.0.0.1"),
		  "%s", reply);
	cr_expect(strstr(reply, "; profiles that wait: 1, of 1060 ticks\n"), "%s", reply);
	stop_run();
	sink_close(sink, 0);
	start_run(REQUEST_MS);
}
