// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/notify.h"
#include "base/output.h"
#include "base/util.h"
#include "calls/calls.h"
#include "calls/server.h"
#include "host/feature/features.h"
#include "option/command.h"
#include "profile/profile_io.h"
#include "report/profile_file.h"

/*
 * Runs the server in a child process. If a user's memory (a page of a FUSE file) blocks a thread,
 * no signal can end that thread, and a process exists as long as its last thread. Therefore the
 * child serves users, and this process only waits until the child reports that it is done.
 *
 * supervise() runs body in the child. The child sends states for the service manager by
 * supervised_send(), because the manager only accepts them from this process. Signals that end this
 * process are passed on to the child, and the child ends with this process. Returns the exit
 * status.
 */
struct supervised;

enum { STATE_MAX = 64 };

struct supervised {
	int fd;
	pid_t pid;
	int signal_fd;
	/* A thread is blocked: nobody waits for the child's end, nor for its closed descriptors. */
	bool leaves;
};

/* The child's last message. */
struct last {
	char nul; /* states never begin with NUL */
	bool leaves;
	unsigned char status;
};

static void supervised_send(struct supervised *supervised, const char *state)
{
	send(supervised->fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void block_ends(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

static void keep_only(int fd, unsigned int from)
{
	close_range(from, (unsigned int)fd - 1, 0);
	close_range((unsigned int)fd + 1, ~0U, 0);
}

static void live(struct supervised *supervised, pid_t parent,
		 int (*body)(void *, struct supervised *), void *argument)
{
	struct last last = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	last.status = (unsigned char)body(argument, supervised);
	last.leaves = supervised->leaves;
	/*
	 * Flush before the message, because the parent ends then. Close descriptors, because the
	 * blocked thread would keep them open.
	 */
	if (last.leaves) {
		fflush(NULL);
		keep_only(supervised->fd, STDIN_FILENO);
	}
	send(supervised->fd, &last, sizeof(last), MSG_NOSIGNAL);
	if (!last.leaves)
		exit(last.status);
	_exit(last.status);
}

/* A signal from a terminal may reach the child twice, without harm. */
static void pass_signal(const struct supervised *supervised)
{
	struct signalfd_siginfo info;

	if (read(supervised->signal_fd, &info, sizeof(info)) == sizeof(info))
		kill(supervised->pid, (int)info.ssi_signo);
}

/* False: the child ended without a last message. */
static bool listen_to(const struct supervised *supervised, struct last *last)
{
	struct pollfd fds[] = { { .fd = supervised->fd, .events = POLLIN },
				{ .fd = supervised->signal_fd, .events = POLLIN } };
	char state[STATE_MAX + 1];
	ssize_t got;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			pass_signal(supervised);
		if (!fds[0].revents)
			continue;
		got = recv(supervised->fd, state, STATE_MAX, 0);
		if (got <= 0)
			return false;
		state[got] = '\0';
		if (!state[0] && got == sizeof(*last)) {
			memcpy(last, state, sizeof(*last));
			return true;
		}
		notify(state);
	}
}

static int await_end(const struct supervised *supervised)
{
	int status;

	while (waitpid(supervised->pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return failure(NULL, "the server was ended by signal %d", WTERMSIG(status));
}

static int supervise(int (*body)(void *, struct supervised *), void *argument)
{
	pid_t parent = getpid();
	struct supervised supervised = { 0 };
	sigset_t signals;
	struct last last;
	int pair[2];

	block_ends(&signals);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return failure(NULL, "socketpair: %s", strerror(errno));
	supervised.pid = fork();
	supervised.fd = pair[!supervised.pid];
	close(pair[!!supervised.pid]);
	if (!supervised.pid)
		live(&supervised, parent, body, argument);
	/*
	 * Descriptors that were passed to us now belong to the child, so that their closing shows
	 * its end.
	 */
	if (supervised.pid > 0)
		keep_only(supervised.fd, STDERR_FILENO + 1);
	supervised.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (supervised.pid < 0 || supervised.signal_fd < 0)
		return failure(NULL, "fork: %s", strerror(errno));
	return listen_to(&supervised, &last) && last.leaves ? last.status : await_end(&supervised);
}

enum { LOOK_MS = 1000 }; /* how often to check whether children that still count are gone */

#define LISTEN_FD 3 /* the first descriptor that systemd passes: sd_listen_fds(3) */

struct serve_arguments {
	struct calls_options calls;
	const char *socket;
	const char *group;
	const char *record;
	bool is_private;
	uint64_t for_pid; /* 0: for the whole host */
	uint64_t ready_fd; /* 0: none */
};

struct serve {
	const struct serve_arguments *arguments;
	struct calls *calls;
	struct server *server;
	struct supervised *supervised;
	struct watchdog watchdog;
	bool activated; /* systemd passed the socket */
	int signal_fd;
	int pid_fd; /* of the served process; -1: the whole host */
};

#define FIELD(member) offsetof(struct serve_arguments, member)
#define CALLS_FIELD(member)                                                                        \
	(offsetof(struct serve_arguments, calls) + offsetof(struct calls_options, member))

static const struct opt socket_opts[] = {
	OPT_STRING("socket", FIELD(socket), "PATH",
		   "listen at this path, or @NAME for an abstract socket; ignored if systemd "
		   "passes the socket",
		   .fallback = CALL_SOCKET, .value = VALUE_FILE),
	OPT_STRING("group", FIELD(group), "NAME",
		   "allow only this group; by default everybody may profile themselves",
		   .value = VALUE_GROUP),
	OPT_FLAG("restrict-fast", CALLS_FIELD(restrict_fast),
		 "refuse PROF_FAST, ticks of 1 ms, to everybody except root"),
	OPT_FILE("record", FIELD(record), "at the end write all counts as a profile"),
	{ 0 }
};

static const struct opt limit_opts[] = {
	OPT_SIZE("memory", CALLS_FIELD(memory), 1 << 20, "16M",
		 "limit the kernel memory for counters and tables of regions", .fallback = "64M",
		 .max = 1ULL << 40),
	OPT_NUMBER("max-calls", CALLS_FIELD(max_calls), "N", 1, 1 << 22,
		   "allow this many processes with an active call at the same time",
		   .fallback = "16384"),
	OPT_NUMBER("user-calls", CALLS_FIELD(user_calls), "N", 1, 1 << 22,
		   "allow this many for each user, except root", .fallback = "1024"),
	OPT_NUMBER("user-regions", CALLS_FIELD(user_regions), "N", 1, 1 << 30,
		   "allow this many regions of each user, except root", .fallback = "16384"),
	OPT_SIZE("user-memory", CALLS_FIELD(user_memory), 1 << 20, "16M",
		 "limit the kernel memory for the counters of each user, except root",
		 .fallback = "16M", .max = 1ULL << 40),
	{ 0 }
};

static const struct opt private_opts[] = {
	OPT_FLAG("private", FIELD(is_private), "serve only the programs of this user and of root"),
	OPT_NUMBER("for", FIELD(for_pid), "PID", 1, INT32_MAX,
		   "exit when this process and all processes with an active call have ended",
		   .value = VALUE_PID),
	OPT_NUMBER("ready-fd", FIELD(ready_fd), "FD", 3, INT32_MAX,
		   "write a byte to this descriptor when programs can connect, and close it"),
	{ 0 }
};

static int find_group(const char *name, gid_t *result, struct error *err)
{
	struct group *group;

	*result = (gid_t)-1;
	if (!name)
		return 0;
	errno = 0;
	group = getgrnam(name);
	if (!group)
		return error_set(err, -EINVAL, "--group %s: %s", name,
				 errno ? strerror(errno) : "no such group");
	*result = group->gr_gid;
	return 0;
}

/*
 * Replaces sd_listen_fds(3) without its library: there is one socket, and it is for this process.
 */
static bool is_activated(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	return pid && fds && strtol(pid, NULL, 10) == getpid() && strtol(fds, NULL, 10) == 1;
}

static int open_server(struct serve *serve, struct error *err)
{
	struct server_options options = {
		.path = serve->arguments->socket,
		.listen_fd = -1,
		.only = serve->arguments->is_private ? geteuid() : (uid_t)-1,
	};
	int ret = find_group(serve->arguments->group, &options.group, err);

	if (ret)
		return ret;
	options.mode = serve->arguments->group ? 0660 : 0666;
	if (serve->arguments->is_private)
		options.mode = 0600;
	if (serve->activated) {
		options.path = NULL;
		options.listen_fd = LISTEN_FD;
	}
	return server_open(&options, serve->calls, &serve->server, err);
}

static void say_ready(const struct serve *serve)
{
	int fd = (int)serve->arguments->ready_fd;

	supervised_send(serve->supervised, NOTIFY_READY);
	if (!fd && !serve->activated)
		print_message(NULL, "serve: ready at %s", serve->arguments->socket);
	if (!fd)
		return;
	if (write(fd, "", 1) != 1)
		print_message(NULL, "serve: --ready-fd %d: %s", fd, strerror(errno));
	close(fd);
}

static int open_signals(struct serve *serve, struct error *err)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	block_ends(&signals);
	serve->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return serve->signal_fd < 0 ? error_errno(err, -errno, "signalfd") : 0;
}

static int open_pid(struct serve *serve, struct error *err)
{
	uint64_t pid = serve->arguments->for_pid;

	if (!pid)
		return 0;
	serve->pid_fd = process_fd((pid_t)pid);
	return serve->pid_fd < 0 ? error_errno(err, -errno, "--for %llu", (unsigned long long)pid) :
				   0;
}

static int prepare(struct serve *serve, struct error *err)
{
	struct error lack;
	int ret = serve->arguments->record ? output_check(serve->arguments->record, err) : 0;

	if (!ret)
		ret = open_pid(serve, err);
	if (!ret)
		ret = open_signals(serve, err);
	if (ret)
		return ret;
	ret = calls_open(&serve->arguments->calls, &serve->calls, err);
	/* If the host lacks a feature, that explains more than the errno of a step. */
	if (ret && ret != -EINVAL && features_require(&lack))
		*err = lack;
	return ret ? ret : open_server(serve, err);
}

/* True if the served process has ended and none of its children counts any more. */
static bool is_over(struct serve *serve, bool starter_gone)
{
	return starter_gone && !calls_active(serve->calls);
}

static int serve_until_signal(struct serve *serve, struct error *err)
{
	struct pollfd fds[] = {
		{ .fd = serve->signal_fd, .events = POLLIN },
		{ .fd = calls_fd(serve->calls), .events = POLLIN },
		{ .fd = server_fd(serve->server), .events = POLLIN },
		{ .fd = serve->pid_fd, .events = POLLIN },
	};
	bool starter_gone = false, due;
	int ret = 0, wait_ms;

	while (!ret && !fds[0].revents && !is_over(serve, starter_gone)) {
		wait_ms = watchdog_feed(&serve->watchdog, &due);
		if (due)
			supervised_send(serve->supervised, NOTIFY_WATCHDOG);
		if (starter_gone && (wait_ms < 0 || wait_ms > LOOK_MS))
			wait_ms = LOOK_MS;
		if (poll(fds, 4, wait_ms) < 0)
			continue;
		if (fds[1].revents)
			ret = calls_poll(serve->calls, err);
		if (!ret && fds[2].revents)
			ret = server_poll(serve->server, err);
		if (fds[3].revents) {
			starter_gone = true;
			fds[3].fd = -1;
			fds[3].revents = 0;
		}
	}
	return ret;
}

static int write_record(struct serve *serve, struct error *err)
{
	struct profile *profile;
	int ret;

	if (!serve->arguments->record)
		return 0;
	ret = calls_finish(serve->calls, &profile, err);
	if (ret)
		return ret;
	/* The record has calls of all users. Therefore it is confidential. */
	ret = profile_save(profile, serve->arguments->record, OUTPUT_CONFIDENTIAL, err);
	profile_free(profile);
	return ret;
}

static void say_stuck(uid_t uid)
{
	print_message(
		NULL,
		"serve: user %u: a process keeps us waiting at its memory or files: its user's "
		"calls have ended, and more are refused until it answers",
		uid);
}

static void close_all(struct serve *serve)
{
	server_close(serve->server);
	serve->supervised->leaves = !calls_close(serve->calls);
	close_fd(&serve->signal_fd);
	close_fd(&serve->pid_fd);
}

static int serve_calls(void *argument, struct supervised *supervised)
{
	struct serve *serve = argument;
	struct error err = { 0 };
	int ret;

	serve->supervised = supervised;
	ret = prepare(serve, &err);
	if (!ret) {
		say_ready(serve);
		ret = serve_until_signal(serve, &err);
		/* Refuse new callers while the last ones get their counts. */
		server_close(serve->server);
		serve->server = NULL;
		if (!ret)
			ret = write_record(serve, &err);
	}
	if (ret)
		print_error(&err);
	close_all(serve);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
	struct serve_arguments arguments = { .socket = CALL_SOCKET };
	struct serve serve = { .arguments = &arguments, .signal_fd = -1, .pid_fd = -1 };
	int first, status;

	calls_options_init(&arguments.calls);
	if (!command_parse(&command_serve, argc, argv, &arguments, &first, &status))
		return status;
	if (first < argc)
		return usage_error("bpfprofil serve --help", "serve: '%s': takes no argument",
				   argv[first]);
	arguments.calls.record = arguments.record != NULL;
	arguments.calls.stuck = say_stuck;
	/* systemd knows this process, not the child. */
	serve.activated = is_activated();
	watchdog_init(&serve.watchdog);
	return supervise(serve_calls, &serve);
}

static const struct opt_group serve_groups[] = {
	{ .title = "Service", .opts = socket_opts },
	{ .title = "Limits", .opts = limit_opts },
	{ .title = "For one program", .opts = private_opts },
	{ 0 },
};

static const struct command_example serve_examples[] = {
	{ "profil() for every program on this host", "sudo bpfprofil serve" },
	{ "for one group, with a profile of all counts",
	  "sudo bpfprofil serve --group staff --record calls.json" },
	{ 0 },
};

const struct command command_serve = {
	.name = "serve",
	.is_service = true,
	.summary = "provide profil(), sprofil() and pcsample() to programs",
	.description =
		"Serves programs that call profil(3), sprofil(3) or pcsample(3) of libbpfprofil, or "
		"run with it preloaded. The kernel counts ticks into the buffers of the running programs, "
		"which need no privileges. While no program profiles, no clock runs. The server ends "
		"at SIGTERM or ^C, and programs keep their counts.",
	.groups = serve_groups,
	.examples = serve_examples,
	.run = run,
};
