#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# report and export of a profile whose binaries do not exist here, and of files that are no
# profiles.
set -uo pipefail
. tests/lib/cli.bash

profile=$golden/profile.json

for by in functions objects lines bins cgroup; do
	same "report_text_$by" "$golden/report-$by.txt" "$bin" report --by "$by" "$profile"
	same "report_csv_$by" "$golden/report-$by.csv" "$bin" report --by "$by" --format csv "$profile"
done
same report_json "$golden/report-functions.json" "$bin" report --format json "$profile"
same report_json_cgroup "$golden/report-cgroup.json" \
	"$bin" report --by cgroup --format json "$profile"
same annotate_text "$golden/report-annotate.txt" \
	env LC_ALL=C.UTF-8 "$bin" report --annotate 'operator,(A, B)' "$profile"
LC_ALL=C "$bin" report --annotate 'operator,(A, B)' "$profile" >"$work/ascii" &&
	! grep -q '[^ -~]' "$work/ascii" && grep -q '%.* #### *' "$work/ascii"
verdict $? annotate_ascii
same annotate_csv "$golden/report-annotate.csv" \
	"$bin" report --annotate 'operator,' --format csv "$profile"
same annotate_json "$golden/report-annotate.json" \
	"$bin" report --annotate main --format json "$profile"
# If the scheduler's time is known, seconds are the scheduler's, stratum by stratum; and where they
# differ from the ticks, a line says so.
split=$golden/split.json
same report_text_cpu_time "$golden/split-functions.txt" "$bin" report "$split"
same report_text_cpu_time_process "$golden/split-process.txt" "$bin" report --by process "$split"
same report_csv_cpu_time "$golden/split-process.csv" \
	"$bin" report --by process --format csv "$split"
same report_json_cpu_time "$golden/split-process.json" \
	"$bin" report --by process --format json "$split"
same export_json_cpu_time "$split" "$bin" export --format json "$split"
callers=$golden/callers.json
same callers_text "$golden/callers-functions.txt" "$bin" report "$callers"
same callers_csv "$golden/callers-functions.csv" "$bin" report --format csv "$callers"
same callers_tree_text "$golden/callers-tree.txt" env LC_ALL=C.UTF-8 "$bin" report --tree "$callers"
same callers_tree_json "$golden/callers-tree.json" "$bin" report --tree --format json "$callers"
same callers_of "$golden/callers-of-write.csv" "$bin" report --callers write --format csv "$callers"
same callers_neighbours "$golden/callers-of-fib.txt" env LC_ALL=C.UTF-8 "$bin" report --callers fib "$callers"
[ "$("$bin" report --tree --depth 2 --min 0 --format csv "$callers" | cut -d, -f5 | sort -u | tr '\n' ' ')" = "0 1 depth " ]
verdict $? tree_depth
"$bin" report --tree --limit 4 "$callers" | sed '1,/^$/d' >"$work/out" && [ "$(grep -c '%' "$work/out")" -eq 4 ]
verdict $? tree_limit
# Of files of which one has no callers the sum has none, and a note says which files have them.
mkdir "$work/mixed" && cp "$callers" "$work/mixed/a.json" && cp "$callers" "$work/mixed/b.json" &&
	python3 -c '
import json, sys
doc = json.load(sys.stdin)
del doc["callers"]
doc["functions"] = [function for function in doc["functions"] if function["ticks"]]
print(json.dumps(doc))' \
		<"$callers" >"$work/mixed/c.json"
"$bin" report "$work/mixed" >"$work/out" &&
	grep -qx "note      callers are left out: 2 of 3 files have them, all but $work/mixed/c.json" "$work/out" &&
	grep -q '^ticks     2790 = ' "$work/out" && ! grep -q INCLUSIVE "$work/out"
verdict $? report_of_mixed_files
"$bin" report "$work/mixed/a.json" "$work/mixed/c.json" |
	grep -qx "note      callers are left out: 1 of 2 files have them, $work/mixed/a.json"
verdict $? report_of_a_file_with_callers
"$bin" report "$work/mixed/a.json" "$work/mixed/b.json" | grep -q INCLUSIVE
verdict $? report_of_files_with_callers
# By time: what a function took in each file with all that it called, and which caller sent most.
"$bin" report --by time --callers write "$work/mixed/a.json" "$work/mixed/b.json" >"$work/out" &&
	grep -qE '^ +SHARE +TICKS +SECONDS +TIME +HOTTEST CALLER$' "$work/out" &&
	[ "$(grep -cE '^ +4\.25% +100 +0\.129 .* main \(46\.59% of it\)$' "$work/out")" -eq 2 ]
verdict $? time_of_callers
"$bin" report --by time --callers write --format json "$callers" | python3 -c '
import json, sys
row, = json.load(sys.stdin)["rows"]
assert (row["caller"], row["ticks"]) == ("main", 100) and abs(row["caller_percent"] - 46.59) < 0.01, row'
verdict $? time_of_callers_json
"$bin" report --by time --callers write --format csv "$callers" | head -n 1 |
	grep -qx 'ticks,percent,started,duration_seconds,file,caller,caller_percent,seconds'
verdict $? time_of_callers_csv
expect time_of_no_callers 1 "bpfprofil: report: --callers: $work/mixed/c.json has no callers
try: only the files that have them" "$bin" report --by time --callers write "$work/mixed"
expect time_of_nobody 1 "bpfprofil: report: --callers 'nobody': in no chain of these files" \
	"$bin" report --by time --callers nobody "$callers"
expect report_tree_of_mixed_files 1 "bpfprofil: report: --tree: the profile has no callers
try: only the files that have them; report without it names them" "$bin" report --tree "$work/mixed"
# Names are cut at the terminal's width, at 200 columns in a pipe, and with --wide not at all.
long=$(printf 'long%.0s' {1..100})
sed "s/node::Start/$long::Start/" "$callers" >"$work/long"
widest() {
	sed '1,/^\r*$/d; s/\x1b\[[0-9;]*m//g; s/\r//' | LC_ALL=C.UTF-8 wc -L
}
for option in --tree --callers=fib; do
	[ "$("$bin" report $option "$work/long" | widest)" -eq 200 ] &&
		"$bin" report $option --wide "$work/long" | grep -q "$long" &&
		[ "$(script -qec "stty columns 100; $bin report --no-pager $option $work/long" /dev/null </dev/null | widest)" -eq 100 ]
	verdict $? "width: $option"
done
printf '%s\n' "bpfprofil: report: --tree: the profile has no callers" \
	"try: sudo bpfprofil attach --callers ..." >"$work/expected"
"$bin" report --tree "$profile" 2>"$work/found"
[ $? = 1 ] && cmp -s "$work/expected" "$work/found"
verdict $? tree_without_callers
# A format without callers says so, and those that have them do not.
[ "$("$bin" export --format csv "$callers" 2>&1 >"$work/out")" = \
	'bpfprofil: export: csv leaves out the callers: a row is a bin' ]
verdict $? note_without_callers
for format in folded speedscope json; do
	[ -z "$("$bin" export --format "$format" "$callers" 2>&1 >"$work/out")" ]
	verdict $? "no_note_with_callers: $format"
done
[ -z "$("$bin" report --html "$work/callers.html" "$callers" 2>&1)" ] &&
	[ -z "$("$bin" diff --html "$work/callers-diff.html" "$callers" "$callers" 2>&1)" ] &&
	grep -q 'id="callers"' "$work/callers.html" && grep -q 'id="callers-new"' "$work/callers-diff.html"
verdict $? html_has_callers
"$bin" export --format gmon -o "$work/gmon" "$callers" 2>&1 |
	grep -c 'gmon leaves out the callers: gprof wants counts of calls, which ticks are not$' | grep -qx 1
verdict $? note_of_many_files
"$bin" export --format folded "$callers" | awk '{ sum += $NF } END { exit sum != 905 }'
verdict $? folded_callers_sum
# What was inlined is a frame of its own: each tick is in hash(), inlined into find(), which main() calls.
# Which of a loop's instructions come first is the compiler's choice, so the loop is one line.
cat >"$work/inlined.c" <<-END
	static inline __attribute__((always_inline)) unsigned int hash(unsigned int n)
	{
		for (unsigned int i = 0; i < 9; i++) n = n * 33 ^ i * n >> 3;
		return n;
	}
	static __attribute__((noinline)) unsigned int find(unsigned int n)
	{
		return hash(n) + 1;
	}
	int main(int argc, char **argv)
	{
		(void)argv;
		return (int)find((unsigned int)argc) & 1;
	}
END
build_id=00112233445566778899aabbccddeeff00112233
gcc -O1 -g -Wl,--build-id=0x$build_id -o "$work/inlined" "$work/inlined.c" && nm "$work/inlined" >"$work/symbols"
python3 - "$callers" "$work/inlined" "$work/symbols" $build_id >"$work/inlined.json" <<-'END'
	import json, sys
	golden, path, symbols, build_id = sys.argv[1:]
	doc = json.load(open(golden))
	at = {line.split()[2]: int(line.split()[0], 16) for line in open(symbols) if line[0] != " "}
	ticks = dict(doc["ticks"], total=8, binned=8, outside=0, lost={})
	doc["ticks"], doc["targets"] = ticks, [{"id": 0, "kind": "command", "name": "inlined", "ticks": ticks}]
	doc["objects"] = [{"id": 0, "kind": "file", "path": path, "build_id": build_id,
	                   "text": [{"offset": 0x1000, "address": 0x1000, "size": 0x1000}]}]
	doc["histograms"] = [dict(doc["histograms"][0], pid=None, process=None, bins=[[at["find"] + 5 - 0x1000, 8]])]
	# A call is its last byte.
	sites = sorted([[0, at["find"] + 5], [0, at["main"] + 4]])
	doc["callers"] = {"sites": sites, "roots": [{"target": 0, "pid": None, "cgroup": None,
	                                             "end": "complete", "ticks": 0}],
	                  "nodes": [[-1, sites.index([0, at["main"] + 4]), 0],
	                            [0, sites.index([0, at["find"] + 5]), 8]]}
	doc["functions"] = [{"object": 0, "name": name, "offset": at[name], "size": size, "ticks": ticks}
	                    for name, size, ticks in (("find", 32, 8), ("main", 9, 0))]
	del doc["cpu_ns"], doc["splits"]
	json.dump(doc, sys.stdout)
END
# shown NAME EXPECTED OPTION...: ticks, inclusive ticks and what is behind them, but for places and times
shown() {
	printf '%s\n' "$2" >"$work/expected"
	"$bin" report --format csv "${@:3}" "$work/inlined.json" | sed 1d | cut -d, -f 1,3,5- |
		sed "s:$work/::g; s/,0x[0-9a-f]*,0x[0-9a-f]*,[0-9]*,/,/; s/,,,,/,/; s/,[0-9.]*\$//" >"$work/found"
	diff "$work/expected" "$work/found"
	verdict $? "$1"
}
shown inline_inclusive '8,8,inlined,hash,8
0,8,inlined,find,0
0,8,inlined,main,0' --inline
shown inline_tree '0,8,0,1,inlined,main,0
0,8,1,1,inlined,find,0
8,8,2,1,inlined,hash,0' --inline --tree
shown lines_inclusive '8,8,inlined,hash,inlined.c,3
0,8,inlined,find,inlined.c,8
0,8,inlined,main,inlined.c,13' --by lines
from_stdin() {
	"$bin" report - <"$profile"
}
same report_stdin "$golden/report-functions.txt" from_stdin
same report_piped_plain "$golden/report-functions.txt" \
	env -u NO_COLOR TERM=xterm "$bin" report "$profile"
# In a pipe there are 200 columns, unless complete names are asked for.
python3 - "$profile" "$work/long" <<'EOF'
import json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
for function in profile["functions"]:
    function["name"] += "<" + "x" * 3000 + ">"
json.dump(profile, open(sys.argv[2], "w", encoding="utf-8"))
EOF
widest() {
	"$bin" "$@" "$work/long" | python3 -c 'import sys; print(max(len(line) for line in sys.stdin) - 1)'
}
for arguments in report 'report --by bins' 'report --by lines'; do
	# shellcheck disable=SC2086 # words on purpose
	[ "$(widest $arguments)" -le 200 ]
	verdict $? "piped_width: $arguments"
done
[ "$(widest report --wide)" -gt 3000 ]
verdict $? wide_cuts_nothing
NO_COLOR=1 same report_no_color "$golden/report-functions.txt" \
	"$bin" report --color always "$profile"
"$bin" report --color always "$profile" | grep -q $'\e\\[1;31m'
verdict $? report_color
(cd "$work" && cp "$profile" bpfprofil.json && "$bin" report >default.txt)
cmp -s "$work/default.txt" "$golden/report-functions.txt"
verdict $? report_default_file

same export_json "$profile" "$bin" export --format json "$profile"
same export_csv "$golden/profile.csv" "$bin" export --format csv "$profile"
same export_folded "$golden/profile.folded" "$bin" export --format folded "$profile"
"$bin" export --format json -o "$work/copy.json.gz" "$profile" && gzip -t "$work/copy.json.gz" &&
	"$bin" export --format json "$work/copy.json.gz" | cmp -s - "$profile"
verdict $? export_gz
same export_schema user/profile/profile.schema.json "$bin" export --schema

bad() {
	local name=$1 text=$2

	shift 2
	expect "bad_$name" 1 "$text" "$@"
}

# --symfs finds a different program.
mkdir -p "$work/root/usr/bin" "$work/empty"
cp "$bin" "$work/root/usr/bin/work"
bad annotate_another_build "bpfprofil: report: /usr/bin/work: not the file that was profiled, \
whose build id is 00ff12ab
try: --symfs DIR, where the file that ran is below DIR, or profile again" \
	"$bin" report --symfs "$work/root" --annotate main "$profile"

# Names that were missing are looked up in what ran, once there are debug symbols of it.
cat >"$work/late.c" <<-END
	__attribute__((noinline)) static void hot(void) { for (volatile int i = 0; i < 9; i++); }
	int main(void) { hot(); return 0; }
END
gcc -O1 -g -Wl,--build-id -o "$work/late" "$work/late.c" &&
	objcopy --only-keep-debug "$work/late" "$work/full" && at=$(nm "$work/late" | awk '$3 == "hot" { print $1 }') &&
	strip "$work/late" && objcopy --add-gnu-debuglink="$work/full" "$work/late"
mv "$work/full" "$work/gone"
python3 - "$golden/profile.json" "$work/late" "$at" "$work/late.json" <<-'END'
	import json, re, subprocess, sys
	golden, path, at, out = sys.argv[1:]
	profile = json.load(open(golden))
	notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
	text, name = {"offset": 0x1000, "address": 0x1000, "size": 0x1000}, f"late+{int(at, 16):#x}"
	ticks = dict(profile["ticks"], total=1000, binned=1000, overflow=0, outside=0, filtered=0, lost={})
	profile["ticks"], profile["targets"] = ticks, [dict(profile["targets"][0], ticks=ticks)]
	profile["objects"] = [{"id": 0, "kind": "file", "path": path, "text": [text],
	                       "build_id": re.search("Build ID: (.*)", notes)[1]}]
	profile["functions"] = [{"object": 0, "name": name, "offset": int(at, 16), "size": 8, "ticks": 1000}]
	profile["histograms"] = [dict(profile["histograms"][0], target=0, object=0, offset=0x1000,
	                              size=0x1000, bins=[[int(at, 16) - 0x1000 + 4, 1000]])]
	profile["notes"] = [f"no names of some functions of {path}, with 100.0% of the ticks: install x"]
	json.dump(profile, open(out, "w"))
END
late() {
	"$bin" report "$work/late.json" 2>&1
}
late | grep -qE " late  +late\+0x[0-9a-f]+" && late | grep -q '^note .*no names of some functions'
verdict $? late_nameless
mv "$work/gone" "$work/full"
late | grep -qE ' 1000 .* late  +hot$' && ! late | grep -q 'no names of some functions'
verdict $? late_named
"$bin" report "$work/late.json" "$work/late.json" | grep -qE ' 2000 .* late  +hot$'
verdict $? late_named_in_sum
"$bin" export --format folded "$work/late.json" | grep -q 'hot 1000$'
verdict $? late_named_in_export
mkdir "$work/below" && mkdir -p "$work/below$work" && mv "$work/late" "$work/full" "$work/below$work"
late | grep -qE ' late  +late\+0x' && "$bin" report --symfs "$work/below" "$work/late.json" | grep -qE ' late  +hot$'
verdict $? late_named_below
# A link of a copied tree leads to what is in that tree, and never to a file of this host.
mv "$work/below$work/late" "$work/outside" && ln -s "$work/outside" "$work/below$work/late"
"$bin" report --symfs "$work/below" "$work/late.json" | grep -qE ' late  +late\+0x' &&
	mv "$work/outside" "$work/below$work/outside" &&
	"$bin" report --symfs "$work/below" "$work/late.json" | grep -qE ' late  +hot$'
verdict $? late_link_stays_below
# Another build has other names.
gcc -O1 -g -Wl,--build-id=0x1234 -o "$work/late" "$work/late.c"
late | grep -qE ' late  +late\+0x'
verdict $? late_other_build
bad no_file "bpfprofil: report: $work/no: No such file or directory" "$bin" report "$work/no"
bad no_default 'bpfprofil: report: bpfprofil.json: No such file or directory
try: sudo bpfprofil run COMMAND' env -C "$work/empty" "$bin" report
bad object "bpfprofil: report: object 'x': not in the profile
try: bpfprofil report --by objects" "$bin" report --object x "$profile"
bad target 'bpfprofil: report: target 9: not in the profile, which has 2' \
	"$bin" report --target 9 "$profile"
bad export_target 'bpfprofil: export: folded: target 2: not in the profile, which has 2' \
	"$bin" export --format folded --target 2 "$profile"
bad export_object "bpfprofil: export: folded: object 'x': not in the profile
try: bpfprofil report --by objects" "$bin" export --format folded --object x "$profile"
bad by_process 'bpfprofil: report: --by process: the profile was not split by it
try: sudo bpfprofil attach --split process ...' "$bin" report --by process "$profile"
bad annotate "bpfprofil: report: 'none': no function of that name has a tick
try: bpfprofil report, or OBJECT:SYMBOL, OBJECT:OFFSET, FILE:LINE" \
	"$bin" report --annotate none "$profile"
# What begins with the name comes before what has it in the middle of a word.
sed 's/"late"/"size_remaining"/; s/"main"/"do_mainloop"/' "$profile" >"$work/alike"
bad annotate_alike "bpfprofil: report: 'main': no function of that name has a tick; much like it: do_mainloop
try: bpfprofil report, or OBJECT:SYMBOL, OBJECT:OFFSET, FILE:LINE" \
	"$bin" report --annotate main "$work/alike"
bad annotate_in_object "bpfprofil: report: work: no function 'late' with a tick
try: bpfprofil report --object work" "$bin" report --annotate work:late "$profile"
bad annotate_line 'bpfprofil: report: work.c:1: no tick is known to be of that line
try: bpfprofil report --by lines' "$bin" report --annotate work.c:1 "$profile"
bad annotate_other_object "bpfprofil: report: 'late': no function of that name has a tick
try: bpfprofil report, or OBJECT:SYMBOL, OBJECT:OFFSET, FILE:LINE" \
	"$bin" report --annotate late --object work "$profile"
# One note for all objects without lines, naming the one with the most ticks.
sed 's/"kind": "kernel", "path": "\[kernel\]"/"kind": "file", "path": "\/usr\/bin\/rest"/' "$profile" >"$work/two"
[ "$("$bin" report --by lines "$work/two" | grep '^note      no source')" = \
	'note      no source lines of /usr/bin/work: No such file or directory; nor of 1 more; if a copy is below a folder, --symfs DIR finds it there' ]
verdict $? lines_of_several

# A browser is the user's and needs a desktop; the replacement here prints what it was given.
mkdir "$work/programs"
cat >"$work/programs/xdg-open" <<EOF
#!/bin/sh
echo "\$1" >"$work/opened"
EOF
chmod 755 "$work/programs/xdg-open"
as_user() {
	env -u DISPLAY -u WAYLAND_DISPLAY PATH="$work/programs:$PATH" "$@"
}
[ "$(id -u)" -eq 0 ] && as_user() {
	env -u DISPLAY -u WAYLAND_DISPLAY PATH="$work/programs:$PATH" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
mkdir -m 777 "$work/pages"
cp "$profile" "$work/pages/profile.json" && chmod 644 "$work/pages/profile.json"
cp "$bin" "$work/programs/"
chmod 777 "$work"
bad open_headless "bpfprofil: report: --open: no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set
try: leaving it out, and xdg-open $work/pages/page.html where there is one" \
	as_user "$work/programs/bpfprofil" report --html "$work/pages/page.html" --open "$work/pages/profile.json"
[ ! -e "$work/pages/page.html" ]
verdict $? open_refused_writes_nothing
as_user env DISPLAY=:9 "$work/programs/bpfprofil" report --html "$work/pages/page.html" --open "$work/pages/profile.json"
for _ in {1..100}; do
	[ -s "$work/opened" ] && break
	sleep 0.1
done
[ "$(cat "$work/opened")" = "$work/pages/page.html" ]
verdict $? open_runs_the_opener
if [ "$(id -u)" -eq 0 ]; then
	bad open_root "bpfprofil: report: --open: no browser is run as root
try: leaving it out, and xdg-open $work/page.html where there is one" \
		env DISPLAY=:9 "$bin" report --html "$work/page.html" --open "$profile"
fi
rm "$work/programs/xdg-open"
bad open_no_opener "bpfprofil: report: --open: xdg-open: No such file or directory
try: opening $work/pages/page.html in a browser" as_user env DISPLAY=:9 PATH="$work/programs" \
	"$work/programs/bpfprofil" report --html "$work/pages/page.html" --open "$work/pages/profile.json"
bad folder "bpfprofil: export: $work/no/out: No such file or directory" \
	"$bin" export --format csv -o "$work/no/out" "$profile"
to_full_disk() {
	"$bin" "$@" "$profile" >/dev/full
}
bad disk_full 'bpfprofil: report: standard output: No space left on device' to_full_disk report
bad export_disk_full 'bpfprofil: export: standard output: No space left on device' \
	to_full_disk export --format json

# Several files are added up as merge does; a folder stands for the files in it, in the order of
# time.
mkdir "$work/series" "$work/none"
for at in 20:00:00.5Z 21:59:59+02:00 20:00:01Z; do
	sed "s/\"started\": \"[^\"]*\"/\"started\": \"2026-01-31T$at\"/" "$profile" >"$work/series/$at.json"
done
sed -i 's/"late"/"soon"/; s/\[\[0,1\],/[[0,2001],/; s/"binned": *1000,/"binned": 3000,/g; s/"total": *1060/"total": 3060/; s/"total": *1000,/"total": 3000,/; s/"binned": *940,/"binned": 2940,/' "$work/series/20:00:01Z.json"
"$bin" merge -o "$work/sum.json" "$work/series/"*.json
"$bin" report --format csv "$work/sum.json" >"$work/expected"
same report_adds_up "$work/expected" "$bin" report --format csv "$work/series/"*.json
same report_folder "$work/expected" "$bin" report --format csv "$work/series"
"$bin" report "$work/series" | grep -qx 'files     3, added up; --by time has a row for each'
verdict $? report_folder_text
"$bin" report --by time --format json "$work/series" | python3 -c '
import json, os, sys
table = json.load(sys.stdin)
rows = table["rows"]
assert [os.path.basename(row["file"]) for row in rows] == ["21:59:59+02:00.json", "20:00:00.5Z.json", "20:00:01Z.json"]
assert sum(row["ticks"] for row in rows) == table["ticks"]["total"]
assert abs(sum(row["percent"] for row in rows) - 100) < 1e-6
assert [row["function"] for row in rows[:2]] == ["operator,(A, B)"] * 2 and rows[2]["function"] == "main", rows
assert all(row["duration_ns"] for row in rows)'
verdict $? report_by_time
[ "$("$bin" report --by time --limit 1 --format csv "$work/series" | sed -n '2s/,.*//p')" -gt 1060 ] &&
	[ "$("$bin" report --by time "$work/series" | grep -cE ' 2026-01-31T.* \([0-9.]+% of it\)$')" -eq 3 ]
verdict $? report_by_time_text
sed 's/"path": "\[kernel\]"/"path": "[kernel2]"/; s/"build_id": "8badf00d"/"build_id": "8badf00e"/' \
	"$profile" >"$work/series/other.json"
[ "$("$bin" report --by time --object '[kernel]' --format csv "$work/series" | cut -d, -f1 | sort | uniq -c |
	tr -s ' \n' ' ')" = ' 1 0 3 40 1 ticks ' ]
verdict $? report_by_time_of_object
rm "$work/series/other.json"
bad by_time_target 'bpfprofil: report: --by time: not of one target alone' \
	"$bin" report --by time --target 0 "$work/series"
bad empty_folder "bpfprofil: report: $work/none: no *.json or *.json.gz in this folder" \
	"$bin" report "$work/none"

# one_line NAME: whatever the file is, the exit status is 1, with one line that names the file.
one_line() {
	local got=0

	"$bin" report "$work/bad" >"$work/out" 2>"$work/err" || got=$?
	if [ "$got" -eq 1 ] && [ ! -s "$work/out" ] && [ "$(grep -vc '^try: ' "$work/err")" -eq 1 ] &&
		grep -qF "bpfprofil: report: $work/bad: " "$work/err"; then
		pass "bad_$1"
	else
		fail "bad_$1" "status $got: $(cat "$work/err")"
	fi
}

head -c 1000 "$profile" >"$work/bad"
one_line truncated
: >"$work/bad"
one_line empty
echo '{"format": "gprof"}' >"$work/bad"
one_line foreign
sed 's/"version": *1/"version": 2/' "$profile" >"$work/bad"
one_line newer
head -c 4096 "$bin" >"$work/bad"
one_line binary
rm "$work/bad"
mkdir "$work/bad"
one_line folder

# If the reader leaves, nothing is printed about it.
for arguments in 'report --by bins --format json' 'export --format json' 'export --schema' --help; do
	file=
	[[ $arguments != *--schema* && $arguments != --help ]] && file=$profile
	# shellcheck disable=SC2086 # words on purpose
	(
		trap '' PIPE
		"$bin" $arguments $file 2>"$work/err"
		echo $? >"$work/status"
	) | true
	[ ! -s "$work/err" ] && [ "$(cat "$work/status")" -le 1 ]
	verdict $? "reader_left: $arguments"
done

# On a terminal the account has only terms that are not 0; elsewhere it has all.
script -qec "$bin report --target 1 $golden/profile.json" /dev/null </dev/null | tr -d '\r' |
	grep '^ticks ' >"$work/terms" && ! grep -q ' + 0 ' "$work/terms" &&
	"$bin" report --target 1 "$golden/profile.json" | grep '^ticks ' | grep -q ' + 0 '
verdict $? report_terms_on_terminal

# on_terminal ROWS LINE: what a terminal with so many rows gets of a shell's line
on_terminal() {
	TERM=xterm script -qec "stty rows $1 cols 80; $2; echo \"status \$?\"" /dev/null </dev/null | tr -d '\r'
}

# paged NAME PATTERN ROWS LINE: what is shown has a line like this, and ends well
paged() {
	on_terminal "$3" "$4" >"$work/shown"
	grep -qE -- "$2" "$work/shown" && [ "$(tail -n 1 "$work/shown")" = 'status 0' ]
	verdict $? "$1"
}

report="$bin report --color never $golden/profile.json"
paged pager_of_what_is_long '^ +1	command ' 10 "PAGER='cat -n' $report"
[ "$(id -u)" -ne 0 ] ||
	paged pager_as_the_one_who_ran_sudo '^65534 65534 65534' 10 \
		"SUDO_UID=65534 SUDO_GID=65534 PAGER='echo \$(id -u; id -g; id -G); cat' $report"
[ "$(id -u)" -ne 0 ] ||
	paged pager_of_root_has_no_shell '^less 1' 10 "PAGER='echo less \$LESSSECURE; cat' $report"
paged pager_before_pager '^COMMAND ' 10 "BPFPROFIL_PAGER='tr a-z A-Z' PAGER='cat -n' $report"
paged pager_not_of_what_is_short '^command ' 50 "PAGER='cat -n' $report"
paged pager_none '^command ' 10 "BPFPROFIL_PAGER= PAGER='cat -n' $report"
paged pager_not_wanted '^command ' 10 "PAGER='cat -n' $report --no-pager"
paged pager_not_there '^command ' 10 "PAGER=bpfprofil-none $report"
paged pager_not_on_dumb '^command ' 10 "TERM=dumb PAGER='cat -n' $report"
paged pager_not_in_a_pipe '^command ' 10 "PAGER='cat -n' $report | cat"
paged pager_knows_the_terminal '^ +[0-9]+	ticks +.*binned$' 10 "PAGER='cat -n' $report --target 1"
paged pager_left_early '^command ' 10 "PAGER='head -n 1' $report --by bins --format json; PAGER='head -n 1' $report"
paged pager_of_annotate '^ +1	function ' 6 "PAGER='cat -n' $report --annotate main --hot"
paged pager_of_diff '^ +12	' 10 "PAGER='cat -n' $bin diff --color never $golden/profile.json $split"
on_terminal 10 "PAGER='cat -n' $report --by thread" >"$work/shown"
grep -q '^bpfprofil: report: --by thread: ' "$work/shown" && [ "$(tail -n 1 "$work/shown")" = 'status 1' ]
verdict $? pager_not_of_an_error
[ "$(on_terminal 10 "PAGER='cat -n' $bin diff --fail-above 1 $split $golden/profile.json" | tail -n 1)" = 'status 1' ]
verdict $? pager_leaves_the_status

exit "$script_status"
