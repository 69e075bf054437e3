// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Symbols and lines that are not in the file itself. */
#include "base/util.h"
#include "symbol/symbol.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "need.h"
#include "naming/nameless.h"
#include "symbol/debug_file.h"
#include "symbol/debug_server.h"
#include "test_symbol_fixture.h"

static const char program[] =
	"#include \"mark.h\"\n"
	"__attribute__((noinline)) static int hidden(int x) { MARK(1); return x * 3; }\n"
	"int main(int c, char **v) { return hidden(c) + !v; }\n";

static void setup(void)
{
	fixture_begin();
	fixture_write("program.c", program);
}

TestSuite(debug_file, .init = setup, .fini = fixture_end);

/* program is stripped; full.debug has what was removed. */
static void build(const char *build_id)
{
	fixture_shell("gcc -g -O1 -Wl,--build-id=%s -o full program.c && "
		      "objcopy --only-keep-debug full full.debug && "
		      "cp full program && strip program",
		      build_id);
}

static void add_link(void)
{
	fixture_shell("objcopy --add-gnu-debuglink=full.debug program");
}

static void check_at(const char *path, const char *root, const char *function)
{
	uint64_t offset = fixture_mark("program", 1);
	int fd = fixture_open("program");
	const struct symbol *symbol;
	const struct source_line *line;
	struct symbol_table *table;
	struct source_lines *lines;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_elf(fd, path, root, NULL, NULL, &table, &err), 0, "%s",
		     err.text);
	symbol = symbol_table_find(table, offset);
	cr_assert(symbol);
	if (function)
		cr_assert_str_eq(symbol->name, function);
	else
		cr_assert(strstr(symbol->name, "+0x"), "%s", symbol->name);
	symbol_table_free(table);

	cr_assert_eq(source_lines_load(fd, path, root, &offset, 1, &lines, &err), 0, "%s",
		     err.text);
	line = source_lines_at(lines, 0);
	cr_assert_eq(line->file != NULL, function != NULL);
	if (line->file) {
		cr_assert_str_eq(strrchr(line->file, '/'), "/program.c");
		cr_assert_eq(line->line, 2);
		cr_assert_str_eq(line->function, function);
	}
	source_lines_free(lines);
	close(fd);
}

static void check(const char *root, const char *function)
{
	cleanup_free char *path = strdup(fixture_path("program"));

	check_at(path, root, function);
}

Test(debug_file, stripped)
{
	build("none");
	check("", NULL);
}

Test(debug_file, link_beside)
{
	build("none");
	add_link();
	check("", "hidden");
}

Test(debug_file, link_in_debug_folder)
{
	build("none");
	add_link();
	fixture_shell("mkdir .debug && mv full.debug .debug");
	check("", "hidden");
}

/* As in a container: the path is the container's. */
Test(debug_file, link_below_root)
{
	char root[4096];

	build("none");
	add_link();
	fixture_shell("mkdir -p root/usr/lib/debug/opt/bin && "
		      "mv full.debug root/usr/lib/debug/opt/bin");
	strcpy(root, fixture_path("root"));
	check_at("/opt/bin/program", root, "hidden");
	check_at("/opt/program", root, NULL);
	check_at("/opt/bin/program", "", NULL);
	check_at("program", root, NULL);
	check_at("", root, NULL);
}

Test(debug_file, link_to_other_contents)
{
	build("none");
	add_link();
	fixture_shell("printf x >> full.debug");
	check("", NULL);
}

Test(debug_file, link_to_itself)
{
	build("none");
	add_link();
	fixture_shell("rm full.debug && ln -s program full.debug");
	check("", NULL);
}

#define BUILD_ID "0xabcdef0123456789"
#define BY_ID "root/usr/lib/debug/.build-id/ab"

Test(debug_file, build_id)
{
	char root[4096];

	build(BUILD_ID);
	fixture_shell("mkdir -p " BY_ID " && mv full.debug " BY_ID "/cdef0123456789.debug");
	strcpy(root, fixture_path("root"));
	check(root, "hidden");
	check("", NULL);
	check("/nonexistent", NULL);
}

/* A container's file is named by the host's debug file of the same build; nobody's by a third user's. */
Test(debug_file, build_id_on_the_host)
{
	static const char file[] = "/usr/lib/debug/.build-id/ab/cdef0123456789.debug";
	char root[4096];

	NEED_ROOT();
	NEED(have_mounts(), "no mount namespace can be made");
	build(BUILD_ID);
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	mkdir("/usr/lib/debug", 0755);
	cr_assert_eq(mount("tmpfs", "/usr/lib/debug", "tmpfs", 0, NULL), 0);
	fixture_shell("mkdir -p root /usr/lib/debug/.build-id/ab && cp full.debug %s", file);
	strcpy(root, fixture_path("root"));
	check(root, "hidden");
	cr_assert_eq(chown(file, 65534, 65534), 0);
	check(root, NULL);
	check("", NULL);
}

Test(debug_file, build_id_of_another)
{
	char root[4096];

	build(BUILD_ID);
	fixture_shell("mkdir -p " BY_ID " && "
		      "gcc -g -O1 -Wl,--build-id=0xabcdef0123456788 -o " BY_ID
		      "/cdef0123456789.debug program.c");
	strcpy(root, fixture_path("root"));
	check(root, NULL);
}

/* An absolute link in a container stays in the container. */
Test(debug_file, link_out_of_root)
{
	char root[4096];

	build(BUILD_ID);
	fixture_shell("mkdir -p " BY_ID " root/store && mv full.debug root/store && "
		      "ln -s /store/full.debug " BY_ID "/cdef0123456789.debug");
	strcpy(root, fixture_path("root"));
	check(root, "hidden");
}

Test(debug_file, fifo)
{
	char root[4096];

	build(BUILD_ID);
	fixture_shell("mkdir -p " BY_ID " && mkfifo " BY_ID "/cdef0123456789.debug");
	strcpy(root, fixture_path("root"));
	check(root, NULL);
}

/* A server, by a file: URL. What it has under a build id must have that id too. */
static void serve(const char *urls)
{
	setenv("DEBUGINFOD_CACHE_PATH", fixture_path("cache"), 1);
	if (urls)
		setenv("DEBUGINFOD_URLS", urls, 1);
	else
		unsetenv("DEBUGINFOD_URLS");
	fixture_shell("rm -rf cache");
}

Test(debug_file, server)
{
	char url[4200];

	NEED(dlopen("libdebuginfod.so.1", RTLD_NOW) != NULL, "libdebuginfod1");
	build(BUILD_ID);
	fixture_shell("mkdir -p buildid/abcdef0123456789 && "
		      "mv full.debug buildid/abcdef0123456789/debuginfo");
	snprintf(url, sizeof(url), "file://%s", fixture_path(""));
	serve(NULL);
	check("", NULL);
	serve(url);
	check("", "hidden");
	check("/nonexistent", "hidden");
	/* With --all no server is asked, because it would learn what others run. */
	debug_server_forbid();
	fixture_shell("rm -rf cache");
	check("", NULL);
	serve(url);
	fixture_shell("gcc -g -O1 -Wl,--build-id=0xabcdef0123456788 -o "
		      "buildid/abcdef0123456789/debuginfo program.c");
	check("", NULL);
}

/* A file that belongs neither to the system nor to the user who runs this. */
Test(debug_file, server_of_others_file)
{
	char url[4200];

	NEED_ROOT();
	build(BUILD_ID);
	fixture_shell("mkdir -p buildid/abcdef0123456789 && "
		      "mv full.debug buildid/abcdef0123456789/debuginfo && chown 12345 program");
	snprintf(url, sizeof(url), "file://%s", fixture_path(""));
	unsetenv("SUDO_UID");
	serve(url);
	check("", NULL);
	setenv("SUDO_UID", "12345", 1);
	check("", "hidden");
}

static void check_mini(const char *function)
{
	uint64_t offset = fixture_mark("program", 1);
	int fd = fixture_open("program");
	const struct symbol *symbol;
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_elf(fd, "/program", "", NULL, NULL, &table, &err), 0, "%s",
		     err.text);
	symbol = symbol_table_find(table, offset);
	cr_assert(symbol);
	if (function)
		cr_assert_str_eq(symbol->name, function);
	else
		cr_assert(strstr(symbol->name, "+0x"), "%s", symbol->name);
	symbol_table_free(table);
	close(fd);
}

Test(debug_file, mini)
{
	NEED_TOOL("xz");
	build("none");
	fixture_shell("cp full.debug mini && strip --strip-debug mini && xz mini && "
		      "objcopy --add-section .gnu_debugdata=mini.xz program");
	check_mini("hidden");
}

/* 64 MB and more of zeros in 10 kB, and garbage. */
Test(debug_file, mini_hostile)
{
	NEED_TOOL("xz");
	build("none");
	fixture_shell("cp program clean && head -c 100M /dev/zero | xz -1 > bomb.xz && "
		      "objcopy --add-section .gnu_debugdata=bomb.xz program");
	check_mini(NULL);
	fixture_shell("cp clean program && head -c 500 bomb.xz > cut.xz && "
		      "objcopy --add-section .gnu_debugdata=cut.xz program");
	check_mini(NULL);
	fixture_shell("cp clean program && objcopy --add-section .gnu_debugdata=program.c program");
	check_mini(NULL);
}

/* As dpkg has them; a file below /usr may be listed as it was before /lib became a link. */
Test(debug_file, package)
{
	char name[PACKAGE_BYTES] = "none", lists[256];

	fixture_shell(
		"mkdir info && printf '/.\\n/usr\\n/usr/bin/perl5\\n' >info/perl.list &&"
		"printf '/.\\n/usr/bin/perl\\n' >info/perl-base.list &&"
		"printf '/usr/bin/perl\\n' >info/perl-base.md5sums &&"
		"printf '/.\\n/lib/libc.so.6\\n' >info/libc6:amd64.list && mkfifo info/a.list");
	snprintf(lists, sizeof(lists), "%s", fixture_path("info"));
	cr_assert(package_of(lists, "/usr/bin/perl", name));
	cr_expect_str_eq(name, "perl-base");
	cr_assert(package_of(lists, "/usr/lib/libc.so.6", name));
	cr_expect_str_eq(name, "libc6");
	cr_expect_not(package_of(lists, "/usr/bin/per", name));
	cr_expect_not(package_of(lists, "/bin/perl5", name));
	cr_expect_not(package_of(fixture_path("none"), "/usr/bin/perl", name));
	cr_expect_str_eq(name, "libc6");
}

/* By apt's cache, whose strings begin with their lengths, and by plain lists, across the parts that are read. */
Test(debug_file, package_can_be_had)
{
	char root[256];

	fixture_shell(
		"mkdir -p var/cache/apt var/lib/apt/lists && cd var && "
		"printf '\\013\\0perl-dbgsym\\0\\011\\0libc6-dbg\\0' >cache/apt/pkgcache.bin && "
		"(head -c 65529 /dev/zero && printf 'Package: zlib1g-dbgsym\nSource: x\n') "
		">lib/apt/lists/deb_Packages && "
		"printf 'Package: other-dbgsym\n' >lib/apt/lists/deb_Sources && "
		"mkfifo lib/apt/lists/a_Packages");
	snprintf(root, sizeof(root), "%s", fixture_path("."));
	cr_expect(package_can_be_had(root, "perl-dbgsym"));
	cr_expect(package_can_be_had(root, "libc6-dbg"));
	cr_expect(package_can_be_had(root, "zlib1g-dbgsym"));
	cr_expect_not(package_can_be_had(root, "perl-dbg"));
	cr_expect_not(package_can_be_had(root, "erl-dbgsym"));
	cr_expect_not(package_can_be_had(root, "zlib1g-dbg"));
	cr_expect_not(package_can_be_had(root, "other-dbgsym"));
	cr_expect_not(package_can_be_had(fixture_path("none"), "perl-dbgsym"));
}
