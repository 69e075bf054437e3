/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAME_FIT_H
#define BPFPROFIL_NAME_FIT_H

#include <stddef.h>
#include <stdio.h>

/* How well a typed name matches a function's name. Higher is better. */
enum name_fit {
	NAME_OTHER,
	NAME_VARIANT, /* "memcpy" for "__memcpy_avx_unaligned", a variant for some processors */
	NAME_UNQUALIFIED, /* "f" for "ns::f(int)" */
	NAME_WITHOUT_ARGUMENTS, /* "ns::f" for "ns::f<int>(int)" */
	NAME_WITHOUT_SUFFIX, /* "f" for "f.constprop.0", a copy by gcc */
	NAME_WITHOUT_PARAMETERS, /* "ns::f" for "ns::f(int)" */
	NAME_EXACT
};

enum name_fit name_fit(const char *function, const char *name);

/* Returns the plain name, of length bytes, of such a variant; NULL: it is not one. */
const char *name_of_variant(const char *function, size_t *length);

/* The length of a function's name without its template's arguments, parameters and suffixes. */
size_t name_length(const char *function);

/* The length without what compilers append to the name of a function's copy or part. */
size_t name_stem(const char *function);

/* Where the last component of the name begins: "f" in "ns::f(int)". */
size_t name_last_component(const char *function);

/*
 * Writes a function's name like text_write(), in at most width columns; 0: unlimited. If it is too
 * long, it loses template arguments first, then parameters, then its middle, so that it stays
 * distinct. Returns the columns.
 */
size_t name_write(FILE *out, const char *name, size_t width);

#endif
