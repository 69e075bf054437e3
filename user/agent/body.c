// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes request bodies. For OTLP the body is a file of `export`. For Pyroscope and Parca it is JSON
 * with a series for each service, and each series carries a pprof profile in base64.
 */
#include "agent/body.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "export/resource.h"
#include "export/samples.h"

/* Parca does not accept compressed requests. The pprof profile within is compressed anyway. */
struct http_content body_content(enum sink_kind kind)
{
	return (struct http_content){
		.type = kind == SINK_OTLP ? "application/x-protobuf" : "application/json",
		.gzip = kind != SINK_PARCA,
	};
}

const char *body_path(enum sink_kind kind, bool grpc)
{
	static const char *const paths[NR_SINKS] = {
		[SINK_OTLP] = "/v1development/profiles",
		[SINK_PYROSCOPE] = "/push.v1.PusherService/Push",
		[SINK_PARCA] = "/api/profiles/writeraw",
	};

	if (grpc && kind == SINK_OTLP)
		return "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
	return paths[kind];
}

static void put_base64(FILE *stream, const struct bytes *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *data = (const unsigned char *)bytes->data;
	uint32_t group;
	size_t i, j, left;

	for (i = 0; i < bytes->size; i += 3) {
		left = bytes->size - i;
		group = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
			(left > 2 ? data[i + 2] : 0);
		for (j = 0; j < 4; j++)
			fputc(j > left ? '=' : digits[group >> (18 - 6 * j) & 63], stream);
	}
}

int body_pprof(const struct samples *samples, const struct sample_service *service,
	       struct bytes *result)
{
	FILE *stream = bytes_begin(result);
	const int ret = stream ? samples_write_pprof(samples, service, stream) : -ENOMEM;

	return bytes_end(result, stream, ret, true);
}

/* A label's name may only have letters, digits and underscores. */
static char letter_of_name(char c)
{
	return isascii(c) && isalnum(c) ? c : '_';
}

static bool is_same_name(const char *a, const char *b)
{
	while (*a && *b && letter_of_name(*a) == letter_of_name(*b))
		a++, b++;
	return !*a && !*b;
}

static void put_label(FILE *stream, const char *key, const char *value, bool first)
{
	const char *at;

	fprintf(stream, "%s{\"name\":\"", first ? "" : ",");
	for (at = key; *at; at++)
		fputc(letter_of_name(*at), stream);
	fputs("\",\"value\":", stream);
	json_text_string(stream, value);
	fputc('}', stream);
}

/* A name may come only once, or the backend refuses the profile: see --label. */
static void put_labels(FILE *stream, const struct resource *resource)
{
	static const char metric[] = "__name__";
	size_t i, j;

	put_label(stream, metric, "process_cpu", true);
	for (i = 0; i < resource->nr; i++) {
		const char *key = resource->all[i].key;

		for (j = 0; j < i && !is_same_name(resource->all[j].key, key);)
			j++;
		if (j == i && !is_same_name(metric, key))
			put_label(stream, key, resource->texts.all[resource->all[i].value], false);
	}
}

static int put_series(FILE *stream, enum sink_kind kind, const struct samples *samples,
		      const struct sample_service *service)
{
	struct resource resource;
	struct bytes pprof = { 0 };
	int ret = resource_of(&resource, samples, service);

	if (!ret)
		ret = body_pprof(samples, service, &pprof);
	if (!ret) {
		fputs(kind == SINK_PARCA ? "{\"labels\":{\"labels\":[" : "{\"labels\":[", stream);
		put_labels(stream, &resource);
		fputs(kind == SINK_PARCA ? "]},\"samples\":[{\"raw_profile\":\"" :
					   "],\"samples\":[{\"rawProfile\":\"",
		      stream);
		put_base64(stream, &pprof);
		fputs("\"}]}", stream);
	}
	bytes_free(&pprof);
	resource_free(&resource);
	return ret;
}

static int put_push(FILE *stream, enum sink_kind kind, const struct samples *samples)
{
	const char *separator = "";
	size_t i;
	int ret = 0;

	fputs("{\"series\":[", stream);
	for (i = 1; !ret && i < samples->nr_services; i++) {
		if (!samples->services[i].nr)
			continue;
		fputs(separator, stream);
		separator = ",";
		ret = put_series(stream, kind, samples, &samples->services[i]);
	}
	fputs("]}", stream);
	return ret;
}

int body_make(enum sink_kind kind, struct samples *samples, struct bytes *result)
{
	FILE *stream = bytes_begin(result);
	int ret = -ENOMEM;

	if (stream && kind == SINK_OTLP)
		ret = samples_write_otlp(samples, stream);
	else if (stream)
		ret = put_push(stream, kind, samples);
	return bytes_end(result, stream, ret, body_content(kind).gzip);
}
