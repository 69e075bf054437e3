// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The arithmetic of waits: a state and its time in one word, and the credit for walks. */
#include <criterion/criterion.h>

#include "shared/waits_abi.h"
#include "shared/walk_credit.h"

TestSuite(wait_time);

static const __u64 most = 1ULL << (64 - WAIT_STATE_BITS);

Test(wait_time, a_word_has_both)
{
	const __u64 word = wait_word(WAIT_SYSCALL_MAX | WAIT_COMPAT | WAIT_IO, 12345);

	cr_expect_eq(wait_word_state(word), WAIT_SYSCALL_MAX | WAIT_COMPAT | WAIT_IO);
	cr_expect_eq(wait_word_distance(word, wait_word(WAIT_RUNNING, 12345)), 0);
	cr_expect_eq(wait_word_distance(word, wait_word(WAIT_RUNNING, 20000)), 7655);
	cr_expect_lt(WAIT_SYSCALL + WAIT_SYSCALL_MAX, WAIT_COMPAT);
}

/* 52 days after the host was started the time no longer fits. */
Test(wait_time, beyond_52_bits)
{
	const __u64 before = wait_word(WAIT_BLOCKED, most - 10);

	cr_expect_eq(wait_word_distance(before, wait_word(WAIT_RUNNING, most + 5)), 15);
	cr_expect(!wait_word_is_after(before, most + 5));
	cr_expect(wait_word_is_after(wait_word(WAIT_BLOCKED, most + 5), most - 10));
}

Test(wait_time, the_later_time)
{
	const __u64 word = wait_word(WAIT_BLOCKED, 1000);

	cr_expect(wait_word_is_after(word, 999));
	cr_expect(!wait_word_is_after(word, 1000));
	cr_expect(!wait_word_is_after(word, 1001));
}

/* A hundredth of a CPU for the CPU, and half of that of all CPUs for an owner. */
Test(wait_time, credit_by_time)
{
	struct walk_credit cpu = { .since_ns = 5 }, owner = { .since_ns = 5 };

	cr_expect(!credit_admits(&cpu, &owner, 5 + CREDIT_STEP_NS - 1, 8, 1));
	cr_expect_eq(cpu.ns, 0);
	cr_expect(credit_admits(&cpu, &owner, 5 + 100000, 8, 1));
	cr_expect_eq(cpu.ns, 1000);
	cr_expect_eq(owner.ns, 4000);
	credit_pay(&cpu, &owner, 1500);
	cr_expect_eq(cpu.ns, -500);
	cr_expect_eq(owner.ns, 2500);
	cr_expect(!credit_admits(&cpu, &owner, 5 + 100001, 8, 1));
}

Test(wait_time, credit_has_bounds)
{
	struct walk_credit cpu = { .ns = -5 * CREDIT_MOST_NS }, owner = { .since_ns = 0 };

	/* Any debt is paid at last, and not more than that is saved. */
	cr_expect(!credit_admits(&cpu, &owner, 1000000000000, 2, 1));
	cr_expect_eq(owner.ns, CREDIT_MOST_NS);
	cpu.ns = -CREDIT_MOST_NS;
	cr_expect(credit_admits(&cpu, &owner, 2000000000000, 2, 1));
	cr_expect_eq(cpu.ns, CREDIT_MOST_NS);
}

/* Who waited long, or not yet, borrows; an owner without credit is not admitted on another CPU. */
Test(wait_time, who_borrows)
{
	struct walk_credit cpu = { 0 }, owner = { 0 };

	cr_expect(!credit_admits(&cpu, &owner, 1, 2, LONG_WAIT_US - 1));
	cr_expect(credit_admits(&cpu, &owner, 1, 2, LONG_WAIT_US));
	cr_expect(credit_admits(&cpu, &owner, 1, 2, 0));
	owner.ns = -CREDIT_MOST_NS;
	cr_expect(!credit_admits(&cpu, &owner, 1, 2, LONG_WAIT_US));
}
