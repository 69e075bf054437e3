// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool.h"
#include "base/output.h"
#include "base/util.h"

#define HEAD "bpfprofil counters 1 "
#define HEAD_BYTES (sizeof(HEAD) - 1 + 17) /* with a hash of the rest, and a newline */
#define TEXT_MAX 65536
#define FUNCTIONS_MAX 1000
#define CAUSES_MAX 1000
#define SINKS_MAX 1000

/*
 * Scrapers may have read this many pages since the file was written. A counter that they know must
 * not start at 0 again.
 */
#define SCRAPES_LATER (2 * SCRAPERS_MAX)

#define BOOT_BYTES 64
#define SINK_COUNTS (offsetof(struct sink_counts, failing) / sizeof(uint64_t))

/*
 * Writes or reads all values in one order, so that both directions agree: numbers, and texts with
 * their lengths. After a failure, nothing more is read.
 */
struct pass {
	FILE *out; /* NULL: read */
	const char *at, *end;
	bool failed;
};

static void pass_number(struct pass *record, uint64_t *value)
{
	uint64_t read = 0;

	if (record->out) {
		fprintf(record->out, "%" PRIu64 "\n", *value);
		return;
	}
	if (record->failed || record->at == record->end || *record->at == '\n')
		record->failed = true;
	for (; !record->failed && record->at < record->end && *record->at != '\n'; record->at++)
		if (*record->at < '0' || *record->at > '9' ||
		    __builtin_mul_overflow(read, 10, &read) ||
		    __builtin_add_overflow(read, (uint64_t)(*record->at - '0'), &read))
			record->failed = true;
	if (record->at++ >= record->end)
		record->failed = true;
	*value = record->failed ? 0 : read;
}

/* Returns the length of a list, which is either written or read. */
static size_t pass_count(struct pass *record, size_t nr, size_t most)
{
	uint64_t value = nr;

	pass_number(record, &value);
	record->failed |= value > most;
	return record->failed ? 0 : (size_t)value;
}

/* A text that is read comes from strndup(). It contains neither newlines nor zero bytes. */
static void pass_text(struct pass *record, char **text)
{
	size_t length = pass_count(record, record->out ? strlen(*text) : 0, TEXT_MAX);

	if (record->out) {
		fprintf(record->out, "%s\n", *text);
		return;
	}
	if (record->failed || (size_t)(record->end - record->at) <= length ||
	    record->at[length] != '\n' || memchr(record->at, '\n', length) ||
	    memchr(record->at, '\0', length)) {
		record->failed = true;
		return;
	}
	*text = strndup(record->at, length);
	record->failed = !*text;
	record->at += length + 1;
}

/* When reading, allocates a list of nr elements, with space for `room`. */
static void *begin_list(struct pass *record, void *list, size_t nr, size_t room, size_t size)
{
	if (record->out || record->failed)
		return list;
	list = calloc(room > nr ? room : nr + 1, size);
	record->failed = !list;
	return list;
}

static void pass_counter(struct pass *record, struct cpu_counter *counter)
{
	pass_number(record, &counter->ns);
	pass_number(record, &counter->scraped);
	pass_number(record, &counter->scrapes_before);
	pass_number(record, &counter->created_ms);
}

static void pass_functions(struct pass *record, struct service_time *service, size_t most)
{
	size_t i, nr = pass_count(record, service->nr, most);

	if (most)
		service->list = begin_list(record, service->list, nr, most, sizeof(*service->list));
	for (i = 0; i < nr && !record->failed; i++) {
		service->nr = i + 1;
		pass_text(record, &service->list[i].name);
		pass_text(record, &service->list[i].object);
		pass_counter(record, &service->list[i].time);
		pass_number(record, &service->list[i].recent);
	}
}

static void pass_services(struct pass *record, struct service_times *times)
{
	struct service_time *service;
	uint64_t interval;
	size_t i, nr = pass_count(record, times->nr, SERVICES_MAX);

	times->most = pass_count(record, times->most, FUNCTIONS_MAX);
	times->list = begin_list(record, times->list, nr, nr, sizeof(*times->list));
	times->room = record->out ? times->room : nr;
	for (i = 0; i < nr && !record->failed; i++) {
		service = &times->list[i];
		times->nr = i + 1;
		pass_text(record, &service->labels);
		pass_counter(record, &service->time);
		pass_counter(record, &service->other);
		interval = service->interval;
		pass_number(record, &interval);
		service->interval = (unsigned int)interval;
		pass_functions(record, service, times->most);
		if (!record->failed && i && strcmp(service[-1].labels, service->labels) >= 0)
			record->failed = true;
	}
}

static void pass_times(struct pass *record, struct service_times *times)
{
	uint64_t interval = times->interval;
	char *name;
	size_t i;

	pass_number(record, &times->other);
	pass_number(record, &times->forgotten);
	pass_number(record, &times->other_functions);
	pass_number(record, &interval);
	times->interval = (unsigned int)interval;
	pass_number(record, &times->scrapes);
	for (i = 0; i < SCRAPERS_MAX && !record->failed; i++) {
		name = times->scrapers[i].name;
		pass_text(record, &name);
		if (!record->out && !record->failed) {
			snprintf(times->scrapers[i].name, SCRAPER_BYTES, "%s", name);
			free(name);
		}
		pass_number(record, &times->scrapers[i].last);
		if (!record->out && times->scrapers[i].last)
			times->scrapers[i].last += SCRAPES_LATER;
	}
	if (!record->out)
		times->scrapes += SCRAPES_LATER;
	pass_services(record, times);
}

static void pass_ticks(struct pass *record, struct profile_account *ticks)
{
	size_t i, nr;

	pass_number(record, &ticks->total);
	pass_number(record, &ticks->binned);
	pass_number(record, &ticks->overflow);
	pass_number(record, &ticks->outside);
	pass_number(record, &ticks->filtered);
	nr = pass_count(record, ticks->nr_lost, CAUSES_MAX);
	ticks->lost = begin_list(record, ticks->lost, nr, nr, sizeof(*ticks->lost));
	for (i = 0; i < nr && !record->failed; i++) {
		ticks->nr_lost = i + 1;
		pass_text(record, &ticks->lost[i].cause);
		pass_number(record, &ticks->lost[i].ticks);
	}
}

static void pass_figures(struct pass *record, struct figures *figures)
{
	uint64_t begun = (uint64_t)figures->begun;
	uint64_t handler_ns = figures->former_ns + figures->session.handler_ns;

	pass_number(record, &begun);
	pass_ticks(record, &figures->ticks);
	pass_number(record, &figures->sampled_ns);
	pass_number(record, &handler_ns);
	pass_number(record, &figures->scrapes);
	pass_counter(record, &figures->unsampled);
	pass_times(record, &figures->times);
	if (record->out)
		return;
	figures->counted_since = (time_t)begun;
	figures->former_ns = handler_ns;
}

static void pass_usages(struct pass *record, struct usages *usages)
{
	size_t i, nr = pass_count(record, usages->nr, USAGES_MAX);

	usages->list = begin_list(record, usages->list, nr, nr, sizeof(*usages->list));
	usages->room = record->out ? usages->room : nr;
	for (i = 0; i < nr && !record->failed; i++) {
		usages->nr = i + 1;
		pass_text(record, &usages->list[i].path);
		pass_number(record, &usages->list[i].id);
		pass_number(record, &usages->list[i].ns);
		if (!record->failed && i &&
		    strcmp(usages->list[i - 1].path, usages->list[i].path) > 0)
			record->failed = true;
	}
}

/* Another version may have another set of counts. */
static void pass_counts(struct pass *record, struct sink_counts *counts)
{
	uint64_t *values = (uint64_t *)counts, skipped = 0;
	size_t i, nr = pass_count(record, SINK_COUNTS, 10 * SINK_COUNTS);

	for (i = 0; i < nr; i++)
		pass_number(record, nr == SINK_COUNTS ? &values[i] : &skipped);
}

static void pass_sinks(struct pass *record, struct state *state)
{
	size_t i, nr = pass_count(record, state->nr_sinks, SINKS_MAX);

	state->sinks = begin_list(record, state->sinks, nr, nr, sizeof(*state->sinks));
	for (i = 0; i < nr && !record->failed; i++) {
		state->nr_sinks = i + 1;
		pass_text(record, &state->sinks[i].name);
		pass_counts(record, &state->sinks[i].counts);
	}
}

/*
 * The monotonic clock restarts with the host, which gets a new boot id. In that case only counters
 * are of use.
 */
static bool pass_boot(struct pass *record)
{
	char boot[BOOT_BYTES] = "", *text = boot;
	bool same;

	read_first_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	pass_text(record, &text);
	if (record->out || record->failed)
		return true;
	same = *boot && !strcmp(text, boot);
	free(text);
	return same;
}

static void pass_all(struct pass *record, struct state *state, struct figures *figures)
{
	uint64_t duty = (uint64_t)(state->duty_percent * 1000), has_duty = state->has_duty;
	bool same = pass_boot(record);

	pass_number(record, &state->until_ns);
	pass_number(record, &state->cut_ns);
	pass_number(record, &state->ticks);
	pass_number(record, &state->parts_ticks);
	pass_number(record, &has_duty);
	pass_number(record, &duty);
	pass_figures(record, figures);
	pass_sinks(record, state);
	pass_usages(record, &state->usages);
	if (record->out)
		return;
	state->duty_percent = (double)duty / 1000;
	state->has_duty = has_duty;
	record->failed |= duty > 100000 || record->at != record->end ||
			  state->cut_ns > state->until_ns ||
			  (same && state->until_ns > monotonic_ns());
	if (same)
		return;
	state->until_ns = state->cut_ns = 0;
	usages_free(&state->usages);
}

static void free_read(struct state *state)
{
	usages_free(&state->usages);
	while (state->nr_sinks)
		free(state->sinks[--state->nr_sinks].name);
	free(state->sinks);
	state->sinks = NULL;
}

const char *state_read(const struct bytes *bytes, struct state *state, struct figures *figures)
{
	struct pass record = { .at = bytes->data + HEAD_BYTES, .end = bytes->data + bytes->size };
	struct state read = { .fd = state->fd };
	struct figures counted = { .counted_since = figures->begun };
	char head[HEAD_BYTES + 1];

	if (bytes->size < HEAD_BYTES || strncmp(bytes->data, HEAD, strlen(HEAD)) != 0)
		return "no version that is known here";
	snprintf(head, sizeof(head), HEAD "%016" PRIx64 "\n",
		 hash_bytes(HASH_BEGIN, record.at, bytes->size - HEAD_BYTES));
	if (memcmp(bytes->data, head, HEAD_BYTES) != 0)
		return "it is damaged";
	pass_all(&record, &read, &counted);
	if (record.failed) {
		free_read(&read);
		figures_free_counts(&counted);
		return "it is damaged";
	}
	*state = read;
	figures_replace_counts(figures, &counted);
	return NULL;
}

/* Returns NULL, or why the state was not loaded; "": there is no file. */
static const char *load(struct state *state, struct figures *figures)
{
	cleanup_fd int fd =
		openat(state->fd, STATE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct bytes bytes = { 0 };
	const char *why = "it is damaged";
	struct stat st;
	ssize_t got = -ENOMEM;

	if (fd < 0)
		return errno == ENOENT ? "" : strerror(errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !spool_is_own_file(&st))
		return "it is no file of ours";
	if ((uint64_t)st.st_size > STATE_BYTES_MAX)
		return "it is too large";
	bytes.data = malloc((size_t)st.st_size + 1);
	if (bytes.data)
		got = read_range(fd, bytes.data, (size_t)st.st_size, 0);
	bytes.size = got > 0 ? (size_t)got : 0;
	if (got == st.st_size)
		why = state_read(&bytes, state, figures);
	bytes_free(&bytes);
	return why;
}

void state_open(struct state *state, const char *dir, bool quiet, struct figures *figures)
{
	struct error err = { 0 };
	const char *why;

	*state = (struct state){ .fd = spool_open_folder(dir, &err) };
	if (state->fd < 0) {
		/* Each sink has its own folder below. Therefore this is not an error. */
		if (state->fd == -EPERM)
			print_message(NULL,
				      "agent: --spool %s: others can write there: counters are not "
				      "carried over",
				      dir);
		else if (!quiet)
			print_error(&err);
		return;
	}
	if (flock(state->fd, LOCK_EX | LOCK_NB)) {
		close_fd(&state->fd);
		print_message(NULL,
			      "agent: --spool %s: another agent has it: counters are not carried "
			      "over",
			      dir);
		return;
	}
	why = load(state, figures);
	if (why && *why)
		print_message(NULL, "agent: %s/" STATE_NAME ": %s; counters begin anew", dir, why);
}

static int write_state(struct state *state, struct figures *figures, struct bytes *bytes)
{
	struct pass record = { .out = open_memstream(&bytes->data, &bytes->size) };

	if (!record.out)
		return -ENOMEM;
	fprintf(record.out, HEAD "%016x\n", 0U);
	pthread_mutex_lock(&figures->lock);
	pass_all(&record, state, figures);
	pthread_mutex_unlock(&figures->lock);
	if (fclose(record.out))
		return -ENOMEM;
	if (bytes->size > STATE_BYTES_MAX)
		return -EFBIG;
	/* A newline replaces the terminator after the hash. */
	snprintf(bytes->data + strlen(HEAD), 17, "%016" PRIx64,
		 hash_bytes(HASH_BEGIN, bytes->data + HEAD_BYTES, bytes->size - HEAD_BYTES));
	bytes->data[HEAD_BYTES - 1] = '\n';
	return 0;
}

void state_save(struct state *state, struct figures *figures)
{
	struct bytes bytes = { 0 };
	int code;

	if (state->fd < 0)
		return;
	code = write_state(state, figures, &bytes);
	if (!code)
		code = spool_replace(state->fd, STATE_NAME, &bytes, false);
	bytes_free(&bytes);
	if (code)
		unlinkat(state->fd, STATE_NAME, 0);
	if (code && !state->failed)
		print_message(NULL,
			      "agent: --spool: counters cannot be kept for the next agent: %s",
			      strerror(-code));
	state->failed = code;
}

void state_count_sinks(struct state *state, struct sink *const *sinks, size_t nr)
{
	size_t i;

	while (state->nr_sinks)
		free(state->sinks[--state->nr_sinks].name);
	free(state->sinks);
	state->sinks = calloc(nr + 1, sizeof(*state->sinks));
	for (i = 0; state->sinks && i < nr && i < SINKS_MAX; i++) {
		state->sinks[i].name = strdup(sink_name(sinks[i]));
		if (!state->sinks[i].name)
			break;
		sink_publish(sinks[i], &state->sinks[i].counts);
		state->nr_sinks++;
	}
}

const struct sink_counts *state_find_sink(const struct state *state, const char *name)
{
	size_t i;

	for (i = 0; i < state->nr_sinks; i++)
		if (!strcmp(state->sinks[i].name, name))
			return &state->sinks[i].counts;
	return NULL;
}

void state_close(struct state *state)
{
	free_read(state);
	close_fd(&state->fd);
}
