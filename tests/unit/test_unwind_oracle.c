// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Tables of real files, row by row against libdw.
 */
#include "unwind/unwind_table.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_symbol_fixture.h"
#include "test_unwind_fixture.h"
#include "unwind/cfi.h"

enum { PADDING = 64 };

/* Of this host's processor: the numbers of the frame pointer and the stack pointer, and of vfork()'s rdi. */
#ifdef __aarch64__
enum { FP = 29, SP = 31, DI = -1 };
#define MACHINE "aarch64-linux-gnu"
#else
enum { FP = 6, SP = 7, DI = 5 };
#define MACHINE "x86_64-linux-gnu"
#endif

/* In large files this many rows are compared, at even distances. */
#define ROWS_COMPARED 40000

struct oracle {
	struct elf_image image;
	struct unwind_table table;
	Dwarf *debug; /* NULL: only .eh_frame is asked */
	Dwarf_CFI *cfi[2]; /* .eh_frame, .debug_frame */
	size_t compared;
	size_t described; /* of these, where there is a rule */
};

static bool is_breg(const Dwarf_Op *op, int number, int64_t *offset)
{
	if (op->atom == DW_OP_bregx && op->number == (Dwarf_Word)number)
		*offset = (int64_t)op->number2;
	else if (op->atom == DW_OP_breg0 + number)
		*offset = (int64_t)op->number;
	else
		return false;
	return true;
}

static bool is_plt(const Dwarf_Op *ops, size_t nr)
{
	return nr == 9 && ops[1].atom == DW_OP_breg16 && ops[2].atom == DW_OP_lit15 &&
	       ops[3].atom == DW_OP_and && ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
	       ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus;
}

static void cfa_text(Dwarf_Frame *frame, char *text, size_t size)
{
	int64_t offset;
	Dwarf_Op *ops;
	size_t nr;
	int number;

	cr_assert_eq(dwarf_frame_cfa(frame, &ops, &nr), 0, "%s", dwarf_errmsg(-1));
	snprintf(text, size, "register");
	for (number = FP; nr && number <= SP; number++) {
		const char *name = number == SP ? "sp" : "bp";

		if ((number != FP && number != SP) || !is_breg(&ops[0], number, &offset))
			continue;
		if (nr == 1)
			snprintf(text, size, "%s%+d", name, (int)offset);
		else if (number == SP && is_plt(ops, nr))
			snprintf(text, size, "plt%+d@%d", (int)offset, ops[4].atom - DW_OP_lit0);
		else if (nr == 2 && ops[1].atom == DW_OP_deref)
			snprintf(text, size, "[%s%+d]+0", name, (int)offset);
		else if (nr == 3 && ops[1].atom == DW_OP_deref && ops[2].atom == DW_OP_plus_uconst)
			snprintf(text, size, "[%s%+d]+%d", name, (int)offset, (int)ops[2].number);
	}
}

/* Stored at CFA + offset. */
static bool is_at_cfa(const Dwarf_Op *ops, size_t nr, int64_t *offset)
{
	*offset = nr == 2 ? (int64_t)ops[1].number : 0;
	return nr && nr <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	       (nr == 1 || ops[1].atom == DW_OP_plus_uconst);
}

static void fp_text(Dwarf_Frame *frame, char *text, size_t size)
{
	Dwarf_Op place[3], *ops;
	int64_t offset;
	size_t nr;

	cr_assert_eq(dwarf_frame_register(frame, FP, place, &ops, &nr), 0);
	if (!nr && !ops)
		*text = '\0';
	else if (is_at_cfa(ops, nr, &offset))
		snprintf(text, size, " fp[cfa%+d]", (int)offset);
	else if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa && is_breg(&ops[1], FP, &offset))
		snprintf(text, size, " fp[bp%+d]", (int)offset);
	else
		snprintf(text, size, " fp?");
}

/* The return address: as the rules have it, or else false. */
static bool ra_text(Dwarf_Frame *frame, const Dwarf_Op *ops, size_t nr, char *text, size_t size)
{
	int64_t offset, fp_offset;
	Dwarf_Op place[3], *fp;
	size_t nr_fp;

	*text = '\0';
	if (nr == 1 && ops[0].atom != DW_OP_call_frame_cfa) {
		snprintf(text, size, " ra in di");
		return ops[0].atom == DW_OP_reg0 + DI ||
		       (ops[0].atom == DW_OP_regx && ops[0].number == (Dwarf_Word)DI);
	}
#ifdef __aarch64__
	if (!nr)
		return true;
	if (!is_at_cfa(ops, nr, &offset))
		return false;
	snprintf(text, size, " ra[cfa%+d]", (int)offset);
	cr_assert_eq(dwarf_frame_register(frame, FP, place, &fp, &nr_fp), 0);
	return !is_at_cfa(fp, nr_fp, &fp_offset) || fp_offset + 8 == offset;
#else
	(void)fp_offset, (void)place, (void)fp, (void)nr_fp, (void)frame;
	return is_at_cfa(ops, nr, &offset) && offset == -8;
#endif
}

static enum cfi_kind kind_at(const struct oracle *oracle, uint64_t offset)
{
	size_t size;
	const char *bytes = elf_rawfile(oracle->image.elf, &size);

	cr_assert_lt(offset, size);
	return cfi_machine->kind_of_code((const unsigned char *)bytes + offset, size - offset,
					 false);
}

/* Others mark their own functions as those of the kernel's signals, and only code tells them apart. */
static bool is_sigreturn(const struct oracle *oracle, Dwarf_Frame *frame)
{
	Dwarf_Addr start;
	uint64_t offset;
	bool is_signal;

	dwarf_frame_info(frame, &start, NULL, &is_signal);
	return is_signal && elf_image_offset(&oracle->image, start, &offset) &&
	       kind_at(oracle, offset) == CFI_SIGNAL;
}

/* What libdw says, as unwind_rule_text() writes it. */
static void frame_text(const struct oracle *oracle, Dwarf_Frame *frame, char *text, size_t size)
{
	Dwarf_Op place[3], *ops;
	char ra[32];
	size_t nr;
	int number = dwarf_frame_info(frame, NULL, NULL, NULL);

	cr_assert_eq(dwarf_frame_register(frame, number, place, &ops, &nr), 0);
	if (is_sigreturn(oracle, frame))
		snprintf(text, size, "signal");
	else if (!nr && ops)
		snprintf(text, size, "end");
	else if (!ra_text(frame, ops, nr, ra, sizeof(ra)))
		snprintf(text, size, "register");
	else
		cfa_text(frame, text, size);
	if (!strchr("spb[", *text) || !strcmp(text, "signal"))
		return;
	fp_text(frame, text + strlen(text), size - strlen(text));
	snprintf(text + strlen(text), size - strlen(text), "%s", ra);
}

static bool oracle_asks(struct oracle *oracle, uint64_t offset, char *text, size_t size)
{
	Dwarf_Frame *frame;
	uint64_t address;
	size_t i;

	if (!elf_image_address(&oracle->image, offset, &address))
		return false;
	for (i = 0; i < 2; i++) {
		if (!oracle->cfi[i] || dwarf_cfi_addrframe(oracle->cfi[i], address, &frame))
			continue;
		frame_text(oracle, frame, text, size);
		free(frame);
		return true;
	}
	return false;
}

/* Whether the place is behind a function, in what is taken for padding. */
static bool is_padding(struct oracle *oracle, uint64_t offset)
{
	char text[64];
	uint64_t back;

	for (back = 1; back <= PADDING && back <= offset; back++)
		if (oracle_asks(oracle, offset - back, text, sizeof(text)))
			return true;
	return false;
}

/* Whether the function around the place has no caller by its code, of which libdw knows nothing. */
static bool is_first(struct oracle *oracle, uint64_t offset)
{
	size_t back;

	for (back = 0; back <= PADDING && back <= offset; back++)
		if (kind_at(oracle, offset - back) == CFI_FIRST)
			return true;
	return false;
}

static void compare(struct oracle *oracle, const char *path, uint64_t offset)
{
	char want[64] = "none", got[64];

	unwind_rule_text(unwind_find(&oracle->table, offset), got, sizeof(got));
	oracle->compared++;
	if (oracle_asks(oracle, offset, want, sizeof(want)))
		oracle->described++;
	else if (strcmp(got, "none") != 0 && is_padding(oracle, offset))
		return;
	if (!strcmp(got, "end") && is_first(oracle, offset))
		return;
	cr_assert_str_eq(got, want, "%s, offset %#llx: %s, not %s", path,
			 (unsigned long long)offset, got, want);
}

/* At each row: its start, the byte before it, and its middle. */
static void compare_rows(struct oracle *oracle, const char *path)
{
	const struct unwind_table *table = &oracle->table;
	size_t step = table->row_count / ROWS_COMPARED + 1, granule, row;
	uint64_t offset, before = 0;

	for (granule = 0; granule < table->granule_count; granule++)
		for (row = table->index[granule]; row < table->index[granule + 1]; row++) {
			offset = unwind_row_offset(table, granule, row);
			if (row && row % step == 0) {
				compare(oracle, path, before);
				compare(oracle, path, before + (offset - before) / 2);
				compare(oracle, path, offset - 1);
				compare(oracle, path, offset);
			}
			before = offset;
		}
	cr_assert_eq(unwind_find(table, before)->cfa, UNWIND_NONE);
}

static void run_oracle(struct oracle *oracle, const char *path)
{
	struct error err = { 0 };

	cr_assert_eq(unwind_table_read(&oracle->image, UINT64_MAX, &go, &oracle->table, &err), 0,
		     "%s: %s", path, err.text);
	unwind_check(&oracle->table);
	cr_expect_eq(oracle->table.malformed, 0, "%s", path);
	cr_expect_not(oracle->table.cut, "%s", path);
	oracle->cfi[0] = dwarf_getcfi_elf(oracle->image.elf);
	oracle->cfi[1] = oracle->debug ? dwarf_getcfi(oracle->debug) : NULL;
	if (oracle->table.row_count)
		compare_rows(oracle, path);
	cr_log_info("%s: %zu rows, %zu places compared, %zu described", path,
		    oracle->table.row_count, oracle->compared, oracle->described);
	dwarf_cfi_end(oracle->cfi[0]);
	dwarf_end(oracle->debug);
	elf_image_close(&oracle->image);
}

/* How many places of the file have a rule and were compared. */
static size_t compare_file(const char *path, bool has_debug)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), other = has_debug ? dup(fd) : -1;
	struct oracle oracle = { 0 };
	struct error err = { 0 };

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(elf_image_open(fd, &oracle.image, &err), 0, "%s: %s", path, err.text);
	oracle.debug = has_debug ? dwarf_begin(other, DWARF_C_READ) : NULL;
	run_oracle(&oracle, path);
	unwind_table_free(&oracle.table);
	close(fd);
	if (has_debug)
		close(other);
	return oracle.described;
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *nr)
{
	(void)size;
	if (!*info->dlpi_name)
		*(size_t *)nr += compare_file("/proc/self/exe", false) > 0;
	else if (*info->dlpi_name == '/')
		*(size_t *)nr += compare_file(info->dlpi_name, false) > 0;
	return 0;
}

/* The test itself, libc, ld.so, and all that these load. */
Test(unwind_oracle, own_files, .timeout = 120)
{
	size_t nr = 0;

	dl_iterate_phdr(compare_loaded, &nr);
	cr_assert_geq(nr, 3);
}

/* Libraries of another processor are installed beside this one's for a cross build. */
static bool is_native(const char *path)
{
	FILE *file = fopen(path, "re");
	Elf64_Ehdr header = { 0 };
	size_t nr = file ? fread(&header, sizeof(header), 1, file) : 0;

	if (file)
		fclose(file);
	return nr == 1 && header.e_machine == cfi_machine->elf;
}

/* Whatever there is: C++ with exceptions, a compiler with its own flags, code of another compiler. */
Test(unwind_oracle, large_files, .timeout = 120)
{
	static const char *const patterns[] = {
		"/usr/lib/" MACHINE "/libstdc++.so.6",
		"/usr/lib/" MACHINE "/libLLVM-*.so.1",
		"/usr/lib/" MACHINE "/libcrypto.so.3",
		"/usr/lib/gcc/" MACHINE "/*/cc1",
		"/usr/bin/node",
	};
	glob_t found = { 0 };
	size_t i, nr = 0;

	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	for (i = 0; i < found.gl_pathc; i++)
		if (is_native(found.gl_pathv[i])) {
			compare_file(found.gl_pathv[i], false);
			nr++;
		}
	globfree(&found);
	if (!nr)
		cr_skip_test("none of these files is installed");
}

Test(unwind_oracle, vdso)
{
	struct oracle oracle = { 0 };
	struct error err = { 0 };
	size_t size;
	const void *image = vdso_image(&size);
	GElf_Shdr header;

	cr_assert(image);
	cr_assert_eq(elf_image_open_memory(image, size, &oracle.image, &err), 0, "%s", err.text);
#ifdef __aarch64__
	if (!elf_image_section(&oracle.image, ".eh_frame", &header)) {
		/* libdw knows nothing of it. The functions that read the clock are leaves. */
		cr_assert_eq(unwind_table_read(&oracle.image, UINT64_MAX, &go, &oracle.table, &err),
			     0, "%s", err.text);
		unwind_check(&oracle.table);
		cr_expect_geq(oracle.table.functions, 2);
		unwind_table_free(&oracle.table);
		elf_image_close(&oracle.image);
		return;
	}
#endif
	cr_assert(elf_image_section(&oracle.image, ".eh_frame", &header));
	run_oracle(&oracle, "vdso");
	unwind_table_free(&oracle.table);
	cr_assert_gt(oracle.described, 0);
}

static const char program[] =
	"#include <alloca.h>\n"
	"int leaf(int x) { return x * 3; }\n"
	"int sum(int n, int *v) { int s = 0; while (n--) s += v[n]; return s; }\n"
	"int frame(int n) { int *v = alloca(n * 4); v[n / 2] = n;\n"
	"	return sum(n, v); }\n"
	"int main(int argc, char **argv)\n"
	"{ (void)argv; return frame(argc) + leaf(argc); }\n";

/* Go's programs have nothing but .debug_frame, mostly compressed. */
Test(unwind_oracle, debug_frame, .init = fixture_begin, .fini = fixture_end)
{
	static const char build[] = "gcc -g -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables "
				    "%s -o %s program.c";

	fixture_write("program.c", program);
	fixture_shell(build, "", "plain");
	fixture_shell(build, "-gz=zlib", "packed");
	fixture_shell("readelf -SW packed | grep -q ' .debug_frame .* C '");
	cr_assert_gt(compare_file(fixture_path("plain"), true), 20);
	cr_assert_gt(compare_file(fixture_path("packed"), true), 20);
}

static const struct unwind_rule *entry_rule(const char *path, struct unwind_table *table)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image image;
	struct error err = { 0 };
	GElf_Ehdr header;
	uint64_t offset;

	cr_assert_eq(elf_image_open(fd, &image, &err), 0, "%s", err.text);
	cr_assert_eq(unwind_table_read(&image, UINT64_MAX, &go, table, &err), 0, "%s", err.text);
	cr_assert(gelf_getehdr(image.elf, &header));
	cr_assert(elf_image_offset(&image, header.e_entry, &offset));
	elf_image_close(&image);
	close(fd);
	/* Behind its first instruction, which on arm64 it describes as of any function. */
	return unwind_find(table, offset + 4);
}

/* A stack that ends there is complete. */
Test(unwind_oracle, start_is_the_end)
{
	struct unwind_table table;

	cr_assert_eq(entry_rule("/proc/self/exe", &table)->cfa, UNWIND_END);
	unwind_table_free(&table);
}
