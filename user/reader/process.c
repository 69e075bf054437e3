// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The program's side: starts readers, sends questions, and ends readers that die, hang or send
 * invalid answers.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/helper_process.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "reader/call.h"
#include "reader/frame.h"
#include "symbol/debug_candidate.h"

enum {
	READERS_MAX = 8,
	KILLERS_MAX = 1024, /* files that are not read again */
	WAIT_MS = 100,
	IDLE_SECONDS = 3, /* a reader without CPU time for this long is blocked by a file */
	SLOW_TIMES = 10, /* on a busy host, an answer takes at most this many times its CPU time */
	DEATH_SECONDS = 1, /* a death charges this time to the file's owner */
	REPLACE_SECONDS = 120, /* a reader is replaced after this much CPU time */
	ANSWER_MAX = 64 << 20, /* bytes in an answer */
};

/*
 * Limits of CPU time for an answer. Reading lines has its own limit of 30 seconds, with a better
 * message.
 */
static const unsigned int seconds[READ_KINDS] = {
	[READ_FACTS] = 5,  [READ_SYMBOLS] = 20, [READ_NAMED] = 20, [READ_LINES] = 40,
	[READ_RULES] = 20, [READ_MAKER] = 5,	[READ_CODE] = 5,   [READ_INSTRUCTIONS] = 10,
};

struct file_reader {
	pid_t pid; /* 0: none */
	int socket;
	clockid_t clock; /* of its CPU time */
	/*
	 * The user whose files it reads. One process never reads files of two users, so that a file
	 * which takes it over learns nothing about another user's.
	 */
	uid_t owner;
	bool opens, code;
	bool busy;
	bool greeted; /* it has dropped its privileges */
	uint64_t used_ns; /* time of its last answer */
	int nice; /* of the thread that asked last */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	pid_t owner; /* 0: the calling threads read */
	bool prepared;
	struct file_reader all[READERS_MAX];
	struct {
		dev_t dev;
		ino_t inode;
		struct timespec changed;
	} killers[KILLERS_MAX];
	size_t nr_killers;
	int refused; /* why no reader can be confined here; 0: one could, or none was tried */
	struct error refusal;
} readers = { .lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER };

int (*reader_here)(struct reader_call *call, struct error *err) = reader_answer;

static _Thread_local uint64_t spent_ns;
static _Thread_local const _Atomic uint64_t *deadline;

uint64_t reader_cpu_ns(void)
{
	return thread_cpu_ns() + spent_ns;
}

void reader_deadline(const _Atomic uint64_t *until_ns)
{
	deadline = until_ns;
}

static bool is_too_late(void)
{
	const uint64_t until = deadline ? *deadline : 0;

	return until && monotonic_ns() > until;
}

/* --- starting and ending ---------------------------------------------------------------------- */

static int start(struct file_reader *reader, struct error *err)
{
	char flags[3] = "";
	int ret;

	snprintf(flags, sizeof(flags), "%s%s", reader->opens ? (char[]){ READER_TRUSTED, 0 } : "",
		 reader->code ? (char[]){ READER_CODE, 0 } : "");
	ret = helper_start(READER_COMMAND, flags, SOCK_STREAM, &reader->pid);
	if (ret < 0)
		return error_errno(err, ret, "a process that reads files");
	reader->socket = ret;
	reader->nice = getpriority(PRIO_PROCESS, 0);
	/* Without its clock, the reader would soon look blocked. */
	clock_getcpuclockid(reader->pid, &reader->clock);
	return 0;
}

/* Call it with the lock held. */
static void end(struct file_reader *reader)
{
	const pid_t pid = reader->pid;

	if (!pid)
		return;
	close(reader->socket);
	*reader = (struct file_reader){ 0 };
	helper_abandon(pid);
}

/* A forked copy of this process has no readers. */
static void end_all(void)
{
	size_t i;

	for (i = 0; i < READERS_MAX && readers.owner == getpid(); i++)
		end(&readers.all[i]);
}

void reader_enable(void)
{
	if (!readers.owner)
		atexit(end_all);
	readers.owner = getpid();
}

/* --- asking ----------------------------------------------------------------------------------- */

/* A waiting call. */
struct waiting {
	const struct file_reader *reader;
	unsigned int seconds;
	uint64_t begun_cpu, last_cpu, begun_ns, last_ns;
};

static uint64_t cpu_of(const struct file_reader *reader)
{
	struct timespec time = { 0 };

	clock_gettime(reader->clock, &time);
	return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

static int watch(struct waiting *waiting)
{
	const uint64_t cpu = cpu_of(waiting->reader), now = monotonic_ns();

	if (is_too_late())
		return -ETIME;
	if (cpu != waiting->last_cpu) {
		waiting->last_cpu = cpu;
		waiting->last_ns = now;
	}
	if (now - waiting->last_ns > IDLE_SECONDS * (uint64_t)SECOND_NS ||
	    now - waiting->begun_ns > SLOW_TIMES * waiting->seconds * (uint64_t)SECOND_NS ||
	    cpu - waiting->begun_cpu > waiting->seconds * (uint64_t)SECOND_NS)
		return -ETIMEDOUT;
	return 0;
}

/* Looks at the limits each time: a reader that was taken over may send a byte now and then. */
static int wait_ready(void *ctx, short events)
{
	struct waiting *waiting = ctx;
	struct pollfd fd = { .fd = waiting->reader->socket, .events = events };
	int ret = watch(waiting);

	while (!ret && poll(&fd, 1, WAIT_MS) <= 0)
		ret = watch(waiting);
	return ret;
}

/* Opens a debug file for a reader. The current file determines where to search. */
static int open_debug_file(const struct reader_call *call, struct wire *question, char *found)
{
	const enum debug_place place = (enum debug_place)wire_get_u64(question);
	const char *name = wire_get_text(question);
	struct debug_origin origin = { .path = call->path, .root = call->root };
	struct stat stat;

	if (question->bad || !call->path || !regular_file_stat(call->fds[0], &stat))
		return -EINVAL;
	origin.owner = stat.st_uid;
	origin.may_ask = regular_file_is_from(&stat, 0);
	if (place == DEBUG_AT_PATH && *found)
		origin.path = found;
	return debug_candidate_open(&origin, place, name, found);
}

static int answer_open(const struct frame_line *line, const struct reader_call *call,
		       struct reader_frame *asked, char *found)
{
	struct reader_frame frame = { .kind = FRAME_OPENED, .fds = { -1, -1 } };
	int ret, fd = open_debug_file(call, &asked->body, found);

	frame.code = fd < 0 ? fd : 0;
	frame.fds[0] = fd;
	wire_put_text(&frame.body, found);
	ret = frame_send(line, &frame);
	wire_free(&frame.body);
	close_fd(&frame.fds[0]);
	return ret;
}

/* A hostile file may have chosen the reader's message, as it may all names. */
static int read_error(struct reader_frame *frame, struct error *err)
{
	const char *text = wire_get_text(&frame->body), *hint = wire_get_text(&frame->body);
	const int code = frame->code >= -4095 ? (int)frame->code : -EIO;

	error_set(err, code, "%s", text);
	if (*hint)
		error_hint(err, "%s", hint);
	wire_free(&frame->body);
	return code;
}

/* Returns the answer's code in *code, or fails without an answer. */
static int converse(const struct frame_line *line, struct reader_call *call, int *code,
		    struct error *err)
{
	struct reader_frame frame = { .kind = FRAME_QUESTION, .code = (int64_t)call->kind };
	char found[PATH_MAX] = "";
	int ret;

	memcpy(frame.fds, call->fds, sizeof(frame.fds));
	wire_put_text(&frame.body, call->root);
	wire_put(&frame.body, call->question.bytes, call->question.nr);
	frame.body.bad = frame.body.bad || call->question.bad;
	ret = frame_send(line, &frame);
	while (!ret) {
		ret = frame_receive(line, &frame);
		if (ret || frame.kind != FRAME_OPEN)
			break;
		ret = answer_open(line, call, &frame, found);
	}
	if (!ret && frame.kind != FRAME_ANSWER)
		ret = -EPROTO;
	if (!ret && frame.code < 0)
		*code = read_error(&frame, err);
	if (ret)
		wire_free(&frame.body);
	call->answer = frame.body;
	return ret;
}

static struct frame_line line_of(const struct file_reader *reader, enum reader_kind kind,
				 struct waiting *waiting)
{
	*waiting = (struct waiting){ .reader = reader,
				     .seconds = seconds[kind],
				     .begun_cpu = cpu_of(reader),
				     .begun_ns = monotonic_ns() };
	waiting->last_ns = waiting->begun_ns;
	waiting->last_cpu = waiting->begun_cpu;
	return (struct frame_line){ .socket = reader->socket,
				    .wait = wait_ready,
				    .ctx = waiting,
				    .most = min_size(ANSWER_MAX, (size_t)(reader_memory() / 4)) };
}

/* A reader first reports that it has dropped its privileges, or why not. */
static int receive_hello(struct file_reader *reader, struct error *err)
{
	struct reader_frame hello = { 0 };
	struct waiting waiting;
	const struct frame_line line = line_of(reader, READ_FACTS, &waiting);
	int ret = frame_receive(&line, &hello);

	if (!ret && hello.code < 0) {
		pthread_mutex_lock(&readers.lock);
		readers.refused = read_error(&hello, &readers.refusal);
		*err = readers.refusal;
		pthread_mutex_unlock(&readers.lock);
		return readers.refused;
	}
	wire_free(&hello.body);
	reader->greeted = !ret;
	return ret ? error_errno(err, ret, "a process that reads files") : 0;
}

/* --- which reader ----------------------------------------------------------------------------- */

/* Files of root and of our user count as one owner's. Code without its file has its own reader. */
static struct file_reader kind_of_reader(const struct reader_call *call)
{
	struct file_reader kind = { .code = call->kind == READ_INSTRUCTIONS };
	struct stat stat;

	if (regular_file_stat(call->fds[0], &stat) && !regular_file_is_from(&stat, 0))
		kind.owner = stat.st_uid;
	kind.opens = call->trusted && !kind.owner;
	return kind;
}

/*
 * Whether an idle reader was killed, for instance for lack of memory, or speaks unasked. Otherwise
 * the next file would be blamed for its end.
 */
static bool is_lost(const struct file_reader *reader)
{
	struct pollfd fd = { .fd = reader->socket, .events = POLLIN };

	return reader->greeted && poll(&fd, 1, 0) > 0;
}

static struct file_reader *find(const struct reader_call *call)
{
	const struct file_reader kind = kind_of_reader(call);
	struct file_reader *reader, *none = NULL, *other = NULL;

	for (reader = readers.all; reader < readers.all + READERS_MAX; reader++) {
		if (reader->busy)
			continue;
		if (reader->pid && is_lost(reader))
			end(reader);
		if (!reader->pid)
			none = none ?: reader;
		else if (reader->owner == kind.owner && reader->opens == kind.opens &&
			 reader->code == kind.code)
			return reader;
		else if (!other || reader->used_ns < other->used_ns)
			other = reader;
	}
	if (!none && other)
		end(none = other);
	if (none)
		*none = kind;
	return none;
}

static void put_back(struct file_reader *reader, bool keep)
{
	LOCK_SCOPE(&readers.lock);
	reader->used_ns = monotonic_ns();
	if (keep && cpu_of(reader) < REPLACE_SECONDS * (uint64_t)SECOND_NS)
		reader->busy = false;
	else
		end(reader);
	pthread_cond_signal(&readers.freed);
}

/* Call it with the lock held. Returns a free reader, maybe a new one. */
static int choose(const struct reader_call *call, struct file_reader **result, struct error *err)
{
	struct file_reader *reader;
	int ret = readers.refused;

	if (ret) {
		*err = readers.refusal;
		return ret;
	}
	while (!(reader = find(call)))
		pthread_cond_wait(&readers.freed, &readers.lock);
	if (!reader->pid && helpers_abandoned() == ABANDONED_MAX)
		ret = error_set(err, -EIO, "too many files did not answer");
	else if (!reader->pid)
		ret = start(reader, err);
	*result = reader;
	return ret;
}

/* Reserves a reader until put_back(). */
static int reserve(const struct reader_call *call, struct file_reader **result, struct error *err)
{
	struct file_reader *reader;
	int ret;

	pthread_mutex_lock(&readers.lock);
	ret = choose(call, &reader, err);
	if (!ret)
		reader->busy = true;
	pthread_mutex_unlock(&readers.lock);
	if (ret)
		return ret;
	*result = reader;
	if (!reader->greeted)
		ret = receive_hello(reader, err);
	if (ret)
		put_back(reader, false);
	return ret;
}

void reader_prepare(void)
{
	const struct reader_call call = { .kind = READ_FACTS, .fds = { -1, -1 } };
	struct file_reader *reader;
	struct error ignored;

	if (!readers.owner || readers.prepared)
		return;
	readers.prepared = true;
	LOCK_SCOPE(&readers.lock);
	choose(&call, &reader, &ignored);
}

/*
 * --- files that end their readers ---------------------------------------------------------------
 */

static bool has_killed(const struct reader_call *call)
{
	struct stat file;
	bool found = false;
	size_t i;

	if (!regular_file_stat(call->fds[0], &file))
		return false;
	LOCK_SCOPE(&readers.lock);
	for (i = 0; i < readers.nr_killers && !found; i++)
		found = readers.killers[i].dev == file.st_dev &&
			readers.killers[i].inode == file.st_ino &&
			readers.killers[i].changed.tv_sec == file.st_ctim.tv_sec &&
			readers.killers[i].changed.tv_nsec == file.st_ctim.tv_nsec;
	return found;
}

static void note_killer(const struct reader_call *call)
{
	struct stat file;

	if (!regular_file_stat(call->fds[0], &file))
		return;
	LOCK_SCOPE(&readers.lock);
	if (readers.nr_killers < KILLERS_MAX) {
		readers.killers[readers.nr_killers].dev = file.st_dev;
		readers.killers[readers.nr_killers].inode = file.st_ino;
		readers.killers[readers.nr_killers++].changed = file.st_ctim;
	}
}

/* --- a call ----------------------------------------------------------------------------------- */

int reader_bad_answer(struct reader_call *call, struct error *err)
{
	call->is_nonsense = true;
	return error_set(err, -EIO, "the process that read it answered nonsense");
}

static int explain(int code, struct error *err)
{
	switch (code) {
	case -ETIME:
		return error_set(err, code, "not read in time");
	case -ETIMEDOUT:
		return error_set(err, -EIO, "did not answer");
	case -E2BIG:
		return error_set(err, code, "more is in it than is read");
	case -ENOMEM:
		return error_no_memory(err, "a process that reads files");
	default:
		return error_set(err, -EIO, "the process that read it ended");
	}
}

static void blame(const struct reader_call *call)
{
	spent_ns += DEATH_SECONDS * (uint64_t)SECOND_NS;
	note_killer(call);
}

/*
 * Lets the reader run with the priority of the waiting thread. If that is not allowed, its priority
 * stays.
 */
static void hurry(struct file_reader *reader)
{
	const int nice = getpriority(PRIO_PROCESS, 0);

	if (nice != reader->nice)
		setpriority(PRIO_PROCESS, (id_t)reader->pid, nice);
	reader->nice = nice;
}

static int ask(struct reader_call *call, struct file_reader *reader, struct error *err)
{
	struct waiting waiting;
	const struct frame_line line = line_of(reader, call->kind, &waiting);
	int code = 0, ret;

	hurry(reader);
	ret = converse(&line, call, &code, err);

	spent_ns += cpu_of(reader) - waiting.begun_cpu;
	if (!ret) {
		call->reader = reader;
		return code;
	}
	put_back(reader, false);
	/* The deadline, or our lack of memory, is not the file's fault. */
	if (ret != -ETIME && ret != -ENOMEM)
		blame(call);
	return explain(ret, err);
}

static int call_here(struct reader_call *call, struct error *err)
{
	static pthread_mutex_t here = PTHREAD_MUTEX_INITIALIZER; /* protects the kept tables */
	int ret;

	call->question.at = 0;
	if (!call->root)
		call->root = "";
	pthread_mutex_lock(&here);
	ret = reader_here(call, err);
	pthread_mutex_unlock(&here);
	if (ret)
		wire_free(&call->answer);
	return ret;
}

/* Whether the file belongs to root or our user. Instructions come without their file. */
static bool is_trusted(const struct reader_call *call)
{
	struct stat stat;

	return call->kind != READ_INSTRUCTIONS && regular_file_stat(call->fds[0], &stat) &&
	       regular_file_is_from(&stat, 0);
}

static int call_process(struct reader_call *call, struct error *err)
{
	struct file_reader *reader;
	int ret;

	if (has_killed(call))
		return error_set(err, -EIO, "a process that read it ended");
	ret = reserve(call, &reader, err);
	if (!ret)
		return ask(call, reader, err);
	/* No reader can be confined here. */
	return is_trusted(call) ? call_here(call, err) : ret;
}

int reader_call(struct reader_call *call, struct error *err)
{
	struct error ignored;
	int ret;

	err = err ?: &ignored;
	if (is_too_late())
		ret = explain(-ETIME, err);
	else if (readers.owner)
		ret = call_process(call, err);
	else
		ret = call_here(call, err);
	wire_free(&call->question);
	return ret;
}

void reader_call_end(struct reader_call *call)
{
	wire_free(&call->answer);
	if (call->reader)
		put_back(call->reader, !call->is_nonsense);
	if (call->reader && call->is_nonsense)
		blame(call);
	call->reader = NULL;
}

int reader_check(struct error *err)
{
	const struct reader_call call = { .kind = READ_FACTS };
	struct file_reader *reader;
	int ret = reserve(&call, &reader, err);

	if (!ret)
		put_back(reader, true);
	return ret;
}
