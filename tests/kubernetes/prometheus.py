# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""prometheus.py HOST:PORT QUERIES README: whether each query has an answer, and cores join with cadvisor's.

QUERIES is a file of the dashboard's, a line each; in README they stand in a table, between backticks.
"""
import json
import re
import sys
import time
import urllib.parse
import urllib.request

now = time.time()
# Where nothing is lost there is no series of it.
MAY_BE_EMPTY = 'outcome="lost"', "function_cpu_seconds"


def ask(query, since=600):
    text = urllib.parse.urlencode({"query": query, "start": now - since, "end": now, "step": 10})
    with urllib.request.urlopen(f"http://{sys.argv[1]}/api/v1/query_range?{text}") as reply:
        return {tuple(sorted(one["metric"].items())): [float(value) for _, value in one["values"]]
                for one in json.load(reply)["data"]["result"]}


with open(sys.argv[2], encoding="utf-8") as file:
    queries = [line.strip() for line in file if not line.startswith("#")]
with open(sys.argv[3], encoding="utf-8") as file:
    shown = re.findall(r"\| Prometheus \| `(.*)` \|", file.read())
assert len(shown) >= 3, shown
for query in queries + shown:
    query = query.replace("$__rate_interval", "2m").replace("$namespace", ".*").replace("[1d]", "[5m]").replace("[5m]", "[2m]")
    assert ask(query) or any(one in query for one in MAY_BE_EMPTY), query
for name in ("node_namespace_pod_container:bpfprofil_cpu_seconds:rate5m", "service:bpfprofil_cpu_seconds:rate5m",
             "node:bpfprofil_cpu_seconds:rate5m"):
    assert ask(name), name

# Nothing of a unit or of another pod is the agent's own.
labels = [dict(key) for key in ask("bpfprofil_service_cpu_seconds_total")]
assert {one.get("namespace") for one in labels} >= {"shop", "bpfprofil", None}, labels
assert all(one.get("pod", "").startswith("bpfprofil-agent-") == (one.get("namespace") == "bpfprofil") for one in labels)

SUM = "sum by (namespace, pod, container) (increase(%s[4m]))"
ours = SUM % 'bpfprofil_service_cpu_seconds_total{container!=""}'
theirs = SUM % 'container_cpu_usage_seconds_total{container!=""}'
joined = ask(f"({ours} / on (namespace, pod, container) {theirs}) and {theirs} > 10", 1)
for key, values in joined.items():
    print(f"  of cadvisor's cores: {values[-1]:.3f} {dict(key)}")
# Less: what the last agent counts is told a profile later, and two restarts are in these minutes.
assert joined and all(0.5 < values[-1] < 1.25 for values in joined.values()), joined
