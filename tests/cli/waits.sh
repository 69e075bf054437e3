#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What users see of waits: tables, trees, comparisons, sums, and exports, each of which has as much of
# every class at every place as report. How waits are counted is in tests/live/test_waits.c.
set -uo pipefail
. tests/lib/cli.bash

export LC_ALL=C.UTF-8 # trees have lines

waits=$golden/waits.json

# The same without callers: chains have only the place that waited.
python3 - "$waits" >"$work/flat.json" <<'end'
import json, sys
doc = json.load(open(sys.argv[1]))
of, roots, nodes = doc["waits"], {}, {}
del doc["callers"]
def root(node):
    return root(of["nodes"][node][0]) if node >= 0 else -1 - node
def folded(old):
    key = tuple(of["roots"][old][word] for word in ("pid", "class"))
    return roots.setdefault(key, dict(of["roots"][old], ns=0, count=0))
for old, part in enumerate(of["roots"]):
    made = folded(old)
    made.pop("end", None)
    made["ns"] += part["ns"]
    made["count"] += part["count"]
order = list(roots)
for number, (parent, site, ns, count) in enumerate(of["nodes"]):
    part = of["roots"][root(parent)]
    node = nodes.setdefault((order.index((part["pid"], part["class"])), site), [0, 0])
    node[0] += ns
    node[1] += count
of["roots"] = list(roots.values())
of["nodes"] = [[-1 - made, site, *sums] for (made, site), sums in sorted(nodes.items()) if any(sums)]
json.dump(doc, sys.stdout)
end

for by in functions objects; do
	same by_$by "$golden/waits-$by.txt" "$bin" report --waits --by $by "$waits"
done
# A narrow terminal has no means, so that names have room.
on_columns() {
	script -qec "stty columns $1; $bin report --no-pager --waits $waits" /dev/null </dev/null | grep -oE '(MEAN +)?CLASS'
}
[ "$(on_columns 99)" = CLASS ] && [[ $(on_columns 100) == MEAN* ]]
verdict $? means_need_100_columns
same json "$golden/waits-functions.json" "$bin" report --waits --format json "$waits"
same csv "$golden/waits-functions.csv" "$bin" report --waits --format csv "$waits"
same tree "$golden/waits-tree.txt" "$bin" report --waits --tree "$waits"
same callers "$golden/waits-of-write.txt" "$bin" report --waits --callers write "$waits"
same by_process "$golden/waits-process.txt" "$bin" report --waits --by process "$waits"
same flat "$golden/waits-flat.txt" "$bin" report --waits "$work/flat.json"
"$bin" report --waits --format json "$work/flat.json" >"$work/report" && ! grep -q '"callers"' "$work/report"
verdict $? flat_json_has_no_callers

# A process that did nothing but run, and of which there is no tick.
python3 - "$waits" >"$work/busy.json" <<'end'
import json, sys
doc = json.load(open(sys.argv[1]))
doc["waits"]["accounts"][2].update(process="busy", wall_ns=9000000000, cpu_ns=9000000000)
json.dump(doc, sys.stdout)
end
# first NAME [OPTION...]: the process of the first row
first() {
	"$bin" report --waits --by process --limit 1 "${@:2}" "$work/busy.json" | grep -qE "^ *[0-9].*  $1\$"
	verdict $? "by_process_first_$1"
}
first busy
first node --class 'epoll*'
first steady --class runnable
for by in functions process; do
	"$bin" report --waits --by $by --comm busy "$work/busy.json" >"$work/$by" 2>&1
	verdict $? comm_without_waits_by_$by
done
grep -q '^No wait that was chosen' "$work/functions" && grep -q '  busy$' "$work/process" &&
	! grep -qE '  (node|steady)$' "$work/process"
verdict $? comm_without_waits
"$bin" report --waits --by process --class read --format json "$waits" >"$work/report"
python3 - "$work/report" <<'end'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["wall"]["wall_ns"] == 6002000000 and len(doc["wall"]["classes"]) == 4, doc["wall"]
found = [[(of["class"], of["io"]) for of in row["classes"]] for row in doc["rows"]]
assert found == [[("read", False), ("read", True)], [], []], found
end
verdict $? by_process_json
expect by_process_of_object 2 "bpfprofil: report: --waits --by process: takes no --object
try: leaving it out" "$bin" report --waits --by process --object libc.so.6 "$waits"

# The name of a class is no pattern.
sed -E 's/("name": *)"spin"/\1"f"/' "$waits" >"$work/letter.json"
"$bin" report --waits --callers '[futex]' --format json "$work/letter.json" >"$work/report"
python3 - "$work/report" <<'end'
import json, sys
tops = [row["function"] for row in json.load(open(sys.argv[1]))["rows"] if not row["depth"]]
assert tops == ["[futex]"], tops
end
verdict $? callers_of_a_class

# agree NAME PROFILE: each export with report
agree() {
	local name=$1 profile=$2 format kind

	"$bin" report --waits --format json "$profile" >"$work/report"
	"$bin" export --format folded --waits -o "$work/folded" "$profile"
	for format in pprof otlp clickhouse speedscope; do
		"$bin" export --format $format -o "$work/$format" "$profile" 2>"$work/err"
	done
	for format in folded pprof otlp clickhouse speedscope; do
		for kind in off_cpu waits; do
			# These have time alone.
			[[ $format$kind =~ ^(folded|speedscope)waits$ ]] && continue
			python3 tests/cli/waits.py report $kind "$work/report" |
				grep -v " inclusive 0$" >"$work/wanted"
			python3 tests/cli/waits.py $format $kind "$work/$format" >"$work/found"
			# Without callers a place is its own and no one's callee.
			grep -q inclusive "$work/wanted" || sed -i '/ inclusive /d' "$work/found"
			[ -s "$work/wanted" ] && cmp -s "$work/wanted" "$work/found"
			verdict $? "${name}_${format}_$kind" || diff "$work/wanted" "$work/found"
		done
	done
}
agree chains "$waits"
agree places "$work/flat.json"

# What ticks are is as without waits.
python3 -c 'import json, sys; doc = json.load(open(sys.argv[1])); del doc["waits"]; json.dump(doc, sys.stdout)' \
	"$waits" >"$work/ticks.json"
for format in folded callgrind csv; do
	"$bin" export --format $format "$work/ticks.json" >"$work/wanted" 2>/dev/null
	"$bin" export --format $format "$waits" 2>"$work/err" | cmp -s - "$work/wanted" &&
		grep -q "$format leaves out the waits" "$work/err"
	verdict $? "${format}_leaves_waits_out"
done
"$bin" export --format gmon -o "$work/gmon" "$waits" 2>&1 | grep -q "gmon leaves out the waits"
verdict $? gmon_leaves_waits_out

# Wall time of some files only is no sum, and a report says so.
expect merge_waits_of_one 1 "bpfprofil: merge: $work/ticks.json: no waits, and $waits has them
try: one sum of those with waits, another of those without" \
	"$bin" merge -o "$work/x" "$waits" "$work/ticks.json"
expect merge_no_waits_of_one 1 "bpfprofil: merge: $waits: waits, and $work/ticks.json has none
try: one sum of those with waits, another of those without" \
	"$bin" merge -o "$work/x" "$work/ticks.json" "$waits"
"$bin" report --waits "$work/ticks.json" "$waits" "$work/ticks.json" >"$work/out" &&
	grep -qx "note      waits are incomplete: 1 of 3 files have them, $waits" "$work/out"
verdict $? report_notes_waits_of_one || cat "$work/out"

# A sum has all of its parts, in any order, and the sum of a sum.
"$bin" merge -o "$work/two.json" "$waits" "$work/flat.json" 2>"$work/err"
[ $? -eq 1 ] # callers in one alone
verdict $? merge_refuses_callers_of_one
sed 's/"futex"/"epoll_wait2"/; s/"name": "read"}/"name": "zread"}/' "$waits" >"$work/other.json"
"$bin" merge -o "$work/a.json" "$waits" "$work/other.json"
"$bin" merge -o "$work/b.json" "$work/other.json" "$waits"
cmp -s "$work/a.json" "$work/b.json"
verdict $? merge_any_order
"$bin" merge -o "$work/three.json" "$work/a.json" "$waits"
"$bin" report --waits --format json "$work/three.json" >"$work/report"
python3 - "$waits" "$work/report" "$work/three.json" <<'end'
import collections, json, sys
one, report, three = (json.load(open(path)) for path in sys.argv[1:])
sums, found = collections.Counter(), collections.Counter()
for account in one["waits"]["accounts"]:
    for number, ns, count in account["classes"]:
        of = one["waits"]["classes"][number]
        name, io = of["name"], of.get("io", False)
        sums[name, io] += 2 * ns
        sums[{"futex": "epoll_wait2", "read": "read" if io else "zread"}.get(name, name), io] += ns
for row in report["wall"]["classes"]:
    found[row["class"], row["io"]] += row["ns"]
assert sums == found, (sums, found)
assert report["wall"]["wall_ns"] == 3 * sum(of["wall_ns"] for of in one["waits"]["accounts"])
assert len(three["waits"]["sites"]) == len(one["waits"]["sites"])
end
verdict $? merge_adds_up

# Comparisons are of time, not of shares.
"$bin" diff --waits --format json "$waits" "$work/a.json" >"$work/diff"
python3 - "$work/diff" <<'end'
import json, sys
rows = {(row["class"], row["function"]): row for row in json.load(open(sys.argv[1]))["rows"]}
row = rows["read I/O", "write"]
assert (row["old"], row["new"], row["change_ns"]) == ({"ns": 200000000, "count": 2}, {"ns": 400000000, "count": 4}, 200000000), row
assert rows["epoll_wait2", "write"]["old"] == {"ns": 0, "count": 0}
end
verdict $? diff
same diff_text "$golden/waits-diff.txt" "$bin" diff --waits --inclusive \
	tests/golden/waits.json tests/golden/waits.json

# Classes
"$bin" report --waits --no-class '*' "$waits" | grep -q "^No wait that was chosen"
verdict $? no_class
[ "$("$bin" report --class read --format csv "$waits" | grep -c 'write')" -eq 2 ]
verdict $? class_with_io
[ "$("$bin" report --class 'read I/O' --format csv "$waits" | grep -c 'write')" -eq 1 ]
verdict $? class_io_only
expect no_such_class 1 "bpfprofil: report: --class 'nap': nothing waited in it
try: bpfprofil report --waits, which has all classes" "$bin" report --class nap "$waits"
expect without_waits 1 "bpfprofil: report: --waits: the profile has no waits
try: sudo bpfprofil attach --waits ..." "$bin" report --waits "$golden/callers.json"
expect diff_without_waits 1 "bpfprofil: diff: $golden/callers.json: the profile has no waits
try: sudo bpfprofil run --waits COMMAND, for both" "$bin" diff --waits "$waits" "$golden/callers.json"
expect export_without_waits 1 "bpfprofil: export: folded: --waits: the profile has no waits
try: sudo bpfprofil run --waits COMMAND" "$bin" export --format folded --waits "$golden/callers.json"
expect export_waits_of_pprof 2 "bpfprofil: export: --format pprof: takes no --waits
try: another --format" "$bin" export --format pprof -o "$work/none" --waits "$waits"
expect export_waits_of_object 2 "bpfprofil: export: --waits: takes no --object
try: leaving one of them out" "$bin" export --format folded --waits --object sh "$waits"
"$bin" export --format speedscope --object sh -o "$work/none" "$waits" 2>"$work/err"
grep -q ": --object leaves out the waits$" "$work/err"
verdict $? object_leaves_waits_out
expect by_bins 2 "bpfprofil: report: --waits: not with --by bins
try: leaving one of them out" "$bin" report --waits --by bins "$waits"
expect flat_tree 1 "bpfprofil: report: --tree: the profile has no callers
try: sudo bpfprofil attach --callers ..." "$bin" report --waits --tree "$work/flat.json"
expect diff_html 2 "bpfprofil: diff: --waits: takes no --html
try: leaving it out" "$bin" diff --waits --html "$work/page.html" "$waits" "$waits"

exit $script_status
