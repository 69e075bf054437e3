// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A server that the program starts for itself; here it is tests/client/programs/private.c. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "client.h"
#include "need.h"

#define NEED_NO_HOST_SERVER() NEED(access(CALL_SOCKET, F_OK), "a server serves this host")

TestSuite(client_private, .init = need_root, .timeout = 300);

static int call(void)
{
	return profil(test_counters, sizeof(test_counters), 0x1000, 0x10000);
}

static void begin(const char *program)
{
	fixture_environment("BPFPROFIL_SOCKET", NULL);
	fixture_environment("BPFPROFIL_SERVER", program);
}

static struct bpfprofil_status told(void)
{
	struct bpfprofil_status status = { 0 };

	cr_assert_eq(bpfprofil_status(&status, sizeof(status)), 0, "%s", strerror(errno));
	return status;
}

static volatile sig_atomic_t deaths;

static void count_death(int signal)
{
	(void)signal;
	deaths++;
}

Test(client_private, is_nobodys_child)
{
	struct sigaction action = { .sa_handler = count_death };
	size_t descriptors = open_descriptors();
	struct bpfprofil_status status;

	NEED_NO_HOST_SERVER();
	sigaction(SIGCHLD, &action, NULL);
	begin(CLIENT_PROGRAMS "/private");
	errno = ENOTTY;
	cr_assert_eq(call(), 0);
	cr_assert_eq(errno, ENOTTY);
	cr_assert(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD, "it has a child");
	cr_assert_eq(deaths, 0);
	cr_assert_eq(open_descriptors(), descriptors);
	status = told();
	cr_assert_neq(status.binned, (uint64_t)getpid());
	cr_assert_eq(status.outside, status.total, "not the leader of a session");
	cr_assert_eq(status.overflow, 4, "it has descriptors of the program's");
	cr_assert_eq(status.filtered, 0, "it has the program's environment or directory");
}

Test(client_private, serves_all_calls_and_children)
{
	struct bpfprofil_status first, second;
	int status;
	pid_t child;

	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	cr_assert_eq(call(), 0);
	first = told();
	cr_assert_eq(call(), 0);
	child = fork();
	if (!child)
		_exit(call());
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	second = told();
	cr_assert_eq(second.total, first.total, "a second server");
	cr_assert_eq(second.lost, first.lost + 3);
}

static bool is_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

Test(client_private, another_when_it_died)
{
	struct bpfprofil_status status;
	pid_t pid;

	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	cr_assert_eq(call(), 0);
	status = told();
	pid = (pid_t)status.total;
	kill(pid, SIGKILL);
	cr_assert(eventually(is_gone, &pid));
	cr_assert_fails(bpfprofil_sync(), ENOSYS);
	cr_assert_eq(stop_profiling(), 0);
	cr_assert_eq(call(), 0);
	cr_assert_neq(told().total, (uint64_t)pid);
}

static void *call_at_once(void *barrier)
{
	pthread_barrier_wait(barrier);
	return (void *)(intptr_t)call();
}

/* Two servers would both count. */
Test(client_private, one_for_all_threads)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;
	void *result;
	int i;

	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_at_once, &barrier);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		cr_assert_null(result);
	}
	cr_assert_eq(told().lost, THREADS + 1, "not one server for all");
}

Test(client_private, not_for_what_starts_nothing)
{
	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	cr_assert_eq(stop_profiling(), 0);
	cr_assert_eq(pcsample(NULL, 0), 0);
	cr_assert_fails(bpfprofil_sync(), ENOSYS);
	cr_assert_fails(bpfprofil_status(&(struct bpfprofil_status){ 0 }, 8), ENOSYS);
}

Test(client_private, not_where_a_server_was_named)
{
	begin(CLIENT_PROGRAMS "/private");
	fixture_environment("BPFPROFIL_SOCKET", "/nonexistent/socket");
	cr_assert_fails(call(), ENOSYS);
}

Test(client_private, cannot_start)
{
	NEED_NO_HOST_SERVER();
	begin("/nonexistent/bpfprofil");
	cr_assert_fails(call(), ENOSYS);
	begin("/bin/false");
	cr_assert_fails(call(), ENOSYS);
	cr_assert(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD);
}

static void keep_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32), .permitted = (uint32_t)(kept >> 32) },
	};

	cr_assert_eq(syscall(SYS_capset, &header, sets), 0);
}

Test(client_private, by_capabilities)
{
	const uint64_t bpf = 1ULL << CAP_BPF, perfmon = 1ULL << CAP_PERFMON;
	pid_t pid;

	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	keep_capabilities(bpf | perfmon);
	cr_assert_eq(call(), 0);
	pid = (pid_t)told().total;
	kill(pid, SIGKILL);
	cr_assert(eventually(is_gone, &pid));
	keep_capabilities(bpf);
	cr_assert_fails(call(), ENOSYS);
	keep_capabilities(0);
	cr_assert_fails(call(), ENOSYS);
}

/* Meanwhile 0, 1 and 2 are its descriptors; the server must still get its own. */
Test(client_private, standard_descriptors_closed)
{
	pid_t child;
	int status;

	NEED_NO_HOST_SERVER();
	begin(CLIENT_PROGRAMS "/private");
	child = fork();
	if (!child) {
		close(0);
		close(1);
		close(2);
		if (call())
			_exit(1);
		_exit(told().overflow != 4 || fcntl(0, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}
