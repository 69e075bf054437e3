# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""ask.py BACKEND PLACE FOLDER: whether a backend has the ticks of the profiles in the folder.

All of them, and those of each cgroup, by what the backend itself answers. PLACE is its port, or for
"collector" the file that it wrote.
"""
import collections
import glob
import gzip
import json
import sys
import time
import urllib.parse
import urllib.request


def profiles():
    for path in glob.glob(sys.argv[3] + "/*.gz"):
        with gzip.open(path) as file:
            yield json.load(file)


def expected():
    """Ticks by cgroup; "" has those of all of them that are in none."""
    sums = collections.Counter()
    for profile in profiles():
        sums[""] += profile["ticks"]["total"]
        for split in profile["splits"]:
            sums[split["cgroup"] or ""] += split["ticks"]
            sums[""] -= split["ticks"]
    return {cgroup: ticks for cgroup, ticks in sums.items() if ticks}


def fetch(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[2]}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def pyroscope(selector):
    now = int(time.time() * 1000)
    body = {"profileTypeID": "process_cpu:samples:count:cpu:nanoseconds", "labelSelector": selector,
            "start": now - 600000, "end": now + 60000, "maxNodes": 100000}
    graph = fetch("/querier.v1.QuerierService/SelectMergeStacktraces", body).get("flamegraph", {})
    return int(graph.get("total", 0))


def parca(selector):
    """It shows a count of samples as their time, by the period."""
    now = time.time()
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    query = {"mode": "MODE_MERGE", "report_type": "REPORT_TYPE_TOP",
             "merge.query": "process_cpu:samples:count:cpu:nanoseconds:delta" + selector,
             "merge.start": stamp(now - 600), "merge.end": stamp(now + 60)}
    (period,) = {profile["sampling"]["period_ns"] for profile in profiles()}
    total = int(fetch("/api/profiles/query?" + urllib.parse.urlencode(query))["total"])
    assert total % period == 0, (total, period)
    return total // period


def collector():
    """Ticks by cgroup, of the file that its exporter writes: OTLP as JSON, a request a line."""
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
                    if texts[profile["sampleType"]["typeStrindex"]] == "samples":
                        sums[of_cgroup] += sum(int(one["values"][0]) for one in profile["samples"])
    return dict(sums)


def quote(text):
    return json.dumps(text)


def asked(want):
    if sys.argv[1] == "collector":
        return collector()
    ask = {"pyroscope": pyroscope, "parca": parca}[sys.argv[1]]
    sums = {cgroup: ask("{process_linux_cgroup=%s}" % quote(cgroup)) for cgroup in want if cgroup}
    rest = ask("{}") - sum(sums.values())
    return sums | ({"": rest} if rest else {})


want = expected()
for _ in range(30):
    got = asked(want)
    if got == want:
        break
    time.sleep(1)  # it may still be writing
print(f"{sys.argv[1]}: {sum(got.values())} of {sum(want.values())} ticks in {len(want)} cgroups")
assert sum(want.values()) > 0 and got == want, (got, want)
