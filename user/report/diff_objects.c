// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Pairs the objects of two profiles. */
#include "report/diff_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "naming/regions.h"

/* In per cent: report unpaired objects from this share on. */
#define WORTH_A_WORD 5

typedef bool (*same_object)(const struct profile_object *a, const struct profile_object *b);

static bool same_build(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && a->build_id && b->build_id &&
	       !strcmp(a->build_id, b->build_id);
}

/* Objects without a path are paired by their kind, whatever their process or boot. */
static bool same_path(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && (a->kind == PROFILE_JIT || !strcmp(a->path, b->path));
}

static bool same_name(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && !strcmp(text_basename(a->path), text_basename(b->path));
}

/* A name without its version: libx.so of libx-1.2.so.3, app of app-1.2, python of python3.11. */
struct stem {
	const char *name;
	size_t length;
	bool library;
};

static struct stem stem_of(const struct profile_object *object)
{
	const char *base = text_basename(object->path), *so = strstr(base, ".so");
	struct stem stem = { base, strlen(base), so && (!so[3] || so[3] == '.') };
	size_t length;

	if (stem.library)
		stem.length = (size_t)(so - base);
	length = stem.length;
	while (length && (isdigit((unsigned char)base[length - 1]) || base[length - 1] == '.'))
		length--;
	if (length && length < stem.length && strchr("-_", base[length - 1]))
		length--;
	stem.length = length ? length : stem.length;
	return stem;
}

static bool same_stem(const struct profile_object *a, const struct profile_object *b)
{
	struct stem x = stem_of(a), y = stem_of(b);

	return a->kind == PROFILE_FILE && b->kind == PROFILE_FILE && x.library == y.library &&
	       x.length == y.length && !strncmp(x.name, y.name, x.length);
}

static const struct profile_object *find(const struct profile *profile,
					 const struct profile_object *object, same_object same)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++)
		if (same(&profile->objects[i], object))
			return &profile->objects[i];
	return NULL;
}

/* Finds an object that is certainly the same. */
static const struct profile_object *counterpart(const struct profile *profile,
						const struct profile_object *object)
{
	static const same_object ways[] = { same_build, same_path, same_name };
	const struct profile_object *found = NULL;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]) && !found; i++)
		found = find(profile, object, ways[i]);
	return found;
}

/*
 * --- notes
 * ----------------------------------------------------------------------------------------
 */

static double percent_of(const struct diff_profile *side, size_t object)
{
	double percent = 0;
	size_t i;

	for (i = 0; i < side->rows.nr; i++)
		if (side->rows.rows[i].object == object)
			percent += row_percent(side->ns, &side->rows.rows[i]);
	return percent;
}

/* The hottest program or library without a counterpart; NULL: none is hot. */
static const struct profile_object *alone(const struct diff_profile *side,
					  const struct diff_profile *other)
{
	const struct profile_object *hottest = NULL;
	double most = WORTH_A_WORD, percent;
	size_t i, j;

	for (i = 0; i < side->profile->nr_objects; i++) {
		const struct profile_object *object = &side->profile->objects[i];

		for (j = 0; j < other->profile->nr_objects; j++)
			if (other->as[j] == side->as[i])
				break;
		if (object->kind != PROFILE_FILE || j < other->profile->nr_objects)
			continue;
		percent = percent_of(side, i);
		if (percent < most)
			continue;
		most = percent;
		hottest = object;
	}
	return hottest;
}

/* A renamed program would look like one large change. Therefore suggest a pair. */
static int note_alone(struct diff *diff)
{
	const struct profile_object *old = alone(&diff->text->old, &diff->text->new);
	const struct profile_object *new = alone(&diff->text->new, &diff->text->old);
	const char *a, *b;

	if (!old || !new)
		return 0;
	a = text_basename(old->path);
	b = text_basename(new->path);
	return notes_add(
		&diff->notes, &diff->nr_notes,
		"%s is only in the old, %s only in the new; if they are one under two names, "
		"--map %s=%s compares them",
		a, b, a, b);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static int check_maps(const struct diff *diff, struct error *err)
{
	size_t i;

	for (i = 0; i < diff->options->nr_maps; i++) {
		const struct diff_map *map = &diff->options->maps[i];
		bool has_old = object_of_name(diff->old, map->old);

		if (has_old && object_of_name(diff->new, map->new))
			continue;
		return error_with_hint(err, -EINVAL, "bpfprofil report --by objects",
				       "--map: '%.256s': not in the %s profile",
				       has_old ? map->new : map->old, has_old ? "new" : "old");
	}
	return 0;
}

static const struct profile_object *mapped(const struct diff *diff,
					   const struct profile_object *object)
{
	size_t i;

	for (i = 0; i < diff->options->nr_maps; i++)
		if (object_has_name(object, diff->options->maps[i].old))
			return object_of_name(diff->new, diff->options->maps[i].new);
	return NULL;
}

/* Finds an object that differs in the version in its name, and is new: not known[] by index. */
static const struct profile_object *of_other_version(const struct diff *diff, const bool *known,
						     const struct profile_object *object)
{
	size_t i;

	for (i = 0; i < diff->new->nr_objects; i++) {
		const struct profile_object *other = &diff->new->objects[i];

		if (!known[i] && same_stem(object, other))
			return other;
	}
	return NULL;
}

static int pair_old(struct diff *diff, const bool *known, size_t i)
{
	const struct profile_object *object = &diff->old->objects[i];
	const struct profile_object **as = &diff->text->old.as[i];

	*as = mapped(diff, object);
	if (!*as)
		*as = counterpart(diff->new, object);
	if (*as)
		return 0;
	*as = of_other_version(diff, known, object);
	if (*as)
		return notes_add(&diff->notes, &diff->nr_notes, "%s of the old is compared as %s",
				 text_basename(object->path), text_basename((*as)->path));
	*as = counterpart(diff->old, object);
	return 0;
}

/* Whether all objects of the side with this counterpart have its build id. */
static bool is_build_of(const struct diff_profile *side, const struct profile_object *as)
{
	size_t i;

	for (i = 0; i < side->profile->nr_objects; i++)
		if (side->as[i] == as &&
		    compare_text(side->profile->objects[i].build_id, as->build_id) != 0)
			return false;
	return as->build_id;
}

static void find_builds(const struct diff_text *text, const struct diff_profile *side)
{
	size_t i;

	for (i = 0; i < side->profile->nr_objects; i++)
		side->one_build[i] = is_build_of(&text->old, side->as[i]) &&
				     is_build_of(&text->new, side->as[i]);
}

static int make_room(struct diff_profile *side)
{
	size_t nr = side->profile->nr_objects + 1;

	side->as = calloc(nr, sizeof(*side->as));
	side->one_build = calloc(nr, sizeof(*side->one_build));
	return side->as && side->one_build ? 0 : -ENOMEM;
}

int diff_pair_objects(struct diff *diff, struct error *err)
{
	cleanup_free bool *known = calloc(diff->new->nr_objects + 1, sizeof(*known));
	struct diff_text *text = diff->text;
	int ret = check_maps(diff, err);
	size_t i;

	if (ret)
		return ret;
	if (!known || make_room(&text->old) || make_room(&text->new))
		return error_errno(err, -ENOMEM, "diff");
	for (i = 0; i < diff->new->nr_objects; i++)
		known[i] = counterpart(diff->old, &diff->new->objects[i]);
	for (i = 0; !ret && i < diff->old->nr_objects; i++)
		ret = pair_old(diff, known, i);
	for (i = 0; i < diff->new->nr_objects; i++)
		text->new.as[i] = counterpart(diff->new, &diff->new->objects[i]);
	if (!ret) {
		find_builds(text, &text->old);
		find_builds(text, &text->new);
		ret = note_alone(diff);
	}
	return ret ? error_errno(err, ret, "diff") : 0;
}
