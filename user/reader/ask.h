/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ASK_H
#define BPFPROFIL_ASK_H

#include "reader/call.h"

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

#endif
