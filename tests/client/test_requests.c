// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is sent over the socket, and what a call returns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client.h"

static void assert_request(const struct fixture *fixture, enum call_op op, uint32_t entries)
{
	const struct call_request *request = fake_request(&fixture->server);

	cr_assert_eq(request->magic, (uint32_t)CALL_MAGIC);
	cr_assert_eq(request->version, CALL_VERSION);
	cr_assert_eq(request->op, (uint16_t)op);
	cr_assert_eq(request->pointer, sizeof(void *));
	cr_assert_eq(request->nr_entries, entries);
	cr_assert_eq(fixture->shared->size, sizeof(*request) + entries * sizeof(struct call_entry));
	cr_assert_eq(memcmp(request->proof, (void *)getauxval(AT_RANDOM), CALL_PROOF_BYTES), 0);
	cr_assert_eq(fixture->shared->sender.pid, getpid());
	cr_assert_eq(fixture->shared->sender.uid, getuid());
}

TestSuite(client_requests, .timeout = 300);

CLIENT_TEST(client_requests, profil)
{
	const struct call_entry *entry;

	cr_assert_eq(profil(test_counters, 100, 0x123456789abcUL, 0xffffffffU), 0);
	assert_request(fixture, CALL_PROFIL, 1);
	entry = fake_request(&fixture->server)->entries;
	cr_assert_eq(entry->base, (uintptr_t)test_counters);
	cr_assert_eq(entry->size, 100);
	cr_assert_eq(entry->offset, 0x123456789abcUL);
	cr_assert_eq(entry->scale, 0xffffffffU);
	cr_assert_eq(fake_request(&fixture->server)->count, 1);
}

CLIENT_TEST(client_requests, pcsample)
{
	uintptr_t samples[4];

	fixture->shared->reply.value = 1L << 31;
	cr_assert_eq(pcsample(samples, 4), 1L << 31);
	assert_request(fixture, CALL_PCSAMPLE, 1);
	cr_assert_eq(fake_request(&fixture->server)->count, 4);
	cr_assert_eq(fake_request(&fixture->server)->entries[0].base, (uintptr_t)samples);
	cr_assert_eq(fake_request(&fixture->server)->entries[0].size, 4);
	pcsample(samples, -3);
	cr_assert_eq(fake_request(&fixture->server)->count, -3);
}

CLIENT_TEST(client_requests, sprofil_of_all_sizes)
{
	static const int counts[] = { 1, 2, 63, 64, 4095, 4096 };
	struct prof *regions = calloc(4096, sizeof(*regions));
	const struct call_entry *entries;
	size_t i;
	int n;

	entries = fake_request(&fixture->server)->entries;
	for (n = 0; n < 4096; n++)
		regions[n] = (struct prof){ (char *)0 + n, (size_t)n << 33, ~(size_t)n,
					    1UL << (n % 64) };
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		cr_assert_eq(sprofil(regions, counts[i], NULL, PROF_UINT | PROF_FAST), 0);
		assert_request(fixture, CALL_SPROFIL, (uint32_t)counts[i]);
		cr_assert_eq(fake_request(&fixture->server)->count, counts[i]);
		cr_assert_eq(fake_request(&fixture->server)->profil_flags, PROF_UINT | PROF_FAST);
		for (n = 0; n < counts[i]; n++) {
			cr_assert_eq(entries[n].base, (uint64_t)n);
			cr_assert_eq(entries[n].size, (uint64_t)n << 33);
			cr_assert_eq(entries[n].offset, ~(uint64_t)n);
			cr_assert_eq(entries[n].scale, 1ULL << (n % 64));
		}
	}
	free(regions);
}

/* The server knows which error it is in each dialect; the array is not read. */
CLIENT_TEST(client_requests, sprofil_count_out_of_range)
{
	static const int counts[] = { 0, -1, 4097, INT32_MAX, INT32_MIN };
	size_t i;

	fixture->shared->reply.error = E2BIG;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		cr_assert_fails(sprofil(NULL, counts[i], NULL, 0), E2BIG);
		assert_request(fixture, CALL_SPROFIL, 0);
		cr_assert_eq(fake_request(&fixture->server)->count, counts[i]);
	}
}

CLIENT_TEST(client_requests, sync_and_errors)
{
	errno = ENOTTY;
	fixture->shared->reply.value = 17;
	cr_assert_eq(bpfprofil_sync(), 0);
	cr_assert_eq(errno, ENOTTY);
	assert_request(fixture, CALL_SYNC, 0);
	fixture->shared->reply.error = EDQUOT;
	cr_assert_fails(bpfprofil_sync(), EDQUOT);
	cr_assert_fails(profil(test_counters, 2, 0, 2), EDQUOT);
	cr_assert_fails(pcsample(NULL, 2), EDQUOT);
}

CLIENT_TEST(client_requests, dialects)
{
	static const char *const names[] = { "glibc", "v7",    "svr4",	   "solaris",
					     "bsd43", "bsd44", "bsd44doc", "irix" };
	const struct call_request *request;
	uint32_t i;

	request = fake_request(&fixture->server);
	for (i = 0; i < DIALECT_COUNT; i++) {
		cr_assert_eq(bpfprofil_dialect(names[i]), 0);
		profil(test_counters, 2, 0, 2);
		cr_assert_eq(request->dialect, i, "%s", names[i]);
		bpfprofil_dialect(NULL);
		fixture_environment("BPFPROFIL_DIALECT", names[i]);
		profil(test_counters, 2, 0, 2);
		cr_assert_eq(request->dialect, i, "%s", names[i]);
		fixture_environment("BPFPROFIL_DIALECT", NULL);
	}
	cr_assert_fails(bpfprofil_dialect("Irix"), EINVAL);
	cr_assert_fails(bpfprofil_dialect(""), EINVAL);
	profil(test_counters, 2, 0, 2);
	cr_assert_eq(request->dialect, (uint32_t)DIALECT_GLIBC);
}

/* To count by rules that nobody asked for would be worse than not to count. */
CLIENT_TEST(client_requests, dialect_misspelt_in_environment)
{
	fixture_environment("BPFPROFIL_DIALECT", "solars");
	cr_assert_fails(profil(test_counters, 2, 0, 2), EINVAL);
	cr_assert_eq(fixture->shared->requests, 0);
	cr_assert_eq(bpfprofil_sync(), 0);
	cr_assert_eq(bpfprofil_dialect("solaris"), 0);
	cr_assert_eq(profil(test_counters, 2, 0, 2), 0);
}

CLIENT_TEST(client_requests, user_only)
{
	static const struct {
		const char *value;
		uint32_t flags;
	} cases[] = { { "1", CALL_USER_ONLY }, { "yes", CALL_USER_ONLY }, { "0", 0 }, { "", 0 } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_environment("BPFPROFIL_USER_ONLY", cases[i].value);
		profil(test_counters, 2, 0, 2);
		cr_assert_eq(fake_request(&fixture->server)->flags, cases[i].flags);
	}
}

CLIENT_TEST(client_requests, tick)
{
	struct timeval tick = { 7, 7 };

	fixture->shared->reply.state.period_ns = 1003000;
	cr_assert_eq(sprofil(&test_region, 1, &tick, PROF_FAST), 0);
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 1003);
	fixture->shared->reply.state.period_ns = 3000010999ULL;
	cr_assert_eq(sprofil(&test_region, 1, &tick, 0), 0);
	cr_assert(tick.tv_sec == 3 && tick.tv_usec == 10);
	/* When off, the period is what it would be. */
	fixture->shared->reply.state.period_ns = 0;
	cr_assert_eq(sprofil(NULL, 0, &tick, 0), 0);
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 10000);
	cr_assert_eq(sprofil(NULL, 0, &tick, PROF_FAST), 0);
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 1000);
	fixture->shared->reply.error = EACCES;
	cr_assert_fails(sprofil(&test_region, 1, &tick, PROF_FAST), EACCES);
	cr_assert(tick.tv_sec == 0 && tick.tv_usec == 1000, "touched by a call that failed");
}

static const struct call_state state = {
	.on = CALL_SPROFIL,
	.stopped = CALL_STOP_LIMIT,
	.region = 3,
	.dialect = DIALECT_SOLARIS,
	.counter = 4,
	.period_ns = 5,
	.total = 6,
	.binned = 7,
	.overflow = 8,
	.outside = 9,
	.filtered = 10,
	.lost = 11,
};

CLIENT_TEST(client_requests, status)
{
	struct bpfprofil_status status;

	fixture->shared->reply.state = state;
	errno = ENOTTY;
	cr_assert_eq(bpfprofil_status(&status, sizeof(status)), 0);
	cr_assert_eq(errno, ENOTTY);
	assert_request(fixture, CALL_STATUS, 0);
	cr_assert_eq(status.on, (unsigned int)BPFPROFIL_SPROFIL);
	cr_assert_eq(status.stopped, (unsigned int)BPFPROFIL_STOPPED_LIMIT);
	cr_assert_eq(status.region, 3);
	cr_assert_eq(status.reserved, 0);
	cr_assert(status.counter == 4 && status.period_ns == 5 && status.total == 6 &&
		  status.binned == 7 && status.overflow == 8 && status.outside == 9 &&
		  status.filtered == 10 && status.lost == 11);
	cr_assert_str_eq(status.dialect, "solaris");
}

/* A caller of an older release passes a smaller size, of a newer one a larger size. */
CLIENT_TEST(client_requests, status_sizes)
{
	unsigned char bytes[sizeof(struct bpfprofil_status) + 24];
	size_t size, i;

	fixture->shared->reply.state = state;
	for (size = 0; size <= sizeof(bytes); size++) {
		memset(bytes, 0xa5, sizeof(bytes));
		cr_assert_eq(bpfprofil_status((struct bpfprofil_status *)(void *)bytes, size), 0);
		for (i = sizeof(struct bpfprofil_status); i < size; i++)
			cr_assert_eq(bytes[i], 0);
		for (i = size; i < sizeof(bytes); i++)
			cr_assert_eq(bytes[i], 0xa5, "byte %zu of %zu", i, size);
	}
	fixture->shared->reply.error = EPERM;
	memset(bytes, 0xa5, sizeof(bytes));
	cr_assert_fails(bpfprofil_status((struct bpfprofil_status *)(void *)bytes, 8), EPERM);
	cr_assert_eq(bytes[0], 0xa5, "touched by a call that failed");
}

CLIENT_TEST(client_requests, bad_pointers)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct prof *torn = (struct prof *)(void *)(pages + page) - 1;
	struct timeval *halved = (struct timeval *)(void *)(pages + page - 8);

	cr_assert_eq(mprotect(pages + page, page, PROT_NONE), 0);
	cr_assert_eq(mprotect(pages + 2 * page, page, PROT_READ), 0);
	cr_assert_fails(sprofil(NULL, 1, NULL, 0), EFAULT);
	cr_assert_fails(sprofil((struct prof *)8, 1, NULL, 0), EFAULT);
	cr_assert_fails(sprofil((struct prof *)~(uintptr_t)31, 1, NULL, 0), EFAULT);
	cr_assert_fails(sprofil(torn, 2, NULL, 0), EFAULT);
	cr_assert_fails(sprofil(torn, 4096, NULL, 0), EFAULT);
	cr_assert_fails(sprofil(&test_region, 1, (struct timeval *)8, 0), EFAULT);
	cr_assert_fails(sprofil(&test_region, 1, halved, 0), EFAULT);
	cr_assert_fails(sprofil(&test_region, 1, (struct timeval *)(void *)(pages + 2 * page), 0),
			EFAULT);
	cr_assert_fails(bpfprofil_status((struct bpfprofil_status *)(void *)halved, 16), EFAULT);
	cr_assert_fails(bpfprofil_status(NULL, sizeof(struct bpfprofil_status)), EFAULT);
	cr_assert_eq(fixture->shared->requests, 0, "the server was asked");
	cr_assert_eq(sprofil(torn, 1, NULL, 0), 0);
	munmap(pages, 3 * page);
}

CLIENT_TEST(client_requests, fork_child_asks_for_itself)
{
	pid_t child;
	int status;

	profil(test_counters, 2, 0, 2);
	child = fork();
	if (!child)
		_exit(profil(test_counters, 2, 0, 2) || fixture->shared->sender.pid != getpid());
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert_eq(fixture->shared->sender.pid, child);
}
