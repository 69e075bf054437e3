# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""stacks.py FORMAT FILE [TICK_NS]: what an export with callers says of each function, or FORMAT report:
what the report does. A line is "FUNCTION TICKS INCLUSIVE", of functions of one name together."""
import collections
import json
import re
import subprocess
import sys


def folded(path):
    for line in open(path, encoding="utf-8"):
        stack, ticks = line.rstrip("\n").rsplit(" ", 1)
        # The frame of a process is no function.
        yield re.sub("^[a-z]+-[0-9]+;", "", stack).split(";"), int(ticks)


def speedscope(path):
    doc = json.load(open(path, encoding="utf-8"))
    names = [frame["name"] for frame in doc["shared"]["frames"]]
    for profile in doc["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            yield [names[i] for i in stack], round(weight / float(sys.argv[3]))


def sums(stacks):
    own, inclusive = collections.Counter(), collections.Counter()
    for stack, ticks in stacks:
        own[[name for name in stack if name != "[kernel]"][-1]] += ticks
        for name in set(stack):
            inclusive[name] += ticks
    return own, inclusive


def report(path):
    own, inclusive = collections.Counter(), collections.Counter()
    command = [sys.argv[3], "report", "--format", "json", path]
    for row in json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["rows"]:
        own[row["function"]] += row["ticks"]
        inclusive[row["function"]] += row["inclusive_ticks"]
    return own, inclusive


found = globals()[sys.argv[1]](sys.argv[2])
own, inclusive = found if sys.argv[1] == "report" else sums(found)
for name in sorted(inclusive):
    # Brackets are of what is no function.
    if name[0] != "[" and ".so" not in name:
        print(name.replace(" ", "_"), own[name], inclusive[name])
