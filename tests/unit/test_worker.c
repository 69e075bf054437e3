// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who gets a thread of the server of calls. */
#include "calls/worker.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct worker *take(struct calls *calls, uint64_t key)
{
	struct worker *worker = worker_of(calls, key, (uid_t)key);

	if (worker)
		worker->specs = 1;
	return worker;
}

/* However many users there are, root gets in. */
Test(worker, the_last_place_is_roots)
{
	struct calls calls = { .workers = calloc(WORKERS_MAX, sizeof(*calls.workers)) };
	struct worker *root;
	uint64_t key;

	cr_assert_not_null(calls.workers);
	for (key = 1; key < WORKERS_MAX; key++)
		cr_assert_not_null(take(&calls, key), "%lu", key);
	cr_assert_null(take(&calls, key));
	root = take(&calls, 0);
	cr_assert_not_null(root);
	cr_assert_eq(take(&calls, 0), root);
	cr_assert_null(take(&calls, key));
	root->specs = 0;
	cr_assert_null(take(&calls, key), "nobody else gets it when it is free");
	calls.workers[7].specs = 0;
	cr_assert_not_null(take(&calls, key));
	free(calls.workers);
}
