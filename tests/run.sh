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
# SUITES_LAYER=PATTERN: of a layer's program only these suites, of which none has the machine to itself.
# SCRIPTS_LAYER=PATTERN: of a layer's scripts only these.
#
# All run in the repository's root, with the absolute path of BUILD in $BUILD_DIR. Layers that
# sample or load BPF run as root, with sudo if necessary. V=1 also shows tests that pass.
#
# Up to four programs and scripts run beside each other, then the layers that sample with two tests
# at a time, and then, one at a time, what needs the machine to itself. If no more than five tests
# failed, they are at last run again, one at a time, because what other guests of a host do to a
# clock seldom comes twice. What passes only then is named before the counts.
set -uo pipefail
shopt -s extglob

export LC_ALL=C UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
# Ubuntu's perf is a wrapper that wants the tools of the running kernel.
for tools in /usr/lib/linux-tools/*/; do
	[ ! -d "$tools" ] || PATH=$tools:$PATH
done
export BUILD_DIR="$PWD/$build"
logs=$build/tests/log
limit=900 # seconds for a layer's program or script, so that a hang is a failure
passed=0 failed=0 skipped=0
failures=$logs/failures
# An emulated CPU is slow enough for one test at a time, and the layer live takes it 15 minutes.
emulated=${SPIN_SLOWNESS:+1}
[ -z "$emulated" ] || limit=2700

# Suites and scripts that need the machine to themselves: they compare ticks with the time of
# programs that come and go, look at whole CPUs, compare a busy server with a quiet one, or change
# the machine. Patterns of criterion's --filter, and of bash.
declare -A alone=(
	[calls]='calls_@(neighbours|rivals|stuck)'
	[hostile]='hostile_@(files|serve)'
	[live]='live_@(attach_all|attach_cgroup|budget|bursts|cuts|machine|perf|spending|splits)'
)
alone_scripts='cli/agent_duty'

# Sets the array "as": the prefix for the commands of a layer.
privilege() {
	as=()
	case $1 in
	bpf | fault | cli | html | client | calls | live | hostile | fleet | deb | image)
		# Below timeout nobody could type a password.
		[ "$(id -u)" -eq 0 ] || as=(sudo -n "--preserve-env=BUILD_DIR,CI,FLEET_NETWORK,LC_ALL,UBSAN_OPTIONS,V")
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

# The user and system time of a shell's children, from what its command `times` has written.
cpu_seconds() {
	awk 'NR == 2 { gsub("s", ""); split($1 "m" $2, at, "m"); printf "%d", (at[1] + at[3]) * 60 + at[2] + at[4] }' "$1"
}

# run_logged LOG COMMAND...: writes the output to LOG, and the exit status to LOG.status. Criterion
# also lists the tests that its filter leaves out.
#
# timeout makes a process group for the command, which ends whole at the limit. The output goes to
# a file and not through a pipe: what it left running would hold the pipe open, and the run with it.
run_logged() (
	log=$1 told='' start=$SECONDS
	shift
	timeout -k 10 "$limit" "${as[@]}" "$@" </dev/null >"$log" 2>&1 &
	command=$!
	trap 'told=1; kill -TERM "$command"' TERM INT
	wait "$command"
	echo $? >"$log.status"
	times >"$log.times"
	echo "$((SECONDS - start)) s, $(cpu_seconds "$log.times") s of CPU time" >"$log.time"
	[ -z "$told" ] || wait "$command" # the signal has ended the first one
	! kill -KILL -- "-$command" 2>/dev/null || echo "[----] it left processes running" >>"$log"
	sed -i '/^\[SKIP\] .*: Test is disabled$/d' "$log"
)

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
	local program

	while read -r program; do
		[ -z "$(.make/deps --here "$program")" ] ||
			sed -i "s|^SKIP \(.*: no $program in PATH\)\$|FAIL \1, though make deps installs it|" "$1"
	done < <(sed -n 's/^SKIP .*: no \([^ ]*\) in PATH$/\1/p' "$1")
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

# The tests of LOG that began and did not end.
unended() {
	awk '/^\[RUN/ { begun[$NF] } /^\[(PASS|FAIL|SKIP)/ { sub(/:$/, "", $2); delete begun[$2] }
		END { for (name in begun) printf " %s", name }' "$1"
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
		echo "FAIL $log: the test program ended with status $status amid:$(unended "$log")" | tee -a "$failures"
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

# start_program LAYER NAME JOBS SUITES: runs the tests of some suites, so many at a time.
start_program() {
	local layer=$1 program=$build/tests/test_$1

	[ -f "$program" ] && [ -x "$program" ] || return 0
	start "$layer" "$2" criterion_counts "$program" -j"$3" --filter "$4/*" --verbose --color=never
}

# start_scripts LAYER PATTERN: runs those whose LAYER/NAME matches.
start_scripts() {
	local layer=$1 only=SCRIPTS_$1 script name

	for script in tests/"$layer"/*.sh; do
		name=$layer/$(basename "$script" .sh)
		# shellcheck disable=SC2053 # patterns
		if [ -x "$script" ] && [[ $name == $2 && ${name#*/} == ${!only:-*} ]]; then
			start "$layer" "${name/\//-}" script_counts "$script" "$build"
		fi
	done
}

# start LAYER NAME COUNT COMMAND...: runs it in the background as soon as there is room; COUNT reads
# its log when it has ended.
start() {
	local layer=$1 name=$2 log=$logs/$2.log

	while [ ${#running[@]} -ge "$room" ]; do
		finish_one
	done
	privilege "$layer"
	run_logged "$log" "${@:4}" &
	running[$!]="$name $3"
}

# Waits for one that is running, and counts its tests.
finish_one() {
	local pid name count log

	wait -n -p pid "${!running[@]}" || true
	read -r name count <<<"${running[$pid]}"
	unset "running[$pid]"
	log=$logs/$name.log
	echo "== $name ($(cat "$log.time"))"
	show <"$log"
	[ "$count" != script_counts ] || refuse_lacks "$log"
	"$count" "$log" "$(cat "$log.status")"
	keep_failures "$log"
}

finish_all() {
	while [ ${#running[@]} -gt 0 ]; do
		finish_one
	done
}

# Whether a layer compares ticks with CPU time, which the load of other layers makes less exact.
samples() {
	[ "$1" = live ] || [ "$1" = calls ]
}

# How many tests of a layer may run at a time: those that mostly compute, or wait for what they
# started.
at_a_time() {
	case $1 in
	unit | fault | live | calls) echo "${emulated:-2}" ;;
	*) echo 1 ;;
	esac
}

# The pattern of a layer's suites that may run beside others.
beside() {
	local only=SUITES_$1

	echo "${!only:-${alone[$1]:+!(}${alone[$1]:-*}${alone[$1]:+)}}"
}

run_beside() {
	local layer

	room=${emulated:-4}
	for layer in "$@"; do
		samples "$layer" || start_program "$layer" "$layer" "$(at_a_time "$layer")" "$(beside "$layer")"
	done
	for layer in "$@"; do
		start_scripts "$layer" "!($alone_scripts)"
	done
	finish_all
	room=1
	for layer in "$@"; do
		! samples "$layer" || start_program "$layer" "$layer" "$(at_a_time "$layer")" "$(beside "$layer")"
	done
	finish_all
}

run_alone() {
	local layer only

	room=1
	for layer in "$@"; do
		only=SUITES_$layer
		[ -z "${alone[$layer]:-}" ] || [ -n "${!only:-}" ] || start_program "$layer" "$layer-alone" 1 "${alone[$layer]}"
		start_scripts "$layer" "@($alone_scripts)"
	done
	finish_all
}

# Lists what failed: "LAYER SUITE/NAME 1" of a program, "LAYER SCRIPT COUNT" of a script.
failed_tests() {
	local layer log script

	for layer in "$@"; do
		for log in "$logs/$layer.log" "$logs/$layer-alone.log"; do
			[ ! -f "$log" ] ||
				sed -n "s|^\[FAIL\] \([a-z0-9_]*\)::\([a-zA-Z0-9_]*\): .*|$layer \1/\2 1|p" "$log"
		done
		for script in tests/"$layer"/*.sh; do
			log=$logs/$layer-$(basename "$script" .sh).log
			[ ! -f "$log" ] || ! grep -q '^FAIL ' "$log" || echo "$layer $script $(count '^FAIL ' "$log")"
		done
	done
}

# passes LAYER WHAT: runs a test of failed_tests once more.
passes() {
	local log=$logs/again.log

	privilege "$1"
	case $2 in
	tests/*) run_logged "$log" "$2" "$build" ;;
	*) run_logged "$log" "$build/tests/test_$1" -j1 --filter "$2" --verbose --color=never ;;
	esac
	show <"$log"
	[ "$(cat "$log.status")" -eq 0 ] && ! grep -q '^FAIL \|^SUMMARY: AddressSanitizer' "$log"
}

# Does nothing where a failure belongs to no test, as a leak or a program that died does.
run_again() {
	local layer what number listed=0 list=$logs/again

	failed_tests "$@" >"$list"
	while read -r layer what number; do
		listed=$((listed + number))
	done <"$list"
	[ "$listed" -eq "$failed" ] && [ "$(wc -l <"$list")" -le 5 ] || return 0
	while read -r layer what number <&3; do
		echo "== again: $layer $what"
		if passes "$layer" "$what"; then
			passed=$((passed + number))
			failed=$((failed - number))
			second_try+=("$layer $what")
		fi
	done 3<"$list"
}

for layer in "$@"; do
	privilege "$layer"
	[ ${#as[@]} -eq 0 ] || sudo -v || exit 1
done
mkdir -p "$logs"
rm -f "$logs"/*.log
: >"$failures"
declare -A running=()
# Background processes ignore ^C.
trap 'trap - TERM; kill -TERM 0; exit 130' INT TERM
run_beside "$@"
run_alone "$@"
second_try=()
if [ "$failed" -gt 0 ]; then
	run_again "$@"
	cat "$failures"
	echo "failed:"
	grep -v '^	' "$failures" | cut -c 1-120
	[ ${#second_try[@]} -eq 0 ] || printf 'passed when run again: %s\n' "${second_try[@]}"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
