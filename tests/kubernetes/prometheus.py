# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""prometheus.py HOST:PORT FILE...: whether each query, a line each, has an answer, and cores join with cadvisor's."""
import fileinput
import json
import sys
import time
import urllib.parse
import urllib.request

# Where nothing is lost there is no series of it; kube-state-metrics does not run here.
MAY_BE_EMPTY = 'outcome="lost"', "function_cpu_seconds", "kube_pod_container_info"


def ask(query, since=600):
    now = time.time()
    text = urllib.parse.urlencode({"query": query, "start": now - since, "end": now, "step": 10})
    with urllib.request.urlopen(f"http://{sys.argv[1]}/api/v1/query_range?{text}") as reply:
        return {tuple(sorted(one["metric"].items())): [float(value) for _, value in one["values"]]
                for one in json.load(reply)["data"]["result"]}


queries = [line.strip() for line in fileinput.input(sys.argv[2:], encoding="utf-8") if not line.startswith("#")]
for query in queries:
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


def join():
    joined = ask(f"({ours} / on (namespace, pod, container) {theirs}) and {theirs} > 10", 1)
    return {key: values[-1] for key, values in joined.items()}


def agree(cores):
    return cores and all(0.85 < value < 1.15 for value in cores.values())


# Prometheus extrapolates both over the window, and cadvisor reads some containers only each 20 s: restarts.py
# compares them exactly.
for _ in range(60):
    cores = join()
    if agree(cores):
        break
    time.sleep(5)
for key, value in cores.items():
    print(f"  of cadvisor's cores: {value:.3f} {dict(key)}")
assert agree(cores), cores
