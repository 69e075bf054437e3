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
 * Reads files that anybody may have made, in a process that has no rights and may die: see
 * bpfprofil-security(7). Each call sends descriptors, waits for the answer, and checks it. A call may come from
 * any thread; there are as many processes as threads that call at the same time.
 *
 * Besides the errors of the functions with which the process reads, a call returns -EIO if the process died or
 * answered nonsense, -ETIME if it took too long, and -EACCES if it could not give up its rights. A file that
 * killed its reader is not read again: -EIO at once.
 */

/*
 * Makes readers processes of their own, each of which runs this program as `bpfprofil READER_COMMAND`; they end
 * with this one. Until then, as in tests of single functions, the calling thread reads.
 */
#define READER_COMMAND "__read"
void reader_enable(void);

/* Starts the first of them, which takes some 3 ms, before it is needed. It does not wait. */
void reader_prepare(void);

/* Runs as such a process. Returns the exit status. */
int reader_main(int argc, char **argv);

/* Whether a reader can be confined here; err says why not. For doctor. */
int reader_check(struct error *err);

/*
 * The CPU time of this thread, and of readers for its calls: what died counts as a second more. Whatever limits
 * the time spent on a file measures it by this.
 */
uint64_t reader_cpu_ns(void);

/*
 * From now on no call of this thread waits longer than until then, by the monotonic clock: it returns -ETIME, so
 * that what waits for names can end. 0, or NULL: there is no such time. Another thread may change it.
 */
void reader_deadline(const _Atomic uint64_t *until_ns);

/* A file to read. path and root are where the debug files that it names are looked for. */
struct reader_file {
	int fd;
	const char *path;
	const char *root;
};

/* See elf_facts_read(). */
int reader_facts(int fd, struct elf_facts *result, struct error *err);

/* Names of an object's text. */
struct reader_symbols {
	const struct profile_object *object; /* a file, or code in none */
	struct reader_file file; /* or its perf map */
	uint64_t limit; /* how many bytes of a perf map to read; UINT64_MAX: all */
	int places; /* a second perf map, or -1 */
	const struct symbol_wanted *wanted; /* where names are asked for */
	uint64_t round; /* tables are kept from one to the next; 0: not */
};

/* The table has names for what is wanted. -ESTALE: the file is of another build. */
int reader_symbols(const struct reader_symbols *request, struct symbol_table **result,
		   struct error *err);

/* The place of the function that symbol_table_named() finds. -ENOENT: there is none. */
int reader_symbol_named(const struct reader_symbols *request, const char *name,
			struct symbol_range *result, struct error *err);

/* See source_lines_load(). */
int reader_lines(const struct reader_file *file, const uint64_t *offsets, size_t nr,
		 struct source_lines **result, struct error *err);

/* See unwind_table_read() and pclntab_text(). go->size is 0 if the file has no text of Go's compiler. */
int reader_rules(int fd, struct unwind_table *result, struct unwind_go *go, struct error *err);

/* What made a file, as far as this says how it would get call-frame information. */
enum reader_maker { MADE_BY_OTHERS, MADE_BY_GO, MADE_BY_RUST };
enum reader_maker reader_maker(int fd);

/* See code_read_file(). */
int reader_code(int fd, uint64_t offset, size_t size, struct code *result, struct error *err);

/*
 * The instructions of code from byte `at` on, in at most `most` bytes; the caller frees *result. address is that
 * of the code's first byte. The last of them may be cut off by `most`.
 */
int reader_instructions(const struct code *code, uint64_t address, enum disasm_syntax syntax,
			size_t at, size_t most, struct instruction **result, size_t *nr,
			struct error *err);

#endif
