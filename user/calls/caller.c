// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/caller.h"

#include <stdlib.h>
#include <string.h>

void caller_drop_pages(struct caller *caller, struct call_engine *engine)
{
	struct call *call = call_of(caller, engine);
	uint32_t number = call->first_page, next;

	call->first_page = 0;
	memset(call->pages, 0, sizeof(call->pages));
	for (; number; number = next) {
		next = engine->infos[number - 1].next;
		call_engine_drop_page(engine, call, number);
	}
	sparse_free(&caller->held);
}

void caller_free(struct caller *caller)
{
	if (!caller)
		return;
	process_close(&caller->process);
	sparse_free(&caller->held);
	sparse_free(&caller->taken);
	fork_repair_free(&caller->writes);
	pcs_free(&caller->pcs);
	free(caller);
}
