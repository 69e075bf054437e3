#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# fuzz.sh BUILD SECONDS NAME...: fuzzes each target; new inputs go to BUILD/fuzz/corpus/NAME, and
# crashes to BUILD/fuzz/NAME-crash-*. Seeds come from tests/fuzz/seeds/NAME, and from
# BUILD/fuzz/seeds/NAME if they are built.
set -euo pipefail

build=$1 seconds=$2
shift 2
[ $# -gt 0 ] || { echo "fuzz: no targets in tests/fuzz" >&2; exit 1; }
for name in "$@"; do
	corpus=$build/fuzz/corpus/$name
	mkdir -p "$corpus"
	dirs=("$corpus")
	for seeds in {tests,"$build"}/fuzz/seeds/"$name"; do
		[ ! -d "$seeds" ] || dirs+=("$seeds")
	done
	echo "== $name"
	"$build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-print_final_stats=0 -verbosity=0 -artifact_prefix="$build/fuzz/$name-" "${dirs[@]}" 2>&1 |
		sed '/Recommended dictionary/,/End of recommended/d'
done
