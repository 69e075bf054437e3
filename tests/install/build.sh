#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# build.sh BUILD: a finished build has nothing to do, a touched header rebuilds exactly what
# includes it according to the compiler, and changed flags or a removed file rebuild what they must.
# It works in a copy.
set -uo pipefail
. tests/lib/make.bash

build=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
status=0

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS build::$2"
	else
		echo "FAIL build::$2: ${3:-}"
		status=1
	fi
}

quiet_make() {
	inner_make "$@" >/dev/null 2>"$copy/stderr" || { tail -n 5 "$copy/stderr"; return 1; }
}

# sources FOLDERS PATTERN: what a build compiles or reads, however deep it is
sources() {
	# shellcheck disable=SC2086
	find $1 -name "$2" | sort
}

# "OBJECT HEADER" for each header that an object's source reads according to the compilers.
read_by_compilers() {
	local source flags=(-D_GNU_SOURCE= -Iuser -Iinclude "-I$build/gen")

	for source in $(sources user '*.c'); do
		gcc "${flags[@]}" -MM "$source" | tr -s '[:space:]' '\n' | sed "s|^|$build/obj/${source%.c}.o |"
	done
	for source in $(sources bpf '*.bpf.c'); do
		clang -target bpf -Ivmlinux -Iinclude -Ibpf -D__TARGET_ARCH_x86 -MM "$source" |
			tr -s '[:space:]' '\n' | sed "s|^|$build/${source%.c}.o |"
	done
}

objects_of() {
	awk -v header="$1" '$2 == header { print $1 }' "$copy/includes"
}

# What make would compile now. A new BPF object makes a new skeleton, whose users are left out,
# because they follow from that and not from the header.
planned() {
	inner_make -n V=1 all | sed -n 's/.* -c -o \([^ ]*\) .*/\1/p' |
		if [ "$1" = kernel ]; then grep -v '/obj/user/'; else cat; fi
}

# What an earlier build wrote for make.
dependency_files() {
	local source

	for source in $(sources user '*.c'); do
		cat "$build/obj/${source%.c}.d"
	done
	for source in $(sources bpf '*.bpf.c'); do
		cat "$build/${source%.c}.d"
	done
}

# The same as read_by_compilers, according to make.
read_by_make() {
	dependency_files | sed 's/\\$//' |
		awk '/^[^ ].*:/ { object = $1; sub(/:$/, "", object); $1 = "" }
			{ for (i = 1; i <= NF; i++) if (object ~ /\.o$/) print object, $i }'
}

# Only the headers of the project that are not generated.
of_headers() {
	awk '$2 ~ /^(user|include|bpf|vmlinux)\/.*\.h$/ { print $1, $2 }' | sort -u
}

# Asking make takes a third of a second, so that it is asked about one header in sixteen; what it knows
# of the others is compared at once. `make all` compiles nothing of user/static.
headers_rebuild() {
	local header bad=0 side old=$copy/old nth=0

	read_by_compilers > "$copy/includes"
	if ! diff <(read_by_make | of_headers) <(of_headers <"$copy/includes") >"$copy/diff"; then
		echo "what make knows, and what compilers read:"
		head -n 40 "$copy/diff"
		return 1
	fi
	for header in $(sources 'user include bpf vmlinux' '*.h'); do
		[ $((nth++ % 16)) -eq 0 ] || continue
		touch -r "$header" "$old"
		touch "$header"
		side=user
		planned user | grep -q "^$build/bpf/" && side=kernel
		if ! diff <(planned $side | sort) \
			<(objects_of "$header" | grep -v /static/ | if [ $side = kernel ]; then grep -v /obj/user/; else cat; fi |
				sort) >"$copy/diff"; then
			echo "$header:"
			cat "$copy/diff"
			bad=1
		fi
		touch -r "$old" "$header"
	done
	return $bad
}

flags_rebuild() {
	local object=$build/obj/user/base/error.o before

	before=$(stat -c %y "$object")
	quiet_make "$object" CPPFLAGS=-DNEW_FLAG || return 1
	[ "$(stat -c %y "$object")" != "$before" ] || return 1
	before=$(stat -c %y "$object")
	quiet_make "$object" CPPFLAGS=-DNEW_FLAG && [ "$(stat -c %y "$object")" = "$before" ]
}

removed_source_leaves_archive() {
	echo 'extern int one_more; int one_more;' > user/base/one_more.c
	quiet_make "$build/libuser.a" && ar t "$build/libuser.a" | grep -q one_more || return 1
	rm user/base/one_more.c
	quiet_make "$build/libuser.a" && ! ar t "$build/libuser.a" | grep -q one_more
}

failed_target_is_deleted() {
	local out=$build/gen/profile_schema.c

	quiet_make "$out" || return 1
	touch user/profile/profile.schema.json
	mkdir -p bin
	printf '#!/bin/sh\necho half\nexit 1\n' > bin/sed
	chmod +x bin/sed
	PATH=$PWD/bin:$PATH inner_make "$out" >/dev/null 2>&1 && return 1
	[ ! -e "$out" ]
}

copy_tree "$build" "$copy" || { echo "FAIL build::copy: cannot copy the tree"; exit 1; }
cd "$copy" || exit 1
inner_make -q all
verdict $? nothing_to_do "make -q would build again"
headers_rebuild
verdict $? headers "not the objects that include it"
removed_source_leaves_archive
verdict $? removed_source "the archive keeps it"
# After this all objects are old.
flags_rebuild
verdict $? flags "changed flags did not rebuild once, and once only"
failed_target_is_deleted
verdict $? half_written "a target whose recipe failed was left"
quiet_make clean && [ ! -e build ]
verdict $? clean "build/ is left"
exit $status
