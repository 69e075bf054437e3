# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""waits.py FORMAT KIND FILE: what an export says of waits, or FORMAT report: what the report does. KIND is
off_cpu, nanoseconds, or waits, their number. A line is "CLASS PLACE VALUE", and then "CLASS FUNCTION
inclusive VALUE" for each function, of those of one name together."""
import collections
import json
import sys

import stacks


def speedscope(path):
    doc = json.load(open(path, encoding="utf-8"))
    names = [frame["name"] for frame in doc["shared"]["frames"]]
    for profile in doc["profiles"]:
        if profile["name"].endswith(", waits"):
            assert profile["unit"] == "nanoseconds"
            for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                yield [names[i] for i in stack], weight


def pprof(path):
    for stack, value in stacks.pprof(open(path, "rb").read()):
        if value:
            yield stack, value


def report(path):
    for row in json.load(open(path, encoding="utf-8"))["rows"]:
        yield row


kind, path = sys.argv[2:4]
stacks.KIND = kind
own, inclusive = collections.Counter(), collections.Counter()
if sys.argv[1] == "report":
    for row in report(path):
        own[row["class"], row["function"]] += row["ns" if kind == "off_cpu" else "count"]
        inclusive[row["class"], row["function"]] += row.get("inclusive_ns", 0)
else:
    read = globals().get(sys.argv[1]) or getattr(stacks, sys.argv[1])
    for stack, value in read(path):
        assert stack[-1][0] + stack[-1][-1] == "[]", stack
        own[stack[-1][1:-1], stack[-2] if len(stack) > 1 else "[no place]"] += value
        for name in set(stack[:-1]):
            inclusive[stack[-1][1:-1], name] += value
for (name, place), value in sorted(own.items()):
    if value:
        print(name, place if place[0] != "[" else "-", value)
for (name, function), value in sorted(inclusive.items()):
    if kind == "off_cpu" and function[0] != "[":
        print(name, function, "inclusive", value)
