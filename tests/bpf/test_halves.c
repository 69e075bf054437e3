// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The two halves of the kernel's table, without the programs. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/halves.h"
#include "need.h"

TestSuite(halves, .init = need_root);

enum { MIB = 1 << 20, MIB_NODES = MIB / sizeof(struct table_node) };

static struct table_state state;

static int make(uint32_t flags, uint32_t nr)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "half", sizeof(uint32_t),
				sizeof(struct node_line), nr, &opts);

	cr_assert_geq(fd, 0);
	return fd;
}

/* What load makes. */
static struct halves open_halves(uint64_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct halves halves;

	memset(&state, 0, sizeof(state));
	halves_init(&halves);
	halves_plan(&halves, bytes, 100);
	halves.base_fd = make(BPF_F_MMAPABLE, 2 * halves.base / NODES_OF_LINE);
	opts.inner_map_fd = make(BPF_F_MMAPABLE | BPF_F_INNER_MAP, 1);
	halves.outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "halves", sizeof(uint32_t),
					 sizeof(uint32_t), 2, &opts);
	cr_assert_geq(halves.outer_fd, 0);
	close((int)opts.inner_map_fd);
	halves.state = &state;
	halves_open(&halves);
	return halves;
}

static void close_halves(struct halves *halves)
{
	halves_free(halves);
	close(halves->base_fd);
	close(halves->outer_fd);
}

static void put(const struct halves *halves, uint32_t half, uint32_t index, uint64_t site)
{
	struct mapped_array map;

	cr_assert_eq(halves_map(halves, half, &map), 0);
	cr_assert_eq(map.size, halves->nr_nodes[half] * sizeof(struct table_node));
	((struct table_node *)map.at)[index].site = site;
	mapped_array_close(&map);
}

static uint64_t site_at(int fd, uint32_t index)
{
	const uint32_t line = index / NODES_OF_LINE;
	struct node_line nodes;

	cr_assert_eq(bpf_map_lookup_elem(fd, &line, &nodes), 0);
	return nodes.node[index % NODES_OF_LINE].site;
}

Test(halves, planned)
{
	struct halves halves;

	halves_init(&halves);
	halves_plan(&halves, 8 * MIB, 1994);
	cr_assert_eq(halves.base, MIB_NODES, "small at first");
	cr_assert_eq(halves.most, 8 * MIB_NODES);
	cr_assert_eq(halves_most(&halves), 18 * MIB);
	halves_plan(&halves, 8 * MIB, 100000);
	cr_assert_eq(halves.base, 4 * MIB_NODES, "for the ticks of two seconds");
	halves_plan(&halves, 8 * MIB, 1e9);
	cr_assert_eq(halves.base, 8 * MIB_NODES);
	cr_assert_eq(halves_most(&halves), 16 * MIB);
	halves_plan(&halves, MIB / 8 + 1, 1e9);
	cr_assert_eq(halves.base, MIB_NODES / 8);
}

Test(halves, parts_of_one_map)
{
	struct halves halves = open_halves(MIB);

	cr_assert_eq(halves_bytes(&halves), 2 * MIB);
	cr_assert_eq(state.node_mask[0], MIB_NODES - 1);
	cr_assert_eq(state.node_mask[1], MIB_NODES - 1);
	put(&halves, 0, 5, 50);
	put(&halves, 1, 7, 70);
	cr_assert_eq(site_at(halves.base_fd, 5), 50);
	cr_assert_eq(site_at(halves.base_fd, MIB_NODES + 7), 70);
	close_halves(&halves);
}

Test(halves, in_turn)
{
	struct halves halves = open_halves(MIB);

	cr_assert_eq(halves_in_use(&halves), 0);
	halves_flip(&halves);
	cr_assert_eq(halves_in_use(&halves), 1);
	cr_assert_eq(state.generation, 1);
	cr_assert_eq(state.epoch, 1);
	halves_flip(&halves);
	cr_assert_eq(halves_in_use(&halves), 0);
	close_halves(&halves);
}

/* The one that is not in use gets a map of its own if the other one was filled quickly. */
Test(halves, that_grow)
{
	struct halves halves = open_halves(6 * MIB);

	cr_assert_eq(halves.most, 4 * MIB_NODES);
	halves_grow(&halves, 3 * SECOND_NS);
	cr_assert_eq(halves.nr_nodes[1], MIB_NODES, "that was not quick");
	halves_grow(&halves, SECOND_NS);
	cr_assert_eq(halves.nr_nodes[0], MIB_NODES);
	cr_assert_eq(halves.nr_nodes[1], 4 * MIB_NODES);
	cr_assert_eq(state.node_mask[1], 4 * MIB_NODES - 1);
	cr_assert_eq(halves_bytes(&halves), 6 * MIB);
	put(&halves, 1, 3 * MIB_NODES, 33);
	cr_assert_eq(site_at(halves.fds[1], 3 * MIB_NODES), 33);
	halves_grow(&halves, SECOND_NS);
	cr_assert_eq(halves.nr_nodes[1], 4 * MIB_NODES, "there is no more");
	halves_flip(&halves);
	halves_grow(&halves, SECOND_NS);
	cr_assert_eq(halves.nr_nodes[0], 4 * MIB_NODES);
	cr_assert_eq(halves_bytes(&halves), halves_most(&halves));
	close_halves(&halves);
}
