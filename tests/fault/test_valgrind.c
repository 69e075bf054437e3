// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Each command under valgrind: no uninitialised memory is read, and none leaks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define MAX_ARGS 32

TestSuite(fault_valgrind, .init = need_root, .timeout = 600);

static bool have_valgrind(void)
{
	if (!have_tool("valgrind"))
		skip_say("no valgrind in PATH");
	else if (!strcmp(BPFPROFIL_BIN, FAULT_BIN))
		skip_say("a build with sanitizers does not run in valgrind");
	else
		return true;
	return false;
}

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	char text = 0;
	struct iovec part = { .iov_base = &text, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	sendmsg(socket, &message, 0);
}

/* Opens processes for pidfd/pidfd.c, until the last of its users has ended. */
static int start_pidfd_server(void)
{
	int sockets[2], pid, fd;

	cr_assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), "%s", strerror(errno));
	if (fork()) {
		close(sockets[0]);
		return sockets[1];
	}
	close(sockets[1]);
	while (recv(sockets[0], &pid, sizeof(pid), 0) == sizeof(pid)) {
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
		send_fd(sockets[0], fd);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

static void check(struct live *live, int status, const char *const arguments[])
{
	const char *argv[MAX_ARGS] = { "env",
				       "LD_PRELOAD=" FAULT_PIDFD,
				       NULL,
				       "valgrind",
				       "--quiet",
				       "--error-exitcode=99",
				       "--leak-check=full",
				       "--child-silent-after-fork=yes",
				       "--suppressions=" FAULT_VALGRIND_SUPP,
				       NULL,
				       BPFPROFIL_BIN };
	char server[32], log[128];
	int server_fd = start_pidfd_server(), n = 11;
	struct child_end end, found;

	snprintf(server, sizeof(server), "PIDFD_SERVER=%d", server_fd);
	snprintf(log, sizeof(log), "--log-file=%s", live_path(live, "valgrind"));
	argv[2] = server;
	argv[9] = log;
	while (*arguments && n + 1 < MAX_ARGS)
		argv[n++] = *arguments++;
	child_run(&end, NULL, argv);
	close(server_fd);
	child_run(&found, NULL, ARGS("cat", live_path(live, "valgrind")));
	cr_expect_eq(end.status, status, "%s %s: exit %d, not %d: %s%s", argv[11], argv[12],
		     end.status, status, end.err, found.out);
	child_end_free(&found);
	child_end_free(&end);
}

LIVE_TEST(fault_valgrind, run)
{
	if (!have_valgrind())
		return;
	check(live, 7,
	      ARGS("run", "-v", "-o", live->profile, "--", "sh", "-c",
		   WORKLOAD("three") " 100; exit 7"));
	check(live, 2, ARGS("run", "-F", "0", "--", "true"));
	check(live, 1, ARGS("run", "-o", "/proc/none", "--", "true"));
}

/* The workload leaves its map, which another user's process with that pid could not replace. */
LIVE_TEST(fault_valgrind, run_split)
{
	char map[64];

	if (!have_valgrind())
		return;
	check(live, 0,
	      ARGS("run", "-v", "-F", "3989", "--mode", "split", "--memory", "256K", "--region",
		   "jit:main", "-u", "root", "-o", live_path(live, "other.json.gz"), "--", "sh",
		   "-c", WORKLOAD("jit") " 100 >\"$0\"", live_path(live, "jit")));
	snprintf(map, sizeof(map), "/tmp/perf-%ld.map", number_in_file(live_path(live, "jit")));
	cr_expect_eq(unlink(map), 0, "%s", map);
}

LIVE_TEST(fault_valgrind, run_intervals)
{
	if (!have_valgrind())
		return;
	check(live, 0,
	      ARGS("run", "-v", "--interval", "1", "--keep", "1", "--split", "process", "-o",
		   live_path(live, "p-%t.json"), "--", WORKLOAD("three"), "20000"));
}

static void profile_three(struct live *live)
{
	live_run(live, ARGS(FAST, "-q", "--mode", "split"),
		 ARGS("sh", "-c", WORKLOAD("three") " 300"));
}

LIVE_TEST(fault_valgrind, report)
{
	if (!have_valgrind())
		return;
	profile_three(live);
	check(live, 0, ARGS("report", live->profile));
	check(live, 0, ARGS("report", "--by", "objects", "--format", "json", live->profile));
	check(live, 0, ARGS("report", "--by", "lines", live->profile));
	check(live, 0, ARGS("report", "--by", "bins", "--format", "csv", live->profile));
	check(live, 0, ARGS("report", "--annotate", "alpha", live->profile));
	check(live, 0, ARGS("report", "--annotate", "three:beta", "--hot", live->profile));
	check(live, 0,
	      ARGS("report", "--annotate", "spin.h:36", "--format", "json", live->profile));
	check(live, 1, ARGS("report", "--annotate", "none", live->profile));
	check(live, 1, ARGS("report", BPFPROFIL_BIN));
	check(live, 1, ARGS("report", "--object", "none", live->profile));
	check(live, 0, ARGS("report", "--help"));
}

LIVE_TEST(fault_valgrind, export)
{
	if (!have_valgrind())
		return;
	profile_three(live);
	check(live, 0, ARGS("export", "--format", "csv", live->profile));
	check(live, 0, ARGS("export", "--format", "folded", live->profile));
	check(live, 0, ARGS("export", "--format", "callgrind", live->profile));
	check(live, 0, ARGS("export", "--format", "pprof", "-o", "/dev/null", live->profile));
	check(live, 0, ARGS("export", "--format", "otlp", "-o", "/dev/null", live->profile));
	check(live, 0, ARGS("export", "--format", "clickhouse", live->profile));
	check(live, 0, ARGS("export", "--format", "speedscope", live->profile));
	check(live, 0, ARGS("export", "--format", "gmon", "-o", live->dir, live->profile));
	check(live, 0,
	      ARGS("export", "--format", "json", "-o", live_path(live, "copy.json.gz"),
		   live->profile));
	check(live, 0, ARGS("export", "--schema"));
}

LIVE_TEST(fault_valgrind, doctor)
{
	if (!have_valgrind())
		return;
	check(live, 0, ARGS("doctor", "--quick"));
}
