// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel's table of ticks has two halves. One is read and cleared while programs count in the
 * other:
 *
 *     1. halves_flip(): new ticks go to the other half.
 *     2. A grace period: programs that began before the flip end.
 *     3. The closed half's ticks move to the session's own table, and it is cleared (session_swap.c).
 *     4. halves_grow(): if the half filled up quickly, the empty one becomes larger.
 *
 * A half is an open-addressing hash with a power of two of nodes. The kernel allocates the whole of
 * it, and charges it to our cgroup. Therefore both halves are small at first. They are in one map
 * that is made at load; a larger half is a map of its own.
 */
#include "host/engine/halves.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

/* A half begins with 1 MiB, or more if the first seconds may need it. */
enum { FIRST_NODES = (1 << 20) / sizeof(struct table_node), FIRST_SECONDS = 2 };

/* No half has fewer nodes. */
enum { NODES_MIN = 1024 };

/* If a half filled up that quickly, the other one becomes GROWTH times larger. */
enum { GROWTH = 4 };
#define QUICK_NS (2 * SECOND_NS)

static uint32_t nodes_in(uint64_t bytes)
{
	const size_t of_page = sysconf(_SC_PAGESIZE) / sizeof(struct table_node);
	uint32_t nodes = NODES_MIN;

	/* The second half in the map begins on a page. */
	while (nodes < of_page)
		nodes *= 2;
	while (2ULL * nodes * sizeof(struct table_node) <= bytes && nodes < NODE_IN_SECOND)
		nodes *= 2;
	return nodes;
}

void halves_init(struct halves *halves)
{
	*halves = (struct halves){ .fds = { -1, -1 },
				   .waits_fds = { -1, -1 },
				   .waits_base_fd = -1,
				   .waits_outer_fd = -1 };
}

void halves_plan(struct halves *halves, uint64_t bytes, double per_second)
{
	uint32_t nodes = FIRST_NODES;

	halves->most = nodes_in(bytes);
	while (nodes < halves->most && nodes < per_second * FIRST_SECONDS)
		nodes *= 2;
	halves->base = nodes < halves->most ? nodes : halves->most;
}

static size_t bytes_of(uint32_t nr_nodes)
{
	return nr_nodes * sizeof(struct table_node);
}

static size_t waits_bytes(const struct halves *halves, uint32_t nr_nodes)
{
	return halves->waits_base_fd < 0 ? 0 : nr_nodes * sizeof(struct node_waits);
}

/* The map that is made at load stays. */
uint64_t halves_most(const struct halves *halves)
{
	return 2 * bytes_of(halves->most) +
	       (halves->most > halves->base ? 2 * bytes_of(halves->base) : 0);
}

void halves_open(struct halves *halves)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		halves->nr_nodes[i] = halves->base;
		halves->state->node_mask[i] = halves->base - 1;
	}
	halves->opened_ns = monotonic_ns();
}

uint32_t halves_in_use(const struct halves *halves)
{
	return halves->state->generation & 1;
}

bool halves_need_room(const struct halves *halves)
{
	const struct table_state *state = halves->state;
	const uint32_t half = halves_in_use(halves);

	return __atomic_load_n(&state->nodes_used[half], __ATOMIC_RELAXED) >
	       state->node_mask[half] / SWAP_PART;
}

void halves_flip(struct halves *halves)
{
	struct table_state *state = halves->state;

	__atomic_store_n(&state->generation, state->generation + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&state->epoch, 1, __ATOMIC_RELEASE);
	halves->opened_ns = monotonic_ns();
}

/*
 * Maps a half that is alone in the map fd, or else is in the map at load. Elements of the second
 * half there need not begin on a page. Returns the first one; NULL and errno: it failed.
 */
static void *map_half(const struct halves *halves, uint32_t half, int fd, size_t element,
		      struct mapped_array *result)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t first = halves->fds[half] >= 0 ? 0 : half * element * halves->base;

	result->size = first % page + halves->nr_nodes[half] * element;
	result->at = mmap(NULL, result->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  (off_t)(first / page * page));
	if (result->at == MAP_FAILED)
		result->at = NULL;
	return result->at ? (char *)result->at + first % page : NULL;
}

int halves_map(const struct halves *halves, uint32_t half, struct mapped_array *result)
{
	const int fd = halves->fds[half] >= 0 ? halves->fds[half] : halves->base_fd;

	return map_half(halves, half, fd, sizeof(struct table_node), result) ? 0 : -errno;
}

int halves_map_waits(const struct halves *halves, uint32_t half, struct mapped_array *result,
		     struct node_waits **waits)
{
	const int fd = halves->fds[half] >= 0 ? halves->waits_fds[half] : halves->waits_base_fd;

	*waits = map_half(halves, half, fd, sizeof(struct node_waits), result);
	return *waits ? 0 : -errno;
}

/* Adds a larger half to a map of halves, in place of the one in *fd. False: there is no memory. */
static bool add_half(int outer_fd, uint32_t half, size_t element, uint32_t nr, int *fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	const int made = bpf_map_create(BPF_MAP_TYPE_ARRAY, "profil_half", sizeof(uint32_t),
					(uint32_t)element, nr, &opts);

	if (made < 0)
		return false;
	if (bpf_map_update_elem(outer_fd, &half, &made, BPF_ANY)) {
		close(made);
		return false;
	}
	close_fd(fd);
	*fd = made;
	return true;
}

void halves_grow(struct halves *halves, uint64_t filled_ns)
{
	const uint32_t half = !halves_in_use(halves), now = halves->nr_nodes[half];
	const uint32_t wanted = now < halves->most / GROWTH ? now * GROWTH : halves->most;

	if (filled_ns > QUICK_NS || wanted <= now)
		return;
	/* Waits of more nodes than there are do no harm. */
	if ((halves->waits_outer_fd >= 0 &&
	     !add_half(halves->waits_outer_fd, half, sizeof(struct node_waits), wanted,
		       &halves->waits_fds[half])) ||
	    !add_half(halves->outer_fd, half, sizeof(struct node_line), wanted / NODES_OF_LINE,
		      &halves->fds[half]))
		return;
	halves->nr_nodes[half] = wanted;
	halves->state->node_mask[half] = wanted - 1;
}

uint64_t halves_bytes(const struct halves *halves)
{
	uint64_t bytes = 2 * (bytes_of(halves->base) + waits_bytes(halves, halves->base));
	uint32_t i;

	for (i = 0; i < 2; i++)
		if (halves->fds[i] >= 0)
			bytes += bytes_of(halves->nr_nodes[i]) +
				 waits_bytes(halves, halves->nr_nodes[i]);
	return bytes;
}

void halves_free(struct halves *halves)
{
	close_fd(&halves->fds[0]);
	close_fd(&halves->fds[1]);
	close_fd(&halves->waits_fds[0]);
	close_fd(&halves->waits_fds[1]);
}
