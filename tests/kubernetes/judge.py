# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""judge.py PROFILES WATCH OUT GAPS: the containers of a Collector's file against the API and the kernel.

PROFILES is what the Collector's file exporter wrote, WATCH what `kubectl get pods -A -w -o json` saw, OUT
the folder of the containers' last words: control group and cpu.stat. GAPS has how many seconds each restart
of the agent left out, a line each: what ran on during one may lack as much. A verdict a line, and a table.
"""
import collections
import glob
import json
import os
import sys

failed = 0


def verdict(good, name, why=""):
    global failed
    failed += not good
    print(f"PASS kubernetes::{name}" if good else f"FAIL kubernetes::{name}: {why}")


def attributes(texts, of):
    """Keys and values stand in the request, or by number in its table of strings."""
    found = {}
    for pair in of["resource"].get("attributes", []):
        key = pair.get("key") or texts[pair["keyStrindex"]]
        value = pair["value"].get("stringValue") or texts[pair["value"].get("stringValueStrindex", 0)]
        found[key] = value
    return found


def rows():
    """(attributes, ns of CPU time) of each resource; a profile that came twice counts once."""
    seen = set()
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            request = json.loads(line)
            texts = request["dictionary"]["stringTable"]
            for of in request.get("resourceProfiles", []):
                found = attributes(texts, of)
                for profile in of["scopeProfiles"][0]["profiles"]:
                    if texts[profile["sampleType"]["typeStrindex"]] != "cpu":
                        continue
                    if profile["profileId"] in seen:
                        twice.append(profile["profileId"])
                        continue
                    seen.add(profile["profileId"])
                    yield found, sum(int(one["values"][0]) for one in profile["samples"])


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
    """What the API says: of each pod by its uid, and of each container by its id."""
    pods, containers = {}, {}
    for pod in objects(sys.argv[2]):
        meta = pod["metadata"]
        pods[meta["uid"]] = (meta["namespace"], meta["name"])
        status = pod.get("status", {})
        for one in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
            last = [one.get("containerID")] + [state.get("terminated", {}).get("containerID")
                                               for state in (one.get("state", {}), one.get("lastState", {}))]
            for name in filter(None, last):
                containers[name.rpartition("/")[2]] = (meta["namespace"], meta["name"], one["name"])
    return pods, containers


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
pods, containers = api()
words = last_words()
seconds, names = collections.Counter(), {}
hosts = collections.Counter()
for found, ns in rows():
    hosts[found.get("host.name")] += 1
    key = found.get("container.id")
    if not key or "k8s.pod.uid" not in found:
        continue
    seconds[key] += ns / 1e9
    said = tuple(found.get(f"k8s.{one}.name") for one in ("namespace", "pod", "container"))
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
verdict(right and not wrong, "names", f"{wrong} of {right + wrong} containers are called otherwise")
verdict(sandboxes and not sandboxes_wrong, "sandboxes",
        f"{sandboxes_wrong} of {sandboxes + sandboxes_wrong} sandboxes are called otherwise")

gaps = [float(line) for line in open(sys.argv[4])] if os.path.exists(sys.argv[4]) else []


def allowed(pod):
    """Each container has one thread, so that it lacks at most as long as nothing was sampled."""
    if pod.startswith("restart"):
        return max(gaps[:1], default=0)
    return sum(gaps) if pod.startswith(("web", "restless")) else 0


print(f"  {'namespace/pod/container':58} {'seconds':>9} {'cpu.stat':>9} {'difference':>10}")
by_service = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0])
for key, list_ in sorted(words.items()):
    for group, stat in list_:
        got = seconds.get(group.rpartition("/")[2], 0)
        one = by_service[(key[0], key[1].rpartition("-")[0] or key[1], key[2])]
        # What the end itself takes comes after the last words: at most this.
        slack = max(0.002, 0.005 * stat)
        near = -slack - allowed(key[1]) <= got - stat <= slack
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
total, stats = sum(one[2] for one in by_service.values()), sum(one[3] for one in by_service.values())
print(f"  all: {total:.4f} of {stats:.4f} s; {len(twice)} profiles came twice; hosts: {dict(hosts)}")
verdict(list(hosts) == ["node-1"], "host_name", f"{dict(hosts)}")
sys.exit(failed > 0)
