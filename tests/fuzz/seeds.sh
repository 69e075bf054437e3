#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Every fuzz target over its seeds and hundreds or thousands of mutations of them, always the same ones.
set -uo pipefail

build=$1
status=0
for source in tests/fuzz/fuzz_*.c; do
	[ -e "$source" ] || exit 77
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	seeds=$(mktemp -d)
	for dir in {tests,"$build"}/fuzz/seeds/"$name"; do
		[ ! -d "$dir" ] || cp -r "$dir/." "$seeds"
	done
	log=$build/fuzz/$name.log
	# A run of these three takes 2, 3 and 11 ms, and of the others a tenth of that.
	case $name in
	annotate | request) runs=1000 ;;
	reply) runs=500 ;;
	*) runs=3000 ;;
	esac
	if "$build/fuzz/$name" -runs=$runs -seed=1 -timeout=10 -rss_limit_mb=1024 -verbosity=0 \
		-artifact_prefix="$build/fuzz/$name-" "$seeds" >"$log" 2>&1; then
		echo "PASS fuzz::$name"
	elif [ $? -eq 77 ]; then
		echo "SKIP fuzz::$name: $(tail -n 1 "$log")"
	else
		tail -n 40 "$log"
		echo "FAIL fuzz::$name: see $build/fuzz/$name-crash-*"
		status=1
	fi
	rm -rf "$seeds"
done
exit $status
