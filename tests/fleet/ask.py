# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ask.py BACKEND PLACE FOLDER DETAIL: whether a backend has the CPU time and the stacks of the profiles in the folder.

All of the time, and that of each cgroup, by what the backend itself answers when it is asked for the sample type
cpu. The profiles are of several duties, in which a tick stands for different times. Then its flame graph of the
sample type samples, in which each function must have the inclusive ticks that `bpfprofil report` says; by address it
may have more, of places where it was inlined. PLACE is the backend's port, or for "collector" the file that it wrote.
"""
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import graphs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))
import stacks


KNOWN = ("first", "second", "leaf")  # of a program whose callers call themselves, 100 and 10 deep


def profiles():
    for path in glob.glob(sys.argv[3] + "/*.gz"):
        with gzip.open(path) as file:
            yield json.load(file)


def expected():
    """The scheduler's ns by cgroup; "" has those that are in none."""
    sums = collections.Counter()
    periods = set()
    for profile in profiles():
        periods.add(profile["sampling"]["period_ns"])
        sums[""] += sum(target["cpu_ns"] for target in profile["targets"])
        for split in profile["splits"]:
            sums[split["cgroup"] or ""] += split.get("cpu_ns", 0)
            sums[""] -= split.get("cpu_ns", 0)
    assert len(periods) > 1, f"all profiles are of one duty: {periods}"
    return {cgroup: ns for cgroup, ns in sums.items() if ns}


def fetch(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[2]}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def ask_pyroscope(kind, selector):
    now = int(time.time() * 1000)
    body = {"profileTypeID": f"process_cpu:{kind}:cpu:nanoseconds", "labelSelector": selector,
            "start": now - 600000, "end": now + 60000, "maxNodes": 100000}
    return fetch("/querier.v1.QuerierService/SelectMergeStacktraces", body)


def ask_parca(kind, selector, report):
    now = time.time()
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    query = {"mode": "MODE_MERGE", "report_type": "REPORT_TYPE_" + report,
             "merge.query": f"process_cpu:{kind}:cpu:nanoseconds:delta" + selector,
             "merge.start": stamp(now - 600), "merge.end": stamp(now + 60)}
    return fetch("/api/profiles/query?" + urllib.parse.urlencode(query))


def pyroscope(selector):
    return int(ask_pyroscope("cpu:nanoseconds", selector).get("flamegraph", {}).get("total", 0))


def parca(selector):
    return int(ask_parca("cpu:nanoseconds", selector, "TOP")["total"])


def collector():
    sums = collections.Counter()
    for cgroup, _, ns in graphs.collector(sys.argv[2], "cpu", "process.linux.cgroup"):
        sums[cgroup] += ns
    return dict(sums)


def graph():
    """The backend's flame graph of all ticks."""
    if sys.argv[1] == "collector":
        return [one[1:] for one in graphs.collector(sys.argv[2], "samples", "")]
    if sys.argv[1] == "parca":
        return graphs.parca(ask_parca("samples:count", "", "FLAMEGRAPH_ARROW"))
    return graphs.pyroscope(ask_pyroscope("samples:count", "{}"))


def quote(text):
    return json.dumps(text)


def asked(want):
    if sys.argv[1] == "collector":
        return collector()
    ask = {"pyroscope": pyroscope, "parca": parca}[sys.argv[1]]
    sums = {cgroup: ask("{process_linux_cgroup=%s}" % quote(cgroup)) for cgroup in want if cgroup}
    return sums | {"": ask("{}") - sum(sums.values())}


def exported():
    """What our own exports say, by cgroup: small ones share the ticks that there are, and so their time."""
    sums = collections.Counter()
    for path in glob.glob(sys.argv[3] + "/*.gz"):
        command = [os.environ["BUILD_DIR"] + "/bpfprofil", "export", "--format", "clickhouse", path]
        for line in subprocess.run(command, check=True, capture_output=True).stdout.splitlines():
            row = json.loads(line)
            if row["SampleType"] == "cpu":
                sums[row["ResourceAttributes"].get("process.linux.cgroup", "")] += sum(row["Values"])
    return sums


def is_all(got):
    """Each to the nanosecond as exported, all to the nanosecond as the scheduler says, and a large one nearly."""
    total = sum(want.values())
    return sum(got.values()) == total and all(got.get(key, 0) == sent[key] for key in want) and all(
        abs(got.get(key, 0) - ns) <= 0.02 * ns for key, ns in want.items() if ns > total / 4)


def reported():
    """Inclusive ticks by function, of the report of each profile, of names that one object has alone; and that object.
    Parca answers with each tick's period when it is asked for ticks."""
    inclusive, places = collections.Counter(), collections.defaultdict(set)
    for path in glob.glob(sys.argv[3] + "/*.gz"):
        command = [os.environ["BUILD_DIR"] + "/bpfprofil", "report", "--format", "json", path]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for row in report["rows"]:
            inclusive[row["function"]] += row["inclusive_ticks"] * (report["period_ns"] if sys.argv[1] == "parca" else 1)
            places[row["function"]].add((row["object"], row["offset"]))
    # Brackets are of what is no function.
    return {name: (ticks, os.path.basename(min(places[name])[0])) for name, ticks in inclusive.items()
            if name and name[0] != "[" and len(places[name]) == 1}


def functions():
    """Whether the flame graph has them."""
    _, found = stacks.sums(graph())
    # On a busy host an agent can be too late for the names of an object.
    unnamed = {match[1] for match in map(re.compile(r"(.*)\+0x[0-9a-f]+\.\.0x[0-9a-f]+").fullmatch, found) if match}
    want = {name: ticks for name, (ticks, file) in reported().items() if file not in unnamed}
    inlined = sys.argv[4] == "address"
    wrong = {name: (ticks, found[name]) for name, ticks in want.items()
             if ticks > found[name] or ticks < found[name] and (not inlined or name in KNOWN)}
    print(f"{sys.argv[1]}: {len(want) - len(wrong)} of {len(want)} functions as reported; "
          + ", ".join(f"{name} {found[name]}" for name in KNOWN))
    assert not wrong, dict(list(wrong.items())[:9])
    assert all(want.get(name) for name in KNOWN)


want = expected()
sent = exported()
for _ in range(30):
    got = asked(want)
    if is_all(got):
        break
    time.sleep(1)  # it may still be writing
print(f"{sys.argv[1]}: {sum(got.values()) / 1e9:.9f} of {sum(want.values()) / 1e9:.9f} s in {len(want)} cgroups")
assert sum(want.values()) > 0 and is_all(got), [(key, got.get(key, 0), sent[key]) for key in want if got.get(key, 0) != sent[key]][:9]
functions()
