// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The server as systemd starts it, with the socket and the privileges that user/systemd specifies.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "client.h"
#include "need.h"

#define SOCKET_UNIT "user/systemd/bpfprofil.socket"
#define SERVICE_UNIT "user/systemd/bpfprofil.service.in"

TestSuite(client_activation, .init = need_root, .timeout = 300);

enum { LISTEN_FD = 3, NOBODY = 65534, PATIENCE_SECONDS = 60 };

/* Copies what a unit has after "KEY=" to value, or "" if it does not have it. */
static void unit_value(const char *unit, const char *key, char *value, size_t size)
{
	FILE *file = fopen(unit, "re");
	size_t length = strlen(key);
	char line[512];

	cr_assert_not_null(file, "%s: %s", unit, strerror(errno));
	value[0] = '\0';
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, length) && line[length] == '=')
			snprintf(value, size, "%s", line + length + 1);
	value[strcspn(value, "\n")] = '\0';
	fclose(file);
}

static bool unit_says(const char *unit, const char *key, const char *value)
{
	char found[512];

	unit_value(unit, key, found, sizeof(found));
	return !strcmp(found, value);
}

static mode_t socket_mode(void)
{
	char value[512];

	unit_value(SOCKET_UNIT, "SocketMode", value, sizeof(value));
	return (mode_t)strtoul(value, NULL, 8);
}

struct activation {
	char dir[64];
	struct sockaddr_un address; /* of the socket */
	struct sockaddr_un notify_address;
	int listen_fd;
	int notify_fd;
};

static int bound(int type, struct sockaddr_un *address, const char *dir, const char *name)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", dir, name);
	cr_assert(fd >= 0 && !bind(fd, (struct sockaddr *)address, sizeof(*address)), "%s: %s",
		  address->sun_path, strerror(errno));
	return fd;
}

/* Does what systemd does before the first request. */
static void begin(struct activation *activation)
{
	const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	int on = unit_says(SOCKET_UNIT, "PassCredentials", "yes");

	memset(activation, 0, sizeof(*activation));
	strcpy(activation->dir, "/tmp/bpfprofil-activation-XXXXXX");
	cr_assert_not_null(mkdtemp(activation->dir));
	chmod(activation->dir, 0755);
	activation->listen_fd =
		bound(SOCK_SEQPACKET, &activation->address, activation->dir, "socket");
	chmod(activation->address.sun_path, socket_mode());
	setsockopt(activation->listen_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	cr_assert_eq(listen(activation->listen_fd, SOMAXCONN), 0);
	if (unit_says(SERVICE_UNIT, "NonBlocking", "yes"))
		fcntl(activation->listen_fd, F_SETFL, O_NONBLOCK);
	activation->notify_fd =
		bound(SOCK_DGRAM, &activation->notify_address, activation->dir, "notify");
	setsockopt(activation->notify_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	fixture_environment("BPFPROFIL_SOCKET", activation->address.sun_path);
}

static void end(struct activation *activation)
{
	close(activation->listen_fd);
	close(activation->notify_fd);
	child_do(ARGS("rm", "-rf", activation->dir));
}

static void become_server(const struct activation *activation)
{
	char pid[16];

	/* A failed test must leave none behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (activation->listen_fd == LISTEN_FD)
		fcntl(LISTEN_FD, F_SETFD, 0);
	else
		dup2(activation->listen_fd, LISTEN_FD);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	setenv("NOTIFY_SOCKET", activation->notify_address.sun_path, 1);
	execl(BPFPROFIL_BIN, "bpfprofil", "serve", NULL);
	_exit(127);
}

/* Type=notify: the service has started when it says so. */
static pid_t start_server(const struct activation *activation)
{
	pid_t pid = fork();
	char news[64];
	ssize_t got;

	if (!pid)
		become_server(activation);
	cr_assert_gt(pid, 0);
	got = recv(activation->notify_fd, news, sizeof(news), 0);
	cr_assert_eq(got, 7, "no word of the server's");
	cr_assert_arr_eq(news, "READY=1", 7);
	return pid;
}

static bool has_ended(void *pid)
{
	return process_state(*(pid_t *)pid) == 'Z';
}

static void stop_server(pid_t pid)
{
	bool ended;
	int status;

	cr_assert_eq(kill(pid, SIGTERM), 0);
	ended = eventually(has_ended, &pid);
	if (!ended)
		kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(ended, "the server hangs");
	cr_assert_eq(status, 0, "the server: status %d", child_shell_status(status));
}

/* Sends a request, which is in the socket's queue when this returns. */
static int ask(const struct activation *activation)
{
	const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	struct call_request request = {
		.magic = CALL_MAGIC,
		.version = CALL_VERSION,
		.op = CALL_STATUS,
		.pointer = sizeof(void *),
	};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(request.proof, (const void *)getauxval(AT_RANDOM), sizeof(request.proof));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	cr_assert_eq(connect(fd, (const struct sockaddr *)&activation->address,
			     sizeof(activation->address)),
		     0);
	cr_assert_eq(send(fd, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	return fd;
}

static void assert_answered(int fd)
{
	struct call_reply reply = { 0 };
	ssize_t got = recv(fd, &reply, sizeof(reply), 0);

	cr_assert_eq(got, (ssize_t)sizeof(reply), "%zd bytes: %s", got, strerror(errno));
	cr_assert_eq(reply.magic, (uint32_t)CALL_MAGIC);
	cr_assert_eq(reply.error, 0, "%s", strerror(reply.error));
	close(fd);
}

/* Only if systemd asks for it with WatchdogSec. */
Test(client_activation, watchdog)
{
	struct activation activation;
	char news[64], value[512];
	pid_t server;
	int i;

	unit_value(SERVICE_UNIT, "WatchdogSec", value, sizeof(value));
	cr_assert_geq(strtol(value, NULL, 10), 10, "the unit has none, or one without patience");
	begin(&activation);
	setenv("WATCHDOG_USEC", "200000", 1);
	server = start_server(&activation);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(recv(activation.notify_fd, news, sizeof(news), 0), 10);
		cr_assert_arr_eq(news, "WATCHDOG=1", 10);
	}
	stop_server(server);
	while (recv(activation.notify_fd, news, sizeof(news), MSG_DONTWAIT) > 0)
		;
	/* Meant for another process. */
	setenv("WATCHDOG_PID", "1", 1);
	server = start_server(&activation);
	usleep(300000);
	cr_assert_lt(recv(activation.notify_fd, news, sizeof(news), MSG_DONTWAIT), 0);
	stop_server(server);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	end(&activation);
}

/* This request makes systemd start the server. */
Test(client_activation, first_request_waits)
{
	struct activation activation;
	pid_t server;
	int early[3];
	size_t i;

	begin(&activation);
	for (i = 0; i < 3; i++)
		early[i] = ask(&activation);
	server = start_server(&activation);
	for (i = 0; i < 3; i++)
		assert_answered(early[i]);
	cr_assert_eq(sprofil(&test_region, 1, NULL, 0), 0, "%s", strerror(errno));
	cr_assert_eq(stop_profiling(), 0);
	stop_server(server);
	end(&activation);
}

/* The socket is systemd's, so the next request starts the next server. */
Test(client_activation, socket_outlives_servers)
{
	struct activation activation;
	struct bpfprofil_status status;
	pid_t server;
	int waiting;

	begin(&activation);
	cr_assert_eq(sprofil(&test_region, 0, NULL, 0), -1);
	cr_assert_eq(errno, ETIMEDOUT);
	stop_server(start_server(&activation));
	waiting = ask(&activation);
	server = start_server(&activation);
	assert_answered(waiting);
	cr_assert_eq(sprofil(&test_region, 1, NULL, 0), 0, "%s", strerror(errno));
	stop_server(server);
	server = start_server(&activation);
	/* What the previous server counted is in the buffer; this one does not know of it. */
	cr_assert_eq(bpfprofil_status(&status, sizeof(status)), 0, "%s", strerror(errno));
	cr_assert_eq(status.on, (unsigned int)BPFPROFIL_OFF);
	cr_assert_eq(status.stopped, (unsigned int)BPFPROFIL_STOPPED_NOT);
	stop_server(server);
	end(&activation);
}

static bool answers(void *path)
{
	fixture_environment("BPFPROFIL_SOCKET", path);
	return !bpfprofil_sync();
}

/* The variables are for a process that ran before this one. */
Test(client_activation, passed_to_another)
{
	struct activation activation;
	struct child child;
	struct child_end child_end;
	char own[128];

	begin(&activation);
	snprintf(own, sizeof(own), "%s/own", activation.dir);
	setenv("LISTEN_PID", "1", 1);
	setenv("LISTEN_FDS", "1", 1);
	child_start(&child, NULL, ARGS(BPFPROFIL_BIN, "serve", "--socket", own));
	cr_assert(eventually(answers, own));
	kill(child.pid, SIGTERM);
	child_finish(&child, &child_end);
	cr_assert_eq(child_end.status, 0, "%s", child_end.err);
	cr_assert_neq(access(own, F_OK), 0, "it leaves its own socket behind");
	child_end_free(&child_end);
	end(&activation);
}

/* Converts "CAP_BPF CAP_PERFMON ..." to "+bpf,+perfmon,..." for setpriv. */
static void unit_capabilities(char *text, size_t size)
{
	char value[512], *word, *rest = value;
	size_t used;

	unit_value(SERVICE_UNIT, "CapabilityBoundingSet", value, sizeof(value));
	used = (size_t)snprintf(text, size, "-all");
	while ((word = strsep(&rest, " "))) {
		cr_assert_eq(strncmp(word, "CAP_", 4), 0, "%s", word);
		cr_assert_lt(used, size);
		used += (size_t)snprintf(text + used, size - used, ",+%s", word + 4);
	}
	cr_assert_lt(used, size);
}

/*
 * As if this user had executed the process: after setuid() alone the files in /proc/PID would be
 * root's, and root needs fewer capabilities for those.
 */
static void become_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 1))
		_exit(3);
}

static void assert_profiles_itself(uid_t uid)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (uid)
			become_nobody();
		if (sprofil(&test_region, 1, NULL, PROF_FAST))
			_exit(errno);
		_exit(bpfprofil_sync() || stop_profiling());
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0, "uid %d: %s", (int)uid, strerror(WEXITSTATUS(status)));
}

/* Above 2, kernels of some distributions refuse perf events to all without CAP_SYS_ADMIN. */
static bool perfmon_suffices(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	cr_assert(file && fscanf(file, "%d", &level) == 1);
	fclose(file);
	return level <= 2;
}

/* The unit's capabilities suffice for the programs of every user. */
Test(client_activation, capabilities)
{
	struct activation activation;
	struct child child;
	struct child_end child_end;
	char set[512], own[128];

	NEED_TOOL("setpriv");
	NEED(perfmon_suffices(),
	     "kernel.perf_event_paranoid is above 2, as on Debian: set it to 2");
	begin(&activation);
	unit_capabilities(set, sizeof(set));
	snprintf(own, sizeof(own), "%s/own", activation.dir);
	child_start(&child, NULL,
		    ARGS("setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set", set,
			 BPFPROFIL_BIN, "serve", "--socket", own));
	cr_assert(eventually(answers, own));
	assert_profiles_itself(0);
	assert_profiles_itself(NOBODY);
	kill(child.pid, SIGTERM);
	child_finish(&child, &child_end);
	cr_assert_eq(child_end.status, 0, "%s", child_end.err);
	child_end_free(&child_end);
	end(&activation);
}
