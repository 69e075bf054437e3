// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Closed halves of the kernel's table are added up, and become histograms. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/jit_text.h"
#include "test_store_fixture.h"

TestSuite(store, .init = store_begin, .fini = store_end);

#define MINE split_of(7)
#define KERNEL(address) site_at(TEXT_KERNEL, address)

Test(store, a_tick_is_at_its_place)
{
	put_place(put_root(1, MINE, END_FLAT), site_at(TEXT_FILE, 0x40), 3);
	put_place(put_root(1, MINE, END_FLAT), site_at(TEXT_FILE, 0x43), 1);
	put_place(put_root(2, MINE, END_FLAT), site_at(TEXT_FILE, 0x43), 5);
	put_place(put_root(2, MINE, END_FLAT), site_at(TEXT_FILE + 1, 0x43), 6);
	name_split(MINE, "me", SPACE_ANNOUNCED);
	add_half();
	fill_profile(false);
	cr_assert_eq(fixture.profile->nr_histograms, 3);
	cr_expect_eq(fixture.profile->nr_objects, 2);
	cr_expect_str_eq(fixture.profile->histograms[0].process, "me");
	cr_expect_eq(bin_at(1, 7, "/0", 0x40, 1), 3);
	cr_expect_eq(bin_at(1, 7, "/0", 0x43, 1), 1);
	cr_expect_eq(bin_at(2, 7, "/0", 0x43, 1), 5);
	cr_expect_eq(bin_at(2, 7, "/1", 0x43, 1), 6);
	cr_expect_eq(fixture.tallies[1].binned, 4);
	cr_expect_eq(fixture.tallies[2].binned, 11);
	cr_expect_eq(fixture.tallies[1].unknown + fixture.tallies[1].coarse, 0);
	cr_expect_eq(fixture.names.split_ids[0], MINE);
	cr_expect_eq(fixture.names.nr_nameless, 0);
	cr_expect_null(fixture.profile->callers);
}

Test(store, halves_are_added_up)
{
	uint32_t main;

	put_place(put_root(0, MINE, END_FLAT), site_at(TEXT_FILE, 0x40), 3);
	add_half();
	main = put_place(put_root(0, MINE, END_COMPLETE), site_at(TEXT_FILE, 0x10), 0);
	put_place(main, site_at(TEXT_FILE, 0x40), 4);
	put_place(put_root(0, MINE, END_FLAT), site_at(TEXT_FILE, 0x40), 5);
	add_half();
	add_half();
	put_place(put_root(0, MINE, END_FLAT), site_at(TEXT_FILE, 0x40), UINT32_MAX);
	add_half();
	fill_profile(false);
	cr_expect_eq(fixture.profile->nr_histograms, 1);
	cr_expect_eq(bin_at(0, 7, "/0", 0x40, 1), 12 + (uint64_t)UINT32_MAX);
	store_clear(fixture.store);
	cr_expect_eq(store_bytes(fixture.store), 0);
	fill_profile(true);
	cr_expect_eq(fixture.profile->nr_histograms, 0);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 0);
}

/* A wrap counts once, in the half that it happened in, whatever is at the same index of the other. */
Test(store, wraps_are_added_up)
{
	uint32_t node = put_place(put_root(0, 0, END_FLAT), site_at(TEXT_FILE, 0x40), 1);

	put_wraps(node, 2);
	put_wraps(node | NODE_IN_SECOND, 5);
	add_half();
	fixture.nodes[node - 1] = (struct table_node){ .site = site_at(TEXT_FILE, 0x50),
						       .parent = put_root(0, 0, END_FLAT) };
	add_half();
	fixture.nodes[node - 1] = (struct table_node){ .site = site_at(TEXT_FILE, 0x60),
						       .parent = put_root(0, 0, END_FLAT),
						       .count = 9 };
	add_half();
	fill_profile(false);
	cr_expect_eq(bin_at(0, -1, "/0", 0x40, 1), (UINT64_C(2) << 32) + 1);
	cr_expect_eq(bin_at(0, -1, "/0", 0x50, 1), UINT64_C(5) << 32);
	cr_expect_eq(bin_at(0, -1, "/0", 0x60, 1), 9);
}

/* In mode charged a tick in the kernel is at the place from which it was entered. */
Test(store, the_kernel_works_for_a_place)
{
	const uint32_t root = put_root(0, MINE, END_COMPLETE);
	const uint32_t main = put_place(root, site_at(TEXT_FILE, 0x10), 0);
	const uint32_t called = put_place(main, site_at(TEXT_FILE + 1, 0x20), 1);

	put_place(called, SITE_IN_KERNEL, 6);
	put_place(put_root(0, MINE, END_EXEC), SITE_IN_KERNEL, 2);
	put_root_ticks(put_root(0, MINE, END_UNREADABLE), 3);
	put_place(main, site_at(TEXT_FILE + 1, 0x20) | SITE_AFTER_GAP, 4);
	add_half();
	fill_profile(true);
	cr_expect_eq(bin_at(0, 7, "/1", 0x20, 1), 11);
	cr_expect_eq(all_bins(0), 11);
	cr_expect_eq(fixture.tallies[0].binned, 11);
	cr_expect_eq(fixture.tallies[0].outside, 5);
	cr_expect_eq(all_chains(0), 16);
	cr_expect_eq(CHAIN(0, 7, END_EXEC, SITE_IN_KERNEL), 2);
	cr_expect_eq(root_ticks(0, 7, END_UNREADABLE), 3);
}

Test(store, bins_are_as_wide_as_asked)
{
	const uint32_t root = put_root(0, MINE, END_COMPLETE);

	store_free(fixture.store);
	fixture.store = store_new(4);
	put_place(root, site_at(TEXT_FILE, 0x1f), 1);
	put_place(put_place(root, site_at(TEXT_FILE, 0x1), 2), site_at(TEXT_FILE, 0x10), 4);
	add_half();
	fill_profile(true);
	cr_expect_eq(bin_at(0, 7, "/0", 0x10, 16), 5);
	cr_expect_eq(bin_at(0, 7, "/0", 0, 16), 2);
	cr_expect_eq(fixture.profile->histograms[0].offset, 0);
	cr_expect_eq(fixture.profile->histograms[0].size, 0x20);
	cr_expect_eq(fixture.profile->histograms[0].scale, 131072 / 16);
	cr_expect_eq(fixture.tallies[0].coarse, 0);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 0x1f), 1);
}

/* What the programs had no room for, and what nobody knows of. */
Test(store, coarse_and_unknown_places)
{
	const uint32_t root = put_root(0, MINE, END_COMPLETE);

	put_place(root, site_at(TEXT_FILE, 0x30000) | SITE_COARSE, 1);
	put_place(put_place(root, site_at(TEXT_FILE, 0x30001), 2),
		  site_at(TEXT_FILE, 0x30000) | SITE_COARSE, 4);
	put_place(root, site_at(TEXT_OTHER, 0) | SITE_COARSE, 8);
	put_place(root, site_at(TEXT_NONE, 0x123), 16);
	put_place(root, site_at(TEXT_STRANGE, 0x456), 32);
	put_place(put_root(0, 0, END_COMPLETE), site_at(TEXT_FILE, 0x30000), 64);
	add_half();
	fill_profile(true);
	cr_expect_eq(bin_at(0, 7, "/0", 0x30000, 65536), 5);
	cr_expect_eq(bin_at(0, 7, "/0", 0x30001, 1), 2);
	cr_expect_eq(bin_at(0, 7, "[anon]", 0, 65536), 56);
	cr_expect_eq(bin_at(0, -1, "/0", 0x30000, 1), 64);
	cr_expect_eq(fixture.tallies[0].binned, 127);
	cr_expect_eq(fixture.tallies[0].coarse, 61);
	cr_expect_eq(fixture.tallies[0].widest, 61);
	cr_expect_eq(fixture.tallies[0].unknown, 64);
	cr_expect_eq(fixture.tallies[0].no_text, 56);
	cr_expect_eq(root_ticks(0, 7, END_FULL), 61);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 0x30001), 2);
	cr_expect_eq(all_chains(0), 127);
}

Test(store, ticks_that_nobody_wants_are_filtered)
{
	const uint32_t root = put_root(0, 40, END_COMPLETE);

	fixture.names.split = SPLIT_CGROUP;
	name_split(40, "/left", SPACE_FILTERED);
	name_split(41, "/wanted", SPACE_WANTED);
	put_place(put_place(root, site_at(TEXT_FILE, 1), 1), SITE_IN_KERNEL, 2);
	put_place(root, SITE_IN_KERNEL, 4);
	put_root_ticks(root, 8);
	put_place(root, site_at(TEXT_FILE, 0) | SITE_COARSE, 16);
	put_place(put_root(0, 41, END_COMPLETE), site_at(TEXT_FILE, 1), 32);
	put_place(put_root(0, 42, END_COMPLETE), site_at(TEXT_FILE, 1), 64);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.tallies[0].binned, 96);
	cr_expect_eq(fixture.tallies[0].filtered, 19);
	cr_expect_eq(fixture.tallies[0].left_out, 19);
	cr_expect_eq(fixture.tallies[0].outside, 12);
	cr_expect_eq(fixture.tallies[0].coarse, 0);
	cr_expect_eq(all_bins(0), 96);
	cr_expect_eq(all_chains(0), 96 + 12);
	cr_expect_eq(fixture.profile->nr_histograms, 2);
	cr_expect_eq(fixture.names.nr_nameless, 1);
}

/* A file that could not be pinned has two inodes in memory, one after the other; or has another number. */
Test(store, texts_of_one_object_are_joined)
{
	struct space other = fixture.texts[TEXT_FILE].space;

	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_FILE, 0x40), 1);
	add_half();
	other.a++;
	fixture.texts[TEXT_FILE].space = other;
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_FILE, 0x40), 2);
	add_half();
	fixture.texts[TEXT_FILE + 1] = fixture.texts[TEXT_FILE];
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_FILE + 1, 0x40), 4);
	add_half();
	fixture.names.split = SPLIT_NONE;
	fill_profile(false);
	cr_expect_eq(fixture.profile->nr_histograms, 1);
	cr_expect_eq(fixture.profile->nr_objects, 1);
	cr_expect_eq(bin_at(0, -1, "/0", 0x40, 1), 7);
	cr_expect_eq(fixture.names.nr_nameless, 0);
	cr_expect_eq(fixture.tallies[0].unknown, 0);
	cr_expect_str_eq(fixture.spaces.list[fixture.names.sources[0]].path, "/0");
	cr_expect(store_names_text(fixture.store, &other));
	cr_expect_not(store_names_text(fixture.store, &fixture.texts[TEXT_FILE + 2].space));
}

static struct space_info *info_of(uint32_t text)
{
	spaces_sort(&fixture.spaces);
	return fixture.spaces.list +
	       (spaces_find(&fixture.spaces, &fixture.texts[text].space) - fixture.spaces.list);
}

/* Code that other code has replaced is in a place of its own, in histograms and in chains. */
Test(store, former_code_is_elsewhere)
{
	struct space_info *info = info_of(TEXT_JIT);
	const struct jit_code code = { .start = 0x5000, .size = 0x10 };
	const struct profile_site *sites;
	size_t room = 0;
	uint32_t main;

	info->jit = jit_text_new();
	cr_assert(info->jit);
	main = put_place(put_root(0, MINE, END_COMPLETE), site_at(TEXT_JIT, 0x9000), 0);
	put_place(main, site_at(TEXT_JIT, 0x5004), 1);
	put_place(main, site_at(TEXT_JIT, 0x5010), 2);
	add_half();
	cr_assert_eq(jit_text_add_former(info->jit, &code, strdup("old"), false), 0);
	fixture.texts[TEXT_JIT].version = ++info->jit->version;
	main = put_place(put_root(0, MINE, END_COMPLETE), site_at(TEXT_JIT, 0x9000), 0);
	put_place(main, site_at(TEXT_JIT, 0x5004), 4);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->nr_histograms, 2);
	cr_expect_eq(fixture.profile->nr_objects, 1);
	cr_expect_eq(bin_at(0, 7, "[node:77]", 0x5004, 1), 4);
	cr_expect_eq(bin_at(0, 7, "[node:77]", 0x5010, 1), 2);
	cr_expect_eq(bin_at(0, 7, "[node:77]", JIT_PLACES + 0x5004, 1), 1);
	cr_assert_eq(fixture.profile->callers->nr_sites, 4);
	sites = fixture.profile->callers->sites;
	cr_expect_eq(sites[0].offset, 0x5004);
	cr_expect_eq(sites[3].offset, JIT_PLACES + 0x5004);
	cr_expect_eq(store_first_version(fixture.store, &info->space), 0);
	cr_expect(store_names_text(fixture.store, &info->space));
	store_clear(fixture.store);
	cr_expect_eq(store_first_version(fixture.store, &info->space), UINT32_MAX);
	cr_expect_not(store_names_text(fixture.store, &info->space));
	jit_text_free(info->jit, &room);
}

/* What a process made has its name and pid, also if nothing is told apart. */
Test(store, anonymous_text_is_of_a_process)
{
	fixture.names.split = SPLIT_NONE;
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_JIT, 0x5004), 1);
	fixture.texts[TEXT_FILE].space = (struct space){ .kind = SPACE_ANON, .a = 6, .b = 88 };
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_FILE, 0x5004), 2);
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_VDSO, 0x10), 4);
	put_place(put_root(0, 0, END_FLAT), site_at(TEXT_VDSO32, 0x10), 8);
	add_half();
	fill_profile(false);
	cr_expect_eq(bin_at(0, 77, "[node:77]", 0x5004, 1), 1);
	cr_expect_eq(bin_at(0, 88, "[anon:88]", 0x5004, 1), 2);
	cr_expect_eq(bin_at(0, -1, "[vdso]", 0x10, 1), 4);
	cr_expect_eq(bin_at(0, -1, "[vdso32]", 0x10, 1), 8);
	cr_expect_eq(fixture.names.nr_nameless, 1);
}

static void parse_modules(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct error err;

	cr_assert(file);
	cr_assert_eq(kernel_modules_parse(file, &fixture.modules, &err), 0);
	fclose(file);
}

/* Two adjacent modules, with sizes that reach beyond the next one's start, as since 6.4. */
Test(store, modules_have_objects)
{
	const uint32_t root = put_root(0, MINE, END_COMPLETE);
	uint32_t above;

	parse_modules("overlay 196608 1 - Live 0xffffffffc0402000\n"
		      "virtiofs 65536 3 fuse,other, Live 0xffffffffc0400000 (OE)\n");
	above = put_place(root, KERNEL(0xffffffff81000000), 1);
	above = put_place(above, KERNEL(0xffffffffc0400000), 2);
	put_place(above, KERNEL(0xffffffffc0401fff), 4);
	put_place(above, KERNEL(0xffffffffc0402000), 8);
	put_place(above, KERNEL(0xffffffffd0000000), 16);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->nr_objects, 3);
	cr_expect_eq(fixture.profile->nr_histograms, 3);
	cr_expect_eq(bin_at(0, 7, "[kernel]", 0xffffffff81000000, 1), 1);
	cr_expect_eq(bin_at(0, 7, "[virtiofs]", 0xffffffffc0400000, 1), 2);
	cr_expect_eq(bin_at(0, 7, "[virtiofs]", 0xffffffffc0401fff, 1), 4);
	cr_expect_eq(bin_at(0, 7, "[overlay]", 0xffffffffc0402000, 1), 8);
	cr_expect_eq(bin_at(0, 7, "[kernel]", 0xffffffffd0000000, 1), 16);
	cr_expect_eq(fixture.profile->objects[1].kind, PROFILE_KERNEL);
	cr_expect_eq(fixture.names.sources[1], NO_SOURCE);
	cr_expect_eq(fixture.profile->callers->nr_sites, 5);
	cr_expect_eq(fixture.names.nr_nameless, 0);
}

struct uses {
	uint64_t text;
	uint64_t nothing;
};

static void use(void *ctx, const struct space *space, uint32_t target, uint64_t split)
{
	struct uses *uses = ctx;

	cr_expect_eq(target, 3);
	if (space->kind)
		uses->text |= UINT64_C(1) << (space->b - 100) << 32 * (split == MINE);
	else
		uses->nothing |= split;
}

static void see(void *ctx, uint64_t offset)
{
	*(uint64_t *)ctx += offset;
}

Test(store, what_it_names)
{
	struct uses uses = { 0 };
	uint64_t sum = 0;
	uint32_t main;

	main = put_place(put_root(3, MINE, END_COMPLETE), site_at(TEXT_FILE, 0x10), 0);
	put_place(put_place(main, site_at(TEXT_FILE + 1, 0x20), 1), SITE_IN_KERNEL, 1);
	put_place(put_root(3, 0, END_FLAT), site_at(TEXT_FILE + 1, 0x30), 1);
	put_place(put_root(3, 0, END_FLAT), site_at(TEXT_FILE + 2, 0x30), 0);
	put_root_ticks(put_root(3, 5, END_LATE), 1);
	add_half();
	cr_assert_eq(store_each_use(fixture.store, use, &uses), 0);
	cr_expect_eq(uses.text, UINT64_C(3) << 32 | 2);
	cr_expect_eq(uses.nothing, 5);
	store_each_site(fixture.store, &fixture.texts[TEXT_FILE + 1], see, &sum);
	cr_expect_eq(sum, 0x50);
	store_each_site(fixture.store, &fixture.texts[TEXT_FILE + 3], see, &sum);
	cr_expect_eq(sum, 0x50);
}
