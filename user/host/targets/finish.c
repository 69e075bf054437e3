// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/targets/targets_impl.h"

static bool is_same_target(const struct target *a, const struct target *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == TARGET_CGROUP)
		return a->cgroup == b->cgroup;
	return a->kind == TARGET_SYSTEM ||
	       (a->pid == b->pid && a->nr_others == b->nr_others &&
		(!a->nr_others ||
		 !memcmp(a->others, b->others, a->nr_others * sizeof(*a->others))));
}

static bool is_before(const struct targets *targets, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (is_same_target(&targets->list[j], &targets->list[i]))
			return true;
	return false;
}

/* Of several equal targets the first stays, with its name. */
static void remove_doubles(struct targets *targets)
{
	size_t from, to = 0, nr = targets->nr;

	for (from = 0; from < nr; from++) {
		targets->list[to] = targets->list[from];
		targets->origins[to] = targets->origins[from];
		if (is_before(targets, to)) {
			target_free(&targets->list[to]);
			target_origin_free(&targets->origins[to]);
		} else {
			to++;
		}
	}
	targets->nr = to;
}

/* Whether every cgroup target has a place in this hierarchy. */
static bool holds_all(const struct targets *targets, size_t hierarchy)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->list[i].kind == TARGET_CGROUP &&
		    !cgroup_places_in(&targets->origins[i].places, hierarchy))
			return false;
	return true;
}

/* BPF finds a process's cgroup in a version 1 hierarchy by the controller. */
static bool can_compare(const struct cgroup_mount *mount)
{
	return cgroup_mount_is_v2(mount) || mount->controller;
}

static const struct cgroup_mount *choose_hierarchy(const struct targets *targets)
{
	const struct cgroups *cgroups = targets->cgroups;
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		if (cgroups->list[i].hierarchy == i && can_compare(&cgroups->list[i]) &&
		    holds_all(targets, i))
			return &cgroups->list[i];
	return NULL;
}

struct line {
	char text[400];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void append(struct line *line, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line->text + line->length, sizeof(line->text) - line->length, format,
			   args);
	va_end(args);
	line->length += (size_t)length;
	if (line->length >= sizeof(line->text))
		line->length = sizeof(line->text) - 1;
}

/*
 * A target that is only in a named hierarchy without a controller, such as systemd's own in version
 * 1.
 */
static const struct target_origin *find_incomparable(const struct targets *targets)
{
	size_t i, j;

	for (i = 0; i < targets->nr; i++) {
		const struct cgroup_places *places = &targets->origins[i].places;

		for (j = 0; j < places->nr; j++)
			if (can_compare(places->list[j].mount))
				break;
		if (targets->list[i].kind == TARGET_CGROUP && j == places->nr)
			return &targets->origins[i];
	}
	return NULL;
}

static int refuse_incomparable(const struct targets *targets, const struct target_origin *origin,
			       struct error *err)
{
	const struct cgroup_place *place = &origin->places.list[0];
	const char *name = strrchr(place->path, '/') + 1;
	struct cgroup_places others = { 0 };
	cleanup_free char *directory = NULL;
	size_t i;

	error_set(err, -EOPNOTSUPP,
		  "%s: only in the cgroup hierarchy %s, which has no controller, and the kernel "
		  "tells BPF programs a process's cgroup of version 1 by a controller",
		  origin->typed, cgroup_mount_name(place->mount));
	for (i = 0; i < targets->cgroups->nr && !others.nr; i++)
		if (can_compare(&targets->cgroups->list[i]))
			cgroup_places_add(&others, &targets->cgroups->list[i], place->path);
	if (others.nr)
		directory = cgroup_directory(others.list[0].mount, others.list[0].path);
	if (directory)
		error_hint(err, "--cgroup %s", directory);
	else if (strstr(name, ".service") || strstr(name, ".slice") || strstr(name, ".scope"))
		error_hint(err, "systemctl set-property --runtime %s MemoryAccounting=yes", name);
	else
		error_hint(err, "--pid, for each process in it");
	cgroup_places_free(&others);
	return -EOPNOTSUPP;
}

static int refuse_apart(const struct targets *targets, struct error *err)
{
	struct line line = { 0 };
	size_t i, j;

	for (i = 0; i < targets->nr; i++) {
		const struct target_origin *origin = &targets->origins[i];

		if (targets->list[i].kind != TARGET_CGROUP)
			continue;
		append(&line, "%s%s is in", line.length ? "; " : "", origin->typed);
		for (j = 0; j < origin->places.nr; j++)
			append(&line, "%s %s", j ? "," : "",
			       cgroup_mount_name(origin->places.list[j].mount));
	}
	error_set(err, -EOPNOTSUPP, "no one cgroup hierarchy has them all: %s", line.text);
	error_hint(err, "a bpfprofil for each");
	return -EOPNOTSUPP;
}

static bool has_cgroup(const struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->list[i].kind == TARGET_CGROUP)
			return true;
	return false;
}

static int place_cgroups(struct targets *targets, struct error *err)
{
	const struct cgroup_mount *mount = choose_hierarchy(targets);
	const struct target_origin *bad;
	size_t i;

	if (!mount) {
		bad = find_incomparable(targets);
		return bad ? refuse_incomparable(targets, bad, err) : refuse_apart(targets, err);
	}
	if (mount->controller) {
		targets->controller = strdup(mount->controller);
		if (!targets->controller)
			return error_errno(err, -ENOMEM, "targets");
	}
	for (i = 0; i < targets->nr; i++) {
		struct target *target = &targets->list[i];
		struct target_origin *origin = &targets->origins[i];

		if (target->kind != TARGET_CGROUP)
			continue;
		origin->place = cgroup_places_in(&origin->places, mount->hierarchy);
		target->cgroup = origin->place->id;
		target->path = origin->place->path;
	}
	return 0;
}

int targets_finish(struct targets *targets, struct error *err)
{
	int ret = has_cgroup(targets) ? place_cgroups(targets, err) : 0;

	if (!ret)
		remove_doubles(targets);
	return ret;
}
