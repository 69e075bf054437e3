# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""flames.py PROFILES HOST:PORT POD BEGIN: whether two backends have a pod's flame graph as its program is.

PROFILES is the Collector's file, HOST:PORT is Parca's, BEGIN a time in seconds. In pod.c main() calls
pod_serve(), which calls pod_read() for three quarters of the time and pod_write() for the rest, and both call
pod_burn().
"""
import json
import sys
import time
import urllib.parse
import urllib.request

import collected

profiles, place, pod, begin = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
failed = 0


def of_collector():
    """The tree {function: [ns, children]}, from the outermost caller in."""
    root = [0, {}]
    for row in collected.rows(profiles, []):
        if row.attributes.get("k8s.pod.name") != pod or row.begin < begin:
            continue
        for functions, ns in row.samples:
            node = root
            node[0] += ns
            for name in reversed(functions):
                node = node[1].setdefault(name, [0, {}])
                node[0] += ns
    return root


def of_parca():
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    query = {"mode": "MODE_MERGE", "report_type": "REPORT_TYPE_FLAMEGRAPH_TABLE", "node_trim_threshold": 0,
             "merge.query": f'process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta{{k8s_pod_name="{pod}"}}',
             "merge.start": stamp(begin), "merge.end": stamp(time.time() + 60)}
    url = f"http://{place}/api/profiles/query?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=60) as reply:
        graph = json.load(reply)["flamegraph"]

    def name_of(meta):
        location = graph["locations"][meta["locationIndex"] - 1]
        line = location["lines"][meta.get("lineIndex", 0)]
        return graph["stringTable"][graph["function"][line["functionIndex"] - 1]["nameStringIndex"]]

    def tree(node):
        found = [int(node.get("cumulative", 0)), {}]
        for one in node.get("children", []):
            child = tree(one)
            same = found[1].setdefault(name_of(one["meta"]), [0, {}])
            same[0] += child[0]
            same[1].update(child[1])
        return found

    return tree(graph["root"])


def find(node, name):
    """Those of a function, nearest the root."""
    for of, child in node[1].items():
        if of == name:
            yield child
        else:
            yield from find(child, name)


def show(node, total, depth=0):
    for name, child in sorted(node[1].items(), key=lambda one: -one[1][0]):
        if child[0] >= 0.01 * total:
            print(f"    {child[0] / total:7.1%} {'  ' * depth}{name}")
            show(child, total, depth + 1)


for backend, of in ("Collector", of_collector), ("Parca", of_parca):
    graph = of()
    print(f"  {pod} by {backend}: {graph[0] / 1e9:.3f} s")
    show(graph, graph[0] or 1)
    serve = next((one for main in find(graph, "main") for one in find(main, "pod_serve")), [0, {}])
    read, write = (serve[1].get(name, [0, {}]) for name in ("pod_read", "pod_write"))
    burnt = sum(one[1].get("pod_burn", [0])[0] for one in (read, write))
    share = read[0] / (read[0] + write[0] or 1)
    good = serve[0] > 0.95 * graph[0] and burnt > 0.99 * serve[0] and abs(share - 0.75) < 0.03
    failed += not good
    print(f"{'PASS' if good else 'FAIL'} kubernetes::flame_graph_of_{backend}" +
          ("" if good else f": main() -> pod_serve() has {serve[0]} of {graph[0]} ns, pod_read() {share:.3f} of it"))
sys.exit(failed > 0)
