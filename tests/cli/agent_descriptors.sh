#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A user runs more files than there are descriptors: some have no names, but profiles go on, the port is
# answered, and no tick is lost.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_descriptors || exit "$script_status"
mapped=$BUILD_DIR/tests/hostile/mapped
mkdir "$work/user"
for ((i = 0; i < 120; i++)); do
	cp "$BUILD_DIR/tests/hostile/burn.so" "$work/user/$i.so"
done
offset=$((16#$(nm -D "$work/user/0.so" | awk '$3 == "burn" { print $1 }')))
: >"$work/rounds"
# Each burns for some 25 ms, also on an emulated CPU, so that it has ticks in every round.
while :; do
	"$mapped" "$offset" $((20000000 / ${SPIN_SLOWNESS:-1})) "$work"/user/*.so
	echo >>"$work/rounds"
done &
"$BUILD_DIR/tests/live/workloads/forever" &

# begin COMMAND...: as $tool, with few descriptors
begin() {
	prlimit --nofile=140:140 "$bin" "$@" 2>"$work/err" &
	tool=$!
}

wait_for() {
	local i

	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.2
	done
	return 1
}

# Files of the user that were open had their headers read.
user_has_files() {
	python3 -c 'import gzip, json, sys
names, nameless = set(), set()
for path in sys.argv[1:]:
    profile = json.load((gzip.open if path.endswith(".gz") else open)(path))
    for object in profile["objects"]:
        if "/user/" in object["path"]:
            (names if object.get("text") else nameless).add(object["path"])
print(len(names), "files of the user have names,", len(nameless), "have not had at times")
sys.exit(not names or not nameless or len(names | nameless) < 40)' "$@"
}

# judge NAME FILE...: all ticks of the account are in the files, and forever's are among them
judge() {
	local name=$1 total

	shift
	total=$(python3 -c 'import gzip, json, sys
total = 0
for path in sys.argv[1:]:
    profile = json.load((gzip.open if path.endswith(".gz") else open)(path))
    total += profile["ticks"]["total"]
    if not any(object["path"].endswith("/forever") for object in profile["objects"]):
        sys.exit(f"{path}: no tick of forever")
print(total)' "$@") &&
		[ "$total" = "$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err" | awk '{ sum += $1 } END { print sum }')" ] &&
		! grep 'Too many open files' "$work/err"
	verdict $? "${name}_has_all_ticks"
	user_has_files "$@"
	verdict $? "${name}_has_more_files_than_descriptors"
}

mkdir "$work/agent"
begin agent --dir "$work/agent" --interval 2 --duty 100 --listen 127.0.0.1:0
wait_for grep -q 'listening at port' "$work/err"
port=$(sed -n 's/.*listening at port //p' "$work/err")
# has_files FOLDER N ROUND: that many files, and the user has ended that round.
has_files() {
	local files=("$1"/*)

	[ ${#files[@]} -ge "$2" ] && [ "$(rounds)" -ge "$3" ]
}
rounds() {
	wc -l <"$work/rounds"
}
wait_for has_files "$work/agent" 8 $(($(rounds) + 2))
curl -sf --max-time 60 "http://127.0.0.1:$port/metrics" | grep '^bpfprofil_ticks_total' >/dev/null
verdict $? agent_descriptors_metrics
kill -TERM "$tool"
wait "$tool"
verdict $? agent_descriptors_ends
judge agent_descriptors "$work"/agent/*

mkdir "$work/attach"
begin attach --all --interval 2 --output "$work/attach/%t.json"
wait_for has_files "$work/attach" 6 $(($(rounds) + 2))
kill -INT "$tool"
wait "$tool"
verdict $? attach_descriptors_ends
judge attach_descriptors "$work"/attach/*
exit "$script_status"
