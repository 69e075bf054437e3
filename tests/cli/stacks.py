# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""stacks.py FORMAT FILE [TICK_NS]: what an export with callers says of each function, or FORMAT report:
what the report does. A line is "FUNCTION TICKS INCLUSIVE", of functions of one name together."""
import base64
import collections
import gzip
import json
import re
import subprocess
import sys

KIND = "samples" # the type of values that are read


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


def clickhouse(path):
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        assert len({len(row[key]) for key in ("Addresses", "FunctionNames", "FileNames", "LineNumbers",
                                              "MappingFileNames")}) == 1
        if row["SampleType"] == KIND:
            yield row["FunctionNames"][::-1], row["Values"][0]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """A protobuf message as lists of values by field."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(data, at)
            value, at = data[at:at + size], at + size
        found[key >> 3].append(value)
    return found


def numbers(packed):
    at = 0
    while at < len(packed):
        value, at = varint(packed, at)
        yield value


def otlp(path):
    request = fields(open(path, "rb").read())
    tables = fields(request[2][0])
    texts = [text.decode() for text in tables[5]]
    functions = [texts[(fields(function)[1] or [0])[0]] for function in tables[3]]
    places = [[functions[fields(line)[1][0]] for line in fields(place)[3]] for place in tables[2]]
    stacks = [[name for packed in fields(stack)[1] for place in numbers(packed) for name in places[place]]
              for stack in tables[7]]
    for of in request[1]:
        for profile in fields(fields(of)[2][0])[2]:
            profile = fields(profile)
            if texts[fields(profile[1][0])[1][0]] == KIND:
                for sample in map(fields, profile[2]):
                    yield stacks[sample[1][0]][::-1], next(numbers(sample[4][0]))


def pprof(data):
    tables = fields(gzip.decompress(data))
    texts = [text.decode() for text in tables[6]]
    functions = {of[1][0]: texts[of[2][0]] for of in map(fields, tables[5])}
    places = {of[1][0]: [functions[fields(line)[1][0]] for line in of[4]] for of in map(fields, tables[4])}
    value = [texts[fields(of)[1][0]] for of in tables[1]].index(KIND)
    for sample in map(fields, tables[2]):
        stack = [name for packed in sample[1] for place in numbers(packed) for name in places[place]]
        yield stack[::-1], list(numbers(sample[2][0]))[value]


def push(path):
    """What Pyroscope and Parca are sent."""
    for series in json.load(open(path, encoding="utf-8"))["series"]:
        for sample in series["samples"]:
            yield from pprof(base64.b64decode(sample.get("rawProfile") or sample["raw_profile"]))


def sums(stacks):
    own, inclusive = collections.Counter(), collections.Counter()
    for stack, ticks in stacks:
        own[[name for name in stack if name != "[kernel]"][-1]] += ticks
        for name in set(stack):
            inclusive[name] += ticks
    return own, inclusive


def callgrind(path):
    """What callgrind_annotate says; inlined code has the files that it is from, beside its function's own."""
    result = []
    # In a folder of the sources it would not recognize the files of callees.
    for option, combine in ("no", int.__add__), ("yes", max):
        command = ["callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=" + option, path]
        of = collections.Counter()
        for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd="/").stdout.split("\n"):
            # TICKS (SHARE) [NS (SHARE)] FILE:FUNCTION [OBJECT]
            row = re.match(r" *([0-9,]+) (?:\( *[0-9.]+%\))?(?: +[0-9,]+ (?:\( *[0-9.]+%\))?)? +([^:]*):(.*?)"
                           r"(?: \[[^]]*\]?\])?$", line)
            if row:
                of[row[3]] = combine(of[row[3]], int(row[1].replace(",", "")))
        result.append(of)
    return result


def report(path):
    own, inclusive = collections.Counter(), collections.Counter()
    command = [sys.argv[3], "report", "--format", "json", path]
    for row in json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["rows"]:
        own[row["function"] or "[unknown]"] += row["ticks"]
        inclusive[row["function"] or "[unknown]"] += row["inclusive_ticks"]
    return own, inclusive


if __name__ == "__main__":
    found = globals()[sys.argv[1]](sys.argv[2])
    of_own, of_all = found if sys.argv[1] in ("report", "callgrind") else sums(found)
    for function in sorted(of_all):
        # Brackets are of what is no function.
        if function[0] != "[" and ".so" not in function:
            print(function.replace(" ", "_"), of_own[function], of_all[function])
