// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as the file that one agent leaves to the next, with the hash that they should have: they are
 * taken whole or not at all, and the next agent counts and answers with what it took.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/state.h"
#include "base/util.h"
#include "bytes.h"

#define HEAD "bpfprofil counters 1 "

static struct bytes with_head(const uint8_t *data, size_t size)
{
	size_t head = strlen(HEAD) + 17;
	struct bytes bytes = { .data = malloc(head + size + 1), .size = head + size };

	fuzz_check(bytes.data != NULL, "memory");
	snprintf(bytes.data, head + 1, HEAD "%016" PRIx64 "\n", hash_bytes(HASH_BEGIN, data, size));
	memcpy(bytes.data + head, data, size);
	return bytes;
}

/* Whether it was taken; whatever is not leaves no trace. */
static bool is_taken(const struct bytes *bytes)
{
	const struct figures_of_sinks none = { 0 };
	const struct figures_form form = { .openmetrics = true,
					   .functions = true,
					   .scraper = "10.0.0.1" };
	struct state state = { .fd = -1 };
	struct fuzz_text text;
	struct figures figures;
	const char *why;

	figures_open(&figures);
	why = state_read(bytes, &state, &figures);
	if (why) {
		fuzz_check(*why != '\0', "a reason");
		fuzz_check(!state.until_ns && !state.usages.nr && !state.nr_sinks &&
				   !figures.ticks.nr_lost && !figures.times.nr,
			   "nothing is left of what was refused");
	} else {
		fuzz_check(state.cut_ns <= state.until_ns && state.until_ns <= monotonic_ns(),
			   "times that have passed");
		fuzz_check(state.duty_percent >= 0 && state.duty_percent <= 100, "a duty");
	}
	figures_new_session(&figures, true, 3);
	figures_end_interval(&figures);
	figures_write(&figures, &none, &form, fuzz_text_begin(&text));
	fuzz_text_end(&text);
	fuzz_text_free(&text);
	state_close(&state);
	figures_close(&figures);
	return !why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = with_head(data, size);
	bool taken = is_taken(&bytes);

	bytes_free(&bytes);
	if (taken) {
		bytes = with_head(data, size - 1);
		fuzz_check(!is_taken(&bytes), "a part of it is refused");
		bytes_free(&bytes);
	}
	/* Without the right hash, or any. */
	bytes = (struct bytes){ .data = strndup((const char *)data, size), .size = 0 };
	bytes.size = strlen(bytes.data);
	is_taken(&bytes);
	bytes_free(&bytes);
	return 0;
}
