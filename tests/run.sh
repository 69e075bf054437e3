#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# run.sh BUILD LAYER...: runs layers of tests and ends with "N passed, N failed, N skipped".
#
# BUILD/tests/test_LAYER is a criterion program; each of its tests counts. So does each line that
# tests/LAYER/*.sh prints as "PASS name", "FAIL name: why" or "SKIP name: reason"; a script that
# prints none of them is one test, judged by its exit status (77: skipped). A criterion test skips
# by cr_skip_test(), or by printing "SKIP name: reason" and returning.
#
# All run in the repository's root, with the absolute path of BUILD in $BUILD_DIR. Layers that
# sample or load BPF run as root, with sudo if necessary. V=1 also shows tests that pass.
set -uo pipefail

export LC_ALL=C UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
export BUILD_DIR="$PWD/$build"
logs=$build/tests/log
limit=900 # seconds for a layer's program or script, so that a hang is a failure
passed=0 failed=0 skipped=0
failures=$logs/failures

# Sets the array "as": the prefix for the commands of a layer.
privilege() {
	as=()
	case $1 in
	bpf | fault | cli | html | client | calls | live | hostile | fleet | deb | image)
		[ "$(id -u)" -eq 0 ] || as=(sudo "--preserve-env=BUILD_DIR,CI,FLEET_NETWORK,LC_ALL,UBSAN_OPTIONS,V")
		;;
	esac
}

show() {
	if [ -n "${V:-}" ]; then
		cat
	else
		grep -Ev '^\[RUN  ?\]|^\[PASS\]|^PASS |^\[----\] Criterion|^\[====\] Running' || true
	fi
}

# run_logged LOG COMMAND...: writes the output to LOG and, without the noise, to the terminal.
run_logged() {
	local log=$1

	shift
	timeout --foreground -k 10 "$limit" "${as[@]}" "$@" </dev/null 2>&1 | tee "$log" | show
	return "${PIPESTATUS[0]}"
}

# A count from criterion's last line; empty if there is none.
synthesis() {
	sed -n "s/.*Synthesis:.* $1: \([0-9]*\).*/\1/p" "$2" | tail -n 1
}

count() {
	grep -c "$1" "$2" || true
}

# A test that was skipped because a program is missing which `make deps` installs has failed,
# because nobody would notice otherwise.
refuse_lacks() {
	sed -i 's/^SKIP \(.* in PATH\)$/FAIL \1, though make deps installs it/' "$1"
	grep '^FAIL .*, though make deps installs it$' "$1" || true
}

# Lists each failed test of LOG at the end, with what criterion said of it, so that the end of a
# run's output, as from a CI, suffices to see what failed.
keep_failures() {
	awk -v log_name="$(basename "$1" .log)" '
		/^\[(RUN|PASS|SKIP)/ { why = "" }
		/^\[----\] / && length(why) < 2000 { why = why "\n\t" substr($0, 8, 300) }
		/^\[FAIL\] / { print log_name ": " substr($0, 8, 200) why; why = "" }
		/^FAIL / { print log_name ": " substr($0, 6, 500) }' "$1" >>"$failures"
}

# Criterion does not notice what a sanitizer finds when a test's process ends, so such a leak makes
# the test fail here. A program that ended without the last line, or with a bad status but no failed
# test, has one failure that belongs to no test.
criterion_counts() {
	local log=$1 status=$2 good bad own left leaks

	good=$(synthesis Passing "$log")
	bad=$(synthesis Failing "$log")
	own=$(count '^\[SKIP\]' "$log")
	left=$(count '^SKIP ' "$log")
	leaks=$(count '^SUMMARY: AddressSanitizer: .* leaked' "$log")
	if [ "$leaks" -gt 0 ]; then
		echo "FAIL $log: tests that leak: $leaks" | tee -a "$failures"
		good=$((good - leaks))
		bad=$((bad + leaks))
	fi
	if [ -z "$good" ] || { [ "$status" -ne 0 ] && [ "${bad:-0}" -eq 0 ]; }; then
		echo "FAIL $log: the test program ended with status $status" | tee -a "$failures"
		bad=$((${bad:-0} + 1))
	fi
	passed=$((passed + ${good:-0} - left))
	failed=$((failed + bad))
	skipped=$((skipped + own + left))
}

script_counts() {
	local log=$1 status=$2 good bad left

	good=$(count '^PASS ' "$log")
	bad=$(count '^FAIL ' "$log")
	left=$(count '^SKIP ' "$log")
	if [ "$status" -eq 77 ] && [ $((bad + left)) -eq 0 ]; then
		left=1
	elif [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ "$bad" -eq 0 ]; then
		echo "FAIL $log: the script ended with status $status" | tee -a "$failures"
		bad=1
	elif [ "$status" -eq 0 ] && [ $((good + bad + left)) -eq 0 ]; then
		good=1
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	skipped=$((skipped + left))
}

run_layer() {
	local layer=$1 program=$build/tests/test_$1 script log status jobs=1

	privilege "$layer"
	# Tests that sample would count each other's load, which may even leave a fault trial of top
	# without a tick.
	[ "$layer" != unit ] || jobs=2
	if [ -x "$program" ] && [ -f "$program" ]; then
		log=$logs/$layer.log
		echo "== $layer"
		status=0
		run_logged "$log" "$program" -j"$jobs" --verbose --color=never || status=$?
		criterion_counts "$log" "$status"
		keep_failures "$log"
	fi
	for script in tests/"$layer"/*.sh; do
		[ -x "$script" ] || continue
		log=$logs/$layer-$(basename "$script" .sh).log
		echo "== $layer: $(basename "$script" .sh)"
		status=0
		run_logged "$log" "$script" "$build" || status=$?
		refuse_lacks "$log"
		script_counts "$log" "$status"
		keep_failures "$log"
	done
}

mkdir -p "$logs"
: >"$failures"
for layer in "$@"; do
	run_layer "$layer"
done
if [ "$failed" -gt 0 ]; then
	cat "$failures"
	echo "failed:"
	grep -v '^	' "$failures" | cut -c 1-120
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
