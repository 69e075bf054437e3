// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/store_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "host/engine/store_fill.h"

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
		ret = profile->callers ? filling_callers(&filling, profile->callers) : -ENOMEM;
	}
	filling_end(&filling);
	return ret ? error_no_memory(err, "profile") : 0;
}
