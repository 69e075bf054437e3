// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/file.h"
#include "option/command.h"
#include "report/profile_file.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "base/output.h"

struct merge_arguments {
	const char *output;
};

static const struct opt merge_opts[] = {
	OPT_FILE("output", offsetof(struct merge_arguments, output),
		 "where the sum goes; - is stdout, .gz compresses", .letter = 'o'),
	{ 0 }
};

static const struct opt_group merge_groups[] = {
	{ .title = "Sum", .opts = merge_opts },
	{ 0 },
};

/*
 * Consecutive files that one thread adds up. A sum of sums is the same to the byte, and most of the
 * time is spent on reading.
 */
struct share {
	char **files;
	size_t nr;
	pthread_t thread;
	bool has_thread;
	struct profile_merger merger;
	struct error err;
	int ret;
	struct share **failed; /* the first share that failed; NULL: none */
};

/* Each thread holds a sum in memory. More threads would cost more than they gain. */
#define SHARES_MAX 4
#define SHARE_FILES_MIN 16

static bool has_failed_before(const struct share *share)
{
	struct share *failed = __atomic_load_n(share->failed, __ATOMIC_RELAXED);

	return failed && failed < share;
}

static void say_failed(struct share *share)
{
	struct share *failed = __atomic_load_n(share->failed, __ATOMIC_RELAXED);

	while ((!failed || share < failed) &&
	       !__atomic_compare_exchange_n(share->failed, &failed, share, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

static void *add_files(void *arg)
{
	struct share *share = arg;
	struct profile *part;
	size_t i;

	/* A failure in an earlier share ends the merge. */
	for (i = 0; i < share->nr && !share->ret && !has_failed_before(share); i++) {
		share->ret = profile_load(share->files[i], &part, &share->err);
		if (!share->ret)
			share->ret = profile_merger_add(&share->merger, part, share->files[i],
							&share->err);
	}
	if (share->ret)
		say_failed(share);
	return NULL;
}

static size_t nr_shares(size_t nr_files)
{
	size_t nr = nr_files / SHARE_FILES_MIN;
	cpu_set_t cpus;

	if (nr > SHARES_MAX)
		nr = SHARES_MAX;
	/* This fails if the host has more CPUs than the set can hold, and then there are enough. */
	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && nr > (size_t)CPU_COUNT(&cpus))
		nr = (size_t)CPU_COUNT(&cpus);
	return nr ? nr : 1;
}

/* This thread runs the first share, and every share whose thread could not be started. */
static void add_shares(struct share *shares, size_t nr)
{
	size_t i;

	for (i = 1; i < nr; i++)
		shares[i].has_thread =
			!pthread_create(&shares[i].thread, NULL, add_files, &shares[i]);
	for (i = 0; i < nr; i++)
		if (!shares[i].has_thread)
			add_files(&shares[i]);
	for (i = 0; i < nr; i++)
		if (shares[i].has_thread)
			pthread_join(shares[i].thread, NULL);
}

/*
 * Joins all shares into the first. It reports the failure of the first file, as if files were read
 * one by one.
 */
static int join_shares(struct share *shares, size_t nr, struct error *err)
{
	struct profile_merger *merger = &shares->merger;
	size_t i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		if (i)
			ret = profile_merger_join(merger, &shares[i].merger, err);
		if (!ret && shares[i].ret) {
			ret = shares[i].ret;
			*err = shares[i].err;
		}
	}
	return ret;
}

static int sum_up(size_t nr_files, char **files, struct profile **result, struct error *err)
{
	struct share shares[SHARES_MAX] = { 0 }, *failed = NULL;
	size_t nr = nr_shares(nr_files), i;
	int ret;

	for (i = 0; i < nr; i++) {
		shares[i].merger.all_waits = true;
		shares[i].failed = &failed;
		shares[i].files = files + nr_files * i / nr;
		shares[i].nr = nr_files * (i + 1) / nr - nr_files * i / nr;
	}
	add_shares(shares, nr);
	ret = join_shares(shares, nr, err);
	if (!ret)
		ret = profile_merger_finish(&shares->merger, result, err);
	for (i = 0; i < nr; i++)
		profile_merger_free(&shares[i].merger);
	return ret;
}

/*
 * Keeps freed memory for the next file's bins. By default glibc returns it to the kernel, which
 * then clears and maps it again for each file: with 1,000 files this took 0.6 of 3.6 s of CPU.
 * glibc keeps up to 16 MiB for each thread.
 */
static void memory_keep(void)
{
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

static int merge(const char *output, int nr, char *const *operands, struct error *err)
{
	struct profile *sum = NULL;
	struct file_names names = { 0 };
	/* Check the output first, so that a thousand files are not read in vain. */
	int ret = output_check(output, err);

	memory_keep();
	if (!ret)
		ret = file_names_of(nr, operands, &names, err);
	if (!ret)
		ret = sum_up(names.nr, names.names, &sum, err);
	if (!ret)
		ret = profile_save(sum, output, 0, err);
	profile_free(sum);
	file_names_free(&names);
	return ret;
}

static int run(int argc, char **argv)
{
	struct merge_arguments arguments = { 0 };
	struct error err = { 0 };
	int first, status, code;

	if (!command_parse(&command_merge, argc, argv, &arguments, &first, &status))
		return status;
	if (first == argc)
		return usage_error("bpfprofil merge --help", "merge: no FILE given");
	if (!arguments.output)
		return usage_error("-o sum.json", "merge: --output: not given");
	stdout_begin();
	code = merge(arguments.output, argc - first, argv + first, &err);
	/* With EPIPE the reader has left, and nobody needs a message. */
	if (code && code != -EPIPE)
		print_error(&err);
	return code ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct command_example merge_examples[] = {
	{ "the runs of a day as one profile",
	  "bpfprofil merge -o day.json.gz profile-*.json && bpfprofil report day.json.gz" },
	{ "the profiles of several hosts, each as a separate target",
	  "bpfprofil merge -o fleet.json host1.json host2.json host3.json" },
	{ 0 },
};

const struct command command_merge = {
	.name = "merge",
	.summary = "add profiles up",
	.operands = "FILE... -o FILE",
	.operand = VALUE_FILE,
	.description =
		"Reads the profiles FILE (- is standard input; a directory means those in it) "
		"and writes their sum, which does not depend on their order.",
	.groups = merge_groups,
	.examples = merge_examples,
	.run = run,
};
