// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A sink ends, or takes over what waits in another one. */
#include <inttypes.h>

#include "agent/sink_impl.h"
#include "base/util.h"
#include "base/output.h"

void sink_stop(struct sink *sink, uint64_t patience_ns, uint64_t end_ns)
{
	struct timespec due = timespec_of(monotonic_ns() + patience_ns + end_ns);

	if (!sink->has_thread)
		return;
	sink->has_thread = false;
	sink_end(sink, patience_ns);
	if (!pthread_clockjoin_np(sink->thread, NULL, CLOCK_MONOTONIC, &due))
		return;
	pthread_mutex_lock(&sink->lock);
	if (sink->before && sink->before->http)
		http_stop(sink->before->http);
	if (sink->http)
		http_stop(sink->http);
	pthread_cond_signal(&sink->more);
	pthread_mutex_unlock(&sink->lock);
	pthread_join(sink->thread, NULL);
}

/* What is in the other's spool stays there, for whoever opens that. */
static void adopt(struct sink *sink, struct sink *before)
{
	struct pending_part part;
	uint64_t left = 0;

	sink->counts = before->counts;
	sink->due_ns = before->due_ns;
	sink->pending.lost += before->pending.lost;
	sink->pending.merged += before->pending.merged;
	pending_settle(&before->pending);
	while (before->pending.nr) {
		part = pending_take_newest(&before->pending);
		if (!part.bytes.data) {
			left += pending_ticks(&part);
			continue;
		}
		part.entry.first = part.entry.last = 0;
		if (pending_put_back(&sink->pending, &part))
			sink->counts.losses[LOST_NO_ROOM] += pending_ticks(&part);
		bytes_free(&part.bytes);
	}
	if (left && compare_text(sink->options.spool, before->options.spool) != 0)
		print_message(NULL, "agent: %s: %" PRIu64 " ticks wait in %.256s", sink->name, left,
			      spool_path(before->pending.spool));
}

/*
 * The other one must have stopped, because what it is sending would be sent twice. That takes as long as
 * a backend may take to answer, in which sampling goes on.
 */
void sink_take_over(struct sink *sink)
{
	struct sink *before = sink->before;
	struct error err = { 0 };

	sink_stop(before, 0, before->options.http.timeout_ms * MS_NS);
	pthread_mutex_lock(&sink->lock);
	adopt(sink, before);
	sink->before = NULL;
	pthread_mutex_unlock(&sink->lock);
	sink_close(before, 0);
	if (sink_load(sink, &err))
		print_error(&err);
}
