# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""prometheus.py PORT FOLDER QUERIES: whether Prometheus has seen the ticks of the profiles in the folder.

The outcomes add up to them at any time, and each query of the file has an answer.
"""
import glob
import gzip
import json
import sys
import time
import urllib.parse
import urllib.request


now = time.time()


def ask_all(query):
    """All series of a query in the last minutes."""
    text = urllib.parse.urlencode({"query": query, "start": now - 120, "end": now, "step": 0.5})
    with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/query_range?{text}") as reply:
        return json.load(reply)["data"]["result"]


def ask(query):
    """The values of the one series that there is, by time."""
    (series,) = ask_all(query)
    return {at: float(value) for at, value in series["values"]}


sums = {0}
total = 0
for path in sorted(glob.glob(sys.argv[2] + "/*.gz")):
    with gzip.open(path) as file:
        total += json.load(file)["ticks"]["total"]
    sums.add(total)
seen = ask("bpfprofil_ticks_seen_total")
outcomes = ask("sum(bpfprofil_ticks_total)")
assert seen == outcomes, (seen, outcomes)
print(f"prometheus: {len(seen)} values of up to {max(seen.values()):.0f} ticks; {total} in all files")
# A scrape's cut adds a part to what is shown before the file that it goes into is written.
assert len(set(seen.values())) >= 3 and max(seen.values()) <= total, (seen, total)
assert any(value in sums for value in seen.values() if value), (seen, sums)
for name in "bpfprofil_export_ticks_total", "bpfprofil_cpu_seconds_total", "bpfprofil_handler_seconds_total":
    assert max(ask(f"sum({name})").values()) > 0, name
assert set(ask("sum(bpfprofil_undelivered_ticks_total{kind='dir'})").values()) == {0.0}
# Each service's seconds, of which "[other]" has the rest, add up to those of all at each scrape. Functions,
# which step once an interval, add up to no more.
cpu = ask("bpfprofil_cpu_seconds_total")
of_services = ask("sum(bpfprofil_service_cpu_seconds_total)")
assert of_services.keys() == cpu.keys() and len(cpu) > 3, (of_services, cpu)
assert all(abs(of_services[at] - value) < 1e-6 for at, value in cpu.items()), (of_services, cpu)
assert all(value <= cpu[at] + 1e-6 for at, value in ask("sum(bpfprofil_function_cpu_seconds_total)").items())
# They increase between parts too, when no tick is added to what is shown.
at = sorted(cpu.keys() & seen.keys())
assert any(cpu[a] < cpu[b] and seen[a] == seen[b] for a, b in zip(at, at[1:])), (cpu, seen)
# What comes later begins at 0, because Prometheus counts no increase for a first value.
first = min(cpu)
later = [one["values"][0] for name in ("service", "function")
         for one in ask_all(f"bpfprofil_{name}_cpu_seconds_total{{service!='[other]'}}")]
later = [float(value) for at, value in later if at > first]
assert later and not any(later), later
assert ask("bpfprofil_cpu_seconds_created").keys() == cpu.keys()
# A request has one answer; one may be counted between the two. The first of the gRPC server was: later.
requests = ask("sum(bpfprofil_export_requests_total{kind!='dir'})")
assert all(abs(requests[at] - value) <= 1 for at, value in ask("sum(bpfprofil_exports_total)").items())
for code in "grpc-0", "grpc-8", "grpc-14":
    assert max(ask(f"bpfprofil_exports_total{{code='{code}'}}").values()) > 0, code
with open(sys.argv[3], encoding="utf-8") as file:
    queries = [line.strip() for line in file if not line.startswith("#")]
for query in queries:
    series = ask_all(query.replace("$__rate_interval", "5s").replace("$namespace", ".*"))
    # Where nothing is lost there is no series of it, and here are no pods.
    assert series or any(one in query for one in ('outcome="lost"', "unsampled", '!="",', '!=""}')), query
