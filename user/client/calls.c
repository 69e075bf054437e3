// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/calls.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "client/settings.h"
#include "client/sys.h"

/*
 * The layouts are the same. The caller's array is sent unchanged, whatever its length, and only the
 * kernel reads it.
 */
#define SAME_PLACE(a, b)                                                                           \
	_Static_assert(offsetof(struct prof, a) == offsetof(struct call_entry, b) &&               \
			       sizeof(((struct prof *)0)->a) == sizeof(uint64_t),                  \
		       #a)
SAME_PLACE(pr_base, base);
SAME_PLACE(pr_size, size);
SAME_PLACE(pr_off, offset);
SAME_PLACE(pr_scale, scale);
_Static_assert(sizeof(struct prof) == sizeof(struct call_entry), "struct prof");

/*
 * Whether this process believes that a call of it is in force. The server may not know: it may have
 * been restarted, or have had no room for this child of a fork. Then nothing has been counted.
 */
static int counting;

static int nobody_listens(int ret)
{
	return ret == -ENOENT || ret == -ECONNREFUSED || ret == -EACCES;
}

/*
 * Whether the server of this process is gone. One that counts is not gone because this process has
 * lost the right to its socket, for example with root's rights.
 */
static int is_gone(int ret)
{
	return nobody_listens(ret) &&
	       (ret != -EACCES || !__atomic_load_n(&counting, __ATOMIC_RELAXED));
}

static int exchange_private(uint64_t id, const struct call_request *request,
			    const struct call_entry *entries, struct call_reply *reply)
{
	char name[PRIVATE_NAME];

	private_server_name(id, name);
	return client_exchange(name, request, entries, reply);
}

/*
 * Tries the server that BPFPROFIL_SOCKET names, then our own, then the host's, and at last starts
 * one.
 */
static int find_server(const struct call_request *request, const struct call_entry *entries,
		       int starts, struct call_reply *reply)
{
	const struct settings *settings = client_settings();
	uint64_t id = private_server();
	int ret;

	if (settings->socket)
		return client_exchange(settings->socket, request, entries, reply);
	if (id) {
		ret = exchange_private(id, request, entries, reply);
		if (!nobody_listens(ret))
			return ret;
		private_server_forget(id);
	}
	ret = client_exchange(CALL_SOCKET, request, entries, reply);
	if (!starts || !nobody_listens(ret) || settings->secure || !private_server_allowed())
		return ret;
	id = private_server_start(settings->server);
	return id ? exchange_private(id, request, entries, reply) : ret;
}

static void prepare_request(struct call_request *request, uint16_t op, int dialect)
{
	const void *proof = (const void *)getauxval(AT_RANDOM);

	memset(request, 0, sizeof(*request));
	request->magic = CALL_MAGIC;
	request->version = CALL_VERSION;
	request->op = op;
	request->dialect = (uint32_t)dialect;
	request->flags = client_settings()->flags;
	request->pointer = sizeof(void *);
	if (proof)
		memcpy(request->proof, proof, sizeof(request->proof));
}

/* starts: the call starts counting. */
static struct outcome ask_server(struct call_request *request, const struct call_entry *entries,
				 int starts)
{
	struct outcome outcome = { 0 };
	struct call_reply reply;
	int before = errno, ret;
	sys_signals signals;

	if ((int)request->dialect < 0) {
		outcome.error = EINVAL;
		outcome.served = 1;
		return outcome;
	}
	signals = sys_block_signals();
	ret = find_server(request, entries, starts, &reply);
	sys_restore_signals(signals);
	errno = before;
	if (ret < 0) {
		outcome.error = -ret;
		outcome.served = ret == -EFAULT;
		return outcome;
	}
	outcome.served = 1;
	outcome.known = reply.known;
	outcome.error = reply.error;
	outcome.value = (long)reply.value;
	outcome.state = reply.state;
	if (outcome.state.on)
		__atomic_store_n(&counting, 1, __ATOMIC_RELAXED);
	return outcome;
}

/*
 * When a call that ends counting, or a sync, returns, every count must be in place. Therefore it
 * fails if the server that counted is gone. A call that ends nothing needs no server.
 */
static struct outcome confirm(struct outcome outcome, int ends)
{
	int absent = !outcome.served && is_gone(-outcome.error);
	int lost = absent || (!outcome.error && !outcome.known && !outcome.state.on);

	if (lost && __atomic_load_n(&counting, __ATOMIC_RELAXED)) {
		outcome.error = ECONNRESET;
		outcome.served = 1;
	} else if (absent && ends) {
		outcome.error = 0;
	}
	/* A server that did not get the call, for want of a descriptor or a right, counts on. */
	if (ends && (outcome.served || absent))
		__atomic_store_n(&counting, 0, __ATOMIC_RELAXED);
	return outcome;
}

int client_may_fall_back(const struct outcome *outcome)
{
	return !outcome->served && outcome->error &&
	       (is_gone(-outcome->error) || !__atomic_load_n(&counting, __ATOMIC_RELAXED));
}

/* The parent of a vfork, which shares the address space, may continue to count. */
static struct outcome call(struct call_request *request, const struct call_entry *entries,
			   int starts)
{
	struct outcome outcome = ask_server(request, entries, starts);

	return starts ? outcome : confirm(outcome, !outcome.state.on);
}

static int dialect_or_current(int dialect)
{
	return dialect == DIALECT_CURRENT ? client_dialect() : dialect;
}

struct outcome client_profil(int dialect, void *buf, size_t bufsiz, size_t offset,
			     unsigned long scale)
{
	const struct call_entry entry = { (uintptr_t)buf, bufsiz, offset, scale };
	struct call_request request;

	dialect = dialect_or_current(dialect);
	prepare_request(&request, CALL_PROFIL, dialect);
	request.count = request.nr_entries = 1;
	/* In 4.4BSD NULL is a bad buffer. */
	return call(&request, &entry,
		    scale && (buf || dialect == DIALECT_BSD44 || dialect == DIALECT_BSD44DOC));
}

/*
 * A call that ends counting has no tick. It reports the tick that a call that starts counting would
 * have had.
 */
static void put_tick(struct timeval *tvp, uint64_t period_ns, unsigned int flags)
{
	if (!period_ns)
		period_ns = flags & PROF_FAST ? 1000000 : 10000000;
	tvp->tv_sec = (time_t)(period_ns / 1000000000);
	tvp->tv_usec = (suseconds_t)(period_ns % 1000000000 / 1000);
}

/*
 * For a bad array or tvp. The server did not get the call, but in IRIX such a call ends an earlier
 * one.
 */
static struct outcome refuse_call(int dialect, struct outcome refused)
{
	if (dialect == DIALECT_IRIX)
		client_profil(dialect, NULL, 0, 0, 0);
	return refused;
}

struct outcome client_sprofil(int dialect, struct prof *profp, int profcnt, struct timeval *tvp,
			      unsigned int flags)
{
	int fits = profcnt > 0 && profcnt <= CALL_ENTRIES_MAX, before = errno;
	struct outcome outcome = { .error = EFAULT, .served = 1 };
	struct call_request request;
	int bad = tvp && sys_writable(tvp, sizeof(*tvp));

	errno = before;
	dialect = dialect_or_current(dialect);
	if (bad)
		return refuse_call(dialect, outcome);
	prepare_request(&request, CALL_SPROFIL, dialect);
	request.profil_flags = flags;
	request.count = profcnt;
	/* Send a count that is out of range anyway: the server knows what is wrong with it. */
	request.nr_entries = fits ? (uint32_t)profcnt : 0;
	outcome = profcnt ? ask_server(&request, (const struct call_entry *)profp, fits) :
			    call(&request, NULL, 0);
	if (outcome.error == EFAULT)
		return refuse_call(dialect, outcome);
	if (tvp && !outcome.error)
		put_tick(tvp, outcome.state.period_ns, flags);
	return outcome;
}

struct outcome client_pcsample(void *samples, long nsamples)
{
	const struct call_entry entry = { .base = (uintptr_t)samples, .size = (uint64_t)nsamples };
	struct call_request request;

	prepare_request(&request, CALL_PCSAMPLE, client_dialect());
	request.count = nsamples;
	request.nr_entries = 1;
	return nsamples ? ask_server(&request, &entry, nsamples > 0) : call(&request, &entry, 0);
}

struct outcome client_ask(uint16_t op)
{
	struct call_request request;
	struct outcome outcome;
	/* A bad name for the next calls does not change the earlier calls. */
	int dialect = client_dialect();

	prepare_request(&request, op, dialect < 0 ? 0 : dialect);
	outcome = ask_server(&request, NULL, 0);
	return op == CALL_SYNC ? confirm(outcome, 0) : outcome;
}

/*
 * Without a server the call does not exist. Therefore the errno is ENOSYS, and not that of the
 * socket's path.
 */
long client_return(const struct outcome *outcome)
{
	int absent = !outcome->served &&
		     (outcome->error == ENOENT || outcome->error == ECONNREFUSED);

	if (!outcome->error)
		return outcome->value;
	errno = absent ? ENOSYS : outcome->error;
	return -1;
}
