# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# For scripts that run make inside of `make check`: variables of the outer command line, such as
# SANITIZE=address, apply to the inner make too, but its job server does not.

make_overrides=()
eval "make_overrides=($([[ ${MAKEFLAGS:-} == *'-- '* ]] && echo "${MAKEFLAGS#*-- }"))"
unset MAKEFLAGS MFLAGS MAKELEVEL

inner_make() {
	make "${make_overrides[@]}" "$@"
}
