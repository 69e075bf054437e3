# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""restarts.py PORT FOLDER: whether counters went on while the agent was restarted.

The folder has the metrics and what cpu.stat said at the same moments, the agents' messages and their profiles.
"""
import glob
import gzip
import json
import os
import re
import sys
import time
import urllib.parse
import urllib.request

os.chdir(sys.argv[2])


def page(name):
    """The values of a page by series, and the µs of cgroups by their last name."""
    values = {}
    with open(name, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                values[series] = float(value)
    return values


def stat(name):
    with open(name + ".stat", encoding="utf-8") as file:
        return {line.split("/")[-2]: int(line.split()[1]) / 1e6 for line in file}


def seconds(values, cgroup):
    return sum(value for series, value in values.items()
               if series.startswith("bpfprofil_service_cpu_seconds_total") and f'"{group}/{cgroup}"' in series)


def ask(query):
    text = urllib.parse.urlencode({"query": query, "time": time.time()})
    with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?{text}") as reply:
        return json.load(reply)["data"]["result"]


def behind(name, cgroup):
    """How many seconds less than cpu.stat the agent has; of several answers by the one that is least old."""
    return min(stat(f"{name}.{i}").get(cgroup, 0) - seconds(page(f"{name}.{i}"), cgroup) for i in range(1, 6))


# Other runs of this test may be going on: the group of this one.
with open("last.5.stat", encoding="utf-8") as file:
    group = re.search(r"/bpfprofil-restarts-\d+", file.read())[0]
first, last, carried = page("first.5"), page("last.5"), page("carried")
unsampled = last["bpfprofil_unsampled_seconds_total"] - first["bpfprofil_unsampled_seconds_total"]
for cgroup in "always", "later":
    given = stat("last.5")[cgroup] - stat("first.5").get(cgroup, 0)
    lost = behind("last", cgroup) - behind("first", cgroup)
    print(f"{cgroup}: {given:.3f} s by cpu.stat, and {lost:.3f} s less ({lost / given:.3%}) by the agent; "
          f"{unsampled:.3f} s unsampled")
    assert abs(lost) < 0.01 * given + 0.05, (cgroup, lost, given)
assert unsampled > 0, unsampled
# What Prometheus makes of it: no counter has begun anew, and the sums are equal whenever there was an answer.
# Of a busy host's other cgroups, functions that turn cold make room.
names = "service_cpu_seconds", "cpu_seconds", "function_cpu_seconds", "ticks_seen", "unsampled_seconds", \
    "sampled_seconds", "export_requests", "export_profiles", "export_ticks", "export_bytes"
for name in names:
    only = f"{{service=~'{group}/(always|later)'}}" if "function" in name else ""
    resets = ask(f"resets(bpfprofil_{name}_total{only}[2h]) > 0")
    assert not resets, (name, [one["metric"] for one in resets][:5])
apart = ask("max_over_time(abs(sum(bpfprofil_service_cpu_seconds_total) - sum(bpfprofil_cpu_seconds_total))[2h:1s])")
assert float(apart[0]["value"][1]) < 1e-3, apart
for cgroup in "always", "later":
    (series,) = ask(f"max_over_time(bpfprofil_service_cpu_seconds_total{{service='{group}/{cgroup}'}}[2h])"
                    f" - min_over_time(bpfprofil_service_cpu_seconds_total{{service='{group}/{cgroup}'}}[2h])")
    print(f"{cgroup}: {float(series['value'][1]):.3f} s by Prometheus")
    if cgroup == "later":
        assert abs(float(series["value"][1]) - seconds(carried, cgroup)) < 0.02 * stat("last.5")[cgroup] + 1.5
# Each tick that was seen is in a profile, or in what an agent that was killed had not delivered.
with open("messages", encoding="utf-8") as file:
    killed = [int(ticks) for ticks in re.findall(r"the last one was killed: (\d+) ticks of", file.read())]
total = 0
for path in glob.glob("files/*.gz"):
    with gzip.open(path) as file:
        total += json.load(file)["ticks"]["total"]
print(f"{total} ticks in profiles, {killed} with agents that were killed")
assert len(killed) == 2 and min(killed) > 0, killed
assert carried["bpfprofil_ticks_seen_total"] == total + sum(killed), (carried["bpfprofil_ticks_seen_total"], total, killed)
assert sum(value for series, value in carried.items()
           if series.startswith("bpfprofil_ticks_total")) == carried["bpfprofil_ticks_seen_total"]
assert sum(value for series, value in carried.items()
           if series.startswith("bpfprofil_undelivered") and 'cause="killed"' in series) == sum(killed)
