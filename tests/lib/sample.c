// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/util.h"

/* A test without memory can show nothing, so it ends at once. */
static void *need(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static char *copy(const char *text)
{
	return text ? need(strdup(text)) : NULL;
}

static void *copy_array(const void *array, size_t nr, size_t size)
{
	void *new = need(calloc(nr, size));

	memcpy(new, array, nr * size);
	return new;
}

static void add_lost(struct profile_account *account, const char *cause, uint64_t ticks)
{
	account->lost = need(calloc(1, sizeof(*account->lost)));
	account->lost[0].cause = copy(cause);
	account->lost[0].ticks = ticks;
	account->nr_lost = 1;
}

static void add_targets(struct profile *profile)
{
	struct profile_target *targets = need(calloc(2, sizeof(*targets)));

	targets[0].kind = copy("command");
	targets[0].name = copy("./work \"quoted\", twice");
	targets[0].ticks = (struct profile_account){ .total = 1000,
						     .binned = 940,
						     .overflow = 10,
						     .outside = 20,
						     .filtered = 25 };
	add_lost(&targets[0].ticks, "exit", 5);
	targets[1].kind = copy("cgroup");
	targets[1].name = copy("/sys/fs/cgroup/caf\xc3\xa9");
	targets[1].cgroup = copy("/caf\xc3\xa9");
	targets[1].ticks = (struct profile_account){ .total = 60, .binned = 60 };
	profile->targets = targets;
	profile->nr_targets = 2;
	profile->ticks = (struct profile_account){ .total = 1060,
						   .binned = 1000,
						   .overflow = 10,
						   .outside = 20,
						   .filtered = 25 };
	add_lost(&profile->ticks, "exit", 5);
}

static void add_object(struct profile *profile, enum profile_object_kind kind, const char *path,
		       const char *build_id, struct profile_text text)
{
	struct profile_object *object = &profile->objects[profile->nr_objects++];

	object->kind = kind;
	object->path = copy(path);
	object->build_id = copy(build_id);
	if (!text.size)
		return;
	object->text = copy_array(&text, 1, sizeof(text));
	object->nr_text = 1;
}

static void add_objects(struct profile *profile)
{
	profile->objects = need(calloc(4, sizeof(*profile->objects)));
	add_object(profile, PROFILE_FILE, "/usr/bin/work", "00ff12ab",
		   (struct profile_text){ 0x1000, 0x401000, 0x8000 });
	add_object(profile, PROFILE_JIT, "[jit 77]\nsecond line", NULL, (struct profile_text){ 0 });
	add_object(profile, PROFILE_KERNEL, "[kernel]", "8badf00d",
		   (struct profile_text){ 0xffffffff81000000, 0xffffffff81000000, 0x1000000 });
	add_object(profile, PROFILE_MEMORY, "not utf-8: \xff\xc3(", NULL,
		   (struct profile_text){ 0 });
}

static struct profile_histogram *add_histogram(struct profile *profile, uint32_t target,
					       uint32_t object, const struct profile_bin *bins,
					       size_t nr_bins)
{
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms++];

	histogram->target = target;
	histogram->object = object;
	histogram->pid = -1;
	histogram->width = 4;
	histogram->bytes_per_bin = 1;
	histogram->scale = 131072;
	histogram->bins = copy_array(bins, nr_bins, sizeof(*bins));
	histogram->nr_bins = nr_bins;
	return histogram;
}

static void add_histograms(struct profile *profile)
{
	static const struct profile_bin first[] = { { 0, 1 }, { 16, 500 }, { 0x7fff, 99 } };
	static const struct profile_bin second[] = { { 8, 20 }, { 17, 40 } };
	static const struct profile_bin coarse[] = { { 3, 300 } };
	static const struct profile_bin kernel[] = { { 1, 40 } };
	static const struct profile_bin overflow[] = { { 0, 10 } };
	struct profile_histogram *h;

	profile->histograms = need(calloc(5, sizeof(*profile->histograms)));
	h = add_histogram(profile, 0, 0, first, 3);
	h->offset = 0x1000;
	h->size = 0x8000;
	h = add_histogram(profile, 1, 0, second, 2);
	h->offset = 0x1000;
	h->size = 0x8000;
	h->cgroup = copy("/caf\xc3\xa9");
	h = add_histogram(profile, 0, 1, coarse, 1);
	h->pid = 77;
	h->process = copy("jit, \"one\"");
	h->offset = 0x7f0000000000;
	h->size = 0x3001; /* not a multiple of its bins, because the last one must count too */
	h->bytes_per_bin = 4096;
	h->scale = 32;
	h->stopped = copy("no_memory");
	h = add_histogram(profile, 0, 2, kernel, 1);
	h->offset = 0xffffffff81000000;
	h->size = 0x1000000;
	h = add_histogram(profile, 0, 3, overflow, 1);
	h->size = 4;
	h->bytes_per_bin = 4;
	h->scale = 2;
	h->overflow = true;
	h->dialect = copy("irix");
	h->buffer = 0x7ffc00000001;
	h->region = 4095;
}

static void add_functions(struct profile *profile)
{
	static const struct profile_function functions[] = {
		{ 0, (char *)"operator,(A, B)", 0x1010, 0x20, 540 },
		{ 1, (char *)"late", 0x7f0000003800, 0x100, 300 },
		{ 0, (char *)"main", 0x1000, 0x10, 21 },
	};
	size_t i;

	profile->functions = copy_array(functions, 3, sizeof(functions[0]));
	profile->nr_functions = 3;
	for (i = 0; i < 3; i++)
		profile->functions[i].name = copy(functions[i].name);
}

static struct profile *sample_head(void)
{
	struct profile *profile = need(profile_new());

	profile->tool = copy("0.1.0");
	profile->started = copy("2026-01-31T23:59:59.000000001+01:00");
	profile->duration_ns = 1060000001;
	profile->complete = true;
	profile->host.kernel = copy("6.1.0-13-amd64");
	profile->host.arch = copy("x86_64");
	profile->host.cpus = 2;
	profile->host.name = copy("host");
	profile->sampling.source = copy("clock");
	profile->sampling.mode = copy("charged");
	profile->sampling.hierarchy = copy("v2");
	profile->sampling.period_ns = 1003009;
	profile->sampling.requested_hz = 997;
	profile->sampling.measured_hz = 996.1;
	return profile;
}

struct profile *sample_profile(void)
{
	struct profile *profile = sample_head();

	profile->command = need(calloc(3, sizeof(*profile->command)));
	profile->command[0] = copy("./work");
	profile->command[1] = copy("tab\there \"and\" \\ there \x7f");
	add_targets(profile);
	add_objects(profile);
	add_histograms(profile);
	add_functions(profile);
	profile->notes = need(calloc(1, sizeof(*profile->notes)));
	profile->notes[0] = copy("[jit 77] has bins of 4096 bytes: the memory limit was reached");
	profile->nr_notes = 1;
	return profile;
}

struct profile *sample_profile_of_bins(size_t nr)
{
	struct profile *profile = sample_head();
	struct profile_bin *bins = need(calloc(nr + 1, sizeof(*bins)));
	struct profile_histogram *histogram;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		bins[i] = (struct profile_bin){ i * 3, 1 + i * i % 1000 };
		sum += bins[i].count;
	}
	profile->targets = need(calloc(1, sizeof(*profile->targets)));
	profile->nr_targets = 1;
	profile->targets[0].kind = copy("system");
	profile->targets[0].name = copy("all");
	profile->targets[0].ticks.total = profile->targets[0].ticks.binned = sum;
	profile->ticks.total = profile->ticks.binned = sum;
	profile->objects = need(calloc(1, sizeof(*profile->objects)));
	add_object(profile, PROFILE_FILE, "/usr/bin/large", NULL, (struct profile_text){ 0 });
	profile->histograms = need(calloc(1, sizeof(*profile->histograms)));
	histogram = add_histogram(profile, 0, 0, bins, nr);
	histogram->size = nr * 3;
	free(bins);
	return profile;
}

static void rename_to(char **text, const char *name)
{
	free(*text);
	*text = copy(name);
}

static void add_service(struct profile *profile, size_t service, size_t nr)
{
	cleanup_free struct profile_bin *bins = need(calloc(nr + 1, sizeof(*bins)));
	struct profile_account *ticks = &profile->targets[0].ticks;
	struct profile_histogram *histogram;
	uint64_t sum = 0;
	size_t i;
	char *cgroup;

	for (i = 0; i < nr; i++) {
		bins[i] = (struct profile_bin){ i * 3, 1 + (i + service) * (i + 7) % 1000 };
		sum += bins[i].count;
	}
	ticks->binned += sum;
	ticks->total += sum;
	histogram = add_histogram(profile, 0, 0, bins, nr);
	histogram->size = nr * 3;
	if (asprintf(&cgroup, "/service-%zu", service) < 0)
		abort();
	histogram->cgroup = cgroup;
}

static void add_functions_of_ten(struct profile *profile, size_t nr)
{
	struct profile_function *function;
	size_t i;

	profile->functions = need(calloc(nr / 10 + 1, sizeof(*profile->functions)));
	for (i = 0; i < nr / 10; i++) {
		if (i % 10 == 9)
			continue;
		function = &profile->functions[profile->nr_functions++];
		function->offset = i * 30;
		function->size = 30;
		function->ticks = 1;
		if (asprintf(&function->name, "function %zu", i) < 0)
			abort();
	}
}

struct profile *sample_profile_of_services(size_t services, size_t nr)
{
	struct profile *profile = sample_head();
	struct profile_target *target;
	size_t i;

	profile->targets = target = need(calloc(1, sizeof(*profile->targets)));
	profile->nr_targets = 1;
	target->kind = copy("system");
	target->name = copy("all");
	profile->objects = need(calloc(1, sizeof(*profile->objects)));
	add_object(profile, PROFILE_FILE, "/usr/bin/large", "00ff12ab",
		   (struct profile_text){ 0, 0x400000, nr * 3 });
	profile->histograms = need(calloc(services, sizeof(*profile->histograms)));
	for (i = 0; i < services; i++)
		add_service(profile, i, nr);
	add_functions_of_ten(profile, nr);
	target->ticks.overflow = 11;
	add_lost(&target->ticks, "exit", 5);
	target->ticks.total += 16;
	target->cpu_known = true;
	target->cpu_ns = target->ticks.total * 1000003;
	profile->ticks.binned = target->ticks.binned;
	profile->ticks.total = target->ticks.total;
	profile->ticks.overflow = 11;
	add_lost(&profile->ticks, "exit", 5);
	return profile;
}

static void add_chains(struct profile_callers *callers, const struct profile_histogram *histogram)
{
	struct profile_root *root = &callers->roots[callers->nr_roots++];
	const size_t base = callers->nr_nodes;
	size_t i;

	*root = (struct profile_root){ .pid = -1,
				       .cgroup = copy(histogram->cgroup),
				       .end = END_COMPLETE };
	for (i = 0; i < histogram->nr_bins; i++)
		callers->nodes[callers->nr_nodes++] = (struct profile_node){
			.parent = i ? (int32_t)(base + (i - 1) / 4) : -(int32_t)callers->nr_roots,
			.site = (uint32_t)i,
			.ticks = histogram->bins[i].count,
		};
}

struct profile *sample_profile_of_chains(size_t services, size_t nr)
{
	struct profile *profile = sample_profile_of_services(services, nr);
	struct profile_callers *callers = need(calloc(1, sizeof(*callers)));
	size_t i;

	profile->callers = callers;
	callers->sites = need(calloc(nr, sizeof(*callers->sites)));
	callers->roots = need(calloc(services, sizeof(*callers->roots)));
	callers->nodes = need(calloc(services * nr, sizeof(*callers->nodes)));
	for (i = 0; i < nr; i++)
		callers->sites[callers->nr_sites++] = (struct profile_site){ 0, i * 3 };
	for (i = 0; i < services; i++)
		add_chains(callers, &profile->histograms[i]);
	return profile;
}

struct profile *sample_profile_of_names(const char *name)
{
	struct profile *profile = sample_profile();
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		rename_to(&profile->targets[i].name, name);
	for (i = 0; i < profile->nr_objects; i++)
		rename_to(&profile->objects[i].path, name);
	for (i = 0; i < profile->nr_functions; i++)
		rename_to(&profile->functions[i].name, name);
	for (i = 0; i < profile->nr_histograms; i++) {
		profile->histograms[i].pid = 7;
		rename_to(&profile->histograms[i].process, name);
		rename_to(&profile->histograms[i].cgroup, name);
	}
	for (i = 0; profile->command[i]; i++)
		rename_to(&profile->command[i], name);
	return profile;
}

#define SIXTEEN(text)                                                                              \
	text text text text text text text text text text text text text text text text
#define KIBIBYTE SIXTEEN(SIXTEEN("a;\n\x9b"))

const char *const sample_names[] = {
	"line\nbreak\r\n",
	"\033]0;title\a\033[31m",
	"c1 \xc2\x9b and \x9b",
	"\xff\xc3(\xed\xa0\x80",
	"a;b;c 12 34",
	"\"quoted\", 'twice'",
	"fn=(1) x\n+3 4 5",
	"(2)",
	"\\u0000\\x00\\",
	"",
	SIXTEEN(KIBIBYTE KIBIBYTE KIBIBYTE KIBIBYTE),
	"\xc2\x9b"
	"31m",
	"right\xe2\x80\xae"
	"left",
	"isolated\xe2\x81\xa6",
	"two\xe2\x80\xa8"
	"lines",
	"\xd8\x9c mark",
	"tag\xf3\xa0\x81\x81",
	NULL,
};

char *sample_export(const char *format, const struct profile *profile,
		    const struct export_options *options, size_t *size)
{
	struct error err = { 0 };
	char *bytes = NULL;
	size_t unasked;
	FILE *stream = need(open_memstream(&bytes, size ? size : &unasked));

	cr_assert_eq(export_write(export_find(format), profile, options, stream, &err), 0, "%s",
		     err.text);
	fclose(stream);
	return bytes;
}

bool sample_is_harmless(const char *text)
{
	size_t length;

	for (; *text; text += length) {
		length = utf8_sequence(text, strnlen(text, 4));
		if (!length || utf8_is_control(text, length))
			return false;
	}
	return true;
}

struct profile *sample_profile_of_processes(void)
{
	static const char *const names[] = { "one", "two", NULL, "one", "over" };
	struct profile *profile = sample_profile();
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		if (profile->histograms[i].process)
			continue;
		profile->histograms[i].pid = 5;
		profile->histograms[i].process = strdup(names[i]);
	}
	return profile;
}

static void add_interval_count(struct profile *profile, uint32_t i,
			       const struct interval_count *counted)
{
	struct profile_histogram *histogram = &profile->histograms[i];
	struct profile_function *function = &profile->functions[i];

	profile->objects[i].path = copy(counted->object);
	*function = (struct profile_function){ .object = i,
					       .name = copy(counted->function),
					       .offset = counted->offset,
					       .size = 16,
					       .ticks = counted->ticks };
	*histogram = (struct profile_histogram){ .object = i,
						 .pid = counted->process ? counted->pid : -1,
						 .process = copy(counted->process),
						 .cgroup = copy(counted->cgroup),
						 .offset = counted->offset,
						 .size = 16,
						 .width = 4,
						 .scale = 131072,
						 .bytes_per_bin = 1,
						 .nr_bins = 1 };
	histogram->bins = need(calloc(1, sizeof(*histogram->bins)));
	histogram->bins[0].count = counted->ticks;
	profile->ticks.total += counted->ticks;
	profile->ticks.binned += counted->ticks;
}

struct profile *interval_profile(const struct interval_count *counted, size_t nr, uint64_t lost)
{
	struct profile *profile = need(profile_new());
	uint32_t i;

	profile->started = copy("2026-01-02T03:04:05Z");
	profile->duration_ns = 1000000000;
	profile->sampling.source = copy("clock");
	profile->sampling.mode = copy("charged");
	profile->sampling.period_ns = 1000000;
	profile->host.name = copy("host");
	profile->host.cpus = 2;
	profile->targets = need(calloc(1, sizeof(*profile->targets)));
	profile->targets[0].kind = copy("system");
	profile->targets[0].name = copy("all");
	profile->nr_targets = 1;
	profile->objects = need(calloc(nr + 1, sizeof(*profile->objects)));
	profile->functions = need(calloc(nr + 1, sizeof(*profile->functions)));
	profile->histograms = need(calloc(nr + 1, sizeof(*profile->histograms)));
	for (i = 0; i < nr; i++)
		add_interval_count(profile, i, &counted[i]);
	profile->nr_objects = profile->nr_functions = profile->nr_histograms = nr;
	profile->ticks.lost = need(calloc(1, sizeof(*profile->ticks.lost)));
	profile->ticks.nr_lost = 1;
	profile->ticks.lost[0].cause = copy("exit");
	profile->ticks.lost[0].ticks = lost;
	profile->ticks.total += lost;
	need(!profile_account_add(&profile->targets[0].ticks, &profile->ticks) ? profile : NULL);
	return profile;
}
