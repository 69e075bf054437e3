// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The reader's side: answers questions until the program that asks is gone. */
#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/helper_process.h"
#include "base/util.h"
#include "reader/call.h"
#include "reader/frame.h"
#include "symbol/debug_file.h"
#include "symbol/disasm.h"

/* Standard input is the socket. */
static const struct frame_line line = { .socket = STDIN_FILENO,
					.most = UINT64_MAX,
					.receives_fds = true };

/* A reader that has lost its program ends after this CPU time. */
enum { CPU_SECONDS = 600 };

/* Memory besides data: the stack of a deep recursion. */
enum { STACK_BYTES = 8 << 20 };

int reader_answer(struct reader_call *call, struct error *err)
{
	static int (*const answers[READ_KINDS])(struct reader_call *, struct error *) = {
		[READ_FACTS] = answer_facts, [READ_SYMBOLS] = answer_symbols,
		[READ_NAMED] = answer_named, [READ_LINES] = answer_lines,
		[READ_RULES] = answer_rules, [READ_MAKER] = answer_maker,
		[READ_CODE] = answer_code,   [READ_INSTRUCTIONS] = answer_instructions,
	};
	int ret = answers[call->kind](call, err);

	if (!ret && call->answer.bad)
		return error_no_memory(err, "an answer");
	return ret;
}

static int limit(int resource, uint64_t most)
{
	const struct rlimit limit = { most, most };

	return setrlimit(resource, &limit);
}

static int limit_all(struct error *err)
{
	if (limit(RLIMIT_DATA, reader_memory()) || limit(RLIMIT_FSIZE, 0) ||
	    limit(RLIMIT_CORE, 0) || limit(RLIMIT_CPU, CPU_SECONDS) ||
	    limit(RLIMIT_STACK, STACK_BYTES))
		return error_errno(err, -errno, "a process with limits (setrlimit)");
	return 0;
}

/* Only the program that asks may open files. */
static int ask_for_debug_file(enum debug_place place, const char *name, char *found)
{
	struct reader_frame frame = { .kind = FRAME_OPEN, .fds = { -1, -1 } };
	int fd;

	wire_put_u64(&frame.body, place);
	wire_put_text(&frame.body, name);
	if (frame_send(&line, &frame) || frame_receive(&line, &frame))
		_exit(EXIT_FAILURE);
	fd = frame.fds[0] < 0 ? (int)frame.code : frame.fds[0];
	if (fd >= 0 && found)
		snprintf(found, PATH_MAX, "%s", wire_get_text(&frame.body));
	wire_free(&frame.body);
	return fd;
}

static void put_error(struct reader_frame *frame, int code, const struct error *err)
{
	wire_free(&frame->body);
	frame->code = code;
	wire_put_text(&frame->body, err->text);
	wire_put_text(&frame->body, err->hint);
}

static void close_both(int fds[HELPER_FDS])
{
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

static bool serve_one(void)
{
	struct reader_frame frame = { .fds = { -1, -1 } },
			    answer = { .kind = FRAME_ANSWER, .fds = { -1, -1 } };
	struct reader_call call = { 0 };
	struct error err = { 0 };
	int ret = frame_receive(&line, &frame);

	if (ret || frame.kind != FRAME_QUESTION || (uint64_t)frame.code >= READ_KINDS)
		return false;
	call.kind = (enum reader_kind)frame.code;
	call.question = frame.body;
	call.root = wire_get_text(&call.question);
	memcpy(call.fds, frame.fds, sizeof(call.fds));
	if (reader_fault)
		reader_fault(&call);
	ret = reader_answer(&call, &err);
	answer.body = call.answer;
	if (ret)
		put_error(&answer, ret, &err);
	close_both(call.fds);
	wire_free(&call.question);
	ret = frame_send(&line, &answer);
	wire_free(&answer.body);
	return !ret;
}

static int prepare(const char *flags, struct error *err)
{
	struct error ignored;
	int ret;

	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	ret = limit_all(err);
	if (ret)
		return ret;
	/* Load it now: libraries cannot be loaded later. */
	if (strchr(flags, READER_CODE))
		disasm_load(&ignored);
	debug_file_ask = ask_for_debug_file;
	/* uid 0 without capabilities is still the owner of root's files. */
	ret = helper_prepare("bpfprofil-read", 0);
	if (ret)
		return error_errno(err, ret, "a process without capabilities");
	return reader_confine(strchr(flags, READER_TRUSTED) != NULL, err);
}

int reader_main(int argc, char **argv)
{
	struct reader_frame hello = { .kind = FRAME_ANSWER, .fds = { -1, -1 } };
	struct error err = { 0 };
	int ret = prepare(argc > 1 ? argv[1] : "", &err);

	if (ret)
		put_error(&hello, ret, &err);
	if (frame_send(&line, &hello) || ret)
		_exit(EXIT_FAILURE);
	wire_free(&hello.body);
	while (serve_one())
		;
	_exit(EXIT_SUCCESS);
}
