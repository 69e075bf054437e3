// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Checks the stack of the programs as 6.1's verifier adds it up, which rejects too much of it with
 * just "combined stack size of 5 calls is 544. Too large". Later verifiers are more lenient, so
 * loading on this kernel proves nothing.
 */
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <linux/bpf.h>

#include "need.h"
#include "shared/call_abi.h"

#include "calls.skel.h"
#include "host.skel.h"

#define MAX_STACK 512
#define ROUND 32
#define MAX_FRAMES 8

TestSuite(bpf_stack, .init = need_root);

struct code {
	const struct bpf_insn *insns;
	size_t nr;
};

static bool calls(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL) ||
	       (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg == BPF_PSEUDO_FUNC);
}

/* Whether another function begins here, because something calls it. */
static bool begins(const struct code *code, size_t at)
{
	size_t i;

	for (i = 0; i < code->nr; i++)
		if (calls(&code->insns[i]) && i + 1 + (size_t)code->insns[i].imm == at)
			return true;
	return false;
}

/*
 * How far below the frame pointer an instruction reaches, by itself or through an address it makes.
 */
static int reach(const struct bpf_insn *insn, const struct bpf_insn *last)
{
	int class = BPF_CLASS(insn->code), below = 0;

	if (class == BPF_LDX && insn->src_reg == BPF_REG_10)
		below = -insn->off;
	else if ((class == BPF_ST || class == BPF_STX) && insn->dst_reg == BPF_REG_10)
		below = -insn->off;
	else if (insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && last &&
		 last->code == (BPF_ALU64 | BPF_MOV | BPF_X) && last->src_reg == BPF_REG_10 &&
		 last->dst_reg == insn->dst_reg)
		below = -insn->imm;
	return below;
}

/* The depth of the deepest chain of calls from the function at `first`. */
static int depth(const struct code *code, size_t first, int frames)
{
	int own = 1, deepest = 0, below;
	size_t i;

	cr_assert_leq(frames, MAX_FRAMES);
	for (i = first; i < code->nr && (i == first || !begins(code, i)); i++) {
		below = reach(&code->insns[i], i > first ? &code->insns[i - 1] : NULL);
		own = below > own ? below : own;
		if (calls(&code->insns[i])) {
			below = depth(code, i + 1 + (size_t)code->insns[i].imm, frames + 1);
			deepest = below > deepest ? below : deepest;
		}
	}
	return (own + ROUND - 1) / ROUND * ROUND + deepest;
}

/* Returns how many loaded programs use more than half of it, to show that calls are seen at all. */
static size_t check_programs(const struct bpf_object *object)
{
	struct bpf_program *program;
	size_t deep = 0;

	bpf_object__for_each_program(program, object) {
		const struct code code = { bpf_program__insns(program),
					   bpf_program__insn_cnt(program) };
		int stack;

		if (!bpf_program__autoload(program))
			continue;
		cr_assert(code.insns && code.nr);
		stack = depth(&code, 0, 1);
		cr_log_info("%s: %d bytes", bpf_program__name(program), stack);
		cr_expect_leq(stack, MAX_STACK, "%s: %d bytes of stack", bpf_program__name(program),
			      stack);
		deep += stack > MAX_STACK / 2;
	}
	return deep;
}

Test(bpf_stack, fits_what_6_1_allows)
{
	struct bpf_program *program;
	struct host_bpf *skel;

	skel = host_bpf__open();
	cr_assert(skel);
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, program != skel->progs.profil_exit_mm);
	cr_assert_eq(host_bpf__load(skel), 0);
	cr_expect_geq(check_programs(skel->obj), 4, "the ticks");
	host_bpf__destroy(skel);
}

Test(bpf_stack, of_calls_too)
{
	struct calls_bpf *skel;

	skel = calls_bpf__open();
	cr_assert(skel);
	cr_assert_eq(calls_bpf__load(skel), 0);
	cr_expect_geq(check_programs(skel->obj), 1, "the fork");
	calls_bpf__destroy(skel);
}
