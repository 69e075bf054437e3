// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/delivery.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/body.h"
#include "base/util.h"
#include "otlp.pb-c.h"
#include "profile/profile_io.h"
#include "base/output.h"

void delivery_refuse(struct delivery *delivery, const char *why)
{
	delivery->outcome = HTTP_REFUSED;
	snprintf(delivery->why, sizeof(delivery->why), "%.250s", why);
}

void delivery_put_off(struct delivery *delivery, const char *why)
{
	delivery->outcome = HTTP_RETRY;
	snprintf(delivery->why, sizeof(delivery->why), "%.250s", why);
}

/*
 * Files sort by the time when their ticks begin, which has milliseconds in their names. "_" is behind
 * "." in ASCII, so that of two of one millisecond, as after a merge, the later one comes later too.
 */
static void name_file(const char *folder, const char *started, unsigned int nr, char ret[PATH_MAX])
{
	const char *fraction = strlen(started) > 19 && started[19] == '.' ? started + 20 : "";
	int digits = (int)strspn(fraction, "0123456789");
	char ms[] = "000";

	memcpy(ms, fraction, (size_t)(digits < 3 ? digits : 3));
	snprintf(ret, PATH_MAX, "%s/bpfprofil-%.19s.%sZ%s%.0u.json.gz", folder, started, ms,
		 nr ? "_" : "", nr);
}

void delivery_write(const char *folder, const struct profile *profile, struct delivery *delivery)
{
	char path[PATH_MAX];
	struct error err = { 0 };
	struct output *out;
	struct stat written;
	unsigned int i;
	int ret = -EEXIST;

	for (i = 0; i < 100; i++) {
		name_file(folder, profile->started ? profile->started : "", i, path);
		if (access(path, F_OK))
			break;
	}
	ret = output_open_as(path, OUTPUT_CONFIDENTIAL, &out, &err);
	if (!ret) {
		ret = profile_write(profile, output_stream(out), &err);
		ret = output_finish(out, ret, &err);
	}
	*delivery = (struct delivery){ .ticks = profile->ticks.total };
	if (!ret && !stat(path, &written))
		delivery->bytes = (size_t)written.st_size;
	delivery->outcome = ret ? HTTP_RETRY : HTTP_DONE;
	snprintf(delivery->why, sizeof(delivery->why), "%.250s", err.text);
}

/* The backend may have accepted a part: then it is never sent again, and the rest is lost. */
static void judge_answer(enum sink_kind kind, const struct http_reply *reply,
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

int delivery_post(struct http *http, struct requests *requests, struct delivery *delivery)
{
	const struct http_content content = body_content(requests->kind);
	struct http_reply reply = { 0 };
	struct bytes body;
	int ret = requests_next(requests, &body);

	*delivery = (struct delivery){ .ticks = requests->ticks };
	if (!ret) {
		http_post(http, &content, &body, &reply);
		delivery->asked = true;
		delivery->code = code_number(reply.code, http_is_grpc(http), reply.grpc);
		delivery->outcome = reply.outcome;
		delivery->retry_after_s = reply.retry_after_s;
		delivery->bytes = body.size;
		snprintf(delivery->why, sizeof(delivery->why), "%s", reply.why);
		judge_answer(requests->kind, &reply, delivery);
	}
	bytes_free(&reply.body);
	bytes_free(&body);
	return ret;
}
