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
