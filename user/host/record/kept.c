// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/profile_io.h"
#include "host/record/result.h"

/* 64 MiB, because a viewer should not need more than the programs that it watches. */
#define ELEMENTS_MAX (4 << 20)

int kept_init(struct kept *kept, const char *pattern, struct error *err)
{
	*kept = (struct kept){ .elements_max = ELEMENTS_MAX };
	return series_begin(&kept->files, pattern, getpid(), time(NULL), 0, err);
}

static void forget_split(char **process, char **cgroup, int64_t *pid)
{
	free(*process);
	free(*cgroup);
	*process = *cgroup = NULL;
	*pid = -1;
}

static void unsplit_roots(struct profile_callers *tree)
{
	struct profile_root *root;

	for (root = tree->roots; root < tree->roots + tree->nr_roots; root++)
		forget_split(&root->process, &root->cgroup, &root->pid);
}

/* JIT text belongs to processes in every profile. Therefore its pids stay, but not its threads. */
static void unsplit(struct profile *profile)
{
	const char *split = profile->sampling.split;
	bool threads = split && !strcmp(split, "thread");
	struct profile_waits *waits = profile->waits;
	size_t i;

	while (profile->nr_splits)
		profile_split_free(&profile->splits[--profile->nr_splits]);
	free(profile->sampling.split);
	profile->sampling.split = NULL;
	for (i = 0; i < profile->nr_histograms; i++) {
		struct profile_histogram *histogram = &profile->histograms[i];

		if (!threads && profile->objects[histogram->object].kind == PROFILE_JIT)
			continue;
		forget_split(&histogram->process, &histogram->cgroup, &histogram->pid);
	}
	if (profile->callers)
		unsplit_roots(profile->callers);
	if (waits)
		unsplit_roots(&waits->tree);
	for (i = 0; waits && i < waits->nr_accounts; i++)
		forget_split(&waits->accounts[i].process, &waits->accounts[i].cgroup,
			     &waits->accounts[i].pid);
}

static int fold_oldest(struct kept *kept, struct error *err)
{
	struct profile *sum;
	int ret = profile_merger_finish(&kept->sum, &sum, err);

	if (ret)
		return ret;
	ret = profile_merger_add(&kept->sum, sum, "top", err);
	kept->sum.folded = ret ? 0 : profile_elements(kept->sum.sum);
	return ret;
}

/* Call it before adding a part, so that there is always one. */
static int limit_kept(struct kept *kept, struct error *err)
{
	int ret;

	if (!kept->sum.sum || profile_elements(kept->sum.sum) <= kept->elements_max)
		return 0;
	kept->unsplit = true;
	unsplit(kept->sum.sum);
	ret = fold_oldest(kept, err);
	if (ret || kept->sum.folded <= kept->elements_max / 2)
		return ret;
	kept->given_up = true;
	profile_merger_free(&kept->sum);
	kept->sum.folded = 0;
	return 0;
}

static int add_part_kept(struct kept *kept, struct profile *part, struct error *err)
{
	int ret = limit_kept(kept, err);

	if (ret) {
		profile_free(part);
		return ret;
	}
	if (kept->unsplit)
		unsplit(part);
	return profile_merger_add(&kept->sum, part, "top", err);
}

int kept_add(struct kept *kept, struct profile *last, struct error *err)
{
	bool has_last = kept->has_last;

	kept->has_last = false;
	if (!has_last)
		return add_part_kept(kept, last, err);
	profile_free(last);
	return 0;
}

/* Copies by writing and reading a file, because this only runs when a key is pressed. */
static int copy_profile(const struct profile *profile, struct profile **result, struct error *err)
{
	int fd = memfd_create("profile", MFD_CLOEXEC), ret;
	FILE *stream = fd < 0 ? NULL : fdopen(dup(fd), "w");
	struct input *in;

	if (!stream) {
		ret = error_errno(err, -errno, "profile");
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = profile_write(profile, stream, err);
	if ((fclose(stream) || lseek(fd, 0, SEEK_SET)) && !ret)
		ret = error_errno(err, -errno, "profile");
	if (ret) {
		close(fd);
		return ret;
	}
	ret = input_open_fd(fd, "profile", &in, err);
	if (ret)
		return ret;
	ret = profile_read(in, result, err);
	input_close(in);
	return ret;
}

/* The sum may have the note from an earlier file. */
static int note_once(struct profile *sum, const char *note)
{
	size_t i;

	for (i = 0; i < sum->nr_notes; i++)
		if (!strcmp(sum->notes[i], note))
			return 0;
	return profile_note(sum, "%s", note);
}

static int note_kept(const struct kept *kept, struct profile *sum, struct error *err)
{
	int ret = 0;

	if (kept->unsplit)
		ret = note_once(sum, "processes, threads and cgroups are not separated: there "
				     "were more than top keeps");
	if (kept->given_up && !ret)
		ret = note_once(sum, "it begins later than top did: there was more than top "
				     "keeps");
	return ret ? error_no_memory(err, "profile") : 0;
}

static int write_kept_sum(struct kept *kept, struct profile *sum, struct error *err)
{
	int ret;

	result_measure_rate(sum);
	ret = save_last_profile(sum, kept->files.path, err);
	if (ret)
		series_skip(&kept->files);
	else
		ret = series_written(&kept->files, err);
	return ret;
}

/*
 * Adds the profile with the ticks to the sum, and keeps the copy, because names that are not UTF-8
 * change in a copy.
 */
static int add_last(struct kept *kept, struct profile **last, struct error *err)
{
	struct profile *part = *last;
	int ret;

	if (kept->has_last)
		return 0;
	ret = copy_profile(part, last, err);
	if (ret)
		return ret;
	kept->has_last = true;
	return add_part_kept(kept, part, err);
}

/* The sum continues, whatever happens to it here. */
int kept_show(struct kept *kept, struct profile **last,
	      int (*show)(struct profile *sum, void *of, struct error *err), void *of,
	      struct error *err)
{
	int ret = add_last(kept, last, err);
	struct error ignored;
	struct profile *sum;

	if (!ret)
		ret = profile_merger_finish(&kept->sum, &sum, err);
	if (ret)
		return ret;
	ret = show(sum, of, err);
	if (profile_merger_add(&kept->sum, sum, "top", &ignored) && !ret)
		ret = error_no_memory(err, "profile");
	return ret;
}

static int write_kept(struct profile *sum, void *of, struct error *err)
{
	struct kept *kept = of;
	int ret = note_kept(kept, sum, err);

	return ret ? ret : write_kept_sum(kept, sum, err);
}

int kept_save(struct kept *kept, struct profile **last, time_t now, struct error *err)
{
	int ret = series_next(&kept->files, now, err);

	return ret ? ret : kept_show(kept, last, write_kept, kept, err);
}

const char *kept_name(const struct kept *kept)
{
	return kept->files.nr_kept ? kept->files.kept[kept->files.nr_kept - 1] : NULL;
}

void kept_free(struct kept *kept)
{
	profile_merger_free(&kept->sum);
	series_free(&kept->files);
}
