#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# diff: its formats, and the exit status that can stop a build.
set -uo pipefail
. tests/lib/cli.bash

a=$golden/profile.json
# Swaps the two targets' bins in the first object: main grows, the operator shrinks.
sed 's/\[\[0,1\],\[16,500\],/[[0,500],[16,1],/' "$a" >"$work/moved"
b=$work/moved

for by in functions objects lines; do
	"$bin" diff --by "$by" "$a" "$a" >"$work/out" && grep -q '^changed   0 of ' "$work/out"
	verdict $? "diff_same_$by"
done
"$bin" diff "$a" "$b" | grep -qxE ' +1\.98% +49\.06% +\+47\.08 +<0\.0001 +0\.021 +0\.522 +work +main'
verdict $? diff_text
"$bin" diff "$golden/split.json" "$b" >"$work/out" &&
	grep -qx 'total     1\.515 s of CPU time in the old, 1\.063 s in the new, -29\.8 %: beyond the noise of sampling' "$work/out"
verdict $? diff_total
"$bin" diff "$a" "$b" | grep -qx 'total     1\.063 s of CPU time in the old, 1\.063 s in the new, +0\.0 %: may be noise of sampling'
verdict $? diff_same_total
"$bin" diff "$golden/split.json" "$golden/split.json" |
	grep -qx 'total     1\.515 s of CPU time in the old, 1\.515 s in the new, +0\.0 %: measured by the scheduler, so no noise of sampling'
verdict $? diff_total_of_the_scheduler
"$bin" diff "$a" "$b" | grep -qx 'changed   2 of 5 functions beyond noise: those with a P, .*' &&
	"$bin" diff "$a" "$a" | grep -qx 'changed   0 of 5 functions beyond noise: each share may differ by chance; .*'
verdict $? diff_changed
"$bin" diff "$a" tests/fuzz/seeds/profile/empty.json |
	grep -qx 'changed   nothing can be said: the new one has no ticks'
verdict $? diff_of_no_ticks
"$bin" diff --format csv --limit 2 "$a" "$b" | grep -qE '^21,1\.9811,520,49\.0566,47\.0755,[^,]*,true,/usr/bin/work,main,,,0\.021063189,0\.521564680$'
verdict $? diff_csv
"$bin" diff --format json "$a" "$b" | python3 -c '
import json, sys
table = json.load(sys.stdin)
assert table["significant"] == 2 and table["of"] == len(table["rows"])
assert {row["function"] for row in table["rows"] if row["significant"]} == {"main", "operator,(A, B)"}'
verdict $? diff_json
"$bin" diff --format json "$golden/split.json" "$a" | python3 -c '
import json, sys
table = json.load(sys.stdin)
sides = [{"ticks": 930, "cpu_ns": 1515000000, "period_ns": 1000000}, {"ticks": 1060, "period_ns": 1003009}]
assert 0 < table["total"]["probability"] < 1e-9 and table["total"]["old_seconds"] == 1.515, table
assert [{key: table[side][key] for key in sides[i]} for i, side in enumerate(("old", "new"))] == sides, table
assert table["old"]["file"].endswith("/split.json") and table["new"]["title"].startswith("./work "), table
old = {row["function"]: row["old"]["percent"] for row in table["rows"]}
assert abs(old["aeMain"] - 40.248) < 0.001 and abs(old["spin"] - 31.683) < 0.001, old'
verdict $? diff_json_cpu_time
"$bin" diff --fail-above 50 "$a" "$b" >"$work/out"
verdict $? diff_below
"$bin" diff --fail-above 0 "$a" "$a" >"$work/out"
verdict $? diff_same_below
above() {
	"$bin" diff --fail-above 40 "$a" "$b" >"$work/table"
}
expect diff_above 1 'bpfprofil: diff: 1 of 5 functions grew by more than 40 % of the time, beyond noise' above
expect diff_usage 2 'bpfprofil: diff: takes two profiles, OLD and NEW, not 1
try: bpfprofil diff --help' "$bin" diff "$a"
expect diff_bad_map 2 "bpfprofil: diff: --map 'work': must be OLD=NEW" "$bin" diff --map work "$a" "$b"
expect diff_no_map 1 "bpfprofil: diff: --map: 'x': not in the new profile
try: bpfprofil report --by objects" "$bin" diff --map work=x "$a" "$b"
sed 's:/usr/bin/work:/usr/bin/play:; s:00ff12ab:11ff12ab:' "$a" >"$work/renamed"
"$bin" diff "$a" "$work/renamed" | grep -q '^note      work is only in the old, play only in the new; if they are one under two names, --map work=play compares them$' &&
	[ "$("$bin" diff --map work=play "$a" "$work/renamed" | grep -c '^changed   0 of ')" -eq 1 ]
verdict $? diff_map
expect diff_no_file 1 "bpfprofil: diff: $work/no: No such file or directory" "$bin" diff "$a" "$work/no"

exit "$script_status"
