# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# For scripts that run make from within `make check`: the variables of the outer command line, as
# SANITIZE=address, hold for the inner one too; its job server does not.

make_overrides=()
eval "make_overrides=($([[ ${MAKEFLAGS:-} == *'-- '* ]] && echo "${MAKEFLAGS#*-- }"))"
unset MAKEFLAGS MFLAGS MAKELEVEL

inner_make() {
	make "${make_overrides[@]}" "$@"
}
