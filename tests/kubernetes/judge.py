# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""judge.py PROFILES WATCH OUT STATS: the containers of a Collector's file against the API and the kernel.

PROFILES is what the Collector's file exporter wrote, WATCH what `kubectl get pods -A -w -o json` saw, OUT
the folder of the containers' last words: control group and cpu.stat. STATS is what stats.py wrote. A verdict
a line, and a table.
"""
import calendar
import collections
import glob
import json
import os
import sys
import time

import collected

failed = 0


def verdict(good, name, why=""):
    global failed
    failed += not good
    print(f"PASS kubernetes::{name}" if good else f"FAIL kubernetes::{name}: {why}")


def objects(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            one, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return  # the last one, which was being written
        yield one
        while at < len(text) and text[at].isspace():
            at += 1


def api():
    """What the API says: of each pod by its uid, and of each container by its id, also when it was started."""
    pods, containers, started = {}, {}, {}
    for pod in objects(sys.argv[2]):
        meta = pod["metadata"]
        pods[meta["uid"]] = (meta["namespace"], meta["name"])
        status = pod.get("status", {})
        for one in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
            states = [value for name in ("state", "lastState") for value in one.get(name, {}).values()]
            for name in filter(None, [one.get("containerID")] + [state.get("containerID") for state in states]):
                containers[name.rpartition("/")[2]] = (meta["namespace"], meta["name"], one["name"])
            for state in states:
                if state.get("startedAt"):
                    key = (state.get("containerID") or one.get("containerID", "")).rpartition("/")[2]
                    started[key] = calendar.timegm(time.strptime(state["startedAt"], "%Y-%m-%dT%H:%M:%SZ"))
    return pods, containers, started


def last_words():
    """{(namespace, pod, container): [(control group, seconds)]}"""
    words = collections.defaultdict(list)
    for path in glob.glob(sys.argv[3] + "/*.stat"):
        key = tuple(os.path.basename(path)[:-5].split("_"))
        with open(path, encoding="utf-8") as file:
            for line in file:
                group, _, usec = line.split()
                words[key].append((group, int(usec) / 1e6))
    return words


twice = []
stats = collected.Stats(sys.argv[4])
pods, containers, started = api()
words = last_words()
words_of = {group.rpartition("/")[2] for list_ in words.values() for group, _ in list_}
seconds, named, names = collections.Counter(), collections.Counter(), {}
hosts, spans, early = collections.Counter(), set(), 0
for row in collected.rows(sys.argv[1], twice):
    found = row.attributes
    hosts[found.get("host.name")] += 1
    spans.add((row.begin, row.end))
    key = found.get("container.id")
    if not key or "k8s.pod.uid" not in found:
        continue
    seconds[key] += sum(ns for _, ns in row.samples) / 1e9
    named[key] += sum(ns for functions, ns in row.samples if "pod_burn" in functions) / 1e9
    said = tuple(found.get(f"k8s.{one}.name") for one in ("namespace", "pod", "container"))
    # kubelet names a container once it has started it, which takes seconds on a busy host; a profile that is made
    # before has the pod's names. The API's time has whole seconds.
    begun = started.get(key) or (key in words_of and (stats.lives(key) or (0, 0))[0])
    if said[2] is None and begun and row.end < begun + 2:
        early += 1
        continue
    names.setdefault(key, set()).add((found["k8s.pod.uid"], said, found["service.name"]))

# Those whose ids the API never told, because they were deleted before: by their last words' control groups.
for key, list_ in words.items():
    for group, _ in list_:
        containers.setdefault(group.rpartition("/")[2], key)

right = wrong = sandboxes = sandboxes_wrong = 0
examples = []
for key, all_said in sorted(names.items()):
    for uid, said, service in all_said:
        if uid not in pods:
            continue
        truth = containers.get(key)
        if truth:
            good = said == truth and service == f"{truth[0]}/{truth[2]}"
            right, wrong = right + good, wrong + (not good)
        else:
            good = said == (*pods[uid], None) and service == "/".join(pods[uid])
            sandboxes, sandboxes_wrong = sandboxes + good, sandboxes_wrong + (not good)
        if not good:
            examples.append(f"{key[:12]} of {truth or pods[uid]}: {said} {service}")
for one in examples[:20]:
    print("  " + one)
print(f"  {right} containers have their names; {early} were in a profile before kubelet gave them one")
verdict(right and not wrong and early < 0.1 * right, "names",
        f"{wrong} of {right + wrong} containers are called otherwise")
verdict(sandboxes and not sandboxes_wrong, "sandboxes",
        f"{sandboxes_wrong} of {sandboxes + sandboxes_wrong} sandboxes are called otherwise")

holes = collected.holes(spans)
print(f"  no profile has {sum(end - begin for begin, end in holes):.1f} s, in {len(holes)} holes")


def allowed(key):
    """What a container, which has one thread, may have spent while there was no profile of."""
    first, last = stats.lives(key) or (0, 0)
    overlaps = [(begin, end) for begin, end in holes if begin < last + 0.5 and end > first - 0.5]
    return sum(min(end - begin, stats.spent(key, begin - 0.5, end + 0.5) + 0.5) for begin, end in overlaps)


print(f"  {'namespace/pod/container':58} {'seconds':>9} {'cpu.stat':>9} {'difference':>10}")
by_service = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0])
for key, list_ in sorted(words.items()):
    for group, stat in list_:
        got = seconds[group.rpartition("/")[2]]
        one = by_service[(key[0], key[1].rpartition("-")[0] or key[1], key[2])]
        # What the end itself takes comes after the last words: at most this.
        slack = max(0.002, 0.005 * stat)
        near = -slack - allowed(group.rpartition("/")[2]) <= got - stat <= slack
        one[0] += 1
        one[1] += near
        one[2] += got
        one[3] += stat
        one[4] = max(one[4], abs(got - stat))
        if not near:
            print(f"  {'/'.join(key):58} {got:9.4f} {stat:9.4f} {1000 * (got - stat):+8.2f} ms")
for key, (count, near, got, stat, most) in sorted(by_service.items()):
    print(f"  {'/'.join(key) + f' ({near} of {count})':58} {got:9.4f} {stat:9.4f} {1000 * most:8.2f} ms at most")
off = sum(count - near for count, near, *_ in by_service.values())
verdict(words and not off, "seconds", f"{off} containers are more than 0.5 % and 2 ms off")
total, all_stats = sum(one[2] for one in by_service.values()), sum(one[3] for one in by_service.values())
print(f"  all: {total:.4f} of {all_stats:.4f} s; {len(twice)} profiles came twice; hosts: {dict(hosts)}")
# Of Jobs of more than 0.3 s that began in the first minutes, nine of ten have functions.
jobs = [(key[1], group.rpartition("/")[2], stat) for key, list_ in words.items() if key[1].startswith("job-")
        for group, stat in list_]
long = [(name, key, stat) for name, key, stat in jobs if stat > 0.3]
nameless = [(name, key, stat) for name, key, stat in long if not named[key]]
for name, key, stat in nameless:
    print(f"  {name}: none of {stat:.3f} s has a function")
print(f"  Jobs: {len(jobs)}; above 0.3 s {len(long)}, with functions {len(long) - len(nameless)}; "
      f"of their seconds {sum(named[key] for _, key, _ in long) / max(sum(stat for *_, stat in long), 1e-9):.1%}; of "
      f"shorter ones {sum(bool(named[key]) for _, key, stat in jobs if stat <= 0.3)} have functions")
later = [named[group.rpartition("/")[2]] for key, list_ in words.items() for group, stat in list_
         if stat > 0.3 and key[1].startswith(("away", "token", "disk"))]
print(f"  of {len(later)} later ones {sum(map(bool, later))} have functions")
verdict(len(jobs) >= 40 and len(nameless) <= len(long) / 10, "functions",
        f"{len(nameless)} of {len(long)} Jobs have no functions")
verdict(list(hosts) == ["node-1"], "host_name", f"{dict(hosts)}")
sys.exit(failed > 0)
