/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIALECT_NAMES_H
#define BPFPROFIL_DIALECT_NAMES_H

/*
 * The dialects of profil(), sprofil() and pcsample(), by the system whose manual each follows.
 * Their numbers go over the socket. Therefore new ones are added last. The first is the default.
 *
 * X(ID, name)
 */
#define DIALECT_NAMES(X)                                                                           \
	X(GLIBC, "glibc")                                                                          \
	X(V7, "v7")                                                                                \
	X(SVR4, "svr4")                                                                            \
	X(SOLARIS, "solaris")                                                                      \
	X(BSD43, "bsd43")                                                                          \
	X(BSD44, "bsd44")                                                                          \
	X(BSD44DOC, "bsd44doc")                                                                    \
	X(IRIX, "irix")

#define DIALECT_ENUM(id, name) DIALECT_##id,
enum dialect { DIALECT_NAMES(DIALECT_ENUM) DIALECT_COUNT };
#undef DIALECT_ENUM

#endif
