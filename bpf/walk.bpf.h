/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WALK_BPF_H
#define BPFPROFIL_WALK_BPF_H

/*
 * The walk from a tick's frame up to its first frame.
 *
 * Each step goes from a frame to its caller's. A frame is a pc, a stack pointer and a frame pointer
 * (struct frame). The pc gives a text and an offset in it (ranges.bpf.h), and these give the rule
 * that user space made of the file's call-frame information (shared/unwind.h). The rule says where
 * the return address and the caller's frame pointer are stored:
 *
 *     text   ── rules_of_texts ── its table
 *     offset ── rule_lines ────── a row of the table, with the number of a rule
 *     number ── rules ─────────── the rule: CFA = SP + 48, return address at CFA - 8
 *
 * Without a rule, the walk tries in turn: code that is about to return (step_by_epilogue()), a
 * frame of the kernel for a signal handler, and the frame pointer (step_by_pointer()). A frame
 * pointer without a rule may be any number. Then the walk counts as guessed, but it must still lead
 * to text.
 *
 * The walk's state is in a map, because the stack has only 512 bytes. Each step is a global
 * function of scalars in a plain loop: the verifier checks a global function once, but a static one
 * at each call. bpf_loop does not work here: before 6.7, the verifier checks its callback only with
 * the values that the stack has before the first round, and removes branches that they exclude.
 */
#include "map_kinds.bpf.h"
#include "ranges.bpf.h"
#include "sleepers.bpf.h"
#include "wait_memo.bpf.h"

/* Lines of the tables' rows. The first ones are in this map; more come in chunks. */
MAPPED_ARRAY(rule_lines, struct unwind_line, 1);

ADDED_ARRAYS(rule_chunks, rule_chunk, 0, struct unwind_line, CHUNK_LINES, 1);

MAPPED_ARRAY(rules, struct unwind_rule, 1);

/* KNOWN_RULES for each of the walks. */
ARRAY(known_rules, struct known_rule, 1);

/* How many lines are in `rule_lines`; more are in chunks. Set before load. */
const volatile __u32 base_lines = 1;

static __always_inline bool word_at(u32 number, u32 *word)
{
	u32 at = unwind_line_of(number);
	struct unwind_line *line = bpf_map_lookup_elem(&rule_lines, &at) ?:
					   in_chunk(&rule_chunks, at, &base_lines, CHUNK_LINES);

	if (!line)
		return false;
	*word = line->word[unwind_word_of(number)];
	return true;
}

/*
 * Returns the rule of the last row at or before an offset: a row of the offset's granule, or else
 * the row before them. 0: there is none.
 */
static __always_inline u32 find_row(const struct rules_of_text *table, u64 offset)
{
	u64 granule = unwind_granule(offset) - table->first;
	u32 i, lo, hi, mid, row, first;

	if (granule >= table->granules || !word_at(table->index + granule, &lo) ||
	    !word_at(table->index + granule + 1, &hi))
		return 0;
	first = lo;

	for (i = 0; i < UNWIND_STEPS && lo < hi; i++) {
		mid = (lo + hi) / 2;
		if (!word_at(mid, &row))
			return 0;
		if (unwind_row_begins(row, offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!word_at(lo - 1, &row))
		return 0;
	if (lo > first && unwind_row_is_early(row, offset))
		return unwind_row_rule(row) | UNWIND_ROW_EARLY;
	return unwind_row_rule(row);
}

/* Values in place of a rule's number. */
enum {
	RULE_NONE = 0,
	RULE_LATE = -1, /* the table is not ready */
	RULE_FULL = -2, /* there was no room for the table */
	RULE_GO_FRAME_POINTER = -3, /* a caller in Go's text, which has a frame pointer */
};

/*
 * Returns the number of the rule for an offset of a text, with UNWIND_ROW_EARLY if a function
 * begins one byte later, or one of the values above.
 */
__noinline int lookup_rule(u32 text, u64 offset, bool in_call)
{
	struct rules_of_text *table = bpf_map_lookup_elem(&rules_of_texts, &text);
	u32 rule;

	if (!table || table->state == RULES_NONE)
		return RULE_NONE;
	if (table->state != RULES_READY)
		return table->state == RULES_FULL ? RULE_FULL : RULE_LATE;
	rule = find_row(table, offset);
	if (!rule && in_call && offset - table->go_start < table->go_size)
		return RULE_GO_FRAME_POINTER;
	return rule;
}

/*
 * Does the same, from the results of earlier walks on this CPU. Only callers are kept, because
 * leaves hardly ever repeat, and only those with a rule, because others may still get one. An entry
 * has the epoch in which the walk looked up the text's number: if the number is freed during the
 * walk, no later walk finds the entry.
 */
__noinline int find_rule(u32 cpu, u32 text, u32 epoch, u64 offset, bool in_call)
{
	u64 site = make_site(text, offset);
	u32 slot = cpu << KNOWN_RULES_SHIFT |
		   (u32)(site * 0x9e3779b97f4a7c15ULL >> (64 - KNOWN_RULES_SHIFT));
	struct known_rule *known = bpf_map_lookup_elem(&known_rules, &slot);
	int rule;

	if (!known || !in_call)
		return lookup_rule(text, offset, in_call);
	if (known->site == site && known->epoch == epoch)
		return known->rule;
	rule = lookup_rule(text, offset, in_call);
	if (rule > 0) {
		known->site = site;
		known->epoch = epoch;
		known->rule = rule;
	}
	return rule;
}

/*
 * Looks up the mapping around the walk's pc and makes a range of it. It is a function of its own to
 * save stack, which has no room for bpf_find_vma's callback. If the kernel's maple tree of mappings
 * cannot be read, the walk ends.
 */
static __noinline int read_range(const struct walk *walk, struct text_range *range)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mapping mapping = {};
	struct vm_area_struct *vma = maple_find_vma(mm, walk->at.pc);

	if (!vma)
		return false;
	announce_mapping(task, vma, &mapping);
	return range_of_mapping(&mapping, walk->epoch, range);
}

static __always_inline bool is_wait_walk(const struct walk *walk)
{
	return waits && walk->owner & OWNER_QUIET;
}

/*
 * Does the same for a wait. Nothing is announced, because the run queue is locked: see waits.bpf.h.
 */
static __noinline int read_known_range(struct walk *walk, struct text_range *range)
{
	struct task_struct *task = walked_task(walk);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mapping mapping = {};
	struct vm_area_struct *vma = maple_find_vma(mm, walk->at.pc);
	u32 text;

	if (!vma)
		return false;
	read_mapping(task, vma, &mapping);
	text = mapping.exec ? known_text(&mapping.space) : 0;
	if (!text || (mapping.space.kind != SPACE_VDSO && !is_announced(&mapping.space))) {
		walk->unknown = true;
		return false;
	}
	mapping.exec |= MAPPING_ANNOUNCED;
	range_of_text(&mapping, text, walk->epoch, range);
	return true;
}

/*
 * Fills in a range for the walk's pc. No tick has used it yet, and its owner and root are not
 * looked up.
 */
static __always_inline bool fill_range(struct walk *walk, struct text_range *range)
{
	if (range->ticks)
		range_bill(range, range->ticks);
	range->ticks = 0;
	range->pages = 0;
	if (!(is_wait_walk(walk) ? read_known_range(walk, range) : read_range(walk, range)))
		return false;
	range->who = walk->who;
	/* See read_tick(): begin_walk() read the stamp before the mapping. */
	range->stamp = walk->stamp;
	range->target = walk->target;
	range->root = 0;
	range->owner = NO_OWNER;
	return true;
}

/* Finds the text around the walk's pc and its number. False: there is none. */
__noinline int find_text(u32 cpu)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	struct text_range *range;

	if (!walk)
		return false;
	/* The epoch is read before the number, so that results of an old number have an old epoch. */
	walk->epoch = *(volatile u32 *)&table_state.epoch;
	range = range_find(cpu, walk->who, walk->at.pc, walk->stamp);
	if (!range) {
		range = range_place_for(cpu, walk->who, walk->at.pc);
		if (!range || !fill_range(walk, range))
			return false;
	}
	walk->start = range->start;
	walk->stop = range->start + ((u64)range->pages << TEXT_PAGE_SHIFT);
	walk->to_site = range->to_site;
	walk->text = range_text(range);
	return true;
}

/* Ends the walk; the function that calls this one stops. */
static __always_inline int end_walk(struct walk *walk, u32 end)
{
	walk->end = end;
	return true;
}

static __always_inline int end_at_first(struct walk *walk)
{
	return end_walk(walk, walk->guessed ? END_GUESSED : END_COMPLETE);
}

/*
 * Adds a stack word to the wait's memo: the memo holds while the word does (wait_memo.bpf.h). A
 * saved frame pointer is added only when it is used.
 */
static __always_inline void note(const struct walk *walk, u64 at, u64 value)
{
	if (waits && walk->memo != NO_MEMO)
		note_word(memo_number(walk->memo), at, value);
}

static __always_inline void note_fp(const struct walk *walk)
{
	note(walk, walk->fp_at, walk->at.fp);
}

static __always_inline void set_fp(struct walk *walk, u64 fp, u64 at)
{
	walk->at.fp = fp;
	if (waits)
		walk->fp_at = at;
}

/* Continues at the caller. If the caller is the frame itself, the walk would never end. */
static __always_inline int continue_at(struct walk *walk, u64 pc, u64 sp)
{
	pc &= code_mask;
	if (!pc)
		return end_at_first(walk);
	if (sp == walk->at.sp && pc == walk->at.pc)
		return end_walk(walk, END_UNREADABLE);
	walk->at.pc = pc;
	walk->at.sp = sp;
	walk->in_call = true;
	return false;
}

/*
 * How far a frame pointer can be trusted. GUESSED: it may be any number. SKIPS_FRAME: it is the
 * frame pointer of the caller's caller, perhaps on another stack; one frame is missing.
 */
enum trust { FP_GUESSED, FP_SKIPS_FRAME, FP_SURE };

/*
 * Steps to the caller by the frame pointer, which must point into the stack above. If the words
 * there are no frame, their return address is most likely outside of text. Then the next step ends
 * the walk. The caller's stack pointer is `above` bytes above the words. It is a function of its own
 * to save walk_step()'s stack.
 */
static __noinline int step_by_pointer(struct walk *walk, enum trust trust, u64 above)
{
	struct task_struct *task = walked_task(walk);
	u64 frame[2] = {};

	/* The first instruction of a program, for which ld.so has no rule, has no caller. */
	if (walk->at.sp == BPF_CORE_READ(task, mm, start_stack))
		return end_at_first(walk);
	walk->guessed += trust != FP_SURE;
	note_fp(walk);
	if (!walk->at.fp)
		return end_at_first(walk);
	if ((trust == FP_GUESSED && walk->at.fp + sizeof(u64) < walk->at.sp) ||
	    !read_frame(walk, frame, walk->at.fp))
		return end_walk(walk, END_NO_RULE);
	note(walk, walk->at.fp + sizeof(u64), frame[1]);
	above += walk->at.fp;
	set_fp(walk, frame[0], walk->at.fp);
	return continue_at(walk, frame[1], above);
}

static __always_inline void put_site(struct walk *walk, u32 nr, u64 site)
{
	walk->sites[nr & (WALK_FRAMES - 1)] = site;
}

/*
 * Records the last frame at its exact pc instead of pc - 1. It is not the return address of a call:
 * the kernel or the program stored the start of a function there.
 */
static __always_inline void put_exact_site(struct walk *walk)
{
	put_site(walk, walk->nr - 1, walk->at.pc + walk->to_site);
}

/* Steps out of a signal handler: the kernel has stored all registers of the interrupted frame. */
static __always_inline int step_by_signal(struct walk *walk)
{
	const u64 at = walk->at.sp;

	put_exact_site(walk);
	walk->memo = NO_MEMO;
	if (!read_word(walk, &walk->at.scratch, at + SIGNAL_SCRATCH) ||
	    !read_word(walk, &walk->at.fp, at + SIGNAL_FP) ||
	    !read_word(walk, &walk->at.sp, at + SIGNAL_SP) ||
	    !read_word(walk, &walk->at.pc, at + SIGNAL_PC))
		return end_walk(walk, END_UNREADABLE);
	walk->in_call = false;
	return false;
}

union epilogue_word {
	struct epilogue epilogue;
	u64 word;
};

/* Returns struct epilogue as one word, because a global function returns a scalar. */
__noinline u64 find_epilogue(u64 pc, bool in_call)
{
	return (union epilogue_word){ .epilogue = arch_epilogue(pc, in_call) }.word;
}

/*
 * For text without a rule: steps by code that is about to return. Of a sleeping thread only the
 * stack can be read.
 */
static __always_inline int step_by_epilogue(struct walk *walk)
{
	union epilogue_word found = {};
	const struct epilogue *epilogue = &found.epilogue;
	u64 fp = 0, pc = walk->at.scratch, sp = walk->at.sp, from = FROM_SCRATCH;

	if (!is_copy(walk))
		found.word = find_epilogue(walk->at.pc, walk->in_call);
	if (epilogue->kind == EPILOGUE_NONE || sp & SP_UNSURE)
		return step_by_pointer(walk, FP_GUESSED, ABOVE_POINTER);
	if (epilogue->kind == EPILOGUE_SIGNAL)
		return step_by_signal(walk);
	if (epilogue->stored & RA_STORED) {
		from = sp + epilogue->ra;
		if (!read_word(walk, &pc, from)) {
			walk->memo = NO_MEMO;
			return step_by_pointer(walk, FP_GUESSED, ABOVE_POINTER);
		}
	}
	note(walk, from, pc);
	if (epilogue->stored & FP_STORED) {
		if (!read_word(walk, &fp, sp + epilogue->fp))
			return end_walk(walk, END_UNREADABLE);
		set_fp(walk, fp, sp + epilogue->fp);
	}
	return continue_at(walk, pc, sp + epilogue->cfa);
}

/*
 * Steps from a caller in Go's text. If FP points into this frame, the slot below the return address
 * is used instead, because crosscall2() of Go 1.21 and later sets FP to another address in it. If
 * FP points elsewhere, it belongs to another stack and is right.
 */
static __always_inline int step_in_go(struct walk *walk, const struct unwind_rule *rule)
{
	u64 stored = walk->at.sp + rule->cfa_offset + unwind_ra_offset(rule) - sizeof(u64);

	if (rule->call == UNWIND_CALL_FRAMELESS)
		return step_by_pointer(walk, FP_SKIPS_FRAME, ABOVE_POINTER);
	note_fp(walk);
	if (rule->cfa == UNWIND_SP && walk->at.fp >= walk->at.sp && walk->at.fp <= stored)
		set_fp(walk, stored, FROM_NOWHERE);
	return step_by_pointer(walk, FP_SURE, arch_above_pointer_of_go(rule));
}

static __always_inline bool find_cfa(struct walk *walk, const struct unwind_rule *rule, u64 *cfa)
{
	bool from_fp = rule->cfa == UNWIND_FP || rule->cfa == UNWIND_DEREF_FP;
	u64 at = (from_fp ? walk->at.fp : walk->at.sp) + rule->cfa_offset;

	if (from_fp)
		note_fp(walk);
	*cfa = at;
	if (rule->cfa == UNWIND_PLT && walk->at.pc % UNWIND_PLT_BYTES >= (u64)rule->post)
		*cfa += UNWIND_PLT_PUSHED;
	if (rule->cfa != UNWIND_DEREF_FP && rule->cfa != UNWIND_DEREF_SP)
		return true;
	if (!read_word(walk, cfa, at))
		return false;
	note(walk, at, *cfa);
	*cfa += rule->post;
	return true;
}

/* An unknown frame pointer. It is not 0, which marks the first frame, and not readable. */
enum { FP_UNKNOWN = 1 };

/* In place of an address: the caller's frame pointer is still in the register. */
#define FP_IN_REGISTER 0

/* Where the caller's frame pointer is stored. */
static __always_inline u64 stored_fp(const struct walk *walk, const struct unwind_rule *rule,
				     u64 cfa)
{
	u64 below_ra = cfa + unwind_ra_offset(rule) - sizeof(u64);

	if (rule->fp == UNWIND_FP_CFA)
		return cfa + rule->fp_offset;
	if (rule->fp == UNWIND_FP_AT_FP) {
		note_fp(walk);
		return walk->at.fp + rule->fp_offset;
	}
	if (rule->fp != UNWIND_FP_SAME || rule->ra != UNWIND_RA_STORED || walk->at.fp != below_ra)
		return FP_IN_REGISTER;
	/*
	 * Go's compiler stores the caller's FP below the return address, and no rule says so. FP
	 * then points there.
	 */
	note_fp(walk);
	return below_ra;
}

/* Finds the caller's frame pointer. False: it cannot be read. */
static __always_inline bool find_fp(struct walk *walk, const struct unwind_rule *rule, u64 cfa)
{
	u64 fp = FP_UNKNOWN, at;

	if (rule->fp == UNWIND_FP_LOST) {
		set_fp(walk, fp, FROM_NOWHERE);
		return true;
	}
	at = stored_fp(walk, rule, cfa);
	if (at == FP_IN_REGISTER)
		return true;
	if (!read_word(walk, &fp, at))
		return false;
	set_fp(walk, fp, at);
	return true;
}

static __always_inline int step_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	u64 cfa = 0, pc = walk->at.scratch, at;

	if (walk->at.sp & SP_UNSURE && rule->cfa == UNWIND_SP) {
		/* A function that has stored the caller's FP has its own FP point there. */
		if (rule->fp != UNWIND_FP_CFA || rule->ra != UNWIND_RA_STORED)
			return step_by_pointer(walk, FP_GUESSED, ABOVE_POINTER);
		note_fp(walk);
		cfa = walk->at.fp - rule->fp_offset;
	} else if (!find_cfa(walk, rule, &cfa)) {
		return end_walk(walk, END_UNREADABLE);
	}
	at = cfa + unwind_ra_offset(rule);
	if (rule->ra == UNWIND_RA_SCRATCH) {
		if (walk->in_call)
			return end_walk(walk, END_REGISTER);
		at = FROM_SCRATCH;
	} else if (!read_word(walk, &pc, at)) {
		return end_walk(walk, END_UNREADABLE);
	}
	note(walk, at, pc);
	return find_fp(walk, rule, cfa) ? continue_at(walk, pc, cfa) :
					  end_walk(walk, END_UNREADABLE);
}

/* Steps from the frame at the walk's pc to its caller's. True: the walk is over. */
static __always_inline int step_up(struct walk *walk, u32 cpu, u64 offset)
{
	int number = find_rule(cpu, walk->text, walk->epoch, offset, walk->in_call);
	struct unwind_rule *rule;

	if (number == RULE_GO_FRAME_POINTER)
		return step_by_pointer(walk, FP_SURE, ABOVE_POINTER);
	if (number < 0)
		return end_walk(walk, number == RULE_FULL ? END_FULL : END_LATE);
	if (number & UNWIND_ROW_EARLY)
		put_exact_site(walk);
	number &= UNWIND_ROW_EARLY - 1;
	rule = bpf_map_lookup_elem(&rules, &number);
	if (!rule || rule->cfa == UNWIND_NONE)
		return step_by_epilogue(walk);
	if (walk->in_call && rule->call != UNWIND_CALL_RULE)
		return step_in_go(walk, rule);
	if (rule->cfa == UNWIND_SIGNAL)
		return step_by_signal(walk);
	if (rule->cfa == UNWIND_END)
		return end_at_first(walk);
	if (rule->cfa == UNWIND_REGISTER)
		return end_walk(walk, END_REGISTER);
	return step_by_rule(walk, rule);
}

/* Adds the frame at the walk's pc, and steps to its caller. True: the walk is over. */
__noinline int walk_step(u32 cpu)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u64 site;
	u32 nr;

	if (!walk)
		return true;
	nr = walk->nr;
	if (nr >= WALK_FRAMES)
		return end_walk(walk, END_DEEP);
	/* The pc is outside of [start, stop), also if that is empty. */
	if (walk->at.pc - walk->start >= walk->stop - walk->start && !find_text(cpu))
		return end_walk(walk, walk->guessed ? END_NO_RULE : END_UNREADABLE);
	if (walk->text == TEXT_OTHER)
		return end_walk(walk, END_FULL);
	/*
	 * If a call is its function's last instruction, the return address is in the next function.
	 * A forged one may be the first byte of a text.
	 */
	site = make_site(walk->text, walk->at.pc + walk->to_site - !!walk->in_call);
	put_site(walk, nr, site);
	walk->nr = nr + 1;
	return walk->at.is_32bit ? end_walk(walk, END_32BIT) :
				   step_up(walk, cpu, site & SITE_OFFSET_MASK);
}

/* Begins the user part of a walk, from the registers that are already in it. */
static __always_inline void begin_walk(struct walk *walk, struct task_struct *task,
				       struct mm_struct *mm, u32 target)
{
	walk->who = tick_who(is_copy(walk) ? arch_task_mm_id(task) : arch_mm_id(mm), task->tgid);
	walk->stamp = mm_stamp(mm);
	walk->target = target;
	walk->start = walk->stop = 0;
	walk->guessed = 0;
	walk->in_call = false;
	walk->end = END_DEEP;
	if (waits)
		walk->fp_at = FROM_FP;
}

/*
 * Makes sites of the kernel's frames, which are as bpf_get_stack() returns them, the leaf first. If
 * there may be more of them, the walk ends there.
 */
__noinline int put_kernel_sites(u32 cpu, u32 nr, u64 pc)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 i, to = 0;
	u64 at;

	if (!walk)
		return 0;
	for (i = 0; i < WALK_KERNEL_FRAMES && i < nr; i++) {
		at = walk->sites[i];
		/* The frames of a tracepoint come before the interrupted ones. */
		if (!to && at != pc)
			continue;
		walk->sites[to & (WALK_KERNEL_FRAMES - 1)] = make_site(TEXT_KERNEL, at - !!to);
		to++;
	}
	walk->end = to && nr < WALK_KERNEL_FRAMES ? END_COMPLETE : END_DEEP;
	if (!to) {
		walk->sites[0] = make_site(TEXT_KERNEL, pc);
		to = 1;
	}
	walk->nr = to;
	return 0;
}

/* Resets the walk, and adds the kernel's frames from pc on; pc 0: none. */
static __always_inline void add_kernel_frames(void *ctx, u32 cpu, struct walk *walk, u64 pc)
{
	long got;

	walk->nr = 0;
	walk->end = END_COMPLETE;
	if (!pc)
		return;
	got = bpf_get_stack(ctx, walk->sites, WALK_KERNEL_FRAMES * sizeof(u64), 0);
	put_kernel_sites(cpu, got > 0 ? got / sizeof(u64) : 0, pc);
}

/* Walks from the walk's registers to the first frame. */
static __always_inline void walk_up(u32 cpu)
{
	u32 i;

	for (i = 0; i <= WALK_FRAMES && !walk_step(cpu); i++)
		;
}

#endif
