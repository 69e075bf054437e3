// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Inclusive ticks and trees of callers, against each chain counted by itself. */
#include "report/report.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "profile/profile_chains.h"
#include "profile/profile_io.h"
#include "profile/profile_members.h"
#include "profile/profile_weights.h"
#include "report/rows.h"
#include "doc.h"
#include "sample.h"

enum { FUNCTIONS = 6, SITES = 3 * FUNCTIONS, NODES = 120 };

static struct profile *load(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static void expect_report(const struct report_options *options, const char *wanted)
{
	cleanup_profile struct profile *profile = load();
	cleanup_free char *text = NULL;
	struct error err = { 0 };
	const char *table;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	cr_assert_eq(report_write(profile, options, out, &err), 0, "%s", err.text);
	fclose(out);
	table = strstr(text, "\n\n");
	cr_expect_str_eq(options->format == REPORT_TEXT && table ? table + 2 : text, wanted);
}

static struct report_options of_tree(enum report_tree tree, const char *function)
{
	return (struct report_options){ .callers = true,
					.tree = tree,
					.function = function,
					.min = 0.5,
					.target = REPORT_ALL_TARGETS };
}

/* main calls itself no function here: it is in two programs. */
Test(report_callers, functions)
{
	struct report_options options = of_tree(TREE_NONE, NULL);

	expect_report(&options,
		      "  SHARE INCLUSIVE     TICKS   SECONDS  OBJECT     FUNCTION\n"
		      " 40.25%    43.47%       250     0.610  [jit 200]  fib\n"
		      " 27.06%    27.06%       410     0.410  steady     spin\n"
		      " 17.71%    17.71%       110     0.268  [jit 200]  late\n"
		      "  8.50%     8.50%       100     0.129  libc.so.6  write\n"
		      "  4.83%    48.30%        30     0.073  node       node::Start(int, char**)\n"
		      "  0.40%     0.66%         3     0.006  sh         main\n"
		      "  0.26%     0.26%         2     0.004  sh         eval\n"
		      "  0.00%    79.98%         0     0.000  libc.so.6  __libc_start_call_main\n"
		      "  0.00%    31.02%         0     0.000  steady     main\n");
	options.inclusive = true;
	options.limit = 2;
	options.format = REPORT_CSV;
	expect_report(&options,
		      "ticks,percent,inclusive_ticks,inclusive_percent,object,offset,address,size,"
		      "function,seconds\n"
		      "0,0.0000,775,79.9807,/usr/lib/libc.so.6,0x2300,0x2300,128,"
		      "__libc_start_call_main,0.000000000\n"
		      "30,4.8298,300,48.2975,/usr/bin/node,0x1380,0x1380,64,"
		      "\"node::Start(int, char**)\",0.073170732\n");
}

/* What is inclusive comes from all text, whichever has rows. */
Test(report_callers, objects)
{
	const char *const steady[] = { "steady" };
	struct report_options options = of_tree(TREE_NONE, NULL);

	options.by = REPORT_OBJECTS;
	options.format = REPORT_CSV;
	expect_report(&options,
		      "ticks,percent,inclusive_ticks,inclusive_percent,object,kind,"
		      "build_id,seconds\n"
		      "360,57.9570,380,61.1768,[jit 200],jit,,0.878048780\n"
		      "410,27.0627,470,31.0231,/usr/bin/steady,file,00ff12ab,0.410000000\n"
		      "100,8.5004,795,81.3008,/usr/lib/libc.so.6,file,00ff12ac,"
		      "0.128780488\n"
		      "30,4.8298,300,48.2975,/usr/bin/node,file,,0.073170732\n"
		      "5,0.6601,5,0.6601,/usr/bin/sh,file,00ff12ad,0.010000000\n");
	options.objects = steady;
	options.nr_objects = 1;
	expect_report(&options,
		      "ticks,percent,inclusive_ticks,inclusive_percent,object,kind,build_id,"
		      "seconds\n"
		      "410,27.0627,470,31.0231,/usr/bin/steady,file,00ff12ab,0.410000000\n");
	options.comm = "node";
	expect_report(&options, "ticks,percent,inclusive_ticks,inclusive_percent,object,kind,"
				"build_id,seconds\n");
}

Test(report_callers, tree)
{
	const char *const jit[] = { "[jit 200]" };
	struct report_options options = of_tree(TREE_ALL, NULL);

	text_draw_ascii();
	expect_report(&options,
		      "INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		      "   79.98%       775   0.00%  + __libc_start_call_main (libc.so.6)\n"
		      "   48.30%       300   4.83%  | + node::Start(int, char**) (node)\n"
		      "   43.47%       270  40.25%  | | fib x 3 ([jit 200])\n"
		      "    3.22%        20   3.22%  | | write (libc.so.6)\n"
		      "   31.02%       470   0.00%  | + main (steady)\n"
		      "   27.06%       410  26.40%  | | + spin\n"
		      "    0.66%        10   0.66%  | | | [kernel]\n"
		      "    3.96%        60   3.30%  | | \\ write (libc.so.6)\n"
		      "    0.66%        10   0.66%  | |   [kernel]\n"
		      "    0.66%         5   0.40%  | \\ main (sh)\n"
		      "   17.71%       110   0.00%  + [cut: no rule]\n"
		      "   17.71%       110  17.71%  | late ([jit 200])\n"
		      "    1.32%        20   0.00%  \\ [cut: late]\n"
		      "    1.32%        20   1.32%    write (libc.so.6)\n"
		      "\n1 branch with 2 ticks left out; --min 0 --limit 0 shows all.\n");
	options.objects = jit;
	options.nr_objects = 1;
	options.min = 20;
	expect_report(&options,
		      "INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		      "   43.47%       270  40.25%  fib x 3 ([jit 200])\n"
		      "\n1 branch with 110 ticks left out; --min 0 --limit 0 shows all.\n");
}

/* The recursive fib has its outermost call's callers, and its innermost call's callees. */
Test(report_callers, of_a_function)
{
	const char *const sh[] = { "sh" };
	struct report_options options = of_tree(TREE_CALLERS, "fib");

	text_draw_ascii();
	expect_report(
		&options,
		"INCLUSIVE     TICKS  DIRECT CALLERS AND CALLEES (100% is 43.47% of the profile)\n"
		"  100.00%       270  called by  node::Start(int, char**) (node)\n"
		"  100.00%       270             fib x 3\n"
		"   92.59%       250  calls      [self]\n"
		"    7.41%        20             write (libc.so.6)\n"
		"\n"
		"INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		"  100.00%       270  92.59%  fib x 3 ([jit 200])\n"
		"  100.00%       270  92.59%  node::Start(int, char**) (node)\n"
		"  100.00%       270  92.59%  __libc_start_call_main (libc.so.6)\n");
	options = of_tree(TREE_CALLEES, "f?b");
	expect_report(&options,
		      "INCLUSIVE     TICKS   SHARE  FUNCTION (100% is 43.47% of the profile)\n"
		      "  100.00%       270  92.59%  fib x 3 ([jit 200])\n"
		      "   92.59%       250  92.59%  + [self]\n"
		      "    7.41%        20   7.41%  \\ write (libc.so.6)\n");
	options = of_tree(TREE_CALLERS, "write");
	options.format = REPORT_CSV;
	expect_report(
		&options,
		"ticks,percent,inclusive_ticks,inclusive_percent,depth,recursion,relation,"
		"object,offset,address,size,function,seconds\n"
		",,60,46.5909,,,caller,/usr/bin/steady,0x1060,0x401060,128,main,\n"
		",,20,37.8788,,,caller,[jit 200],0x7f544a44c400,0x7f544a44c400,512,fib,\n"
		",,20,15.5303,,,caller,,,,,[cut: late],\n"
		",,90,92.2348,,,callee,,,,,[self],\n"
		",,10,7.7652,,,callee,,,,,[kernel],\n"
		"100,100.0000,100,100.0000,0,1,tree,/usr/lib/libc.so.6,0x4000,0x4000,256,write,"
		"0.128780488\n"
		"60,46.5909,60,46.5909,1,1,tree,/usr/bin/steady,0x1060,0x401060,128,main,"
		"0.060000000\n"
		"60,46.5909,60,46.5909,2,1,tree,/usr/lib/libc.so.6,0x2300,0x2300,128,"
		"__libc_start_call_main,0.060000000\n"
		"20,37.8788,20,37.8788,1,2,tree,[jit 200],0x7f544a44c400,0x7f544a44c400,512,fib,"
		"0.048780488\n"
		"20,37.8788,20,37.8788,2,1,tree,/usr/bin/node,0x1380,0x1380,64,"
		"\"node::Start(int, char**)\",0.048780488\n"
		"20,37.8788,20,37.8788,3,1,tree,/usr/lib/libc.so.6,0x2300,0x2300,128,"
		"__libc_start_call_main,0.048780488\n"
		"20,15.5303,20,15.5303,1,1,tree,,,,,[cut: late],0.020000000\n");
	options = of_tree(TREE_CALLEES, "main");
	options.min = 0;
	options.objects = sh;
	options.nr_objects = 1;
	expect_report(&options,
		      "INCLUSIVE     TICKS   SHARE  FUNCTION (100% is 0.66% of the profile)\n"
		      "  100.00%         5  60.00%  main (sh)\n"
		      "   60.00%         3  60.00%  + [self]\n"
		      "   40.00%         2  40.00%  \\ eval\n");
}

static uint64_t sum_of(struct json_object *doc, const char *name)
{
	struct json_object *list = doc_get(doc, name);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		sum += doc_number(json_object_array_get_idx(list, i), "inclusive_ticks");
	return sum;
}

/* The direct callers and the callees add up to the function. */
Test(report_callers, json_of_a_function)
{
	cleanup_profile struct profile *profile = load();
	struct report_options options = of_tree(TREE_CALLERS, "write");
	cleanup_free char *text = NULL;
	struct json_object *doc;
	struct error err = { 0 };
	size_t size;
	FILE *out = open_memstream(&text, &size);

	options.format = REPORT_JSON;
	cr_assert(out);
	cr_assert_eq(report_write(profile, &options, out, &err), 0, "%s", err.text);
	fclose(out);
	doc = json_tokener_parse(text);
	cr_assert(doc, "%s", text);
	cr_expect_eq(json_object_array_length(doc_get(doc, "direct_callers")), 3);
	cr_expect_eq(sum_of(doc, "direct_callers"), 100);
	cr_expect_eq(sum_of(doc, "direct_callees"), 100);
	json_object_put(doc);
}

/* What is small, deep or beyond the hottest rows is counted below a tree, and has one row in the table. */
Test(report_callers, depth_and_limit)
{
	struct report_options options = of_tree(TREE_ALL, NULL);

	text_draw_ascii();
	options.limit = 3;
	expect_report(&options,
		      "INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		      "   79.98%       775   0.00%  __libc_start_call_main (libc.so.6)\n"
		      "   48.30%       300   4.83%  node::Start(int, char**) (node)\n"
		      "   43.47%       270  40.25%  fib x 3 ([jit 200])\n"
		      "\n5 branches with 625 ticks left out; --min 0 --limit 0 shows all.\n");
	options.limit = 0;
	options.depth = 1;
	expect_report(
		&options,
		"INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		"   79.98%       775   0.00%  + __libc_start_call_main (libc.so.6)\n"
		"   17.71%       110   0.00%  + [cut: no rule]\n"
		"    1.32%        20   0.00%  \\ [cut: late]\n"
		"\n5 branches with 905 ticks left out; --min 0 --limit 0 --depth 0 shows all.\n");
	options = of_tree(TREE_CALLERS, "w*e");
	options.limit = 2;
	expect_report(
		&options,
		"INCLUSIVE     TICKS  DIRECT CALLERS AND CALLEES (100% is 8.50% of the profile)\n"
		"   46.59%        60  called by  main (steady)\n"
		"   37.88%        20             fib ([jit 200])\n"
		"   15.53%        20             1 more\n"
		"  100.00%       100             write\n"
		"   92.23%        90  calls      [self]\n"
		"    7.77%        10             [kernel]\n"
		"\n"
		"INCLUSIVE     TICKS   SHARE  FUNCTION\n"
		"  100.00%       100 100.00%  write (libc.so.6)\n"
		"   46.59%        60  46.59%  main (steady)\n"
		"\n3 branches with 100 ticks left out; --min 0 --limit 0 shows all.\n");
}

/* The functions that options mean, and how many notes say so. */
static void expect_chosen(const struct report_options *options, const struct profile *profile,
			  const char *wanted, const char *note)
{
	cleanup_free char *text = NULL;
	struct report_rows rows;
	struct error err = { 0 };
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(rows_build(profile, options, &rows, &err), 0, "%s", err.text);
	for (i = 0; i < rows.nr; i++)
		if (!rows.rows[i].depth)
			fprintf(out, "%s ", rows.rows[i].name);
	fclose(out);
	cr_expect_str_eq(text, wanted);
	cr_expect_eq(rows.nr_notes, note ? 1 : 0);
	if (note && rows.nr_notes)
		cr_expect_str_eq(rows.notes[0], note);
	rows_free(&rows);
}

static void rename_function(struct profile *profile, const char *from, const char *to)
{
	size_t i;

	for (i = 0; i < profile->nr_functions; i++)
		if (!strcmp(profile->functions[i].name, from)) {
			free(profile->functions[i].name);
			profile->functions[i].name = strdup(to);
		}
}

/* libc's variant has the plain name's callers, callees and rows, unless some function has that name. */
Test(report_callers, variants)
{
	static const enum report_tree trees[] = { TREE_CALLERS, TREE_CALLEES, TREE_NONE };
	cleanup_profile struct profile *profile = load();
	struct report_options options;
	int i;

	rename_function(profile, "eval", "__memmove_evex_unaligned_erms");
	for (i = 0; i < 3; i++) {
		options = of_tree(trees[i], "memcpy");
		expect_chosen(&options, profile, "__memmove_evex_unaligned_erms ",
			      "memcpy: matched __memmove_evex_unaligned_erms of sh");
	}
	rename_function(profile, "__libc_start_call_main", "memcpy");
	for (i = 0; i < 3; i++) {
		options = of_tree(trees[i], "memcpy");
		expect_chosen(&options, profile, "memcpy ", NULL);
	}
}

/* A function's whole name is no pattern, which here would match another function too. */
Test(report_callers, name_that_looks_like_a_pattern)
{
	static const enum report_tree trees[] = { TREE_CALLERS, TREE_CALLEES };
	cleanup_profile struct profile *profile = load();
	struct report_options options;
	int i;

	rename_function(profile, "spin", "main.(*Conn).Read");
	rename_function(profile, "write", "main.(*tlsConn).Read");
	for (i = 0; i < 2; i++) {
		options = of_tree(trees[i], "main.(*Conn).Read");
		expect_chosen(&options, profile, "main.(*Conn).Read ", NULL);
		options = of_tree(trees[i], "main.(?*Conn).Read");
		expect_chosen(&options, profile, "main.(*Conn).Read main.(*tlsConn).Read ", NULL);
	}
}

Test(report_callers, account_and_notes)
{
	cleanup_profile struct profile *profile = load();
	cleanup_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	report_account(profile, out);
	fclose(out);
	cr_expect(strstr(text, "\ncallers: complete 51.6 %, guessed 32.6 %, cut 15.8 % "
			       "(late 20, no rule 110, full 15)\n"));
}

Test(report_callers, account_without_ticks)
{
	cleanup_profile struct profile *profile = load();
	cleanup_free char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	for (i = 0; i < profile->callers->nr_roots; i++)
		profile->callers->roots[i].ticks = 0;
	profile->callers->nr_nodes = 0;
	report_account(profile, out);
	fclose(out);
	cr_expect_not(strstr(text, "\ncallers: "));
}

static void expect_refused(const struct profile *profile, const struct report_options *options,
			   const char *text, const char *hint)
{
	struct error err = { 0 };
	FILE *null = fopen("/dev/null", "w");

	cr_assert_eq(report_write(profile, options, null, &err), -EINVAL);
	cr_expect_str_eq(err.text, text);
	cr_expect_str_eq(err.hint, hint);
	fclose(null);
}

Test(report_callers, refused)
{
	cleanup_profile struct profile *profile = load(), *without = sample_profile();
	struct report_options options = of_tree(TREE_CALLEES, "nothing");

	expect_refused(profile, &options,
		       "--callees 'nothing': no function of that name is in a chain",
		       "bpfprofil report --inclusive --limit 0; --inline for inlined functions");
	options = of_tree(TREE_CALLERS, "amin");
	expect_refused(
		profile, &options,
		"--callers 'amin': no function of that name is in a chain; much like it: main",
		"bpfprofil report --inclusive --limit 0; --inline for inlined functions");
	options = of_tree(TREE_NONE, "amin");
	expect_refused(profile, &options,
		       "--function 'amin': no function of that name has a tick; much like it: main",
		       "bpfprofil report --limit 0");
	options = of_tree(TREE_CALLEES, "nothing");
	expect_refused(without, &options, "--callees: the profile has no callers",
		       "sudo bpfprofil attach --callers ...");
	options = of_tree(TREE_NONE, NULL);
	options.inclusive = true;
	expect_refused(without, &options, "--inclusive: the profile has no callers",
		       "sudo bpfprofil attach --callers ...");
}

/* libc without its debug symbols has a memcpy of no name. */
Test(report_callers, refused_for_want_of_names)
{
	cleanup_profile struct profile *profile = load();
	struct report_options options = of_tree(TREE_CALLERS, "memcpy");

	rename_function(profile, "eval", "sh+0x2300");
	expect_refused(
		profile, &options, "--callers 'memcpy': no function of that name is in a chain",
		"bpfprofil report --inclusive --limit 0; --inline for inlined functions; or install "
		"the debug symbols of sh, which has functions without a name");
	options = of_tree(TREE_NONE, "memcpy");
	expect_refused(profile, &options,
		       "--function 'memcpy': no function of that name has a tick",
		       "bpfprofil report --limit 0; or install the debug symbols of sh, which has "
		       "functions without a name");
}

/* --- random trees against a naive count ---------------------------------------------------------- */

static unsigned int chance(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % below;
}

static char *copy(const char *text)
{
	char *result = text ? strdup(text) : NULL;

	cr_assert(!text || result);
	return result;
}

static void *array(size_t nr, size_t size)
{
	void *result = calloc(nr, size);

	cr_assert(result);
	return result;
}

/* Functions of 16 bytes in two objects; in each are three sites. */
static void add_text(struct profile *profile)
{
	size_t i;
	char name[16];

	profile->objects = array(2, sizeof(*profile->objects));
	profile->nr_objects = 2;
	profile->functions = array(FUNCTIONS, sizeof(*profile->functions));
	profile->nr_functions = FUNCTIONS;
	for (i = 0; i < 2; i++)
		profile->objects[i].path = copy(i ? "/lib/two" : "/bin/one");
	for (i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		profile->functions[i] = (struct profile_function){ .object = i >= FUNCTIONS / 2,
								   .name = copy(name),
								   .offset = i * 16,
								   .size = 16 };
	}
	for (i = 0; i < SITES; i++)
		profile->callers->sites[i] =
			(struct profile_site){ i >= SITES / 2, i / 3 * 16 + i % 3 * 4 };
}

/* Roots 0 and 1 are of target 0, and the others of the processes that target 1 was split into. */
static const int64_t pids[] = { -1, -1, 7, 7, 8 };
static const enum walk_end ends[] = { END_COMPLETE, END_NO_RULE, END_GUESSED, END_LATE,
				      END_COMPLETE };
enum { ROOTS = 5, OWNERS = 3 };
static const size_t owners[ROOTS] = { 0, 0, 1, 1, 2 };

static void add_owners(struct profile *profile)
{
	size_t i;

	profile->targets = array(2, sizeof(*profile->targets));
	profile->nr_targets = 2;
	profile->splits = array(2, sizeof(*profile->splits));
	profile->nr_splits = 2;
	for (i = 0; i < 2; i++) {
		profile->targets[i].kind = copy("pid");
		profile->targets[i].name = copy(i ? "b" : "a");
		profile->targets[i].cpu_known = true;
		profile->splits[i].target = 1;
		profile->splits[i].pid = (int64_t)i + 7;
		profile->splits[i].process = copy("p");
	}
	for (i = 0; i < ROOTS; i++)
		profile->callers->roots[i] =
			(struct profile_root){ .target = pids[i] >= 0,
					       .pid = pids[i],
					       .process = copy(pids[i] < 0 ? NULL : "p"),
					       .end = ends[i] };
}

static void add_nodes(struct profile *profile, unsigned int *seed)
{
	struct profile_callers *callers = profile->callers;
	size_t i, j;

	for (i = 0; i < NODES; i++) {
		struct profile_node *node = &callers->nodes[callers->nr_nodes];

		node->parent = -1 - (int32_t)chance(seed, ROOTS);
		if (callers->nr_nodes && chance(seed, 8))
			node->parent = (int32_t)chance(seed, callers->nr_nodes);
		node->site = chance(seed, SITES);
		if (node->parent >= 0 && !chance(seed, 6))
			node->site = PROFILE_SITE_KERNEL;
		if (node->parent >= 0 && callers->nodes[node->parent].site == PROFILE_SITE_KERNEL)
			continue;
		for (j = 0; j < callers->nr_nodes; j++)
			if (callers->nodes[j].parent == node->parent &&
			    callers->nodes[j].site == node->site)
				break;
		if (j < callers->nr_nodes)
			continue;
		node->ticks = chance(seed, 3) ? chance(seed, 30) : 0;
		callers->nr_nodes++;
	}
}

/* The frame that a node's ticks count for; SIZE_MAX: none. */
static uint32_t site_of(const struct profile_callers *callers, size_t node)
{
	const struct profile_node *at = &callers->nodes[node];

	return at->site == PROFILE_SITE_KERNEL ? callers->nodes[at->parent].site : at->site;
}

/* Some ticks of each bin had no frame, and so are in no chain. */
static void add_bins(struct profile *profile, unsigned int *seed)
{
	cleanup_free uint32_t *roots = profile_callers_roots(profile->callers);
	size_t i, o;

	cr_assert(roots);
	profile->histograms = array(2 * OWNERS, sizeof(*profile->histograms));
	profile->nr_histograms = 2 * OWNERS;
	for (i = 0; i < 2 * OWNERS; i++) {
		struct profile_histogram *h = &profile->histograms[i];

		*h = (struct profile_histogram){ .target = i >= 2,
						 .object = i % 2,
						 .pid = i < 2 ? -1 : (int64_t)(i / 2 + 6),
						 .process = copy(i < 2 ? NULL : "p"),
						 .offset = 0,
						 .size = 256,
						 .width = 4,
						 .scale = 131072,
						 .bytes_per_bin = 1,
						 .bins = array(SITES, sizeof(*h->bins)),
						 .nr_bins = SITES / 2 };
		for (o = 0; o < SITES / 2; o++)
			h->bins[o] = (struct profile_bin){
				profile->callers->sites[i % 2 * (SITES / 2) + o].offset,
				chance(seed, 4) ? 0 : chance(seed, 9)
			};
	}
	for (i = 0; i < profile->callers->nr_nodes; i++) {
		uint32_t site = site_of(profile->callers, i);
		bool second = site >= SITES / 2;

		profile->histograms[owners[roots[i]] * 2 + second]
			.bins[site - second * (SITES / 2)]
			.count += profile->callers->nodes[i].ticks;
	}
}

static struct profile *random_profile(unsigned int seed)
{
	struct profile *profile = profile_new();
	size_t i, total;

	cr_assert(profile);
	profile->sampling.period_ns = 1000000;
	profile->sampling.split = copy("process");
	profile->callers = array(1, sizeof(*profile->callers));
	profile->callers->sites = array(SITES, sizeof(*profile->callers->sites));
	profile->callers->nr_sites = SITES;
	profile->callers->roots = array(ROOTS, sizeof(*profile->callers->roots));
	profile->callers->nr_roots = ROOTS;
	profile->callers->nodes = array(NODES + 1, sizeof(*profile->callers->nodes));
	add_text(profile);
	add_owners(profile);
	add_nodes(profile, &seed);
	add_bins(profile, &seed);
	for (i = 0; i < profile->nr_histograms; i++) {
		struct profile_target *target = &profile->targets[profile->histograms[i].target];

		total = profile_histogram_ticks(&profile->histograms[i]);
		target->ticks.total += total;
		target->ticks.binned += total;
		profile->ticks.total += total;
		profile->ticks.binned += total;
		if (i >= 2)
			profile->splits[i / 2 - 1].ticks += total;
	}
	/* A tick of one process stands for more than one of another. */
	profile->targets[0].cpu_ns = profile->targets[0].ticks.total * 500000;
	profile->splits[0].cpu_ns = profile->splits[0].ticks * 3000000;
	profile->splits[1].cpu_ns = profile->splits[1].ticks * 1000000;
	profile->targets[1].cpu_ns = profile->splits[0].cpu_ns + profile->splits[1].cpu_ns;
	return profile;
}

struct naive {
	uint64_t ticks[FUNCTIONS], inclusive[FUNCTIONS];
	double ns[FUNCTIONS];
	uint64_t callers[FUNCTIONS][FUNCTIONS + 1]; /* of the outermost call; last: of none */
	uint64_t callees[FUNCTIONS][FUNCTIONS + 2]; /* of the innermost; then self, the kernel */
};

/* The functions of a chain from its first frame on. */
static void count_chain(struct naive *naive, const size_t *chain, size_t nr, bool in_kernel,
			uint64_t ticks, double weight)
{
	size_t f, i, first, last;

	naive->ticks[chain[nr - 1]] += ticks;
	for (f = 0; f < FUNCTIONS; f++) {
		first = last = SIZE_MAX;
		for (i = 0; i < nr; i++) {
			if (chain[i] != f)
				continue;
			first = first == SIZE_MAX ? i : first;
			last = i;
		}
		if (first == SIZE_MAX)
			continue;
		naive->inclusive[f] += ticks;
		naive->ns[f] += (double)ticks * weight;
		naive->callers[f][first ? chain[first - 1] : FUNCTIONS] += ticks;
		if (last + 1 < nr)
			naive->callees[f][chain[last + 1]] += ticks;
		else
			naive->callees[f][FUNCTIONS + in_kernel] += ticks;
	}
}

static void count_naively(const struct profile *profile, struct naive *naive)
{
	struct profile_weights *weights = profile_weights_new(profile);
	const struct profile_callers *callers = profile->callers;
	cleanup_free uint32_t *roots = profile_callers_roots(callers);
	size_t i, j, nr, chain[NODES];
	uint64_t left[2 * OWNERS][SITES / 2];
	int32_t at;

	cr_assert(weights && roots);
	for (i = 0; i < 2 * OWNERS; i++)
		for (j = 0; j < SITES / 2; j++)
			left[i][j] = profile->histograms[i].bins[j].count;
	for (i = 0; i < callers->nr_nodes; i++) {
		const uint32_t site = site_of(callers, i);
		const size_t h = owners[roots[i]] * 2 + (site >= SITES / 2);
		const bool in_kernel = callers->nodes[i].site == PROFILE_SITE_KERNEL;

		nr = 0;
		for (at = (int32_t)i; at >= 0; at = callers->nodes[at].parent)
			if (callers->nodes[at].site != PROFILE_SITE_KERNEL)
				chain[nr++] = callers->nodes[at].site / 3;
		for (j = 0; j < nr / 2; j++) {
			size_t other = chain[j];

			chain[j] = chain[nr - 1 - j];
			chain[nr - 1 - j] = other;
		}
		count_chain(naive, chain, nr, in_kernel, callers->nodes[i].ticks,
			    profile_weight(weights, &profile->histograms[h]));
		left[h][site % (SITES / 2)] -= callers->nodes[i].ticks;
	}
	for (i = 0; i < 2 * OWNERS; i++)
		for (j = 0; j < SITES / 2; j++) {
			chain[0] = (i % 2 * (SITES / 2) + j) / 3;
			count_chain(naive, chain, 1, false, left[i][j],
				    profile_weight(weights, &profile->histograms[i]));
		}
	profile_weights_free(weights);
}

static size_t number_of(const char *name)
{
	if (*name == '[')
		return strcmp(name, "[kernel]") ? FUNCTIONS : FUNCTIONS + 1;
	return (size_t)(name[1] - '0');
}

static void check_functions(const struct profile *profile, const struct naive *naive)
{
	struct report_options options = of_tree(TREE_NONE, NULL);
	struct report_rows rows;
	struct error err = { 0 };
	size_t i, f;

	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_assert_leq(rows.nr, FUNCTIONS);
	for (i = 0; i < rows.nr; i++) {
		f = number_of(rows.rows[i].name);
		cr_expect_eq(rows.rows[i].own.ticks, naive->ticks[f]);
		cr_expect_eq(rows.rows[i].inclusive.ticks, naive->inclusive[f], "f%zu", f);
		cr_expect_float_eq(rows.rows[i].inclusive.ns, naive->ns[f], 1);
		cr_expect_geq(rows.rows[i].inclusive.ticks, rows.rows[i].own.ticks);
	}
	rows_free(&rows);
}

/* All of a function's direct callers and callees, its own row between them. */
static void check_neighbours(const struct report_rows *rows, const struct naive *naive, size_t f)
{
	uint64_t callers[FUNCTIONS + 1] = { 0 }, callees[FUNCTIONS + 2] = { 0 };
	size_t i;

	cr_assert_gt(rows->nr_neighbours, rows->nr_callers);
	for (i = 0; i < rows->nr_callers; i++)
		callers[number_of(rows->neighbours[i].name)] += rows->neighbours[i].inclusive.ticks;
	cr_expect_eq(number_of(rows->neighbours[i].name), f);
	cr_expect_eq(rows->neighbours[i].inclusive.ticks, naive->inclusive[f]);
	for (i++; i < rows->nr_neighbours; i++)
		callees[number_of(rows->neighbours[i].name)] += rows->neighbours[i].inclusive.ticks;
	cr_expect_arr_eq(callers, naive->callers[f], sizeof(callers));
	cr_expect_arr_eq(callees, naive->callees[f], sizeof(callees));
}

/* The rows of a tree that is cut: no more than the limit, none without its parent, the hottest. */
static void check_limit(const struct profile *profile, size_t limit)
{
	struct report_options options = of_tree(TREE_ALL, NULL);
	struct report_rows all, few;
	struct error err = { 0 };
	double least = 1e300;
	size_t i, above = 0;

	options.min = 0;
	cr_assert_eq(rows_build(profile, &options, &all, &err), 0, "%s", err.text);
	options.limit = limit;
	cr_assert_eq(rows_build(profile, &options, &few, &err), 0, "%s", err.text);
	cr_expect_leq(few.nr, limit);
	for (i = 0; i < few.nr; i++) {
		least = fmin(least, few.rows[i].inclusive.ns);
		if (few.rows[i].depth)
			cr_expect_eq(few.rows[few.rows[i].parent].depth + 1, few.rows[i].depth);
	}
	for (i = 0; i < all.nr; i++)
		above += all.rows[i].inclusive.ns > least * (1 + 1e-9);
	cr_expect_leq(above, few.nr);
	rows_free(&all);
	rows_free(&few);
}

static void check_tree(const struct profile *profile, const struct naive *naive,
		       enum report_tree tree, size_t f)
{
	char name[] = { 'f', (char)('0' + f), '\0' };
	struct report_options options = of_tree(tree, name);
	struct report_rows rows;
	struct error err = { 0 };
	uint64_t below[FUNCTIONS + 2] = { 0 }, sum = 0;
	size_t i;

	options.min = 0;
	if (!naive->inclusive[f])
		return;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_expect_eq(rows.rows[0].inclusive.ticks, naive->inclusive[f]);
	cr_expect_eq(rows.rows[0].depth, 0);
	for (i = 1; i < rows.nr; i++) {
		cr_expect_gt(rows.rows[i].depth, 0, "one function");
		if (rows.rows[i].depth != 1)
			continue;
		sum += rows.rows[i].inclusive.ticks;
		if (tree == TREE_CALLERS && rows.rows[i].name[0] == '[')
			below[FUNCTIONS] += rows.rows[i].inclusive.ticks;
		else
			below[number_of(rows.rows[i].name)] += rows.rows[i].inclusive.ticks;
	}
	if (tree == TREE_CALLERS) {
		cr_expect_eq(rows.rows[0].own.ticks, naive->ticks[f], "with the kernel's for it");
		check_neighbours(&rows, naive, f);
	}
	if (tree == TREE_CALLERS)
		below[FUNCTIONS] += naive->inclusive[f] - sum;
	else
		cr_expect_eq(sum, naive->inclusive[f], "with its own");
	for (i = 0; i < FUNCTIONS + (tree == TREE_CALLEES ? 2 : 1); i++)
		cr_expect_eq(below[i],
			     tree == TREE_CALLERS ? naive->callers[f][i] : naive->callees[f][i],
			     "f%zu, %zu", f, i);
	rows_free(&rows);
}

Test(report_callers, random_trees)
{
	unsigned int seed;
	size_t f;

	for (seed = 1; seed <= 50; seed++) {
		cleanup_profile struct profile *profile = random_profile(seed);
		struct naive naive = { 0 };

		count_naively(profile, &naive);
		check_functions(profile, &naive);
		check_limit(profile, seed);
		for (f = 0; f < FUNCTIONS; f++) {
			check_tree(profile, &naive, TREE_CALLERS, f);
			check_tree(profile, &naive, TREE_CALLEES, f);
		}
	}
}

static void expect_rows(const struct profile *profile, enum report_tree tree, const char *function,
			const char *wanted)
{
	struct report_options options = of_tree(tree, function);
	char text[512] = "";
	struct report_rows rows;
	struct error err = { 0 };
	size_t i, at = 0;

	options.min = 0;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	for (i = 0; i < rows.nr; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %s x %u: %lu\n",
				       rows.rows[i].depth, rows.rows[i].name,
				       rows.rows[i].recursion, rows.rows[i].inclusive.ticks);
	cr_expect_str_eq(text, wanted);
	rows_free(&rows);
}

/* f0 f1 f0 f1 ..., twenty frames of them, and f2 in the last one and in the third. */
Test(report_callers, functions_that_take_turns)
{
	enum { TURNS = 20 };
	cleanup_profile struct profile *profile = random_profile(1);
	struct profile_callers *callers = profile->callers;
	size_t i, j;

	free(callers->nodes);
	callers->nr_nodes = TURNS + 2;
	callers->nodes = array(callers->nr_nodes, sizeof(*callers->nodes));
	for (i = 0; i < TURNS; i++)
		callers->nodes[i] = (struct profile_node){ (int32_t)i - 1, i % 2 * 3, 1, 0 };
	callers->nodes[TURNS] = (struct profile_node){ TURNS - 1, 6, 10, 0 };
	callers->nodes[TURNS + 1] = (struct profile_node){ 2, 6, 5, 0 };
	for (i = 0; i < profile->nr_histograms; i++)
		for (j = 0; j < profile->histograms[i].nr_bins; j++)
			profile->histograms[i].bins[j].count = 0;
	profile->histograms[0].bins[0].count = TURNS / 2;
	profile->histograms[0].bins[3].count = TURNS / 2;
	profile->histograms[0].bins[6].count = 15;
	expect_rows(profile, TREE_ALL, NULL,
		    "0 f0 x 0: 35\n"
		    "1 f1 x 10: 34\n"
		    "2 f0 x 0: 14\n"
		    "3 f2 x 0: 5\n"
		    "2 f2 x 0: 10\n");
	/* The callees of f1 are those of its last call, below which none takes turns with it. */
	expect_rows(profile, TREE_CALLERS, "f2",
		    "0 f2 x 0: 15\n"
		    "1 f1 x 10: 10\n"
		    "2 f0 x 0: 10\n"
		    "1 f0 x 0: 5\n"
		    "2 f1 x 10: 5\n"
		    "3 f0 x 0: 5\n");
	expect_rows(profile, TREE_CALLEES, "f1",
		    "0 f1 x 0: 34\n"
		    "1 f0 x 0: 14\n"
		    "2 f2 x 0: 5\n"
		    "1 f2 x 0: 10\n"
		    "1 [self] x 0: 10\n");
}

/* A file may hold a chain that no kernel walks: it must cost neither time nor memory by its square. */
Test(report_callers, endless_chain)
{
	cleanup_profile struct profile *profile = random_profile(1);
	struct report_options options = of_tree(TREE_CALLERS, "f0");
	const size_t nr = 1000000;
	struct report_rows rows;
	struct error err = { 0 };
	size_t i;

	free(profile->callers->nodes);
	profile->callers->nodes = array(nr, sizeof(*profile->callers->nodes));
	profile->callers->nr_nodes = nr;
	for (i = 0; i < nr; i++)
		profile->callers->nodes[i] =
			(struct profile_node){ (int32_t)i - 1, (uint32_t)(i % SITES), 1, 0 };
	profile->histograms[0].bins[0].count = nr;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	for (i = 0; i < rows.nr; i++)
		cr_expect_lt(rows.rows[i].depth, PROFILE_CHAIN_DEPTH);
	rows_free(&rows);
}

/* f0 f1 f0 f0 f0 ... with f1 below each, where f1 continues the round at the top of the chain. */
Test(report_callers, endless_recursion, .timeout = 120)
{
	enum { LONG = 500000 };
	cleanup_profile struct profile *profile = random_profile(1);
	struct report_options options = of_tree(TREE_CALLERS, "f0");
	struct profile_callers *callers = profile->callers;
	struct report_rows rows;
	struct error err = { 0 };
	int32_t i;

	free(callers->nodes);
	callers->nr_nodes = 2 * LONG;
	callers->nodes = array(callers->nr_nodes, sizeof(*callers->nodes));
	for (i = 0; i < LONG; i++) {
		callers->nodes[i] = (struct profile_node){ i - 1, i == 1 ? 3 : 0, 1, 0 };
		callers->nodes[LONG + i] = (struct profile_node){ i, i ? 3 : 6, 1, 0 };
	}
	profile->histograms[0].bins[0].count = profile->histograms[0].bins[3].count = LONG;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_expect_gt(rows.nr, 0);
	rows_free(&rows);
}

/*
 * The same frames above ever other callers of a function are few in the file, and would be a row for
 * each of them below each caller.
 */
Test(report_callers, many_callers_below_a_long_chain)
{
	enum { LONG = 500, CALLERS = 4000 };
	cleanup_profile struct profile *profile = random_profile(1);
	struct report_options options = of_tree(TREE_CALLERS, "f0");
	struct profile_callers *callers = profile->callers;
	struct report_rows rows;
	struct error err = { 0 };
	size_t i;

	free(callers->nodes);
	free(callers->sites);
	callers->nr_sites = 1 + LONG + CALLERS;
	callers->sites = array(callers->nr_sites, sizeof(*callers->sites));
	for (i = 1; i < callers->nr_sites; i++)
		callers->sites[i].offset = 0x1000 + i;
	callers->nr_nodes = LONG + 2 * CALLERS;
	callers->nodes = array(callers->nr_nodes, sizeof(*callers->nodes));
	for (i = 0; i < LONG + CALLERS; i++)
		callers->nodes[i] = (struct profile_node){ i < LONG ? (int32_t)i - 1 : LONG - 1,
							   (uint32_t)i + 1, 0, 0 };
	for (i = 0; i < CALLERS; i++)
		callers->nodes[LONG + CALLERS + i] =
			(struct profile_node){ (int32_t)(LONG + i), 0, i ? 1 : CALLERS, 0 };
	while (profile->nr_histograms > 1)
		profile_members_free(profile_histogram_members,
				     &profile->histograms[--profile->nr_histograms]);
	profile->histograms[0].nr_bins = 1;
	profile->histograms[0].bins[0].count = 2 * CALLERS - 1;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_expect_eq(rows.nr, 1 + 1 + LONG, "only one caller has enough");
	cr_expect_eq(rows.nr_cut, CALLERS - 1);
	rows_free(&rows);
	options.min = 0;
	cr_expect_eq(rows_build(profile, &options, &rows, &err), -EINVAL);
	cr_expect_str_eq(err.text, "--callers 'f0': more than 1048576 rows above --min 0");
	rows_free(&rows);
}
