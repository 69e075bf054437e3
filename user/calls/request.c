// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Turns a request, which may be any bytes, into a call as its manual describes it. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "calls/calls.h"
#include "calls/registry.h"
#include "calls/worker.h"

/* sprofil()'s flags from <sys/profil.h>. */
enum { FLAG_FAST = 2 };

#define SAMPLES_MAX (1ULL << 31)

/* A request in progress. */
struct asking {
	struct calls *calls;
	struct worker *worker;
	const struct call_request *request;
	pid_t pid;
	uid_t uid;
	int pid_fd;
	struct process process;
	struct caller *caller; /* the process's current call, or its last one; NULL: none */
	int64_t stored; /* the result of pcsample() */
	uint64_t made; /* the new call, as calls_request() returns it */
	struct call_reply *reply;
};

static int check_form(const struct call_request *request, size_t size)
{
	if (size < sizeof(*request) || request->magic != CALL_MAGIC)
		return -EPROTO;
	if (request->version != CALL_VERSION)
		return -EPROTONOSUPPORT;
	if (request->pointer != 4 && request->pointer != 8)
		return -EPROTO;
	if (request->nr_entries > CALL_ENTRIES_MAX ||
	    size != sizeof(*request) + request->nr_entries * sizeof(struct call_entry))
		return -EPROTO;
	if (request->dialect >= DIALECT_COUNT || request->flags & ~(uint32_t)CALL_USER_ONLY)
		return -EINVAL;
	switch (request->op) {
	case CALL_PROFIL:
	case CALL_PCSAMPLE:
		return request->nr_entries == 1 ? 0 : -EPROTO;
	case CALL_SPROFIL:
	case CALL_SYNC:
	case CALL_STATUS:
		return 0;
	}
	return -EPROTO;
}

/*
 * Identifies the sender by descriptors, so that a later process with its pid is never confused with
 * it.
 */
static int identify(struct asking *asking)
{
	const struct call_request *request = asking->request;
	struct call_ref ref;
	int ret;

	asking->pid_fd = process_fd(asking->pid);
	if (asking->pid_fd < 0)
		return -errno;
	ret = process_open(&asking->process, asking->pid, request->pointer, request->proof);
	if (ret)
		return ret;
	if (!call_engine_ref_of(&asking->calls->engine, asking->pid_fd, &ref)) {
		asking->caller = calls_caller(asking->calls, &ref);
		asking->reply->known = 1;
	}
	return 0;
}

/*
 * The number of pcs that the current call, or one that ended by itself, has stored. It is reported
 * only once.
 */
static int64_t report_stored(struct caller *caller)
{
	int64_t stored = (int64_t)(caller->copied - caller->not_stored);

	if (caller->spec->op != CALL_PCSAMPLE || caller->reported_stored)
		return 0;
	caller->reported_stored = true;
	return stored;
}

/*
 * Removes the process from its call; others that share the address space may continue with it. A
 * stopped call is kept for its status, unless another call replaces it.
 */
static void leave(struct asking *asking, bool keep)
{
	struct caller *caller = asking->caller;
	struct call *call;

	if (!caller)
		return;
	call = call_of(caller, &asking->calls->engine);
	if (__atomic_load_n(&call->users, __ATOMIC_SEQ_CST) > 1) {
		calls_copy(asking->calls, caller);
		asking->stored = (int64_t)(caller->copied - caller->not_stored);
		if (keep)
			call_engine_set_ref(&asking->calls->engine, asking->pid_fd,
					    &(struct call_ref){ CALL_ENDED, 0 });
		if (__atomic_sub_fetch(&call->users, 1, __ATOMIC_SEQ_CST))
			return;
		/* The others ended meanwhile, and the kernel left the call to this process. */
		calls_release(asking->calls, caller);
		asking->caller = NULL;
		return;
	}
	if (keep && call->phase == CALL_ON)
		caller->stop = CALL_STOP_ASKED;
	calls_end(asking->calls, caller);
	asking->stored = report_stored(caller);
	if (!keep) {
		calls_release(asking->calls, caller);
		asking->caller = NULL;
	}
}

/*
 * Replaces the old call by the new one. If the process executed another program since its request,
 * the kernel's hook ran too early to remove the new call. Therefore remove it here.
 */
static int replace_call(struct asking *asking, struct caller *caller)
{
	struct call_engine *engine = &asking->calls->engine;
	struct call *call = call_of(caller, engine);
	struct process again;
	struct error err;
	int ret;

	call_engine_switch_on(engine, call);
	ret = call_engine_set_ref(engine, asking->pid_fd, &caller->ref);
	if (!ret) {
		leave(asking, false);
		ret = process_open(&again, asking->pid, asking->request->pointer,
				   asking->request->proof);
		if (ret)
			call_engine_drop_ref(engine, asking->pid_fd);
		else
			process_close(&again);
	}
	if (!ret) {
		pthread_mutex_lock(&asking->calls->lock);
		ret = call_engine_run_clocks(engine, &err);
		pthread_mutex_unlock(&asking->calls->lock);
	}
	if (ret) {
		calls_release(asking->calls, caller);
		return ret;
	}
	asking->caller = caller;
	/* Serials are never 0. */
	asking->made = (uint64_t)caller->ref.serial << 32 | caller->ref.slot;
	return 0;
}

static uint32_t call_flags(const struct call_request *request)
{
	uint32_t flags = request->flags & CALL_USER_ONLY ? CALL_SKIPS_KERNEL : 0;

	if (request->op == CALL_PCSAMPLE)
		return flags | CALL_STORES_PCS;
	if (request->op == CALL_SPROFIL && request->profil_flags & FLAG_FAST)
		flags |= CALL_IS_FAST;
	if (dialect_full(request->dialect, request->op == CALL_SPROFIL) == FULL_STOPS)
		flags |= CALL_HAS_LIMIT;
	return flags;
}

/* A call that others in the address space use stays. Therefore it is not replaced. */
static bool replaces_own(const struct asking *asking, uint32_t owner)
{
	const struct caller *caller = asking->caller;

	return caller && caller->spec->owner == owner &&
	       call_of(caller, &asking->calls->engine)->users == 1;
}

/* Call it with the lock, so that nobody frees the spec before it has a call. */
static int make_caller(struct asking *asking, uint64_t charge, struct spec *like,
		       struct caller **caller)
{
	const struct call_request *request = asking->request;
	struct spec *spec;
	bool replaces;
	int ret = calls_owner(asking->calls, charge);

	if (ret < 0)
		return ret;
	like->owner = (uint32_t)ret;
	replaces = replaces_own(asking, like->owner);
	ret = calls_add_spec(asking->calls, like, request->entries, request->nr_entries,
			     replaces ? asking->caller->spec : NULL, &spec);
	if (!ret)
		ret = calls_add_caller(asking->calls, spec, &asking->process, replaces, caller);
	if (ret)
		calls_sweep_specs(asking->calls);
	return ret == -ENOSPC ? -ENOMEM : ret;
}

static int start_call(struct asking *asking, uint32_t width)
{
	const struct call_request *request = asking->request;
	struct spec like = {
		.op = (enum call_op)request->op,
		.dialect = request->dialect,
		.profil_flags = request->profil_flags,
		.flags = call_flags(request),
		.width = width,
		.worker = asking->worker,
		.pointer = request->pointer,
		.random_at = asking->process.random_at,
	};
	struct caller *caller;
	uint64_t charge;
	int ret;

	/* Applies to replacements too: the old call's descriptors are closed too late. */
	if (!process_may_stay(&asking->process))
		return -EMFILE;
	ret = charge_of(asking->pid, asking->pid_fd, asking->uid, &charge);
	if (ret)
		return ret;
	memcpy(like.proof, request->proof, sizeof(like.proof));
	if (asking->calls->options.record)
		like.mapped = mapped_text_read(&asking->process);
	pthread_mutex_lock(&asking->calls->lock);
	ret = make_caller(asking, charge, &like, &caller);
	pthread_mutex_unlock(&asking->calls->lock);
	mapped_text_free(like.mapped);
	if (ret)
		return ret;
	if (caller->spec->flags & CALL_HAS_LIMIT)
		ret = caller_preload(caller, &asking->calls->engine);
	if (ret)
		calls_release(asking->calls, caller);
	else
		ret = replace_call(asking, caller);
	return ret == -ENOSPC ? -EDQUOT : ret;
}

/* Only 4.4BSD checks the buffer at the call, and only a scale of 0 stops it. */
static bool checks_buffer(uint32_t dialect)
{
	return dialect == DIALECT_BSD44 || dialect == DIALECT_BSD44DOC;
}

static int check_buffer(struct asking *asking, const struct call_entry *entry)
{
	if (!entry->base)
		return -EFAULT;
	return entry->size ? process_check(&asking->process, entry->base, entry->size) : 0;
}

static int do_profil(struct asking *asking)
{
	const struct call_request *request = asking->request;
	const struct call_entry *entry = &request->entries[0];
	uint32_t class = dialect_class(request->dialect, false, entry->offset, entry->scale);
	bool checks = checks_buffer(request->dialect);
	int ret = 0;

	if (class == CLASS_INVALID)
		return -EINVAL;
	if (class == CLASS_OFF || (!entry->base && !checks)) {
		leave(asking, true);
		return 0;
	}
	if (checks)
		ret = check_buffer(asking, entry);
	return ret ? ret : start_call(asking, sizeof(uint16_t));
}

static int do_sprofil(struct asking *asking)
{
	const struct call_request *request = asking->request;
	struct region_call call = { .dialect = request->dialect,
				    .sprofil = true,
				    .entries = request->entries,
				    .nr = request->nr_entries };
	size_t refused, i;
	bool any = false;
	int ret = region_call_width(request->dialect, request->count, request->profil_flags);

	if (ret < 0)
		return ret;
	call.width = (uint32_t)ret;
	if (request->count != (int64_t)request->nr_entries)
		return -EPROTO;
	ret = region_call_check(&call, &refused);
	if (ret)
		return ret;
	if (request->profil_flags & FLAG_FAST && asking->calls->options.restrict_fast &&
	    asking->uid)
		return -EACCES;
	for (i = 0; i < call.nr; i++)
		any |= dialect_class(call.dialect, true, call.entries[i].offset,
				     call.entries[i].scale) != CLASS_OFF;
	if (!any) {
		leave(asking, true);
		return 0;
	}
	return start_call(asking, call.width);
}

static int do_pcsample(struct asking *asking)
{
	const struct call_request *request = asking->request;
	int ret = 0;

	if (request->count < 0 || (uint64_t)request->count > SAMPLES_MAX ||
	    (request->pointer == 4 && request->count > INT32_MAX) ||
	    request->entries[0].size != (uint64_t)request->count)
		return -EINVAL;
	if (request->count)
		ret = start_call(asking, request->pointer);
	else
		leave(asking, true);
	if (!ret)
		asking->reply->value = asking->stored;
	return ret;
}

static void fill_stop(const struct caller *caller, const struct call *call,
		      struct call_state *state)
{
	if (call->stop) {
		state->stopped = call->stop;
		state->region = call->stop_region;
		state->counter = call->stop_counter;
	} else {
		state->stopped = caller->stop;
		state->region = caller->stop_region;
		state->counter = caller->stop_counter;
	}
}

/*
 * While the call is on, ticks may arrive between two figures. Therefore the total is computed as
 * their sum. Once the call is off, the total is the kernel's own, and the sum must agree with it.
 */
static void fill_state(const struct asking *asking)
{
	struct call_state *state = &asking->reply->state;
	const struct caller *caller = asking->caller;
	const struct call_engine *engine = &asking->calls->engine;
	const struct call *call;

	if (!caller)
		return;
	call = call_of(caller, engine);
	state->dialect = caller->spec->dialect;
	if (call->phase == CALL_ON) {
		state->on = caller->spec->op;
		state->period_ns = engine->clocks[caller->spec->flags & CALL_IS_FAST].period_ns;
	}
	fill_stop(caller, call, state);
	state->binned = caller->binned;
	state->overflow = caller->overflow;
	state->outside = call->outside;
	state->filtered = call->filtered;
	state->lost = call->no_memory + call->over_limit + call->in_exec + caller->unwritten;
	state->total = call->phase == CALL_ON ? state->binned + state->overflow + state->outside +
							state->filtered + state->lost :
						call->ticks;
}

/*
 * Whether a failed call ends the previous one. 4.4BSD on a bad buffer: "returns -1, profiling is
 * terminated". IRIX: "each call to sprofil() will disable any profiling enabled by previous" ones,
 * and its profil() is sprofil().
 */
static bool failure_ends(const struct call_request *request, int failure)
{
	if (request->op != CALL_PROFIL && request->op != CALL_SPROFIL)
		return false;
	return request->dialect == DIALECT_IRIX ||
	       (checks_buffer(request->dialect) && failure == -EFAULT);
}

static int call_anew(struct asking *asking)
{
	int ret;

	switch (asking->request->op) {
	case CALL_PROFIL:
		ret = do_profil(asking);
		break;
	case CALL_SPROFIL:
		ret = do_sprofil(asking);
		break;
	default:
		ret = do_pcsample(asking);
	}
	if (ret && failure_ends(asking->request, ret))
		leave(asking, true);
	return ret;
}

static int carry_out(struct asking *asking)
{
	switch (asking->request->op) {
	case CALL_PROFIL:
	case CALL_SPROFIL:
	case CALL_PCSAMPLE:
		return call_anew(asking);
	default:
		/* The reply is exact up to the moment of the request. */
		if (asking->caller) {
			call_engine_quiesce(&asking->calls->engine);
			calls_copy(asking->calls, asking->caller);
		}
		return 0;
	}
}

uint64_t calls_request(struct worker *worker, pid_t pid, uid_t uid,
		       const struct call_request *request, size_t size, struct call_reply *reply)
{
	struct asking asking = {
		.calls = worker->calls,
		.worker = worker,
		.request = request,
		.pid = pid,
		.uid = uid,
		.pid_fd = -1,
		.process = { .mem_fd = -1, .maps_fd = -1 },
		.reply = reply,
	};
	int ret;

	memset(reply, 0, sizeof(*reply));
	reply->magic = CALL_MAGIC;
	reply->version = CALL_VERSION;
	ret = check_form(request, size);
	if (!ret)
		ret = identify(&asking);
	if (!ret)
		ret = carry_out(&asking);
	reply->error = -ret;
	fill_state(&asking);
	process_close(&asking.process);
	close_fd(&asking.pid_fd);
	return asking.made;
}

void calls_withdraw(struct worker *worker, uint64_t made)
{
	const struct call_ref ref = { .slot = (uint32_t)made, .serial = (uint32_t)(made >> 32) };
	struct caller *caller = made ? calls_caller(worker->calls, &ref) : NULL;

	if (caller)
		calls_end(worker->calls, caller);
}
