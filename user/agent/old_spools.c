// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/old_spools.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "agent/spool.h"
#include "base/output.h"
#include "base/util.h"

const char *const old_spools_words[] = { [OLD_SPOOLS_KEEP] = "keep",
					 [OLD_SPOOLS_SEND] = "send",
					 [OLD_SPOOLS_DROP] = "drop",
					 NULL };

struct old_search {
	enum old_spools_choice choice;
	struct sink **sinks;
	size_t nr;
	uint64_t kept; /* bytes */
};

static bool is_used(void *context, const char *folder)
{
	const struct old_search *search = context;
	size_t i;

	for (i = 0; i < search->nr && !sink_has_spool(search->sinks[i], folder); i++)
		;
	return i < search->nr;
}

/* Finds the sink that will send the folder's profiles. NULL: no sink has a spool. */
static struct sink *find_successor(const struct old_search *search, const char *folder)
{
	const char *name = strrchr(folder, '/') + 1;
	struct sink *successor = NULL;
	size_t i;

	for (i = 0; i < search->nr; i++) {
		const char *kind = sink_kind(search->sinks[i]);

		if (!sink_has_spool(search->sinks[i], NULL))
			continue;
		if (!strncmp(name, kind, strlen(kind)))
			return search->sinks[i];
		successor = successor ?: search->sinks[i];
	}
	return successor;
}

static void settle(void *context, struct spool *old)
{
	struct old_search *search = context;
	struct sink *successor =
		search->choice == OLD_SPOOLS_SEND ? find_successor(search, spool_path(old)) : NULL;
	cleanup_free struct spool_entry *list = NULL;
	uint64_t ticks = 0, bytes = 0;
	const char *end = "wait for it, which is no sink any more";
	struct error ignored;
	char name[512];
	size_t i, nr = 0;

	if (spool_list(old, &list, &nr, &ignored))
		return;
	for (i = 0; i < nr; i++) {
		ticks += list[i].ticks - list[i].done.ticks;
		bytes += list[i].size;
	}
	spool_sink(old, name, sizeof(name));
	if (successor)
		spool_let_go(old);
	if (successor && !sink_import(successor, spool_path(old))) {
		end = "wait for another sink now";
	} else if (search->choice == OLD_SPOOLS_DROP || !nr) {
		spool_empty(old);
		end = "are dropped";
	} else {
		search->kept += bytes;
	}
	if (nr)
		print_message(search->kept ? "--old-spools send, or drop" : NULL,
			      "agent: %.200s: %" PRIu64 " ticks in %.200s %s",
			      *name ? name : "an old sink", ticks, spool_path(old), end);
}

uint64_t old_spools_settle(const char *dir, enum old_spools_choice choice, struct sink **sinks,
			   size_t nr)
{
	struct old_search search = { .choice = choice, .sinks = sinks, .nr = nr };

	if (dir)
		spool_find_old(dir, is_used, settle, &search);
	return search.kept;
}
