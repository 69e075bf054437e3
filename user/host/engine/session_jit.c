// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Just-in-time code comes and goes, and its addresses are reused, but a tick does not record when
 * it fell. Therefore, if a perf map shows that other code has replaced counted code, the text gets
 * another number. Ticks with the old number are those of the old code. The later the map is read,
 * the more ticks are in doubt.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "host/engine/session_impl.h"
#include "host/engine/store_profile.h"

#define MS 1000000ULL

/* For all maps together; each takes some 100 bytes. */
#define CODES_MAX (1U << 20)

/* The share of one owner's maps. */
#define CODES_OF_OWNER (CODES_MAX / 4)

/* Reading maps takes at most 1/REST_SHARE of a processor's time, however fast they grow. */
#define REST_SHARE 20
#define REST_MIN (1 * MS)
#define REST_MAX (10000 * MS)

/* How long maps are read for a profile. */
#define TAKE_MAX (1000 * MS)

/* How long maps are read between two rests. Nothing else runs meanwhile. */
#define WORK_MAX (20 * MS)

/*
 * If a reading is late by less, no tick is in doubt. A file's time is that of the last scheduler
 * tick, at 100 to 1000 Hz, and waking up takes time too.
 */
#define LATE_MIN (10 * MS)

/* A reading of one map. */
struct jit_reading {
	struct space_info *info;
	struct jit_code *replaced;
	size_t nr_replaced;
	size_t replaced_room;
	uint64_t late_ns; /* how long ago other code may have come */
};

static void watch_again(struct session *session, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0 };

	epoll_ctl(session->epoll_fd, EPOLL_CTL_MOD, session->jit.inotify_fd, &event);
}

int session_open_jit(struct session *session, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct session_jit *jit = &session->jit;

	jit->room = CODES_MAX;
	jit->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	/*
	 * Users have few inotify instances. Without one, maps are read when something else happens.
	 */
	if (jit->inotify_fd >= 0 &&
	    epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, jit->inotify_fd, &event))
		return error_errno(err, -errno, "epoll");
	return 0;
}

void session_close_jit(struct session *session)
{
	if (session->jit.inotify_fd > 0)
		close(session->jit.inotify_fd);
}

void session_free_text(struct session *session, struct space_info *info)
{
	if (info->jit && info->jit->watch >= 0)
		inotify_rm_watch(session->jit.inotify_fd, info->jit->watch);
	jit_text_free(info->jit, &session->jit.room);
	info->jit = NULL;
}

/*
 * Owns fd, which becomes the map unless that file is open already. For far text it is a copy of the
 * file.
 */
static void open_map(struct session *session, struct space_info *info, int fd)
{
	struct jit_text *text = info->jit;
	char path[FD_PATH];
	bool is_open;
	struct stat st;

	if (fd < 0)
		return;
	if (!regular_file_stat(fd, &st) || !fd_may_stay(fd)) {
		close(fd);
		return;
	}
	is_open = text->map && text->device == st.st_dev && text->inode == st.st_ino;
	if (is_open && info->far)
		jit_map_renew(text->map, fd);
	else if (is_open)
		close(fd);
	if (is_open)
		return;
	jit_map_free(text->map, &session->jit.room);
	text->codes = 0;
	text->map = jit_map_new(fd);
	if (!text->map) {
		close(fd);
		return;
	}
	text->device = st.st_dev;
	text->inode = st.st_ino;
	text->is_read = false;
	if (session->jit.inotify_fd < 0 || info->far)
		return;
	if (text->watch >= 0)
		inotify_rm_watch(session->jit.inotify_fd, text->watch);
	text->watch = inotify_add_watch(session->jit.inotify_fd, fd_path(fd, path), IN_MODIFY);
}

/*
 * Looks for the map, which may have been created since. For far text, waits for a copy, at most
 * this long.
 */
static void find_map(struct session *session, struct space_info *info, unsigned int ms)
{
	struct jit_text *text = info->jit;

	if (!info->far) {
		open_map(session, info, space_open_perf_map(info));
		return;
	}
	if (text->asked < 0)
		text->asked = space_open_perf_map(info);
	if (text->asked >= 0)
		open_map(session, info, opener_answer(info->owner, &text->asked, ms));
}

/* Without memory the ticks count for the code that is there now. */
static int replaced(void *ctx, const struct jit_code *code, uint64_t time)
{
	struct jit_reading *reading = ctx;
	const uint64_t now = monotonic_ns();

	/* Code from before the first reading has no counted ticks. */
	if (!reading->info->jit->is_read)
		return 0;
	if (time && time < now && now - time > reading->late_ns)
		reading->late_ns = now - time;
	if (!GROW(reading->replaced, reading->replaced_room, reading->nr_replaced + 1))
		reading->replaced[reading->nr_replaced++] = *code;
	return 0;
}

/* How long new lines may have waited: since the rest began, or as long as the last reading took. */
static uint64_t read_late_by(const struct session *session, const struct jit_text *text)
{
	struct timespec now;
	struct stat st;
	int64_t age;

	if (session->jit.resting || session->jit.inotify_fd < 0)
		return monotonic_ns() - text->read_ns;
	if (fstat(jit_map_fd(text->map), &st) || clock_gettime(CLOCK_REALTIME, &now))
		return 0;
	age = (int64_t)(now.tv_sec - st.st_mtim.tv_sec) * 1000000000 + now.tv_nsec -
	      st.st_mtim.tv_nsec;
	return age > 0 ? (uint64_t)age : 0;
}

/* Looks for a dump once only, because this reads all mappings of the process. */
static void open_dump(struct session *session, struct space_info *info)
{
	info->jit->sought = true;
	if (info->far)
		info->jit->asked = space_open_jit_dump(info);
	else
		open_map(session, info, space_open_jit_dump(info));
}

/* How many more functions an owner's maps may have. */
static size_t room_of(const struct session *session, uint64_t owner)
{
	size_t i, held = 0, most;

	for (i = 0; i < session->spaces.nr; i++)
		if (session->spaces.list[i].jit && session->spaces.list[i].owner == owner)
			held += session->spaces.list[i].jit->codes;
	most = held < CODES_OF_OWNER ? CODES_OF_OWNER - held : 0;
	return min_size(most, session->jit.room);
}

/* Reads to the end of the map, or until this time, but at least once. */
static void read_map(struct session *session, struct space_info *info, uint64_t until)
{
	struct jit_reading reading = { .info = info };
	struct jit_text *text = info->jit;
	uint64_t began = monotonic_ns();
	size_t before, room;
	int ret;

	if (text && text->asked >= 0)
		find_map(session, info, 0);
	if (text && !text->map && !text->sought && text->asked < 0)
		open_dump(session, info);
	if (!text || !text->map)
		return;
	reading.late_ns = read_late_by(session, text);
	before = room = room_of(session, info->owner);
	do
		ret = jit_map_read(text->map, &room, replaced, &reading);
	while (ret == 1 && monotonic_ns() < until);
	text->codes += before - room;
	session->jit.room -= before - room;
	if (reading.nr_replaced)
		session_replace_code(session, info, reading.replaced, reading.nr_replaced,
				     reading.late_ns < LATE_MIN ? 0 : reading.late_ns);
	text->too_large = text->too_large || ret == -E2BIG;
	if (ret != 1) {
		text->is_read = true;
		text->read_ns = began;
	}
	free(reading.replaced);
}

/*
 * Continues where the last call stopped, because there may be thousands of maps. False: some are
 * left.
 */
static bool read_maps(struct session *session, uint64_t until)
{
	size_t i, nr = session->spaces.nr;

	for (i = 0; i < nr; i++) {
		if (monotonic_ns() >= until)
			return false;
		session->jit.next = (session->jit.next + 1) % nr;
		read_map(session, &session->spaces.list[session->jit.next], until);
	}
	return true;
}

/* Whether a map has grown; without inotify, whether it may have. */
static bool has_news(int fd)
{
	bool news = fd < 0;
	char buffer[4096];

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		news = true;
	return news;
}

static void rest(struct session *session, uint64_t worked)
{
	uint64_t ns = worked * REST_SHARE;

	ns = ns < REST_MIN ? REST_MIN : ns > REST_MAX ? REST_MAX : ns;
	session->jit.rest_until = monotonic_ns() + ns;
	session_wake_at(session, session->jit.rest_until);
	if (!session->jit.resting)
		watch_again(session, false);
	session->jit.resting = true;
}

void session_poll_jit(struct session *session)
{
	uint64_t began = monotonic_ns();

	if (!session->jit.nr_texts)
		return;
	if (began < session->jit.rest_until) {
		session_wake_at(session, session->jit.rest_until);
		return;
	}
	if (has_news(session->jit.inotify_fd) || session->jit.unread) {
		session->jit.unread = !read_maps(session, began + WORK_MAX);
		rest(session, monotonic_ns() - began);
	} else if (session->jit.resting) {
		session->jit.resting = false;
		watch_again(session, true);
	}
}

/* Opens the map while the process still exists, and reads it now or after the rest. */
void session_new_text(struct session *session, struct space_info *info)
{
	uint64_t began = monotonic_ns();

	info->jit = jit_text_new();
	if (!info->jit)
		return;
	session->jit.nr_texts++;
	find_map(session, info, 0);
	if (began < session->jit.rest_until) {
		session->jit.unread = true;
		return;
	}
	read_map(session, info, began + WORK_MAX);
	session->jit.unread = session->jit.unread || (info->jit->map && !info->jit->is_read);
	rest(session, monotonic_ns() - began);
}

void session_read_jit(struct session *session)
{
	const uint64_t until = monotonic_ns() + TAKE_MAX;
	size_t i;

	if (!session->jit.nr_texts)
		return;
	for (i = 0; i < session->spaces.nr; i++)
		if (session->spaces.list[i].jit)
			find_map(session, &session->spaces.list[i], 0);
	for (i = 0; i < session->spaces.nr; i++) {
		struct space_info *info = &session->spaces.list[i];
		uint64_t now = monotonic_ns();

		if (info->jit && info->far && now < until)
			find_map(session, info, (unsigned int)((until - now) / MS));
	}
	session->jit.unread = !read_maps(session, until);
}

int session_note_jit(const struct session *session, const struct seen_names *names,
		     struct profile *profile)
{
	uint64_t doubtful = 0;
	bool too_large = false;
	struct jit_text *text;
	uint32_t source;
	size_t i;
	int ret = 0;

	for (i = 0; i < session->spaces.nr; i++) {
		text = session->spaces.list[i].jit;
		if (text)
			text->limit = text->map && text->is_read ? jit_map_at(text->map) :
								   UINT64_MAX;
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		source = names->sources[profile->histograms[i].object];
		text = source == NO_SOURCE ? NULL : session->spaces.list[source].jit;
		if (!text)
			continue;
		too_large = too_large || text->too_large;
		if (profile->histograms[i].offset >= JIT_DOUBTFUL)
			doubtful += profile_histogram_ticks(&profile->histograms[i]);
	}
	if (doubtful)
		ret = profile_note(
			profile,
			"%llu ticks of just-in-time code fell about when its place passed "
			"to other code: rows 'NAME or other code'",
			(unsigned long long)doubtful);
	if (too_large && !ret)
		ret = profile_note(profile, "a perf map is too large to be followed: a place that "
					    "several functions had is the last one's");
	return ret;
}
