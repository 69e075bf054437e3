// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "record/naming.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "symbol/symbol_cache.h"

/* An object's file, opened by the thread that owns the session. */
struct naming_source {
	int fd; /* or -errno */
	int places_fd; /* likewise */
	uint64_t limit; /* bytes of a perf map that are read */
	char *root;
};

static int begin(struct naming *naming, struct session *session,
		 const struct sampling_options *options, struct error *err)
{
	*naming = (struct naming){ .session = session, .options = options };
	naming->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return naming->done_fd < 0 ? error_errno(err, -errno, "eventfd") : 0;
}

int naming_init(struct naming *naming, struct session *session,
		const struct sampling_options *options, struct error *err)
{
	int ret = begin(naming, session, options, err);

	if (ret)
		return ret;
	naming->symbols = symbol_cache_new(SYMBOL_CACHE_BYTES);
	return naming->symbols ? 0 : error_no_memory(err, "names");
}

static void close_sources(struct named *named)
{
	size_t i;

	for (i = 0; named->sources && i < named->profile->nr_objects; i++) {
		if (named->sources[i].fd >= 0)
			close(named->sources[i].fd);
		if (named->sources[i].places_fd >= 0)
			close(named->sources[i].places_fd);
		free(named->sources[i].root);
	}
	free(named->sources);
	named->sources = NULL;
}

static void drop(struct named *named)
{
	close_sources(named);
	profile_free(named->profile);
	*named = (struct named){ 0 };
}

void naming_free(struct naming *naming)
{
	if (naming->has_thread)
		pthread_join(naming->thread, NULL);
	drop(&naming->work);
	drop(&naming->last);
	symbol_cache_free(naming->symbols);
	if (naming->done_fd > 0)
		close(naming->done_fd);
	*naming = (struct naming){ 0 };
}

static int open_sources(struct session *session, struct named *named)
{
	struct naming_source *source;
	char root[PATH_MAX];
	uint32_t i;

	named->sources = calloc(named->profile->nr_objects + 1, sizeof(*named->sources));
	if (!named->sources)
		return -ENOMEM;
	for (i = 0; i < named->profile->nr_objects; i++)
		named->sources[i] = (struct naming_source){ -ENOENT, -ENOENT, UINT64_MAX, NULL };
	for (i = 0; i < named->profile->nr_objects; i++) {
		source = &named->sources[i];
		if (named->profile->objects[i].kind == PROFILE_JIT)
			source->places_fd = session_open_places(session, i, &source->limit);
		source->fd = session_open_object(session, i, root, sizeof(root));
		if (source->fd < 0)
			continue;
		source->root = strdup(root);
		if (!source->root)
			return -ENOMEM;
	}
	return 0;
}

static int open_source(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct named *named = ctx;
	const struct naming_source *source = &named->sources[object];
	int fd;

	if (source->fd < 0)
		return source->fd;
	snprintf(root, root_size, "%s", source->root);
	fd = dup(source->fd);
	return fd < 0 ? -errno : fd;
}

static int open_places(void *ctx, uint32_t object, uint64_t *limit)
{
	const struct named *named = ctx;
	int fd = named->sources[object].places_fd;

	*limit = named->sources[object].limit;
	if (fd < 0)
		return fd;
	fd = dup(fd);
	return fd < 0 ? -errno : fd;
}

struct object_opener naming_opener(struct naming *naming)
{
	/* The thread has the tables while it is at work. */
	return (struct object_opener){ .open = open_source,
				       .open_places = open_places,
				       .ctx = &naming->last,
				       .cache = naming->work.profile ? NULL : naming->symbols };
}

static void *name(void *ctx)
{
	struct naming *naming = ctx;
	struct object_opener opener = { .open = open_source,
					.open_places = open_places,
					.ctx = &naming->work,
					.cache = naming->symbols };

	naming->result =
		sampling_name_places(naming->options, &opener, naming->work.profile, &naming->why);
	if (naming->symbols)
		symbol_cache_age(naming->symbols);
	eventfd_write(naming->done_fd, 1);
	return NULL;
}

static int start(struct naming *naming, struct profile *profile, struct error *err)
{
	naming->work.profile = profile;
	if (open_sources(naming->session, &naming->work))
		return error_no_memory(err, "names");
	naming->has_thread = !pthread_create(&naming->thread, NULL, name, naming);
	/* Where there may be no more threads it takes as long as it takes. */
	if (!naming->has_thread)
		name(naming);
	return 0;
}

int naming_begin(struct naming *naming, struct profile *profile, struct error *err)
{
	int ret = start(naming, profile, err);

	if (ret)
		drop(&naming->work);
	return ret;
}

static int finish(struct naming *naming, struct error *err)
{
	eventfd_t ignored;

	if (naming->has_thread)
		pthread_join(naming->thread, NULL);
	naming->has_thread = false;
	eventfd_read(naming->done_fd, &ignored);
	if (naming->result)
		*err = naming->why;
	return naming->result;
}

int naming_end(struct naming *naming, struct error *err)
{
	int ret = finish(naming, err);

	if (ret) {
		drop(&naming->work);
		return ret;
	}
	drop(&naming->last);
	naming->last = naming->work;
	naming->work = (struct named){ 0 };
	return 0;
}

/* Until names are found. A session that cannot be heard now says so at the next look. */
static void hear_session(struct naming *naming)
{
	struct pollfd fds[] = { { .fd = session_fd(naming->session), .events = POLLIN },
				{ .fd = naming->done_fd, .events = POLLIN } };
	struct error ignored;

	while (!fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && session_poll(naming->session, &ignored))
			fds[0].fd = -1;
	}
}

int naming_once(struct session *session, const struct sampling_options *options,
		struct profile *profile, struct error *err)
{
	struct naming naming;
	int ret = begin(&naming, session, options, err);

	if (ret)
		return ret;
	ret = start(&naming, profile, err);
	if (!ret) {
		hear_session(&naming);
		ret = finish(&naming, err);
	}
	close_sources(&naming.work);
	close(naming.done_fd);
	return ret;
}
