// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Missing and bad servers, and what a call must not do to its program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "client.h"
#include "need.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int call(void)
{
	return profil(test_counters, sizeof(test_counters), 0x1000, 0x10000);
}

TestSuite(client_trouble, .timeout = 300);

CLIENT_TEST(client_trouble, no_server)
{
	char path[200];

	snprintf(path, sizeof(path), "%s.none", fixture->server.path);
	fixture_environment("BPFPROFIL_SOCKET", path);
	cr_assert_fails(call(), ENOSYS);
	cr_assert_fails(sprofil(&test_region, 1, NULL, 0), ENOSYS);
	cr_assert_fails(sprofil(&test_region, 4097, NULL, 0), ENOSYS);
	cr_assert_fails(pcsample(NULL, 1), ENOSYS);
	cr_assert_fails(bpfprofil_sync(), ENOSYS);
	cr_assert_fails(bpfprofil_status(&(struct bpfprofil_status){ 0 }, 8), ENOSYS);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	fixture_environment("BPFPROFIL_SOCKET", path);
	cr_assert_fails(call(), ENAMETOOLONG);
	fixture_environment("BPFPROFIL_SOCKET", "@bpfprofil-nobody-listens-here");
	cr_assert_fails(call(), ENOSYS);
}

/* Listens on one of our names as that user; nobody else can use the name meanwhile. */
static int listen_as(unsigned int user, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		     0);
	cr_assert(!seteuid(user) && !listen(fd, 8) && !seteuid(0));
	return fd;
}

/* Another user who has the name of a server that is gone is told nothing. */
Test(client_trouble, squatter)
{
	char name[64], byte;
	int squatter, fd;

	NEED_ROOT();
	snprintf(name, sizeof(name), "@bpfprofil-test-%d", getpid());
	squatter = listen_as(65534, name);
	fixture_environment("BPFPROFIL_SOCKET", name);
	cr_assert_fails(call(), EACCES);
	fd = accept(squatter, NULL, NULL);
	cr_assert_eq(recv(fd, &byte, 1, 0), 0, "it was told something");
	close(fd);
	close(squatter);
}

/* Without a server nothing is on, and that can be ended at any time. */
CLIENT_TEST(client_trouble, stop_without_server)
{
	struct timeval tick = { 7, 7 };

	fake_kill(&fixture->server);
	errno = ENOTTY;
	cr_assert_eq(stop_profiling(), 0);
	cr_assert_eq(profil(test_counters, 2, 0, 0), 0);
	cr_assert_eq(sprofil(NULL, 0, &tick, 0), 0);
	cr_assert_eq(pcsample(NULL, 0), 0);
	cr_assert_eq(errno, ENOTTY);
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 10000);
	cr_assert_fails(call(), ENOSYS);
}

CLIENT_TEST(client_trouble, no_right_to_the_socket)
{
	int status;
	pid_t child;

	NEED_ROOT();
	cr_assert_eq(chmod(fixture->server.path, 0600), 0);
	child = fork();
	if (!child)
		_exit(setgid(65534) || setuid(65534) || call() != -1 || errno != EACCES);
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}

/* A program that lost its right to the socket while it counts: the server has not ended. */
CLIENT_TEST(client_trouble, right_lost_while_counting)
{
	NEED_ROOT();
	cr_assert_eq(chmod(fixture->server.path, 0600), 0);
	fixture->shared->reply.state.on = 1;
	cr_assert_eq(call(), 0);
	cr_assert_eq(seteuid(65534), 0);
	cr_assert_fails(stop_profiling(), EACCES);
	cr_assert_fails(stop_profiling(), EACCES);
	cr_assert_eq(seteuid(0), 0);
	fake_kill(&fixture->server);
	cr_assert_fails(stop_profiling(), ECONNRESET);
	cr_assert_eq(stop_profiling(), 0);
}

CLIENT_TEST(client_trouble, bad_replies)
{
	static const struct {
		enum fake_how how;
		int error;
	} cases[] = { { FAKE_GARBAGE, EPROTO },
		      { FAKE_SHORT, EPROTO },
		      { FAKE_LONG, EPROTO },
		      { FAKE_HANGS_UP, ECONNRESET } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture->shared->how = cases[i].how;
		cr_assert_fails(call(), cases[i].error);
		cr_assert_fails(sprofil(&test_region, 1, NULL, 0), cases[i].error);
		/*
		 * A request that may have been carried out does not count as a stop without a
		 * server.
		 */
		cr_assert_fails(stop_profiling(), cases[i].error);
	}
	fixture->shared->how = FAKE_REPLIES;
	fixture->shared->reply.error = -5;
	cr_assert_fails(call(), EPROTO);
	fixture->shared->reply.error = 4096;
	cr_assert_fails(call(), EPROTO);
	fixture->shared->reply.error = 0;
	fixture->shared->reply.version = CALL_VERSION + 1;
	cr_assert_fails(call(), EPROTO);
}

static bool has_left(void *argument)
{
	return ((struct fixture *)argument)->shared->left == 1;
}

/*
 * The server must learn that its answer is not wanted, or it would count into memory that has been
 * freed.
 */
CLIENT_TEST(client_trouble, silent_server)
{
	double start;

	fixture->shared->how = FAKE_SILENT;
	start = now();
	cr_assert_fails(call(), ETIMEDOUT);
	cr_assert(now() - start > 0.5 && now() - start < 5);
	cr_assert(eventually(has_left, fixture));
}

CLIENT_TEST(client_trouble, stopped_server)
{
	kill(fixture->server.pid, SIGSTOP);
	cr_assert_fails(call(), ETIMEDOUT);
	kill(fixture->server.pid, SIGCONT);
}

static bool is_asked(void *argument)
{
	return ((struct fixture *)argument)->shared->in_hand == 1;
}

CLIENT_TEST(client_trouble, server_killed_in_a_call)
{
	double start = now();
	int status;
	pid_t child;

	fixture->shared->how = FAKE_SILENT;
	child = fork();
	if (!child)
		_exit(call() != -1 || errno != ECONNRESET);
	cr_assert(eventually(is_asked, fixture));
	fake_kill(&fixture->server);
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert_lt(now() - start, 10);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* The call is not interrupted, the handler does not run during it, and the mask is unchanged. */
CLIENT_TEST(client_trouble, signals_wait)
{
	struct sigaction action = { .sa_handler = count_alarm };
	struct itimerval timer = { { 0, 0 }, { 0, FAKE_SLOW_MS * 1000 / 3 } };
	sigset_t mask, after;

	fixture->shared->how = FAKE_SLOW;
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	cr_assert_eq(call(), 0);
	cr_assert_eq(alarms, 1);
	sigprocmask(SIG_SETMASK, NULL, &after);
	cr_assert(sigismember(&after, SIGUSR1) == 1 && sigismember(&after, SIGALRM) == 0 &&
		  sigismember(&after, SIGTERM) == 0);
}

static volatile sig_atomic_t handler_result = -2;

static void call_in_handler(int signal)
{
	(void)signal;
	handler_result = call();
}

/* On a small stack, in a program that is inside a call already. */
CLIENT_TEST(client_trouble, call_in_a_handler)
{
	static char stack[8192];
	struct sigaction action = { .sa_handler = call_in_handler, .sa_flags = SA_ONSTACK };
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct itimerval timer = { { 0, 0 }, { 0, 50000 } };

	cr_assert_eq(sigaltstack(&alternate, NULL), 0);
	sigaction(SIGALRM, &action, NULL);
	fixture->shared->how = FAKE_SLOW;
	setitimer(ITIMER_REAL, &timer, NULL);
	cr_assert_eq(call(), 0);
	cr_assert_eq(handler_result, 0);
}

/* Even if signals are blocked, stopping and continuing ends a wait with EINTR. */
CLIENT_TEST(client_trouble, stopped_and_continued)
{
	int status, i;
	pid_t child;

	fixture->shared->how = FAKE_SLOW;
	child = fork();
	if (!child)
		_exit(call() != 0);
	cr_assert(eventually(is_asked, fixture));
	for (i = 0; i < 5; i++) {
		kill(child, SIGSTOP);
		usleep(10000);
		kill(child, SIGCONT);
		usleep(10000);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}

static void *call_while_cancelled(void *result)
{
	pthread_cancel(pthread_self());
	*(int *)result = call();
	pthread_testcancel();
	*(int *)result = -3;
	return NULL;
}

CLIENT_TEST(client_trouble, no_cancellation_point)
{
	pthread_t thread;
	void *end;
	int ret = -2;

	pthread_create(&thread, NULL, call_while_cancelled, &ret);
	pthread_join(thread, &end);
	cr_assert_eq(ret, 0);
	cr_assert_eq(end, PTHREAD_CANCELED);
}

enum { THREADS = 8, CALLS = 100 };

static void *call_often(void *failed)
{
	int i;

	for (i = 0; i < CALLS; i++)
		*(int *)failed += call() != 0;
	return NULL;
}

CLIENT_TEST(client_trouble, threads)
{
	int ret[THREADS] = { 0 }, i;
	pthread_t threads[THREADS];

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_often, &ret[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		cr_assert_eq(ret[i], 0);
	}
	cr_assert_eq(fixture->shared->requests, THREADS * CALLS);
}

/* The socket then is descriptor 0, 1 or 2, which must be free again afterwards. */
CLIENT_TEST(client_trouble, standard_descriptors_closed)
{
	int status, fd;
	pid_t child;

	child = fork();
	if (!child) {
		for (fd = 0; fd < 3; fd++)
			close(fd);
		if (call())
			_exit(1);
		for (fd = 0; fd < 3; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				_exit(2);
		_exit(0);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}
