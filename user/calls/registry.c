// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/calls_impl.h"

/* Root is who limits the others. */
static uint32_t limit_of(const struct calls *calls, uid_t uid, uint32_t limit)
{
	return uid ? limit : calls->options.max_calls;
}

static bool user_idle(const struct calls *calls, uint32_t i)
{
	return !calls->kernel.owners[i].calls && !calls->users[i].regions;
}

int calls_owner(struct calls *calls, uid_t uid)
{
	int free_one = -ENOSPC;
	uint32_t i;

	for (i = 0; i < calls->kernel.nr_owners; i++) {
		if (calls->users[i].used && calls->users[i].uid == uid)
			return (int)i;
		if (free_one < 0 && (!calls->users[i].used || user_idle(calls, i)))
			free_one = (int)i;
	}
	if (free_one < 0)
		return free_one;
	calls->users[free_one] = (struct calls_user){ .uid = uid, .used = true };
	calls->kernel.owners[free_one] = (struct call_owner){
		.call_limit = limit_of(calls, uid, calls->options.user_calls),
		.page_limit = uid ? calls->options.user_memory / sizeof(struct counter_page) :
				    UINT32_MAX,
	};
	return free_one;
}

int calls_add_shape(struct calls *calls, const struct shape *like, const struct call_entry *entries,
		    uint32_t nr_entries, uint32_t replaced, struct shape **ret)
{
	struct calls_user *user = &calls->users[like->owner];
	uint32_t limit = calls->options.user_regions + replaced;
	int failed;

	if (user->uid && user->regions + nr_entries > limit) {
		calls_sweep_shapes(calls);
		if (user->regions + nr_entries > limit)
			return -EDQUOT;
	}
	failed = shape_make(&calls->kernel, like, entries, nr_entries, ret);
	if (failed == -ENOSPC) {
		calls_sweep_shapes(calls);
		failed = shape_make(&calls->kernel, like, entries, nr_entries, ret);
	}
	if (failed)
		return failed;
	user->regions += nr_entries;
	calls->shapes[(*ret)->number] = *ret;
	return 0;
}

void calls_sweep_shapes(struct calls *calls)
{
	uint32_t i;

	for (i = 0; i < calls->kernel.nr_calls; i++) {
		struct shape *shape = calls->shapes[i];

		if (!shape || __atomic_load_n(&calls->kernel.shapes[i].calls, __ATOMIC_ACQUIRE))
			continue;
		calls->users[shape->owner].regions -= shape->nr_entries;
		calls->shapes[i] = NULL;
		shape_free(&calls->kernel, shape);
	}
}

static void read_comm(pid_t pid, char *comm, size_t size)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	got = fd < 0 ? 0 : read(fd, comm, size - 1);
	comm[got > 0 ? got : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
}

static struct member *new_member(struct calls *calls, const struct call_ref *ref,
				 struct shape *shape)
{
	struct member *member = calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->ref = *ref;
	member->shape = shape;
	member->record = calls->options.record;
	member->faulted = UINT32_MAX;
	member->process = (struct process){ .mem_fd = -1, .maps_fd = -1 };
	calls->members[ref->slot] = member;
	return member;
}

/*
 * By its pid, which may be another's by now, even that of a relative with the same random bytes: but
 * no other process has its call.
 */
static int open_child(struct calls *calls, struct member *member)
{
	const struct call *call = member_call(member, &calls->kernel);
	cleanup_fd int pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)call->tgid, 0);
	struct call_ref ref;
	int ret;

	if (pid_fd < 0)
		return -errno;
	ret = process_open_forked(&member->process, (pid_t)call->tgid, member->shape->random_at,
				  member->shape->proof);
	if (ret)
		return ret;
	ret = kernel_ref_of(&calls->kernel, pid_fd, &ref);
	if (ret || ref.slot != member->ref.slot || ref.serial != member->ref.serial) {
		process_close(&member->process);
		return -ESRCH;
	}
	read_comm((pid_t)call->tgid, member->comm, sizeof(member->comm));
	return 0;
}

struct member_birth {
	struct birth birth;
	const struct member *member;
	const struct kernel *kernel;
};

static uint32_t inherited(const struct birth *birth, uint64_t flat)
{
	const struct member_birth *of = (const struct member_birth *)birth;

	return member_inherited(of->member, of->kernel, flat);
}

/* What was copied to its parent's buffer while the child's was made of it. */
static void make_up(struct calls *calls, struct member *member)
{
	const struct call *call = member_call(member, &calls->kernel);
	const struct member *parent = calls->members[call->parent.slot];
	struct member_birth born = { .birth = { call->born_ns, call->born_until_ns, inherited },
				     .member = member,
				     .kernel = &calls->kernel };

	if (parent && parent->ref.serial == call->parent.serial)
		written_make_up(&parent->written, &parent->process, &member->process, &born.birth);
}

static void forget(struct calls *calls, struct member *member)
{
	calls->members[member->ref.slot] = NULL;
	member_free(member);
}

/* No descriptor or memory is left for it now: the kernel counts on meanwhile. */
static struct member *leave_for_later(struct calls *calls, struct call *call)
{
	__atomic_store_n(&call->known, CALL_UNKNOWN, __ATOMIC_SEQ_CST);
	calls->any_dirty = calls->look_again = true;
	return NULL;
}

static bool lacks(int ret)
{
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM;
}

/* A child that the kernel took in. Whether it is still there shows when its buffer is opened. */
static struct member *take_in(struct calls *calls, const struct call_ref *ref)
{
	struct call *call = &calls->kernel.calls[ref->slot];
	struct shape *shape = calls->shapes[call->shape];
	uint32_t unknown = CALL_UNKNOWN;
	struct member *member;
	int ret;

	/* Its process may end meanwhile, and the kernel free the call that nobody holds. */
	if (!shape || !__atomic_compare_exchange_n(&call->known, &unknown, CALL_KNOWN, false,
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return NULL;
	member = new_member(calls, ref, shape);
	if (!member)
		return leave_for_later(calls, call);
	member->forked = true;
	member->copied = shape->op == CALL_PCSAMPLE ? call->copied : 0;
	ret = open_child(calls, member);
	if (lacks(ret)) {
		forget(calls, member);
		return leave_for_later(calls, call);
	}
	member->gone = ret != 0;
	if (!ret)
		make_up(calls, member);
	return member;
}

struct member *calls_member(struct calls *calls, const struct call_ref *ref)
{
	struct member *member;
	struct call *call;

	if (ref->slot >= calls->kernel.nr_calls)
		return NULL;
	member = calls->members[ref->slot];
	call = &calls->kernel.calls[ref->slot];
	/* The kernel has given its slot to another call: there is nothing left of its own. */
	if (member && member->ref.serial != call->serial) {
		forget(calls, member);
		member = NULL;
	}
	if (call->serial != ref->serial || call->phase == CALL_FREE)
		return NULL;
	return member ? member : take_in(calls, ref);
}

int calls_add_member(struct calls *calls, struct shape *shape, struct process *process,
		     bool replaces, struct member **ret)
{
	struct kernel *kernel = &calls->kernel;
	struct call_owner *owner = &kernel->owners[shape->owner];
	struct member *member;
	struct call_ref ref;
	struct call *call;

	if (__atomic_add_fetch(&owner->calls, 1, __ATOMIC_SEQ_CST) > owner->call_limit + replaces) {
		__atomic_sub_fetch(&owner->calls, 1, __ATOMIC_SEQ_CST);
		return -EDQUOT;
	}
	if (kernel_take_call(kernel, &ref)) {
		__atomic_sub_fetch(&owner->calls, 1, __ATOMIC_SEQ_CST);
		return -EDQUOT;
	}
	call = &kernel->calls[ref.slot];
	call->phase = CALL_OFF;
	call->flags = shape->flags;
	call->users = 1;
	call->table = shape->table.table;
	call->capacity = shape->op == CALL_PCSAMPLE ? shape->entries[0].size : 0;
	call->known = CALL_KNOWN;
	call->shape = shape->number;
	call->owner = shape->owner;
	call->tgid = (uint32_t)process->pid;
	__atomic_add_fetch(&kernel->shapes[shape->number].calls, 1, __ATOMIC_SEQ_CST);
	member = new_member(calls, &ref, shape);
	if (!member) {
		kernel_release_call(kernel, ref.slot);
		return -ENOMEM;
	}
	member->process = *process;
	process->mem_fd = process->maps_fd = -1;
	read_comm(process->pid, member->comm, sizeof(member->comm));
	*ret = member;
	return 0;
}

/* Without the region that cannot be written: the others go on, from a new table. */
static int exclude_region(struct calls *calls, struct member *member, uint32_t region)
{
	struct call *call = member_call(member, &calls->kernel);
	struct shape *old = member->shape, *shape;
	cleanup_free struct call_entry *entries = malloc((old->nr_entries + 1) * sizeof(*entries));
	int ret;

	if (!entries)
		return -ENOMEM;
	memcpy(entries, old->entries, old->nr_entries * sizeof(*entries));
	entries[region].size = 0;
	ret = calls_add_shape(calls, old, entries, old->nr_entries, old->nr_entries, &shape);
	if (ret)
		return ret;
	if (!shape->table.counters) {
		calls_sweep_shapes(calls);
		return -ENOENT;
	}
	member_drop_pages(member, &calls->kernel);
	call->table = shape->table.table;
	call->hint = 0;
	call->shape = shape->number;
	member->shape = shape;
	__atomic_add_fetch(&calls->kernel.shapes[shape->number].calls, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&calls->kernel.shapes[old->number].calls, 1, __ATOMIC_SEQ_CST);
	if (shape->flags & CALL_HAS_LIMIT)
		ret = member_preload(member, &calls->kernel);
	return ret;
}

/* The ticks of the turn of hand in which a call is off for this are not its own. */
static void handle_fault(struct calls *calls, struct member *member)
{
	struct call *call = member_call(member, &calls->kernel);
	uint32_t region = member->faulted;
	bool on = kernel_switch_off(&calls->kernel, call);

	kernel_quiesce(&calls->kernel);
	member_copy(member, &calls->kernel);
	member->stop = CALL_STOP_FAULT;
	member->stop_region = region;
	member->stop_counter = 0;
	if (on && shape_is_sprofil(member->shape) && !exclude_region(calls, member, region))
		kernel_switch_on(&calls->kernel, call);
}

void calls_copy(struct calls *calls, struct member *member)
{
	member->dirty = false;
	member_copy(member, &calls->kernel);
	if (member->faulted != UINT32_MAX)
		handle_fault(calls, member);
}

void calls_end(struct calls *calls, struct member *member)
{
	kernel_switch_off(&calls->kernel, member_call(member, &calls->kernel));
	kernel_quiesce(&calls->kernel);
	calls_copy(calls, member);
}

void calls_release(struct calls *calls, struct member *member)
{
	calls_end(calls, member);
	if (member->record)
		journal_add(&calls->journal, member, &calls->kernel);
	member_drop_pages(member, &calls->kernel);
	kernel_release_call(&calls->kernel, member->ref.slot);
	calls->members[member->ref.slot] = NULL;
	member_free(member);
}
