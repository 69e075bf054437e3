// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/worker.h"

/* Opens a file in /proc of pid_fd's process, rather than of a later one with that pid. */
static int open_of(pid_t pid, int pid_fd, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	if (process_has_ended(pid_fd) == 0)
		return fd;
	close_fd(&fd);
	return -ESRCH;
}

/*
 * Finds the outermost user namespace around this one that does not contain the server, and how many
 * levels deeper this one is; 0 and *result -1: it is the server's own. Consumes fd. The kernel
 * allows 32 levels.
 */
static int find_outermost(int fd, int *result, unsigned int *ret_levels)
{
	int outermost = -1, parent;

	*ret_levels = 0;
	while ((parent = ioctl(fd, NS_GET_PARENT)) >= 0) {
		close_fd(&outermost);
		outermost = fd;
		fd = parent;
		++*ret_levels;
	}
	/* EPERM: the parent is not below the server's namespace. */
	parent = errno == EPERM ? 0 : -errno;
	close(fd);
	*result = outermost;
	return parent;
}

/*
 * Returns the first uid of the range of the map with this uid; without such a range the uid itself.
 */
static uid_t first_of_range(FILE *map, uid_t uid)
{
	unsigned int first, nr;
	uid_t found = uid;
	char line[256];

	while (fgets(line, sizeof(line), map))
		if (sscanf(line, "%*u %u %u", &first, &nr) == 2 && uid - first < nr && first)
			found = first;
	return found;
}

static int first_of_map(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	cleanup_file FILE *map = NULL;
	int fd = open_of(pid, pid_fd, "uid_map");

	if (fd < 0)
		return fd;
	map = fdopen(fd, "re");
	if (!map) {
		close(fd);
		return -ENOMEM;
	}
	*result = first_of_range(map, uid);
	return 0;
}

/*
 * Maps of deeper namespaces do not lead to the uids that root assigned. In that case charge the
 * namespace itself.
 */
static int charge_made_by_root(int outermost, unsigned int levels, pid_t pid, int pid_fd, uid_t uid,
			       uint64_t *result)
{
	struct stat status;

	if (levels == 1)
		return first_of_map(pid, pid_fd, uid, result);
	if (fstat(outermost, &status))
		return -errno;
	*result = (uint64_t)status.st_ino << 32;
	return 0;
}

static int charge_namespace(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	cleanup_fd int outermost = -1;
	unsigned int levels;
	int fd, ret;
	uid_t owner;

	*result = uid;
	fd = open_of(pid, pid_fd, "ns/user");
	if (fd == -ENOENT) /* without user namespaces */
		return 0;
	ret = fd < 0 ? fd : find_outermost(fd, &outermost, &levels);
	if (ret || outermost < 0)
		return ret;
	if (ioctl(outermost, NS_GET_OWNER_UID, &owner))
		return -errno;
	if (!owner)
		return charge_made_by_root(outermost, levels, pid, pid_fd, uid, result);
	*result = owner;
	return 0;
}

/*
 * A set-user-ID file from a namespace runs with a subordinate uid outside of it. Charge all
 * subordinate uids of a person as one user, even if others run the file.
 */
static uid_t charge_subordinate(uid_t uid)
{
	cleanup_file FILE *file = NULL;
	uint32_t first, nr;

	if (uid < CHARGE_SUBORDINATE_MIN)
		return uid;
	file = fopen(SUBORDINATES_FILE, "re");
	while (file && subordinates_next(file, &first, &nr))
		if (uid - first < nr)
			return first;
	return uid;
}

int charge_of(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	int ret;

	*result = 0;
	if (!uid)
		return 0;
	ret = charge_namespace(pid, pid_fd, uid, result);
	if (!ret && *result <= UINT32_MAX)
		*result = charge_subordinate((uid_t)*result);
	return ret;
}

/* reserved for root */
enum { ROOT = 0 };

static bool user_idle(const struct calls *calls, uint32_t i)
{
	return !calls->engine.owners[i].calls && !calls->users[i].regions;
}

static int find_owner(const struct calls *calls, uint64_t charge)
{
	int free_one = -EDQUOT;
	uint32_t i;

	if (!charge)
		return ROOT;
	for (i = ROOT + 1; i < CALL_OWNERS; i++) {
		if (calls->users[i].used && calls->users[i].charge == charge)
			return (int)i;
		if (free_one < 0 && (!calls->users[i].used || user_idle(calls, i)))
			free_one = (int)i;
	}
	return free_one;
}

int calls_owner(struct calls *calls, uint64_t charge)
{
	const struct calls_options *options = &calls->options;
	int i = find_owner(calls, charge);
	uint32_t page_limit = (uint32_t)(options->user_memory / sizeof(struct counter_page));

	if (i < 0 || (calls->users[i].used && calls->users[i].charge == charge))
		return i;
	calls->users[i] = (struct calls_user){ .charge = charge, .used = true };
	calls->engine.owners[i] = (struct call_owner){
		.call_limit = i == ROOT ? CALL_NO_LIMIT : (uint32_t)options->user_calls,
		.page_limit = i == ROOT ? CALL_NO_LIMIT : page_limit,
	};
	return i;
}

/* Whether a user may have this many more regions, and lines for them. */
static bool has_room(const struct calls *calls, uint32_t owner, const struct spec *replaced,
		     uint32_t regions, uint32_t lines)
{
	const struct calls_user *user = &calls->users[owner];
	uint32_t less_regions = replaced ? replaced->nr_entries : 0;
	uint32_t less = replaced ? replaced->nr_lines : 0;

	if (owner == ROOT)
		return true;
	if (user->regions - less_regions + regions > calls->options.user_regions)
		return false;
	/*
	 * The user's share may have shrunk, but a replacement of the same size is always allowed.
	 */
	return (replaced && lines <= less) ||
	       call_share_admits(calls->engine.nr_lines, calls->lines - less, user->lines - less,
				 lines);
}

static int make_spec(struct calls *calls, const struct spec *like, const struct call_entry *entries,
		     uint32_t nr_entries, const struct spec *replaced, struct spec **result)
{
	int ret;

	if (!has_room(calls, like->owner, replaced, nr_entries, 0))
		return -EDQUOT;
	ret = spec_make(&calls->engine, like, entries, nr_entries, result);
	if (ret || has_room(calls, like->owner, replaced, nr_entries, (*result)->nr_lines))
		return ret;
	spec_free(&calls->engine, *result);
	return -EDQUOT;
}

int calls_add_spec(struct calls *calls, const struct spec *like, const struct call_entry *entries,
		   uint32_t nr_entries, const struct spec *replaced, struct spec **result)
{
	struct calls_user *user = &calls->users[like->owner];
	int ret = make_spec(calls, like, entries, nr_entries, replaced, result);

	if (ret == -ENOSPC || ret == -EDQUOT) {
		calls_sweep_specs(calls);
		ret = make_spec(calls, like, entries, nr_entries, replaced, result);
	}
	if (ret)
		return ret;
	user->regions += nr_entries;
	user->lines += (*result)->nr_lines;
	calls->lines += (*result)->nr_lines;
	(*result)->worker->specs++;
	calls->specs[(*result)->number] = *result;
	return 0;
}

static void remove_spec(struct calls *calls, struct spec *spec)
{
	struct calls_user *user = &calls->users[spec->owner];

	user->regions -= spec->nr_entries;
	user->lines -= spec->nr_lines;
	calls->lines -= spec->nr_lines;
	spec->worker->specs--;
	calls->specs[spec->number] = NULL;
	spec_free(&calls->engine, spec);
}

void calls_sweep_specs(struct calls *calls)
{
	uint32_t i;

	for (i = 0; i < calls->engine.nr_calls; i++) {
		struct spec *spec = calls->specs[i];

		if (spec && !__atomic_load_n(&calls->engine.specs[i].calls, __ATOMIC_ACQUIRE))
			remove_spec(calls, spec);
	}
}

static void read_comm(pid_t pid, char *comm, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (read_first_line(path, comm, size))
		*comm = '\0';
}

static struct caller *new_caller(struct calls *calls, const struct call_ref *ref, struct spec *spec)
{
	struct caller *caller = calloc(1, sizeof(*caller));

	if (!caller)
		return NULL;
	caller->ref = *ref;
	caller->spec = spec;
	caller->record = calls->options.record;
	caller->faulted = UINT32_MAX;
	caller->process = (struct process){ .mem_fd = -1, .maps_fd = -1 };
	calls->callers[ref->slot] = caller;
	return caller;
}

/*
 * Opens a child by its pid. Another process may have that pid by now, even a relative with the same
 * random bytes. Therefore check that it has this call.
 */
static int open_child(struct calls *calls, struct caller *caller)
{
	const struct call *call = call_of(caller, &calls->engine);
	cleanup_fd int pid_fd = process_fd((pid_t)call->tgid);
	struct call_ref ref;
	int ret;

	if (pid_fd < 0)
		return -errno;
	ret = process_open_forked(&caller->process, (pid_t)call->tgid, caller->spec->random_at,
				  caller->spec->proof);
	if (ret)
		return ret;
	if (!process_may_stay(&caller->process)) {
		process_close(&caller->process);
		return -EMFILE;
	}
	ret = call_engine_ref_of(&calls->engine, pid_fd, &ref);
	if (ret || ref.slot != caller->ref.slot || ref.serial != caller->ref.serial) {
		process_close(&caller->process);
		return -ESRCH;
	}
	read_comm((pid_t)call->tgid, caller->comm, sizeof(caller->comm));
	return 0;
}

/* Adds counts that were copied to the parent's buffer during the fork. */
static void make_up(struct calls *calls, struct caller *child)
{
	const struct call *call = call_of(child, &calls->engine);
	const struct caller *parent = calls->callers[call->parent.slot];

	if (parent && parent->ref.serial == call->parent.serial)
		fork_repair(child, parent, &calls->engine);
}

static void forget_caller(struct calls *calls, struct caller *caller)
{
	calls->callers[caller->ref.slot] = NULL;
	caller_free(caller);
}

/* No descriptor or memory is available now; the kernel continues to count. */
static struct caller *leave_for_later(struct calls *calls, struct call *call)
{
	__atomic_store_n(&call->known, CALL_UNKNOWN, __ATOMIC_SEQ_CST);
	calls->look_again = true;
	return NULL;
}

/*
 * Makes the caller of a child for which the kernel made a call. Whether the child still exists
 * shows when it is used.
 */
static struct caller *make_child(struct calls *calls, const struct call_ref *ref)
{
	struct call *call = &calls->engine.calls[ref->slot];
	struct spec *spec = calls->specs[call->spec];
	uint32_t unknown = CALL_UNKNOWN;
	struct caller *caller;

	/*
	 * If its process ends first, the kernel frees the call, because user space does not hold it
	 * yet.
	 */
	if (!spec || !__atomic_compare_exchange_n(&call->known, &unknown, CALL_KNOWN, false,
						  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return NULL;
	caller = new_caller(calls, ref, spec);
	if (!caller)
		return leave_for_later(calls, call);
	caller->forked = true;
	caller->copied = spec->op == CALL_PCSAMPLE ? call->copied : 0;
	return caller;
}

static struct caller *open_child_caller(struct calls *calls, struct caller *caller)
{
	struct call *call = call_of(caller, &calls->engine);
	int ret = open_child(calls, caller);

	if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM) {
		pthread_mutex_lock(&calls->lock);
		forget_caller(calls, caller);
		leave_for_later(calls, call);
		calls_set_timer(calls);
		pthread_mutex_unlock(&calls->lock);
		return NULL;
	}
	caller->gone = ret != 0;
	if (!ret)
		make_up(calls, caller);
	return caller;
}

struct caller *calls_caller(struct calls *calls, const struct call_ref *ref)
{
	struct caller *caller = NULL, *child = NULL;
	struct call *call;

	if (ref->slot >= calls->engine.nr_calls)
		return NULL;
	pthread_mutex_lock(&calls->lock);
	caller = calls->callers[ref->slot];
	call = &calls->engine.calls[ref->slot];
	/* The kernel has reused the slot for another call. Therefore drop the old one. */
	if (caller && caller->ref.serial != call->serial) {
		forget_caller(calls, caller);
		caller = NULL;
	}
	if (call->serial != ref->serial || call->phase == CALL_FREE)
		caller = NULL;
	else if (!caller)
		child = make_child(calls, ref);
	pthread_mutex_unlock(&calls->lock);
	return child ? open_child_caller(calls, child) : caller;
}

int calls_add_caller(struct calls *calls, struct spec *spec, struct process *process, bool replaces,
		     struct caller **result)
{
	struct call_engine *engine = &calls->engine;
	struct caller *caller;
	struct call_ref ref;
	struct call *call;
	int ret = call_engine_reserve_call(engine, spec->owner, replaces, &ref);

	if (ret)
		return ret;
	call = &engine->calls[ref.slot];
	call->phase = CALL_OFF;
	call->flags = spec->flags;
	call->users = 1;
	call->table = spec->table.table;
	call->capacity = spec->op == CALL_PCSAMPLE ? spec->entries[0].size : 0;
	call->known = CALL_KNOWN;
	call->spec = spec->number;
	call->tgid = (uint32_t)process->pid;
	__atomic_add_fetch(&engine->specs[spec->number].calls, 1, __ATOMIC_SEQ_CST);
	caller = new_caller(calls, &ref, spec);
	if (!caller) {
		call_engine_release_call(engine, ref.slot);
		return -ENOMEM;
	}
	caller->process = *process;
	process->mem_fd = process->maps_fd = -1;
	read_comm(process->pid, caller->comm, sizeof(caller->comm));
	*result = caller;
	return 0;
}

/* Removes the region that cannot be written. The other regions get a new table. */
static int exclude_region(struct calls *calls, struct caller *caller, uint32_t region)
{
	struct call *call = call_of(caller, &calls->engine);
	struct spec *old = caller->spec, *spec;
	cleanup_free struct call_entry *entries = malloc((old->nr_entries + 1) * sizeof(*entries));
	int ret;

	if (!entries)
		return -ENOMEM;
	memcpy(entries, old->entries, old->nr_entries * sizeof(*entries));
	entries[region].size = 0;
	pthread_mutex_lock(&calls->lock);
	ret = calls_add_spec(calls, old, entries, old->nr_entries, old, &spec);
	if (!ret && !spec->table.counters) {
		calls_sweep_specs(calls);
		ret = -ENOENT;
	}
	if (!ret)
		__atomic_add_fetch(&calls->engine.specs[spec->number].calls, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&calls->lock);
	if (ret)
		return ret;
	caller_drop_pages(caller, &calls->engine);
	call->table = spec->table.table;
	call->hint = 0;
	call->spec = spec->number;
	caller->spec = spec;
	__atomic_sub_fetch(&calls->engine.specs[old->number].calls, 1, __ATOMIC_SEQ_CST);
	if (spec->flags & CALL_HAS_LIMIT)
		ret = caller_preload(caller, &calls->engine);
	return ret;
}

/* Ticks while the call is off for this are not counted. */
static void handle_fault(struct calls *calls, struct caller *caller)
{
	struct call *call = call_of(caller, &calls->engine);
	uint32_t region = caller->faulted;
	bool on = call_engine_switch_off(&calls->engine, call);

	call_engine_quiesce(&calls->engine);
	caller_copy(caller, &calls->engine);
	caller->stop = CALL_STOP_FAULT;
	caller->stop_region = region;
	caller->stop_counter = 0;
	if (on && spec_is_sprofil(caller->spec) && !exclude_region(calls, caller, region))
		call_engine_switch_on(&calls->engine, call);
}

void calls_copy(struct calls *calls, struct caller *caller)
{
	caller_copy(caller, &calls->engine);
	if (caller->faulted != UINT32_MAX)
		handle_fault(calls, caller);
}

void calls_end(struct calls *calls, struct caller *caller)
{
	call_engine_switch_off(&calls->engine, call_of(caller, &calls->engine));
	call_engine_quiesce(&calls->engine);
	calls_copy(calls, caller);
}

void calls_release(struct calls *calls, struct caller *caller)
{
	calls_end(calls, caller);
	caller_drop_pages(caller, &calls->engine);
	pthread_mutex_lock(&calls->lock);
	if (caller->record)
		journal_add(&calls->journal, caller, &calls->engine);
	call_engine_release_call(&calls->engine, caller->ref.slot);
	calls->callers[caller->ref.slot] = NULL;
	pthread_mutex_unlock(&calls->lock);
	caller_free(caller);
}
