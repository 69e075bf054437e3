// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/http.h"

/* curl's macros check the types of calls, and do not accept our function pointers. */
#define CURL_DISABLE_TYPECHECK
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/library.h"
#include "base/regular_file.h"
#include "base/util.h"

/* The largest window, plus 16 for gzip's header. */
#define WINDOW (MAX_WBITS + 16)

/*
 * Level 4 needs half the CPU time of zlib's default, 6, and makes a request 1 % larger, a pending
 * profile 5 %.
 */
#define LEVEL 4

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

static int gzip_bytes(struct bytes *bytes)
{
	z_stream gz = { .next_in = (unsigned char *)bytes->data,
			.avail_in = (unsigned int)bytes->size };
	struct bytes packed;
	size_t room;
	int ret;

	if (bytes->size > UINT_MAX / 2 ||
	    deflateInit2(&gz, LEVEL, Z_DEFLATED, WINDOW, 8, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	room = deflateBound(&gz, bytes->size);
	packed.data = malloc(room);
	gz.next_out = (unsigned char *)packed.data;
	gz.avail_out = (unsigned int)room;
	ret = packed.data ? deflate(&gz, Z_FINISH) : Z_MEM_ERROR;
	packed.size = gz.total_out;
	deflateEnd(&gz);
	free(bytes->data);
	*bytes = packed;
	return ret == Z_STREAM_END ? 0 : -ENOMEM;
}

FILE *bytes_begin(struct bytes *bytes)
{
	*bytes = (struct bytes){ 0 };
	return open_memstream(&bytes->data, &bytes->size);
}

int bytes_end(struct bytes *bytes, FILE *stream, int result, bool gzip)
{
	if (!stream || fclose(stream))
		result = -ENOMEM;
	if (!result && gzip)
		result = gzip_bytes(bytes);
	if (result)
		bytes_free(bytes);
	return result;
}

void *option_texts_keep(struct option_texts **texts, void *block)
{
	struct option_texts *of = *texts;

	if (!of && (of = calloc(1, sizeof(*of))))
		of->users = 1;
	*texts = of;
	if (!block || !of || GROW(of->list, of->room, of->nr + 1)) {
		free(block);
		return NULL;
	}
	return of->list[of->nr++] = block;
}

void option_texts_release(struct option_texts *texts)
{
	if (!texts || --texts->users)
		return;
	free_all(texts->list, texts->nr);
	free(texts);
}

static bool has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

/*
 * Texts by which backends refuse a request as too large. gRPC has no status for that: most
 * libraries send a status that means "later" and would refuse the request for ever. Only the text
 * shows the difference. Over HTTP the Collector answers 400 with such a text.
 */
static const char *const size_words[] = { "larger than", /* Go, C++, Python, JavaScript */
					  "exceeds maximum size", /* Java */
					  "too large", /* Rust; HTTP in Go */
					  NULL };

static const char *const pyroscope_words[] = {
	"exceeds limit of", "exceeds the samples count limit", "exceeds the size limit",
	"uncompressed profile payload size exceeds limit", NULL
};

/*
 * A gateway or connect translates gRPC's status 8 to 429. Other texts about size do not count
 * there: a backend that is short of memory, or limits bytes per second, sends them too.
 */
static const char *const message_words[] = { "message larger than", "is larger than configured max",
					     "message exceeds maximum size",
					     "message length too large", NULL };

/* Whether an HTTP status and body refuse a request for its size. */
static bool refusal_for_size(long code, const char *body)
{
	if (code == 400)
		return has_any(body, size_words) || has_any(body, pyroscope_words);
	return code == 413 || (code == 429 && has_any(body, message_words));
}

#define CONNECT_MS 5000L
#define REPLY_MAX (64 << 10) /* bytes: replies are short */
#define HEADERS_MAX 64
#define NO_STATUS_MAX 5 /* in a row */
#define GRPC_FRAME 5 /* bytes before a message: a flag for compression, and its length */

#define CURL_CALLS(X)                                                                              \
	X(curl_url)                                                                                \
	X(curl_url_set)                                                                            \
	X(curl_url_get)                                                                            \
	X(curl_url_cleanup)                                                                        \
	X(curl_free)                                                                               \
	X(curl_share_init)                                                                         \
	X(curl_share_setopt)                                                                       \
	X(curl_share_cleanup)                                                                      \
	X(curl_easy_init)                                                                          \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_perform)                                                                       \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)

LIBRARY(CURL_CALLS, "libcurl.so.4", "libcurl4")

struct http {
	struct http_options options;
	/*
	 * Connections and TLS sessions are shared by all requests. Each request has its own handle,
	 * because curl 7.88 follows a pointer into the freed headers of a handle's previous reply.
	 */
	CURLSH *share;
	char *url; /* as passed to curl */
	char *name;
	char *key;
	bool grpc;
	atomic_bool stopped;
	struct stat headers_read; /* the header file at the last request; all 0: it did not exist */
	struct stat token_read;
	char trouble[CURL_ERROR_SIZE];
	struct http_reply *reply; /* of the current request */
	unsigned int nr_no_status; /* replies in a row that had no gRPC status */
};

static bool scheme_is(const char *url, const char *scheme)
{
	size_t length = strlen(scheme);

	return !strncasecmp(url, scheme, length) && !strncmp(url + length, "://", 3);
}

static const char *const schemes[][2] = { { "grpc", "http" },
					  { "grpcs", "https" },
					  { "http", "http" },
					  { "https", "https" } };

static int find_scheme(const char *url, size_t *ret_index, struct error *err)
{
	size_t i;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (!scheme_is(url, schemes[i][0]))
			continue;
		*ret_index = i;
		return 0;
	}
	/* The message shows only the scheme, because the path may be one that we added. */
	return error_set(err, -EINVAL, "URL '%.*s...': neither http, https, grpc nor grpcs",
			 (int)(strcspn(url, ":/") + 3 < 200 ? strcspn(url, ":/") : 200), url);
}

int http_check(const char *url, bool *ret_grpc, struct error *err)
{
	size_t i = 0;
	int ret = find_scheme(url, &i, err);

	*ret_grpc = !ret && i < 2;
	return ret;
}

static int parse_url(struct http *http, const char *url, struct error *err)
{
	size_t i = 0;
	int ret = find_scheme(url, &i, err);

	if (ret)
		return ret;
	http->grpc = i < 2;
	http->url = format_text("%s%s", schemes[i][1], strstr(url, "://"));
	return http->url ? 0 : error_errno(err, -ENOMEM, "URL");
}

static int copy_url(CURLU *parts, char **result)
{
	char *text = NULL;
	int ret = -EINVAL;

	if (!lib.curl_url_get(parts, CURLUPART_URL, &text, 0)) {
		*result = strdup(text);
		ret = *result ? 0 : -ENOMEM;
	}
	lib.curl_free(text);
	return ret;
}

/*
 * Show the URL as given: gRPC is sent as HTTP, but "http://" would make users look for another
 * receiver.
 */
static int name_grpc(struct http *http)
{
	cleanup_free char *name = http->name;

	http->name = format_text("grpc%s", name + strlen("http"));
	return http->name ? 0 : -ENOMEM;
}

static int name_url(struct http *http, struct error *err)
{
	CURLU *parts = lib.curl_url();
	int ret = -EINVAL;

	if (parts && !lib.curl_url_set(parts, CURLUPART_URL, http->url, 0) &&
	    !lib.curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0))
		ret = copy_url(parts, &http->key);
	if (!ret && !lib.curl_url_set(parts, CURLUPART_USER, NULL, 0) &&
	    !lib.curl_url_set(parts, CURLUPART_QUERY, NULL, 0))
		ret = copy_url(parts, &http->name);
	if (!ret && http->grpc)
		ret = name_grpc(http);
	lib.curl_url_cleanup(parts);
	return ret ? error_set(err, ret, "URL: it names no host") : 0;
}

static size_t append_body(char *data, size_t size, size_t nr, void *context)
{
	struct http *http = context;
	struct bytes *body = &http->reply->body;
	size_t room = REPLY_MAX - body->size, more = size * nr < room ? size * nr : room;

	if (!body->data)
		body->data = malloc(REPLY_MAX + 1);
	if (!body->data)
		return 0;
	memcpy(body->data + body->size, data, more);
	body->size += more;
	body->data[body->size] = '\0';
	/* A return below what was offered ends the transfer. */
	return more;
}

static bool header_is(const char *line, size_t length, const char *name, const char **ret_value)
{
	size_t of = strlen(name);

	if (length <= of || strncasecmp(line, name, of) != 0 || line[of] != ':')
		return false;
	*ret_value = line + of + 1;
	return true;
}

/* gRPC percent-encodes its message. */
static void decode_message(const char *value, char why[256])
{
	unsigned int byte;
	size_t used = 0;

	for (value += strspn(value, " "); *value && used < 200; value++) {
		if (*value == '%' && isxdigit((unsigned char)value[1]) &&
		    isxdigit((unsigned char)value[2]) && sscanf(value + 1, "%2x", &byte) == 1 &&
		    byte >= ' ' && byte < 0x7f) {
			why[used++] = (char)byte;
			value += 2;
		} else {
			why[used++] = *value;
		}
	}
	why[used] = '\0';
}

/* A malformed status counts as 2, unknown. */
static long status_of(const char *text)
{
	char *end;
	long status = strtol(text, &end, 10);

	return end == text || end[strspn(end, " \t")] || status < 0 ? 2 : status;
}

static size_t read_header(char *data, size_t size, size_t nr, void *context)
{
	struct http *http = context;
	char line[256];
	const char *value;

	snprintf(line, sizeof(line), "%.*s", (int)(size * nr < 255 ? size * nr : 255), data);
	line[strcspn(line, "\r\n")] = '\0';
	if (header_is(line, strlen(line), "grpc-status", &value))
		http->reply->grpc = status_of(value);
	else if (header_is(line, strlen(line), "grpc-message", &value))
		decode_message(value, http->reply->why);
	return size * nr;
}

static int look(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct http *http = context;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(&http->stopped);
}

static void set_options(struct http *http, CURL *curl)
{
	const struct http_options *options = &http->options;

	lib.curl_easy_setopt(curl, CURLOPT_SHARE, http->share);
	lib.curl_easy_setopt(curl, CURLOPT_URL, http->url);
	lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	lib.curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)options->timeout_ms);
	lib.curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->trouble);
	lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_body);
	lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
	lib.curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, read_header);
	lib.curl_easy_setopt(curl, CURLOPT_HEADERDATA, http);
	lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
	lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
	lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	lib.curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (options->ca)
		lib.curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca);
	if (options->certificate)
		lib.curl_easy_setopt(curl, CURLOPT_SSLCERT, options->certificate);
	if (options->key)
		lib.curl_easy_setopt(curl, CURLOPT_SSLKEY, options->key);
	if (!http->grpc)
		return;
	/* curl 7.88 breaks the framing of a second request on the same connection. */
	lib.curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	lib.curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
			     (long)(scheme_is(http->url, "https") ?
					    CURL_HTTP_VERSION_2TLS :
					    CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
}

/* The library would block on a fifo until there is a writer. */
static int check_files(const struct http_options *options, struct error *err)
{
	const char *paths[] = { options->ca, options->certificate, options->key };
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *why = NULL;
		cleanup_file FILE *file = paths[i] ? regular_file_stream(paths[i], &why) : NULL;

		if (paths[i] && !file)
			return error_set(err, -EIO, "agent: %.200s: %s", paths[i], why);
	}
	return 0;
}

int http_open(const struct http_options *options, const char *url, struct http **result,
	      struct error *err)
{
	struct http *http = calloc(1, sizeof(*http));
	int ret;

	*result = http;
	if (!http)
		return error_errno(err, -ENOMEM, "URL");
	http->options = *options;
	ret = check_files(options, err);
	if (!ret)
		ret = load_library(err);
	if (!ret)
		ret = parse_url(http, url, err);
	if (!ret)
		ret = name_url(http, err);
	if (ret)
		return ret;
	http->share = lib.curl_share_init();
	if (!http->share)
		return error_errno(err, -ENOMEM, "URL");
	lib.curl_share_setopt(http->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
	lib.curl_share_setopt(http->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
	return 0;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	if (http->share)
		lib.curl_share_cleanup(http->share);
	free(http->url);
	free(http->name);
	free(http->key);
	free(http);
}

const char *http_name(const struct http *http)
{
	return http->name;
}

const char *http_key(const struct http *http)
{
	return http->key;
}

bool http_is_grpc(const struct http *http)
{
	return http->grpc;
}

void http_stop(struct http *http)
{
	atomic_store(&http->stopped, true);
}

/* -ENOMEM: the list is unchanged. */
static int add_header(struct curl_slist **list, const char *text)
{
	struct curl_slist *longer = lib.curl_slist_append(*list, text);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

/* Adds each line of a file as a header, after a prefix. On failure `why` has the reason. */
static int add_file(struct curl_slist **list, const char *path, const char *prefix, char why[256])
{
	const char *trouble = NULL;
	cleanup_file FILE *file = regular_file_stream(path, &trouble);
	char line[8192], header[8300];
	size_t nr = 0, added = 0;

	if (!file) {
		snprintf(why, 256, "%.180s: %s", path, trouble);
		return -ENOENT;
	}
	while (fgets(line, sizeof(line), file) && nr++ < HEADERS_MAX) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[strspn(line, " \t")] || *line == '#')
			continue;
		added++;
		snprintf(header, sizeof(header), "%s%s", prefix, line);
		if (add_header(list, header))
			return -ENOMEM;
	}
	explicit_bzero(line, sizeof(line));
	explicit_bzero(header, sizeof(header));
	/*
	 * The token is being written right now. Without it, the request would be refused for good.
	 */
	if (!added && *prefix) {
		snprintf(why, 256, "%.180s: there is no token in it", path);
		return -ENOENT;
	}
	return 0;
}

static struct stat look_at(const char *path)
{
	struct stat now;

	return path && !stat(path, &now) ? now : (struct stat){ 0 };
}

bool http_credentials_changed(const struct http *http)
{
	struct stat headers = look_at(http->options.headers_file),
		    token = look_at(http->options.token_file);

	return !regular_file_is_same(&headers, &http->headers_read) ||
	       !regular_file_is_same(&token, &http->token_read);
}

static int make_headers(const struct http *http, const struct http_content *content,
			struct curl_slist **list, char why[256])
{
	const struct http_options *options = &http->options;
	char type[128];
	size_t i;
	int ret;

	snprintf(type, sizeof(type), "Content-Type: %s",
		 http->grpc ? "application/grpc" : content->type);
	ret = add_header(list, type);
	if (!ret && http->grpc)
		ret = add_header(list, "te: trailers") | add_header(list, "grpc-encoding: gzip") |
		      add_header(list, "grpc-accept-encoding: identity");
	else if (!ret && content->gzip)
		ret = add_header(list, "Content-Encoding: gzip");
	/* Otherwise curl waits up to a second for permission to send. */
	if (!ret)
		ret = add_header(list, "Expect:");
	for (i = 0; !ret && options->headers && options->headers[i]; i++)
		ret = add_header(list, options->headers[i]);
	if (!ret && options->headers_file)
		ret = add_file(list, options->headers_file, "", why);
	if (!ret && options->token_file)
		ret = add_file(list, options->token_file, "Authorization: Bearer ", why);
	return ret;
}

/* gRPC's documentation calls these statuses transient. */
static bool is_transient(long status)
{
	return status == 1 || status == 4 || status == 8 || status == 10 || status == 11 ||
	       status == 14 || status == 15;
}

/*
 * A reply without status was cut off, or did not come from a gRPC server. Retry it, because the
 * ticks would be lost, but not for ever, because the backend may have accepted them each time.
 */
static void classify_no_status(struct http *http, struct http_reply *reply)
{
	reply->outcome = ++http->nr_no_status < NO_STATUS_MAX ? HTTP_RETRY : HTTP_REFUSED;
	snprintf(reply->why, sizeof(reply->why), "a reply without gRPC status");
	if (reply->outcome == HTTP_REFUSED)
		http->nr_no_status = 0;
}

static void classify_grpc(struct http *http, struct http_reply *reply)
{
	bool large = (reply->grpc == 8 || reply->grpc == 11) && has_any(reply->why, size_words);
	char reason[160];

	if (reply->grpc == GRPC_NO_STATUS) {
		classify_no_status(http, reply);
		return;
	}
	http->nr_no_status = 0;
	if (reply->grpc == 0) {
		reply->outcome = HTTP_DONE;
		reply->why[0] = '\0';
		return;
	}
	snprintf(reason, sizeof(reason), "%.150s", reply->why);
	snprintf(reply->why, sizeof(reply->why), "gRPC status %ld%s%s", reply->grpc,
		 *reason ? ": " : "", reason);
	if (large)
		reply->outcome = HTTP_TOO_LARGE;
	else
		reply->outcome = is_transient(reply->grpc) ? HTTP_RETRY : HTTP_REFUSED;
}

/* The status, and the first line of the backend's explanation. */
static void say_status(struct http_reply *reply, const char *body)
{
	int used = snprintf(reply->why, sizeof(reply->why), "HTTP %ld%s%.180s", reply->code,
			    *body ? ": " : "", body);

	if (used > 0)
		reply->why[strcspn(reply->why, "\r\n")] = '\0';
}

static void classify(struct http *http, struct http_reply *reply)
{
	const char *body = reply->body.data ?: "";

	if (http->grpc && reply->code == 200) {
		classify_grpc(http, reply);
		return;
	}
	say_status(reply, body);
	if (reply->code >= 200 && reply->code < 300 && !http->grpc) {
		reply->outcome = HTTP_DONE;
		reply->why[0] = '\0';
	} else if (refusal_for_size(reply->code, body)) {
		reply->outcome = HTTP_TOO_LARGE;
	} else if (reply->code == 429 || (reply->code >= 502 && reply->code <= 504)) {
		reply->outcome = HTTP_RETRY;
	} else {
		reply->outcome = HTTP_REFUSED;
		if (reply->code >= 300 && reply->code < 400)
			snprintf(reply->why, sizeof(reply->why),
				 "HTTP %ld: redirects are not followed", reply->code);
	}
}

/* Retry even after an error in a certificate or an address: it may be corrected. */
static void fail(const struct http *http, CURLcode code, struct http_reply *reply)
{
	reply->outcome = HTTP_RETRY;
	reply->code = 0;
	snprintf(reply->why, sizeof(reply->why), "%.240s",
		 http->trouble[0] ? http->trouble : lib.curl_easy_strerror(code));
}

/*
 * The token has expired, or a Collector has no profiles pipeline yet. The request is fine, and the
 * other side can fix it. Therefore retry.
 */
static void hold_denied(struct http_reply *reply)
{
	bool denied = reply->code == 200 ?
			      reply->grpc == 7 || reply->grpc == 12 || reply->grpc == 16 :
			      reply->code == 401 || reply->code == 403 || reply->code == 404;

	if (reply->outcome != HTTP_REFUSED || !denied)
		return;
	reply->outcome = HTTP_RETRY;
	reply->denied = true;
}

static int frame(const struct bytes *body, struct bytes *result)
{
	uint32_t length = (uint32_t)body->size;
	unsigned char head[GRPC_FRAME] = { 1, (unsigned char)(length >> 24),
					   (unsigned char)(length >> 16),
					   (unsigned char)(length >> 8), (unsigned char)length };

	result->size = body->size + GRPC_FRAME;
	result->data = malloc(result->size);
	if (!result->data)
		return -ENOMEM;
	memcpy(result->data, head, GRPC_FRAME);
	memcpy(result->data + GRPC_FRAME, body->data, body->size);
	return 0;
}

/* Strips the frame. The message is never compressed, because we do not accept compression. */
static void unframe(struct bytes *body)
{
	if (body->size < GRPC_FRAME || body->data[0]) {
		body->size = 0;
		return;
	}
	body->size -= GRPC_FRAME;
	memmove(body->data, body->data + GRPC_FRAME, body->size);
}

static void perform(struct http *http, const struct bytes *body, struct curl_slist *headers,
		    struct http_reply *reply)
{
	CURL *curl = lib.curl_easy_init();
	CURLcode code = CURLE_OUT_OF_MEMORY;
	curl_off_t after = 0; /* negative: a date in the past */

	http->reply = reply;
	http->trouble[0] = '\0';
	if (curl) {
		set_options(http, curl);
		lib.curl_easy_setopt(curl, CURLOPT_POST, 1L);
		lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
		lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
		lib.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		code = lib.curl_easy_perform(curl);
		lib.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->code);
		lib.curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
		lib.curl_easy_cleanup(curl);
	}
	reply->retry_after_s = after > 0 ? (uint64_t)after : 0;
	/* The backend may close the connection after a complete reply. */
	if (code && (code != CURLE_WRITE_ERROR || !reply->code))
		fail(http, code, reply);
	else
		classify(http, reply);
	hold_denied(reply);
	if (http->grpc)
		unframe(&reply->body);
}

void http_post(struct http *http, const struct http_content *content, const struct bytes *body,
	       struct http_reply *reply)
{
	struct curl_slist *headers = NULL;
	struct bytes framed = { 0 };
	int ret;

	*reply = (struct http_reply){ .outcome = HTTP_RETRY,
				      .grpc = http->grpc ? GRPC_NO_STATUS : 0 };
	http->headers_read = look_at(http->options.headers_file);
	http->token_read = look_at(http->options.token_file);
	ret = make_headers(http, content, &headers, reply->why);
	if (!ret && http->grpc)
		ret = frame(body, &framed);
	if (!ret)
		perform(http, http->grpc ? &framed : body, headers, reply);
	else if (!reply->why[0])
		snprintf(reply->why, sizeof(reply->why), "%s", strerror(-ret));
	bytes_free(&framed);
	lib.curl_slist_free_all(headers);
}
