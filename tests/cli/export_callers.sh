#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Exports of profiles with callers: each function has as many ticks, of its own and inclusive, as in
# report, whoever reads them.
set -uo pipefail
. tests/lib/cli.bash

workloads=$PWD/build/tests/live/workloads

# compare NAME FORMAT PROFILE [TICK_NS]: PROFILE.FORMAT with PROFILE.report
compare() {
	python3 tests/cli/stacks.py "$2" "$3.$2" "${4:-1}" >"$work/found" 2>"$work/err"
	if [ -s "$work/found" ] && cmp -s "$3.report" "$work/found"; then
		pass "$1_$2"
	else
		diff "$3.report" "$work/found" | head -n 20
		fail "$1_$2" "not as report has it: $(head -n 3 "$work/err")"
	fi
}

# agree NAME PROFILE TICK_NS: PROFILE.json in each format
agree() {
	local name=$1 profile=$2 format

	python3 tests/cli/stacks.py report "$profile.json" "$bin" >"$profile.report"
	for format in folded speedscope callgrind; do
		"$bin" export --format $format -o "$profile.$format" "$profile.json" 2>"$work/err"
	done
	for format in otlp clickhouse; do
		"$bin" export --format $format --detail function -o "$profile.$format" "$profile.json" \
			2>"$work/err"
	done
	for format in folded otlp clickhouse; do
		compare "$name" $format "$profile"
	done
	[ -z "$3" ] || compare "$name" speedscope "$profile" "$3"
	if command -v callgrind_annotate >/dev/null; then
		compare "$name" callgrind "$profile"
	else
		echo "SKIP cli::${name}_callgrind: no callgrind_annotate in PATH"
	fi
}

# The chains of processes whose ticks stand for different times.
python3 - "$golden/callers.json" >"$work/golden.json" <<'end'
import json, sys
doc = json.load(open(sys.argv[1]))
# Functions of one name are added up here, which is not possible for inclusive ticks.
next(f for f in doc["functions"] if f["name"] == "main" and f["ticks"])["name"] = "sh_main"
json.dump(doc, sys.stdout)
end
agree golden "$work/golden" ''

# speedscope has the time, of which report has the share.
python3 - "$work/golden.speedscope" <("$bin" report --format json "$work/golden.json") <<'end'
import collections, json, sys
doc, report = (json.load(open(path)) for path in sys.argv[1:3])
frames = doc["shared"]["frames"]
sums, total = collections.Counter(), sum(profile["endValue"] for profile in doc["profiles"])
for profile in doc["profiles"]:
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        for i in set(stack):
            sums[frames[i]["name"], frames[i].get("file")] += weight
assert len(report["rows"]) == 9
for row in report["rows"]:
    share = 100 * sums[row["function"], row["object"]] / total
    # Its account includes the time of what had no tick in a bin.
    assert abs(share * 1500 / 1515 - row["inclusive_percent"]) < 0.01, (row, share)
end
verdict $? speedscope_time

# A program is the first frame where there are several, or on request; without callers there is none.
"$bin" export --format folded --program-first "$work/golden.json" | grep -qx \
	'sh-301;sh;__libc_start_call_main;sh_main;eval 2'
verdict $? program_first
expect program_first_of_a_flat_profile 1 \
	"bpfprofil: export: folded: --program-first: this profile has no callers" \
	"$bin" export --format folded --program-first "$golden/profile.json"

can_sample export_callers || exit "$script_status"
for what in deep mutual library; do
	"$bin" run -q --callers -F 997 --force -o "$work/$what.json" "$workloads/callers" $what 1500 \
		>/dev/null 2>"$work/err" || fail "profile_$what" "$(cat "$work/err")"
	agree $what "$work/$what" "$(python3 -c '
import json, sys
doc = json.load(sys.stdin)
print(doc["cpu_ns"] / doc["ticks"]["total"] if "cpu_ns" in doc else doc["sampling"]["period_ns"])' \
		<"$work/$what.json")"
done
exit "$script_status"
