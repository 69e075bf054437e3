// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/name_fit.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/text.h"

static void check(const char *function, const char *name, enum name_fit fit)
{
	cr_expect_eq(name_fit(function, name), fit, "%s as %s: %d", name, function,
		     (int)name_fit(function, name));
}

Test(name_fit, of_c)
{
	check("work", "work", NAME_EXACT);
	check("work", "", NAME_OTHER);
	check("worker", "work", NAME_OTHER);
	check("work.constprop.0", "work", NAME_WITHOUT_SUFFIX);
	check("work.part.0.isra.1", "work", NAME_WITHOUT_SUFFIX);
	check("work.cold", "work", NAME_WITHOUT_SUFFIX);
	check("work.part.0.cold", "work.part.0", NAME_WITHOUT_SUFFIX);
	/* Go's names contain dots. */
	check("main.work", "main", NAME_OTHER);
}

/* Variants that glibc 2.31 to 2.41 have of its functions. */
Test(name_fit, of_variants)
{
	check("__memcpy_avx512_unaligned_erms", "memcpy", NAME_VARIANT);
	check("__memcpy_avx_unaligned_erms_rtm", "memcpy", NAME_VARIANT);
	check("__memcpy_avx512_no_vzeroupper", "memcpy", NAME_VARIANT);
	check("__memcpy_ssse3_back", "memcpy", NAME_VARIANT);
	check("__memmove_evex_unaligned", "memcpy", NAME_VARIANT);
	check("__memcpy_evex_unaligned", "memmove", NAME_VARIANT);
	check("__memmove_evex_unaligned", "mempcpy", NAME_VARIANT);
	check("__memset_avx2_unaligned", "memset", NAME_VARIANT);
	check("__strlen_evex512", "strlen", NAME_VARIANT);
	check("__strcmp_sse42", "strcmp", NAME_VARIANT);
	check("__strchr_sse2_no_bsf", "index", NAME_VARIANT);
	check("__memcmp_avx2_movbe_rtm", "memcmp", NAME_VARIANT);
	check("__wcsnlen_sse4_1", "wcsnlen", NAME_VARIANT);
	check("__strspn_generic", "strspn", NAME_VARIANT);
	check("__sin_fma4", "sin", NAME_VARIANT);
	check("__strcasecmp_l_evex", "strcasecmp", NAME_VARIANT);
	check("__memcpy_chk_sse2_unaligned", "__memcpy_chk", NAME_VARIANT);
	check("__memcpy_chk_sse2_unaligned", "memcpy", NAME_OTHER);
	check("__memcmpeq_evex", "memcmp", NAME_OTHER);
	check("__memcpy_avx_unaligned", "mem", NAME_OTHER);
	check("__memcpy_avx_unaligned", "", NAME_OTHER);
	check("__memcpy_avx_unaligned", "memcpy_avx", NAME_OTHER);
	check("__memcpy_avx_unaligned", "__memcpy_avx_unaligned", NAME_EXACT);
	check("__avx2", "avx2", NAME_OTHER);
	check("__memcpy", "memcpy", NAME_OTHER);
	check("memcpy_avx_unaligned", "memcpy", NAME_OTHER);
}

Test(name_fit, of_cxx)
{
	check("ns::work(int)", "ns::work", NAME_WITHOUT_PARAMETERS);
	check("ns::work(int)", "ns::wor", NAME_OTHER);
	check("ns::work(int) [clone .cold]", "ns::work(int)", NAME_WITHOUT_SUFFIX);
	check("ns::work<int>(int)", "ns::work", NAME_WITHOUT_ARGUMENTS);
	check("ns::work<int>(int)", "ns::work<int>", NAME_WITHOUT_PARAMETERS);
	check("ns::List<int>::work(int)", "ns::List", NAME_OTHER);
	check("ns::List<ns::work>::size() const", "work", NAME_OTHER);
	check("ns::List<int>::work(int)", "work", NAME_UNQUALIFIED);
	check("(anonymous namespace)::work(int)", "work", NAME_UNQUALIFIED);
	check("ns::run(ns::work)", "work", NAME_OTHER);
	check("operator<(A, B)", "operator", NAME_OTHER);
	check("operator<(A, B)", "operator<", NAME_WITHOUT_PARAMETERS);
	check("ns::A::operator->() const", "operator->", NAME_UNQUALIFIED);
}

Test(name_fit, of_other_languages)
{
	check("main.(*Item).score", "score", NAME_UNQUALIFIED);
	check("main.(*Item).score", "(*Item).score", NAME_UNQUALIFIED);
	check("main.(*Item).score", "main.(*Item).score", NAME_EXACT);
	check("main.(*Item).score", "Item", NAME_OTHER);
	check("github.com/a/b.(*Item[go.shape.int]).score", "score", NAME_UNQUALIFIED);
	check("main.Map[go.shape.int]", "main.Map", NAME_WITHOUT_ARGUMENTS);
	check("main.Map[go.shape.int]", "Map", NAME_UNQUALIFIED);
	check("main.Map[go.shape.int]", "int", NAME_OTHER);
	check("main.work.func1", "work", NAME_OTHER);
	check("long J.hot(int)", "hot", NAME_UNQUALIFIED);
	check("long J.hot(int)", "J.hot", NAME_UNQUALIFIED);
	check("byte[] java.util.Arrays.copyOf(byte[], int)", "copyOf", NAME_UNQUALIFIED);
	check("long J.hot(int)", "int", NAME_OTHER);
	check("void ns::work<int>(int)", "ns::work", NAME_UNQUALIFIED);
	check("main::{closure#0}::work", "work", NAME_UNQUALIFIED);
	check("JS:*hot /work/n.js:1:13", "hot", NAME_UNQUALIFIED);
	check("JS:~hot file:///work/n.js:1:13", "hot", NAME_UNQUALIFIED);
	check("LazyCompile:*hot /work/n.js:1:13", "n", NAME_OTHER);
	check("py::hot:/work/p.py", "hot", NAME_UNQUALIFIED);
	check("py::hot:/work/p.py", "p", NAME_OTHER);
	check("work.part.0", "part", NAME_OTHER);
	check("work(int) [clone .cold]", "cold]", NAME_OTHER);
}

static void check_typed(const char *function, const char *typed)
{
	size_t length = name_length(function);

	cr_expect(length == strlen(typed) && !strncmp(function, typed, length), "%s: %.*s",
		  function, (int)length, function);
}

Test(name_fit, as_typed)
{
	check_typed("work", "work");
	check_typed("work.constprop.0", "work");
	check_typed("ns::work<int>(int)", "ns::work");
	check_typed("ns::List<int>::work(int) [clone .cold]", "ns::List<int>::work");
	check_typed("(anonymous namespace)::work()", "(anonymous namespace)::work");
	check_typed("A::operator()(int) const", "A::operator()");
	check_typed("<mycrate::bar::Baz>::work", "<mycrate::bar::Baz>::work");
	check_typed("main.(*Item).score", "main.(*Item).score");
	check_typed("main.Map[go.shape.int]", "main.Map");
	check_typed("long J.hot(int)", "long J.hot");
	check_typed("JS:*hot /work/n.js:1:13", "JS:*hot");
	cr_expect_eq(name_last_component("ns::List<a::b>::work(int)"), strlen("ns::List<a::b>::"));
}

/* Each width has what is left of the name; the last one is where it is cut. */
static void check_written(const char *name, size_t width, const char *want)
{
	cleanup_free char *got = NULL;
	size_t size, used;
	FILE *out = open_memstream(&got, &size);

	used = name_write(out, name, width);
	fclose(out);
	cr_expect_str_eq(got, want);
	cr_expect_eq(used, text_columns(want), "%s: %zu", want, used);
}

Test(name_fit, written)
{
	static const char vector[] =
		"std::vector<int, std::allocator<int> >::push_back(int const&) const";
	static const char lambda[] =
		"void run<main::{lambda(int, long)#1}>(main::{lambda(int, long)#1}&&)";

	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	check_written(vector, 0, vector);
	check_written(vector, 67, vector);
	check_written(vector, 66, "std::vector<\u2026>::push_back(int const&) const");
	check_written(vector, 43, "std::vector<\u2026>::push_back(int const&) const");
	check_written(vector, 42, "std::vector<\u2026>::push_back(\u2026) const");
	check_written(vector, 20, "std::v\u2026back(\u2026) const");
	check_written(vector, 1, "\u2026");
	check_written(lambda, 50, "void run<\u2026>(main::{lambda(int, long)#1}&&)");
	check_written(lambda, 20, "void run<\u2026>(\u2026)");
	/* Go's receivers, Java's return types, Rust's types before a name, operators and names of no template. */
	check_written("main.(*Item[go.shape.int]).score", 31, "main.(*Item[\u2026]).score");
	check_written("long J.hot(java.lang.String, int)", 20, "long J.hot(\u2026)");
	check_written("<alloc::vec::Vec<T, Allocator> as Drop>::drop", 44,
		      "<alloc::vec::Vec<\u2026> as Drop>::drop");
	check_written("ns::operator< <int>(Long, Long)", 30, "ns::operator< <int>(\u2026)");
	check_written("A::operator()(int, long) const", 29, "A::operator()(\u2026) const");
	check_written("(anonymous namespace)::f(int, int)", 30, "(anonymous namespace)::f(\u2026)");
	check_written("run<decltype(a->b)>(int, int) [clone .cold]", 29,
		      "run<\u2026>(\u2026) [clone .cold]");
	check_written("Perl_hv_common_key_len", 11, "Per\u2026key_len");
	/* Made by nobody's compiler, but by somebody. */
	check_written("f<<<<<<<(((((int", 10, "f<<\u2026(((int");
	check_written("f\033g<int, int>", 12, "f\\x1bg<\u2026>");
}
