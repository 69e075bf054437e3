// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/pending.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"

#define MINUTE_NS UINT64_C(60000000000)

/* Returns a descriptor with its bytes, or -errno. */
static int open_part(const struct pending *pending, const struct pending_part *part)
{
	int fd, code;

	if (!part->bytes.data)
		return spool_read(pending->spool, &part->entry);
	fd = memfd_create("pending", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	code = write_fully(fd, part->bytes.data, part->bytes.size);
	if (!code && !lseek(fd, 0, SEEK_SET))
		return fd;
	close(fd);
	return code ? code : -EIO;
}

int pending_read(const struct pending *pending, const struct pending_part *part,
		 struct profile **result, struct error *err)
{
	int fd = open_part(pending, part), code;
	struct input *in;

	if (fd < 0)
		return error_errno(err, fd, "pending");
	code = input_open_fd(fd, "pending", &in, err);
	if (code)
		return code;
	code = profile_read(in, result, err);
	input_close(in);
	return code;
}

bool pending_may_pass(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOSPC;
}

static int make_part(const struct profile *profile, struct pending_part *part, struct error *err)
{
	FILE *stream;
	int ret;

	*part = (struct pending_part){ .entry.ticks = profile->ticks.total,
				       .entry.duration_ns = profile->duration_ns };
	stream = bytes_begin(&part->bytes);
	ret = stream ? profile_write(profile, stream, err) : 0;
	if (bytes_end(&part->bytes, stream, ret, true) && !ret)
		ret = error_errno(err, -ENOMEM, "pending");
	part->entry.size = part->bytes.size;
	return ret;
}

uint64_t pending_ticks(const struct pending_part *part)
{
	return part->entry.ticks - part->done.ticks;
}

static size_t *bytes_of(struct pending *pending, const struct pending_part *part)
{
	return part->bytes.data ? &pending->bytes : &pending->spooled;
}

/* A part stays in memory if there is no spool, or its disk is full. */
static void place(struct pending *pending, struct pending_part *part)
{
	if (!pending->spool || !part->entry.first || !part->bytes.data)
		return;
	part->entry.done = part->done;
	pending->spool_failed =
		spool_write(pending->spool, &part->entry, &part->bytes, &pending->spool_trouble);
	if (!pending->spool_failed)
		bytes_free(&part->bytes);
}

static int insert(struct pending *pending, size_t at, struct pending_part *part)
{
	if (GROW(pending->parts, pending->room, pending->nr + 1))
		return -ENOMEM;
	memmove(&pending->parts[at + 1], &pending->parts[at],
		(pending->nr - at) * sizeof(*pending->parts));
	pending->parts[at] = *part;
	pending->nr++;
	*bytes_of(pending, part) += part->entry.size;
	pending->ticks += pending_ticks(part);
	*part = (struct pending_part){ 0 };
	return 0;
}

static struct pending_part remove_part(struct pending *pending, size_t at)
{
	struct pending_part part = pending->parts[at];

	pending->nr--;
	memmove(&pending->parts[at], &pending->parts[at + 1],
		(pending->nr - at) * sizeof(*pending->parts));
	*bytes_of(pending, &part) -= part.entry.size;
	pending->ticks -= pending_ticks(&part);
	return part;
}

/* If the disk cannot record this, only the next agent would send it again. */
void pending_advance(struct pending *pending, struct pending_part *part,
		     const struct delivered *done)
{
	part->done = *done;
	if (!part->bytes.data && part->entry.first)
		spool_advance(pending->spool, &part->entry, done);
}

void pending_drop(struct pending *pending, struct pending_part *part)
{
	if (!part->bytes.data && part->entry.first)
		spool_remove(pending->spool, &part->entry);
	bytes_free(&part->bytes);
}

void pending_set_aside(struct pending *pending, struct pending_part *part)
{
	if (!part->bytes.data && part->entry.first)
		spool_set_aside(pending->spool, &part->entry);
	bytes_free(&part->bytes);
}

/*
 * Finds the oldest two neighbours among the first nr that together cover most_ns or less. Returns
 * pending->nr if there are none.
 */
static size_t find_pair(const struct pending *pending, size_t nr, uint64_t most_ns)
{
	const struct pending_part *part = pending->parts;
	size_t i;

	for (i = 0; i + 1 < nr; i++, part++)
		if (!part->unmergeable && !delivered_any(&part[0].done) &&
		    !delivered_any(&part[1].done) && !part[0].unread_ns && !part[1].unread_ns &&
		    part[0].entry.duration_ns + part[1].entry.duration_ns <= most_ns)
			return i;
	return pending->nr;
}

/* Users look at the newest profile. Therefore merge it only if there is no other pair. */
static size_t choose_pair(const struct pending *pending)
{
	size_t at = find_pair(pending, pending->nr - 1, 10 * MINUTE_NS);

	if (at == pending->nr)
		at = find_pair(pending, pending->nr - 1, 60 * MINUTE_NS);
	return at == pending->nr ? find_pair(pending, pending->nr, UINT64_MAX) : at;
}

int pending_sum(const struct pending *pending, const struct pending_part *parts, size_t nr,
		struct profile **result, struct error *err)
{
	struct profile_merger merger = { 0 };
	struct profile *profile = NULL;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		ret = pending_read(pending, &parts[i], &profile, err);
		if (!ret)
			ret = profile_merger_add(&merger, profile, "pending", err);
	}
	if (!ret)
		ret = profile_merger_finish(&merger, result, err);
	profile_merger_free(&merger);
	return ret;
}

/* Keep both parts until their sum exists, so that a lack of memory loses nothing. */
static int merge(struct pending *pending, size_t at, struct error *err)
{
	const struct pending_part *pair = &pending->parts[at];
	struct pending_part sum = { 0 }, old;
	struct profile *profile = NULL;
	size_t i;
	int ret = pending_sum(pending, pair, 2, &profile, err);

	if (!ret)
		ret = make_part(profile, &sum, err);
	profile_free(profile);
	if (ret) {
		bytes_free(&sum.bytes);
		return ret;
	}
	sum.entry.first = pair[0].entry.first;
	sum.entry.last = pair[1].entry.last;
	place(pending, &sum);
	sum.unmergeable = pair[1].unmergeable;
	for (i = 0; i < 2; i++) {
		old = remove_part(pending, at);
		pending_drop(pending, &old);
	}
	pending->merged++;
	return insert(pending, at, &sum);
}

static void drop_at(struct pending *pending, size_t at)
{
	struct pending_part part = remove_part(pending, at);

	pending->lost += pending_ticks(&part);
	pending_drop(pending, &part);
}

/*
 * Profiles of different modes cannot be merged, but count towards the cap. 0: there are none, and
 * the cap is exceeded by a profile that is partly delivered.
 */
static int drop_oldest_unmergeable(struct pending *pending, struct error *err)
{
	uint64_t ticks;
	size_t i;

	for (i = 0; i < pending->nr; i++)
		if (pending->parts[i].unmergeable && !delivered_any(&pending->parts[i].done))
			break;
	if (i == pending->nr)
		return 0;
	ticks = pending_ticks(&pending->parts[i]);
	drop_at(pending, i);
	return error_with_hint(
		err, -ENOSPC, pending->spool ? "--spool-size" : "--pending",
		"%" PRIu64 " ticks are not delivered: there is no room for them, and they do not "
		"add up with later ones, which have another --mode",
		ticks);
}

static bool cannot_be_read(const struct pending *pending, const struct pending_part *part)
{
	struct profile *profile = NULL;
	struct error ignored;
	int ret = pending_read(pending, part, &profile, &ignored);

	profile_free(profile);
	return ret != 0;
}

/* Whether pending profiles exceed the cap, times this factor. */
static bool is_over(const struct pending *pending, size_t times)
{
	return pending->nr > 1 && (pending->bytes / times > pending->cap ||
				   pending->spooled / times > pending->spool_cap);
}

/* If descriptors or memory are too short to merge profiles, allow twice the cap. */
static int enforce_cap(struct pending *pending, struct error *err)
{
	size_t at;
	int ret = 0;

	while (!ret && is_over(pending, 1)) {
		at = choose_pair(pending);
		if (at == pending->nr)
			return drop_oldest_unmergeable(pending, err);
		ret = merge(pending, at, err);
		if (pending_may_pass(ret) && !is_over(pending, 2))
			return 0;
		if (ret == -EINVAL || ret == -EIO) {
			pending->parts[at].unmergeable = true;
			ret = 0;
		} else if (ret) {
			/* Of two that are too large for the memory, the older is dropped. */
			drop_at(pending, at + (!pending_may_pass(ret) &&
					       !cannot_be_read(pending, &pending->parts[at])));
		}
	}
	return ret;
}

int pending_add(struct pending *pending, const struct profile *profile, struct error *err)
{
	bool failed = pending->spool_failed;
	struct pending_part part;
	int ret = make_part(profile, &part, err);

	if (!ret && pending->spool)
		part.entry.first = part.entry.last = spool_number(pending->spool);
	if (!ret)
		place(pending, &part);
	/* The disk has room again. Move older profiles there too. */
	if (failed && !pending->spool_failed)
		pending_spool_all(pending);
	if (!ret && insert(pending, pending->nr, &part))
		ret = error_errno(err, -ENOMEM, "pending");
	pending_drop(pending, &part);
	if (ret)
		pending->lost += profile->ticks.total;
	return ret ? ret : enforce_cap(pending, err);
}

struct pending_part pending_pop(struct pending *pending)
{
	return remove_part(pending, 0);
}

struct pending_part pending_pop_newest(struct pending *pending)
{
	return remove_part(pending, pending->nr - 1);
}

int pending_put_back(struct pending *pending, struct pending_part *part)
{
	return insert(pending, part->unread_ns ? pending->nr : 0, part);
}

int pending_load(struct pending *pending, struct error *err)
{
	cleanup_free struct spool_entry *list = NULL;
	struct pending_part part;
	size_t i, nr = 0;
	int ret = spool_list(pending->spool, &list, &nr, err);

	for (i = 0; !ret && i < nr; i++) {
		part = (struct pending_part){ .entry = list[i], .done = list[i].done };
		if (insert(pending, i, &part))
			ret = error_errno(err, -ENOMEM, "agent: --spool");
	}
	if (ret)
		return ret;
	/* Profiles in memory are newer than those of an earlier agent, and have no number yet. */
	for (; i < pending->nr; i++)
		pending->parts[i].entry.first = pending->parts[i].entry.last =
			spool_number(pending->spool);
	pending_spool_all(pending);
	return 0;
}

void pending_import(struct pending *pending, const char *folder)
{
	cleanup_free struct spool_entry *list = NULL;
	struct pending_part part;
	size_t i, nr = 0;

	/* Entries that find no memory stay on disk for the next agent. */
	spool_import(pending->spool, folder, &list, &nr);
	for (i = 0; i < nr; i++) {
		part = (struct pending_part){ .entry = list[i], .done = list[i].done };
		if (insert(pending, pending->nr, &part))
			break;
	}
}

void pending_spool_all(struct pending *pending)
{
	struct pending_part *part = pending->parts, *end = part + pending->nr;

	for (; part < end; part++) {
		*bytes_of(pending, part) -= part->entry.size;
		place(pending, part);
		*bytes_of(pending, part) += part->entry.size;
	}
}

void pending_free(struct pending *pending)
{
	size_t i;

	for (i = 0; i < pending->nr; i++)
		bytes_free(&pending->parts[i].bytes);
	free(pending->parts);
	*pending = (struct pending){ 0 };
}
