// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Just-in-time code comes and goes, and its addresses are reused. A tick has no time but that of
 * its profile. So when a perf map says that other code took a place, what was counted there so far
 * is noted as that of the old code. The later the map is read, the more ticks are in doubt.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "host/engine/session_state.h"

#define MS 1000000ULL

/* For all maps together; each takes some 100 bytes. */
#define CODES_MAX (1U << 20)

/* What the maps of one owner may have of these. */
#define CODES_OF_OWNER (CODES_MAX / 4)

/* At most 1/REST_SHARE of a processor's time goes to reading maps, whoever writes them. */
#define REST_SHARE 20
#define REST_MIN (1 * MS)
#define REST_MAX (10000 * MS)

/* How long a take reads maps; what it has not read by then counts as late. */
#define TAKE_MAX (1000 * MS)

/* How long maps are read between two rests, because meanwhile nothing else is done. */
#define WORK_MAX (20 * MS)

/*
 * How many windows and pages one reading may look at, which is more than any real compiler needs.
 */
#define LOOKS_MAX 50000000ULL

/*
 * Ticks that fall while the reading is at most this late get no row of their own: a file's time is
 * that of the last scheduler tick, at 100 to 1000 Hz, and waking up takes time too.
 */
#define LATE_MIN (10 * MS)

/* A reading of one map. */
struct jit_reading {
	struct session *session;
	struct space_info *info;
	struct counted *counted;
	struct seen windows; /* windows of the process, once they have been looked up */
	bool has_windows;
	struct jit_code *replaced; /* if callers are counted */
	size_t nr_replaced;
	size_t replaced_room;
	uint64_t late_ns;
	uint64_t looks;
	bool failed;
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
	jit->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	/*
	 * Users have few inotify instances; without one, maps are read when something else happens.
	 */
	if (jit->timer_fd < 0)
		return error_errno(err, -errno, "timerfd");
	if (epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, jit->timer_fd, &event) ||
	    (jit->inotify_fd >= 0 &&
	     epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, jit->inotify_fd, &event)))
		return error_errno(err, -errno, "epoll");
	return 0;
}

void session_close_jit(struct session *session)
{
	if (session->jit.inotify_fd > 0)
		close(session->jit.inotify_fd);
	if (session->jit.timer_fd > 0)
		close(session->jit.timer_fd);
}

void session_free_text(struct session *session, struct space_info *info)
{
	if (info->jit && info->jit->watch >= 0)
		inotify_rm_watch(session->jit.inotify_fd, info->jit->watch);
	jit_text_free(info->jit, &session->jit.room);
	info->jit = NULL;
}

/* Takes over fd as the map, unless it is the file that is open already. Of far text it is a copy of it as it is now. */
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

/* Looks for the map, which may be there only now; of far text waits at most so long for a copy. */
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

static bool is_same_space(const struct space *a, const struct space *b)
{
	return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

/* The most ticks that there can be in some time. */
static uint64_t ticks_of(const struct jit_reading *reading, uint64_t ns)
{
	return ns / reading->session->options.period_ns * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Ticks that may already belong to the new code; time is when that code came, 0 if unknown. */
static uint64_t doubt_of(const struct jit_reading *reading, uint64_t time)
{
	uint64_t now = monotonic_ns(), late = time && time < now ? now - time : reading->late_ns;

	return late < LATE_MIN ? 0 : ticks_of(reading, late);
}

/*
 * The most ticks that can belong to the old code. Where times are known, each code in turn gets
 * what fell in its own time.
 */
static uint64_t most_of(const struct jit_reading *reading, const struct jit_code *code,
			uint64_t time)
{
	uint64_t since = session_since_ns(reading->session);

	if (!code->time || code->time >= time)
		return UINT64_MAX;
	since = code->time > since ? code->time : since;
	return since < time ? ticks_of(reading, time - since) + 1 : 0;
}

/* Where the old code's ticks go: those that are certain, and those in doubt; 0: no place yet. */
struct destination {
	const struct jit_code *code;
	char *name;
	uint64_t sure;
	uint64_t unsure;
	uint64_t doubt; /* ticks in doubt that may still be moved */
	uint64_t most; /* ticks that can be the old code's, by how long it lay there */
};

static int place_code(struct jit_text *text, struct destination *to, bool sure, uint64_t *result)
{
	uint64_t *start = sure ? &to->sure : &to->unsure;
	char *marked = NULL;
	int ret = 0;

	if (!*start && sure) {
		ret = jit_text_place(text, to->code, to->name, start);
	} else if (!*start) {
		if (asprintf(&marked, "%s or other code", to->name) < 0)
			return -ENOMEM;
		ret = jit_text_place(text, to->code, marked, start);
		free(marked);
	}
	*result = *start;
	return ret;
}

static int move(struct jit_text *text, struct destination *to, const struct jit_bin *bin,
		uint64_t ticks, bool sure)
{
	struct jit_move move = { .from = *bin, .ticks = ticks };
	uint64_t start;
	int ret;

	if (!ticks)
		return 0;
	ret = place_code(text, to, sure, &start);
	if (ret)
		return ret;
	move.to = (start + ((bin->number << bin->shift) - to->code->start)) >> bin->shift;
	text->doubtful += sure ? 0 : ticks;
	return jit_moves_add(&text->moves, &move);
}

static int move_bin(struct jit_text *text, struct destination *to, const struct jit_bin *bin,
		    uint64_t count)
{
	uint64_t left = jit_moves_left(&text->moves, bin, count), unsure;
	int ret;

	left = left < to->most ? left : to->most;
	unsure = left < to->doubt ? left : to->doubt;
	to->most -= left;
	to->doubt -= unsure;
	ret = move(text, to, bin, unsure, false);
	return ret ?: move(text, to, bin, left - unsure, true);
}

/* Moves the counters of one window whose bins begin in the code. */
static int move_window(const struct jit_reading *reading, const struct seen_window *window,
		       struct destination *to)
{
	const struct window_key *key = &window->key;
	struct jit_bin bin = { key->split, 0, key->target, key->shift };
	uint64_t base = key->window << WINDOW_SHIFT_COUNTERS;
	uint64_t first = (to->code->start + (1ULL << key->shift) - 1) >> key->shift;
	uint64_t end = (to->code->start + to->code->size + (1ULL << key->shift) - 1) >> key->shift;
	struct counter_page *page;
	uint32_t number;
	int ret = 0;

	first = first > base ? first - base : 0;
	end = end > base ? end - base : 0;
	end = end < 1ULL << WINDOW_SHIFT_COUNTERS ? end : 1ULL << WINDOW_SHIFT_COUNTERS;
	for (; first < end && !ret; first++) {
		page = counted_page(reading->counted, window->dir,
				    (uint32_t)(first >> PAGE_SHIFT_COUNTERS), &number);
		if (!page) {
			first |= PAGE_COUNTERS - 1;
			continue;
		}
		bin.number = base + first;
		ret = move_bin(reading->info->jit, to, &bin,
			       __atomic_load_n(&page->counters[first % PAGE_COUNTERS],
					       __ATOMIC_RELAXED));
	}
	return ret;
}

static int find_windows(struct jit_reading *reading)
{
	struct seen *windows = &reading->windows;
	struct error ignored;
	size_t i, kept = 0;

	if (reading->has_windows)
		return 0;
	reading->has_windows = true;
	if (snapshot_windows(reading->counted, windows, &ignored))
		return -ENOMEM;
	for (i = 0; i < windows->nr; i++)
		if (is_same_space(&windows->list[i].key.space, &reading->info->space))
			windows->list[kept++] = windows->list[i];
	windows->nr = kept;
	return 0;
}

static int move_counts(struct jit_reading *reading, const struct jit_code *code, uint64_t time)
{
	struct destination to = { .code = code,
				  .doubt = doubt_of(reading, time),
				  .most = most_of(reading, code, time) };
	size_t i;
	int ret = find_windows(reading);

	reading->looks += reading->windows.nr + (code->size >> PAGE_SHIFT_COUNTERS);
	if (ret || reading->looks > LOOKS_MAX)
		return -E2BIG;
	to.name = jit_map_name(reading->info->jit->map, code);
	for (i = 0; to.name && !ret && i < reading->windows.nr; i++)
		ret = move_window(reading, &reading->windows.list[i], &to);
	free(to.name);
	return ret;
}

/* Without memory the ticks stay with the code that is there now, as if maps were not followed. */
static int replaced(void *ctx, const struct jit_code *code, uint64_t time)
{
	struct jit_reading *reading = ctx;

	/* Code that was there before the first reading has no counted ticks. */
	if (!reading->info->jit->is_read || reading->failed)
		return 0;
	reading->failed = move_counts(reading, code, time) != 0;
	if (reading->session->options.callers &&
	    !GROW(reading->replaced, reading->replaced_room, reading->nr_replaced + 1))
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

/* The dump is looked for only once, because this reads all mappings of the process. */
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

/* Reads all that is there, or makes one reading with all that follows from it, until a time. */
static void read_map(struct session *session, struct space_info *info, uint64_t until)
{
	struct counted counted = session_counted(session);
	struct jit_reading reading = { .session = session, .info = info, .counted = &counted };
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
		session_replace_code(session, info, reading.replaced, reading.nr_replaced);
	text->too_large = text->too_large || ret == -E2BIG || reading.failed;
	if (ret != 1) {
		text->is_read = true;
		text->read_ns = began;
	}
	free(reading.windows.list);
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

static void drain_notices(int fd)
{
	char buffer[4096];

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
}

static bool has_news(int fd)
{
	char buffer[4096];
	bool news = fd < 0 || read(fd, buffer, sizeof(buffer)) > 0;

	drain_notices(fd);
	return news;
}

static void rest(struct session *session, uint64_t worked)
{
	uint64_t ns = worked * REST_SHARE;
	struct itimerspec until = { 0 };

	ns = ns < REST_MIN ? REST_MIN : ns > REST_MAX ? REST_MAX : ns;
	until.it_value = timespec_of(ns);
	timerfd_settime(session->jit.timer_fd, 0, &until, NULL);
	session->jit.rest_until = monotonic_ns() + ns;
	if (!session->jit.resting)
		watch_again(session, false);
	session->jit.resting = true;
}

void session_poll_jit(struct session *session)
{
	uint64_t began = monotonic_ns();

	if (!session->jit.nr_texts || began < session->jit.rest_until)
		return;
	drain_notices(session->jit.timer_fd);
	if (has_news(session->jit.inotify_fd) || session->jit.unread) {
		session->jit.unread = !read_maps(session, began + WORK_MAX);
		rest(session, monotonic_ns() - began);
	} else if (session->jit.resting) {
		session->jit.resting = false;
		watch_again(session, true);
	}
}

/* Opens the map while the process still exists; it is read later, when it is due. */
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

void session_turn_jit(struct session *session)
{
	size_t i;

	for (i = 0; i < session->spaces.nr; i++)
		if (session->spaces.list[i].jit)
			jit_text_turn(session->spaces.list[i].jit);
}

/* split_ids grows with the histograms. */
static int add_jit_split(const struct profile *profile, struct seen_names *names, size_t i)
{
	uint64_t *grown = reallocarray(names->split_ids, profile->nr_histograms + 1,
				       sizeof(*names->split_ids));

	if (!grown)
		return -ENOMEM;
	names->split_ids = grown;
	grown[profile->nr_histograms - 1] = grown[i];
	return 0;
}

static int note_jit(bool too_large, uint64_t doubtful, struct profile *profile)
{
	int ret = 0;

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

int session_move_jit(const struct session *session, struct seen_names *names,
		     struct profile *profile)
{
	bool too_large = false;
	size_t i, nr = profile->nr_histograms;
	uint64_t doubtful = 0;
	int ret = 0;

	for (i = 0; i < nr && ret >= 0; i++) {
		uint32_t source = names->sources[profile->histograms[i].object];
		const struct jit_text *text =
			source == NO_SOURCE ? NULL : session->spaces.list[source].jit;

		if (!text)
			continue;
		too_large = too_large || text->too_large;
		ret = jit_moves_apply(&text->moves, names->split_ids[i], profile, i);
		if (ret == 1)
			ret = add_jit_split(profile, names, i);
	}
	for (i = 0; i < session->spaces.nr; i++) {
		struct jit_text *text = session->spaces.list[i].jit;

		if (!text)
			continue;
		doubtful += text->doubtful;
		text->limit = text->map && text->is_read ? jit_map_at(text->map) : UINT64_MAX;
	}
	return ret < 0 ? ret : note_jit(too_large, doubtful, profile);
}
