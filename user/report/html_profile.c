// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A profile as the page has it: much of the JSON document, but shorter, and each bin with its
 * function.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"
#include "report/cgroup_names.h"
#include "report/cpu_time.h"
#include "report/html_impl.h"
#include "report/render.h"
#include "shared/counters.h"

/* Writes the next element of a list. */
static void put_number(FILE *data, bool first, uint64_t value)
{
	if (!first)
		putc(',', data);
	json_text_u64(data, value);
}

static void put_double(FILE *data, const char *name, double value)
{
	fprintf(data, ", \"%s\": ", name);
	json_text_double(data, value);
}

static void put_strings(FILE *data, const char *separator, char *const *texts, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		fputs(separator, data);
		json_text_string(data, texts[i]);
		separator = ", ";
	}
	putc(']', data);
}

/* Notes where ticks and CPU time differ come before the profile's own. */
static int put_notes(const struct profile *profile, FILE *data)
{
	struct cpu_time_notes notes;
	size_t i;

	if (cpu_time_judge(profile, REPORT_ALL_TARGETS, &notes))
		return -ENOMEM;
	fputs(",\n\"notes\": [", data);
	for (i = 0; i < notes.nr; i++) {
		fputs(i ? ", " : "", data);
		json_text_string(data, notes.text[i]);
	}
	put_strings(data, notes.nr ? ", " : "", profile->notes, profile->nr_notes);
	return 0;
}

static void put_host(const struct profile *profile, FILE *data)
{
	const struct profile_host *host = &profile->host;

	fprintf(data, ",\n\"host\": { \"hosts\": %zu", profile->nr_hosts ? profile->nr_hosts : 1);
	render_json_text(data, "name", host->name);
	render_json_text(data, "kernel", host->kernel);
	render_json_text(data, "arch", host->arch);
	render_json_u64(data, "cpus", host->cpus);
	fputs(" }", data);
}

static void put_sampling(const struct profile_sampling *sampling, FILE *data)
{
	fprintf(data, ",\n\"sampling\": { \"period_ns\": %" PRIu64, sampling->period_ns);
	put_double(data, "requested_hz", sampling->requested_hz);
	put_double(data, "measured_hz", sampling->measured_hz);
	render_json_text(data, "mode", sampling->mode);
	render_json_text(data, "split", sampling->split);
	fputs(" }", data);
}

/* The meaning of each cause in the account. */
static void put_causes(FILE *data)
{
#define CAUSE(id, key, text) ", \"" key "\": \"" text "\""
	static const char causes[] = LOST_CAUSES(CAUSE);
#undef CAUSE

	fprintf(data, ",\n\"causes\": { %s }", causes + 2);
}

static int put_head(const struct profile *profile, FILE *data)
{
	size_t words = 0;

	fprintf(data, "{ \"complete\": %s", profile->complete ? "true" : "false");
	render_json_text(data, "tool", profile->tool);
	render_json_text(data, "started", profile->started);
	render_json_u64(data, "duration_ns", profile->duration_ns);
	while (profile->command && profile->command[words])
		words++;
	fputs(",\n\"command\": [", data);
	put_strings(data, "", profile->command, words);
	if (put_notes(profile, data))
		return -ENOMEM;
	put_host(profile, data);
	put_sampling(&profile->sampling, data);
	put_causes(data);
	fputs(",\n\"ticks\": ", data);
	render_json_account(&profile->ticks, data);
	return 0;
}

static void put_targets(const struct profile *profile, FILE *data)
{
	const struct profile_target *target;
	uint32_t i;

	fputs(",\n\"targets\": [", data);
	for (i = 0; i < profile->nr_targets; i++) {
		target = &profile->targets[i];
		fprintf(data, "%s\n{ \"counts\": %s", i ? "," : "",
			profile_target_counts(profile, i) ? "true" : "false");
		render_json_text(data, "kind", target->kind);
		render_json_text(data, "name", target->name);
		render_json_text(data, "host", target->host);
		put_double(data, "ns", profile_target_time(profile, i));
		fputs(", \"ticks\": ", data);
		render_json_account(&target->ticks, data);
		fputs(" }", data);
	}
	putc(']', data);
}

static void lower(uint64_t *base, uint64_t offset)
{
	if (offset < *base)
		*base = offset;
}

uint64_t *html_object_bases(const struct profile *profile)
{
	uint64_t *bases = malloc((profile->nr_objects + 1) * sizeof(*bases));
	size_t i, j;

	if (!bases)
		return NULL;
	for (i = 0; i < profile->nr_objects; i++) {
		bases[i] = profile->objects[i].kind == PROFILE_FILE ? 0 : UINT64_MAX;
		for (j = 0; j < profile->objects[i].nr_text; j++)
			lower(&bases[i], profile->objects[i].text[j].offset);
	}
	for (i = 0; i < profile->nr_histograms; i++)
		lower(&bases[profile->histograms[i].object], profile->histograms[i].offset);
	for (i = 0; i < profile->nr_functions; i++)
		lower(&bases[profile->functions[i].object], profile->functions[i].offset);
	return bases;
}

static void put_object(const struct profile_object *object, uint64_t base, FILE *data)
{
	size_t i;

	fprintf(data, "{ \"base\": \"0x%" PRIx64 "\"", base);
	render_json_text(data, "kind", profile_object_kind_name(object->kind));
	render_json_text(data, "path", object->path);
	render_json_text(data, "build_id", object->build_id);
	fputs(", \"text\": [", data);
	/* For all kinds but files, an address is an offset. */
	for (i = 0; i < object->nr_text; i++)
		fprintf(data, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			object->text[i].offset - base, object->text[i].address - base,
			object->text[i].size);
	fputs("] }", data);
}

static void put_objects(const struct profile *profile, const uint64_t *bases, FILE *data)
{
	size_t i;

	fputs(",\n\"objects\": [", data);
	for (i = 0; i < profile->nr_objects; i++) {
		fputs(i ? ",\n" : "\n", data);
		put_object(&profile->objects[i], bases[i], data);
	}
	putc(']', data);
}

/* [object, offset, size, name] */
static void put_functions(const struct profile *profile, const uint64_t *bases, FILE *data)
{
	const struct profile_function *function;
	size_t i;

	fputs(",\n\"functions\": [", data);
	for (i = 0; i < profile->nr_functions; i++) {
		function = &profile->functions[i];
		fputs(i ? ",\n[" : "\n[", data);
		put_number(data, true, function->object);
		put_number(data, false, function->offset - bases[function->object]);
		put_number(data, false, function->size);
		putc(',', data);
		json_text_string(data, function->name);
		putc(']', data);
	}
	putc(']', data);
}

/* Writes index and ticks of each bin; the index is the distance from the previous one. */
static void put_bins(const struct profile_histogram *histogram, FILE *data)
{
	uint64_t last = 0;
	size_t i;

	fputs(",\n\"bins\": [", data);
	for (i = 0; i < histogram->nr_bins; i++) {
		put_number(data, !i, histogram->bins[i].index - last);
		put_number(data, false, histogram->bins[i].count);
		last = histogram->bins[i].index;
	}
	putc(']', data);
}

/*
 * Writes which functions the bins belong to: a function's index + 1, or 0 for none, and how many
 * bins in a row it has; then the next one.
 */
static void put_owners(const struct profile *profile, const struct profile_index *index,
		       const struct profile_histogram *histogram, FILE *data)
{
	const struct profile_function *function;
	uint64_t offset, owner, last = 0, run = 0;
	size_t i;

	fputs(", \"owners\": [", data);
	for (i = 0; i < histogram->nr_bins; i++, run++) {
		offset = profile_bin_start(histogram, i);
		function = profile_index_find(index, histogram->object, offset,
					      histogram->bytes_per_bin);
		owner = function ? (uint64_t)(function - profile->functions) + 1 : 0;
		if (i && owner == last)
			continue;
		if (i)
			put_number(data, false, run);
		put_number(data, !i, owner);
		last = owner;
		run = 0;
	}
	put_number(data, false, run);
	putc(']', data);
}

/* What is needed to write histograms. */
struct html_view {
	const struct profile *profile;
	const struct profile_index *index;
	const struct profile_weights *weights;
	const struct profile_weights *of_splits;
	const struct html_inlined *inlined;
	const struct cgroup_names *cgroups;
};

static void put_owner(const struct html_view *view, int64_t pid, const char *process,
		      const char *cgroup, FILE *data)
{
	if (pid >= 0)
		render_json_u64(data, "pid", (uint64_t)pid);
	if (process)
		render_json_text(data, "process", process);
	if (cgroup)
		render_json_text(data, "cgroup",
				 cgroup_names_find(view->cgroups, cgroup) ?: cgroup);
}

/* The time of each process and cgroup that is in no bin. */
static void put_rests(const struct html_view *view, FILE *data)
{
	const struct profile *profile = view->profile;
	const char *separator = "\n";
	uint64_t ns;
	size_t i;

	fputs(",\n\"rests\": [", data);
	for (i = 0; i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];

		ns = profile_weights_unbinned(view->of_splits, i);
		if (!ns)
			continue;
		fprintf(data, "%s{ \"target\": %" PRIu32, separator, split->target);
		render_json_u64(data, "ns", ns);
		put_owner(view, split->pid, split->process, split->cgroup, data);
		fputs(" }", data);
		separator = ",\n";
	}
	putc(']', data);
}

static void put_histogram(const struct html_view *view, const struct profile_histogram *histogram,
			  uint64_t base, FILE *data)
{
	fprintf(data, "{ \"target\": %" PRIu32, histogram->target);
	put_double(data, "weight", profile_weight(view->weights, histogram));
	put_double(data, "own", profile_weight(view->of_splits, histogram));
	render_json_u64(data, "object", histogram->object);
	put_owner(view, histogram->pid, histogram->process, histogram->cgroup, data);
	if (histogram->stopped)
		render_json_text(data, "stopped", histogram->stopped);
	render_json_u64(data, "offset", histogram->offset - base);
	render_json_u64(data, "bytes_per_bin", histogram->bytes_per_bin);
	put_bins(histogram, data);
	put_owners(view->profile, view->index, histogram, data);
	if (view->inlined)
		html_inlined_owners(view->inlined, histogram, data);
	fputs(" }", data);
}

/* An overflow bin stands for no text; its ticks are in the account. */
static void put_histograms(const struct html_view *view, const uint64_t *bases, FILE *data)
{
	const struct profile *profile = view->profile;
	const struct profile_histogram *histogram;
	const char *separator = "\n";
	size_t i;

	fputs(",\n\"histograms\": [", data);
	for (i = 0; i < profile->nr_histograms; i++) {
		histogram = &profile->histograms[i];
		if (histogram->overflow || !profile_histogram_ticks(histogram))
			continue;
		fputs(separator, data);
		put_histogram(view, histogram, bases[histogram->object], data);
		separator = ",\n";
	}
	fputs("] }", data);
}

int html_profile(const struct profile *profile, const uint64_t *bases, struct timeline *timeline,
		 const struct html_inlined *inlined, FILE *data)
{
	struct profile_index *index = profile_index_new(profile);
	struct profile_weights *weights = profile_weights_new(profile);
	struct profile_weights *of_splits = profile_weights_of_splits(profile);
	struct cgroup_names *cgroups = cgroup_names_new(profile);
	const struct html_view view = { profile, index, weights, of_splits, inlined, cgroups };
	int ret = index && weights && of_splits && cgroups ? put_head(profile, data) : -ENOMEM;

	if (!ret) {
		put_targets(profile, data);
		put_objects(profile, bases, data);
		put_functions(profile, bases, data);
		if (timeline)
			html_timeline(timeline, profile, data);
		if (inlined)
			html_inlined_names(inlined, data);
		put_rests(&view, data);
		put_histograms(&view, bases, data);
	}
	profile_index_free(index);
	profile_weights_free(weights);
	profile_weights_free(of_splits);
	cgroup_names_free(cgroups);
	return ret;
}
