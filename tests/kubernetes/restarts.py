# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""restarts.py HOST:PORT PROFILES STATS KILLED BEGIN END: what each source counted while the agent was restarted.

Cores of each container by Prometheus, by the Collector's file PROFILES, and by cadvisor, beside those of
cpu.stat in STATS between the same two moments. KILLED has the agents' messages about profiles that were lost
with them. BEGIN and END are times in seconds.
"""
import collections
import json
import sys
import urllib.parse
import urllib.request

import collected

place, profiles, stats_path, killed_path = sys.argv[1:5]
begin, end = map(float, sys.argv[5:7])
stats = collected.Stats(stats_path)
failed = 0


def verdict(good, name, why=""):
    global failed
    failed += not good
    print(f"PASS kubernetes::{name}" if good else f"FAIL kubernetes::{name}: {why}")


def ask(query, at):
    text = urllib.parse.urlencode({"query": query, "time": f"{at:.3f}"})
    with urllib.request.urlopen(f"http://{place}/api/v1/query?{text}") as reply:
        return json.load(reply)["data"]["result"]


def key_of(metric):
    return metric.get("namespace"), metric.get("pod"), metric.get("container")


def moments(query):
    """Of each container when it was scraped first and last between BEGIN and END, and in between."""
    found = collections.defaultdict(list)
    for one in ask(f"{query}[{int(1000 * (end - begin))}ms]", end):
        found[key_of(one["metric"])] += [float(at) for at, _ in one["values"]]
    return {key: sorted(times) for key, times in found.items()}


def increase(name, labels, first, last):
    """By Prometheus, between two scrapes of it, so that nothing is extrapolated."""
    (one,) = ask(f"sum(increase({name}{{{labels}}}[{round(1000 * (last - first))}ms]))", last)
    return float(one["value"][1])


def of_prometheus(name, key):
    labels = ",".join(f'{label}="{value}"' for label, value in zip(("namespace", "pod", "container"), key))
    times = moments(f"{name}{{{labels}}}")[key]
    return increase(name, labels, times[0], times[-1]), times[0], times[-1]


# What was delivered of profiles that lie between the two times.
spans, sums, ids = set(), collections.Counter(), {}
for row in collected.rows(profiles, []):
    if row.begin < begin or row.end > end:
        continue
    spans.add((row.begin, row.end))
    key = tuple(row.attributes.get(f"k8s.{one}.name") for one in ("namespace", "pod", "container"))
    if None in key or "container.id" not in row.attributes:
        continue
    ids.setdefault(key, set()).add(row.attributes["container.id"])
    sums[key] += sum(ns for _, ns in row.samples) / 1e9
first, last = min(one for one, _ in spans), max(one for _, one in spans)
holes = collected.holes(spans)

ours, theirs = "bpfprofil_service_cpu_seconds_total", "container_cpu_usage_seconds_total"
off, compared = [], 0
print(f"  {'cores in ' + str(round(end - begin)) + ' s':44} {'cpu.stat':>8} " +
      " ".join(f"{name:>18}" for name in ("Prometheus", "OTLP", "OTLP and holes", "cadvisor")))
for key, of_key in sorted(ids.items()):
    lives = stats.lives(min(of_key))
    # Of those that ran all the time, each in one control group.
    if key[0] != "shop" or len(of_key) > 1 or not lives or lives[0] > begin or lives[1] < end:
        continue
    (container,) = of_key
    cells = []
    for name in ours, theirs:
        value, since, until = of_prometheus(name, key)
        cells.append((value / (until - since), value / stats.spent(container, since, until) - 1))
    spent = stats.spent(container, first, last)
    in_holes = sum(stats.spent(container, *hole) for hole in holes)
    for value in sums[key], sums[key] + in_holes:
        cells.insert(-1, (value / (last - first), value / spent - 1))
    print(f"  {'/'.join(key):44} {stats.spent(container, begin, end) / (end - begin):8.4f} " +
          " ".join(f"{value:8.4f} {part:+8.2%}" for value, part in cells))
    compared += 1
    off += [(key, cell) for cell, (_, part) in zip(("Prometheus", None, "OTLP"), cells) if cell and abs(part) > 0.01]
verdict(compared >= 4 and not off, "restarts_within_1_percent", f"{compared} containers, of which {off}")

# The agents say themselves how much is missing.
name = "bpfprofil_unsampled_seconds_total"
(times,) = moments(name).values()
unsampled = increase(name, "", times[0], times[-1])
with open(killed_path, encoding="utf-8") as file:
    killed = [float(line) for line in file]
missing = sum(until - since for since, until in holes)
print(f"  {len(holes)} holes of {missing:.1f} s: " + ", ".join(f"{until - since:.1f}" for since, until in holes) +
      f"; the agents report {unsampled:.1f} s unsampled, and {sum(killed):.1f} s in profiles of {len(killed)} that were killed")
verdict(len(holes) >= 5 and abs(unsampled + sum(killed) - missing) < 0.02 * missing + 0.5, "restarts_reported",
        f"{unsampled:.1f} + {sum(killed):.1f} s are not {missing:.1f} s")
for name in name, ours, "bpfprofil_cpu_seconds_total", "bpfprofil_ticks_seen_total":
    series = ask(f"resets({name}[{int(end - begin)}s])", end)
    bad = [one["metric"] for one in series if float(one["value"][1])]
    verdict(series and not bad, f"no_reset_of_{name}", bad[:5])
sys.exit(failed > 0)
