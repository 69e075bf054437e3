// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/name_fit.h"

#include <criterion/criterion.h>
#include <string.h>

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
	cr_expect_eq(name_last_component("ns::List<a::b>::work(int)"), strlen("ns::List<a::b>::"));
}
