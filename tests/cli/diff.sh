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
# Names are cut at the terminal's width. A narrow one has no seconds.
sed "s/operator,(A, B)/$(printf 'long%.0s' {1..100})/" "$b" >"$work/long"
widest() {
	script -qec "stty columns $1; $bin diff --no-pager --by functions $a $work/long" /dev/null </dev/null |
		sed '/CHANGE/,/^\r*$/!d; s/\x1b\[[0-9;]*m//g; s/\r//' | LC_ALL=C.UTF-8 wc -L
}
[ "$(widest 80)" -eq 80 ] && [ "$(widest 100)" -eq 100 ]
verdict $? diff_width
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

# With callers: what changed with all that it called, and by which call. 250 ticks move from spin to write.
callers=$golden/callers.json
sed 's/\[6,0,400\],\[7,4,50\]/[6,0,150],[7,4,300]/; s/\[\[4,410\]\]/[[4,160]]/; s/\[\[8308,80\]\]/[[8308,330]]/
	s/\("name": "spin".*\)410/\1160/; s/\("name": "write".*\)100/\1350/' "$callers" >"$work/called"
"$bin" diff --by calls "$callers" "$work/called" | grep -qE ' 3\.96% +20\.46% +\+16\.50 +<0\.0001 .* libc\.so\.6 +main -> write$'
verdict $? diff_by_calls
"$bin" diff --by calls --format csv "$callers" "$work/called" | sed -n '1p;3p' >"$work/out"
printf '%s\n' "old_ticks,old_percent,new_ticks,new_percent,change,probability,significant,object,function,file,line,old_seconds,new_seconds,caller_object,caller" >"$work/expected"
head -n 1 "$work/out" | cmp -s - "$work/expected" &&
	grep -qE '^60,3\.9604,310,20\.4620,16\.5017,[^,]*,true,/usr/lib/libc\.so\.6,write,,,0\.060000000,0\.310000000,/usr/bin/steady,main$' "$work/out"
verdict $? diff_calls_csv
for options in --inclusive "--by calls" "--inclusive --by objects"; do
	read -ra words <<<"$options"
	"$bin" diff "${words[@]}" --format json "$callers" "$work/called" | python3 -c '
import json, sys
table = json.load(sys.stdin)
rows = {(row.get("caller"), row.get("function"), row["object"]): row for row in table["rows"]}
assert table["inclusive"] and table["of"] == len(rows) == len(table["rows"]), table
assert table["by"] == sys.argv[1], table["by"]
if table["by"] == "calls":
    row = rows["main", "write", "/usr/lib/libc.so.6"]
    assert row["caller_object"] == "/usr/bin/steady" and row["significant"], row
    assert (row["old"]["ticks"], row["new"]["ticks"]) == (60, 310), row
    assert rows["[cut: late]", "write", "/usr/lib/libc.so.6"]["caller_object"] is None
elif table["by"] == "functions":
    row = rows[None, "main", "/usr/bin/steady"]
    assert (row["old"]["ticks"], row["new"]["ticks"], row["significant"]) == (470, 470, False), row
else:
    row = rows[None, None, "/usr/bin/steady"]
    assert (row["old"]["ticks"], row["new"]["ticks"]) == (470, 470), row
' "$(case $options in *calls) echo calls ;; *objects) echo objects ;; *) echo functions ;; esac)"
	verdict $? "diff_json: $options"
done
"$bin" diff "$callers" "$work/called" >"$work/out"
grep '^changed' "$work/out" >"$work/found"
printf '%s\n' 'changed   2 of 9 functions, with all that they called, beyond noise' \
	'changed   2 of 11 calls, beyond noise' \
	'changed   2 of 7 functions beyond noise: those with a P, how probable it is by chance, below 1 % for all together' |
	diff - "$work/found"
verdict $? diff_three_tables
"$bin" diff --by functions "$callers" "$work/called" | grep -c '^changed' | grep -qx 1
verdict $? diff_one_table
expect diff_without_callers 1 "bpfprofil: diff: $a: the profile has no callers
try: sudo bpfprofil run --callers COMMAND, for both" "$bin" diff --by calls "$callers" "$a"
expect diff_inclusive_lines 2 "bpfprofil: diff: --inclusive: not with --by lines
try: leaving one of them out" "$bin" diff --inclusive --by lines "$callers" "$callers"
expect diff_html_of_calls 2 "bpfprofil: diff: --html: takes no --by calls, the page shows all
try: leaving it out" "$bin" diff --html "$work/page" --by calls "$callers" "$callers"

# Real programs: in one build find() walks longer chains, and in another render() looks up three times as often.
can_sample diff_of_builds || exit "$script_status"
cat >"$work/table.c" <<'END'
#define APART __attribute__((noinline, noclone))
#define SPIN(name)                                                                                 \
	APART static int name(int n)                                                               \
	{                                                                                          \
		volatile int i = 0;                                                                \
                                                                                                   \
		while (i < n)                                                                      \
			i++;                                                                       \
		return i;                                                                          \
	}
SPIN(read_in)
SPIN(draw)
SPIN(write_out)
APART static int find(void)
{
	volatile int i = 0;

	while (i < 20 * CHAIN)
		i++;
	return i;
}
APART static int lookup(void)
{
	return find() + 1;
}
APART static int render(void)
{
	int n = 0;

	for (int i = 0; i < RENDERED; i++)
		n += lookup();
	return n;
}
APART static int parse(void)
{
	return lookup() + lookup() + 1;
}
int main(void)
{
	long n = 0;

	for (int i = 0; i < 1800000; i++)
		n += render() + parse() + read_in(200) + draw(200) + write_out(200);
	return n < 0;
}
END
build() {
	gcc -O1 -fno-inline -DCHAIN="$2" -DRENDERED="$3" -o "$work/$1" "$work/table.c" &&
		"$bin" run -q --callers -F 997 -o "$work/$1.json" -- "$work/$1"
}
build usual 5 2 && build long 10 2 && build more 5 6
verdict $? diff_builds
changes() {
	"$bin" diff --map usual="$1" "${@:2}" --format csv "$work/usual.json" "$work/$1.json"
}
changes long --inclusive | sed -n 2p | cut -d, -f 7,9 | grep -qx 'true,find'
verdict $? diff_of_longer_chains
# That render() loops more is a change of its own, which its caller may pass on before it.
changes more --by calls | awk -F, '$9 == "lookup" { print $5, $7, $15; exit }' |
	grep -qx '[0-9.]* true render'
verdict $? diff_of_more_calls

exit "$script_status"
