// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The whole host while processes come and go faster than anyone could look at them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "host.h"
#include "need.h"

/*
 * BPFPROFIL_STORM is the number of processes; `make check` runs some, a storm that counts has
 * 10,000.
 */
#define STORM "1000"

TestSuite(live_attach_all, .timeout = 600);

/* On both CPUs: shells that fork, programs of a few ms or less, files that are new each time. */
static const char storm[] =
	"half() { i=0; while [ $i -lt $(($1 / 4)) ]; do"
	" \"$2/one\" 1; \"$2/nothing\"; cp \"$2/nothing\" \"$3/$4.$i\" && \"$3/$4.$i\";"
	" rm \"$3/$4.$i\"; i=$((i + 1)); done; }; "
	"half $1 $2 $3 left & half $1 $2 $3 right & wait";

LIVE_TEST(live_attach_all, storm)
{
	const char *processes = getenv("BPFPROFIL_STORM");
	struct child_end end;
	struct child child;
	double before, seconds;
	uint64_t total, unfiled;

	NEED_ROOT();
	attach_start(live, &child, ARGS("--all", "--mode", "split"));
	before = host_busy_seconds();
	child_run(&end, NULL,
		  ARGS("sh", "-c", storm, "sh", processes ?: STORM, WORKLOADS, live->dir));
	cr_expect_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	seconds = host_busy_seconds() - before;
	attach_end(live, &child, SIGINT);

	total = doc_number(live->doc, "ticks.total");
	unfiled = total - doc_number(live->doc, "ticks.binned");
	cr_log_info("%lu ticks, %lu of them in no bin (%lu lost); by /proc/stat %.3f of them",
		    total, unfiled, doc_lost(live->doc, NULL),
		    (double)total * (double)doc_number(live->doc, "sampling.period_ns") / 1e9 /
			    seconds);
	cr_expect_gt(total, 1000);
	cr_expect_leq(unfiled * 1000, total * 5, "%lu of %lu ticks are in no bin", unfiled, total);
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0);
	cr_expect_gt(doc_object(live->doc, "file", "/one"), 0);
	/*
	 * A tick that the kernel handles late counts once: a virtual CPU may be away meanwhile, and
	 * of two emulated ones, which take turns, one always is (0.945 and 1.016 were seen).
	 */
	cr_expect_geq((double)total * (double)doc_number(live->doc, "sampling.period_ns") / 1e9,
		      (0.95 - 4 * doc_emulated_part()) * seconds);
}
