// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "engine/session_impl.h"

static struct recycled recycled_of(struct session *session)
{
	struct host_bpf *skel = session->skel;

	return (struct recycled){
		.pool = &session->pool,
		.xlat = session->xlat.at,
		.nr_sets = (size_t)session->nr_cpus * XLAT_SETS,
		.windows_fd = bpf_map__fd(skel->maps.windows),
		.told_fd = bpf_map__fd(skel->maps.spaces),
		.free_pages_fd = bpf_map__fd(skel->maps.free_pages),
		.free_dirs_fd = bpf_map__fd(skel->maps.free_dirs),
	};
}

static void forget_spaces(struct session *session, const struct recycled *recycled,
			  const struct uses *uses)
{
	struct spaces *spaces = &session->spaces;
	size_t from, to = 0;

	for (from = 0; from < spaces->nr; from++) {
		struct space_info *info = &spaces->list[from];

		if (recycler_forgets(&session->recycler, recycled, uses, &info->space,
				     &info->struck)) {
			session_free_text(session, info);
			space_info_free(info);
		} else {
			spaces->list[to++] = *info;
		}
	}
	spaces->nr = to;
	spaces->sorted = 0;
}

static void forget_splits(struct session *session, const struct recycled *recycled,
			  const struct uses *uses)
{
	struct split_names *names = &session->splits;
	size_t from, to = 0;

	for (from = 0; from < names->nr; from++) {
		struct split_name *name = &names->list[from];
		struct space space = split_space(session->options.split, name->id);

		if (recycler_forgets(&session->recycler, recycled, uses, &space, &name->struck))
			free(name->name);
		else
			names->list[to++] = *name;
	}
	names->nr = to;
	names->sorted = 0;
}

void session_settle(struct session *session)
{
	struct recycled recycled = recycled_of(session);

	recycler_settle(&session->recycler, &recycled);
}

int session_forget(struct session *session, const struct seen *seen, struct error *err)
{
	struct recycled recycled = recycled_of(session);
	struct uses uses;
	int ret;

	ret = uses_find(seen, session->options.split, &uses, err);
	if (ret)
		return ret;
	session->recycler.struck = false;
	forget_spaces(session, &recycled, &uses);
	forget_splits(session, &recycled, &uses);
	uses_free(&uses);
	return 0;
}

void session_turn(struct session *session, const struct seen *seen)
{
	struct recycled recycled = recycled_of(session);

	recycler_turn(&session->recycler, &recycled, seen);
}
