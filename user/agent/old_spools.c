// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/old_spools.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
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

static bool is_used(const struct old_search *search, const char *folder)
{
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

	for (i = 0; i < search->nr && search->choice == OLD_SPOOLS_SEND; i++) {
		const char *kind = sink_kind(search->sinks[i]);

		if (!sink_has_spool(search->sinks[i], NULL))
			continue;
		if (!strncmp(name, kind, strlen(kind)))
			return search->sinks[i];
		successor = successor ?: search->sinks[i];
	}
	return successor;
}

static void settle(struct old_search *search, const char *folder)
{
	struct spool *old = spool_open_old(folder);
	struct sink *successor = find_successor(search, folder);
	cleanup_free struct spool_entry *list = NULL;
	const char *end = "wait for it, which is no sink any more";
	uint64_t ticks = 0, bytes = 0;
	struct error ignored;
	char name[512];
	size_t i, nr = 0;
	bool drops;

	if (!old || spool_list(old, &list, &nr, &ignored)) {
		spool_close(old);
		return;
	}
	for (i = 0; i < nr; i++) {
		ticks += list[i].ticks - list[i].done.ticks;
		bytes += list[i].size;
	}
	spool_sink(old, name, sizeof(name));
	drops = search->choice == OLD_SPOOLS_DROP || !nr;
	if (drops)
		spool_empty(old);
	/* The successor locks the folder. */
	spool_close(old);
	if (drops)
		end = "are dropped";
	else if (successor && !sink_import(successor, folder))
		end = "wait for another sink now";
	else
		search->kept += bytes;
	if (nr)
		print_message(search->kept ? "--old-spools send, or drop" : NULL,
			      "agent: %.200s: %" PRIu64 " ticks in %.200s %s",
			      *name ? name : "an old sink", ticks, folder, end);
}

uint64_t old_spools_settle(const char *dir, enum old_spools_choice choice, struct sink **sinks,
			   size_t nr)
{
	struct old_search search = { .choice = choice, .sinks = sinks, .nr = nr };
	DIR *folder = dir ? opendir(dir) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		cleanup_free char *path = format_text("%s/%s", dir, entry->d_name);

		if (path && spool_is_folder(entry->d_name) && !is_used(&search, path))
			settle(&search, path);
	}
	if (folder)
		closedir(folder);
	return search.kept;
}
