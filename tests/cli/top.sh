#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The live view of a real program: as tables in a pipe, and on a terminal, for which tmux is used.
set -uo pipefail
. tests/lib/cli.bash

workloads=$PWD/build/tests/live/workloads
tmux=()
sessions=0
target=

clean_up() {
	[ ${#tmux[@]} -eq 0 ] || "${tmux[@]}" kill-server 2>/dev/null
}

# watched PROGRAM...: runs it until the next one or the end; its pid is in $target.
watched() {
	[ -z "$target" ] || { kill "$target" && wait "$target"; } 2>/dev/null
	"$@" &
	target=$!
}

# The sum of the TICKS of the last table in a file.
last_ticks() {
	awk '/^overall/ { sum = 0; last = 1 } last && $1 ~ /%$/ { sum += $2 } END { print sum + 0 }' "$1"
}

# The line after "overall" has the account: its terms must add up, and the table must add up to
# "binned".
account_is_exact() {
	local line terms binned

	line=$(grep -A 1 '^overall' "$1" | tail -n 1)
	terms=${line#* = }
	terms=${terms%% (*}
	binned=${terms%% *}
	[ "${line%% *}" -gt 0 ] && [ "${line%% *}" -eq $((${terms//[a-z]/})) ] &&
		[ "$(last_ticks "$1")" -eq "$binned" ]
}

can_sample top || exit "$script_status"
watched "$workloads/three" 100000000

timeout 60 "$bin" top --pid "$target" -d 0.3 -n 3 --rows 0 >"$work/plain" 2>"$work/err"
verdict $? top_plain_status
[ ! -s "$work/err" ] && [ "$(grep -cE '^[0-9]{4}-[0-9]{2}-[0-9]{2}T.* ticks in ' "$work/plain")" -eq 3 ] &&
	grep -A 2 '^overall' "$work/plain" | grep -qE '^ +ALL +TICKS +OBJECT +FUNCTION$'
verdict $? top_plain_tables
grep -qE ' three +alpha$' "$work/plain" && grep -qE ' three +beta$' "$work/plain"
verdict $? top_plain_names
account_is_exact "$work/plain"
verdict $? top_plain_account
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 1 --by processes >"$work/plain" 2>&1 &&
	grep -qE "^ *100\.00% +100\.00% +[0-9]+ +$target +three$" "$work/plain"
shown=$?
verdict "$shown" top_plain_processes
[ "$shown" -eq 0 ] || cat "$work/plain"
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 1 --by comm >"$work/plain" 2>&1 &&
	grep -qE "^ *100\.00% +100\.00% +[0-9]+ +three$" "$work/plain"
verdict $? top_plain_comm
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 1 --by threads >"$work/plain" 2>&1 &&
	grep -qE "^ +ALL +TICKS +TID +THREAD$" "$work/plain" &&
	grep -qE "^ *100\.00% +100\.00% +[0-9]+ +$target +three$" "$work/plain"
verdict $? top_plain_threads


# total FILE: the total of a profile's account, which report finds exact
total() {
	"$bin" report --format json "$1" | python3 -c 'import json, sys
ticks = json.load(sys.stdin)["ticks"]
assert ticks["total"] == sum(ticks["lost"].values()) + sum(v for k, v in ticks.items() if k not in ("total", "lost"))
print(ticks["total"])'
}

# The file written at the end has what all tables have.
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 2 -o "$work/saved.json" >"$work/plain" 2>"$work/err" &&
	[ "$(cat "$work/err")" = "profile: $work/saved.json" ] &&
	[ "$(total "$work/saved.json")" = "$(awk '/^overall/ { getline; print $1 }' "$work/plain")" ] &&
	"$bin" report "$work/saved.json" | grep -qE ' three +alpha$' &&
	"$bin" report --by process "$work/saved.json" | grep -qE "  $target +three$"
verdict $? top_plain_output
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 1 -o "$work/saved.json" >/dev/null 2>&1 &&
	[ -s "$work/saved.json.old" ]
verdict $? top_plain_output_keeps_old
timeout 60 "$bin" top --pid "$target" -d 0.3 -n 1 -o "$work/none/saved.json" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ ! -s "$work/out" ] && grep -q "^bpfprofil: top: $work/none/saved.json: No such" "$work/err"
verdict $? top_output_is_checked_before
timeout 60 "$bin" top --pid "$target" -o - >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q '^bpfprofil: top: -o -: ' "$work/err"
verdict $? top_output_is_not_stdout

# tables PID: starts to write its tables to $work/plain, in the background, and waits for the first
tables() {
	local tries

	rm -f "$work/plain"
	"$bin" top --pid "$1" -d 0.3 >"$work/plain" 2>&1 &
	for ((tries = 0; tries < 200; tries++)); do
		[ -s "$work/plain" ] && return
		sleep 0.1
	done
}

# With callers a table has what functions called, too, and those that only call others.
"$workloads/callers" plain 100000000 >/dev/null &
caller=$!
timeout 60 "$bin" top --pid "$caller" --callers -F 997 -d 0.5 -n 2 --rows 0 >"$work/plain" 2>"$work/err"
[ ! -s "$work/err" ] && grep -qE '^ +NOW +ALL +INCL +TICKS +OBJECT +FUNCTION$' "$work/plain" &&
	grep -qE '^ +[0-9.]+% +[0-9.]+% +[0-9]+ +callers +leaf$' "$work/plain" &&
	awk '/^overall/ { all = 1 } all && $NF == "first" { first = $2 + 0 } all && $NF == "main" { main = $2 + 0 }
		END { exit !(first > 30 && first < 70 && main > 90) }' "$work/plain"
verdict $? top_plain_callers
kill "$caller"

# SIGTERM ends it with a table of everything so far.
tables "$target"
kill $! && wait $! && account_is_exact "$work/plain"
verdict $? top_plain_sigterm

timeout 60 "$bin" top --pid "$target" -d 0.1 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[0]}" -eq 1 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ]
verdict $? top_plain_reader_leaves
timeout 60 "$bin" top --pid "$target" -d 0.1 2>"$work/err" >/dev/full
[ $? -eq 1 ] && [ "$(cat "$work/err")" = "bpfprofil: top: standard output: No space left on device" ]
verdict $? top_plain_full_disk

# Without a reader or room for the tables, the file is still written.
timeout 60 "$bin" top --pid "$target" -d 0.3 -o "$work/left.json" 2>"$work/err" | head -n 1 >"$work/out"
[ "${PIPESTATUS[0]}" -eq 1 ] && [ "$(cat "$work/err")" = "profile: $work/left.json" ] &&
	[ "$(total "$work/left.json")" -gt 0 ]
verdict $? top_plain_reader_leaves_output
timeout 60 "$bin" top --pid "$target" -d 0.3 -o "$work/full.json" 2>"$work/err" >/dev/full
[ $? -eq 1 ] && [ "$(total "$work/full.json")" -gt 0 ] && [ "$(cat "$work/err")" = "profile: $work/full.json
bpfprofil: top: standard output: No space left on device" ]
verdict $? top_plain_full_disk_output

# The last target has ended.
sleep 1000 &
sleeper=$!
tables "$sleeper"
kill "$sleeper" && wait $! && grep -q '^overall' "$work/plain"
verdict $? top_target_ends

if ! command -v tmux >/dev/null; then
	echo "SKIP cli::top_screen: no tmux in PATH"
	exit "$script_status"
fi

# begin COLUMNS ROWS COMMAND...: runs COMMAND in a shell on a terminal of that size
begin() {
	local columns=$1 rows=$2

	shift 2
	# Each has its own server, because a server that is ending takes a new session down with it.
	[ ${#tmux[@]} -eq 0 ] || "${tmux[@]}" kill-server 2>/dev/null
	tmux=(tmux -L "bpfprofil-top-$$-$((++sessions))" -f /dev/null)
	"${tmux[@]}" new-session -d -x "$columns" -y "$rows" -s top \
		"stty -g >$work/before; $*; status=\$?; stty -g >$work/after; echo \"status \$status\"; sleep 1000"
}

press() {
	"${tmux[@]}" send-keys -t top "$@"
}

screen() {
	"${tmux[@]}" capture-pane -p -t top "$@"
}

# shows PATTERN [OPTION...]: waits until the screen shows it
shows() {
	local pattern=$1 tries

	shift
	for ((tries = 0; tries < 200; tries++)); do
		screen "$@" | grep -qE -- "$pattern" && return
		sleep 0.1
	done
	screen
	return 1
}

# The terminal is as before: the first screen, the modes, and the account on it.
gives_back() {
	shows '^status 0$' && shows '^overall ' && cmp -s "$work/before" "$work/after" &&
		[ "$("${tmux[@]}" display -p -t top '#{alternate_on}#{cursor_flag}')" = 01 ]
}

top="env LC_ALL=C.UTF-8 $bin top --pid $target -d 0.3"
begin 80 24 "TERM=tmux-256color $top"
shows '^ *[0-9.]+% +[0-9.]+% +[0-9]+  three +alpha *$' && shows '^   NOW▼ +ALL +TICKS  OBJECT +FUNCTION' &&
	[ "$(screen | grep -c '')" -eq 24 ]
verdict $? top_screen_80x24
shows $'\e\[(1;)?31m|\e\[1m\e\[31m' -e
verdict $? top_screen_colors
press p && shows "  $target +three" && press o && shows '  file +.*/workloads/three$' &&
	press Tab Tab && shows 'Control groups are not separated' && press BTab && shows "  $target +three" &&
	press 1 && shows '  three +alpha'
verdict $? top_screen_views
press s && shows 'ALL▼' && press s s && shows 'FUNCTION▼' && press s && shows 'NOW▼'
verdict $? top_screen_sorts
press / && press -l ETA && shows '^filter: ETA' && press Enter && shows 'filter: ETA$' && shows '  three +beta' &&
	! screen | grep -q alpha && press Escape && shows alpha && ! screen | grep -q filter:
verdict $? top_screen_filters
press Space && shows FROZEN && screen >"$work/frozen" && sleep 1 && screen | cmp -s - "$work/frozen" &&
	press Space && for ((i = 0; i < 200; i++)); do
	screen | grep '^all ' | cmp -s - <(grep '^all ' "$work/frozen") || break
	sleep 0.1
done && [ "$i" -lt 200 ] && ! screen | grep -q FROZEN
verdict $? top_screen_freezes
# On a busy host an interval may have no tick, and then there is nothing to annotate.
for ((i = 0; i < 20; i++)); do
	press Enter && shows '^function |had no tick' >/dev/null && ! screen | grep -q 'had no tick' && break
	press Escape && shows '  three +beta' >/dev/null
done
shows '^function  (alpha|beta|delta)$' && shows '^object .*/three$' && shows '[0-9]% +[0-9]+ █' &&
	press H && shows 'as it stands' && press Escape && shows '  three +beta'
verdict $? top_screen_annotates
press h && shows '^q .*quit' && press x && shows alpha
verdict $? top_screen_helps
press C && shows 'No callers were counted: start top with --callers'
verdict $? top_screen_without_callers
"$workloads/callers" plain 100000000 >/dev/null &
caller=$!
begin 100 40 "env LC_ALL=C.UTF-8 TERM=tmux-256color $bin top --pid $caller --callers -F 997 -d 0.3"
shows '  callers +leaf *$' && press / && press -l leaf && press Enter && shows 'filter: leaf$' && press C &&
	shows '^ +[0-9.]+% +[0-9]+  called by  first' && shows '^ +100\.00% +[0-9]+ +leaf' &&
	screen | grep -qE '^ +[0-9.]+% +[0-9]+ +second' && press Escape && shows '  callers +leaf *$'
verdict $? top_screen_callers
kill "$caller"
begin 80 24 "TERM=tmux-256color $top"
shows '  three +alpha *$'
for size in 132x43 20x5 1x1 200x3 80x2 132x43; do
	"${tmux[@]}" resize-window -t top -x "${size%x*}" -y "${size#*x}"
	sleep 0.5
done
shows '  three +alpha' && [ "$(screen | grep -c '')" -eq 43 ]
verdict $? top_screen_resizes
press q && gives_back
verdict $? top_screen_quits

begin 80 24 "cd $work && $top"
shows '  three +alpha' && press w && shows '^written: bpfprofil-top-[0-9]{8}-[0-9]{6}\.json$' &&
	file=$work/$(screen | sed -n 's/^written: //p') && [ "$(total "$file")" -gt 0 ] &&
	"$bin" report "$file" | grep -qE ' three +alpha$' && press k && shows ' Space freeze  w write' &&
	press w && shows '^written: ' && press q && gives_back && shows '^profiles: 2, bpfprofil-top-'
verdict $? top_screen_writes
begin 80 24 "cd $work && $top -o 'of-top.json'"
shows '  three +alpha' && mkdir "$work/of-top.json" && press w && shows '^of-top.json: ' &&
	rmdir "$work/of-top.json" && press w && shows '^written: of-top.json' && press q && gives_back &&
	[ "$(total "$work/of-top.json")" = "$(screen | awk '/^overall/ { getline; print $1 }')" ]
verdict $? top_screen_writes_to_file

begin 80 24 "$top"
shows alpha && press C-c && gives_back
verdict $? top_screen_interrupt
begin 80 24 "sh -c 'echo \$\$ >$work/pid; exec $top'"
shows alpha && kill "$(cat "$work/pid")" && gives_back
verdict $? top_screen_sigterm
begin 80 24 "NO_COLOR=1 $top"
shows alpha && ! screen -e | grep -q $'\e\[[0-9;]*3[1-6]m'
verdict $? top_screen_no_color
begin 80 24 "TERM=xterm-mono $top"
shows alpha && ! screen -e | grep -q $'\e\[[0-9;]*3[1-6]m' && press q && gives_back
verdict $? top_screen_mono
begin 80 24 "LC_ALL=C $bin top --pid $target -d 0.3"
shows '  three +alpha' && shows '^   NOWv +ALL ' && ! screen | grep -q '[^ -~]' && press q && gives_back
verdict $? top_screen_ascii
for type in dumb nothing-of-this-name; do
	begin 80 24 "TERM=$type $top -n 2"
	shows '^status 0$' && shows '^[0-9]{4}-[0-9-]*T.* ticks in'
	verdict $? "top_screen_$type"
done

# Whatever a program calls itself, nothing of it reaches the terminal.
name=$(printf 'h\033]2;owned\a\033[31m\n\377é')
cp "$workloads/three" "$work/$name"
watched "$work/$name" 100000000
begin 132 24 "$bin top --pid $target -d 0.3"
shows 'owned\\x07\\x1b\[31m\\x0a\\xffé +alpha' && press p &&
	shows "  $target +h\\\\x1b\]2;owned\\\\x07" &&
	[ "$("${tmux[@]}" display -p -t top '#{pane_title}')" != owned ] && press q && shows '^status 0$'
verdict $? top_screen_hostile_names

exit "$script_status"
