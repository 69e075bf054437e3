// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/member.h"

#include <stdlib.h>
#include <string.h>

void member_drop_pages(struct member *member, struct call_engine *engine)
{
	struct call *call = member_call(member, engine);
	uint32_t number = call->first_page, next;

	call->first_page = 0;
	memset(call->pages, 0, sizeof(call->pages));
	for (; number; number = next) {
		next = engine->infos[number - 1].next;
		call_engine_drop_page(engine, call, number);
	}
	sparse_free(&member->held);
}

void member_free(struct member *member)
{
	if (!member)
		return;
	process_close(&member->process);
	sparse_free(&member->held);
	sparse_free(&member->taken);
	written_free(&member->written);
	pcs_free(&member->pcs);
	free(member);
}
