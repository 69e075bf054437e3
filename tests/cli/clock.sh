#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# When the clock is set, or the host was suspended, each profile's times are right by the clock as it is
# at the end of the profile, and so is the name of its file; and the profile says so.
set -uo pipefail
. tests/lib/cli.bash

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIP cli::clock: not root"
	exit "$script_status"
fi
can_sample clock || exit "$script_status"

# A small program is always running, for a host on which nothing runs has no profile to deliver.
sh -c 'while :; do :; done' &

# set_to SET ASLEEP
set_to() {
	echo "$1 $2" >"$work/clock.new"
	mv "$work/clock.new" "$work/clock"
}

with_clock=(env TZ=UTC0 CLOCK_FILE="$work/clock" LD_PRELOAD="$(readlink -f "$BUILD_DIR")/tests/cli/libclock.so" "$bin")

# files NR FOLDER: until there are as many
files() {
	local i

	for ((i = 0; i < 200; i++)); do
		[ "$(find "$2" -name '*.json*' ! -name '.*' | wc -l)" -lt "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

# steps PID FOLDER: three files, and three more after each change
steps() {
	set_to 0 0 && files 3 "$2" && set_to 28800 0 && files 6 "$2" && set_to 28800 3600 && files 9 "$2" &&
		set_to -28800 3600 && files 12 "$2"
	verdict $? "${2##*/}_goes_on"
	kill "$1"
	wait "$1"
	verdict $? "${2##*/}_ends"
}

# Each file was written when its last tick had been counted, by the clock that was not set.
judge='
import datetime, glob, gzip, json, os, re, sys
changes, notes, nr = [(0, 0), (28800, 0), (28800, 3600), (-28800, 3600)], set(), [0] * 4
for path in glob.glob(sys.argv[1] + "/*.json*"):
    with gzip.open(path) if path.endswith("gz") else open(path) as file:
        profile = json.load(file)
    started = datetime.datetime.fromisoformat(profile["started"].replace("Z", "+00:00"))
    late = os.stat(path).st_mtime - started.timestamp() - profile["duration_ns"] / 1e9
    by = [i for i, (put, asleep) in enumerate(changes) if -0.5 < late + put + asleep < 300]
    assert by, (path, started, late)
    nr[by[0]] += 1
    name = re.sub("[^0-9]", "", os.path.basename(path).split(".")[0])[:14]
    name = datetime.datetime.strptime(name + "+0000", "%Y%m%d%H%M%S%z")
    # On a busy host two may begin in one second, of which the later has the next.
    assert 0 <= (name - started.replace(microsecond=0)).total_seconds() <= 1, (path, started)
    notes.update(note for note in profile.get("notes", []) if "clock was" in note or "suspended" in note)
print(nr, sorted(notes))
assert all(nr), nr
assert notes == {
    "the clock was set forward by 28800 s meanwhile: its times are by what it said last",
    "the clock was set back by 57600 s meanwhile: its times are by what it said last",
    "the host was suspended for 3600 s, which are in none of its times"}, notes'

for kind in agent series; do
	mkdir "$work/$kind"
	set_to 0 0
	if [ $kind = agent ]; then
		# Most profiles have no tick then, and are not delivered: their notes are in the next.
		"${with_clock[@]}" agent -q --interval 1 --duty 1 --dir "$work/agent" 2>"$work/err" &
	else
		"${with_clock[@]}" attach -q --all --interval 1 -o "$work/series/%t.json" 2>"$work/err" &
	fi
	steps $! "$work/$kind"
	python3 -c "$judge" "$work/$kind"
	verdict $? "clock_of_$kind"
done

# A record of calls is one profile, which ends with the server.
set_to 0 0
"${with_clock[@]}" serve --socket "$work/socket" --record "$work/calls.json" 2>"$work/err" &
server=$!
for _ in {1..300}; do
	[ -S "$work/socket" ] && break
	sleep 0.1
done
sleep 1
set_to -28800 0
kill "$server"
wait "$server"
python3 - "$work/calls.json" <<'P'
import datetime, json, os, sys
profile = json.load(open(sys.argv[1]))
started = datetime.datetime.fromisoformat(profile["started"].replace("Z", "+00:00"))
late = os.stat(sys.argv[1]).st_mtime - started.timestamp() - profile["duration_ns"] / 1e9
assert -0.5 < late - 28800 < 300, late
assert any("set back by 28800 s" in note for note in profile["notes"]), profile
P
verdict $? clock_of_calls

exit "$script_status"
