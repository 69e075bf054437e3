// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What perf2bolt -nl writes for one program: ticks by function and offset. The event's name
 * determines what BOLT does with them. Only for cycles, and for no other event that means time, it
 * shares a block's ticks among the block's instructions, so that a long block is not taken for one
 * that runs often.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "export/exact_ticks.h"
#include "export/export_impl.h"
#include "symbol/bolt_names.h"
#include "symbol/object_file.h"

#define NAME "bolt"
#define NO_OBJECT UINT32_MAX

struct bolt {
	const struct profile *profile;
	struct profile_weights *weights;
	const struct profile_object *object;
	struct exact_ticks ticks;
	struct bolt_names names;
	uint64_t named; /* ticks in functions */
	uint64_t unnamed;
};

/* The file with the most ticks. */
static uint32_t choose_object(const struct profile *profile, const struct export_options *options)
{
	uint32_t i, chosen = NO_OBJECT;
	uint64_t ticks, most = 0;

	for (i = 0; i < profile->nr_objects; i++) {
		ticks = export_ticks(profile, options, i);
		if (profile->objects[i].kind == PROFILE_FILE &&
		    profile->objects[i].path[0] == '/' && ticks > most) {
			most = ticks;
			chosen = i;
		}
	}
	return chosen;
}

/* A blank ends a name unless a backslash precedes it. */
static void put_bolt_name(FILE *stream, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ' || *name == '\\')
			fputc('\\', stream);
		fputc(*name, stream);
	}
}

static bool is_writable(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

static void put_bolt_ticks(struct bolt *bolt, FILE *stream)
{
	const struct exact_tick *tick;
	const struct bolt_name *name;
	size_t i;

	fputs("no_lbr cycles\n", stream);
	for (i = 0; i < bolt->ticks.nr && !ferror(stream); i++) {
		tick = &bolt->ticks.all[i];
		name = bolt_names_find(&bolt->names, tick->offset);
		if (!name || !is_writable(name->name)) {
			bolt->unnamed += tick->ticks;
			continue;
		}
		bolt->named += tick->ticks;
		fputs("1 ", stream);
		put_bolt_name(stream, name->name);
		fprintf(stream, " %" PRIx64 " %" PRIu64 "\n", tick->offset - name->offset,
			tick->ticks);
	}
}

static int refuse_empty_bolt(const struct bolt *bolt, struct error *err)
{
	if (!bolt->ticks.wide)
		return error_set(err, -ENODATA, NAME ": %.200s: no tick is in a function",
				 bolt->object->path);
	error_set(err, -ENODATA, NAME ": %.200s: %" PRIu64 " ticks in bins wider than a byte",
		  bolt->object->path, bolt->ticks.wide);
	error_hint(err, "sample with --bytes-per-bin 1, or more --memory");
	return -ENODATA;
}

static void say_bolt_ticks(const struct bolt *bolt, char *note)
{
	export_add_note(note, "%" PRIu64 " ticks of %.120s", bolt->named, bolt->object->path);
	if (bolt->unnamed + bolt->ticks.wide)
		export_add_note(note, "%" PRIu64 " in no function or too wide a bin",
				bolt->unnamed + bolt->ticks.wide);
	if (!bolt->names.relocations)
		export_add_note(note, "linked without --emit-relocs, so its functions stay where "
				      "they are");
}

static int load_bolt_object(struct bolt *bolt, struct error *err)
{
	struct error why = { 0 };
	cleanup_fd int fd = object_file_here(bolt->object, &why);
	int ret;

	if (fd < 0)
		return error_set(err, fd, NAME ": %.400s", why.text);
	ret = bolt_names_load(fd, bolt->object->path, &bolt->names, &why);
	if (!ret)
		return 0;
	error_set(err, ret, NAME ": %.400s", why.text);
	if (ret == -ENODATA)
		error_hint(err, "a build that was not stripped");
	return ret;
}

static int put_bolt_object(struct bolt *bolt, struct bin_walk *walk, char *note, FILE *stream,
			   struct error *err)
{
	uint32_t object = 0;
	int ret = load_bolt_object(bolt, err);

	if (ret)
		return ret;
	while (bin_walk_object(walk, &object))
		if (bolt->object == &bolt->profile->objects[object])
			break;
	if (exact_ticks_gather(&bolt->ticks, bolt->weights, walk))
		return error_errno(err, -ENOMEM, NAME);
	errno = 0;
	put_bolt_ticks(bolt, stream);
	if (!bolt->named && !ferror(stream))
		return refuse_empty_bolt(bolt, err);
	if (note)
		say_bolt_ticks(bolt, note);
	return export_end(stream, NAME, err);
}

int export_bolt(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err)
{
	struct bolt bolt = { .profile = profile };
	struct bin_walk *walk;
	uint32_t object;
	int ret;

	object = choose_object(profile, options);
	if (object == NO_OBJECT)
		return error_set(err, -ENODATA, NAME ": no tick is in an object that has a file");
	bolt.object = &profile->objects[object];
	bolt.weights = profile_weights_new(profile);
	walk = bin_walk_new(profile, options);
	if (walk && bolt.weights)
		ret = put_bolt_object(&bolt, walk, options->note, stream, err);
	else
		ret = error_errno(err, -ENOMEM, NAME);
	bin_walk_free(walk);
	profile_weights_free(bolt.weights);
	bolt_names_free(&bolt.names);
	exact_ticks_free(&bolt.ticks);
	return ret;
}
