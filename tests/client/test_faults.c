// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Each system call of the library fails in turn, by a seccomp filter. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client.h"

static int refuse(unsigned int number, int error)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Returns 0 if all is well, else the number of the failed check. */
static int try_without(unsigned int number, int error, int expected)
{
	size_t before = open_descriptors();
	int ret;

	if (refuse(number, error))
		return 1;
	errno = ENOTTY;
	ret = profil(test_counters, sizeof(test_counters), 0x1000, 0x10000);
	if (expected ? ret != -1 || errno != expected : ret != 0 || errno != ENOTTY)
		return 2;
	/* If close() is refused the descriptor stays, which cannot be helped. */
	return number != SYS_close && open_descriptors() != before ? 3 : 0;
}

static const struct {
	const char *name;
	unsigned int number;
	int error, expected;
} faults[] = {
	{ "socket", SYS_socket, EMFILE, EMFILE },
	{ "setsockopt", SYS_setsockopt, EPERM, EPERM },
	{ "connect", SYS_connect, ENETDOWN, ENETDOWN },
	{ "connect, full", SYS_connect, EAGAIN, ETIMEDOUT },
	{ "sendmsg", SYS_sendmsg, ENOBUFS, ENOBUFS },
	{ "sendmsg, gone", SYS_sendmsg, EPIPE, EPIPE },
	{ "recvfrom", SYS_recvfrom, ENOMEM, ENOMEM },
	{ "recvfrom, slow", SYS_recvfrom, EAGAIN, ETIMEDOUT },
	{ "close", SYS_close, EIO, 0 },
	{ "rt_sigprocmask", SYS_rt_sigprocmask, EPERM, 0 },
};

TestSuite(client_faults, .timeout = 300);

CLIENT_TEST(client_faults, each_call)
{
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		pid_t child = fork();
		int status;

		if (!child)
			_exit(try_without(faults[i].number, faults[i].error, faults[i].expected));
		waitpid(child, &status, 0);
		cr_expect_eq(status, 0, "%s: check %d", faults[i].name, WEXITSTATUS(status));
	}
}

/* If the kernel cannot be asked about a pointer, a good one is still accepted. */
CLIENT_TEST(client_faults, no_futex)
{
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		struct bpfprofil_status told;

		_exit(refuse(SYS_futex, EPERM) || bpfprofil_status(&told, sizeof(told)));
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}
