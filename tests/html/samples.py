# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Profiles to make pages of."""
import json

# Names come from other people, so they may be anything.
NAMES = [
    "</script><script>window.pwned = 1</script>",
    "<!--<script>",
    "]]></script ><img src=x onerror='window.pwned = 1'>",
    "\" onmouseover=\"window.pwned = 1\" x=\"",
    "' autofocus onfocus='window.pwned = 1",
    "${window.pwned = 1}`; window.pwned = 1; //",
    "&lt;b&gt;&amp;",
    "a\nb\r\tc\u001b[31m\u0000\u009b",
    "\u202egnp.exe\u2066 \ufeff\u200b",
    "__proto__",
    "constructor",
    "",
    "<script>" + "x" * 65528,
]

HEAD = {
    "format": "bpfprofil", "version": 1, "tool": "0.1.0", "started": "2026-01-31T12:00:00Z",
    "complete": True,
    "host": {"kernel": "6.1.0", "arch": "x86_64", "cpus": 2, "name": "host"},
    "sampling": {"source": "clock", "mode": "charged", "period_ns": 1003009, "requested_hz": 997,
                 "measured_hz": 997, "hierarchy": "v2"},
}


def account(ticks):
    return {"total": ticks, "binned": ticks, "overflow": 0, "outside": 0, "filtered": 0, "lost": {}}


def write(path, profile):
    with open(path, "w", encoding="ascii") as file:
        json.dump(profile, file)


def renamed(profile, name):
    """The same profile, everything in it called name."""
    text = name.replace("\u0000", "")
    profile = json.loads(json.dumps(profile))
    profile["command"] = [text, text]
    profile["notes"] = [text]
    profile["host"]["name"] = text
    for part in profile["targets"]:
        part["name"] = text
    for part in profile["objects"]:
        part["path"] = text or "/"
    for part in profile["functions"]:
        part["name"] = text
    for part in profile["histograms"]:
        part["pid"], part["process"], part["cgroup"] = 7, text, text
    for i, part in enumerate(profile.get("callers", {"roots": []})["roots"]): # no two may be the same
        part["pid"], part["process"], part["cgroup"] = 7 + i, text, text
    return profile


def large(bins=100_000, functions=8_000, objects=40, processes=50):
    """As many bins, of functions in several objects, told apart by process."""
    profile = dict(HEAD, duration_ns=10**11, command=["large"], functions=[], histograms=[],
                   objects=[], notes=[])
    total, each = 0, functions // objects
    for o in range(objects):
        profile["objects"].append({"id": o, "kind": "file", "path": f"/usr/lib/lib{o}.so",
                                   "build_id": None,
                                   "text": [{"offset": 4096, "address": 4096, "size": each * 512}]})
        sums = [0] * each
        per = bins // objects
        for p in range(processes):
            counts = {}
            for i in range(p, per, processes):
                place = i * (each * 512) // per
                counts[place] = ticks = 1 + (i * 7919 + o) % 97 * (1 + i % 13 * (i % 5 == 0))
                sums[place // 512] += ticks
            total += sum(counts.values())
            profile["histograms"].append({
                "target": 0, "object": o, "pid": 100 + p, "process": f"worker-{p}", "cgroup": None,
                "offset": 4096, "size": each * 512, "width": 4, "scale": 131072, "bytes_per_bin": 1,
                "overflow": False, "stopped": None, "bins": sorted(counts.items())})
        for f, ticks in enumerate(sums):
            if ticks:
                profile["functions"].append({"object": o, "name": f"function_{o}_{f}",
                                             "offset": 4096 + f * 512, "size": 512, "ticks": ticks})
    profile["functions"].sort(key=lambda f: -f["ticks"])
    profile["ticks"] = account(total)
    profile["targets"] = [{"id": 0, "kind": "system", "name": "all", "ticks": account(total)}]
    return profile


def calls(nodes=100_000, functions=4_000, objects=40):
    """Each node is a call of another function than its siblings; every third has ticks of its own."""
    sites = [[f % objects, 4096 + f // objects * 512 + 16] for f in range(functions)]
    order = sorted(range(functions), key=lambda f: sites[f])
    numbers = {f: i for i, f in enumerate(order)}
    tree, of, children, ticks = [], [], [], [0] * functions
    for i in range(nodes):
        # Wide near the top, and narrow chains below.
        parent = -1 if i < 8 else i // 3 if i < nodes // 2 else i - nodes // 16
        above = 0 if parent < 0 else of[parent]
        f = (above * 31 + 13 * (i if parent < 0 else children[parent]) + 1) % functions
        if parent >= 0:
            children[parent] += 1
        n = 1 + i * 7919 % 97 if i % 3 == 0 else 0
        of.append(f)
        children.append(0)
        ticks[f] += n
        tree.append([parent, numbers[f], n])
    profile = dict(HEAD, duration_ns=10**11, command=["calls"], notes=[], histograms=[], functions=[
        {"object": sites[f][0], "name": f"function_{f}", "offset": sites[f][1] - 16, "size": 512,
         "ticks": ticks[f]} for f in sorted(range(functions), key=lambda f: -ticks[f])])
    profile["objects"] = [{"id": o, "kind": "file", "path": f"/usr/lib/lib{o}.so", "build_id": None,
                           "text": [{"offset": 4096, "address": 4096, "size": functions // objects * 512}]}
                          for o in range(objects)]
    for o in range(objects):
        bins = sorted([sites[f][1] - 4096, ticks[f]] for f in range(functions) if sites[f][0] == o and ticks[f])
        profile["histograms"].append({
            "target": 0, "object": o, "pid": None, "process": None, "cgroup": None, "offset": 4096,
            "size": functions // objects * 512, "width": 4, "scale": 131072, "bytes_per_bin": 1,
            "overflow": False, "stopped": None, "bins": bins})
    profile["callers"] = {"sites": [sites[f] for f in order], "nodes": tree, "roots": [
        {"target": 0, "pid": None, "process": None, "cgroup": None, "end": "complete", "ticks": 0}]}
    profile["ticks"] = account(sum(ticks))
    profile["targets"] = [{"id": 0, "kind": "system", "name": "all", "ticks": account(sum(ticks))}]
    return profile


def chains(stacks, files=None):
    """A profile of {"main;render;lookup": ticks}, and of some functions the file."""
    path = {name: (files or {}).get(name, "/usr/bin/chains") for stack in stacks for name in stack.split(";")}
    objects = sorted(set(path.values()))
    of = {name: objects.index(path[name]) for name in path}
    names = sorted(of, key=lambda name: (of[name], name))
    sites = {name: (i, 4096 + i * 512 + 16) for i, name in enumerate(names)}
    nodes, tree, ticks = {}, [], dict.fromkeys(names, 0)
    for stack, n in stacks.items():
        frames = stack.split(";")
        ticks[frames[-1]] += n
        for depth in range(1, len(frames) + 1):
            way = tuple(frames[:depth])
            if way not in nodes:
                nodes[way] = len(tree)
                tree.append([nodes[way[:-1]] if depth > 1 else -1, sites[way[-1]][0], 0])
        tree[nodes[tuple(frames)]][2] += n
    total, size = sum(ticks.values()), len(names) * 512
    return dict(
        HEAD, duration_ns=10**9, command=["chains"], notes=[], ticks=account(total),
        targets=[{"id": 0, "kind": "system", "name": "all", "ticks": account(total)}],
        objects=[{"id": i, "kind": "file", "path": file, "build_id": None,
                  "text": [{"offset": 4096, "address": 4096, "size": size}]} for i, file in enumerate(objects)],
        functions=[{"object": of[name], "name": name, "offset": sites[name][1] - 16, "size": 512, "ticks": ticks[name]}
                   for name in sorted(names, key=lambda name: -ticks[name])],
        histograms=[{"target": 0, "object": i, "pid": None, "process": None, "cgroup": None,
                     "offset": 4096, "size": size, "width": 4, "scale": 131072, "bytes_per_bin": 1,
                     "overflow": False, "stopped": None,
                     "bins": [[sites[name][1] - 4096, ticks[name]] for name in names if ticks[name] and of[name] == i]}
                    for i in range(len(objects))],
        callers={"sites": [[of[name], sites[name][1]] for name in names], "nodes": tree, "roots": [
            {"target": 0, "pid": None, "process": None, "cgroup": None, "end": "complete", "ticks": 0}]})
