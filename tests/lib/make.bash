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

# copy_tree BUILD COPY: the sources and what `all` made, with their times; the tests' part of BUILD is
# large and not needed.
copy_tree() {
	local part

	for part in Makefile .make bpf user include vmlinux; do
		cp -a "$part" "$2" || return 1
	done
	mkdir -p "$2/tests" "$2/$1"
	cp -a tests/tests.mk "$2/tests"
	cp -a "$1"/{stamp,obj,gen,bpf,bpfprofil,man,lib*.a,lib*.so*} "$2/$1" || return 1
	rm -rf "$2/$1/obj/tests"
	[ ! -e .git ] || mkdir "$2/.git"
}
