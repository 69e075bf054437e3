/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_H
#define BPFPROFIL_CALL_H

#include "reader/reader.h"
#include "reader/wire.h"

/* One question to a reader. */
enum reader_kind {
	READ_FACTS,
	READ_SYMBOLS,
	READ_NAMED,
	READ_LINES,
	READ_RULES,
	READ_MAKER,
	READ_CODE,
	READ_INSTRUCTIONS,
	READ_KINDS,
};

enum { READER_FDS = 2 };

struct reader_call {
	enum reader_kind kind;
	struct wire question;
	struct wire answer;
	int fds[READER_FDS]; /* -1: none */
	const char *path; /* for debug files, see reader_file */
	const char *root;
	struct file_reader *reader; /* who answered; NULL: nobody, or this thread */
	bool is_nonsense; /* what it answered */
	bool trusted; /* a file of root or of our user may name others that the reader opens */
};

/*
 * Has a reader answer, and frees the question. Returns 0 with an answer, or the error that the reader answered,
 * or one of its own. Call reader_call_end() in any case, when the answer has been checked.
 */
int reader_call(struct reader_call *call, struct error *err);
void reader_call_end(struct reader_call *call);

/* Answers here; this is what a reader runs. Returns 0 or an error. */
int reader_answer(struct reader_call *call, struct error *err);

/* What answers where readers are no processes: reader_answer(), unless a test has other answers. */
extern int (*reader_here)(struct reader_call *call, struct error *err);

/*
 * Only programs that tests link have this: it is called before a reader answers, and may do what a hostile file
 * could make a reader do.
 */
void __attribute__((weak)) reader_fault(const struct reader_call *call);

/* Names the fault, for a reader of such a program. */
#define READER_FAULT "BPFPROFIL_READER_FAULT"

/* Gives up all rights that reading does not need. trusted: but not that to open files. */
int reader_confine(bool trusted, struct error *err);

/* Bytes that this process may take for its data, less than what its cgroup has left. */
uint64_t reader_memory(void);

#endif
