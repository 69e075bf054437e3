// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_impl.h"

static int filling_begin(struct filling *filling)
{
	const struct store *store = filling->store;
	const size_t parts = filling->modules->nr + 1;
	size_t i;

	filling->roots = store_roots_of_nodes(store);
	filling->counts = malloc((store->nr_nodes + 1) * sizeof(*filling->counts));
	filling->left_out = calloc(store->nr_roots + 1, sizeof(*filling->left_out));
	filling->infos = calloc(store->nr_texts + 1, sizeof(*filling->infos));
	filling->like = calloc(store->nr_texts + 1, sizeof(*filling->like));
	filling->objects = malloc((store->nr_texts + 1) * sizeof(*filling->objects));
	filling->kernel = malloc(parts * sizeof(*filling->kernel));
	if (!filling->roots || !filling->counts || !filling->left_out || !filling->infos ||
	    !filling->like || !filling->objects || !filling->kernel)
		return -ENOMEM;
	memset(filling->objects, 0xff, store->nr_texts * sizeof(*filling->objects));
	memset(filling->kernel, 0xff, parts * sizeof(*filling->kernel));
	for (i = 0; i < store->nr_roots; i++)
		filling->left_out[i] =
			split_is_left_out(filling->names->splits, store->roots[i].key.split);
	for (i = 0; i < store->nr_nodes; i++)
		filling->counts[i] = store->nodes[i].count;
	return filling_find_likes(filling);
}

static void filling_end(struct filling *filling)
{
	free(filling->roots);
	free(filling->counts);
	free(filling->left_out);
	free(filling->infos);
	free(filling->like);
	free(filling->objects);
	free(filling->kernel);
}

int store_fill(const struct store *store, const struct store_fill_request *request,
	       struct profile *profile, struct error *err)
{
	struct filling filling = { .store = store,
				   .names = request->names,
				   .modules = request->modules,
				   .profile = profile,
				   .err = err };
	int ret = filling_begin(&filling);

	if (!ret)
		ret = filling_bins(&filling, request->tallies);
	if (!ret && request->callers) {
		profile->callers = calloc(1, sizeof(*profile->callers));
		ret = profile->callers ? filling_tree(&filling, false, profile->callers) : -ENOMEM;
		/*
		 * Splits may look equal, for instance if a pid was used twice, and so may nodes of
		 * two texts of one object.
		 */
		ret = ret ?: profile_callers_fold(profile->callers);
	}
	if (!ret && request->waits) {
		profile->waits = calloc(1, sizeof(*profile->waits));
		ret = profile->waits ? filling_waits(&filling, request->waits, profile->waits) :
				       -ENOMEM;
	}
	filling_end(&filling);
	return ret ? error_no_memory(err, "profile") : 0;
}
