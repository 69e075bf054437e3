// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/symbolizer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "host/engine/spaces.h"
#include "reader/reader.h"
#include "symbol/symbol_cache.h"

/*
 * Limit for finding the names of a profile, also after a signal to end, and how often to check for
 * the end.
 */
#define NAMES_MOST_NS (30 * SECOND_NS)
#define NAMES_SIGNAL_NS (2 * SECOND_NS)
enum { LOOK_MS = 100 };

static int begin_symbolizer(struct symbolizer *symbolizer, struct session *session,
			    const struct sampling_options *options, struct error *err)
{
	*symbolizer = (struct symbolizer){ .session = session, .options = options };
	symbolizer->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return symbolizer->done_fd < 0 ? error_errno(err, -errno, "eventfd") : 0;
}

int symbolizer_init(struct symbolizer *symbolizer, struct session *session,
		    const struct sampling_options *options, struct error *err)
{
	int ret = begin_symbolizer(symbolizer, session, options, err);

	if (ret)
		return ret;
	symbolizer->symbols = symbol_cache_new(SYMBOL_CACHE_BYTES);
	return symbolizer->symbols ? 0 : error_no_memory(err, "names");
}

static void close_sources(struct symbolized *named)
{
	size_t i;

	for (i = 0; named->sources && i < named->profile->nr_objects; i++)
		session_close_source(&named->sources[i]);
	free(named->sources);
	named->sources = NULL;
}

static void drop_symbolized(struct symbolized *named)
{
	close_sources(named);
	profile_free(named->profile);
	*named = (struct symbolized){ 0 };
}

struct profile *symbolizer_detach_profile(struct symbolizer *symbolizer)
{
	struct profile *last = symbolizer->last.profile;

	close_sources(&symbolizer->last);
	symbolizer->last = (struct symbolized){ 0 };
	return last;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	symbolizer->work.until_ns = monotonic_ns();
	if (symbolizer->has_thread)
		pthread_join(symbolizer->thread, NULL);
	drop_symbolized(&symbolizer->work);
	drop_symbolized(&symbolizer->last);
	symbol_cache_free(symbolizer->symbols);
	if (symbolizer->done_fd > 0)
		close(symbolizer->done_fd);
	*symbolizer = (struct symbolizer){ 0 };
}

static int open_sources(struct session *session, struct symbolized *named)
{
	uint32_t i;
	int ret = 0;

	named->sources = calloc(named->profile->nr_objects + 1, sizeof(*named->sources));
	if (!named->sources)
		return -ENOMEM;
	for (i = 0; i < named->profile->nr_objects; i++)
		if (session_open_source(session, i, &named->sources[i]))
			ret = -ENOMEM;
	return ret;
}

static int open_object_source(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct symbolized *named = ctx;
	const struct session_source *source = &named->sources[object];
	int fd;

	if (source->fd < 0)
		return source->fd;
	snprintf(root, root_size, "%s", source->root);
	if (source->far && named->until_ns && monotonic_ns() > named->until_ns)
		return -ETIME;
	if (source->far)
		return opener_open(source->owner, source->fd, "", NULL);
	fd = dup(source->fd);
	return fd < 0 ? -errno : fd;
}

static bool is_trusted(void *ctx, uint32_t object)
{
	const struct symbolized *named = ctx;
	const struct session_source *source = &named->sources[object];
	struct stat stat;

	return source->fd < 0 || (!source->far && regular_file_stat(source->fd, &stat) &&
				  regular_file_is_from(&stat, 0));
}

static int open_places(void *ctx, uint32_t object, uint64_t *limit)
{
	const struct symbolized *named = ctx;
	int fd = named->sources[object].places_fd;

	*limit = named->sources[object].limit;
	if (fd < 0)
		return fd;
	fd = dup(fd);
	return fd < 0 ? -errno : fd;
}

struct object_opener symbolizer_opener(struct symbolizer *symbolizer)
{
	/* While the thread works, only it may use the tables. */
	return (struct object_opener){ .open = open_object_source,
				       .open_places = open_places,
				       .is_trusted = is_trusted,
				       .ctx = &symbolizer->last,
				       .cache = symbolizer->work.profile ? NULL :
									   symbolizer->symbols };
}

static void describe_files_of(struct symbolized *named, bool trusted)
{
	char ignored[PATH_MAX];
	uint32_t i;

	for (i = 0; i < named->profile->nr_objects; i++) {
		struct profile_object *object = &named->profile->objects[i];
		cleanup_fd int fd = -1;

		if (object->kind != PROFILE_FILE || named->sources[i].fd < 0 ||
		    is_trusted(named, i) != trusted)
			continue;
		fd = open_object_source(named, i, ignored, sizeof(ignored));
		object_describe_file(fd, object);
	}
}

/*
 * Describe files in this thread, because it may have to wait for a reader and for users' programs.
 */
static void describe_files(struct symbolized *named)
{
	describe_files_of(named, true);
	describe_files_of(named, false);
}

static void *name(void *ctx)
{
	struct symbolizer *symbolizer = ctx;
	struct object_opener opener = { .open = open_object_source,
					.open_places = open_places,
					.is_trusted = is_trusted,
					.ctx = &symbolizer->work,
					.cache = symbolizer->symbols };

	reader_deadline(&symbolizer->work.until_ns);
	describe_files(&symbolizer->work);
	symbolizer->result = sampling_name_places(symbolizer->options, &opener,
						  symbolizer->work.profile, &symbolizer->why);
	if (symbolizer->symbols)
		symbol_cache_age(symbolizer->symbols);
	reader_deadline(NULL);
	eventfd_write(symbolizer->done_fd, 1);
	return NULL;
}

static int start_symbolizing(struct symbolizer *symbolizer, struct profile *profile,
			     struct error *err)
{
	symbolizer->work.profile = profile;
	if (open_sources(symbolizer->session, &symbolizer->work))
		return error_no_memory(err, "names");
	session_let_go(symbolizer->session);
	symbolizer->has_thread = !pthread_create(&symbolizer->thread, NULL, name, symbolizer);
	/* Without a thread, find names here, however long it takes. */
	if (!symbolizer->has_thread)
		name(symbolizer);
	return 0;
}

int symbolizer_begin(struct symbolizer *symbolizer, struct profile *profile, struct error *err)
{
	int ret = start_symbolizing(symbolizer, profile, err);

	if (ret)
		drop_symbolized(&symbolizer->work);
	return ret;
}

static int finish_symbolizing(struct symbolizer *symbolizer, struct error *err)
{
	eventfd_t ignored;

	if (symbolizer->has_thread)
		pthread_join(symbolizer->thread, NULL);
	symbolizer->has_thread = false;
	eventfd_read(symbolizer->done_fd, &ignored);
	if (symbolizer->result)
		*err = symbolizer->why;
	return symbolizer->result;
}

int symbolizer_end(struct symbolizer *symbolizer, struct error *err)
{
	int ret = finish_symbolizing(symbolizer, err);

	if (ret) {
		drop_symbolized(&symbolizer->work);
		return ret;
	}
	drop_symbolized(&symbolizer->last);
	symbolizer->last = symbolizer->work;
	symbolizer->work = (struct symbolized){ 0 };
	return 0;
}

static bool is_interrupted(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}

/* A signal to end leaves little time for names. */
static void limit_names(struct symbolized *named)
{
	if (!named->is_limited && is_interrupted()) {
		named->until_ns = min_size(named->until_ns, monotonic_ns() + NAMES_SIGNAL_NS);
		named->is_limited = true;
	}
}

/* In a series, the next profile must not wait long. */
static uint64_t time_for_names(const struct sampling_options *options)
{
	const uint64_t ns = options->interval_ns;

	if (!ns || ns > NAMES_MOST_NS)
		return NAMES_MOST_NS;
	return ns < NAMES_LEAST_NS ? NAMES_LEAST_NS : ns;
}

/*
 * Serves the session until the names are found. The next poll sees an error of the session again.
 */
static void serve_session(struct symbolizer *symbolizer)
{
	struct pollfd fds[] = { { .fd = session_fd(symbolizer->session), .events = POLLIN },
				{ .fd = symbolizer->done_fd, .events = POLLIN } };
	struct error ignored;

	while (!fds[1].revents) {
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return;
		limit_names(&symbolizer->work);
		if (fds[0].revents && session_poll(symbolizer->session, &ignored))
			fds[0].fd = -1;
	}
}

int symbolizer_once(struct session *session, const struct sampling_options *options,
		    struct symbol_cache *symbols, struct profile *profile, struct error *err)
{
	struct symbolizer symbolizer;
	int ret = begin_symbolizer(&symbolizer, session, options, err);

	if (ret)
		return ret;
	symbolizer.symbols = symbols;
	symbolizer.work.until_ns = monotonic_ns() + time_for_names(options);
	ret = start_symbolizing(&symbolizer, profile, err);
	if (!ret) {
		serve_session(&symbolizer);
		ret = finish_symbolizing(&symbolizer, err);
	}
	close_sources(&symbolizer.work);
	close(symbolizer.done_fd);
	return ret;
}
