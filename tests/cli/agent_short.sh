#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Forty containers that run for 0.2 to 3 s, as Jobs do, beside an agent at its defaults and one with a low duty:
# each has the seconds of its cgroup and, from some ticks on, its function.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_short || exit "$script_status"
workload=$PWD/build/tests/live/workloads/one
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$unified" ]; then
	echo "SKIP cli::agent_short: no cgroup2, whose cpu.stat it compares with"
	exit "$script_status"
fi
top=/bpfprofil-short-$$
jobs=40
clean_up() {
	local i

	for ((i = 0; i < jobs; i++)); do
		remove_groups "$top/job-$i"
	done
	remove_groups "$top"
}

# How much of the workload takes a millisecond of CPU time.
units=$(python3 -c 'import resource, subprocess, sys
subprocess.run([sys.argv[1], "20000"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(20 / (used.ru_utime + used.ru_stime)) or 1)' "$workload")

# job I MS: its cgroup ends with it, and what that has used is noted as "I MICROSECONDS"
job() {
	(in_group "$top/job-$1" "$workload" $(($2 * units)))
	echo "$1 $(sed -n 's/^usage_usec //p' "$unified$top/job-$1/cpu.stat")" >>"$work/used"
	remove_groups "$top/job-$1"
}

agents=()
# begin NAME OPTION...: an agent that is ready
begin() {
	local name=$1

	shift
	mkdir "$work/$name"
	start_ready "$bin" agent --quiet --dir "$work/$name" "$@" 2>"$work/$name.err"
	verdict $? "agent_short_begins: $name"
	agents+=("$started")
}

begin default
begin low --duty 5
lengths=(200 250 320 350 400 500 600 1000 3000 700)
for ((i = 0; i < jobs; i++)); do
	job "$i" "${lengths[i % 10]}" &
	running[i]=$!
	[ "$i" -lt 2 ] || wait "${running[i - 2]}"
done
wait "${running[jobs - 2]}" "${running[jobs - 1]}"
kill -TERM "${agents[@]}"
wait "${agents[@]}"

cat >"$work/judge.py" <<'py'
import collections, glob, gzip, json, os, subprocess, sys
bin, folder, top, used = sys.argv[1:]
used = {f"{top}/job-{name}": int(usec) / 1e6 for name, usec in map(str.split, open(used))}
assert len(used) == 40, used
seconds, functions, duties = collections.Counter(), collections.Counter(), set()
for path in glob.glob(f"{folder}/*.gz"):
    profile = json.load(gzip.open(path))
    duties.add(profile["sampling"].get("duty_percent", 100))
    for split in profile["splits"]:
        seconds[split["cgroup"]] += split["cpu_ns"] / 1e9
    rows = subprocess.run([bin, "export", "--format", "clickhouse", "-o", "-", path], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for row in map(json.loads, rows.splitlines()):
        if row["SampleType"] == "samples" and "collatz" in row["FunctionNames"]:
            functions[row["ResourceAttributes"]["process.linux.cgroup"]] += sum(row["Values"])
# On a busy host a move takes some ms, in which the kernel bills to the new cgroup before it says that it has moved.
move = 0.002 * int(os.environ.get("SPIN_SLOWNESS", "1"))
wrong = {name: (seconds[name], had) for name, had in used.items() if abs(seconds[name] - had) > max(move, 0.005 * had)}
assert len(wrong) <= len(used) / 10, wrong
assert all(abs(seconds[name] - had) < 5 * move + 0.005 * had for name, had in used.items()), wrong
long = [name for name, had in used.items() if had > 0.3]
without = [(name, used[name]) for name in long if not functions[name]]
assert len(without) <= len(long) / 10, f"{len(without)} of {len(long)} have no function: {without}"
print(f"{len(long) - len(without)} of {len(long)} have functions; duties", sorted(duties), [functions[name] for name in long])
py
for name in default low; do
	python3 "$work/judge.py" "$bin" "$work/$name" "$top" "$work/used" 2>"$work/why"
	verdict $? "agent_short: $name"
	tail -n 1 "$work/why"
done
exit "$script_status"
