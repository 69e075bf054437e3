#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The agent with --duty: a fifth of the ticks, and in what backends get, the seconds of all the time.
set -uo pipefail
. tests/lib/cli.bash
export LC_ALL=C # for sort

can_sample agent_duty || exit "$script_status"

group=bpfprofil-duty-$$
clean_up() {
	remove_groups "/$group"
}

in_group "/$group" sh -c 'while :; do :; done' &
spinner=$!
# What the spinner has had by when, in seconds since the epoch and of CPU, every tenth of a second.
python3 -u -c 'import sys, time
sys.path.insert(0, "tests/lib")
import process
while True:
    print(time.time(), process.cpu_seconds(int(sys.argv[1])))
    time.sleep(0.1)' "$spinner" >"$work/used" &
port=$(tests/lib/free_port)
mkdir "$work/files"
printf 'dir = %s\ninterval = 6\nduty = 20\n' "$work/files" >"$work/conf"
"$bin" agent --config "$work/conf" --listen "$port" 2>"$work/err" &
agent=$!
# wait_for_files N
wait_for_files() {
	local i

	for ((i = 0; i < 300; i++)); do
		[ "$(find "$work/files" -name '*.gz' | wc -l)" -lt "$1" ] || return
		sleep 0.2
	done
}
wait_for_files 1
first=$(find "$work/files" -name '*.gz' | sort | head -n 1)
wait_for_files 5
curl -s "http://127.0.0.1:$port/metrics" >"$work/metrics"
newest=$(find "$work/files" -name '*.gz' | sort | sed -n '2,5p')
kill -TERM "$agent"
wait "$agent"
verdict $? agent_duty_ends
: >"$work/rows"
for file in $newest; do
	"$bin" export --format clickhouse -o "$work/one" "$file" 2>/dev/null && cat "$work/one" >>"$work/rows"
done

cat >"$work/duty.py" <<'end'
import datetime, gzip, json, sys
group, used, hz, rows, metrics, first, *files = sys.argv[1:]
profiles = [json.load(gzip.open(path)) for path in files]
ticks = seconds = cpu = sampled = time = 0
for profile in profiles:
    sampling = profile["sampling"]
    account = profile["ticks"]
    assert account["total"] == account["binned"] + account["overflow"] + account["outside"] + account["filtered"] + sum(account["lost"].values())
    assert sampling["duty_percent"] == 20 and sampling["period_ns"] * 0.2 * int(hz) == 1e9, sampling
    sampled += sampling["sampled_ns"]
    time += profile["duration_ns"]
    for split in profile["splits"]:
        if (split["cgroup"] or "").endswith(group):  # null: what had no tick
            ticks += split["ticks"]
            cpu += split["cpu_ns"]
assert abs(sampled / time - 0.2) < 1e-6, (sampled, time)
# The scheduler's time is that of all the time, and so are the seconds that a backend gets.
at = [tuple(map(float, line.split())) for line in open(used) if line.count(" ") == 1 and line.endswith("\n")]
begin, last = (datetime.datetime.fromisoformat(profiles[i]["started"].replace("Z", "+00:00")).timestamp() for i in (0, -1))
until = last + profiles[-1]["duration_ns"] / 1e9
assert at[0][0] < begin and at[-1][0] > until, (at[0], begin, until, at[-1])
had = [max(had for when, had in at if when <= limit) for limit in (begin, until)]
used = (had[1] - had[0]) * 1e9
assert 0.9 < cpu / used < 1.1, (cpu, used)
values = {"samples": 0, "cpu": 0}
for line in open(rows):
    row = json.loads(line)
    if row["ServiceName"].endswith(group):
        values[row["SampleType"]] += sum(row["Values"]) * (row["Period"] if row["SampleType"] == "samples" else 1)
assert 0.95 < values["cpu"] / cpu < 1.05, (values, cpu)
assert values["samples"] == ticks * profiles[0]["sampling"]["period_ns"]
assert 0.6 < values["samples"] / cpu < 1.5, (values, cpu)
# About a fifth of what falls without --duty.
without = cpu / 1e9 * int(hz)
assert 0.1 < ticks / without < 0.3, (ticks, without)
text = open(metrics).read()
assert "\nbpfprofil_duty_ratio 0.2\n" in text
(seconds,) = (float(line.split()[1]) for line in text.splitlines() if line.startswith("bpfprofil_sampled_seconds_total "))
assert 0 < seconds < 0.4 * sum(profile["duration_ns"] for profile in profiles + [json.load(gzip.open(first))]) / 1e9
end
hz=$(python3 -c 'import time; print(round(1 / time.clock_getres(6)))')
# shellcheck disable=SC2086
python3 "$work/duty.py" "$group" "$work/used" "$hz" "$work/rows" "$work/metrics" "$first" $newest 2>"$work/why"
verdict $? agent_duty_is_a_fifth
[ ! -s "$work/why" ] || tail -n 1 "$work/why"
grep -q ', in which 20 % of the ticks were counted$' "$work/err"
verdict $? agent_duty_says_so

rule="must be a share of the ticks in per cent, from 0.1 to 100, like 10"
for wrong in 0 0.09 100.1 -5 x nan; do
	expect "agent_duty_$wrong" 2 "bpfprofil: agent: --duty '$wrong': $rule" \
		"$bin" agent --dir "$work" --duty "$wrong"
done

exit "$script_status"
