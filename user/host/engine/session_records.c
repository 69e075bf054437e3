// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Reads the programs' announcements of text and cgroups, and requests for memory. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "host/engine/program_files.h"
#include "host/engine/programs.h"
#include "host/engine/session_impl.h"
#include "host/engine/spaces.h"

static int add_space(struct session *session, const struct record *record)
{
	int ret = spaces_add(&session->spaces, record, &session->failure);
	struct space_info *info;

	if (ret > 0) {
		session_announce_again(session, &record->space);
		return 0;
	}
	if (ret)
		return ret;
	session_new_number(session, &record->space);
	info = spaces_find(&session->spaces, &record->space);
	if (!info)
		return 0;
	spaces_keep(&session->spaces, info);
	if (record->space.kind == SPACE_FILE)
		session_note_starting(session, record->tgid);
	if (record->space.kind == SPACE_ANON && !info->jit)
		session_new_text(session, info);
	return 0;
}

static int add_split(struct session *session, const struct record *record)
{
	const struct session_options *options = &session->options;
	struct split_name *name;
	int ret = split_names_add(&session->splits, record->space.a, record_path(record),
				  &session->failure);

	if (ret)
		return ret;
	name = &session->splits.list[session->splits.nr - 1];
	name->owner = record->owner_number % OWNERS_MAX;
	if (options->first_seen)
		options->first_seen(options->choose_context, name->name);
	session_classify(session, name);
	return 0;
}

static int read_session_record(void *ctx, void *data, size_t size)
{
	const struct record *record = data;
	struct session *session = ctx;
	int ret = 0;

	if (size < sizeof(*record))
		return 0;
	if (record->type == RECORD_FULL)
		session->is_full = true;
	else if (record->space.kind == SPACE_CGROUP)
		ret = add_split(session, record);
	else
		ret = add_space(session, record);
	return ret;
}

int session_consume_records(struct session *session, struct error *err)
{
	int ret = ring_buffer__consume(session->records);

	if (ret < 0)
		*err = session->failure;
	return ret < 0 ? ret : 0;
}

int session_read_records(struct session *session, struct error *err)
{
	int ret = session_consume_records(session, err);

	if (!ret)
		session_poll_jit(session);
	return ret;
}

int session_open_records(struct session *session, struct error *err)
{
	session->records = ring_buffer__new(bpf_map__fd(session->skel->maps.records),
					    read_session_record, session, NULL);
	return session->records ? 0 : error_errno(err, -errno, "ring buffer");
}

/* Passes over all mappings. Each announces as many files as the ring buffer has room for. */
enum { TEXT_PASSES = 64, TABLES_WAIT_MS = 3000 };

static int announce_texts(struct session *session, struct error *err)
{
	struct table_state *state = &session->skel->bss->table_state;
	int ret = 0, pass = 0;
	size_t before;

	do {
		before = session->spaces.nr;
		state->texts_unannounced = 0;
		ret = programs_walk(session->skel->progs.profil_texts, 0, err);
		if (!ret)
			ret = session_read_records(session, err);
	} while (!ret && state->texts_unannounced && session->spaces.nr > before &&
		 ++pass < TEXT_PASSES);
	return ret;
}

int session_announce_texts(struct session *session, struct error *err)
{
	struct program_files files = { 0 };
	int ret;

	if (!session->options.callers)
		return 0;
	/* The kernel identifies a file by its inode in memory. Therefore we map COMMAND's files. */
	if (session->targets[0].kind == TARGET_COMMAND) {
		program_files_map(&files, session->targets[0].name);
		session->skel->bss->table_state.preloaded_by = (uint32_t)getpid();
	}
	ret = announce_texts(session, err);
	session->skel->bss->table_state.preloaded_by = 0;
	if (!ret)
		callers_rules_wait(session->callers.rules, TABLES_WAIT_MS);
	program_files_free(&files);
	return ret;
}
