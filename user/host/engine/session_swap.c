// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Swaps the halves of the kernel's table, and moves the ticks and waits of the closed half to the
 * session's own table. Divides --memory among both tables.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/session_impl.h"

/* With less memory no program can be sampled. */
enum { MEMORY_MIN = 256 * 1024 };

/* The largest part of --memory for each half. With callers, half of --memory is for rules. */
enum { HALF_SHARE = 8, HALF_SHARE_CALLERS = 16 };

/* With its waits, a node takes at most this many times the memory. */
enum {
	WAITS_PART = 1 + (sizeof(struct node_waits) + sizeof(struct table_node) - 1) /
				 sizeof(struct table_node)
};

/* A process, thread or cgroup of a split takes some 110 bytes of the kernel, and a root. */
enum { SPLIT_SHARE = 4096, SPLITS_MIN = 1024 };

/*
 * Programs request a swap when 1/SWAP_PART of the nodes or roots is in use, or 1/SPLITS_LEFT of the
 * splits is left: see session_mark_splits().
 */
enum { SPLITS_LEFT = 3 };

/* In a busy second this many frames of a tick are new: the whole chain. */
enum { NEW_FRAMES = 32 };

/*
 * A table over the limit shrinks to FOLD_EIGHTHS / 8 of it, so that the next swap need not shrink
 * it again.
 */
enum { FOLD_EIGHTHS = 6 };

int session_plan(struct session *session, struct error *err)
{
	const uint64_t memory = session->options.memory, rules = session_plan_callers(session);
	const bool callers = session->options.callers;
	const uint32_t with_waits = session->options.waits ? WAITS_PART : 1;
	const double hz = 1e9 / (double)session->options.period_ns;
	uint64_t taken;

	if (memory < MEMORY_MIN)
		return error_set(err, -EINVAL,
				 "--memory: %llu bytes are too few, 256K is the least",
				 (unsigned long long)memory);
	session->nr_splits = memory / SPLIT_SHARE > SPLITS_MIN ? (uint32_t)(memory / SPLIT_SHARE) :
								 SPLITS_MIN;
	halves_plan(&session->halves,
		    memory / (callers ? HALF_SHARE_CALLERS : HALF_SHARE) / with_waits,
		    hz * session->nr_cpus * (callers ? NEW_FRAMES : 1));
	/* With large pages, halves may take more than the least --memory. */
	taken = rules + with_waits * halves_most(&session->halves);
	session->store_limit = memory > taken ? memory - taken : 0;
	session->swaps = 1;
	session->store = store_new(session->options.bin_shift);
	return session->store ? 0 : error_no_memory(err, "counters");
}

static uint32_t roots_of_split(const struct session *session)
{
	return (session->options.callers ? WALK_END_COUNT : 1) + session->options.waits;
}

/*
 * Each target has a root for each end, even if there is no memory for others. Those of waits come
 * last.
 */
static uint32_t roots_for_good(const struct session *session)
{
	return session->nr_targets * roots_of_split(session);
}

/* More roots than there are nodes before a swap would mostly stay empty: each needs a node. */
static uint32_t max_roots(const struct session *session)
{
	const uint64_t splits = session->options.split == SPLIT_NONE ? 0 : session->nr_splits;
	const uint64_t nodes = session->halves.most / SWAP_PART;
	const uint64_t roots = splits * roots_of_split(session);
	const uint64_t limit = nodes < splits ? splits : nodes;
	const uint64_t most = roots_for_good(session) + (roots < limit ? roots : limit);

	return most < ROOTS_MAX / 2 ? (uint32_t)most : ROOTS_MAX / 2;
}

void session_size_halves(struct session *session)
{
	const uint32_t good = roots_for_good(session), most = max_roots(session);
	struct host_bpf *skel = session->skel;

	skel->rodata->base_nodes = session->halves.base;
	skel->rodata->max_roots = most;
	skel->rodata->roots_low = good + (most - good) / SWAP_PART + 1;
	map_set_entries(skel->maps.nodes, 2 * session->halves.base / NODES_OF_LINE);
	map_set_entries(skel->maps.table_roots, 2 * most);
	if (session->options.split != SPLIT_NONE)
		map_set_entries(skel->maps.spent_cpus, session->nr_splits);
	skel->rodata->max_splits = session->nr_splits;
}

static int roots_fd(const struct session *session)
{
	return bpf_map__fd(session->skel->maps.table_roots);
}

static int make_roots(struct session *session, uint32_t half, uint32_t target)
{
	const uint32_t first = session->options.callers ? 0 : END_FLAT;
	const uint32_t end = session->options.callers ? WALK_END_COUNT : END_FLAT + 1;
	struct table_root_key key = { .target = target, .half = (uint16_t)half };
	struct table_root root = { 0 };
	int ret = 0;

	for (key.end = (uint16_t)first; key.end < end && !ret; key.end++) {
		root.number = fixed_root(target, key.end, half);
		ret = bpf_map_update_elem(roots_fd(session), &key, &root, BPF_NOEXIST);
	}
	if (ret || !session->options.waits)
		return ret;
	key.end = END_WAIT;
	root.number = 2 * (roots_for_good(session) - session->nr_targets + target) + half;
	return bpf_map_update_elem(roots_fd(session), &key, &root, BPF_NOEXIST);
}

static uint32_t splits_used(const struct session *session)
{
	return __atomic_load_n(&session->skel->bss->table_state.splits_used, __ATOMIC_RELAXED);
}

static uint32_t first_splits_low(const struct session *session)
{
	return session->nr_splits - session->nr_splits / SPLITS_LEFT;
}

/*
 * At first a third of the splits is left when room is requested. If most of them still run, it is a
 * third of the rest that an owner may have: otherwise each new split would cause a swap that frees
 * nothing.
 */
void session_mark_splits(struct session *session)
{
	const uint32_t lent = splits_lent(session->nr_splits), used = splits_used(session);
	const uint32_t most = used < lent ? lent : session->nr_splits;
	const uint32_t left = most - (uint32_t)min_size(most, used);

	session->skel->bss->table_state.splits_low =
		(uint32_t)max_size(first_splits_low(session), most - left / SPLITS_LEFT - 1);
}

int session_bind_halves(struct session *session, struct error *err)
{
	struct table_state *state = &session->skel->bss->table_state;
	uint32_t half, target;
	int ret = 0;

	session->halves.base_fd = bpf_map__fd(session->skel->maps.nodes);
	session->halves.outer_fd = bpf_map__fd(session->skel->maps.halves);
	session->halves.state = state;
	halves_open(&session->halves);
	session_mark_splits(session);
	for (half = 0; half < 2 && !ret; half++) {
		for (target = 0; target < session->nr_targets && !ret; target++)
			ret = make_roots(session, half, target);
		state->next_root[half] = roots_for_good(session);
	}
	return ret ? error_errno(err, ret, "counters") : 0;
}

/* --- a closed half ---------------------------------------------------------------------------- */

/* If two CPUs made the same root at once, one of their two numbers is unused. */
static int read_roots(const struct session *session, uint32_t half, struct kernel_root **result,
		      size_t *ret_nr)
{
	const size_t nr = 2 * (size_t)session->skel->bss->table_state.next_root[half] + 2;
	struct kernel_root *roots = calloc(nr, sizeof(*roots));
	struct table_root_key key, *last = NULL;
	struct table_root root;
	size_t i;

	*result = roots;
	*ret_nr = nr;
	if (!roots)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		roots[i].key.target = NO_TARGET;
	for (; !bpf_map_get_next_key(roots_fd(session), last, &key); last = &key) {
		if (key.half != half)
			continue;
		if (bpf_map_lookup_elem(roots_fd(session), &key, &root))
			return -errno;
		if (root.number < nr)
			roots[root.number] = (struct kernel_root){ key, root };
	}
	return errno == ENOENT ? 0 : -errno;
}

/* Those of split 0 stay. */
static void empty_roots(struct session *session, uint32_t half, const struct kernel_root *roots,
			size_t nr)
{
	struct table_root root = { 0 };
	size_t i;

	for (i = 0; i < nr; i++) {
		if (roots[i].key.target == NO_TARGET)
			continue;
		root.number = roots[i].sums.number;
		if (roots[i].key.split)
			bpf_map_delete_elem(roots_fd(session), &roots[i].key);
		else if (roots[i].sums.ticks || roots[i].key.end == END_WAIT)
			bpf_map_update_elem(roots_fd(session), &roots[i].key, &root, BPF_EXIST);
	}
	session->skel->bss->table_state.next_root[half] = roots_for_good(session);
}

static void empty_half(struct session *session, uint32_t half, struct mapped_array *nodes)
{
	struct owner *owners = session->texts.owners.at;
	uint32_t i;

	memset(nodes->at, 0, nodes->size);
	for (i = 0; i < OWNERS_MAX; i++)
		owners[i].nodes_used[half] = 0;
	session->skel->bss->table_state.nodes_used[half] = 0;
	carries_mark_added(&session->carries, half);
}

/* Maps what a half has, and makes room for its accounts. */
static int map_half(struct session *session, struct closed_half *half, struct mapped_array *nodes,
		    struct mapped_array *waits, struct node_waits **ret_waits)
{
	struct waits_accounts *accounts = &session->waits.accounts;
	int ret = halves_map(&session->halves, half->half, nodes);

	half->nodes = nodes->at;
	half->nr_nodes = session->halves.nr_nodes[half->half];
	if (ret || !session->options.waits)
		return ret;
	ret = halves_map_waits(&session->halves, half->half, waits, ret_waits);
	half->waits = *ret_waits;
	return ret ?: GROW(accounts->list, accounts->capacity, accounts->nr + half->nr_roots);
}

/* Moves the ticks and waits of a half to the store. If it fails, they stay in the half. */
static int move_half(struct session *session, uint32_t half, struct error *err)
{
	struct mapped_array nodes = { 0 }, waits = { 0 };
	struct closed_half closed = { .half = half,
				      .texts = session->texts.list,
				      .nr_texts = session->texts.nr,
				      .carries = &session->carries };
	cleanup_free struct kernel_root *roots = NULL;
	struct node_waits *of_nodes = NULL;
	int ret = read_roots(session, half, &roots, &closed.nr_roots);

	closed.roots = roots;
	ret = ret ?: map_half(session, &closed, &nodes, &waits, &of_nodes);
	ret = ret ?: store_add(session->store, &closed);
	if (!ret) {
		session->swaps++;
		session_add_accounts(session, &closed);
		session_age_texts(session, nodes.at, closed.nr_nodes);
		empty_roots(session, half, roots, closed.nr_roots);
		empty_half(session, half, &nodes);
		if (of_nodes)
			memset(of_nodes, 0, closed.nr_nodes * sizeof(*of_nodes));
	}
	mapped_array_close(&nodes);
	mapped_array_close(&waits);
	return ret ? error_errno(err, ret, "reading the counters") : 0;
}

/* --- the session's own table ------------------------------------------------------------------ */

static bool splits_are_short(const struct session *session)
{
	return splits_used(session) >= first_splits_low(session);
}

/* Frees the map entries of processes that have ended. Their CPU time is kept in user space. */
static void move_ended_runtime(struct session *session)
{
	const struct runtime_map map = session_runtime_map(session);
	struct error ignored;

	if (!session_settle_runtime(session, &ignored) &&
	    !runtime_read(&session->runtime, map.fd, &ignored))
		runtime_move_ended(&session->runtime, &map);
	session_mark_splits(session);
}

static uint64_t sum_of(void *ctx, uint32_t target, uint64_t split)
{
	const struct session *session = ctx;

	return runtime_sum_of(&session->runtime, target, split);
}

/* Ticks without a split never end. */
static bool has_ended(void *ctx, uint32_t target, uint64_t split)
{
	const struct session *session = ctx;

	(void)target;
	return split && (split_pid(split) < 0 ||
			 runtime_has_ended(&session->runtime, session->nr_targets, split));
}

/* The session's own table, with the CPU time of processes and cgroups. */
static uint64_t own_bytes(const struct session *session)
{
	return store_bytes(session->store) + session_accounts_bytes(session) +
	       session->runtime.nr * sizeof(*session->runtime.list);
}

static bool splits_can_end(const struct session *session)
{
	return session->options.split == SPLIT_PROCESS || session->options.split == SPLIT_THREAD;
}

bool session_refuses_splits(const struct session *session)
{
	return splits_can_end(session) && splits_used(session) >= splits_lent(session->nr_splits);
}

/*
 * If the table is over its limit, adds up by name the processes that had ended before the swap:
 * none of their ticks is in the other half. Then memory depends on hot text, and not on the number
 * of processes. If that is not enough, places lose detail.
 */
static void limit_store(struct session *session)
{
	const uint64_t limit = session->store_limit;
	uint64_t bytes;

	if (own_bytes(session) <= limit)
		return;
	if (splits_can_end(session)) {
		runtime_find_sums(&session->runtime);
		if (!store_sum_splits(session->store, sum_of, session)) {
			session_sum_accounts(session, sum_of);
			session->added_up += runtime_add_up(&session->runtime);
		}
	}
	session_limit_waits(session, limit / 2);
	bytes = own_bytes(session) - store_bytes(session->store) +
		store_waits_bytes(session->store);
	if (own_bytes(session) > limit)
		store_fold(session->store, bytes < limit ? (limit - bytes) / 8 * FOLD_EIGHTHS : 0,
			   has_ended, session);
}

/* --- the swap --------------------------------------------------------------------------------- */

int session_swap(struct session *session, struct error *err)
{
	const uint64_t filled_ns = monotonic_ns() - session->halves.opened_ns;
	const uint32_t half = halves_in_use(&session->halves);
	const bool was_full = halves_need_room(&session->halves);
	int ret = session_cut_waits(session, err);

	if (ret)
		return ret;
	halves_flip(&session->halves);
	/* After this no program uses the half, and each text in it was announced. */
	ret = grace_period_wait(&session->grace);
	if (ret)
		return error_errno(err, ret, "waiting for the programs");
	ret = session_move_waits(session, err);
	if (!ret)
		ret = session_consume_records(session, err);
	session->is_full = false;
	session->halves.state->room_requested = 0;
	if (!ret && session_read_texts(session))
		ret = error_no_memory(err, "counters");
	if (!ret)
		ret = carries_read(&session->carries, bpf_map__fd(session->skel->maps.carries),
				   err);
	if (!ret)
		ret = move_half(session, half, err);
	if (ret)
		return ret;
	if (was_full)
		halves_grow(&session->halves, filled_ns);
	limit_store(session);
	return 0;
}

/* The next profile reports an error. */
void session_swap_between_takes(struct session *session)
{
	struct error ignored;

	if (session_swap(session, &ignored))
		return;
	/*
	 * The next swap can add up those that have ended. session_take() does not move them, because
	 * then the last ticks of some would come after their name.
	 */
	if (splits_are_short(session) ||
	    (splits_can_end(session) && own_bytes(session) > session->store_limit / 4 * 3))
		move_ended_runtime(session);
}

void session_poll_swap(struct session *session)
{
	if (!session->times.stop_ns && session->is_full)
		session_swap_between_takes(session);
}

uint64_t session_bytes(const struct session *session)
{
	return halves_bytes(&session->halves) + own_bytes(session) +
	       (session->options.callers ? callers_rules_bytes(session->callers.rules) : 0);
}
