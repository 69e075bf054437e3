// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The division of wall time: the line above tables of waits, and after run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "profile/waits_view.h"
#include "report/render.h"
#include "report/waits_table.h"

#define CLASSES_SHOWN 6
#define MOSTLY 0.5

void render_mean(uint64_t ns, uint64_t count, char text[MEAN_BYTES])
{
	const double mean = count ? (double)ns / (double)count : 0;

	if (!count)
		snprintf(text, MEAN_BYTES, "-");
	else if (mean >= 1e9)
		snprintf(text, MEAN_BYTES, "%.3f s", mean / 1e9);
	else if (mean >= 1e6)
		snprintf(text, MEAN_BYTES, "%.2f ms", mean / 1e6);
	else
		snprintf(text, MEAN_BYTES, "%.2f us", mean / 1e3);
}

/* --- sums ------------------------------------------------------------------------------------- */

bool wait_totals_add(struct wait_totals *totals, const struct profile_wait_account *account)
{
	size_t i;

	totals->wall_ns += account->wall_ns;
	totals->cpu_ns += account->cpu_ns;
	totals->runnable_ns += account->runnable_ns;
	totals->stolen_ns += account->stolen_ns;
	totals->unaccounted_ns += account->unaccounted_ns;
	for (i = 0; i < account->nr_sums; i++) {
		totals->blocked_ns += account->sums[i].ns;
		if (PUSH(totals->classes, totals->room, totals->nr_classes, account->sums[i]))
			return false;
	}
	return true;
}

DEFINE_COMPARE(compare_classes, struct profile_wait_sum, class)

static void add_sum(void *sum, const void *element)
{
	struct profile_wait_sum *into = sum;
	const struct profile_wait_sum *from = element;

	into->ns += from->ns;
	into->count += from->count;
}

void wait_totals_fold(struct wait_totals *totals)
{
	totals->nr_classes = COMBINE(totals->classes, totals->nr_classes, compare_classes, add_sum);
}

bool wait_totals_of(struct wait_totals *totals, const struct profile *profile, uint64_t target)
{
	const struct profile_waits *waits = profile->waits;
	bool fits = true;
	size_t i;

	*totals = (struct wait_totals){ 0 };
	for (i = 0; fits && i < waits->nr_accounts; i++)
		if (profile_target_chosen(profile, target, waits->accounts[i].target))
			fits = wait_totals_add(totals, &waits->accounts[i]);
	wait_totals_fold(totals);
	return fits;
}

int wait_sum_compare(const void *left, const void *right)
{
	const struct profile_wait_sum *a = left, *b = right;

	return a->ns != b->ns ? compare_u64(b->ns, a->ns) : compare_u64(a->class, b->class);
}

/* --- the line --------------------------------------------------------------------------------- */

/* Skips what would be 0.000. */
static void put_part(uint64_t ns, const char *name, FILE *out)
{
	if (ns >= 500000)
		fprintf(out, " + %.3f s %s", (double)ns / 1e9, name);
}

static void put_class(const struct profile_wait_class *class, FILE *out)
{
	cleanup_free char *name = wait_class_full_name(class);

	text_write(out, name ?: class->name, 0);
}

/* The classes with the most time. */
static void put_classes(const struct profile_waits *waits, struct wait_totals *totals, FILE *out)
{
	const char *separator = ": ";
	uint64_t rest = 0;
	size_t i, more = 0;

	SORT(totals->classes, totals->nr_classes, wait_sum_compare);
	for (i = 0; i < totals->nr_classes && totals->classes[i].ns; i++) {
		if (i >= CLASSES_SHOWN || (i && totals->classes[i].ns < 500000)) {
			rest += totals->classes[i].ns;
			more++;
			continue;
		}
		fputs(separator, out);
		put_class(&waits->classes[totals->classes[i].class], out);
		fprintf(out, " %.3f", (double)totals->classes[i].ns / 1e9);
		separator = ", ";
	}
	if (more)
		fprintf(out, ", %zu more %.3f", more, (double)rest / 1e9);
}

void render_wait_account(const struct profile *profile, uint64_t target, const char *label,
			 FILE *out)
{
	const struct profile_waits *waits = profile->waits;
	struct wait_totals totals;

	/* Without memory, skip the line; the rest is still useful. */
	if (!waits)
		return;
	if (!wait_totals_of(&totals, profile, target)) {
		free(totals.classes);
		return;
	}
	fprintf(out, "%s%.3f s of all threads = %.3f s CPU", label, (double)totals.wall_ns / 1e9,
		(double)totals.cpu_ns / 1e9);
	put_part(totals.runnable_ns, "runnable", out);
	put_part(totals.stolen_ns, "stolen", out);
	put_part(totals.unaccounted_ns, "unaccounted", out);
	put_part(totals.blocked_ns, "waiting", out);
	put_classes(waits, &totals, out);
	fputc('\n', out);
	free(totals.classes);
}

/* --- idle threads ----------------------------------------------------------------------------- */

/* Threads that wait here mostly have nothing to do. */
static bool is_idle(const char *class)
{
	static const char *const names[] = { "epoll_wait",     "epoll_pwait",	  "epoll_pwait2",
					     "poll",	       "ppoll",		  "select",
					     "pselect6",       "accept",	  "accept4",
					     "io_uring_enter", "rt_sigtimedwait", "io worker" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(class, names[i]))
			return true;
	return false;
}

void render_idle_hint(const struct report *report, const char *label, FILE *out)
{
	const struct profile *profile = report->profile;
	const struct waits_view *view = report->options->waits;
	double idle = 0, most = 0, ns;
	const char *name = NULL;
	size_t i, j;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (!profile_target_chosen(profile, report->options->target, histogram->target))
			continue;
		for (j = 0; j < histogram->nr_bins; j++) {
			const char *class = view->classes[histogram->bins[j].index];

			ns = is_idle(class) ? (double)histogram->bins[j].count : 0;
			idle += ns;
			if (ns <= most)
				continue;
			most = ns;
			name = class;
		}
	}
	if (!name || idle < MOSTLY * report->ns)
		return;
	fprintf(out,
		"%s%.0f %% of this is in %s and the like, where idle threads wait: "
		"--no-class %s leaves it out\n",
		label, share_of(report->ns, idle), name, name);
}
