# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ask.py BACKEND PLACE FOLDER: whether a backend has the CPU time of the profiles in the folder.

All of it, and that of each cgroup, by what the backend itself answers when it is asked for the sample type
cpu. The profiles are of several duties, in which a tick stands for different times. PLACE is the backend's
port, or for "collector" the file that it wrote.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request


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


def pyroscope(selector):
    now = int(time.time() * 1000)
    body = {"profileTypeID": "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "labelSelector": selector,
            "start": now - 600000, "end": now + 60000, "maxNodes": 100000}
    graph = fetch("/querier.v1.QuerierService/SelectMergeStacktraces", body).get("flamegraph", {})
    return int(graph.get("total", 0))


def parca(selector):
    now = time.time()
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    query = {"mode": "MODE_MERGE", "report_type": "REPORT_TYPE_TOP",
             "merge.query": "process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta" + selector,
             "merge.start": stamp(now - 600), "merge.end": stamp(now + 60)}
    return int(fetch("/api/profiles/query?" + urllib.parse.urlencode(query))["total"])


def collector():
    """The ns by cgroup, of the file that its exporter writes: OTLP as JSON, a request a line."""
    sums = collections.Counter()
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            request = json.loads(line)
            tables = request["dictionary"]
            texts = tables["stringTable"]
            for of in request["resourceProfiles"]:
                of_cgroup = ""
                for pair in of["resource"]["attributes"]:
                    key = pair.get("key") or texts[pair["keyStrindex"]]
                    value = pair["value"].get("stringValue") or texts[pair["value"].get("stringValueStrindex", 0)]
                    if key == "process.linux.cgroup":
                        of_cgroup = value
                for profile in of["scopeProfiles"][0]["profiles"]:
                    if texts[profile["sampleType"]["typeStrindex"]] == "cpu":
                        sums[of_cgroup] += sum(int(one["values"][0]) for one in profile["samples"])
    return dict(sums)


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


want = expected()
sent = exported()
for _ in range(30):
    got = asked(want)
    if is_all(got):
        break
    time.sleep(1)  # it may still be writing
print(f"{sys.argv[1]}: {sum(got.values()) / 1e9:.9f} of {sum(want.values()) / 1e9:.9f} s in {len(want)} cgroups")
assert sum(want.values()) > 0 and is_all(got), (got, want)
