// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A sink delivers profiles to one backend or folder.
 *
 * sink_put() appends each profile to a queue (pending.h), in memory or in a spool on disk. The
 * sink's thread removes the oldest, divides it into requests (requests.h), and posts one after the
 * other. Each answer has one of these outcomes:
 *
 *   HTTP_DONE       the ticks of the request are delivered
 *   HTTP_RETRY      try the same request again later: the backend is away, busy, or denies access
 *   HTTP_TOO_LARGE  divide the request; if that is not possible, its ticks are lost
 *   HTTP_REFUSED    the backend will never accept it: its ticks are lost
 *
 * A part is a profile, or what remains of one. A piece is what one request carries.
 *
 * After each accepted piece, conclude_request() records the progress in the queue and on disk. A
 * piece that was not answered may still have arrived. Therefore a retry sends the same piece, with
 * the same id, and accepted pieces are never sent again. Ticks are counted as delivered or lost
 * once their request is concluded, so that none is missing from the figures.
 *
 * If the options are read again, a new sink of the same kind and place takes over the queue from
 * the old one, as soon as the old one has its last answer.
 */
#include "agent/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/body.h"
#include "agent/pending.h"
#include "agent/requests.h"
#include "base/file.h"
#include "base/output.h"
#include "base/util.h"
#include "otlp.pb-c.h"
#include "profile/profile_io.h"

const char *const sink_names[NR_SINKS] = { [SINK_DIR] = "dir",
					   [SINK_OTLP] = "otlp",
					   [SINK_PYROSCOPE] = "pyroscope",
					   [SINK_PARCA] = "parca" };

const char *const sink_losses[NR_LOSSES] = { [LOST_REFUSED] = "refused",
					     [LOST_TOO_LARGE] = "too large",
					     [LOST_NO_ROOM] = "no room",
					     [LOST_UNREADABLE] = "unreadable",
					     [LOST_KILLED] = "killed" };

static const char *const code_labels[CODES_NR] = {
	"none",	   "other",   "1xx",	 "2xx",	    "3xx",     "4xx",	  "5xx",     "200",
	"202",	   "204",     "301",	 "302",	    "303",     "307",	  "308",     "400",
	"401",	   "403",     "404",	 "405",	    "406",     "408",	  "411",     "413",
	"415",	   "422",     "429",	 "500",	    "501",     "502",	  "503",     "504",
	"grpc-0",  "grpc-1",  "grpc-2",	 "grpc-3",  "grpc-4",  "grpc-5",  "grpc-6",  "grpc-7",
	"grpc-8",  "grpc-9",  "grpc-10", "grpc-11", "grpc-12", "grpc-13", "grpc-14", "grpc-15",
	"grpc-16", "grpc-xx",
};

/* CODES_NR: the label is not in the list. */
static size_t find_label(const char *label)
{
	size_t i;

	for (i = 0; i < CODES_NR && strcmp(code_labels[i], label) != 0; i++)
		;
	return i;
}

size_t code_index(long http, bool grpc, long status)
{
	char label[32] = "none";
	size_t index;

	if (grpc && http == 200)
		snprintf(label, sizeof(label), "grpc-%ld", status);
	else if (http)
		snprintf(label, sizeof(label), "%ld", http);
	index = find_label(label);
	if (index < CODES_NR)
		return index;
	if (grpc && http == 200)
		return find_label("grpc-xx");
	snprintf(label, sizeof(label), "%ldxx", http / 100);
	index = find_label(label);
	return index < CODES_NR ? index : find_label("other");
}

const char *code_label(size_t index)
{
	return code_labels[index];
}

#define MS_NS UINT64_C(1000000)

struct sink {
	struct sink_options options;
	char *name; /* for messages */
	char *key; /* identifies the kind and place */
	char **imports; /* folders of sinks that no longer exist */
	size_t nr_imports;
	size_t room_imports;
	struct http *http; /* NULL: a folder */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* for everything below */
	struct sink *predecessor; /* takes over from this sink; NULL: none, or that is done */
	uint64_t due_ns; /* no attempt begins before this, unless the sink is closing */
	pthread_cond_t wake; /* signalled for a new profile, and when the sink closes */
	struct pending pending;
	struct sink_counts counts;
	bool delivering; /* a profile has been removed from the queue to be delivered */
	uint64_t delivering_ticks;
	bool accepted; /* at least one piece of that profile */
	bool said_too_large;
	bool closing;
	uint64_t attempts_until_ns; /* when closing: no attempt begins after this */
	uint64_t answers_until_ns; /* when closing: no answer is waited for after this */
	/* A lock of the callers of sink_publish() and sink_shown() protects these, not this one. */
	struct sink_counts shown;
	bool published;
};

/* An attempt: a request, or a file. */
struct delivery {
	enum http_outcome outcome;
	uint64_t retry_after_s;
	uint64_t ticks; /* in this request */
	bool waits; /* this request has waits, which are not counted */
	uint64_t rejected; /* profiles that the backend rejected while it accepted others */
	bool needs_fix; /* the URL, the token or the backend must change before a retry can help */
	bool denied;
	bool posted; /* a request was sent */
	size_t code; /* of its answer: see code_index() */
	size_t bytes;
	char why[256];
};

/* The outcome of a profile without a request. */
static void delivery_end(struct delivery *delivery, enum http_outcome outcome, const char *why)
{
	delivery->outcome = outcome;
	snprintf(delivery->why, sizeof(delivery->why), "%.250s", why);
}

/*
 * A file's name has the time of its first tick in milliseconds, so that names sort by time. A
 * second file of the same millisecond gets "_1", which sorts after it because "_" sorts after ".".
 */
static void name_file(const char *folder, const char *started, unsigned int nr, char path[PATH_MAX])
{
	const char *fraction = strlen(started) > 19 && started[19] == '.' ? started + 20 : "";
	int digits = (int)strspn(fraction, "0123456789");
	char ms[] = "000";

	memcpy(ms, fraction, (size_t)(digits < 3 ? digits : 3));
	snprintf(path, PATH_MAX, "%s/bpfprofil-%.19s.%sZ%s%.0u.json.gz", folder, started, ms,
		 nr ? "_" : "", nr);
}

static void delivery_write(const char *folder, const struct profile *profile,
			   struct delivery *delivery)
{
	char path[PATH_MAX];
	struct error err = { 0 };
	struct stat written;
	unsigned int i = 0;
	int ret;

	do
		name_file(folder, profile->started ?: "", i++, path);
	while (!access(path, F_OK));
	ret = profile_save(profile, path, OUTPUT_CONFIDENTIAL, &err);
	*delivery = (struct delivery){ .ticks = profile->ticks.total };
	if (!ret && !stat(path, &written))
		delivery->bytes = (size_t)written.st_size;
	delivery_end(delivery, ret ? HTTP_RETRY : HTTP_DONE, err.text);
}

/* An OTLP backend may accept only some of the profiles. What it rejected is not sent again. */
static void read_partial_success(enum sink_kind kind, const struct http_reply *reply,
				 struct delivery *delivery)
{
	Otlp__Response *answer;

	if (kind != SINK_OTLP || delivery->outcome != HTTP_DONE || !reply->body.size)
		return;
	answer = otlp__response__unpack(NULL, reply->body.size, (uint8_t *)reply->body.data);
	if (!answer)
		return;
	if (answer->partial_success && answer->partial_success->rejected_profiles > 0) {
		delivery->rejected = (uint64_t)answer->partial_success->rejected_profiles;
		snprintf(delivery->why, sizeof(delivery->why), "%.250s",
			 answer->partial_success->error_message);
	}
	otlp__response__free_unpacked(answer, NULL);
}

static bool needs_fix(const struct http_reply *reply)
{
	if (reply->denied)
		return true;
	if (reply->outcome != HTTP_REFUSED && reply->outcome != HTTP_TOO_LARGE)
		return false;
	if (reply->code != 200)
		return reply->code < 500;
	/* With gRPC's "unknown" and "internal" a server reports a failure of its own. */
	return reply->grpc != GRPC_NO_STATUS && reply->grpc != 2 && reply->grpc != 13;
}

/* Sends the next request, which must exist. Returns 0, or -ENOMEM: it was not sent. */
static int delivery_post(struct http *http, struct requests *requests, struct delivery *delivery)
{
	const struct http_content content = body_content(requests->kind);
	struct http_reply reply = { 0 };
	struct bytes body;
	int ret = requests_next(requests, &body);

	*delivery = (struct delivery){ .ticks = requests->ticks, .waits = requests->waits };
	if (!ret) {
		http_post(http, &content, &body, &reply);
		delivery->posted = true;
		delivery->code = code_index(reply.code, http_is_grpc(http), reply.grpc);
		delivery->outcome = reply.outcome;
		delivery->needs_fix = needs_fix(&reply);
		delivery->denied = reply.denied;
		delivery->retry_after_s = reply.retry_after_s;
		delivery->bytes = body.size;
		snprintf(delivery->why, sizeof(delivery->why), "%s", reply.why);
		read_partial_success(requests->kind, &reply, delivery);
	}
	bytes_free(&reply.body);
	bytes_free(&body);
	return ret;
}

/* --- ending a sink, or taking over the queue of another --- */

#define SPOOLED_NS SECOND_NS
#define SPOOLED_ANSWER_NS (3 * SECOND_NS)

/*
 * The next agent will send what is on disk, and should be able to start soon. Wait somewhat longer
 * for the answer to the current request: otherwise the next agent sends it again.
 */
static uint64_t limit_for_spool(const struct sink *sink, uint64_t patience_ns, uint64_t spooled_ns)
{
	if (!sink->pending.spool || sink->pending.spool_failed)
		return patience_ns;
	if (sink->counts.failing)
		return 0;
	return patience_ns > spooled_ns ? spooled_ns : patience_ns;
}

/*
 * Ends a sink's thread. No request begins after patience_ns, unless sink_begin_closing() has set an
 * earlier time. A request in progress gets extra_ns more.
 */
static void join_thread(struct sink *sink, uint64_t patience_ns, uint64_t extra_ns)
{
	struct timespec due;

	if (!sink->has_thread)
		return;
	sink->has_thread = false;
	sink_begin_closing(sink, patience_ns);
	pthread_mutex_lock(&sink->lock);
	due = timespec_of(sink->answers_until_ns + extra_ns);
	pthread_mutex_unlock(&sink->lock);
	if (!pthread_clockjoin_np(sink->thread, NULL, CLOCK_MONOTONIC, &due))
		return;
	pthread_mutex_lock(&sink->lock);
	if (sink->predecessor && sink->predecessor->http)
		http_stop(sink->predecessor->http);
	if (sink->http)
		http_stop(sink->http);
	pthread_cond_signal(&sink->wake);
	pthread_mutex_unlock(&sink->lock);
	pthread_join(sink->thread, NULL);
}

/* Profiles in the other sink's spool stay there for the next sink that opens it. */
static void move_queue(struct sink *sink, struct sink *before)
{
	struct pending_part part;
	uint64_t left = 0;

	sink->counts = before->counts;
	/* The new options may be what the backend wants. Therefore try at once. */
	sink->due_ns = before->counts.refusing ? 0 : before->due_ns;
	sink->pending.lost += before->pending.lost;
	sink->pending.merged += before->pending.merged;
	pending_spool_all(&before->pending);
	while (before->pending.nr) {
		part = pending_pop_newest(&before->pending);
		if (!part.bytes.data) {
			left += pending_ticks(&part);
			continue;
		}
		part.entry.first = part.entry.last = 0;
		if (pending_put_back(&sink->pending, &part))
			sink->counts.losses[LOST_NO_ROOM] += pending_ticks(&part);
		bytes_free(&part.bytes);
	}
	if (left && compare_text(sink->options.spool, before->options.spool) != 0)
		print_message(NULL, "agent: %s: %" PRIu64 " ticks wait in %.256s", sink->name, left,
			      spool_path(before->pending.spool));
}

/*
 * Wait until the other sink has stopped, because a request in progress would be sent twice. That
 * takes as long as the backend may take to answer. Sampling continues meanwhile.
 */
static void sink_take_over(struct sink *sink)
{
	struct sink *before = sink->predecessor;
	struct error err = { 0 };

	join_thread(before, 0, before->options.http.timeout_ms * MS_NS);
	pthread_mutex_lock(&sink->lock);
	move_queue(sink, before);
	sink->predecessor = NULL;
	pthread_mutex_unlock(&sink->lock);
	sink_close(before, 0);
	if (sink_load(sink, &err))
		print_error(&err);
}

#define LOOK_NS SECOND_NS /* how often to check files of tokens while a retry waits */
#define CLOSING_WAIT_NS (SECOND_NS / 2)
#define RETRY_AFTER_MAX 3600 /* seconds: retry by then, even if a backend asks for a longer wait */

const char *sink_advice(enum sink_kind kind, const char *why)
{
	static const char *const unknown[] = { "HTTP 404", "gRPC status 12" };
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		if (kind == SINK_OTLP && !strncmp(why, unknown[i], strlen(unknown[i])))
			return "a Collector with a pipeline of profiles, started with "
			       "--feature-gates=+service.profilesSupport";
	return NULL;
}

/* --- with the lock --- */

/* Returns true if the token or a header changed before due_ns. */
static bool wait_until(struct sink *sink, uint64_t due_ns)
{
	bool closing = sink->closing;
	struct timespec due;
	uint64_t now;

	while ((now = monotonic_ns()) < due_ns && sink->closing == closing) {
		if (sink->http && http_credentials_changed(sink->http))
			return true;
		due = timespec_of(due_ns - now > LOOK_NS ? now + LOOK_NS : due_ns);
		pthread_cond_timedwait(&sink->wake, &sink->lock, &due);
	}
	return false;
}

/*
 * Waits for the delay plus a random time of up to half of it. The next delay is half as long again,
 * or twice as long while the backend denies access, since people have to fix that.
 */
static void wait_for_retry(struct sink *sink, const struct delivery *delivery, uint64_t *delay_ns)
{
	const uint64_t most_ns = delivery->denied ? sink->options.retry_denied_ns :
						    sink->options.retry_most_ns;
	const uint64_t growth_in_halves = delivery->denied ? 4 : 3;
	uint64_t wait_ns = *delay_ns + chance_below(*delay_ns / 2);
	uint64_t retry_after_s = delivery->retry_after_s;

	if (retry_after_s > RETRY_AFTER_MAX)
		retry_after_s = RETRY_AFTER_MAX;
	if (retry_after_s * SECOND_NS > wait_ns)
		wait_ns = retry_after_s * SECOND_NS;
	/* When closing, only short delays make sense. */
	if (sink->closing && wait_ns > CLOSING_WAIT_NS)
		wait_ns = CLOSING_WAIT_NS;
	*delay_ns = *delay_ns / 2 * growth_in_halves;
	if (*delay_ns > most_ns)
		*delay_ns = most_ns;
	sink->due_ns = monotonic_ns() + wait_ns;
	if (wait_until(sink, sink->due_ns))
		*delay_ns = sink->options.retry_ns;
}

static void report_denied(const struct sink *sink, const struct delivery *delivery)
{
	const struct http_options *http = &sink->options.http;

	print_message(sink_advice(sink->options.kind, delivery->why),
		      "agent: %s: %s; profiles wait, and are tried again in up to %.3g minutes%s",
		      sink->name, delivery->why, (double)sink->options.retry_denied_ns / 6e10,
		      http->token_file || http->headers_file ? ", or when the token changes" : "");
}

/*
 * Keeps the reason of the last failure. A backend that is unreachable does not replace its earlier
 * reason for refusing.
 */
static void note_why(struct sink *sink, const struct delivery *delivery)
{
	if (delivery->outcome == HTTP_DONE)
		sink->counts.why[0] = '\0';
	else if (delivery->needs_fix || !sink->counts.refusing)
		snprintf(sink->counts.why, sizeof(sink->counts.why), "%s", delivery->why);
}

static void report_refused(const struct sink *sink, const struct delivery *delivery)
{
	char lost[48] = "waits";

	if (delivery->ticks || !delivery->waits)
		snprintf(lost, sizeof(lost), "%" PRIu64 " ticks%s", delivery->ticks,
			 delivery->waits ? " and waits" : "");
	print_message(sink_advice(sink->options.kind, delivery->why),
		      "agent: %s: %s; %s are not delivered", sink->name, delivery->why, lost);
}

/* Report a backend that is too small for one service only once, not for each profile. */
static void report_trouble(struct sink *sink, const struct delivery *delivery)
{
	if (delivery->outcome == HTTP_DONE && sink->counts.failing)
		print_message(NULL, "agent: %s: delivered again", sink->name);
	else if (delivery->denied && !sink->counts.refusing)
		report_denied(sink, delivery);
	else if (delivery->outcome == HTTP_RETRY && !sink->counts.failing)
		print_message(NULL, "agent: %s: %s; trying again", sink->name, delivery->why);
	else if (delivery->outcome == HTTP_REFUSED)
		report_refused(sink, delivery);
	else if (delivery->outcome == HTTP_TOO_LARGE && !sink->said_too_large)
		print_message(NULL,
			      "agent: %s: %s; even a piece of one service is too large: its %s are "
			      "not delivered",
			      sink->name, delivery->why, delivery->waits ? "waits" : "ticks");
	sink->said_too_large = sink->said_too_large || delivery->outcome == HTTP_TOO_LARGE;
	if (delivery->rejected)
		print_message(NULL, "agent: %s: %" PRIu64 " profiles were rejected: %s", sink->name,
			      delivery->rejected, delivery->why);
	note_why(sink, delivery);
	if (delivery->outcome != HTTP_TOO_LARGE)
		sink->counts.failing = delivery->outcome != HTTP_DONE;
}

static void count_try(struct sink *sink, const struct delivery *delivery)
{
	sink->counts.requests++;
	sink->counts.codes[delivery->code] += delivery->posted;
	sink->counts.bytes += delivery->bytes;
	sink->counts.retries += delivery->outcome == HTTP_RETRY;
	sink->counts.rejected += delivery->rejected;
}

static void count_ticks(struct sink *sink, const struct delivery *delivery)
{
	if (delivery->outcome == HTTP_DONE) {
		sink->counts.ticks += delivery->ticks;
		sink->counts.last_success = (uint64_t)time(NULL);
	} else if (delivery->outcome != HTTP_RETRY) {
		sink->counts.losses[delivery->outcome == HTTP_TOO_LARGE ? LOST_TOO_LARGE :
									  LOST_REFUSED] +=
			delivery->ticks;
	}
}

static bool is_over(const struct sink *sink)
{
	return sink->closing && monotonic_ns() >= sink->attempts_until_ns;
}

/* --- one profile, without the lock, which these functions take themselves --- */

/* Counts an attempt for all that is left of a profile. Returns whether the profile is finished. */
static bool conclude(struct sink *sink, const struct pending_part *part, struct delivery *delivery)
{
	delivery->ticks = pending_ticks(part);
	LOCK_SCOPE(&sink->lock);
	report_trouble(sink, delivery);
	count_try(sink, delivery);
	count_ticks(sink, delivery);
	sink->counts.profiles += delivery->outcome == HTTP_DONE;
	return delivery->outcome != HTTP_RETRY;
}

/*
 * If nothing is left and no piece was accepted, the backend is failing even if it answered each
 * request.
 */
static void update_health(struct sink *sink, const struct delivery *delivery, bool left)
{
	if (!left && !sink->accepted)
		sink->counts.failing = true;
	if (!left || sink->accepted || delivery->denied)
		sink->counts.refusing = !sink->accepted && delivery->needs_fix;
}

/* Counts a request. Returns whether the next one may be sent. */
static bool conclude_request(struct sink *sink, struct pending_part *part,
			     struct requests *requests, const struct delivery *delivery)
{
	bool divided = delivery->outcome == HTTP_TOO_LARGE && requests_divide(requests);
	bool left, continue_sending = delivery->outcome != HTTP_RETRY;

	LOCK_SCOPE(&sink->lock);
	count_try(sink, delivery);
	if (!divided) {
		report_trouble(sink, delivery);
		count_ticks(sink, delivery);
	}
	if (continue_sending && !divided)
		requests_advance(requests);
	left = requests_left(requests);
	/*
	 * Record what was delivered before the next request: the next attempt must continue with
	 * the same piece, because an unanswered piece may have arrived.
	 */
	if (left && delivered_any(&requests->done))
		pending_advance(&sink->pending, part, &requests->done);
	sink->counts.profiles += !left && delivery->outcome == HTTP_DONE;
	sink->accepted = sink->accepted || delivery->outcome == HTTP_DONE;
	update_health(sink, delivery, left);
	sink->delivering_ticks = left ? pending_ticks(part) : 0;
	continue_sending = continue_sending && !(left && is_over(sink));
	return continue_sending;
}

/* Returns whether nothing is left to send. */
static bool send_all(struct sink *sink, struct pending_part *part, const struct profile *profile,
		     struct delivery *delivery)
{
	struct requests requests;
	bool continue_sending = true;
	int ret = requests_begin(&requests, sink->options.kind, profile, sink->options.detail,
				 &part->done);

	while (!ret && continue_sending && requests_left(&requests)) {
		ret = delivery_post(sink->http, &requests, delivery);
		if (!ret)
			continue_sending = conclude_request(sink, part, &requests, delivery);
	}
	requests_end(&requests);
	if (!ret)
		return continue_sending;
	delivery_end(delivery, HTTP_RETRY, strerror(-ret));
	return conclude(sink, part, delivery);
}

/* Counts the rest of a part as lost, because its file was unreadable for too long. */
static bool give_up_reading(struct sink *sink, struct pending_part *part,
			    const struct delivery *delivery)
{
	uint64_t ticks = pending_ticks(part);

	pthread_mutex_lock(&sink->lock);
	sink->counts.losses[LOST_UNREADABLE] += ticks;
	sink->counts.failing = true;
	pending_set_aside(&sink->pending, part);
	*part = (struct pending_part){ 0 };
	pthread_mutex_unlock(&sink->lock);
	print_message(NULL,
		      "agent: %s: %s; %" PRIu64 " ticks are not delivered: their file in %.256s is "
		      "called .bad",
		      sink->name, delivery->why, ticks, spool_path(sink->pending.spool));
	return true;
}

/*
 * Reading the queue failed, which is not the backend's failure. Retry, unless the file stays
 * unreadable.
 */
static bool cannot_read(struct sink *sink, struct pending_part *part, int code, const char *why,
			struct delivery *delivery)
{
	bool is_unreadable_file = code == -EIO && !part->bytes.data;

	if (!is_unreadable_file && !pending_may_pass(code)) {
		delivery_end(delivery, HTTP_REFUSED, why);
		return conclude(sink, part, delivery);
	}
	delivery_end(delivery, HTTP_RETRY, why);
	if (is_unreadable_file && !part->unread_ns)
		part->unread_ns = monotonic_ns();
	if (is_unreadable_file && monotonic_ns() - part->unread_ns > sink->options.unreadable_ns)
		return give_up_reading(sink, part, delivery);
	return conclude(sink, part, delivery);
}

static bool deliver(struct sink *sink, struct pending_part *part, struct delivery *delivery)
{
	struct profile *profile = NULL;
	struct error err = { 0 };
	bool is_done;
	int ret = pending_read(&sink->pending, part, &profile, &err);

	if (ret)
		return cannot_read(sink, part, ret, err.text, delivery);
	part->unread_ns = 0;
	/* Another program wrote this file into the spool. Its ticks could not be accounted for. */
	if (profile->ticks.total != part->entry.ticks) {
		profile_free(profile);
		delivery_end(delivery, HTTP_REFUSED,
			     "the name of a spool file contradicts its contents");
		return conclude(sink, part, delivery);
	}
	if (sink->http) {
		is_done = send_all(sink, part, profile, delivery);
	} else {
		delivery_write(sink->options.where, profile, delivery);
		is_done = conclude(sink, part, delivery);
	}
	profile_free(profile);
	return is_done;
}

/* The caller holds the lock. This function releases it while it sends. */
static void deliver_oldest(struct sink *sink, uint64_t *delay_ns)
{
	struct pending_part part = pending_pop(&sink->pending);
	struct delivery delivery = { 0 };
	bool is_done;

	sink->delivering = true;
	sink->delivering_ticks = pending_ticks(&part);
	sink->accepted = false;
	pthread_mutex_unlock(&sink->lock);
	is_done = deliver(sink, &part, &delivery);
	pthread_mutex_lock(&sink->lock);
	sink->delivering = false;
	sink->delivering_ticks = 0;
	if (is_done) {
		*delay_ns = sink->options.retry_ns;
	} else {
		if (pending_put_back(&sink->pending, &part))
			sink->counts.losses[LOST_NO_ROOM] += pending_ticks(&part);
		wait_for_retry(sink, &delivery, delay_ns);
	}
	pending_drop(&sink->pending, &part);
}

/* --- the thread --- */

static void *sink_thread(void *context)
{
	struct sink *sink = context;
	uint64_t delay_ns = sink->options.retry_ns;

	if (sink->predecessor)
		sink_take_over(sink);
	LOCK_SCOPE(&sink->lock);
	if (!sink->closing)
		wait_until(sink, sink->due_ns);
	while (!is_over(sink) && !(sink->closing && !sink->pending.nr)) {
		if (sink->pending.nr)
			deliver_oldest(sink, &delay_ns);
		else
			pthread_cond_wait(&sink->wake, &sink->lock);
	}
	return NULL;
}

/* --- the interface --- */

static bool has_path(const char *url)
{
	const char *host = strstr(url, "://"), *slash = host ? strchr(host + 3, '/') : NULL;

	return slash && slash[1];
}

static int name_sink(struct sink *sink, const char *name, const char *key, struct error *err)
{
	const char *word = sink_names[sink->options.kind];

	sink->name = format_text("%s %s", word, name);
	sink->key = format_text("%s %s", word, key);
	return sink->name && sink->key ? 0 : error_errno(err, -ENOMEM, "agent");
}

/* A URL with a path is used unchanged. */
static int open_url(struct sink *sink, struct error *err)
{
	const char *where = sink->options.where;
	bool grpc = !strncasecmp(where, "grpc", 4);
	cleanup_free char *url = NULL;
	size_t length = strlen(where);
	int ret;

	if (grpc && sink->options.kind != SINK_OTLP)
		return error_set(err, -EINVAL, "--%s: grpc is for --otlp",
				 sink_names[sink->options.kind]);
	while (length && where[length - 1] == '/')
		length--;
	url = format_text("%.*s%s", (int)length, where,
			  has_path(where) ? "" : body_path(sink->options.kind, grpc));
	if (!url)
		return error_errno(err, -ENOMEM, "agent");
	ret = http_open(&sink->options.http, url, &sink->http, err);
	return ret ? ret : name_sink(sink, http_name(sink->http), http_key(sink->http), err);
}

static int open_folder(struct sink *sink, struct error *err)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/bpfprofil.json.gz", sink->options.where);
	ret = output_check(path, NULL);
	if (ret) {
		/* The user named the folder. Therefore the message must not name a file in it. */
		error_errno(err, ret, "agent: --dir %.200s", sink->options.where);
		if (ret == -ENOENT)
			error_hint(err, "mkdir -p %.200s", sink->options.where);
		return ret;
	}
	return name_sink(sink, sink->options.where, sink->options.where, err);
}

static void init_lock(struct sink *sink)
{
	cond_init_monotonic(&sink->wake);
	pthread_mutex_init(&sink->lock, NULL);
}

int sink_open(const struct sink_options *options, struct sink **result, struct error *err)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	/*
	 * A folder as sink needs no spool: wherever a profile could be spooled, it could be written
	 * as well.
	 */
	const char *spool = options->kind == SINK_DIR ? NULL : options->spool;
	int ret;

	*result = sink;
	if (!sink)
		return error_errno(err, -ENOMEM, "agent");
	init_lock(sink);
	sink->options = *options;
	sink->options.spool = spool;
	if (options->texts)
		options->texts->users++;
	sink->pending.cap = options->cap;
	sink->pending.spool_cap = spool ? options->spool_cap : 0;
	ret = options->kind == SINK_DIR ? open_folder(sink, err) : open_url(sink, err);
	return !ret && spool ? spool_check(spool, sink->key, err) : ret;
}

bool sink_is_same(const struct sink *sink, const struct sink *other)
{
	return !strcmp(sink->key, other->key);
}

int sink_number(struct sink *sink, size_t number, struct error *err)
{
	char *name = format_text("%s (%zu)", sink->name, number);

	if (!name)
		return error_errno(err, -ENOMEM, "agent");
	free(sink->name);
	sink->name = name;
	return 0;
}

int sink_start(struct sink *sink, struct sink *before, struct error *err)
{
	int ret;

	pthread_mutex_lock(&sink->lock);
	sink->predecessor = before;
	pthread_mutex_unlock(&sink->lock);
	ret = pthread_create(&sink->thread, NULL, sink_thread, sink);
	sink->has_thread = !ret;
	if (!ret)
		return 0;
	sink->predecessor = NULL;
	sink_close(before, 0);
	return error_errno(err, -ret, "agent: thread");
}

bool sink_has_spool(const struct sink *sink, const char *folder)
{
	const char *dir = sink->options.spool;
	cleanup_free char *own = dir ? spool_folder(dir, sink->key) : NULL;

	return folder ? own && !strcmp(own, folder) : dir != NULL;
}

int sink_import(struct sink *sink, const char *folder)
{
	int ret = 0;

	LOCK_SCOPE(&sink->lock);
	if (sink->pending.spool)
		pending_import(&sink->pending, folder);
	else if (GROW(sink->imports, sink->room_imports, sink->nr_imports + 1) ||
		 !(sink->imports[sink->nr_imports] = strdup(folder)))
		ret = -ENOMEM;
	else
		sink->nr_imports++;
	pthread_cond_signal(&sink->wake);
	return ret;
}

int sink_load(struct sink *sink, struct error *err)
{
	struct spool *spool = NULL;
	int ret;

	if (!sink->options.spool)
		return 0;
	ret = spool_open(sink->options.spool, sink->key, &spool, err);
	if (ret) {
		spool_close(spool);
		return ret;
	}
	LOCK_SCOPE(&sink->lock);
	sink->pending.spool = spool;
	ret = pending_load(&sink->pending, err);
	while (sink->nr_imports) {
		char *folder = sink->imports[--sink->nr_imports];

		pending_import(&sink->pending, folder);
		free(folder);
	}
	pthread_cond_signal(&sink->wake);
	return ret;
}

/* Report when the disk becomes full and when it works again, not for each profile. */
static void report_spool(const struct sink *sink, bool failed_before)
{
	if (sink->pending.spool_failed && !failed_before)
		print_message(NULL, "agent: %s: %s; profiles wait in memory", sink->name,
			      sink->pending.spool_trouble.text);
	else if (!sink->pending.spool_failed && failed_before)
		print_message(NULL, "agent: %s: --spool works again", sink->name);
}

void sink_put(struct sink *sink, const struct profile *profile)
{
	struct error err = { 0 };
	bool failed;

	LOCK_SCOPE(&sink->lock);
	failed = sink->pending.spool_failed;
	if (pending_add(&sink->pending, profile, &err))
		print_message(NULL, "agent: %s: %s", sink->name, err.text);
	report_spool(sink, failed);
	pthread_cond_signal(&sink->wake);
}

void sink_restore(struct sink *sink, const struct sink_counts *counts)
{
	sink->counts = *counts;
	/*
	 * The current queue is counted anew. A sink is ready once it has delivered something
	 * itself.
	 */
	sink->counts.pending = sink->counts.pending_ticks = sink->counts.pending_bytes = 0;
	sink->counts.spool_bytes = sink->counts.lost = sink->counts.last_success = 0;
}

void sink_lose(struct sink *sink, uint64_t ticks)
{
	LOCK_SCOPE(&sink->lock);
	sink->counts.losses[LOST_KILLED] += ticks;
}

void sink_count(struct sink *sink, struct sink_counts *result)
{
	size_t i;

	LOCK_SCOPE(&sink->lock);
	if (sink->predecessor)
		sink_count(sink->predecessor, result);
	else
		*result = sink->counts;
	result->losses[LOST_NO_ROOM] += sink->pending.lost;
	for (i = 0, result->lost = 0; i < NR_LOSSES; i++)
		result->lost += result->losses[i];
	result->pending += sink->pending.nr + sink->delivering;
	result->pending_bytes += sink->pending.bytes;
	result->spool_bytes += sink->pending.spooled;
	result->spool_ok = !sink->pending.spool_failed;
	result->pending_ticks += sink->pending.ticks + sink->delivering_ticks;
	result->merged += sink->pending.merged;
}

void sink_publish(struct sink *sink, struct sink_counts *result)
{
	sink_count(sink, result);
	sink->shown = *result;
	sink->published = true;
}

void sink_shown(struct sink *sink, struct sink_counts *result)
{
	if (sink->published)
		*result = sink->shown;
	else
		sink_count(sink, result);
}

const char *sink_name(const struct sink *sink)
{
	return sink->name;
}

const char *sink_kind(const struct sink *sink)
{
	return sink_names[sink->options.kind];
}

const char *sink_place(const struct sink *sink)
{
	return strchr(sink->name, ' ') + 1;
}

static void report_left(struct sink *sink)
{
	struct pending *pending = &sink->pending;
	struct pending_part *part = pending->parts, *end = part + pending->nr;
	uint64_t ticks = 0, waiting;
	size_t nr = 0;

	pending_spool_all(pending);
	for (; part < end; part++) {
		if (!part->bytes.data)
			continue;
		ticks += pending_ticks(part);
		nr++;
	}
	if (nr)
		print_message(NULL, "agent: %s: %" PRIu64 " ticks in %zu profile%s not delivered",
			      sink->name, ticks, nr, nr == 1 ? " is" : "s are");
	waiting = pending->ticks - ticks;
	if (waiting)
		print_message(NULL, "agent: %s: %" PRIu64 " ticks in %zu profile%s in %.256s",
			      sink->name, waiting, pending->nr - nr,
			      pending->nr - nr == 1 ? " waits" : "s wait",
			      spool_path(pending->spool));
}

void sink_begin_closing(struct sink *sink, uint64_t patience_ns)
{
	uint64_t now, until;

	if (!sink)
		return;
	LOCK_SCOPE(&sink->lock);
	now = monotonic_ns();
	until = now + limit_for_spool(sink, patience_ns, SPOOLED_NS);
	if (!sink->closing || until < sink->attempts_until_ns) {
		sink->attempts_until_ns = until;
		sink->answers_until_ns =
			now + limit_for_spool(sink, patience_ns, SPOOLED_ANSWER_NS);
	}
	sink->closing = true;
	pthread_cond_signal(&sink->wake);
}

void sink_end(struct sink *sink, uint64_t patience_ns)
{
	if (sink)
		join_thread(sink, patience_ns, 0);
}

void sink_close(struct sink *sink, uint64_t patience_ns)
{
	if (!sink)
		return;
	join_thread(sink, patience_ns, 0);
	report_left(sink);
	http_close(sink->http);
	spool_close(sink->pending.spool);
	pending_free(&sink->pending);
	option_texts_release(sink->options.texts);
	free_all(sink->imports, sink->nr_imports);
	free(sink->name);
	free(sink->key);
	free(sink);
}
