#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Exports of real runs, read by the programs they are for: their figures must be report's.
set -uo pipefail
. tests/lib/cli.bash

workloads=$PWD/build/tests/live/workloads

# need TOOL NAME: skips NAME if TOOL is missing.
need() {
	command -v "$1" >/dev/null && return
	echo "SKIP cli::$2: no $1 in PATH"
	return 1
}

# profile NAME COMMAND...: writes $work/NAME.json
profile() {
	"$bin" run -q -F 4595 --force -o "$work/$1.json" "${@:2}" \
		>/dev/null 2>"$work/err" && return
	fail "profile_$1" "$(cat "$work/err")"
	exit 1
}

# export FORMAT NAME: writes $work/NAME.FORMAT
export_to() {
	"$bin" export --format "$1" -o "$work/$2.$1" "${@:3}" "$work/$2.json" 2>"$work/err"
}

# tick_ns NAME: what a tick of its only target stands for.
tick_ns() {
	python3 -c '
import json, sys
doc = json.load(sys.stdin)
print(doc["cpu_ns"] / doc["ticks"]["total"] if "cpu_ns" in doc else doc["sampling"]["period_ns"])' \
		<"$work/$1.json"
}

# "OBJECT FUNCTION TICKS" of each function, as in report; functions with the same name are added up.
functions() {
	"$bin" report --format json "${@:2}" "$work/$1.json" | python3 -c '
import collections, json, os, sys
sums = collections.Counter()
for row in json.load(sys.stdin)["rows"]:
    sums[os.path.basename(row["object"]), row["function"]] += row["ticks"]
for (where, name), ticks in sums.items():
    print(where, name.replace(" ", "_"), ticks)' | sort
}

# "FUNCTION TICKS" from these.
by_name() {
	awk '{ sums[$2] += $3 } END { for (key in sums) print key, sums[key] }' | sort
}

# The same lines from "OBJECT FUNCTION TICKS" in which a function may occur several times.
added_up() {
	awk '{ sums[$1 " " $2] += $3 } END { for (key in sums) print key, sums[key] }' | sort
}

agree() {
	local name=$1 expected=$2 found=$3

	if [ ! -s "$expected" ]; then
		fail "$name" 'nothing to compare'
	elif cmp -s "$expected" "$found"; then
		pass "$name"
	else
		diff "$expected" "$found" | head -n 20
		fail "$name" 'not as report has it'
	fi
}

can_sample export || exit "$script_status"
profile three "$workloads/three" 3000
functions three >"$work/functions"
tick=$(tick_ns three)

export_to folded three
sed 's/ \([0-9]*\)$/;\1/; s/ /_/g; s/;/ /g' "$work/three.folded" | sort >"$work/found"
agree folded "$work/functions" "$work/found"

export_to speedscope three
python3 -c '
import json, sys
doc = json.load(sys.stdin)
frames = doc["shared"]["frames"]
for profile in doc["profiles"]:
    assert sum(profile["weights"]) == profile["endValue"]
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        names = [frames[i]["name"].replace(" ", "_") for i in stack]
        print(*names, round(weight / float(sys.argv[1])))' "$tick" <"$work/three.speedscope" |
	sort >"$work/found"
agree speedscope "$work/functions" "$work/found"

# "DETAIL": checks that the rows' sums are report's, whatever a place is, and the account's; prints
# "ROW TICKS" by function.
rows() {
	export_to clickhouse three --detail "$1"
	python3 -c '
import collections, json, sys
ticks = collections.Counter()
ns = 0
for line in sys.stdin:
    row = json.loads(line)
    assert len({len(row[key]) for key in ("Addresses", "FunctionNames", "FileNames", "LineNumbers",
                                          "MappingFileNames")}) == 1
    if row["SampleType"] == "samples":
        ticks[row["FunctionNames"][-1].replace(" ", "_")] += row["Values"][0]
    else:
        ns += row["Values"][0]
doc = json.load(open(sys.argv[1]))
assert sum(ticks.values()) == doc["ticks"]["total"], ticks
assert ns == doc["targets"][0].get("cpu_ns", 0), ns
for name, n in ticks.items():
    if name[0] != "[" or name == "[unknown]":
        print(name, n)' "$work/three.json" <"$work/three.clickhouse" | sort
}

by_name <"$work/functions" >"$work/expected"
for detail in address line function; do
	rows "$detail" >"$work/found"
	agree "clickhouse_$detail" "$work/expected" "$work/found"
done
"$bin" export --format clickhouse --ddl | sed -n 's/^    \([A-Za-z]*\) .*/\1/p' | sort >"$work/expected"
python3 -c 'import json, sys
print(*json.loads(sys.stdin.readline()), sep="\n")
print("TraceId", "SpanId", "ProfileAttributes", sep="\n")' <"$work/three.clickhouse" | sort >"$work/found"
agree clickhouse_ddl "$work/expected" "$work/found"

annotated() {
	callgrind_annotate --threshold=100 --auto="$1" --context=0 "$work/three.callgrind"
}

# callgrind_annotate does not say to which object code belongs that was inlined from another file.
if need callgrind_annotate callgrind; then
	export_to callgrind three --object three
	functions three --object three >"$work/expected"
	annotated no | sed -nE 's/,//g; s/ \[.*\]$//; s/^ *([0-9]+) \([^)]*\)( +[0-9]+ +\([^)]*\))?  .*:(.*)$/three \3 \1/p' |
		added_up >"$work/found"
	agree callgrind_functions "$work/expected" "$work/found"
	# A source line that was hit, as "TICKS TEXT".
	"$bin" report --by lines --format json --object three "$work/three.json" | python3 -c '
import collections, json, sys
sums = collections.Counter()
for row in json.load(sys.stdin)["rows"]:
    if row["file"]:
        sums[row["file"], row["line"]] += row["ticks"]
for (file, line), ticks in sums.items():
    print(ticks, open(file).read().split("\n")[line - 1].strip())' | sort >"$work/lines"
	annotated yes | sed -n '/^-- Auto-annotated/,$p' |
		sed -nE 's/^ *([0-9,]+) \([^)]*\)( +[0-9,]+ +\([^)]*\))?\s+(.*)$/\1 \3/p' | sed -E ':a; s/^([0-9]*),/\1/; ta' |
		grep -v ' events annotated$' | sort >"$work/found"
	agree callgrind_lines "$work/lines" "$work/found"
fi

# Debian's go comes first, because it brings pprof along: a newer one builds it when it is first asked for,
# which took 45 s of CPU time.
go_pprof() {
	HOME=$work PPROF_TMPDIR=$work PATH=/usr/bin:$PATH go tool pprof "$@" 2>"$work/err"
}
pprof() {
	go_pprof -sample_index=samples -nodefraction=0 -nodecount=0 "$@"
}

# "FUNCTION TICKS" from pprof -top, which adds "(inline)" to some names.
top() {
	pprof -top "$@" | sed '1,/^ *flat /d; s/ (inline)$//; s/^ *//' | sed -E 's/ +/ /; s/ +/ /' |
		awk '$1 { name = $6; for (i = 7; i <= NF; i++) name = name "_" $i; print name, $1 }' | sort
}

# What a profile with callers has: -top is what it is without them, and -cum is INCLUSIVE.
cumulative() {
	pprof -top -cum -noinlines "$1" | sed '1,/^ *flat /d' | awk '$6 !~ /^\[/ { print $6, $1, $4 }' |
		sort
}

if need go pprof; then
	callers=$golden/callers.json
	"$bin" export --format pprof -o "$work/callers.pprof" "$callers" 2>"$work/err"
	cumulative "$work/callers.pprof" >"$work/found"
	# pprof adds up functions of one name, and leaves out what is in brackets.
	"$bin" report --format json "$callers" | python3 -c '
import json, sys
sums = {}
for row in json.load(sys.stdin)["rows"]:
    sum = sums.setdefault(row["function"].split("(")[0], [0, 0])
    sum[0] += row["ticks"]
    sum[1] += row["inclusive_ticks"]
for name, (ticks, inclusive) in sums.items():
    print(name, ticks, inclusive)' | sort >"$work/expected"
	agree pprof_callers "$work/expected" "$work/found"
	python3 -c 'import json, sys
doc = json.load(sys.stdin)
del doc["callers"]
doc["functions"] = [f for f in doc["functions"] if f["ticks"]]
print(json.dumps(doc))' <"$callers" >"$work/flat.json"
	"$bin" export --format pprof -o "$work/flat.pprof" "$work/flat.json" 2>"$work/err"
	top "$work/flat.pprof" >"$work/expected"
	top "$work/callers.pprof" | grep -v ' 0$' >"$work/found"
	agree pprof_flat_with_callers "$work/expected" "$work/found"
	export_to pprof three
	by_name <"$work/functions" >"$work/expected"
	top -noinlines "$work/three.pprof" >"$work/found"
	agree pprof_functions "$work/expected" "$work/found"
	ticks=$(sed -n 's/^three alpha //p' "$work/functions")
	pprof -list '^alpha$' "$work/three.pprof" | grep -qE " $ticks +[0-9]+:SPIN_FUNCTION\(alpha\)$"
	verdict $? pprof_list
	pprof -proto -output "$work/twice.pprof" "$work/three.pprof" "$work/three.pprof" >"$work/out"
	by_name <"$work/functions" | awk '{ print $1, 2 * $2 }' >"$work/expected"
	top -noinlines "$work/twice.pprof" >"$work/found"
	agree pprof_merge "$work/expected" "$work/found"
	# In other objects symbols and debug information may have different names for a function.
	functions three --object three --inline | by_name >"$work/expected"
	export_to pprof three --object three
	top "$work/three.pprof" >"$work/found"
	agree pprof_inlined "$work/expected" "$work/found"
	profile split --split process sh -c "$workloads/three 500; $workloads/one 500"
	export_to pprof split
	"$bin" report --by process --format json "$work/split.json" | python3 -c '
import collections, json, sys
sums = collections.Counter()
for row in json.load(sys.stdin)["rows"]:
    sums[row["process"]] += row["ticks"]
print(sums["three"], sums["one"])' >"$work/expected"
	for process in three one; do
		top -noinlines -tagfocus="process=^$process\$" "$work/split.pprof" |
			awk '{ sum += $2 } END { print sum }'
	done | paste -sd ' ' >"$work/found"
	agree pprof_labels "$work/expected" "$work/found"
fi

# "FUNCTION SECONDS" from gprof, for an object and its gmon.out.
gprof_seconds() {
	gprof -b -p "$1" "$2" 2>"$work/err" | awk '$4 && $3 + 0 > 0 { print $4, $3 }' | sort
}

# A profile in which a tick is a second, so that gprof's hundredths tell all apart, and with 1,000
# times as many ticks, which is more than 16 bits hold.
thousandfold() {
	python3 -c '
import json, sys
def grow(ticks):
    return {key: grow(n) if key == "lost" else n * 1000 for key, n in ticks.items()}
doc = json.load(sys.stdin)
doc["sampling"]["period_ns"] = 10**9
doc.pop("splits", None)
for account in [doc] + doc["targets"]:
    account["ticks"] = grow(account["ticks"])
    account.pop("cpu_ns", None)
for histogram in doc["histograms"]:
    histogram["bins"] = [[at, n * 1000] for at, n in histogram["bins"]]
for function in doc["functions"]:
    function["ticks"] *= 1000
json.dump(doc, sys.stdout)' <"$work/$1.json" >"$work/$2.json"
}

# gprof_agrees NAME PROFILE OBJECT: the names of .plt and its like are in no symbol table, and gprof counts what is
# there for _init, which is before them.
gprof_agrees() {
	functions "$2" --object "${3##*/}" | awk '{ sums[$2 ~ /@plt$|\+0x/ ? "_init" : $2] += $3 }
		END { for (name in sums) printf "%s %d.00\n", name, sums[name] }' | sort >"$work/expected"
	gprof_seconds "$3" "$work/gmon.${3##*/}.out" >"$work/found"
	agree "gmon_$1" "$work/expected" "$work/found"
}

gmon() {
	"$bin" export --format gmon -o "$work" "$work/$1.json" 2>"$work/err"
}

if need gprof gmon; then
	gmon three
	"$bin" export --format gmon -o "$work/made" "$work/three.json" 2>"$work/err" &&
		cmp "$work/made/gmon.three.out" "$work/gmon.three.out"
	verdict $? gmon_makes_the_folder
	functions three --object three | awk '/ (alpha|beta|delta) / { print $2, $3 }' | sort |
		join - <(gprof_seconds "$workloads/three" "$work/gmon.three.out") |
		awk -v tick="$tick" '{
			off = $3 - $2 * tick / 1e9
			bad = bad || off > 0.006 || off < -0.006
			n++
		} END { exit bad || n != 3 }'
	verdict $? gmon_seconds
	thousandfold three wide
	gmon wide
	grep -q "^try: gprof -b .*/three $work/gmon.three.out$" "$work/err"
	verdict $? gmon_hint
	gprof_agrees pie wide "$workloads/three"
	profile plugins "$workloads/plugins" 20 20 "$workloads/plugin_a.so" "$workloads/plugin_b.so"
	thousandfold plugins wide
	gmon wide
	gprof_agrees shared_object wide "$workloads/plugin_a.so"
	profile nopie "$workloads/three_nopie" 500
	thousandfold nopie wide
	gmon wide
	gprof_agrees no_pie wide "$workloads/three_nopie"
	# gprof adds up two runs of one program.
	gprof_seconds "$workloads/three_nopie" "$work/gmon.three_nopie.out" |
		awk '{ printf "%s %.2f\n", $1, 2 * $2 }' >"$work/expected"
	gprof -b -p "$workloads/three_nopie" "$work/gmon.three_nopie.out" "$work/gmon.three_nopie.out" \
		2>"$work/err" | awk '$4 && $3 + 0 > 0 { print $4, $3 }' | sort >"$work/found"
	agree gmon_sum "$work/expected" "$work/found"
fi
# The same run as if its ticks had seen 0.4 of the time: all seconds are 2.5 times as many.
python3 -c '
import json, sys
doc = json.load(sys.stdin)
doc.pop("splits", None)
period = doc["sampling"]["period_ns"]
doc["cpu_ns"] = doc["targets"][0]["cpu_ns"] = doc["ticks"]["total"] * period * 5 // 2
json.dump(doc, sys.stdout)' <"$work/three.json" >"$work/bursts.json"
# "FUNCTION SECONDS", or the sum.
report_seconds() {
	"$bin" report --format json "$@" "$work/bursts.json" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["function"].replace(" ", "_"), row["seconds"])' | sort
}
# close NAME FILE: lines of a name and two figures that must differ by less than a hundredth of a
# second
close() {
	awk '{ off = $2 - $3; bad = bad || off > 0.011 || off < -0.011 } END { exit bad || NR < 1 }' "$2"
	verdict $? "$1"
}
sum_of_seconds() {
	report_seconds | awk '{ sum += $2 } END { printf "%.9f\n", sum }'
}
if need go pprof_cpu_time; then
	export_to pprof bursts
	go_pprof -raw "$work/bursts.pprof" |
		awk -v all="$(sum_of_seconds)" '/^Locations/ { exit } /^ +[0-9]+ +[0-9]+:/ { sum += $2 }
			END { printf "sum %.9f %.9f\n", sum / 1e9, all }' >"$work/found"
	close pprof_cpu_time "$work/found"
fi
if need callgrind_annotate callgrind_cpu_time; then
	export_to callgrind bursts
	sed -n 's/^totals: [0-9]* //p' "$work/bursts.callgrind" |
		awk -v all="$(sum_of_seconds)" '{ print "sum", $1 / 1e9, all }' >"$work/found"
	close callgrind_cpu_time "$work/found"
	callgrind_annotate "$work/bursts.callgrind" | grep -q '^Events recorded: *Ticks ns$'
	verdict $? callgrind_events
fi
if need gprof gmon_cpu_time; then
	gmon bursts
	report_seconds --object three | grep -E '^(alpha|beta|delta) ' |
		join - <(gprof_seconds "$workloads/three" "$work/gmon.three.out") >"$work/found"
	close gmon_cpu_time "$work/found"
fi
expect gmon_stdout 2 "bpfprofil: export: --output '-': gmon has a file for each object
try: -o FOLDER" "$bin" export --format gmon -o - "$golden/profile.json"
expect gmon_nothing 1 "bpfprofil: export: gmon: no tick is in an object that has a file" \
	"$bin" export --format gmon --object '[kernel]' "$golden/profile.json"
"$bin" export --format gmon -o "$work" "$golden/profile.json" 2>"$work/err"
[ "$(cat "$work/err")" = "bpfprofil: export: 1 file in $work; 340 ticks are in no file of text
try: gprof -b /usr/bin/work $work/gmon.work.out" ]
verdict $? gmon_ticks_left_out
# A path that is cut would name another file.
long=$(printf 'x%.0s' {1..255})
"$bin" export --format gmon -o "$work/$long" "$golden/profile.json" 2>"$work/err" && ! grep -q ^try: "$work/err"
verdict $? gmon_hint_without_room

# Three libraries, where the second with its number could have the name of the third.
python3 - "$golden/profile.json" >"$work/names.json" <<'end'
import json, sys
doc = json.load(open(sys.argv[1]))
ticks = dict(doc["histograms"][0], bins=[[0, 1]])
paths = "/a/libz.so", "/b/libz.so", "/usr/lib/libz.so.1"
doc["objects"] = [dict(doc["objects"][0], id=i, path=path, build_id=None) for i, path in enumerate(paths)]
doc["histograms"] = [dict(ticks, object=i) for i in range(3)]
doc["functions"], doc["targets"] = [], doc["targets"][:1]
doc["ticks"] = doc["targets"][0]["ticks"] = dict(doc["targets"][0]["ticks"], total=53, binned=3, overflow=0)
json.dump(doc, sys.stdout)
end
"$bin" export --format gmon -o "$work/names" "$work/names.json" 2>"$work/err"
[ "$(LC_ALL=C ls "$work/names")" = "gmon.libz.so%1.out
gmon.libz.so.1.out
gmon.libz.so.out" ] || false
verdict $? gmon_names

# A program of loops, inlining and branches that are nearly always taken, built by clang.
cat >"$work/shape.c" <<'end'
#include <stdio.h>
#include <stdlib.h>
static unsigned int state = 1;
static inline unsigned int turn(unsigned int x) { return x * 1664525u + 1013904223u; }
static __attribute__((noinline)) unsigned int rare(unsigned int x)
{
	for (int i = 0; i < 40; i++)
		x = turn(x) ^ (x >> 3);
	return x;
}
static __attribute__((noinline)) unsigned int step(unsigned int x)
{
	if (x % 1024 == 0)
		return rare(x);
	return x & 1 ? turn(x) : x / 3 + 7;
}
int main(int argc, char **argv)
{
	for (long i = atol(argv[argc - 1]); i > 0; i--)
		state = step(turn(state));
	return !printf("%u\n", state);
}
end

# Compilers only warn about a profile that they cannot use, so -Werror is needed.
if need clang llvm_sample && need llvm-profdata llvm_sample; then
	clang -O2 -g -fdebug-info-for-profiling -Wl,--build-id \
		-o "$work/shape" "$work/shape.c"
	profile shape -F 9973 --mode user "$work/shape" 150000000
	export_to llvm-sample shape --object shape
	verdict $? llvm_sample_written
	llvm-profdata show --sample "$work/shape.llvm-sample" >"$work/out" 2>"$work/err" &&
		grep -q '^Function: main: ' "$work/out" && grep -q '^Function: step: ' "$work/out" &&
		grep -q 'inlined callee: turn' "$work/out"
	verdict $? llvm_sample_shown
	llvm-profdata merge --sample -o "$work/merged" "$work/shape.llvm-sample" "$work/shape.llvm-sample"
	verdict $? llvm_sample_merged
	clang -O2 -Werror -Wall -fprofile-sample-use="$work/shape.llvm-sample" -S -emit-llvm \
		-o "$work/shape.ll" "$work/shape.c" 2>"$work/err" && [ ! -s "$work/err" ] &&
		grep -q 'define .*@step.*!prof' "$work/shape.ll"
	verdict $? llvm_sample_used
fi

# On a terminal binary output is refused, but text is not, nor is output to a file.
on_terminal() {
	script -qec "$bin export $* $golden/profile.json" /dev/null </dev/null | tr -d '\r'
}
[ "$(on_terminal --format pprof)" = "bpfprofil: export: --format pprof: is binary, and not for a terminal
try: -o FILE, or a pipe" ] || false
verdict $? export_binary_on_terminal
on_terminal --format csv | grep '^target,' >/dev/null &&
	[[ $(on_terminal --format pprof -o "$work/on_terminal.pb.gz") != *terminal* ]] &&
	gzip -t "$work/on_terminal.pb.gz"
verdict $? export_text_on_terminal

exit "$script_status"
