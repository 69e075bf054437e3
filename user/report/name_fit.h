/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAME_FIT_H
#define BPFPROFIL_NAME_FIT_H

#include <stddef.h>

/* How well a name that was typed fits a function's; better is more. */
enum name_fit {
	NAME_OTHER,
	NAME_UNQUALIFIED, /* "f" of "ns::f(int)" */
	NAME_WITHOUT_ARGUMENTS, /* "ns::f" of "ns::f<int>(int)" */
	NAME_WITHOUT_SUFFIX, /* "f" of "f.constprop.0", which gcc made of it */
	NAME_WITHOUT_PARAMETERS, /* "ns::f" of "ns::f(int)" */
	NAME_EXACT
};

enum name_fit name_fit(const char *function, const char *name);

/* The bytes of a function's name before its template's arguments, parameters and suffixes. */
size_t name_length(const char *function);

/* Where the last of its components begins: "f" of "ns::f(int)". */
size_t name_last_component(const char *function);

#endif
