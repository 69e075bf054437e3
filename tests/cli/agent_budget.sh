#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The agent without --duty begins with all ticks. A budget that these exceed leads to a part of them, which
# profiles and metrics tell, and a large one to all for good.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_budget || exit "$script_status"

group=bpfprofil-budget-$$
clean_up() {
	remove_groups "/$group"
}

in_group "/$group" sh -c 'while :; do :; done' &
port=$(tests/lib/free_port)

# wait_for_profiles N: in $folder
wait_for_profiles() {
	local i

	for ((i = 0; i < 300; i++)); do
		[ "$(find "$work/$folder" -name '*.gz' | wc -l)" -lt "$1" ] || break
		sleep 0.2
	done
}

scrape() {
	curl -s "http://127.0.0.1:$port/metrics" >"$work/$folder/$1"
}

# run_agent FOLDER N OPTION...: an agent that has made N profiles, with a scrape after those in "before"
run_agent() {
	local folder=$1 nr=$2 agent

	shift 2
	mkdir "$work/$folder"
	"$bin" agent --dir "$work/$folder" --interval 3 --listen "$port" "$@" 2>"$work/err" &
	agent=$!
	wait_for_profiles 1
	find "$work/$folder" -name '*.gz' >"$work/$folder/before"
	scrape early
	wait_for_profiles "$nr"
	scrape metrics
	kill -TERM "$agent"
	wait "$agent"
}

cat >"$work/budget.py" <<'end'
import glob, gzip, json, sys
folder, budget, hz, group = sys.argv[1:]
def scraped(name):
    lines = (line.rsplit(" ", 1) for line in open(f"{folder}/{name}") if line[0] != "#")
    return {name: float(value) for name, value in lines}
by_path = {path: json.load(gzip.open(path)) for path in sorted(glob.glob(folder + "/*.gz"))}
profiles = list(by_path.values())
before = open(folder + "/before").read().split()
assert before and set(before) <= set(by_path), (before, list(by_path))
early, metrics = scraped("early"), scraped("metrics")
assert len(profiles) >= 4
used = stood = 0
duties = []
for profile in profiles:
    sampling, account = profile["sampling"], profile["ticks"]
    assert account["total"] == account["binned"] + account["overflow"] + account["outside"] + account["filtered"] + sum(account["lost"].values())
    duty = sampling.get("duty_percent", 100)
    duties.append(duty)
    assert abs(sampling["period_ns"] * duty / 100 - 1e9 / int(hz)) < 1, sampling
    assert ("sampled_ns" in sampling) == (duty < 100)
    used += sum(split["cpu_ns"] for split in profile["splits"] if (split["cgroup"] or "").endswith(group))
    stood += sum(split["ticks"] for split in profile["splits"] if (split["cgroup"] or "").endswith(group)) * sampling["period_ns"]
assert metrics["bpfprofil_budget_ratio"] == float(budget) / 100
cost = profiles[-1]["sampling"]["cost"]
assert 0 <= cost["fixed_percent"] < cost["percent"], cost
told = [note for profile in profiles for note in profile.get("notes", []) if "--budget is not kept" in note]
if float(budget) < 1:
    assert duties[0] == 100 and duties[-1] < 100 and min(duties) >= 10, duties
    # The notes are of those that ended while the rest alone was more.
    assert bool(told) == any(one["sampling"].get("cost", {}).get("fixed_percent", 0) > float(budget) for one in profiles), (told, duties)
else:
    assert min(duties) == 100 and not told, (duties, told)
    assert 0.6 < stood / used < 1.5, (stood, used)
assert 100 * metrics["bpfprofil_duty_ratio"] in duties, (metrics["bpfprofil_duty_ratio"], duties)
assert metrics["bpfprofil_ticks_seen_total"] > 0
# What was sampled between the scrapes is no more than what the profiles behind the first ones say. The very
# first interval is as short as chance wants it, and one without a tick is in the metrics alone.
later = [profile for path, profile in by_path.items() if path not in before]
sampled = sum(profile["sampling"].get("sampled_ns", profile["duration_ns"]) for profile in later)
meanwhile = metrics["bpfprofil_sampled_seconds_total"] - early["bpfprofil_sampled_seconds_total"]
assert 0 < early["bpfprofil_sampled_seconds_total"]
assert 0 < meanwhile <= sampled / 1e9 + 1e-6, (meanwhile, sampled)
assert 0 < metrics["bpfprofil_fixed_cost_ratio"] <= metrics["bpfprofil_cost_ratio"] < 0.5
end
hz=$(python3 -c 'import time; print(round(1 / time.clock_getres(6)))')

# check FOLDER BUDGET
check() {
	python3 "$work/budget.py" "$work/$1" "$2" "$hz" "$group" 2>"$work/why"
	verdict $? "agent_budget_$1"
	[ ! -s "$work/why" ] || tail -n 2 "$work/why"
}
run_agent small 7 --budget 0.01
check small 0.01
run_agent large 4 --budget 50
check large 50
# A duty that was given stays.
run_agent given 3 --budget 0.01 --duty 50
python3 -c 'import gzip, json, sys
assert all(json.load(gzip.open(path))["sampling"]["duty_percent"] == 50 for path in sys.argv[1:])' "$work"/given/*.gz
verdict $? agent_budget_given

exit "$script_status"
