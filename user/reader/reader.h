/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_READER_H
#define BPFPROFIL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_image.h"
#include "profile/profile.h"
#include "symbol/code.h"
#include "symbol/disasm.h"
#include "symbol/symbol.h"
#include "unwind/unwind_table.h"

/*
 * Reads files that anybody may have made, in a process without privileges that may die: see
 * bpfprofil-security(7). Each call sends descriptors, waits for the answer, and checks it. Any
 * thread may call; there is a process for each thread that calls at the same time.
 *
 * Calls return the errors of the functions that the process runs. They also return -EIO if the
 * process died or sent an invalid answer, -ETIME if it took too long, and -EACCES if it could not
 * drop its privileges. A file that killed its reader is not read again unless it changes: calls
 * return -EIO at once.
 */

/*
 * Makes readers separate processes, which run `bpfprofil READER_COMMAND` and end with this process.
 * Before this call, as in unit tests, the calling thread reads.
 */
#define READER_COMMAND "__read"
void reader_enable(void);

/* Starts the first reader early, because that takes some 3 ms. Does not wait. */
void reader_prepare(void);

/* The main function of a reader. Returns the exit status. */
int reader_main(int argc, char **argv);

/* For doctor: whether a reader can be confined here; err is the reason if not. */
int reader_check(struct error *err);

/*
 * The CPU time of this thread, and of readers on its behalf. Each death of a reader adds a second.
 * Limits per file use this clock.
 */
uint64_t reader_cpu_ns(void);

/*
 * Limits the calls of this thread to this time of the monotonic clock: later ones return -ETIME, so
 * that a command that ends need not wait for names. 0, or NULL: no limit. Another thread may change
 * it.
 */
void reader_deadline(const _Atomic uint64_t *until_ns);

/* A file to read. Its debug files are searched by path and root. */
struct reader_file {
	int fd;
	const char *path;
	const char *root;
};

/* See elf_facts_read(). */
int reader_facts(int fd, struct elf_facts *result, struct error *err);

/* Names of an object's text. */
struct reader_symbols {
	const struct profile_object *object; /* a file, or code outside of files */
	struct reader_file file; /* the file, or its perf map */
	uint64_t limit; /* of a perf map: bytes to read; UINT64_MAX: all */
	int places; /* a second perf map, or -1 */
	const struct symbol_wanted *wanted; /* text that needs names */
	uint64_t round; /* tables are kept from one round to the next; 0: not kept */
};

/* The table has names for all wanted text. -ESTALE: the file is of another build. */
int reader_symbols(const struct reader_symbols *request, struct symbol_table **result,
		   struct error *err);

/* The place of the function that symbol_table_named() finds. -ENOENT: there is none. */
int reader_symbol_named(const struct reader_symbols *request, const char *name,
			struct symbol_range *result, struct error *err);

/* See source_lines_load(). */
int reader_lines(const struct reader_file *file, const uint64_t *offsets, size_t nr,
		 struct source_lines **result, struct error *err);

/*
 * See unwind_table_read() and pclntab_text(). go->size is 0 if the file has no text of Go's
 * compiler.
 */
int reader_rules(int fd, struct unwind_table *result, struct unwind_go *go, struct error *err);

/* The compiler of a file, as far as advice on call-frame information depends on it. */
enum reader_maker { MADE_BY_OTHERS, MADE_BY_GO, MADE_BY_RUST };
enum reader_maker reader_maker(int fd);

/* See code_read_file(). */
int reader_code(int fd, uint64_t offset, size_t size, struct code *result, struct error *err);

/*
 * Decodes the instructions of code, whose first byte has the address; the caller frees *result. The
 * end of the code may cut off the last instruction.
 */
int reader_instructions(const struct code *code, uint64_t address, enum disasm_syntax syntax,
			struct instruction **result, size_t *nr, struct error *err);

#endif
