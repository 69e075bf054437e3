// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/rules_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int rules_queue_add(struct rules_queue *queue, const struct wanted_rules *wanted)
{
	if (GROW(queue->list, queue->room, queue->nr + 1))
		return -ENOMEM;
	queue->list[queue->nr++] = *wanted;
	return 0;
}

static void remove_at(struct rules_queue *queue, size_t i)
{
	queue->nr--;
	memmove(&queue->list[i], &queue->list[i + 1], (queue->nr - i) * sizeof(*queue->list));
}

void rules_queue_drop(struct rules_queue *queue, uint32_t text)
{
	size_t i;

	for (i = queue->nr; i-- > 0;) {
		if (queue->list[i].text != text)
			continue;
		close_fd(&queue->list[i].fd);
		remove_at(queue, i);
	}
}

/* The time that an owner has spent, less its refill since then. */
static uint64_t spent(const struct rules_queue *queue, uint32_t number, uint64_t now_ns)
{
	uint64_t back = (now_ns - queue->owners[number].at_ns) / QUEUE_REFILL;

	return queue->owners[number].spent_ns -
	       (back < queue->owners[number].spent_ns ? back : queue->owners[number].spent_ns);
}

static bool may_be_next(const struct rules_queue *queue, const struct wanted_rules *wanted,
			uint64_t now_ns)
{
	return !wanted->counts ||
	       spent(queue, wanted->number, now_ns) < QUEUE_SECONDS * (uint64_t)SECOND_NS;
}

/* Whether a comes before b. Texts without a file come first, because they take no time. */
static bool is_before(const struct rules_queue *queue, const struct wanted_rules *a,
		      const struct wanted_rules *b)
{
	if (!a->is_file || !b->is_file)
		return !a->is_file && b->is_file;
	if (a->counts != b->counts)
		return b->counts;
	return queue->owners[a->number].served < queue->owners[b->number].served;
}

bool rules_queue_next(struct rules_queue *queue, uint64_t now_ns, struct wanted_rules *result)
{
	size_t i, next = queue->nr;

	for (i = 0; i < queue->nr; i++)
		if (may_be_next(queue, &queue->list[i], now_ns) &&
		    (next == queue->nr || is_before(queue, &queue->list[i], &queue->list[next])))
			next = i;
	if (next == queue->nr)
		return false;
	*result = queue->list[next];
	if (result->is_file)
		queue->owners[result->number].served = ++queue->nr_served;
	remove_at(queue, next);
	return true;
}

void rules_queue_spend(struct rules_queue *queue, uint32_t number, uint64_t ns, uint64_t now_ns)
{
	queue->owners[number].spent_ns = spent(queue, number, now_ns) + ns;
	queue->owners[number].at_ns = now_ns;
}

void rules_queue_free(struct rules_queue *queue)
{
	while (queue->nr)
		close_fd(&queue->list[--queue->nr].fd);
	free(queue->list);
}
