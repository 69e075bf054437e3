// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/handler/cost_load.h"

#include <unistd.h>

#include "base/util.h"

/* A longer gap is not an interrupt but somebody else's turn on the CPU, or on the hypervisor's. */
#define TURN_NS 200000

/* A shorter gap is the loop's own variation; an interrupt on metal takes some 1,000 ns. */
#define GAP_NS 200

#define PROBES 20000
#define LINE 64
#define READ_BYTES 4096
#define MEMORY_LEAST (4 << 20)
#define MEMORY_MOST (32 << 20)

typedef uint64_t work_function(uint64_t state);

/* Functions with different code of some tens of ns, aligned so that they spread over pages. */
#define WORK(n)                                                                                    \
	__attribute__((noinline, aligned(1024))) static uint64_t work_##n(uint64_t x)              \
	{                                                                                          \
		int i;                                                                             \
                                                                                                   \
		for (i = 0; i < 16; i++) {                                                         \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x += (uint64_t)i * (2 * (n) + 1);                                          \
			x ^= x << 17;                                                              \
		}                                                                                  \
		return x;                                                                          \
	}

WORK(0)
WORK(1)
WORK(2)
WORK(3)
WORK(4)
WORK(5)
WORK(6)
WORK(7)
WORK(8)
WORK(9)
WORK(10)
WORK(11)
WORK(12)
WORK(13)
WORK(14)
WORK(15)

static work_function *const functions[] = {
	work_0, work_1, work_2,	 work_3,  work_4,  work_5,  work_6,  work_7,
	work_8, work_9, work_10, work_11, work_12, work_13, work_14, work_15,
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

size_t cost_work_memory(void)
{
	long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
	size_t size = cache > 0 ? 2 * (size_t)cache : 0;

	if (size < MEMORY_LEAST)
		return MEMORY_LEAST;
	return size < MEMORY_MOST ? size / READ_BYTES * READ_BYTES : MEMORY_MOST;
}

static void call_one(struct cost_work *work)
{
	work->state = work->state * 6364136223846793005 + 1442695040888963407;
	work->state = functions[(work->state >> 33) % NR_FUNCTIONS](work->state);
}

void cost_work_begin(struct cost_work *work)
{
	uint64_t last = monotonic_ns(), now;
	int i;

	work->usual_ns = UINT64_MAX;
	for (i = 0; i < PROBES; i++) {
		call_one(work);
		now = monotonic_ns();
		if (now - last < work->usual_ns)
			work->usual_ns = now - last;
		last = now;
	}
}

static void run_warm(struct cost_work *work, const _Atomic uint32_t *phase, uint32_t current)
{
	uint64_t begin = monotonic_ns(), last = begin, usual = work->usual_ns;
	uint64_t least = 4 * usual + GAP_NS, turns = 0, taken = 0, units = 0, now;

	while (atomic_load_explicit(phase, memory_order_relaxed) == current) {
		call_one(work);
		now = monotonic_ns();
		if (now - last > TURN_NS)
			turns += now - last;
		else if (now - last > least)
			taken += now - last - usual;
		last = now;
		units++;
	}
	work->figures = (struct cost_window){
		.units = units,
		.held_ns = last - begin - turns,
		.taken_ns = taken,
	};
}

static void call_and_read(struct cost_work *work)
{
	const uint8_t *from = work->memory + work->at;
	size_t i;

	call_one(work);
	for (i = 0; i < READ_BYTES; i += LINE)
		work->state += from[i];
	work->at += READ_BYTES;
	if (work->at >= work->size)
		work->at = 0;
}

static void run_cold(struct cost_work *work, const _Atomic uint32_t *phase, uint32_t current)
{
	uint64_t begin = monotonic_ns(), last = begin, turns = 0, units = 0, now;

	while (atomic_load_explicit(phase, memory_order_relaxed) == current) {
		call_and_read(work);
		now = monotonic_ns();
		if (now - last > TURN_NS)
			turns += now - last;
		last = now;
		units++;
	}
	work->figures = (struct cost_window){ .units = units, .held_ns = last - begin - turns };
}

void cost_work_run(struct cost_work *work, enum cost_kind kind, const _Atomic uint32_t *phase,
		   uint32_t current)
{
	if (kind == COST_WARM)
		run_warm(work, phase, current);
	else
		run_cold(work, phase, current);
}
