/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_H
#define BPFPROFIL_CALL_H

#include "base/helper_process.h"
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

struct reader_call {
	enum reader_kind kind;
	struct wire question;
	struct wire answer;
	int fds[HELPER_FDS]; /* -1: none */
	const char *path; /* for debug files, see reader_file */
	const char *root;
	struct file_reader *reader; /* that answered; NULL: none, or this thread */
	bool is_nonsense; /* the answer is invalid */
	bool trusted; /* a file of root or our user: the reader may open files that it names */
};

/*
 * Each kind of question has two functions. One in reader.h asks it and checks the answer. One here
 * answers it, in the reader: it reads call->question and call->fds, and fills call->answer. The
 * question comes from this program and is trusted; the answer is not.
 */
int answer_facts(struct reader_call *call, struct error *err);
int answer_symbols(struct reader_call *call, struct error *err);
int answer_named(struct reader_call *call, struct error *err);
int answer_lines(struct reader_call *call, struct error *err);
int answer_rules(struct reader_call *call, struct error *err);
int answer_maker(struct reader_call *call, struct error *err);
int answer_code(struct reader_call *call, struct error *err);
int answer_instructions(struct reader_call *call, struct error *err);

/* Sets err to an invalid answer, and marks the call, so that the reader is ended. Returns -EIO. */
int reader_bad_answer(struct reader_call *call, struct error *err);

/*
 * Lets a reader answer, and frees the question. Returns 0 with an answer, the reader's error, or
 * its own. Call reader_call_end() in any case, after checking the answer.
 */
int reader_call(struct reader_call *call, struct error *err);
void reader_call_end(struct reader_call *call);

/* Answers in this process; readers run this. Returns 0 or an error. */
int reader_answer(struct reader_call *call, struct error *err);

/* Answers in programs without reader processes: reader_answer(), or a test's replacement. */
extern int (*reader_here)(struct reader_call *call, struct error *err);

/*
 * Only programs of tests define this. It is called before a reader answers, and does whatever a
 * hostile file could make a reader do.
 */
void __attribute__((weak)) reader_fault(const struct reader_call *call);

/* The variable that names the fault. */
#define READER_FAULT "BPFPROFIL_READER_FAULT"

/*
 * Denies system calls that reading does not need, for good. trusted: files may still be opened.
 */
int reader_confine(bool trusted, struct error *err);

/* Bytes that this process may use for its data: less than its cgroup has left. */
uint64_t reader_memory(void);

#endif
