// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_chains.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "sample.h"

enum { STEADY, STEADY_LIBC, NODE_LIBC, NODE, SH, OTHER_SH, JIT }; /* histograms of the sample */

static struct profile *with_callers(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

/* "400 in 11, 10 in 16 below 11": the chains of a bin. */
static void expect_chains(const struct profile *profile, size_t histogram, size_t bin,
			  const char *wanted)
{
	struct profile_chains *chains = profile_chains_new(profile);
	const struct profile_chain *chain;
	char text[256] = "";
	size_t nr, used = 0;

	cr_assert(chains);
	chain = profile_chains_of(chains, &profile->histograms[histogram], bin, &nr);
	for (; nr--; chain++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d in ",
					 used ? ", " : "", (int)chain->ticks);
		if (chain->node == PROFILE_NO_NODE)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "none");
		else
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d",
						 chain->in_kernel ? "kernel of " : "",
						 (int)chain->node);
	}
	profile_chains_free(chains);
	cr_expect_str_eq(text, wanted);
}

/* Of each process its own, also where several have the same text. */
Test(profile_chains, of_bins)
{
	cleanup_profile struct profile *profile = with_callers();

	expect_chains(profile, STEADY, 0, "400 in 11, 10 in kernel of 11");
	expect_chains(profile, STEADY_LIBC, 0, "20 in 1, 50 in 12, 10 in kernel of 12");
	expect_chains(profile, NODE_LIBC, 0, "20 in 18");
	profile->histograms[STEADY].bins[0].count = 415;
	expect_chains(profile, STEADY, 0, "400 in 11, 10 in kernel of 11, 5 in none");
	profile->histograms[STEADY].bins[0].count = 405;
	expect_chains(profile, STEADY, 0, "400 in 11, 5 in kernel of 11");
	profile->histograms[STEADY].bytes_per_bin = 64;
	profile->histograms[STEADY].bins[0].index = 0;
	expect_chains(profile, STEADY, 0, "400 in 11, 5 in kernel of 11");
}

/* Of one process's text in bins of two sizes, the fine ones come first, whichever begins where. */
Test(profile_chains, of_bins_of_two_sizes)
{
	cleanup_profile struct profile *profile = with_callers();
	struct profile_histogram *fine, *coarse;

	profile->histograms = reallocarray(profile->histograms, profile->nr_histograms + 1,
					   sizeof(*profile->histograms));
	cr_assert(profile->histograms);
	fine = &profile->histograms[STEADY];
	coarse = &profile->histograms[profile->nr_histograms++];
	*coarse = *fine;
	coarse->process = fine->process ? strdup(fine->process) : NULL;
	coarse->cgroup = fine->cgroup ? strdup(fine->cgroup) : NULL;
	coarse->bytes_per_bin = 1024;
	coarse->bins = calloc(1, sizeof(*coarse->bins));
	cr_assert(coarse->bins);
	coarse->bins[0] = (struct profile_bin){ .index = 0, .count = 110 };
	coarse->nr_bins = 1;
	fine->bins[0].count = 300;
	expect_chains(profile, STEADY, 0, "300 in 11");
	expect_chains(profile, (size_t)(coarse - profile->histograms), 0,
		      "100 in 11, 10 in kernel of 11");
	fine->offset += fine->bins[0].index * fine->bytes_per_bin;
	fine->bins[0].index = 0;
	expect_chains(profile, STEADY, 0, "300 in 11");
	coarse->bins[0].count = 120;
	expect_chains(profile, (size_t)(coarse - profile->histograms), 0,
		      "100 in 11, 10 in kernel of 11, 10 in none");
}

/* A JIT's text has its process where the profile does not tell processes apart. */
Test(profile_chains, of_a_jit)
{
	cleanup_profile struct profile *profile = with_callers();
	size_t i;

	expect_chains(profile, JIT, 0, "80 in 17, 170 in 19");
	for (i = 0; i < profile->callers->nr_roots; i++) {
		profile->callers->roots[i].pid = -1;
		free(profile->callers->roots[i].process);
		profile->callers->roots[i].process = NULL;
	}
	expect_chains(profile, JIT, 0, "80 in 17, 170 in 19");
	expect_chains(profile, STEADY, 0, "410 in none");
	profile_callers_free(profile->callers);
	profile->callers = NULL;
	expect_chains(profile, JIT, 0, "250 in none");
}
