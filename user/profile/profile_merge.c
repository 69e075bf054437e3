// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpfprofil/version.h"
#include "base/util.h"
#include "profile/profile_head.h"
#include "profile/profile_members.h"
#include "profile/waits.h"

/*
 * Smaller sums, in bins of 16 bytes, are not folded. A thousand files of 18,000 bins need 2.7 s of
 * CPU time and 28 MiB. With a limit of 64 MiB, beyond the caches, they need 3.2 s and 106 MiB.
 */
#define FOLD_MIN (256 << 10)

static int no_memory(struct error *err)
{
	return error_errno(err, -ENOMEM, "merge");
}

/* --- appending -------------------------------------------------------------------------------- */

/* Indices of a tree must fit their types. */
static bool trees_fit(const struct profile_callers *into, const struct profile_callers *from)
{
	return into->nr_nodes + from->nr_nodes <= INT32_MAX &&
	       into->nr_roots + from->nr_roots <= INT32_MAX &&
	       into->nr_sites + from->nr_sites < PROFILE_SITE_KERNEL;
}

static void renumber_nodes(const struct profile_callers *into, struct profile_callers *from)
{
	struct profile_node *node;
	size_t i;

	for (i = 0; i < from->nr_nodes; i++) {
		node = &from->nodes[i];
		node->parent += node->parent < 0 ? -(int32_t)into->nr_roots :
						   (int32_t)into->nr_nodes;
		if (node->site != PROFILE_SITE_KERNEL)
			node->site += (uint32_t)into->nr_sites;
	}
}

static void renumber_waits(const struct profile_waits *into, struct profile_waits *from)
{
	size_t i, j;

	renumber_nodes(&into->tree, &from->tree);
	for (i = 0; i < from->tree.nr_roots; i++)
		from->tree.roots[i].class += (uint32_t)into->nr_classes;
	for (i = 0; i < from->nr_accounts; i++)
		for (j = 0; j < from->accounts[i].nr_sums; j++)
			from->accounts[i].sums[j].class += (uint32_t)into->nr_classes;
}

int profile_append(struct profile *profile, struct profile *other)
{
	cleanup_free uint32_t *targets =
		profile_indices_from(profile->nr_targets, other->nr_targets);
	cleanup_free uint32_t *objects =
		profile_indices_from(profile->nr_objects, other->nr_objects);
	const bool callers = profile->callers && other->callers;
	const bool waits = profile->waits && other->waits;

	if (!targets || !objects || (callers && !trees_fit(profile->callers, other->callers)) ||
	    (waits && !trees_fit(&profile->waits->tree, &other->waits->tree)) ||
	    profile_members_extend(profile_members, profile, other))
		return -ENOMEM;
	profile_renumber(other, targets, objects);
	if (callers)
		renumber_nodes(profile->callers, other->callers);
	if (waits)
		renumber_waits(profile->waits, other->waits);
	profile_members_move(profile_members, profile, other);
	if (profile->kinds != other->kinds)
		profile->kinds = KINDS_UNKNOWN;
	return 0;
}

/* --- one part --------------------------------------------------------------------------------- */

/* Copies values of the head to each target and label, because they may differ within a sum. */
static int label(struct profile *profile)
{
	const char *host = profile->host.name ? profile->host.name : "";
	size_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		struct profile_target *target = &profile->targets[i];

		if (!target->period_ns)
			target->period_ns = profile->sampling.period_ns;
		if (!target->host)
			target->host = strdup(host);
		if (!target->host)
			return -ENOMEM;
	}
	for (i = 0; i < profile->nr_labels; i++) {
		struct profile_label *label = &profile->labels[i];

		if (!label->host)
			label->host = strdup(host);
		if (!label->host)
			return -ENOMEM;
	}
	return 0;
}

/* Turns the host of a part into a list. A sum has one already. */
static int list_hosts(struct profile *profile)
{
	if (profile->nr_hosts)
		return 0;
	free(profile->hosts);
	profile->hosts = calloc(1, sizeof(*profile->hosts));
	if (!profile->hosts)
		return -ENOMEM;
	profile->hosts[0] = profile->host;
	profile->nr_hosts = 1;
	profile->host = (struct profile_host){ 0 };
	return 0;
}

/* --- the heads -------------------------------------------------------------------------------- */

static void swap(char **a, char **b)
{
	char *kept = *a;

	*a = *b;
	*b = kept;
}

static bool same_command(char *const *a, char *const *b)
{
	size_t i;

	if (!a || !b)
		return (!a || !*a) && (!b || !*b);
	for (i = 0; a[i] && b[i]; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return !a[i] && !b[i];
}

/*
 * If a part is a sum itself, messages name its own parts. hierarchy_of: the part with this
 * hierarchy.
 */
static int check_sampling(const struct profile_sampling *sum, const struct profile_sampling *part,
			  const char *name, const char *hierarchy_of, struct error *err)
{
	if (strcmp(sum->mode, part->mode) != 0)
		return error_set(err, -EINVAL, "%s: mode %s, where the files before it have %s",
				 name, part->mode, sum->mode);
	if (strcmp(sum->source, part->source) != 0)
		return error_set(err, -EINVAL, "%s: source %s, where the files before it have %s",
				 name, part->source, sum->source);
	if (sum->hierarchy && part->hierarchy && strcmp(sum->hierarchy, part->hierarchy) != 0)
		return error_set(err, -EINVAL,
				 "%s: cgroups by %.64s, where the files before it have %.64s",
				 hierarchy_of, part->hierarchy, sum->hierarchy);
	return 0;
}

/*
 * CPU numbers mean the same in all profiles of one host, but nothing across hosts. Removed figures
 * stay removed, so that the order does not matter.
 */
static void join_delivered(struct profile *sum, struct profile *part)
{
	struct profile_sampling *into = &sum->sampling, *from = &part->sampling;
	struct profile_sampling kept = *into;
	size_t i;

	if (!from->nr_delivered || strcmp(sum->hosts[0].name, part->hosts[0].name) != 0)
		into->nr_delivered = 0;
	if (!into->nr_delivered)
		return;
	if (into->nr_delivered < from->nr_delivered) {
		into->delivered = from->delivered;
		into->nr_delivered = from->nr_delivered;
		from->delivered = kept.delivered;
		from->nr_delivered = kept.nr_delivered;
	}
	for (i = 0; i < from->nr_delivered; i++)
		into->delivered[i] += from->delivered[i];
}

/* The sum has no value if its parts differ. */
static void join_word(char **sum, const char *part)
{
	if (!*sum || (part && !strcmp(*sum, part)))
		return;
	free(*sum);
	*sum = NULL;
}

/* The sum gets the finest period, the most precise one. */
static void join_sampling(struct profile_sampling *sum, struct profile_sampling *part)
{
	if (part->period_ns < sum->period_ns ||
	    (part->period_ns == sum->period_ns && part->requested_hz > sum->requested_hz)) {
		sum->period_ns = part->period_ns;
		sum->requested_hz = part->requested_hz;
	}
	/* Rates cannot be added, and their mean would depend on the order. 0: unknown. */
	if (sum->measured_hz != part->measured_hz)
		sum->measured_hz = 0;
	join_word(&sum->split, part->split);
	join_word(&sum->cpus, part->cpus);
	if (!sum->hierarchy)
		swap(&sum->hierarchy, &part->hierarchy);
	/* These describe a single run. Each target keeps its own period. */
	sum->nr_segments = 0;
	sum->cost = (struct profile_cost){ 0 };
}

static void join_duties(struct profile *sum, const struct profile *part)
{
	if (profile_is_partly_sampled(sum) || profile_is_partly_sampled(part))
		sum->sampling.sampled_ns =
			add_saturating(profile_sampled_ns(sum), profile_sampled_ns(part));
	sum->sampling.unsampled_ns =
		add_saturating(sum->sampling.unsampled_ns, part->sampling.unsampled_ns);
	if (sum->sampling.duty_percent != part->sampling.duty_percent)
		sum->sampling.duty_percent = 0;
}

static int join_heads(struct profile *sum, struct profile *part)
{
	join_duties(sum, part);
	if (profile_compare_times(part->started, sum->started) < 0)
		swap(&sum->started, &part->started);
	sum->duration_ns = add_saturating(sum->duration_ns, part->duration_ns);
	sum->complete = sum->complete && part->complete;
	join_delivered(sum, part);
	join_sampling(&sum->sampling, &part->sampling);
	if (!same_command(sum->command, part->command)) {
		profile_command_free(sum->command);
		sum->command = NULL;
	}
	return profile_account_add(&sum->ticks, &part->ticks);
}

/* --- the sum ---------------------------------------------------------------------------------- */

static size_t tree_elements(const struct profile_callers *tree)
{
	return tree->nr_sites + 8 * tree->nr_roots + 2 * tree->nr_nodes;
}

size_t profile_elements(const struct profile *profile)
{
	size_t i, nr = profile->nr_targets + profile->nr_splits + profile->nr_objects +
		       profile->nr_histograms + profile->nr_functions + profile->nr_notes +
		       profile->nr_labels;

	nr *= 8;
	if (profile->callers)
		nr += tree_elements(profile->callers);
	if (profile->waits)
		nr += 8 * profile->waits->nr_accounts + tree_elements(&profile->waits->tree);
	for (i = 0; i < profile->nr_histograms; i++)
		nr += profile->histograms[i].nr_bins;
	return nr;
}

/*
 * Folds the sum whenever it has doubled. Each bin is then moved only a few times, however many
 * parts there are, and memory is that of the sum rather than of its parts. Each thread of a merge
 * has its own sum.
 */
static int fold_when_large(struct profile_merger *merger, struct error *err)
{
	size_t from = merger->fold_from ? merger->fold_from : FOLD_MIN;

	if (profile_elements(merger->sum) < 2 * merger->folded + from)
		return 0;
	if (profile_fold(merger->sum))
		return no_memory(err);
	merger->folded = profile_elements(merger->sum);
	return 0;
}

bool profile_lacks_callers(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets && !profile->callers; i++) {
		const struct profile_target *target = &profile->targets[i];

		if (!profile_target_is_call(target) &&
		    (target->ticks.binned || target->ticks.overflow || target->ticks.outside))
			return true;
	}
	return false;
}

bool profile_lacks_waits(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets && !profile->waits; i++)
		if (!profile_target_is_call(&profile->targets[i]))
			return true;
	return false;
}

static void drop_callers(struct profile *profile)
{
	profile_callers_free(profile->callers);
	profile->callers = NULL;
}

/* If only some parts have callers, it would be unknown whose callees the other ticks are. */
static int check_callers(const struct profile_merger *merger, const struct profile_merger *part,
			 struct error *err)
{
	if (!(merger->sum->callers && profile_lacks_callers(part->sum)) &&
	    !(part->sum->callers && profile_lacks_callers(merger->sum)))
		return 0;
	if (merger->drops_callers) {
		drop_callers(merger->sum);
		drop_callers(part->sum);
		return 0;
	}
	return error_with_hint(err, -EINVAL,
			       "one sum of those with callers, another of those without",
			       part->sum->callers ? "%.200s: callers, and %.200s has none" :
						    "%.200s: no callers, and %.200s has them",
			       part->callers_of, merger->callers_of);
}

/* In one sum, the wall time would be of some parts, and the ticks of all. */
static int check_waits_of_both(const struct profile_merger *merger,
			       const struct profile_merger *part, struct error *err)
{
	if (!merger->all_waits || (!(merger->sum->waits && profile_lacks_waits(part->sum)) &&
				   !(part->sum->waits && profile_lacks_waits(merger->sum))))
		return 0;
	return error_with_hint(err, -EINVAL,
			       "one sum of those with waits, another of those without",
			       part->sum->waits ? "%.200s: waits, and %.200s has none" :
						  "%.200s: no waits, and %.200s has them",
			       part->waits_of, merger->waits_of);
}

static int join(struct profile_merger *merger, struct profile_merger *part, struct error *err)
{
	int ret = check_sampling(&merger->sum->sampling, &part->sum->sampling, part->first,
				 part->hierarchy_of, err);

	if (!ret)
		ret = check_callers(merger, part, err);
	if (!ret)
		ret = check_waits_of_both(merger, part, err);
	if (ret)
		return ret;
	if (!merger->hierarchy_of)
		merger->hierarchy_of = part->hierarchy_of;
	if (!merger->callers_of)
		merger->callers_of = part->callers_of;
	if (!merger->waits_of)
		merger->waits_of = part->waits_of;
	if (join_heads(merger->sum, part->sum) || profile_append(merger->sum, part->sum))
		return no_memory(err);
	return fold_when_large(merger, err);
}

int profile_merger_add(struct profile_merger *merger, struct profile *part, const char *name,
		       struct error *err)
{
	struct profile_merger one = *merger;
	int ret = label(part) || list_hosts(part) ? no_memory(err) : 0;

	one.sum = part;
	one.first = name;
	one.hierarchy_of = part->sampling.hierarchy ? name : NULL;
	one.callers_of = part->callers || profile_lacks_callers(part) ? name : NULL;
	one.waits_of = part->waits || profile_lacks_waits(part) ? name : NULL;
	if (!ret && !merger->sum) {
		*merger = one;
		return 0;
	}
	if (!ret)
		ret = join(merger, &one, err);
	profile_free(part);
	return ret;
}

int profile_merger_join(struct profile_merger *merger, struct profile_merger *other,
			struct error *err)
{
	int ret = 0;

	if (other->sum && !merger->sum) {
		*merger = *other;
		other->sum = NULL;
	} else if (other->sum) {
		ret = join(merger, other, err);
	}
	profile_merger_free(other);
	return ret;
}

DEFINE_COMPARE_AS(compare_causes, struct profile_lost, strcmp(a->cause, b->cause))

static void sort_account(struct profile_account *account)
{
	SORT(account->lost, account->nr_lost, compare_causes);
}

static char *common(const char *a, const char *b)
{
	return strdup(a && b && !strcmp(a, b) ? a : "");
}

/* Puts the hosts' common values into the head. A single host needs no list. */
static int name_hosts(struct profile *profile)
{
	const struct profile_host *first = &profile->hosts[0];
	const struct profile_host *last = &profile->hosts[profile->nr_hosts - 1];
	struct profile_host *host = &profile->host;
	const struct profile_host *other;

	profile_members_free(profile_host_members, host);
	if (profile->nr_hosts == 1) {
		*host = profile->hosts[0];
		profile->nr_hosts = 0;
		return 0;
	}
	*host = (struct profile_host){ .kernel = strdup(first->kernel),
				       .arch = strdup(first->arch),
				       .name = common(first->name, last->name),
				       .cpus = first->cpus };
	for (other = first; other <= last && host->kernel && host->arch; other++) {
		if (strcmp(host->kernel, other->kernel) != 0)
			*host->kernel = '\0';
		if (strcmp(host->arch, other->arch) != 0)
			*host->arch = '\0';
		if (host->cpus != other->cpus)
			host->cpus = 0;
	}
	return host->kernel && host->arch && host->name ? 0 : -ENOMEM;
}

static void forget_host(char **host, const struct profile *profile)
{
	if (strcmp(*host, profile->host.name) != 0)
		return;
	free(*host);
	*host = NULL;
}

/* Removes values from targets and labels that the head has. */
static void unlabel(struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		struct profile_target *target = &profile->targets[i];

		sort_account(&target->ticks);
		forget_host(&target->host, profile);
		if (target->period_ns == profile->sampling.period_ns &&
		    !profile_target_is_call(target))
			target->period_ns = 0;
	}
	for (i = 0; i < profile->nr_labels; i++)
		forget_host(&profile->labels[i].host, profile);
}

/* A sum at its maximum may look exact if all ticks are binned, but bins wrap. */
static bool is_exact(const struct profile_account *account)
{
	return account->total < UINT64_MAX && profile_account_exact(account);
}

static bool exact(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (!is_exact(&profile->targets[i].ticks))
			return false;
	return is_exact(&profile->ticks);
}

static int check_waits(const struct profile *profile, struct error *err)
{
	const struct profile_waits *waits = profile->waits;
	size_t i;
	int ret = waits ? profile_waits_check(profile, "merge", err) : 0;

	for (i = 0; !ret && waits && i < waits->nr_accounts; i++)
		if (waits->accounts[i].wall_ns == UINT64_MAX)
			ret = -EBADMSG;
	return ret == -EBADMSG ? error_set(err, -EOVERFLOW, "merge: more than 2^64 ns of waits") :
				 ret;
}

/* If both kinds of targets come together, calls no longer count. They come last. */
static int leave_out_calls(struct profile *profile)
{
	const size_t nr = profile->nr_targets;

	if (profile->kinds != KINDS_OTHERS || !profile_target_is_call(&profile->targets[nr - 1]))
		return 0;
	return profile_sum_targets(profile);
}

/* The writer adds causes of ours that are missing. */
enum { CAUSES_MAX = PROFILE_CAUSES_MAX - LOST_CAUSE_COUNT };

static bool has_many_causes(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (profile->targets[i].ticks.nr_lost > CAUSES_MAX)
			return true;
	return profile->ticks.nr_lost > CAUSES_MAX;
}

static int finish_merge(struct profile *profile, struct error *err)
{
	int ret;

	free(profile->tool);
	profile->tool = strdup(BPFPROFIL_VERSION);
	if (!profile->tool || profile_fold(profile) || leave_out_calls(profile) ||
	    name_hosts(profile))
		return no_memory(err);
	if (has_many_causes(profile))
		return error_set(err, -E2BIG, "merge: more than %d causes of lost ticks",
				 CAUSES_MAX);
	if (!exact(profile))
		return error_set(err, -EOVERFLOW, "merge: more than 2^64 ticks");
	ret = check_waits(profile, err);
	if (ret)
		return ret;
	unlabel(profile);
	sort_account(&profile->ticks);
	SORT(profile->functions, profile->nr_functions, profile_function_compare);
	return 0;
}

int profile_merger_finish(struct profile_merger *merger, struct profile **result, struct error *err)
{
	int ret = finish_merge(merger->sum, err);

	if (ret)
		return ret;
	*result = merger->sum;
	merger->sum = NULL;
	return 0;
}

void profile_merger_free(struct profile_merger *merger)
{
	profile_free(merger->sum);
	merger->sum = NULL;
}
