// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "shared/counters.h"

#define LOST_KEY(id, key, text) [LOST_##id] = key,
static const char *const lost_keys[] = { LOST_CAUSES(LOST_KEY) };
#undef LOST_KEY

#define TUPLES_A_LINE 16

/* before: the text before the value, a separator and the key. */
static void put_string(FILE *stream, const char *before, const char *value)
{
	fputs(before, stream);
	json_text_string(stream, value);
}

static void put_string_or_null(FILE *stream, const char *before, const char *value)
{
	fputs(before, stream);
	json_text_string_or_null(stream, value);
}

static void put_u64(FILE *stream, const char *before, uint64_t value)
{
	fputs(before, stream);
	json_text_u64(stream, value);
}

static void put_double(FILE *stream, const char *before, double value)
{
	fputs(before, stream);
	json_text_double(stream, value);
}

static void put_bool(FILE *stream, const char *before, bool value)
{
	fprintf(stream, "%s%s", before, value ? "true" : "false");
}

static uint64_t lost_ticks(const struct profile_account *account, const char *cause)
{
	size_t i;

	for (i = 0; i < account->nr_lost; i++)
		if (!strcmp(account->lost[i].cause, cause))
			return account->lost[i].ticks;
	return 0;
}

static bool is_known_cause(const char *cause)
{
	size_t i;

	for (i = 0; i < LOST_CAUSE_COUNT; i++)
		if (!strcmp(lost_keys[i], cause))
			return true;
	return false;
}

/* Writes our own causes in order, even if they are 0, then unknown ones. */
static void put_lost(FILE *stream, const struct profile_account *account)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < LOST_CAUSE_COUNT; i++) {
		put_string(stream, separator, lost_keys[i]);
		put_u64(stream, ": ", lost_ticks(account, lost_keys[i]));
		separator = ", ";
	}
	for (i = 0; i < account->nr_lost; i++) {
		if (is_known_cause(account->lost[i].cause))
			continue;
		put_string(stream, separator, account->lost[i].cause);
		put_u64(stream, ": ", account->lost[i].ticks);
	}
}

static void put_account(FILE *stream, const struct profile_account *account)
{
	put_u64(stream, "{\"total\": ", account->total);
	put_u64(stream, ", \"binned\": ", account->binned);
	put_u64(stream, ", \"overflow\": ", account->overflow);
	put_u64(stream, ", \"outside\": ", account->outside);
	put_u64(stream, ", \"filtered\": ", account->filtered);
	fputs(", \"lost\": {", stream);
	put_lost(stream, account);
	fputs("}}", stream);
}

static void put_command(FILE *stream, char *const *command)
{
	const char *separator = "";

	fputs(",\n\"command\": [", stream);
	for (; command && *command; command++) {
		put_string(stream, separator, *command);
		separator = ", ";
	}
	fputs("]", stream);
}

static void put_host(FILE *stream, const struct profile_host *host)
{
	put_string(stream, "{\"kernel\": ", host->kernel);
	put_string(stream, ", \"arch\": ", host->arch);
	put_u64(stream, ", \"cpus\": ", host->cpus);
	put_string(stream, ", \"name\": ", host->name);
	fputs("}", stream);
}

static void put_hosts(FILE *stream, const struct profile *profile)
{
	size_t i;

	fputs(",\n\"host\": ", stream);
	put_host(stream, &profile->host);
	for (i = 0; i < profile->nr_hosts; i++) {
		fputs(i ? ",\n" : ",\n\"hosts\": [\n", stream);
		put_host(stream, &profile->hosts[i]);
	}
	fputs(i ? "\n]" : "", stream);
}

static void put_delivered(FILE *stream, const struct profile_sampling *sampling)
{
	size_t i;

	for (i = 0; i < sampling->nr_delivered; i++)
		put_u64(stream, i ? ", " : ",\n\"delivered\": [", sampling->delivered[i]);
	fputs(i ? "]" : "", stream);
}

static void put_segments(FILE *stream, const struct profile_sampling *sampling)
{
	size_t i;

	for (i = 0; i < sampling->nr_segments; i++) {
		const struct profile_segment *segment = &sampling->segments[i];

		fputs(i ? ",\n" : ",\n\"segments\": [\n", stream);
		put_u64(stream, "{\"since_ns\": ", segment->since_ns);
		put_u64(stream, ", \"duration_ns\": ", segment->duration_ns);
		put_u64(stream, ", \"period_ns\": ", segment->period_ns);
		fputs("}", stream);
	}
	fputs(i ? "\n]" : "", stream);
}

static void put_cost(FILE *stream, const struct profile_cost *cost)
{
	put_double(stream, ",\n\"cost\": {\"budget_percent\": ", cost->budget_percent);
	put_double(stream, ", \"percent\": ", cost->percent);
	put_double(stream, ", \"interrupt_ns\": ", cost->interrupt_ns);
	put_double(stream, ", \"handler_ns\": ", cost->handler_ns);
	put_double(stream, ", \"fixed_percent\": ", cost->fixed_percent);
	fputs("}", stream);
}

static void put_sampling(FILE *stream, const struct profile_sampling *sampling)
{
	put_string(stream, ",\n\"sampling\": {\"source\": ", sampling->source);
	put_string(stream, ", \"mode\": ", sampling->mode);
	if (sampling->split)
		put_string(stream, ", \"split\": ", sampling->split);
	if (sampling->cpus)
		put_string(stream, ", \"cpus\": ", sampling->cpus);
	if (sampling->hierarchy)
		put_string(stream, ", \"hierarchy\": ", sampling->hierarchy);
	put_u64(stream, ", \"period_ns\": ", sampling->period_ns);
	put_double(stream, ", \"requested_hz\": ", sampling->requested_hz);
	put_double(stream, ", \"measured_hz\": ", sampling->measured_hz);
	if (sampling->duty_percent > 0)
		put_double(stream, ", \"duty_percent\": ", sampling->duty_percent);
	if (sampling->sampled_ns || sampling->duty_percent > 0)
		put_u64(stream, ", \"sampled_ns\": ", sampling->sampled_ns);
	if (sampling->unsampled_ns)
		put_u64(stream, ", \"unsampled_ns\": ", sampling->unsampled_ns);
	put_delivered(stream, sampling);
	put_segments(stream, sampling);
	if (sampling->cost.budget_percent > 0)
		put_cost(stream, &sampling->cost);
	fputs("}", stream);
}

/* In the head and in targets, after the account. */
static void put_cpu_time(FILE *stream, const char *before, bool known, uint64_t ns)
{
	if (known)
		put_u64(stream, before, ns);
}

static void put_pid(FILE *stream, int64_t pid)
{
	if (pid < 0)
		fputs(", \"pid\": null", stream);
	else
		put_u64(stream, ", \"pid\": ", (uint64_t)pid);
}

static void put_head(FILE *stream, const struct profile *profile)
{
	uint64_t cpu_ns;
	bool known = profile_cpu_time(profile, &cpu_ns);

	put_u64(stream, "{\"format\": \"bpfprofil\", \"version\": ", PROFILE_VERSION);
	put_string(stream, ", \"tool\": ", profile->tool);
	put_string(stream, ",\n\"started\": ", profile->started);
	put_u64(stream, ", \"duration_ns\": ", profile->duration_ns);
	put_bool(stream, ", \"complete\": ", profile->complete);
	put_hosts(stream, profile);
	put_command(stream, profile->command);
	put_sampling(stream, &profile->sampling);
	fputs(",\n\"ticks\": ", stream);
	put_account(stream, &profile->ticks);
	put_cpu_time(stream, ",\n\"cpu_ns\": ", known, cpu_ns);
}

static void put_target(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_target *target = &profile->targets[i];

	put_u64(stream, "{\"id\": ", i);
	put_string(stream, ", \"kind\": ", target->kind);
	put_string(stream, ", \"name\": ", target->name);
	if (target->cgroup)
		put_string(stream, ", \"cgroup\": ", target->cgroup);
	if (target->host)
		put_string(stream, ", \"host\": ", target->host);
	if (target->period_ns)
		put_u64(stream, ", \"period_ns\": ", target->period_ns);
	fputs(", \"ticks\": ", stream);
	put_account(stream, &target->ticks);
	put_cpu_time(stream, ", \"cpu_ns\": ", target->cpu_known, target->cpu_ns);
	if (target->excess)
		put_u64(stream, ", \"excess\": ", target->excess);
	if (target->kernel_known)
		put_u64(stream, ", \"kernel_ticks\": ", target->kernel_ticks);
	fputs("}", stream);
}

static void put_split(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_split *split = &profile->splits[i];

	put_u64(stream, "{\"target\": ", split->target);
	put_pid(stream, split->pid);
	if (split->process)
		put_string(stream, ", \"process\": ", split->process);
	put_string_or_null(stream, ", \"cgroup\": ", split->cgroup);
	put_u64(stream, ", \"ticks\": ", split->ticks);
	put_u64(stream, ", \"cpu_ns\": ", split->cpu_ns);
	fputs("}", stream);
}

static void put_label(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_label *label = &profile->labels[i];

	fputs("{", stream);
	if (label->host) {
		put_string(stream, "\"host\": ", label->host);
		fputs(", ", stream);
	}
	put_string_or_null(stream, "\"cgroup\": ", label->cgroup);
	put_string(stream, ", \"key\": ", label->key);
	put_string(stream, ", \"value\": ", label->value);
	fputs("}", stream);
}

static void put_object(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_object *object = &profile->objects[i];
	size_t j;

	put_u64(stream, "{\"id\": ", i);
	put_string(stream, ", \"kind\": ", profile_object_kind_name(object->kind));
	put_string(stream, ", \"path\": ", object->path);
	put_string_or_null(stream, ", \"build_id\": ", object->build_id);
	fputs(", \"text\": [", stream);
	for (j = 0; j < object->nr_text; j++) {
		put_u64(stream, j ? ", {\"offset\": " : "{\"offset\": ", object->text[j].offset);
		put_u64(stream, ", \"address\": ", object->text[j].address);
		put_u64(stream, ", \"size\": ", object->text[j].size);
		fputs("}", stream);
	}
	fputs("]}", stream);
}

static void put_bins(FILE *stream, const struct profile_histogram *histogram)
{
	size_t i;

	fputs(", \"bins\": [", stream);
	for (i = 0; i < histogram->nr_bins && !ferror(stream); i++) {
		put_u64(stream, i ? ",[" : "[", histogram->bins[i].index);
		put_u64(stream, ",", histogram->bins[i].count);
		fputs("]", stream);
	}
	fputs("]", stream);
}

static void put_histogram(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_histogram *histogram = &profile->histograms[i];

	put_u64(stream, "{\"target\": ", histogram->target);
	put_u64(stream, ", \"object\": ", histogram->object);
	put_pid(stream, histogram->pid);
	if (histogram->process)
		put_string(stream, ", \"process\": ", histogram->process);
	put_string_or_null(stream, ", \"cgroup\": ", histogram->cgroup);
	put_u64(stream, ", \"offset\": ", histogram->offset);
	put_u64(stream, ", \"size\": ", histogram->size);
	put_u64(stream, ", \"width\": ", histogram->width);
	put_u64(stream, ", \"scale\": ", histogram->scale);
	put_u64(stream, ", \"bytes_per_bin\": ", histogram->bytes_per_bin);
	put_bool(stream, ", \"overflow\": ", histogram->overflow);
	put_string_or_null(stream, ", \"stopped\": ", histogram->stopped);
	if (histogram->dialect) {
		put_string(stream, ", \"dialect\": ", histogram->dialect);
		put_u64(stream, ", \"buffer\": ", histogram->buffer);
		put_u64(stream, ", \"region\": ", histogram->region);
	}
	put_bins(stream, histogram);
	fputs("}", stream);
}

static void put_root(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_root *root = &profile->callers->roots[i];

	put_u64(stream, "{\"target\": ", root->target);
	put_pid(stream, root->pid);
	if (root->process)
		put_string(stream, ", \"process\": ", root->process);
	put_string_or_null(stream, ", \"cgroup\": ", root->cgroup);
	put_string(stream, ", \"end\": ", walk_end_words[root->end]);
	put_u64(stream, ", \"ticks\": ", root->ticks);
	fputs("}", stream);
}

static void put_wait_class(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_wait_class *class = &profile->waits->classes[i];

	put_string(stream, "{\"name\": ", class->name);
	if (class->io)
		put_bool(stream, ", \"io\": ", true);
	fputs("}", stream);
}

static void put_wait_account(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_wait_account *account = &profile->waits->accounts[i];
	size_t j;

	put_u64(stream, "{\"target\": ", account->target);
	put_pid(stream, account->pid);
	if (account->process)
		put_string(stream, ", \"process\": ", account->process);
	put_string_or_null(stream, ", \"cgroup\": ", account->cgroup);
	put_u64(stream, ", \"wall_ns\": ", account->wall_ns);
	put_u64(stream, ", \"cpu_ns\": ", account->cpu_ns);
	put_u64(stream, ", \"runnable_ns\": ", account->runnable_ns);
	put_u64(stream, ", \"stolen_ns\": ", account->stolen_ns);
	put_u64(stream, ", \"unaccounted_ns\": ", account->unaccounted_ns);
	fputs(", \"classes\": [", stream);
	for (j = 0; j < account->nr_sums; j++) {
		put_u64(stream, j ? ",[" : "[", account->sums[j].class);
		put_u64(stream, ",", account->sums[j].ns);
		put_u64(stream, ",", account->sums[j].count);
		fputs("]", stream);
	}
	fputs("]}", stream);
}

static void put_wait_root(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_wait_root *root = &profile->waits->roots[i];

	put_u64(stream, "{\"target\": ", root->target);
	put_pid(stream, root->pid);
	if (root->process)
		put_string(stream, ", \"process\": ", root->process);
	put_string_or_null(stream, ", \"cgroup\": ", root->cgroup);
	put_u64(stream, ", \"class\": ", root->class);
	if (root->end < WALK_END_COUNT)
		put_string(stream, ", \"end\": ", walk_end_words[root->end]);
	put_u64(stream, ", \"ns\": ", root->ns);
	put_u64(stream, ", \"count\": ", root->count);
	fputs("}", stream);
}

static void put_function(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_function *function = &profile->functions[i];

	put_u64(stream, "{\"object\": ", function->object);
	put_string(stream, ", \"name\": ", function->name);
	put_u64(stream, ", \"offset\": ", function->offset);
	put_u64(stream, ", \"size\": ", function->size);
	put_u64(stream, ", \"ticks\": ", function->ticks);
	fputs("}", stream);
}

static void put_note(FILE *stream, const struct profile *profile, size_t i)
{
	json_text_string(stream, profile->notes[i]);
}

static void put_records(FILE *stream, const struct profile *profile, const char *key, size_t nr,
			void (*put)(FILE *, const struct profile *, size_t))
{
	size_t i;

	fprintf(stream, ",\n\"%s\": [", key);
	for (i = 0; i < nr && !ferror(stream); i++) {
		fputs(i ? ",\n" : "\n", stream);
		put(stream, profile, i);
	}
	fputs(nr ? "\n]" : "]", stream);
}

static void put_place(FILE *stream, const struct profile_site *site)
{
	put_u64(stream, "[", site->object);
	put_u64(stream, ",", site->offset);
	fputs("]", stream);
}

static void put_site(FILE *stream, const struct profile *profile, size_t i)
{
	put_place(stream, &profile->callers->sites[i]);
}

static void put_wait_site(FILE *stream, const struct profile *profile, size_t i)
{
	put_place(stream, &profile->waits->sites[i]);
}

static void put_parent_and_site(FILE *stream, int32_t parent, uint32_t site)
{
	put_u64(stream, parent < 0 ? "[-" : "[", (uint64_t)llabs(parent));
	if (site == PROFILE_SITE_KERNEL)
		fputs(",-1", stream);
	else
		put_u64(stream, ",", site);
}

static void put_node(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_node *node = &profile->callers->nodes[i];

	put_parent_and_site(stream, node->parent, node->site);
	put_u64(stream, ",", node->ticks);
	fputs("]", stream);
}

static void put_wait_node(FILE *stream, const struct profile *profile, size_t i)
{
	const struct profile_wait_node *node = &profile->waits->nodes[i];

	put_parent_and_site(stream, node->parent, node->site);
	put_u64(stream, ",", node->ns);
	put_u64(stream, ",", node->count);
	fputs("]", stream);
}

/* Several per line, because there are a hundred thousand. */
static void put_tuples(FILE *stream, const struct profile *profile, size_t nr,
		       void (*put)(FILE *, const struct profile *, size_t))
{
	size_t i;

	for (i = 0; i < nr && !ferror(stream); i++) {
		if (i)
			fputs(i % TUPLES_A_LINE ? "," : ",\n", stream);
		else
			fputs("\n", stream);
		put(stream, profile, i);
	}
	fputs(nr ? "\n]" : "]", stream);
}

static void put_callers(FILE *stream, const struct profile *profile)
{
	const struct profile_callers *callers = profile->callers;

	fputs(",\n\"callers\": {\"sites\": [", stream);
	put_tuples(stream, profile, callers->nr_sites, put_site);
	put_records(stream, profile, "roots", callers->nr_roots, put_root);
	fputs(",\n\"nodes\": [", stream);
	put_tuples(stream, profile, callers->nr_nodes, put_node);
	fputs("}", stream);
}

static void put_waits(FILE *stream, const struct profile *profile)
{
	const struct profile_waits *waits = profile->waits;

	fputs(",\n\"waits\": {\"classes\": [", stream);
	put_tuples(stream, profile, waits->nr_classes, put_wait_class);
	put_records(stream, profile, "accounts", waits->nr_accounts, put_wait_account);
	fputs(",\n\"sites\": [", stream);
	put_tuples(stream, profile, waits->nr_sites, put_wait_site);
	put_records(stream, profile, "roots", waits->nr_roots, put_wait_root);
	fputs(",\n\"nodes\": [", stream);
	put_tuples(stream, profile, waits->nr_nodes, put_wait_node);
	fputs("}", stream);
}

int profile_write(const struct profile *profile, FILE *stream, struct error *err)
{
	int ret;

	errno = 0;
	put_head(stream, profile);
	put_records(stream, profile, "targets", profile->nr_targets, put_target);
	if (profile->nr_splits)
		put_records(stream, profile, "splits", profile->nr_splits, put_split);
	if (profile->nr_labels)
		put_records(stream, profile, "labels", profile->nr_labels, put_label);
	put_records(stream, profile, "objects", profile->nr_objects, put_object);
	put_records(stream, profile, "histograms", profile->nr_histograms, put_histogram);
	if (profile->callers)
		put_callers(stream, profile);
	if (profile->waits)
		put_waits(stream, profile);
	put_records(stream, profile, "functions", profile->nr_functions, put_function);
	put_records(stream, profile, "notes", profile->nr_notes, put_note);
	fputs("}\n", stream);
	if (!fflush(stream) && !ferror(stream))
		return 0;
	ret = errno ? -errno : -EIO;
	return error_errno(err, ret, "writing the profile");
}

int profile_save(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err)
{
	struct output *out;
	int ret;

	if (profile_is_confidential(profile))
		flags |= OUTPUT_CONFIDENTIAL;
	ret = output_open_as(path, flags, &out, err);
	if (ret)
		return ret;
	ret = profile_write(profile, output_stream(out), err);
	return output_finish(out, ret, err);
}
