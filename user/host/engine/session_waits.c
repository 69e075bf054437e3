// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* With --waits: moves the programs' accounts of wall time to a profile. See bpf/waits.bpf.h. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "base/util.h"
#include "host/engine/programs.h"
#include "host/engine/session_impl.h"

/* How often to look for late waits: soon after a start, and later. */
#define SOON_NS 20000000ULL
#define LATER_NS 250000000ULL
enum { SOON_TIMES = 50 };

/* Walks for late waits take at most 1/WALK_REST of the time. */
enum { WALK_REST = 50 };

static struct waits_state *state_of(const struct session *session)
{
	return &session->skel->bss->waits_state;
}

/* --- before and after load -------------------------------------------------------------------- */

/* Threads whose callers are found while they sleep. */
static bool has_sleepers(const struct session *session)
{
	return session->options.waits && session->options.callers;
}

static void choose_programs(struct session *session)
{
	const bool waits = session->options.waits;
	struct host_bpf *skel = session->skel;

	bpf_program__set_autoload(skel->progs.profil_switch, waits);
	bpf_program__set_autoload(skel->progs.profil_wakeup, waits);
	bpf_program__set_autoload(skel->progs.profil_waits_fork, waits);
	bpf_program__set_autoload(skel->progs.profil_waits_move, waits && session->by_cgroup);
	bpf_program__set_autoload(skel->progs.profil_waits_pass, waits);
	bpf_program__set_autoload(skel->progs.profil_sleepers, has_sleepers(session));
	bpf_program__set_autoattach(skel->progs.profil_waits_pass, false);
	bpf_program__set_autoattach(skel->progs.profil_sleepers, false);
}

/*
 * Maps that global functions of a tick's walk name are always created: before 6.8 (commit
 * 2afae08c9dcb) the verifier checks each global function of a program, even if it is not called.
 */
static int leave_maps_out(const struct session *session)
{
	struct host_bpf *skel = session->skel;
	struct bpf_map *const of_waits[] = { skel->maps.thread_waits, skel->maps.node_waits,
					     skel->maps.waits_halves, skel->maps.unplaced_waits };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && !session->options.waits && i < sizeof(of_waits) / sizeof(*of_waits);
	     i++)
		ret = bpf_map__set_autocreate(of_waits[i], false);
	return ret;
}

/*
 * The walks, ranges and rules of waits come after those of ticks and, with callers, of exits. Then
 * come those of the sleepers, one for all CPUs, and walks of waits that are moved.
 */
int session_configure_waits(struct session *session, struct error *err)
{
	const uint32_t cpus = session->nr_cpus, first = (session->options.callers ? 2 : 1) * cpus;
	struct host_bpf *skel = session->skel;
	int ret;

	choose_programs(session);
	ret = leave_maps_out(session);
	if (ret)
		return error_errno(err, ret, "leaving maps of waits out");
	if (!session->options.waits)
		return 0;
	skel->rodata->waits = true;
	skel->rodata->wait_walks = first;
	skel->rodata->wait_copies = cpus + 1;
	map_set_entries(skel->maps.walks, first + 2 * cpus + 1);
	map_set_entries(skel->maps.ranges, (first + cpus + 1) * RANGES);
	map_set_entries(skel->maps.known_rules, (first + cpus + 1) * KNOWN_RULES);
	if (has_sleepers(session)) {
		map_set_entries(skel->maps.sleepers, SLEEPERS);
		map_set_entries(skel->maps.stack_pieces, STACK_PIECES);
	}
	map_set_entries(skel->maps.wait_memos, cpus * MEMOS);
	map_set_entries(skel->maps.node_waits, 2 * session->halves.base);
	map_set_entries(skel->maps.unplaced_waits, session->nr_targets);
	return 0;
}

static int bind_sleepers(struct session *session, struct error *err)
{
	struct session_waits *waits = &session->waits;
	int ret;

	if (!has_sleepers(session))
		return 0;
	ret = mapped_array_open(session->skel->maps.stack_pieces, PROT_READ | PROT_WRITE,
				&waits->pieces, err);
	waits->copies.pieces = waits->pieces.at;
	waits->copies.owners = session->texts.owners.at;
	return ret;
}

int session_bind_waits(struct session *session, struct error *err)
{
	struct session_waits *waits = &session->waits;
	struct host_bpf *skel = session->skel;
	int ret;

	stack_copies_init(&waits->copies);
	if (!session->options.waits)
		return 0;
	session->halves.waits_base_fd = bpf_map__fd(skel->maps.node_waits);
	session->halves.waits_outer_fd = bpf_map__fd(skel->maps.waits_halves);
	waits->accounts.unplaced = calloc(session->nr_targets + 1, sizeof(struct node_waits));
	waits->accounts.nr_unplaced = session->nr_targets;
	if (!waits->accounts.unplaced)
		return error_no_memory(err, "waits");
	ret = bind_sleepers(session, err);
	if (ret)
		return ret;
	return mapped_array_open(skel->maps.unplaced_waits, PROT_READ | PROT_WRITE,
				 &waits->unplaced, err);
}

void session_free_waits(struct session *session)
{
	struct session_waits *waits = &session->waits;

	if (waits->copies.pieces)
		stack_copies_end(&waits->copies);
	mapped_array_close(&waits->pieces);
	mapped_array_close(&waits->unplaced);
	free(waits->accounts.list);
	free(waits->accounts.unplaced);
}

/* --- passes over all threads ------------------------------------------------------------------ */

static int visit_threads(struct session *session, enum waits_pass kind, struct error *err)
{
	state_of(session)->pass = kind;
	return programs_walk(session->skel->progs.profil_waits_pass, 0, err);
}

static void look_soon(struct session *session)
{
	session->waits.looks = SOON_TIMES;
	session->waits.look_ns = monotonic_ns() + SOON_NS;
	session_wake_at(session, session->waits.look_ns);
}

int session_begin_waits(struct session *session, bool has_threads, struct error *err)
{
	struct waits_state *state;

	if (!session->options.waits)
		return 0;
	state = state_of(session);
	state->late = true;
	__atomic_store_n(&state->on, true, __ATOMIC_RELEASE);
	look_soon(session);
	return has_threads ? visit_threads(session, WAITS_BEGIN, err) : 0;
}

int session_end_waits(struct session *session, struct error *err)
{
	if (!session->options.waits)
		return 0;
	__atomic_store_n(&state_of(session)->on, false, __ATOMIC_RELEASE);
	return visit_threads(session, WAITS_END, err);
}

int session_cut_waits(struct session *session, struct error *err)
{
	if (!session->options.waits || session->times.stop_ns)
		return 0;
	__atomic_store_n(&state_of(session)->half, !halves_in_use(&session->halves),
			 __ATOMIC_SEQ_CST);
	return visit_threads(session, WAITS_CUT, err);
}

int session_move_waits(struct session *session, struct error *err)
{
	int ret;

	if (!session->options.waits || session->times.stop_ns)
		return 0;
	ret = visit_threads(session, WAITS_MOVE, err);
	if (ret)
		return ret;
	ret = grace_period_wait(&session->grace);
	return ret ? error_errno(err, ret, "waiting for the programs") : 0;
}

/* Has the next pass wait in proportion to this one. */
static void rest(struct session_waits *waits, uint64_t began)
{
	const uint64_t now = monotonic_ns(), until = now + (now - began) * WALK_REST;

	if (waits->look_ns < until)
		waits->look_ns = until;
}

/* Sleepers whose callers are not found with these pieces have requested more. */
static void ask_for_pieces(struct session *session)
{
	struct session_waits *waits = &session->waits;
	struct epoll_event event = { .events = EPOLLIN };
	const bool is_new = !waits->copies.pid;

	stack_copies_ask(&waits->copies, state_of(session)->pieces);
	if (is_new && waits->copies.pid)
		epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, waits->copies.fd, &event);
}

static void look_for_late(struct session *session, uint64_t now)
{
	struct session_waits *waits = &session->waits;
	struct waits_state *state = state_of(session);
	struct error ignored;

	waits->look_ns = now + (waits->looks ? SOON_NS : LATER_NS);
	waits->looks -= waits->looks > 0;
	if (!__atomic_exchange_n(&state->late, 0, __ATOMIC_ACQ_REL) && now < waits->due_ns)
		return;
	state->sleepers = state->pieces = 0;
	state->next_ns = UINT64_MAX - now;
	stack_copies_ask(&waits->copies, 0);
	visit_threads(session, WAITS_PLACE, &ignored);
	waits->due_ns = now + state->next_ns;
	ask_for_pieces(session);
	rest(waits, now);
	/* More of it may follow in the same program. */
	if (!waits->looks)
		waits->looks = 1;
}

static void walk_sleepers(struct session *session, uint64_t now)
{
	struct session_waits *waits = &session->waits;
	struct error ignored;

	programs_walk(session->skel->progs.profil_sleepers, 0, &ignored);
	if (now + state_of(session)->next_ns < waits->due_ns)
		waits->due_ns = now + state_of(session)->next_ns;
	ask_for_pieces(session);
	rest(waits, now);
}

/* Programs on the scheduler's events cannot request room. Therefore it is checked here. */
void session_poll_waits(struct session *session)
{
	const uint64_t now = monotonic_ns();
	struct session_waits *waits = &session->waits;

	if (!session->options.waits || !session->times.start_ns || session->times.stop_ns)
		return;
	if (halves_need_room(&session->halves))
		session->is_full = true;
	if (stack_copies_wait(&waits->copies)) {
		stack_copies_receive(&waits->copies);
		if (!stack_copies_wait(&waits->copies))
			walk_sleepers(session, now);
	} else if (now >= waits->look_ns) {
		look_for_late(session, now);
	}
	session_wake_at(session, stack_copies_wait(&waits->copies) ?
					 stack_copies_until(&waits->copies) :
					 waits->look_ns);
}

/* --- a closed half ---------------------------------------------------------------------------- */

static void add_account(struct waits_accounts *accounts, const struct kernel_root *root)
{
	const struct table_root *sums = &root->sums;

	if (sums->on_cpu_ns || sums->cpu_ns || sums->unaccounted_ns)
		accounts->list[accounts->nr++] = (struct waits_account){
			.key = { .split = root->key.split, .target = root->key.target },
			.on_cpu_ns = sums->on_cpu_ns,
			.cpu_ns = sums->cpu_ns,
			.unaccounted_ns = sums->unaccounted_ns,
		};
}

DEFINE_COMPARE_2(compare_accounts, struct waits_account, key.target, key.split)

static void add_up_accounts(void *sum, const void *account)
{
	const struct waits_account *from = account;
	struct waits_account *to = sum;

	to->on_cpu_ns += from->on_cpu_ns;
	to->cpu_ns += from->cpu_ns;
	to->unaccounted_ns += from->unaccounted_ns;
}

/* Adds those up that belong to one split. */
static void join_accounts(struct waits_accounts *accounts)
{
	accounts->nr = COMBINE(accounts->list, accounts->nr, compare_accounts, add_up_accounts);
}

static void take_unplaced(struct session *session)
{
	struct node_waits *from = session->waits.unplaced.at,
			  *to = session->waits.accounts.unplaced;
	uint32_t i;

	for (i = 0; i < session->nr_targets; i++) {
		to[i].ns += __atomic_exchange_n(&from[i].ns, 0, __ATOMIC_RELAXED);
		to[i].runnable_ns += __atomic_exchange_n(&from[i].runnable_ns, 0, __ATOMIC_RELAXED);
		to[i].count += __atomic_exchange_n(&from[i].count, 0, __ATOMIC_RELAXED);
	}
}

void session_add_accounts(struct session *session, const struct closed_half *half)
{
	struct waits_accounts *accounts = &session->waits.accounts;
	size_t i;

	if (!session->options.waits)
		return;
	for (i = 0; i < half->nr_roots; i++)
		if (half->roots[i].key.target != NO_TARGET && half->roots[i].key.end == END_WAIT)
			add_account(accounts, &half->roots[i]);
	join_accounts(accounts);
	take_unplaced(session);
}

void session_sum_accounts(struct session *session,
			  uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split))
{
	struct waits_accounts *accounts = &session->waits.accounts;
	size_t i;

	for (i = 0; i < accounts->nr; i++) {
		struct spent_key *key = &accounts->list[i].key;

		key->split = sum_of(session, key->target, key->split) ?: key->split;
	}
	join_accounts(accounts);
}

/* Makes room for some time. Accounts have their part of the limit, and stay. */
void session_limit_waits(struct session *session, uint64_t limit)
{
	const uint64_t accounts = session_accounts_bytes(session), room = limit / 4 * 3;

	if (!session->options.waits || store_waits_bytes(session->store) + accounts <= limit)
		return;
	if (!store_drop_places(session->store, accounts < room ? room - accounts : 0))
		session->waits.dropped = true;
}

void session_clear_waits(struct session *session)
{
	struct waits_accounts *accounts = &session->waits.accounts;

	if (!session->options.waits)
		return;
	accounts->nr = 0;
	memset(accounts->unplaced, 0, accounts->nr_unplaced * sizeof(*accounts->unplaced));
	session->waits.dropped = false;
}
