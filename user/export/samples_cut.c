// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copies samples: some of them, or all of them with fewer places. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/text.h"
#include "base/util.h"
#include "export/resource.h"
#include "export/samples_impl.h"

/* The next form of the coldest samples. */
enum level {
	LEVEL_SAME,
	LEVEL_FUNCTION,
	LEVEL_CALLER,
	LEVEL_OBJECT,
};

/* Copies tables. Entries are copied once, and found by their former number. */
struct copy {
	struct samples *to;
	const struct samples *from;
	uint32_t *functions, *mappings, *processes, *places, *callers;
};

/* Copies all services, because a profile's id and a sink's progress depend on their order. */
static void copy_services(struct copy *copy)
{
	const struct sample_service *service;
	size_t i;

	for (i = 1; i < copy->from->nr_services; i++) {
		service = &copy->from->services[i];
		samples_service(copy->to, service->target, service->cgroup);
	}
}

static int copy_begin(struct copy *copy, struct samples *to, const struct samples *from)
{
	int ret = samples_begin(to, from->profile);

	to->exact_places = true;
	*copy = (struct copy){ .to = to,
			       .from = from,
			       .functions = calloc(from->nr_functions, sizeof(uint32_t)),
			       .mappings = calloc(from->nr_mappings, sizeof(uint32_t)),
			       .processes = calloc(from->nr_processes, sizeof(uint32_t)),
			       .places = calloc(from->nr_places, sizeof(uint32_t)),
			       .callers = calloc(from->callers.nr + 1, sizeof(uint32_t)) };
	if (!copy->functions || !copy->mappings || !copy->processes || !copy->places ||
	    !copy->callers)
		ret = -ENOMEM;
	if (!ret)
		copy_services(copy);
	return ret;
}

static int copy_end(struct copy *copy)
{
	int ret = samples_error(copy->to);

	if (!ret)
		samples_settle(copy->to);
	free(copy->functions);
	free(copy->mappings);
	free(copy->processes);
	free(copy->places);
	free(copy->callers);
	return ret;
}

static uint32_t copy_function(struct copy *copy, uint32_t number)
{
	const struct sample_function *of = &copy->from->functions[number];
	const char **texts = copy->from->texts.all;

	if (!copy->functions[number])
		copy->functions[number] =
			samples_function(copy->to, texts[of->name], texts[of->file]);
	return copy->functions[number];
}

static uint32_t copy_mapping(struct copy *copy, uint32_t number)
{
	const struct sample_mapping *of = &copy->from->mappings[number];

	if (number && !copy->mappings[number])
		copy->mappings[number] = samples_mapping_of(copy->to,
							    copy->from->texts.all[of->file],
							    copy->from->values.all[of->build_id],
							    &of->text, of->object);
	return copy->mappings[number];
}

static uint32_t copy_process(struct copy *copy, uint32_t number)
{
	const struct sample_process *of = &copy->from->processes[number];
	const char **values = copy->from->values.all;

	if (number && !copy->processes[number])
		copy->processes[number] =
			samples_process_of(copy->to, values[of->pid], values[of->name]);
	return copy->processes[number];
}

static uint32_t copy_place(struct copy *copy, uint32_t number)
{
	struct sample_place place = copy->from->places[number];
	struct sample_line lines[FRAMES_MAX];
	size_t i;

	if (copy->places[number])
		return copy->places[number];
	for (i = 0; i < place.nr; i++) {
		lines[i] = copy->from->lines[place.first + i];
		lines[i].function = copy_function(copy, lines[i].function);
	}
	place.mapping = copy_mapping(copy, place.mapping);
	return copy->places[number] = samples_place(copy->to, &place, lines);
}

/* Recursion is at most PROFILE_CHAIN_DEPTH deep. */
static uint32_t copy_callers(struct copy *copy, uint32_t number)
{
	const struct chain_context *of;
	uint32_t parent, *copied = &copy->callers[number];

	if (!number || *copied)
		return *copied;
	of = &copy->from->callers.all[number];
	parent = copy_callers(copy, of->parent);
	*copied = chain_tree_child(&copy->to->callers, parent, copy_place(copy, of->frame));
	if (!*copied)
		samples_fail(copy->to);
	return *copied;
}

/* The function of a place's code, as a number in texts. */
static uint32_t outer_function(const struct samples *samples, const struct sample_place *place)
{
	return samples->functions[samples->lines[place->first + place->nr - 1].function].name;
}

static uint32_t coarser_place(struct copy *copy, uint32_t number, enum level level)
{
	const struct sample_place *of = &copy->from->places[number];
	const struct sample_mapping *mapping = &copy->from->mappings[of->mapping];
	const char **texts = copy->from->texts.all;
	struct sample_place place = { .kind = of->kind, .start = of->start, .nr = 1 };
	struct sample_line line = { 0 };
	char name[256];

	if (level == LEVEL_FUNCTION) {
		line.function =
			samples_function(copy->to, texts[outer_function(copy->from, of)], NULL);
	} else {
		snprintf(name, sizeof(name), "[other: %.240s]",
			 text_basename(texts[mapping->file]));
		line.function = samples_function(copy->to, name, NULL);
		place.start = mapping->text.address;
	}
	place.address = place.start;
	place.mapping = copy_mapping(copy, of->mapping);
	return samples_place(copy->to, &place, &line);
}

static void copy_sample(struct copy *copy, const struct sample *sample, enum level level)
{
	struct sample copied = *sample;

	copied.process = copy_process(copy, sample->process);
	copied.callers = copy_callers(copy, sample->callers);
	copied.place = level == LEVEL_SAME ? copy_place(copy, sample->place) :
					     coarser_place(copy, sample->place, level);
	samples_add(copy->to, &copied);
}

static bool has_cgroup(const struct sample_service *service, const char *cgroup)
{
	return service->cgroup && !strcmp(service->cgroup, cgroup);
}

static int has_name(const struct samples *samples, const struct sample_service *service,
		    const char *name, bool *result)
{
	struct resource resource;
	int ret = resource_of(&resource, samples, service);

	if (!ret)
		*result = !strcmp(resource.texts.all[resource.all[0].value], name);
	resource_free(&resource);
	return ret;
}

/* Marks the services that a name matches. Returns 0, -ENOENT or -ENOMEM. */
static int find_named(const struct samples *samples, const char *name, bool *marks)
{
	bool found = false;
	size_t i;
	int ret = 0;

	for (i = 1; i < samples->nr_services; i++)
		found |= marks[i] = has_cgroup(&samples->services[i], name);
	if (found)
		return 0;
	for (i = 1; !ret && i < samples->nr_services; i++) {
		ret = has_name(samples, &samples->services[i], name, &marks[i]);
		found |= marks[i];
	}
	return ret || found ? ret : -ENOENT;
}

/* Copies nr samples, from the first on; name: only those of services that it matches. */
static int copy_some(struct samples *part, const struct samples *whole, size_t first, size_t nr,
		     const char *name)
{
	cleanup_free bool *marks = calloc(whole->nr_services + 1, sizeof(*marks));
	struct copy copy;
	size_t i;
	int ret = copy_begin(&copy, part, whole), code;

	if (!ret && name)
		ret = marks ? find_named(whole, name, marks) : -ENOMEM;
	for (i = first; !ret && i < first + nr; i++) {
		if (!name || marks[whole->all[i].service])
			copy_sample(&copy, &whole->all[i], LEVEL_SAME);
		ret = samples_error(part);
	}
	code = copy_end(&copy);
	return ret ? ret : code;
}

int samples_cut(struct samples *part, const struct samples *whole, size_t first, size_t nr)
{
	return copy_some(part, whole, first, nr, NULL);
}

int samples_named(struct samples *part, const struct samples *whole, const char *name)
{
	return copy_some(part, whole, 0, whole->nr, name);
}

/* --- fewer stacks --- */

/*
 * Ticks of the coldest leaves of a service's call tree move to their callers. All callers keep
 * their inclusive ticks; only their callees are lost.
 */

/* A stack of a process, or one above it without ticks of its own yet. */
struct stack_node {
	struct sample sample;
	uint32_t parent; /* 0: no caller that is text */
	uint32_t children; /* remaining ones */
};

struct stack_tree {
	const struct samples *samples;
	struct chain_tree stacks; /* pairs of callers and a place */
	struct chain_tree numbers; /* pairs of a stack and a process; they number the nodes */
	struct stack_node *nodes; /* from 1 */
	size_t nr, room;
	uint32_t *heap; /* of leaves with a caller, the coldest on top */
	size_t nr_heap;
};

/* Returns the number of the sample's node, and adds it if it is new; 0: out of memory. */
static uint32_t find_node(struct stack_tree *tree, const struct sample *sample, bool *is_new)
{
	const uint32_t stack = chain_tree_child(&tree->stacks, sample->callers, sample->place);
	const uint32_t number = stack ? chain_tree_child(&tree->numbers, stack, sample->process) :
					0;

	if (!number || GROW(tree->nodes, tree->room, number + 1))
		return 0;
	*is_new = number > tree->nr;
	if (*is_new) {
		tree->nr = number;
		tree->nodes[number] = (struct stack_node){ .sample = *sample };
		tree->nodes[number].sample.ticks = tree->nodes[number].sample.ns = 0;
		tree->nodes[number].sample.waits = 0;
	}
	return number;
}

/* Replaces the sample by its caller; false: that is not text. */
static bool go_up(const struct stack_tree *tree, struct sample *sample)
{
	const struct chain_context *context;

	if (!sample->callers)
		return false;
	context = &tree->samples->callers.all[sample->callers];
	if (tree->samples->places[context->frame].kind == PLACE_NONE)
		return false;
	sample->place = context->frame;
	sample->callers = context->parent;
	return true;
}

/* Adds the node and its callers, up to the first that exists. */
static int add_leaf(struct stack_tree *tree, const struct sample *sample)
{
	struct sample at = *sample;
	bool is_new;
	uint32_t number = find_node(tree, &at, &is_new), parent;

	if (!number)
		return -ENOMEM;
	tree->nodes[number].sample = *sample;
	for (; is_new && go_up(tree, &at); number = parent) {
		parent = find_node(tree, &at, &is_new);
		if (!parent)
			return -ENOMEM;
		tree->nodes[number].parent = parent;
		tree->nodes[parent].children++;
	}
	return 0;
}

/* Fixes the order of equal ticks, too. */
static bool is_colder(const struct stack_tree *tree, uint32_t a, uint32_t b)
{
	const struct sample *x = &tree->nodes[a].sample, *y = &tree->nodes[b].sample;
	const int order = compare_u64(x->ticks, y->ticks) ?: compare_u64(x->ns, y->ns);

	return order ? order < 0 : a < b;
}

static void push_leaf(struct stack_tree *tree, uint32_t number)
{
	if (tree->nodes[number].parent && !tree->nodes[number].children)
		HEAP_PUSH(tree->heap, tree->nr_heap, number, x, y, is_colder(tree, *x, *y));
}

static bool has_cost(const struct sample *sample)
{
	return sample->ticks || sample->ns || sample->waits;
}

/* Returns true if there is one stack less. If the caller had no ticks, it is a new stack. */
static bool fold_leaf(struct stack_tree *tree, uint32_t number)
{
	struct stack_node *node = &tree->nodes[number], *parent = &tree->nodes[node->parent];
	const bool had_cost = has_cost(&parent->sample);

	parent->sample.ticks = add_saturating(parent->sample.ticks, node->sample.ticks);
	parent->sample.ns = add_saturating(parent->sample.ns, node->sample.ns);
	parent->sample.waits = add_saturating(parent->sample.waits, node->sample.waits);
	node->sample.ticks = node->sample.ns = node->sample.waits = 0;
	parent->children--;
	push_leaf(tree, node->parent);
	return had_cost;
}

static int fold_tree(struct stack_tree *tree, size_t nr, size_t most)
{
	uint32_t i, coldest;

	tree->heap = calloc(tree->nr + 1, sizeof(*tree->heap));
	if (!tree->heap)
		return -ENOMEM;
	for (i = 1; i <= tree->nr; i++)
		push_leaf(tree, i);
	while (nr > most && tree->nr_heap) {
		coldest = tree->heap[0];
		tree->heap[0] = tree->heap[--tree->nr_heap];
		HEAP_DOWN(tree->heap, tree->nr_heap, 0, x, y, is_colder(tree, *x, *y));
		nr -= fold_leaf(tree, coldest);
	}
	return 0;
}

/*
 * Reduces a service to so many samples, if possible. result has room for all of its samples.
 * Returns 0 or -ENOMEM.
 */
static int samples_fold_leaves(const struct samples *samples, const struct sample_service *service,
			       size_t most, struct sample *result, size_t *nr)
{
	struct stack_tree tree = { .samples = samples };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < service->nr; i++)
		ret = add_leaf(&tree, &samples->all[service->first + i]);
	if (!ret)
		ret = fold_tree(&tree, service->nr, most);
	for (i = 1, *nr = 0; !ret && i <= tree.nr; i++)
		if (has_cost(&tree.nodes[i].sample))
			result[(*nr)++] = tree.nodes[i].sample;
	chain_tree_free(&tree.stacks);
	chain_tree_free(&tree.numbers);
	free(tree.nodes);
	free(tree.heap);
	return ret;
}

/* --- fewer places --- */

/* A sample of a service, and the group that becomes one sample with it. */
struct member {
	const struct sample *sample;
	uint32_t mapping;
	enum place_kind kind;
	uint32_t name; /* of its function; 0: fold into the object */
	size_t group;
	bool folds;
};

static struct member member_of(const struct samples *samples, const struct sample *sample,
			       enum level level)
{
	const struct sample_place *place = &samples->places[sample->place];

	return (struct member){ .sample = sample,
				.mapping = place->mapping,
				.kind = place->kind,
				.name = level == LEVEL_FUNCTION ? outer_function(samples, place) :
								  0 };
}

DEFINE_COMPARE_AS(compare_groups, struct member,
		  compare_u64(a->mapping, b->mapping)			      ?:
			  compare_u64(a->kind, b->kind)			      ?:
			  compare_u64(a->name, b->name)			      ?:
			  compare_u64(a->sample->process, b->sample->process) ?:
			  compare_u64(a->sample->callers, b->sample->callers))

/* Fixes the order of samples with equal ticks, too. */
DEFINE_COMPARE_AS(compare_coldest, struct member,
		  compare_u64(a->sample->ticks, b->sample->ticks)   ?:
			  compare_u64(a->sample->ns, b->sample->ns) ?:
			  (a->sample < b->sample) - (a->sample > b->sample))

/*
 * Marks the coldest members until no more than `most` samples remain. sizes: marked members by
 * group. The first of a group saves nothing, and if it is alone it stays. Ticks outside of bins
 * have neither function nor object. Therefore they stay.
 */
static void mark_coldest(struct member *members, size_t nr, size_t most, size_t *sizes)
{
	size_t left = nr, i;

	for (i = 0; i < nr && left > most; i++) {
		if (members[i].kind == PLACE_NONE)
			continue;
		members[i].folds = true;
		left -= sizes[members[i].group]++ != 0;
	}
	for (i = 0; i < nr; i++)
		members[i].folds = members[i].folds && sizes[members[i].group] > 1;
}

static int fold_callers(struct copy *copy, const struct sample_service *service, size_t most)
{
	cleanup_free struct sample *folded = calloc(service->nr, sizeof(*folded));
	size_t i, nr;

	if (!folded || samples_fold_leaves(copy->from, service, most, folded, &nr))
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		copy_sample(copy, &folded[i], LEVEL_SAME);
	return samples_error(copy->to);
}

static int fold_service(struct copy *copy, const struct sample_service *service, size_t most,
			enum level level)
{
	const struct sample *samples = &copy->from->all[service->first];
	cleanup_free struct member *members = calloc(service->nr, sizeof(*members));
	cleanup_free size_t *sizes = calloc(service->nr, sizeof(*sizes));
	size_t i;

	if (!members || !sizes)
		return -ENOMEM;
	for (i = 0; i < service->nr; i++)
		members[i] = member_of(copy->from, &samples[i], level);
	SORT(members, service->nr, compare_groups);
	for (i = 1; i < service->nr; i++)
		members[i].group =
			members[i - 1].group + (compare_groups(&members[i - 1], &members[i]) != 0);
	SORT(members, service->nr, compare_coldest);
	mark_coldest(members, service->nr, most, sizes);
	for (i = 0; i < service->nr; i++)
		copy_sample(copy, members[i].sample, members[i].folds ? level : LEVEL_SAME);
	return samples_error(copy->to);
}

static bool any_above(const struct samples *samples, const size_t *most)
{
	size_t i;

	for (i = 1; i < samples->nr_services; i++)
		if (samples->services[i].nr > most[i])
			return true;
	return false;
}

/* most: by service. */
static int fold_level(struct samples *samples, const size_t *most, enum level level)
{
	struct samples folded;
	struct copy copy;
	size_t i;
	int ret;

	if (!any_above(samples, most) || (level == LEVEL_CALLER && !samples->callers.nr))
		return 0;
	ret = copy_begin(&copy, &folded, samples);
	for (i = 1; !ret && i < samples->nr_services; i++)
		if (samples->services[i].nr)
			ret = level == LEVEL_CALLER ?
				      fold_callers(&copy, &samples->services[i], most[i]) :
				      fold_service(&copy, &samples->services[i], most[i], level);
	ret |= copy_end(&copy);
	if (ret) {
		samples_free(&folded);
		return ret;
	}
	/* The profile of both may be in it. */
	folded.view = samples->view;
	samples->view = NULL;
	samples_free(samples);
	*samples = folded;
	return 0;
}

/* --- bytes --- */

/* The numbers of a sample, or of a line: more than pprof needs. */
#define NUMBER_BYTES 64

static size_t text_bytes(const struct texts *texts, uint32_t number)
{
	return strlen(texts->all[number]);
}

static size_t place_bytes(const struct samples *samples, uint32_t number)
{
	const struct sample_place *place = &samples->places[number];
	const struct sample_line *line = &samples->lines[place->first], *end = line + place->nr;
	size_t size =
		NUMBER_BYTES + text_bytes(&samples->texts, samples->mappings[place->mapping].file);

	for (; line < end; line++)
		size += NUMBER_BYTES +
			text_bytes(&samples->texts, samples->functions[line->function].name) +
			text_bytes(&samples->texts, samples->functions[line->function].file);
	return size;
}

/* An upper limit, as if samples shared no texts. */
static size_t most_bytes(const struct samples *samples, const struct sample *sample)
{
	const struct sample_process *process = &samples->processes[sample->process];
	size_t size = NUMBER_BYTES + text_bytes(&samples->values, process->pid) +
		      text_bytes(&samples->values, process->name) +
		      place_bytes(samples, sample->place);
	uint32_t at;

	for (at = sample->callers; at; at = samples->callers.all[at].parent)
		size += place_bytes(samples, samples->callers.all[at].frame);
	return size;
}

/* Measure exactly only the services that may be too large. */
static int measure(const struct samples *samples, const struct sample_service *service,
		   size_t bytes, size_t *result)
{
	const struct sample *sample = &samples->all[service->first], *end = sample + service->nr;
	cleanup_free char *data = NULL;
	FILE *stream;
	int ret;

	for (*result = 0; sample < end; sample++)
		*result += most_bytes(samples, sample);
	if (*result <= bytes)
		return 0;
	stream = open_memstream(&data, result);
	if (!stream)
		return -ENOMEM;
	ret = samples_write_pprof(samples, service, stream);
	return fclose(stream) ? -ENOMEM : ret;
}

/* A negative errno; 1: something was too large and was reduced. */
static int lower(const struct samples *samples, size_t bytes, size_t *most)
{
	const struct sample_service *service;
	bool lowered = false;
	size_t i, size;
	int ret;

	for (i = 1; i < samples->nr_services; i++) {
		service = &samples->services[i];
		if (!service->nr || service->nr > most[i])
			continue;
		ret = measure(samples, service, bytes, &size);
		if (ret)
			return ret;
		if (size <= bytes)
			continue;
		/* Leave a margin, because the remaining samples are not smaller on average. */
		most[i] = (size_t)((double)service->nr * (double)bytes / (double)size * 0.9);
		lowered = true;
	}
	return lowered;
}

int samples_fold(struct samples *samples, size_t most, size_t bytes)
{
	cleanup_free size_t *limits = calloc(samples->nr_services, sizeof(*limits));
	enum level level;
	size_t i;
	int ret;

	if (!limits)
		return -ENOMEM;
	for (i = 0; i < samples->nr_services; i++)
		limits[i] = most;
	do {
		for (level = LEVEL_FUNCTION, ret = 0; !ret && level <= LEVEL_OBJECT; level++)
			ret = fold_level(samples, limits, level);
		if (!ret)
			ret = lower(samples, bytes, limits);
	} while (ret > 0);
	return ret;
}
