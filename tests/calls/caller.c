// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "caller.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "chance.h"
#include "client/settings.h"

void caller_fail(const char *file, int line, const char *text)
{
	fprintf(stderr, "%s:%d: not so: %s (errno: %s)\n", file, line, text, strerror(errno));
	_exit(1);
}

void caller_fail_number(const char *file, int line, const char *text, long long a, long long b)
{
	fprintf(stderr, "%s:%d: not so: %s: %lld and %lld\n", file, line, text, a, b);
	_exit(1);
}

void caller_use(const char *path)
{
	if (path)
		setenv("BPFPROFIL_SOCKET", path, 1);
	else
		unsetenv("BPFPROFIL_SOCKET");
	unsetenv("BPFPROFIL_DIALECT");
	unsetenv("BPFPROFIL_USER_ONLY");
	client_settings_read();
}

void caller_begin(struct serve *serve, const char *const options[])
{
	serve_begin(serve, options);
	caller_use(serve->path);
}

/*
 * A process that a failed test leaves behind must not burn on; a change of user resets this, so it
 * is set again.
 */
static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void caller_become(unsigned int user)
{
	if (user)
		ENSURE(!setgid(user) && !setuid(user));
	die_with_parent();
}

static void write_map(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ENSURE(fd >= 0);
	ENSURE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

void caller_lend(unsigned int user, const char *map)
{
	int made[2], status = -1;
	pid_t root, self = getpid();
	char go;

	ENSURE(!pipe(made));
	root = fork();
	if (!root) {
		ENSURE(read(made[0], &go, 1) == 1);
		write_map(self, "uid_map", map);
		write_map(self, "gid_map", map);
		_exit(0);
	}
	caller_become(user);
	ENSURE(unshare(CLONE_NEWUSER) == 0);
	ENSURE(write(made[1], "", 1) == 1);
	ENSURE(waitpid(root, &status, 0) == root && status == 0);
	close(made[0]);
	close(made[1]);
}

int caller_fork(void (*body)(void *argument), void *argument)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child)
		return child;
	die_with_parent();
	body(argument);
	_exit(0);
}

void caller_join(int pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ENSURE_NUMBER(status, ==, 0);
}

void caller_run_as(unsigned int user, void (*body)(void *argument), void *argument)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child) {
		caller_become(user);
		body(argument);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	cr_assert_eq(status, 0, "wait status 0x%x", (unsigned int)status);
}

void caller_run(void (*body)(void *argument), void *argument)
{
	caller_run_as(0, body, argument);
}

static double thread_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void rest(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static volatile unsigned long sink;

#define BURNER(name)                                                                               \
	__attribute__((noinline, aligned(PAGE))) void name(double seconds)                         \
	{                                                                                          \
		double end = thread_seconds() + seconds;                                           \
		int i;                                                                             \
                                                                                                   \
		do {                                                                               \
			for (i = 0; i < 100000; i++)                                               \
				sink += (unsigned long)i;                                          \
		} while (thread_seconds() < end);                                                  \
	}

BURNER(burn_low)
BURNER(burn_high)

size_t text_start(void)
{
	return (size_t)burn_low;
}

size_t high_at(void)
{
	size_t at = (size_t)burn_high - (size_t)burn_low;

	ENSURE(at >= PAGE && at <= TEXT_SPAN - PAGE);
	return at;
}

char *wide_text(void)
{
	/* Each burns for a while and returns. */
#ifdef __aarch64__
	/* mov w0, #500000; 1: subs w0, w0, #1; b.ne 1b; ret */
	static const unsigned int code[] = { 0x52942400, 0x72a000e0, 0x71000400, 0x54ffffe1,
					     0xd65f03c0 };
#else
	/* mov $500000,%ecx; 1: dec %ecx; jnz 1b; ret */
	static const unsigned char code[] = { 0xb9, 0x20, 0xa1, 0x07, 0x00,
					      0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#endif
	char *text = mmap(NULL, WIDE_SPAN, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	ENSURE(text != MAP_FAILED);
	for (i = 0; i < WIDE; i++)
		memcpy(text + (size_t)i * WIDE_STEP, code, sizeof(code));
	__builtin___clear_cache(text, text + WIDE_SPAN);
	return text;
}

void burn_wide(char *text, int n)
{
	int i;

	for (i = 0; i < n; i++)
		((void (*)(void))(void *)(text + (size_t)(i % WIDE) * WIDE_STEP))();
}

int on(void *buffer, size_t size)
{
	return profil(buffer, size, text_start(), 0x10000);
}

int on_fast(void *buffer, size_t size)
{
	struct prof region = { buffer, size, text_start(), 0x10000 };

	return sprofil(&region, 1, NULL, PROF_FAST | PROF_USHORT);
}

/* glibc's declaration does not allow NULL. */
int off(void)
{
	int (*any)(unsigned short *, size_t, size_t, unsigned int) = profil;

	return any(NULL, 0, 0, 0);
}

struct bpfprofil_status told(void)
{
	struct bpfprofil_status status;

	ENSURE(bpfprofil_status(&status, sizeof(status)) == 0);
	return status;
}

uint64_t sum_of(const void *buffer, size_t size)
{
	uint16_t counter;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i + sizeof(counter) <= size; i += sizeof(counter)) {
		memcpy(&counter, (const char *)buffer + i, sizeof(counter));
		sum += counter;
	}
	return sum;
}

struct bpfprofil_status account(const void *buffer, size_t size)
{
	struct bpfprofil_status status = told();

	ENSURE(status.on == BPFPROFIL_OFF);
	ENSURE_NUMBER(status.total, ==,
		      status.binned + status.overflow + status.outside + status.filtered +
			      status.lost);
	ENSURE_NUMBER(sum_of(buffer, size), ==, status.binned);
	return status;
}

struct bpfprofil_status off_and_account(const void *buffer, size_t size)
{
	ENSURE(off() == 0);
	return account(buffer, size);
}

void *fresh_pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ENSURE(at != MAP_FAILED);
	return at;
}

struct ratio ratio_of(double ticks, double expected, double turns, double part)
{
	return (struct ratio){ ticks / expected,
			       fmax(part, CHANCE_ERRORS * sqrt(turns / 6) / expected) };
}

int ratio_is_good(const struct ratio *ratio)
{
	return fabs(ratio->value - 1) <= ratio->allowed;
}

double turns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}
